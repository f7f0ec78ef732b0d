"""The keys of a provider, where each was found, and several of them behind one face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from commonplace.errors import ProviderError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.config.credentials import Place
    from commonplace.config.secret import Secret
    from commonplace.model.plugins import Credentials
    from commonplace.protocols.providers import EmbeddingProvider, Limits, Purpose
    from commonplace.resilience.deadline import Deadline


_SERVICE = "commonplace"


@frozen
class Key:
    """A key. ``origin`` says where it stands; ``named`` whether a configuration names it."""

    value: str = field(repr=False)
    origin: str
    named: bool = False


def configured_key(
    secret: Secret | None, credentials: Credentials, env: Mapping[str, str]
) -> tuple[Key, ...]:
    """The key that a configuration names, if it is not blank.

    The name of one of the provider's own variables stands for its value. Raises
    :class:`~commonplace.errors.UnavailableError` where a reference leads nowhere.
    """
    value = secret.reveal(env).strip() if secret is not None else ""
    if secret is None or not value:
        return ()
    if value not in credentials.env:
        return (Key(value, secret.place, named=True),)
    if not env.get(value, "").strip():
        raise UnavailableError(
            f"the environment variable {value} is not set", hint=f"set it: export {value}=..."
        )
    return (Key(env[value].strip(), f"{secret.place} (from {value})", named=True),)


def keys_of_place(place: Place, credentials: Credentials) -> tuple[Key, ...]:
    """The keys in the provider's variables, each once.

    There may be several: ``NAME_KEYS`` lists them, separated by commas or semicolons,
    ``NAME_KEY_1`` and so on hold one more each.
    """
    keys: dict[str, Key] = {}
    for name in credentials.env:
        for variable, value in _in_place(name, place.values):
            keys.setdefault(value, Key(value, place.origin(variable)))
    return tuple(keys.values())


def key_of_keyring(name: str | None) -> tuple[Key, ...]:
    """The key in the system's keyring, if there is a keyring that answers.

    Raises :class:`~commonplace.errors.UnavailableError` for one that breaks.
    """
    if not name:
        return ()
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return ()  # an extra
    try:
        password: str | None = keyring.get_password(_SERVICE, name)
    except KeyringError:
        return ()  # a headless machine has none that answers
    except Exception as error:  # backends raise what their libraries raise
        raise UnavailableError(
            f"the system's keyring failed: {error}", hint="set the key in the environment"
        ) from error
    return (Key(password, f"the keyring ({_SERVICE}, {name})"),) if password else ()


def _in_place(name: str, values: Mapping[str, str]) -> list[tuple[str, str]]:
    listed = values.get(f"{name}S", "").replace(";", ",").split(",")
    numbered = sorted(
        (int(number), full)
        for full in values
        if (number := full.removeprefix(f"{name}_")) != full and number.isascii()
        if number.isdigit()
    )
    pairs = [(f"{name}S", key) for key in listed]
    pairs += [(full, values.get(full, "")) for full in (name, *(full for _, full in numbered))]
    return [(variable, key.strip()) for variable, key in pairs if key.strip()]


_OF_A_KEY = frozenset({"auth", "quota", "rate_limit"})
"""Kinds of error that another key may not meet."""


class RotatingKeys:
    """``providers`` that differ in their keys alone, at least one, behind one face.

    The one that answered last is asked first. Where all are refused, what is raised is the error
    that may pass by itself soonest, if there is one, else the first.
    """

    def __init__(self, providers: Sequence[EmbeddingProvider]) -> None:
        self._providers = tuple(providers)
        self._at = 0

    def __getattr__(self, name: str) -> Any:
        """What is the same for all, as keys decide no vector; batch jobs are of the first key's."""
        return getattr(self._providers[0], name)

    @property
    def first(self) -> EmbeddingProvider:
        """The provider with the first key."""
        return self._providers[0]

    @property
    def limits(self) -> Limits:
        """Those that the provider in use has learnt."""
        return self._providers[self._at].limits

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One request, and one more for each key that is refused."""
        refusals: list[ProviderError] = []
        start = self._at
        for step in range(len(self._providers)):
            place = (start + step) % len(self._providers)
            try:
                vectors = self._providers[place].embed(texts, purpose=purpose, deadline=deadline)
            except ProviderError as error:
                if error.kind not in _OF_A_KEY:
                    raise
                refusals.append(error)
                continue
            self._at = place
            return vectors
        from commonplace.resilience.retry import PASSING

        passing = [error for error in refusals if error.kind in PASSING]
        raise min(passing, key=lambda error: error.retry_after or 0.0, default=refusals[0])

    def close(self) -> None:
        """Close all."""
        for provider in self._providers:
            provider.close()
