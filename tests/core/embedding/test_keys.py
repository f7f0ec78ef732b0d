"""Keys from the system's keyring: where they stand, and what happens without a working one."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings
from commonplace.embedding.access import access_of
from commonplace.errors import UnavailableError
from commonplace.model.plugins import Credentials, Registration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VENDOR = Credentials(env=("VENDOR_KEY",), config=("vendor",), keyring="vendor")


class Keyring(ModuleType):
    """The library, with one password in it; every question is remembered."""

    class KeyringError(Exception):
        """As in ``keyring.errors``, the base of all that its backends raise."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.asked: list[tuple[str, str]] = []
        self.failure: Exception | None = None

    def get_password(self, service: str, name: str) -> str | None:
        self.asked.append((service, name))
        if self.failure is not None:
            raise self.failure
        return "of-the-ring" if (service, name) == ("commonplace", "vendor") else None


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    ring = Keyring()
    errors = ModuleType("keyring.errors")
    errors.KeyringError = Keyring.KeyringError  # type: ignore[attr-defined]  # what stands in for it
    monkeypatch.setitem(sys.modules, "keyring", ring)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return ring


def found(
    folder: Path,
    env: Mapping[str, str] | None = None,
    credentials: Credentials = VENDOR,
    **config: object,
) -> tuple[str, ...]:
    settings = load_settings(
        workspace=str(folder),
        config=config,
        env={"HOME": str(folder), "COMMONPLACE_STATE_DIR": str(folder / "state")},
    )
    registration: Registration[Any] = Registration("vendor", "", object, credentials=credentials)
    access = access_of(settings, env or {}, registration, primary=True)
    return tuple(key.value for key in access.keys)


def test_a_key_of_the_keyring_serves_where_no_other_place_has_one(
    keyring: Keyring, tmp_path: Path
) -> None:
    assert found(tmp_path) == ("of-the-ring",)
    assert keyring.asked == [("commonplace", "vendor")]


def test_the_keyring_is_asked_last(keyring: Keyring, tmp_path: Path) -> None:
    models = {"providers": {"vendor": {"apiKey": "of-the-file"}}}
    assert found(tmp_path, {"VENDOR_KEY": "of-the-shell"}) == ("of-the-shell",)
    assert found(tmp_path, {"VENDOR_KEY": "of-the-shell"}, models=models) == ("of-the-file",)
    assert keyring.asked == []


def test_no_key_of_the_keyring_goes_to_an_address_of_the_user(
    keyring: Keyring, tmp_path: Path
) -> None:
    memory = {"search": {"remote": {"baseUrl": "http://127.0.0.1:1/v1"}}}
    assert found(tmp_path, memory=memory) == ()
    assert keyring.asked == []


@pytest.mark.parametrize("credentials", [Credentials(), Credentials(keyring="other")])
def test_a_provider_gets_no_other_one_s_key(
    keyring: Keyring, tmp_path: Path, credentials: Credentials
) -> None:
    assert found(tmp_path, credentials=credentials) == ()
    assert ("commonplace", "vendor") not in keyring.asked


def test_without_the_library_or_with_none_that_answers_there_is_no_key(
    keyring: Keyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring.failure = Keyring.KeyringError("no backend here")
    assert found(tmp_path) == ()
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert found(tmp_path) == ()


def test_a_keyring_that_breaks_is_reported_with_a_way_around(
    keyring: Keyring, tmp_path: Path
) -> None:
    keyring.failure = RuntimeError("the bus has gone")
    with pytest.raises(UnavailableError, match="keyring failed: the bus has gone") as caught:
        found(tmp_path)
    assert caught.value.hint == "set the key in the environment"
