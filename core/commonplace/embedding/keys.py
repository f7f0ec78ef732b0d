"""Finding a provider's API key: configuration, environment, keyring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.config import Settings
    from commonplace.model.plugins import Credentials

__all__ = ["find_key", "missing_key"]

_SERVICE = "commonplace"


def find_key(
    credentials: Credentials, settings: Settings, env: Mapping[str, str], *, own_remote: bool
) -> str | None:
    """The first key there is: ``remote.apiKey``, ``models.providers``, environment, keyring.

    ``own_remote`` says whether the section ``remote`` speaks of this provider. If that names an
    address, only keys of the configuration are taken: one that lies in the environment for the
    vendor must not be sent to somebody else. Raises
    :class:`~commonplace.errors.UnavailableError` where a configured reference leads nowhere.
    """
    configured = settings.search.remote.api_key if own_remote else None
    if configured is not None:
        return configured.reveal(env).strip() or None
    for id_ in credentials.config:
        key = _of_section(settings.providers.get(id_), env)
        if key:
            return key
    if own_remote and settings.search.remote.base_url:
        return None
    for name in credentials.env:
        if env.get(name, "").strip():
            return env[name].strip()
    return _of_keyring(credentials.keyring) if credentials.keyring else None


def missing_key(provider: str, credentials: Credentials) -> tuple[str, str]:
    """What is wrong without a key, and how to mend it."""
    names = " or ".join(credentials.env)
    note = f" ({credentials.note})" if credentials.note else ""
    return (
        f"{provider}: no API key found{note}",
        f"set {names}, or remote.apiKey, or models.providers.{provider}.apiKey"
        if names
        else "set remote.apiKey",
    )


def _of_section(section: object, env: Mapping[str, str]) -> str | None:
    from collections.abc import Mapping as AnyMapping

    from commonplace.config.secret import Secret

    raw = section.get("apiKey") if isinstance(section, AnyMapping) else None
    if isinstance(raw, Secret):
        return raw.reveal(env).strip() or None
    if isinstance(raw, (str, AnyMapping)) and raw:
        return Secret(raw).reveal(env).strip() or None
    return None


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
            f"the system's keyring failed: {error}", mend="set the key in the environment"
        ) from error
    return password
