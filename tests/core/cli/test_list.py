"""``commonplace list`` and ``commonplace recent``."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

Run = Any


def epoch(day: str) -> float:
    return time.mktime((*map(int, day.split("-")), 12, 0, 0, 0, 0, -1))  # type: ignore[arg-type]  # nine numbers


@pytest.fixture
def notes(tmp_path: Path) -> str:
    texts = {
        "memory/2026-11-03.md": "---\ntitle: The port\ntags: [deploy]\n---\n# Other\nIt is 8412.\n",
        "memory/2026-11-20.md": "# Rain\n\nAll day.\n",
        "memory/garden.md": "Tulips #plants/bulbs here",
        "memory/old.md": "---\ndate: 2025-02-01\n---\nOld.\n",
        "MEMORY.md": "# About me\n\nI like tea.\n",
    }
    folder = tmp_path / "notes"
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (epoch("2026-11-01"), epoch("2026-11-01")))
    os.utime(folder / "memory/garden.md", (epoch("2026-11-10"), epoch("2026-11-10")))
    return str(folder)


def test_it_lists_day_size_path_and_title(run: Callable[..., Run], notes: str) -> None:
    ran = run("list", "--workspace", notes)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "            3 lines  MEMORY.md             About me",
        "2026-11-03  6 lines  memory/2026-11-03.md  The port",
        "2026-11-20  3 lines  memory/2026-11-20.md  Rain",
        "            1 line   memory/garden.md",
        "2025-02-01  4 lines  memory/old.md",
    ]


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["--tag", "deploy"], ["memory/2026-11-03.md"]),
        (["--tag", "#Plants"], ["memory/garden.md"]),
        (["--after", "2026-11-04"], ["memory/2026-11-20.md"]),
        (["--before", "2026-10"], ["memory/old.md"]),
        (["--after", "2026-11", "--before", "2026-11-19"], ["memory/2026-11-03.md"]),
        (["--source", "memory", "--tag", "none"], []),
    ],
)
def test_it_is_narrowed(
    run: Callable[..., Run], notes: str, options: list[str], paths: list[str]
) -> None:
    ran = run("list", "--workspace", notes, "--json", *options)
    assert [note["path"] for note in ran.json["notes"]] == paths
    if not paths:
        assert run("list", "--workspace", notes, *options).err == "note: no notes like that\n"


def test_what_is_not_understood_is_said(run: Callable[..., Run], notes: str) -> None:
    ran = run("list", "--workspace", notes, "--after", "someday")
    assert ran.code == 2
    assert "yesterday" in ran.err
    ran = run("list", "--workspace", notes, "--source", "mail")
    assert ran.code == 0
    assert "no note is of the source 'mail'; there is memory" in ran.err


def test_a_source_of_a_folder_without_notes_is_said(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    ran = run("list", "--workspace", str(tmp_path / "empty"), "--source", "mail")
    assert ran.err == "note: no note is of the source 'mail'; there is no note at all\n"


def test_recent_has_the_newest_days_and_changes_first(run: Callable[..., Run], notes: str) -> None:
    ran = run("recent", "--workspace", notes, "-n", "4")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "2026-11-20  3 lines  memory/2026-11-20.md  Rain: All day.",
        "2026-11-10  1 line   memory/garden.md      Tulips #plants/bulbs here",
        "2026-11-03  6 lines  memory/2026-11-03.md  The port: It is 8412.",
    ]
    assert len(lines) == 4


def test_a_checkout_makes_no_undated_note_recent(run: Callable[..., Run], notes: str) -> None:
    for at, file in enumerate(sorted(Path(notes).rglob("*.md"))):
        os.utime(file, (epoch("2026-11-25") + at, epoch("2026-11-25") + at))
    os.utime(os.path.join(notes, "memory/garden.md"), (epoch("2026-11-26"),) * 2)
    ran = run("recent", "--workspace", notes, "--json")
    assert [note["path"] for note in ran.json["notes"]] == [
        "memory/garden.md",  # which was changed since
        "memory/2026-11-20.md",
        "memory/2026-11-03.md",
        "memory/old.md",
        "MEMORY.md",
    ]


def test_the_last_day_of_all_is_a_day(run: Callable[..., Run], notes: str) -> None:
    Path(notes, "memory/9999-12-31.md").write_text("# To come\n")
    assert run("recent", "--workspace", notes).code == 0


def test_two_old_logs_that_were_edited_are_no_checkout(run: Callable[..., Run], notes: str) -> None:
    for day in range(1, 9):
        Path(notes, f"memory/2026-10-0{day}.md").write_text("# Log\n")
        os.utime(f"{notes}/memory/2026-10-0{day}.md", (epoch("2026-10-12") + 99 * day,) * 2)
    for name in ("memory/2026-10-01.md", "memory/2026-10-02.md", "MEMORY.md"):
        os.utime(f"{notes}/{name}", (epoch("2026-11-25"),) * 2)
    ran = run("recent", "--workspace", notes, "--json")
    assert "MEMORY.md" in [note["path"] for note in ran.json["notes"]][:4]


def test_a_note_cannot_steer_the_terminal(run: Callable[..., Run], notes: str) -> None:
    with open(os.path.join(notes, "MEMORY.md"), "w", encoding="utf-8") as file:
        file.write("# a\x1b[31mred\n")
    assert "\x1b" not in run("list", "--workspace", notes).out


@pytest.mark.slow
def test_ten_thousand_notes_are_listed_from_their_files_alone(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    folder = tmp_path / "many" / "memory"
    folder.mkdir(parents=True)
    for number in range(10_000):
        (folder / f"{number:05}.md").write_text(f"# Note {number}\n", encoding="utf-8")
    ran = run("list", "--workspace", str(tmp_path / "many"))
    assert len(ran.out.splitlines()) == 10_000
    assert not os.path.exists(os.path.join(os.environ["HOME"], ".local", "state"))


@pytest.fixture
def conversations(home: Path) -> Path:
    """The folder of two sessions beside a note of a day; one has its day in its messages alone."""
    folder = home / ".openclaw" / "agents" / "main" / "sessions"
    memory = home / ".openclaw" / "workspace" / "memory"
    folder.mkdir(parents=True)
    memory.mkdir(parents=True)
    (memory / "2026-11-21.md").write_text("- Bread.\n", encoding="utf-8")
    (home / ".openclaw" / "openclaw.json").write_text(
        '{ agents: { defaults: { memorySearch: { provider: "none", '
        'sources: ["memory", "sessions"], experimental: { sessionMemory: true } } } } }',
        encoding="utf-8",
    )
    for name, day in (("0a1b", "2026-11-21"), ("0c2d", "2026-10-02")):
        said = {"role": "user", "content": [{"type": "text", "text": "How is espresso made?"}]}
        record = {"type": "message", "timestamp": f"{day}T09:00:00Z", "message": said}
        (folder / f"{name}.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    return folder


def test_the_day_of_a_conversation_is_read_where_its_source_is_asked_for(
    run: Callable[..., Run], conversations: Path
) -> None:
    suggested = run("search", "after:2026-11-21 source:sessions").err
    command = "commonplace list --source sessions --after 2026-11-21"
    assert f"`{command}`" in suggested
    ran = run(*command.split()[1:])
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0::3] for line in ran.out.splitlines()] == [
        ["2026-11-21", "sessions/0a1b.jsonl"]
    ]
    (conversations / "0a1b.jsonl").unlink()
    (conversations / "0a1b.jsonl").mkdir()
    assert "no notes like that" in run(*command.split()[1:]).err


def test_conversations_that_are_left_out_are_counted_with_the_command_that_lists_them(
    run: Callable[..., Run], conversations: Path
) -> None:
    ran = run("list", "--before", "2026-11-21")
    assert [line.split()[-1] for line in ran.out.splitlines()] == ["memory/2026-11-21.md"]
    assert ran.err == (
        "note: 2 documents of sessions without a day in the name left out; to read the days: "
        "`commonplace list --source sessions --before 2026-11-21`\n"
    )


def test_a_conversation_that_cannot_be_read_is_named(
    run: Callable[..., Run], conversations: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("commonplace.index.documents.day_from", refused)
    ran = run("list", "--source", "sessions", "--before", "2026-11-21")
    assert ran.out == ""
    words = (
        "2 documents left out, as the day cannot be read: sessions/0a1b.jsonl: Permission denied"
    )
    assert words in ran.err
