"""One table of exit codes, and what every command ends with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli.parser import (
    BUILTIN,
    DONE,
    EXIT_CODES,
    FAILED,
    IN_PART,
    INTERRUPTED,
    NOT_VALID,
)
from commonplace.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.cli.conftest import Ran as Run

pytestmark = pytest.mark.slow  # it waits for providers that are not there

ROOT = Path(__file__).parents[3]
NOWHERE = "http://127.0.0.1:9/v1"
NAMED = f'{{ memory: {{ search: {{ provider: "openai", remote: {{ baseUrl: "{NOWHERE}" }} }} }} }}'
FOUND = f'{{ models: {{ providers: {{ openai: {{ baseUrl: "{NOWHERE}", apiKey: "x" }} }} }} }}'
OFF = "{ memory: { search: { enabled: false } } }"
WRONG = '{ memory: { backnd: "x" } }'
NOT_JSON = "{ memory: "

# A command line; ``{ws}`` is a workspace that is indexed, ``{empty}`` an empty folder. The second
# part is the configuration.
ENDS: list[tuple[str, str, int]] = [
    ("--version", "", DONE),
    ("--help", "", DONE),
    ("help", "", DONE),
    ("help exit-codes", "", DONE),
    ("help search", "", DONE),
    ("search --help", "", DONE),
    ("demo --into {empty}/demo", "", DONE),
    ("index --workspace {ws}", "", DONE),
    ("index --workspace {empty}", "", DONE),
    ("search walrus --workspace {ws}", "", DONE),
    ("search xyzzyxyzzy --workspace {ws}", "", DONE),
    ("search walrus --workspace {ws}", NAMED, DONE),
    ("get MEMORY.md --workspace {ws}", "", DONE),
    ("status --workspace {ws}", "", DONE),
    ("doctor --quiet --workspace {ws}", "", DONE),
    ("config show --workspace {ws}", "", DONE),
    ("config check --workspace {ws}", "", DONE),
    ("config path --workspace {ws}", "", DONE),
    ("config schema", "", DONE),
    ("plugins", "", DONE),
    ("plugins new ranker owls --dir {empty}", "", DONE),
    ("plugins new ranker mmr --dir {empty}", "", FAILED),
    ("plugins new owls", "", NOT_VALID),
    ("recall --workspace {ws}", "", DONE),
    ("completion bash", "", DONE),
    ("man", "", DONE),
    ("list --workspace {ws}", "", DONE),
    ("recent --workspace {ws}", "", DONE),
    ("remember walruses-moult --workspace {ws}", "", DONE),
    ("journal --workspace {ws}", "", DONE),
    ("undo --workspace {ws}", "", FAILED),
    ("correct MEMORY.md#L9999 x --workspace {ws}", "", FAILED),
    ("forget MEMORY.md --workspace {ws}", "", FAILED),
    ("init {ws}", "", DONE),
    ("index --workspace {ws}", OFF, DONE),
    ("search walrus --workspace {ws}", OFF, DONE),
    ("status --workspace {ws}", OFF, DONE),
    ("get MEMORY.md --workspace {ws}", OFF, DONE),
    ("index --workspace {ws}", FOUND, DONE),
    ("get memory/none.md --workspace {ws}", "", FAILED),
    ("get /etc/passwd --workspace {ws}", "", FAILED),
    ("index --workspace {empty}/none", "", FAILED),
    ("search walrus --workspace {empty}/none", "", FAILED),
    ("demo --into {ws}", "", FAILED),
    ("", "", NOT_VALID),
    ("serch walrus", "", NOT_VALID),
    ("--workspce x search walrus", "", NOT_VALID),
    ("search --workspace {ws}", "", NOT_VALID),
    ("search walrus --max-results 0 --workspace {ws}", "", NOT_VALID),
    ("get", "", NOT_VALID),
    ("config", "", NOT_VALID),
    ("index --forse --workspace {ws}", "", NOT_VALID),
    ("index --workspace {ws}", WRONG, NOT_VALID),
    ("search walrus --workspace {ws}", WRONG, NOT_VALID),
    ("get MEMORY.md --workspace {ws}", WRONG, NOT_VALID),
    ("status --workspace {ws}", WRONG, NOT_VALID),
    ("watch --workspace {ws}", WRONG, NOT_VALID),
    ("config show --workspace {ws}", WRONG, NOT_VALID),
    ("config check --workspace {ws}", WRONG, NOT_VALID),
    ("config check --workspace {ws}", NOT_JSON, NOT_VALID),
    ("doctor --workspace {ws}", WRONG, FAILED),
    ("index --workspace {ws}", NAMED, IN_PART),
    ("index --force --workspace {ws}", NAMED, IN_PART),
]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(
    ("line", "config", "code"), ENDS, ids=[f"{line} {config}".strip() for line, config, _ in ENDS]
)
def test_what_every_command_ends_with(
    run: Callable[..., Run],
    indexed: str,
    tmp_path: Path,
    line: str,
    config: str,
    code: int,
    as_json: bool,
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    argv = [part.format(ws=indexed, empty=empty) for part in line.split()]
    if config:
        file = tmp_path / "config.json5"
        file.write_text(config, encoding="utf-8")
        argv += ["--config", str(file)]
    if as_json and argv and not argv[0].startswith("-") and argv[0] != "help":
        argv.append("--json")
    assert run(*argv).code == code


def test_every_command_and_every_code_is_among_them() -> None:
    assert {line.split()[0] for line, _, _ in ENDS if line} >= set(BUILTIN)
    assert {code for _, _, code in ENDS} | {INTERRUPTED} == set(EXIT_CODES)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_note_that_cannot_be_read_is_done_in_part(
    run: Callable[..., Run], workspace: str
) -> None:
    Path(workspace, "MEMORY.md").chmod(0)
    assert run("index", "--workspace", workspace).code == IN_PART


@pytest.mark.parametrize(
    ("left", "code"),
    [
        ({}, DONE),
        ({"unreadable": (("MEMORY.md", "Permission denied"),)}, IN_PART),
        ({"remaining": 3}, IN_PART),
        ({"failed_backends": ("mine",)}, IN_PART),
    ],
)
def test_what_a_sync_leaves_is_done_in_part(
    run: Callable[..., Run],
    indexed: str,
    monkeypatch: pytest.MonkeyPatch,
    left: dict[str, Any],
    code: int,
) -> None:
    sync = Memory.sync
    monkeypatch.setattr(Memory, "sync", lambda *args, **more: sync(*args, **more).replace(**left))
    assert run("index", "--workspace", indexed).code == code


def test_ctrl_c_is_130_in_every_command(
    run: Callable[..., Run], indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "open", interrupt)
    for command in ("index", "search x", "get MEMORY.md", "status", "watch", "watch --json"):
        assert run(*command.split(), "--workspace", indexed).code == INTERRUPTED


def test_the_table_is_printed_and_on_the_page(run: Callable[..., Run]) -> None:
    printed = " ".join(run("help", "exit-codes").out.split())
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for code, words in EXIT_CODES.items():
        assert f"{code} {words}" in printed
        assert f"| `{code}` | {words} |" in page
