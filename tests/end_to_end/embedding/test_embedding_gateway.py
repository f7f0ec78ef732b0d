"""Gateways, keys and consent, as a user meets them: nothing goes where it was not sent."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox
    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Loopback, Reply

pytestmark = pytest.mark.slow

KEY = "sekrit-0123456789-abcdef"
OTHER_KEY = "sk-another-0123456789"


def elsewhere(server: Loopback) -> str:
    """The same server by a name that does not show that it is on this machine."""
    return f"http://2130706433:{server.port}"


def written(sandbox: Sandbox, name: str, content: dict[str, Any] | str) -> Path:
    """A file of an OpenClaw installation."""
    path = sandbox.root / "home" / ".openclaw" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def provider(server: Loopback, **more: object) -> dict[str, Any]:
    section = {"baseUrl": f"{server.url}/v1", "apiKey": KEY, **more}
    return {"models": {"providers": {"openai": section}}}


def texts(server: Loopback) -> list[str]:
    return [text for request in server.requests for text in request.json["input"]]


@pytest.fixture
def gateway(start_vendor: Callable[..., Loopback]) -> Loopback:
    return start_vendor("openai")


def test_a_gateway_of_the_original_s_configuration_gets_all_and_the_vendor_nothing(
    sandbox: Sandbox, gateway: Loopback
) -> None:
    written(sandbox, "openclaw.json", provider(gateway, headers={"x-route": "${ROUTE}"}))
    written(sandbox, ".env", "ROUTE=small\n")
    ran = sandbox.run("index")
    assert "3 texts by 1 request" in ran.went_well()
    assert ran.err == ""  # it is on this machine: there is nothing to say
    (request,) = gateway.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-route"] == "small"
    assert "2026-10-03.md" in sandbox.run("search", "sea animal walrus").went_well()
    assert len(gateway.requests) == 2


def test_a_key_of_the_configuration_does_not_follow_another_address(
    sandbox: Sandbox, gateway: Loopback
) -> None:
    remote = {"baseUrl": f"{elsewhere(gateway)}/v1"}
    search = {"memory": {"search": {"provider": "openai", "remote": remote}}}
    models = {"models": {"providers": {"openai": {"apiKey": OTHER_KEY}}}}
    path = written(sandbox, "openclaw.json", {**search, **models})
    ran = sandbox.run("index", OPENAI_API_KEY=OTHER_KEY)
    assert ran.code == 3
    assert all("authorization" not in request.headers for request in gateway.requests)
    line = 1 + path.read_text().splitlines().index(f'    "apiKey": "{OTHER_KEY}"')
    assert (
        f"(HTTP 401 from {elsewhere(gateway)}/v1/embeddings; no key was sent: that of "
        f"models.providers.openai.apiKey in {path}:{line} is for the vendor alone)"
    ) in ran.err
    assert "Fix: set remote.apiKey to the key of this address" in ran.err
    assert OTHER_KEY not in ran.out + ran.err


@pytest.mark.parametrize(
    ("place", "origin"),
    [
        ("process", "key: OPENAI_API_KEY)"),
        ("file", "key: OPENAI_API_KEY in {home}/.openclaw/.env:2)"),
        ("block", "key: OPENAI_API_KEY in {home}/.openclaw/openclaw.json:"),
    ],
)
def test_a_refused_key_is_named_by_its_place(
    sandbox: Sandbox, gateway: Loopback, place: str, origin: str
) -> None:
    variables: dict[str, Any] = {
        "OPENAI_BASE_URL": f"{gateway.url}/v1",
        "OPENAI_API_KEY": OTHER_KEY,
    }
    if place == "file":
        lines = "\n".join(f"{name}={value}" for name, value in variables.items())
        written(sandbox, ".env", f"{lines}\n")
    if place == "block":
        written(sandbox, "openclaw.json", {"env": variables})
    ran = sandbox.run("index", **(variables if place == "process" else {}))
    assert ran.code == 0  # no configuration names the provider
    assert f"HTTP 401 from {gateway.url}/v1/embeddings" in ran.err
    assert origin.format(home=sandbox.root / "home") in ran.err
    assert OTHER_KEY not in ran.out + ran.err
    shown = sandbox.run("config", "show", "--changed", **variables if place == "process" else {})
    assert origin.format(home=sandbox.root / "home").removeprefix("key: ")[:-1] in shown.out
    assert OTHER_KEY not in shown.out


def test_an_error_of_a_connection_names_the_address(sandbox: Sandbox) -> None:
    remote = {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": KEY}
    written(
        sandbox, "openclaw.json", {"memory": {"search": {"provider": "openai", "remote": remote}}}
    )
    ran = sandbox.run("index")
    assert ran.code == 3
    assert "no connection" in ran.err
    assert "(http://127.0.0.1:9/v1/embeddings)" in ran.err


def test_models_that_a_header_chooses_share_neither_space_nor_cache(
    sandbox: Sandbox, gateway: Loopback
) -> None:
    for route, requests in (("walnut", 1), ("hazel", 2), ("walnut", 2)):
        written(sandbox, "openclaw.json", provider(gateway, headers={"X-Route": route}))
        sandbox.run("index").went_well()
        assert len(gateway.requests) == requests, "the first one's vectors are still in the cache"
    assert sorted(texts(gateway)) == sorted(texts(gateway)[:3] * 2)
    held = b"".join(path.read_bytes() for path in sandbox.state.rglob("*") if path.is_file())
    assert b"walnut" not in held
    assert b"hazel" not in held


def test_a_fallback_has_its_own_gateway(
    sandbox: Sandbox, gateway: Loopback, start_vendor: Callable[..., Loopback], reply: type[Reply]
) -> None:
    second = start_vendor("mistral")
    vectors = [{"index": number, "embedding": [1.0, number, 2.0]} for number in range(3)]
    second.always(reply(200, {"data": vectors}))
    gateway.always(reply(403, {"error": {"message": "not in your country"}}))
    search = {
        "provider": "openai",
        "fallback": "mistral",
        "remote": {"baseUrl": f"{gateway.url}/v1", "apiKey": OTHER_KEY, "headers": {"x-own": "1"}},
    }
    section = {"baseUrl": f"{second.url}/v1", "apiKey": KEY, "headers": {"x-team": "a"}}
    models = {"providers": {"mistral": section}}
    written(sandbox, "openclaw.json", {"memory": {"search": search}, "models": models})
    ran = sandbox.run("index")
    assert ran.code == 3  # the provider that was named failed
    assert "embeddings of mistral: 3 texts" in ran.out
    for request in second.requests:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["x-team"] == "a"
        assert "x-own" not in request.headers
    assert all(request.headers["x-own"] == "1" for request in gateway.requests)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_takes_neither_texts_nor_key_along(
    sandbox: Sandbox,
    gateway: Loopback,
    start_vendor: Callable[..., Loopback],
    reply: type[Reply],
    status: int,
) -> None:
    other = start_vendor("openai")
    gateway.always(reply(status, b"", {"location": f"{other.url}/v1/embeddings"}))
    written(sandbox, "openclaw.json", provider(gateway, headers={"x-secret": KEY}))
    assert "it redirects to 127.0.0.1, which is not followed" in sandbox.run("index").err
    assert gateway.requests
    assert other.requests == []


def test_without_a_terminal_it_is_said_once_for_each_server(
    sandbox: Sandbox, gateway: Loopback
) -> None:
    found: dict[str, Any] = {"OPENAI_BASE_URL": f"{elsewhere(gateway)}/v1", "OPENAI_API_KEY": KEY}
    ran = sandbox.run("index", **found)
    assert "3 texts by 1 request" in ran.went_well()
    assert ran.err == (
        f"note: sending 3 texts of your notes to openai at {elsewhere(gateway)} for the first time "
        '(key: OPENAI_API_KEY); to send nothing, set memorySearch.provider to "none", '
        'or remote.consent to "no"\n'
    )
    sandbox.write("memory/new.md", "# New\n\nA heron.\n")
    again = sandbox.run("index", **found)
    assert "1 text by 1 request" in again.went_well()
    assert again.err == ""
    assert "sending" not in sandbox.run("search", "heron", **found).err


@pytest.mark.parametrize(
    ("search", "asked_for"),
    [
        ({"provider": "openai"}, True),
        ({"remote": {"apiKey": "${OPENAI_API_KEY}"}}, True),
        ({}, False),
    ],
)
def test_on_a_terminal_a_key_that_was_merely_found_is_asked_about(
    sandbox: Sandbox, gateway: Loopback, search: dict[str, Any], asked_for: bool
) -> None:
    address = f"{elsewhere(gateway)}/v1"
    if "remote" in search:
        search = {"remote": {**search["remote"], "baseUrl": address}}
    written(sandbox, "openclaw.json", {"memory": {"search": search}})
    found: dict[str, Any] = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}
    seen = on_a_terminal(sandbox, "no\n", "index", **found)
    assert ("Send them? [y/N]" in seen) != asked_for
    if asked_for:
        assert "note: sending 3 texts of your notes" in seen
        assert len(gateway.requests) == 1
        return
    assert f"openai at {elsewhere(gateway)}" in seen
    assert "OPENAI_API_KEY; no configuration names it" in seen
    assert gateway.requests == []
    assert "walrus" in sandbox.run("search", "walrus", **found).went_well()
    refused = sandbox.run("index", **found)
    assert "you said no" in refused.err
    assert "--yes" in refused.err
    assert gateway.requests == []
    assert "3 texts by 1 request" in sandbox.run("index", "--yes", **found).went_well()


def test_a_yes_on_a_terminal_is_remembered(sandbox: Sandbox, gateway: Loopback) -> None:
    found: dict[str, Any] = {"OPENAI_BASE_URL": f"{elsewhere(gateway)}/v1", "OPENAI_API_KEY": KEY}
    assert "3 texts by 1 request" in on_a_terminal(sandbox, "y\n", "index", **found)
    sandbox.write("memory/new.md", "# New\n\nA heron.\n")
    seen = on_a_terminal(sandbox, "", "index", **found)
    assert "Send them?" not in seen
    assert "1 text by 1 request" in seen


@pytest.mark.parametrize("search", [{"provider": "openai"}, {}])
def test_the_setting_no_keeps_everything_here(
    sandbox: Sandbox, gateway: Loopback, search: dict[str, Any]
) -> None:
    content = {**search, "remote": {"consent": "no"}}
    written(sandbox, "openclaw.json", {"memory": {"search": content}})
    found: dict[str, Any] = {"OPENAI_BASE_URL": f"{elsewhere(gateway)}/v1", "OPENAI_API_KEY": KEY}
    ran = sandbox.run("index", "--yes", **found)
    assert ran.code == (3 if search else 0)
    assert 'remote.consent is "no"' in ran.err
    assert "walrus" in sandbox.run("search", "walrus", **found).went_well()
    assert gateway.requests == []


def test_the_demo_sends_nothing(sandbox: Sandbox, gateway: Loopback) -> None:
    found: dict[str, Any] = {"OPENAI_BASE_URL": f"{gateway.url}/v1", "OPENAI_API_KEY": KEY}
    sandbox.run("demo", "--into", str(sandbox.root / "demo"), **found).went_well()
    assert gateway.requests == []


def test_in_python_it_is_in_the_report_and_the_log_or_asked_of_a_callback(
    world: World, reported: Callable[..., str]
) -> None:
    found: dict[str, Any] = {
        "OPENAI_BASE_URL": f"{elsewhere(world.vendor)}/v1",
        "OPENAI_API_KEY": KEY,
    }
    env = {**world.env, **found}
    asked: list[Any] = []

    def refuse(upload: Any) -> bool:
        asked.append(upload)
        return False

    with Memory.open(workspace=world.workspace, env=env, on_upload=refuse) as memory:
        done = memory.sync().embedding
        assert done is not None
        assert (done.embedded, done.missing) == (0, 3)
        assert "you said no" in done.reason
        (state,) = memory.status().providers
        assert (state.state, "you said no" in state.reason) == ("unusable", True)
    assert [(upload.provider, upload.texts, upload.named) for upload in asked] == [
        ("openai", 3, False)
    ]
    assert world.asked() == 0
    os.unlink(f"{env['COMMONPLACE_STATE_DIR']}/memory/uploads.json")
    with Memory.open(workspace=world.workspace, env=env) as memory:
        done = memory.sync().embedding
        assert done is not None
        assert done.embedded == 3
        assert done.note.startswith("sending 3 texts of your notes to openai")
        assert done.note in reported()


def on_a_terminal(sandbox: Sandbox, typed: str, *arguments: str, **env: Any) -> str:
    """All that ``commonplace ARGUMENTS`` shows on a terminal, where ``typed`` is typed."""
    main, other = pty.openpty()
    os.write(main, typed.encode())
    process = subprocess.Popen(
        [sys.executable, "-m", "commonplace", *arguments, "--workspace", str(sandbox.workspace)],
        env={**sandbox.env, "TERM": "xterm", **env},
        cwd=os.sep,
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    parts: list[bytes] = []
    try:
        while part := os.read(main, 4096):
            parts.append(part)
    except OSError:
        pass  # how a terminal ends on Linux
    process.wait()
    os.close(main)
    return b"".join(parts).decode().replace("\r\n", "\n")
