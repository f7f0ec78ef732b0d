"""Every key of ``memory.qmd``: its default, what it takes and what it refuses."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings
from commonplace.config.reports import check
from commonplace.config.shape import Shape
from commonplace_qmd.settings import ALLOW_DIRECT, QmdPath, QmdSettings, Scope, ScopeRule

if TYPE_CHECKING:
    from pathlib import Path

PATHS = (QmdPath(path="/a", name="n", pattern="*.md"), QmdPath(path="b"))
WRITTEN = [{"path": "/a", "name": "n", "pattern": "*.md"}, {"path": "b"}]
DENY_GROUPS = Scope(rules=(ScopeRule(action="deny", chat_type="group", channel="slack"),))
RULE = {"action": "deny", "match": {"chatType": "group", "channel": "slack"}}

# key: (name in Python, default, {given: taken}, what a file may not have)
KEYS: dict[str, tuple[str, Any, list[tuple[Any, Any]], list[Any]]] = {
    "command": (
        "command",
        "qmd",
        [
            ("/usr/bin/qmd --index 'a b'", "/usr/bin/qmd"),
            ("'/with space/qmd' x", "/with space/qmd"),
            ("/opt/homebrew/gone/bin/qmd", "qmd"),
            ("/usr/local/Cellar/qmd/1.0/bin/qmd", "qmd"),
        ],
        ["", "'open", 1],
    ),
    "searchMode": ("search_mode", "search", [("query", "query")], ["hybrid", 1]),
    "includeDefaultMemory": ("include_default_memory", True, [(False, False)], ["no"]),
    "paths": ("paths", (), [(WRITTEN, PATHS)], ["a", ["a"], [{"name": "n"}], [{"path": ""}]]),
    "sessions.enabled": ("sessions.enabled", False, [(True, True)], [1]),
    "sessions.exportDir": ("sessions.export_dir", None, [("/x", "/x")], [1]),
    "sessions.retentionDays": ("sessions.retention_days", None, [(7, 7), (0, None)], [-1, 1.5]),
    "update.interval": (
        "update.interval",
        300,
        [
            ("90s", 90),
            ("1h30m", 5400),
            ("2d", 172_800),
            ("500ms", 0.5),
            (" 10 M ", 600),
            ("7", 420),
            (7, 420),
            (0, 0),
            ("0", 0),
        ],
        [True, None, []],
    ),
    "update.debounceMs": ("update.debounce_ms", 15_000, [(0, 0), (5, 5)], [-1, 0.5]),
    "update.onBoot": ("update.on_boot", True, [(False, False)], [0]),
    "update.waitForBootSync": ("update.wait_for_boot_sync", False, [(True, True)], [0]),
    "update.embedInterval": ("update.embed_interval", 3600, [("5m", 300)], [None]),
    "update.commandTimeoutMs": (
        "update.command_timeout_ms",
        30_000,
        [(5, 5), (0, 30_000)],
        [-1, 0.5, "5"],
    ),
    "update.updateTimeoutMs": ("update.update_timeout_ms", 120_000, [(0, 120_000)], [-1]),
    "update.embedTimeoutMs": ("update.embed_timeout_ms", 120_000, [(7, 7)], [-1]),
    "limits.maxResults": ("limits.max_results", 6, [(1, 1)], [0, -1, 1.5]),
    "limits.maxSnippetChars": ("limits.max_snippet_chars", 700, [(1, 1)], [0]),
    "limits.maxInjectedChars": ("limits.max_injected_chars", 4000, [(1, 1)], [0]),
    "limits.timeoutMs": ("limits.timeout_ms", 4000, [(1, 1)], [0]),
    "scope": (
        "scope",
        ALLOW_DIRECT,
        [
            ({}, Scope()),
            ({"default": "deny"}, Scope(default="deny")),
            ({"rules": [RULE]}, DENY_GROUPS),
            (
                {"rules": [{"action": "allow", "match": {"chatType": "dm"}}]},
                Scope(rules=(ScopeRule(action="allow", chat_type="direct"),)),
            ),
        ],
        [
            "direct",
            {"default": "ask"},
            {"rules": [{"match": {}}]},
            {"rules": [{"action": "allow", "match": {"chatType": "private"}}]},
            {"rules": [{"action": "allow", "match": 1}]},
            {"rules": [{"action": "allow", "when": {}}]},
        ],
    ),
    "extraCollections": ("extra_collections", (), [(WRITTEN, PATHS)], [["a"]]),
}

TAKEN = [(key, given, taken) for key, (_, _, pairs, _) in KEYS.items() for given, taken in pairs]
REFUSED = [(key, bad) for key, (_, _, _, refused) in KEYS.items() for bad in refused]


def nested(key: str, value: Any) -> Any:
    return reduce(lambda inner, name: {name: inner}, reversed(key.split(".")), value)


def qmd_only(section: str) -> type | None:
    return QmdSettings if section == "memory.qmd" else None


def write(tmp_path: Path, section: Any) -> dict[str, Any]:
    import json

    path = tmp_path / "config.json5"
    path.write_text(json.dumps({"memory": {"backend": "qmd", "qmd": section}}, indent=1))
    return {
        "workspace": str(tmp_path),
        "env": {"HOME": str(tmp_path)},
        "config": str(path),
        "sections": qmd_only,
    }


def test_the_table_has_every_key_there_is() -> None:
    assert KEYS.keys() == Shape(QmdSettings).leaves.keys()


@pytest.mark.parametrize("key", KEYS)
def test_the_default(key: str, tmp_path: Path) -> None:
    name, default, _, _ = KEYS[key]
    assert reduce(getattr, name.split("."), QmdSettings()) == default
    read = load_settings(**write(tmp_path, {})).section_values["memory.qmd"]
    assert reduce(getattr, name.split("."), read) == default


@pytest.mark.parametrize(("key", "given", "taken"), TAKEN)
def test_what_a_file_may_have(key: str, given: Any, taken: Any, tmp_path: Path) -> None:
    settings = load_settings(**write(tmp_path, nested(key, given)))
    read = settings.section_values["memory.qmd"]
    assert reduce(getattr, KEYS[key][0].split("."), read) == taken
    assert settings.warnings == ()


@pytest.mark.parametrize(("key", "bad"), REFUSED)
def test_what_a_file_may_not_have(key: str, bad: Any, tmp_path: Path) -> None:
    report = check(**write(tmp_path, nested(key, bad)))
    assert report.problems, f"{bad!r} was taken"
    assert all(fault.key.startswith(f"memory.qmd.{key}") for fault in report.problems)
    assert all(fault.line >= 4 for fault in report.problems)


@pytest.mark.parametrize("text", ["soon", "5 minutes", "-5m", "m", ""])
def test_an_interval_that_cannot_be_read_is_doubted_and_the_default_taken(
    text: str, tmp_path: Path
) -> None:
    settings = load_settings(**write(tmp_path, {"update": {"interval": text}}))
    assert settings.section_values["memory.qmd"].update.interval == 300
    assert "is no interval" in settings.warnings[0]


@pytest.mark.parametrize(
    ("key", "given", "taken"),
    [
        ("limits.maxResults", 0, 6),
        ("limits.maxResults", -3.5, 6),
        ("limits.maxResults", 7.9, 7),
        ("limits.timeoutMs", float("nan"), 4000),
        ("update.debounceMs", -1, 0),
        ("update.commandTimeoutMs", -1, 30_000),
        ("sessions.retentionDays", 0.5, None),
    ],
)
def test_what_a_program_may_pass(key: str, given: Any, taken: Any, tmp_path: Path) -> None:
    arguments = write(tmp_path, {})
    arguments["config"] = {"memory": {"backend": "qmd", "qmd": nested(key, given)}}
    read = load_settings(**arguments).section_values["memory.qmd"]
    assert reduce(getattr, KEYS[key][0].split("."), read) == taken


def test_unknown_keys_are_faults_with_a_suggestion(tmp_path: Path) -> None:
    report = check(**write(tmp_path, {"comand": "x", "update": {"intervall": "5m"}}))
    assert [fault.message for fault in report.problems] == [
        "is not a key here; did you mean 'command'?",
        "is not a key here; did you mean 'update.interval'?",
    ]


def test_where_it_is_not_asked_for_the_section_stays_unread(tmp_path: Path) -> None:
    arguments = write(tmp_path, {"comand": "x"}) | {"sections": None}
    assert load_settings(**arguments).section_values == {}
