"""Automatic choice takes it for a key, and for an address that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.providers.fakes.loopback import Loopback


@pytest.fixture
def openai(fake: Callable[[str], Loopback]) -> Loopback:
    return fake("openai")


def opened(folder: Path, search: dict[str, Any], **env: str) -> Memory:
    workspace = folder / "workspace"
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    (workspace / "MEMORY.md").write_text("A walrus at the harbour.\n")
    where = {
        "HOME": str(folder),
        "COMMONPLACE_STATE_DIR": str(folder / "state"),
        "COMMONPLACE_CACHE_DIR": str(folder / "cache"),
    }
    return Memory.open(
        workspace=workspace, config={"memory": {"search": search}}, env={**where, **env}
    )


def test_a_server_without_a_key_is_chosen_by_its_address(tmp_path: Path, openai: Loopback) -> None:
    remote = {"baseUrl": f"{openai.url}/v1"}
    with opened(tmp_path, {"remote": remote, "model": "my-model"}) as memory:
        memory.sync()
        status = memory.status()
        assert status.providers[0].id == "openai"
        assert status.providers[0].model == "my-model"
    (request, *_) = openai.requests
    assert "authorization" not in request.headers
    assert request.json["model"] == "my-model"


def test_a_key_of_the_environment_is_not_sent_there(tmp_path: Path, openai: Loopback) -> None:
    remote = {"baseUrl": f"{openai.url}/v1"}
    key = "sekrit-0123456789"
    with opened(tmp_path, {"remote": remote}, OPENAI_API_KEY=key, GEMINI_API_KEY=key) as memory:
        memory.sync()
        assert memory.status().providers[0].id == "openai"
    assert all("authorization" not in request.headers for request in openai.requests)


def test_without_key_and_address_none_is_chosen(tmp_path: Path) -> None:
    with opened(tmp_path, {}) as memory:
        assert memory.status().providers == ()


@pytest.mark.parametrize("named", ["OPENAI_BASE_URL", "remote.baseUrl"])
def test_the_environment_s_base_url_is_second_to_the_configured_one(
    tmp_path: Path, openai: Loopback, fake: Callable[[str], Loopback], named: str
) -> None:
    other = fake("openai")
    remote = {"baseUrl": f"{openai.url}/v1"} if named == "remote.baseUrl" else {}
    address = f"{(other if remote else openai).url}/v1"
    with opened(
        tmp_path, {"remote": remote, "provider": "openai"}, OPENAI_BASE_URL=address
    ) as memory:
        memory.sync()
    assert openai.requests
    assert not other.requests


def test_a_blank_address_in_the_environment_is_none(tmp_path: Path) -> None:
    with opened(tmp_path, {"provider": "openai"}, OPENAI_BASE_URL=" ") as memory:
        assert "no API key found" in memory.status().providers[0].reason
