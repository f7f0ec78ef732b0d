"""``commonplace ltm``, by the command line."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from commonplace.cli import main
from commonplace_longterm.command import LtmCommand

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(
    lancedb_installed: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Ran]:
    for name in list(os.environ):
        if name.startswith(("COMMONPLACE_", "OPENCLAW_", "XDG_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "notes"))

    def run(*argv: str) -> Ran:
        capsys.readouterr()
        code = main(["ltm", *argv])
        return Ran(code, *capsys.readouterr())

    return run


FILE = "## decision\n\n- We use Helix.\n\n## other\n- Tea at five.\n  Every day.\n"


@pytest.mark.slow
def test_a_person_imports_lists_searches_exports_and_forgets(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    assert run("list") == Ran(0, "", "note: there are no memories\n")
    (tmp_path / "mine.md").write_text(FILE)
    said = "2 added, 0 updated, 0 unchanged, 0 removed, 0 known under another id\n"
    assert run("import", "mine.md") == Ran(0, said, "")
    assert "0 added, 0 updated, 2 unchanged" in run("import", "mine.md").out, "the same ids"
    listed = [line[10:] for line in run("list").out.splitlines()]
    assert sorted(listed) == ["[decision] We use Helix.", "[other] Tea at five. Every day."]
    (found,) = run("search", "when is tea?").out.splitlines()
    assert "[other] Tea at five. Every day." in found
    assert run("search", "quarterly earnings").out == "No matches.\n"
    assert "memories    2" in run("stats").out
    assert run("export", "out.md").out == "2 memories in out.md\n"
    exported = (tmp_path / "out.md").read_text()
    assert run("export").out == exported
    (tmp_path / "link.md").symlink_to("out.md")
    assert run("export", "link.md").code == 0
    assert (tmp_path / "link.md").is_symlink()
    refused = run("export", "mine.md")
    assert (refused.code, (tmp_path / "mine.md").read_text()) == (1, FILE)
    assert "mine.md: is there already, and no earlier file of memories" in refused.err
    assert run("import", "out.md", "--replace").code == 0
    assert run("export").out == exported
    gone = run("forget", found.split()[1])
    assert gone.out.startswith("forgotten: ")
    assert len(run("list").out.splitlines()) == 1
    assert run("list", "--agent", "work").out == ""
    (tmp_path / "only.md").write_text("- Only this.\n")
    assert "1 added, 0 updated, 0 unchanged, 1 removed" in run("import", "only.md", "--replace").out


@pytest.mark.slow
def test_standard_input_is_a_file_too(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILE.encode("utf-8-sig"))))
    added = json.loads(run("import", "-", "--json").out)
    assert (added["added"], added["note"]) == (2, "")
    assert len(json.loads(run("export", "--json").out)["memories"]) == 2
    monkeypatch.setattr(sys, "stdin", None)  # as where a shell closed it
    closed = run("import", "-")
    assert (closed.code, "standard input is closed" in closed.err) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("search",), 2, "ltm search takes a query"),
        (("import",), 2, "ltm import takes a file"),
        (("forget", " "), 2, "takes the id"),
        (("list", "x"), 2, "takes nothing more"),
        (("list", "--category", "joy"), 2, "invalid choice"),
        (("forget", "zz"), 1, "is not the id of a memory"),
        (("forget", "00000000"), 1, "no memory 00000000"),
        (("import", "none.md"), 1, "cannot be read"),
        (("import", "bad.md"), 1, "line 1 is neither"),
        (("import", "empty.md", "--replace"), 1, "all would be deleted"),
        (("import", "latin.md"), 1, "no text in UTF-8"),
        (("import", "notes"), 1, "no memories of an original"),
        (("export", "none/out.md/x"), 1, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_an_error_without_a_traceback(
    argv: tuple[str, ...], code: int, words: str, run: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "bad.md").write_text("plain words\n")
    (tmp_path / "empty.md").write_text("# Nothing\n")
    (tmp_path / "latin.md").write_bytes(b"- caf\xe9\n")
    (tmp_path / "none").write_text("")
    ran = run(*argv)
    assert ran.code == code
    assert words in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_memories_of_an_original_are_taken_and_left_alone(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    import lancedb
    import pyarrow as pa

    folder = tmp_path / ".openclaw" / "memory" / "lancedb"
    rows: list[dict[str, Any]] = [
        {"id": f"{n:08}-0000-4000-8000-000000000000", "text": text, "vector": [0.1] * 4}
        | {"importance": 0.7, "category": category, "createdAt": 1.7e12 if n else 1.7e18}
        | {"agentId": agent, "scope": scope}
        for n, (text, category, agent, scope) in enumerate(
            [
                ("I prefer tabs", "preference", "main", ""),
                ("A strange one", "mood", "main", None),
                ("Another agent's", "fact", "work", ""),
                ("Of a scope alone", "fact", "main", "project"),
                ("", "fact", "main", ""),
            ]
        )
    ]
    lancedb.connect(str(folder)).create_table("memories", data=pa.Table.from_pylist(rows))
    before = sorted(str(path) for path in folder.rglob("*"))
    taken = run("import", str(folder))
    assert taken.out.startswith("2 added")
    assert "left out: 2 memories" in taken.err
    memories = json.loads(run("list", "--json").out)["memories"]
    assert {(m["text"], m["category"], m["importance"]) for m in memories} == {
        ("I prefer tabs", "preference", 0.7),
        ("A strange one", "other", 0.7),
    }
    # The first had a time that is in no calendar.
    assert {m["createdAt"] for m in memories} == {1_700_000_000_000, 253_402_300_799_999}
    assert "created=9999-12-31T23:59:59.999Z" in run("export").out
    assert sorted(str(path) for path in folder.rglob("*")) == before
    config = {"plugins": {"entries": {"memory-lancedb": {"config": {"dbPath": str(folder)}}}}}
    (tmp_path / "commonplace.json5").write_text(json.dumps(config))
    listed = json.loads(run("list", "--json", "--config", "commonplace.json5").out)
    assert len(listed["memories"]) == 2
    assert sorted(str(path) for path in folder.rglob("*")) == before


def test_every_action_has_an_example() -> None:
    examples = " ".join(LtmCommand.examples)
    assert all(f"ltm {action}" in examples for action in ("list", "search", "stats", "export"))
    assert all(f"ltm {action}" in examples for action in ("import", "forget"))
