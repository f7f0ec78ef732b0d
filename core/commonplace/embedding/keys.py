"""The keys of a provider (from configuration, environment or keyring), and its context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from commonplace.errors import ProviderError, UnavailableError
from commonplace.model.plugins import Group
from commonplace.protocols.providers import ProviderContext

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import Credentials, Registration
    from commonplace.protocols.providers import BatchJobs, BatchProvider, EmbeddingProvider, Limits
    from commonplace.resilience.deadline import Deadline


_SERVICE = "commonplace"


def find_keys(
    credentials: Credentials, settings: Settings, env: Mapping[str, str], *, own_remote: bool
) -> tuple[str, ...]:
    """The keys of the first source that has any.

    The sources: ``remote.apiKey``, ``models.providers``, environment, keyring. Only the environment
    may hold several: ``NAME_KEYS`` lists them, separated by commas or semicolons, ``NAME_KEY_1``
    and so on hold one more each. A configured key that is the name of one of the provider's
    variables stands for its value.

    ``own_remote`` says whether the section ``remote`` is for this provider. If that names an
    address, only keys of the configuration are taken: the vendor's key in the environment must not
    be sent to another server. Raises
    :class:`~commonplace.errors.UnavailableError` where a configured reference leads nowhere.
    """
    configured = settings.search.remote.api_key if own_remote else None
    if configured is not None:
        return _configured(configured.reveal(env), credentials, env)
    for id_ in credentials.config:
        keys = _configured(_of_section(settings.providers.get(id_), env), credentials, env)
        if keys:
            return keys
    if own_remote and settings.search.remote.base_url:
        return ()
    found = [key for name in credentials.env for key in _in_environment(name, env)]
    if found:
        return tuple(dict.fromkeys(found))
    key = _of_keyring(credentials.keyring) if credentials.keyring else None
    return (key,) if key else ()


def missing_key(provider: str, credentials: Credentials) -> tuple[str, str]:
    """What is wrong without a key, and how to fix it."""
    names = " or ".join(credentials.env)
    note = f" ({credentials.note})" if credentials.note else ""
    return (
        f"{provider}: no API key found{note}",
        f"set {names}, or remote.apiKey, or models.providers.{provider}.apiKey"
        if names
        else "set remote.apiKey",
    )


def _configured(key: str, credentials: Credentials, env: Mapping[str, str]) -> tuple[str, ...]:
    key = key.strip()
    if key not in credentials.env:
        return (key,) if key else ()
    if not env.get(key, "").strip():
        raise UnavailableError(
            f"the environment variable {key} is not set", hint=f"set it: export {key}=..."
        )
    return (env[key].strip(),)


def _in_environment(name: str, env: Mapping[str, str]) -> list[str]:
    listed = env.get(f"{name}S", "").replace(";", ",").split(",")
    numbered = sorted(
        (int(number), env[full])
        for full in env
        if (number := full.removeprefix(f"{name}_")) != full and number.isascii()
        if number.isdigit()
    )
    keys = (*listed, env.get(name, ""), *(key for _, key in numbered))
    return [key.strip() for key in keys if key.strip()]


def _of_section(section: object, env: Mapping[str, str]) -> str:
    from collections.abc import Mapping as AnyMapping

    from commonplace.config.secret import Secret

    raw = section.get("apiKey") if isinstance(section, AnyMapping) else None
    if isinstance(raw, Secret):
        return raw.reveal(env)
    if isinstance(raw, (str, AnyMapping)) and raw:
        return Secret(raw).reveal(env)
    return ""


def _of_keyring(name: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None  # an extra
    try:
        password: str | None = keyring.get_password(_SERVICE, name)
    except KeyringError:
        return None  # a headless machine has none that answers
    except Exception as error:  # backends raise what their libraries raise
        raise UnavailableError(
            f"the system's keyring failed: {error}", hint="set the key in the environment"
        ) from error
    return password


_OF_A_KEY = frozenset({"auth", "quota", "rate_limit"})
"""Kinds of error that another key may not meet."""


def context_of(
    settings: Settings,
    env: Mapping[str, str],
    registration: Registration[EmbeddingProvider],
    *,
    primary: bool,
) -> ProviderContext:
    """The context of a factory for these settings, with the first of several keys.

    Raises :class:`~commonplace.errors.UnavailableError` for a reference to a key that is not set.
    """
    search = settings.search
    remote, config = search.remote, settings.plugin_config(registration.id)
    credentials = registration.credentials
    keys = find_keys(credentials, settings, env, own_remote=primary) if credentials else ()
    options: dict[str, object] = {}
    if isinstance(config, Group):
        own = ((name, getattr(config, name)) for name in config.fields())
        options = {name: value for name, value in own if value is not None}
    context = ProviderContext(
        api_key=keys[0] if keys else None,
        options=options,
        state_dir=settings.state_dir,
        cache_dir=settings.cache_dir,
        config=config,
    )
    if not primary:  # model, address and prefixes are settings of the primary alone
        return context
    options |= {
        "input_type": search.input_type,
        "query_input_type": search.query_input_type,
        "document_input_type": search.document_input_type,
    }
    from attrs import evolve

    return evolve(
        context,
        # A model belongs to a named provider, or to the server at a given address.
        model=search.model if search.provider != "auto" or remote.base_url else "",
        dims=search.output_dimensionality,
        base_url=remote.base_url,
        headers={name: value.reveal(env) for name, value in remote.headers.items()},
        query_prefix=search.query_prefix,
        document_prefix=search.document_prefix,
    )


class RotatingKeys:
    """``providers`` that differ in their keys alone, at least one, behind one face.

    The one that answered last is asked first. Where all are refused, what is raised is an error
    that may pass by itself, if there was one, else the first.
    """

    def __init__(self, providers: Sequence[EmbeddingProvider]) -> None:
        self._providers = tuple(providers)
        self._at = 0

    @property
    def first(self) -> EmbeddingProvider:
        """The one of the first key, whose account batch jobs belong to."""
        return self._providers[0]

    @property
    def model(self) -> str:
        """The same for all."""
        return self.first.model

    @property
    def limits(self) -> Limits:
        """Those that the provider in use has learnt."""
        return self._providers[self._at].limits

    @property
    def concurrency(self) -> int:
        """The same for all."""
        return self.first.concurrency

    @property
    def capabilities(self) -> frozenset[str]:
        """The same for all."""
        return self.first.capabilities

    def batches(self) -> BatchJobs:
        """Those of the first key's account."""
        return cast("BatchProvider", self.first).batches()

    def fingerprint(self) -> str:
        """The same for all: keys decide no vector."""
        return self.first.fingerprint()

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
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

        raise next((error for error in refusals if error.kind in PASSING), refusals[0])

    def close(self) -> None:
        """Close all."""
        for provider in self._providers:
            provider.close()
