"""``config check`` names what is written for a plugin where no plugin reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any

PLUGIN = """
from commonplace.plugin import Group, hookimpl, setting


class Settings(Group):
    factor: float = setting("A factor.", default=1.0)


@hookimpl
def commonplace_register_rankers(register):
    register.ranker("acme-boost", object, summary="boost", config=Settings)


@hookimpl
def commonplace_register_tools(register):
    register.toolset("dice", object, summary="dice")


@hookimpl
def commonplace_register_backends(register):
    register.store("rows", object, summary="rows", config=Settings)
"""


@pytest.fixture
def check(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Run]:
    """Checks a configuration of these plugins, with acme-parts installed."""
    info = tmp_path / "site" / "acme_parts-1.0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "acme_unread.py").write_text(PLUGIN)
    (info.parent / "acme_broken.py").write_text("import no_such_library")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-parts\nVersion: 1.0\n")
    names = ("ranker.acme-boost", "tool.dice", "backend.rows")
    lines = [*(f"{name} = acme_unread" for name in names), "tool.broken = acme_broken"]
    (info / "entry_points.txt").write_text("\n".join(["[commonplace]", *lines, ""]))
    monkeypatch.syspath_prepend(str(info.parent))

    def check(plugins: Any, name: str = "mine.json5") -> Run:
        file = tmp_path / name
        file.write_text(json.dumps({"plugins": plugins}))
        return run("config", "check", "--json", "--config", str(file), "--workspace", str(tmp_path))

    return check


@pytest.mark.parametrize(
    ("entries", "warning"),
    [
        (
            {"acme-boost": {"factor": 1}},
            ".acme-boost.factor: has no effect: settings of a plugin stand in its config",
        ),
        (
            {"acme-bost": {"config": {"factor": 1}}},
            ".acme-bost: has no effect: no plugin is named 'acme-bost'; did you mean 'acme-boost'?",
        ),
        (
            {"dice": {"config": {"a": 1}}},
            ".dice: has no effect: tool.dice of acme-parts has no settings",
        ),
        (
            {"rows": {"config": {"factor": 1}}},
            ".rows: has no effect: settings of a backend stand in memory.rows",
        ),
    ],
)
def test_what_no_plugin_reads_is_warned_of(
    check: Callable[..., Run], entries: dict[str, Any], warning: str
) -> None:
    ran = check({"entries": entries})
    assert (ran.code, ran.json["ok"]) == (0, True)
    (said,) = ran.json["warnings"]
    assert said.endswith(f"mine.json5: plugins.entries{warning}")


@pytest.mark.parametrize(
    "entries",
    [
        {"acme-boost": {"enabled": True, "config": {"factor": 1}}},
        {"acme-boost": {"config": {}}},
        {"broken": {"config": {"a": 1}}},
        {"discord": {"config": {"token": "x"}, "hooks": {}}, "memory-wiki": {"config": {"a": 1}}},
        {"voice-call": 5},
    ],
)
def test_what_a_plugin_reads_or_another_program_may_is_no_warning(
    check: Callable[..., Run], entries: dict[str, Any]
) -> None:
    ran = check({"entries": entries})
    assert (ran.code, ran.json["warnings"]) == (0, [])


def test_the_file_of_another_program_may_have_anything_in_it(check: Callable[..., Run]) -> None:
    entries = {"acme-bost": {"config": {"factor": 1}}, "acme-boost": {"factor": 1}}
    ran = check({"entries": entries}, "openclaw.json")
    assert (ran.code, ran.json["warnings"]) == (0, [])


@pytest.mark.parametrize("provider", ["openai", "auto"])
def test_a_variable_of_a_key_that_is_not_set_is_warned_of(
    run: Callable[..., Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
) -> None:
    remote = {"apiKey": "${COMMONPLACE_TEST_KEY}"}
    file = tmp_path / "mine.json5"
    file.write_text(json.dumps({"memory": {"search": {"provider": provider, "remote": remote}}}))
    argv = ("config", "check", "--json", "--config", str(file), "--workspace", str(tmp_path))
    ran = run(*argv)
    assert (ran.code, ran.json["ok"]) == (0, True)
    (warning,) = ran.json["warnings"]
    assert "the environment variable COMMONPLACE_TEST_KEY is not set" in warning
    monkeypatch.setenv("COMMONPLACE_TEST_KEY", "abc")
    assert run(*argv).json["warnings"] == []
