"""A configuration for QMD on a machine that has none: everything answers, and says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.errors import PluginUnavailableError, ScopeDeniedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox


class Without:
    """A sandbox whose configuration names a program that is not there."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.opened: list[Memory] = []

    def config(self, backend: object = "qmd", **qmd: object) -> Path:
        section = {"command": str(self.sandbox.root / "no" / "qmd"), **qmd}
        config = self.sandbox.root / "config.json5"
        config.write_text(json.dumps({"memory": {"backend": backend, "qmd": section}}))
        return config

    def open(self, backend: object = "qmd", **qmd: object) -> Memory:
        memory = Memory.open(
            workspace=self.sandbox.workspace,
            config=self.config(backend, **qmd),
            env=self.sandbox.env,
        )
        self.opened.append(memory)
        return memory


@pytest.fixture
def without(sandbox: Sandbox) -> Iterator[Without]:
    made = Without(sandbox)
    yield made
    for memory in made.opened:
        memory.close()


def test_builtin_stands_in_and_the_answer_says_for_whom(without: Without) -> None:
    result = without.open().search("walrus")
    assert result.backend == "builtin"
    assert result.fallback is not None
    assert result.fallback.part == "qmd"
    assert "qmd" in result.fallback.reason
    assert [hit.path for hit in result.hits] == ["memory/2026-10-03.md"]


def test_without_a_fallback_there_is_an_error_with_its_hint(without: Without) -> None:
    with pytest.raises(UnavailableError) as caught:
        without.open(["qmd"]).search("walrus")
    assert isinstance(caught.value, PluginUnavailableError)
    assert caught.value.hint


@pytest.mark.parametrize("backend", ["qmd", ["qmd"], ["builtin", "qmd"]])
def test_a_chat_that_may_not_search_is_refused_by_every_backend(
    without: Without, backend: object
) -> None:
    memory = without.open(backend)
    for key in (
        "agent:main:telegram:group:-1",
        "agent:main:slack:channel:c",
        "agent:main:subagent:x",
    ):
        with pytest.raises(ScopeDeniedError):
            memory.search("walrus", session_key=key)


def test_direct_chats_and_allowed_ones_may(without: Without) -> None:
    memory = without.open()
    for key in ("", "agent:main:main", "agent:main:telegram:direct:42"):
        assert memory.search("walrus", session_key=key).hits
    allowed: Any = {"default": "deny", "rules": [{"action": "allow", "match": {"channel": "irc"}}]}
    memory = without.open(scope=allowed)
    assert memory.search("walrus", session_key="agent:main:irc:group:9").hits


def test_status_and_the_command_work_without_it(without: Without) -> None:
    config = str(without.config())
    ran = without.sandbox.run("status", "--config", config)
    assert "qmd" in ran.went_well()
    shown = json.loads(without.sandbox.run("qmd", "env", "--json", "--config", config).went_well())
    assert shown["env"]["INDEX_PATH"].startswith(str(without.sandbox.state))
    ran = without.sandbox.run("qmd", "--config", config)
    assert ran.code == 2
