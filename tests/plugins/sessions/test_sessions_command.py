"""``commonplace sessions``: list, show, archive, and what a hook hands over."""

from __future__ import annotations

import io
import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ID = "3f2b8c1e-0000-4000-8000-00000000000a"
OTHER = "3f2b9999-0000-4000-8000-00000000000b"
CODEX = "019aa000-0000-7000-8000-00000000000c"
KEY = "sk-abcdefghijklmnopqrstuvwxyz"


def claude(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "type": role,
        "message": {"role": role, "content": text},
        "timestamp": "2026-01-31T12:00:00Z",
        "sessionId": ID,
        **more,
    }


TALK = [
    claude("user", "<command-name>/clear</command-name>"),
    claude("user", f"My bike is green. {KEY}"),
    claude("assistant", "Noted."),
    claude("user", "sub", isSidechain=True),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with three conversations, the newest first: Claude Code's two, and Codex's."""
    for name in list(os.environ):
        if name.startswith(("COMMONPLACE_", "OPENCLAW_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    for name, folder in {"STATE_DIR": "state", "CACHE_DIR": "cache", "WORKSPACE": "notes"}.items():
        monkeypatch.setenv(f"COMMONPLACE_{name}", str(tmp_path / folder))
    put(tmp_path / ".claude/projects/-zoo" / f"{ID}.jsonl", *TALK, changed=3000)
    put(tmp_path / ".claude/projects/-zoo" / f"{OTHER}.jsonl", claude("user", "hi"), changed=2000)
    codex = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hey"}]}
    put(
        tmp_path / ".codex/sessions/2026/01/31" / f"rollout-2026-01-31T10-00-00-{CODEX}.jsonl",
        {"type": "response_item", "payload": codex},
        changed=1000,
    )
    return tmp_path


def put(path: Path, *records: object, changed: float = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(path, (changed, changed))
    return path


@pytest.fixture
def run(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command; ``stdin`` is what it reads."""

    def run_(*args: str, stdin: str = "") -> tuple[int, str, str]:
        data = io.BytesIO(stdin.encode("utf-8", "surrogateescape"))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data, "utf-8"))
        try:
            code = main(["sessions", *args])
        except SystemExit as error:
            code = int(str(error.code))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run_


def notes(home: Path) -> list[Path]:
    return sorted((home / "notes").rglob("*.md"))


def allow(home: Path) -> None:
    """Let agents write."""
    file = home / ".config/commonplace/config.json5"
    file.parent.mkdir(parents=True)
    file.write_text("{memory: {write: {enabled: true}}}")


def test_list_shows_the_newest_first(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("list")
    assert code == 0
    rows = out.splitlines()
    assert [ID in rows[0], OTHER in rows[1], CODEX in rows[2]] == [True] * 3
    assert "My bike is green." in rows[0]
    assert KEY not in out
    code, out, err = run("list", "--last", "1")
    assert len(out.splitlines()) == 1
    assert "2 more" in err


def test_of_several_files_of_one_id_the_paths_are_shown(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    here = home / ".claude" / "projects" / "-park"
    put(here / f"{OTHER}.jsonl", claude("user", "again"), changed=9000)
    paths = [
        row["path"]
        for row in json.loads(run("list", "--json")[1])["sessions"]
        if row["id"] == OTHER
    ]
    assert len(paths) == 2
    _, out, _ = run("list")
    assert all(path in out for path in paths)
    assert f"{ID}.jsonl" not in out, "of one file the id is enough"
    _, out, err = run("show", OTHER)
    assert out == "User: again\n\n"
    assert f"this is {paths[0]}; of the same id there is also {paths[1]}" in err
    assert run("show", paths[1])[2] == ""


def test_a_configured_folder_that_is_not_there_is_no_lack_of_conversations(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    (home / ".claude").rename(home / "away")
    entries = "{plugins: {entries: {codex: {config: {root: '/not/mounted'}}}}}"
    file = home / ".config/commonplace/config.json5"
    file.parent.mkdir(parents=True)
    file.write_text(entries)
    for args in (("list",), ("show", ID), ("archive", ID)):
        err = run(*args)[2]
        assert "/not/mounted is missing" in err
        assert "no conversations" not in err
    file.unlink()
    (home / ".codex").rename(home / "away too")
    assert "no conversations" in run("list")[2]


def test_what_is_no_event_is_said_without_the_name_of_a_class(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    _, _, err = run("archive", "--hook", stdin="[]")
    assert err == "note: standard input is no JSON object\n"


def test_list_as_json(run: Callable[..., tuple[int, str, str]]) -> None:
    found = json.loads(run("list", "--json")[1])
    assert found["total"] == 3
    first = found["sessions"][0]
    assert first["path"] == f"claude-code/-zoo/{ID}.jsonl"
    assert (first["program"], first["changed"]) == ("claude-code", 3000)
    assert KEY not in json.dumps(found)


def test_show_prints_what_was_said(run: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = run("show", ID[:6])
    assert out.startswith("User: My bike is green. sk-a…")
    assert "Assistant: Noted." in out
    assert KEY not in out
    assert run("show", CODEX, "--last", "1")[1] == "User: Hey\n\n"
    shown = json.loads(run("show", f"claude-code/-zoo/{ID}.jsonl", "--json")[1])
    assert [(one["role"], one["line"]) for one in shown["messages"]] == [
        ("user", 2),
        ("assistant", 3),
    ]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("show", "3f2b"), 1, "may be"),
        (("show", "nothing"), 1, "there is no session"),
        (("show", " "), 1, "no name"),
        (("show",), 2, "needs a session"),
        (("list", ID), 2, "takes no session"),
        (("list", "--hook"), 0, "--hook is for archive"),
        (("archive", "--hook", ID), 0, "--hook is for archive"),
        (("archive", "--hook", "--lst", "3"), 0, "unrecognized arguments: --lst"),
        (("archive", "--hook", "--last", "0"), 0, "--last"),
        (("archve", "--hook"), 0, "invalid choice"),
        (("archive", "--last", "0"), 2, "--last"),
        (("burn",), 2, "invalid choice"),
    ],
)
def test_mistakes_are_named(
    run: Callable[..., tuple[int, str, str]], args: tuple[str, ...], code: int, words: str
) -> None:
    found, _, err = run(*args)
    assert (found, words in err) == (code, True)


def test_a_person_archives_a_session_at_once(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    code, out, _ = run("archive", ID)
    (note,) = notes(home)
    assert (code, out.strip()) == (0, note.relative_to(home / "notes").as_posix())
    text = note.read_text("utf-8")
    assert f"- **Session ID**: {ID}\n" in text
    assert text.endswith("Agent: Noted.\n")
    assert KEY not in text
    again = json.loads(run("archive", ID, "--json")[1])
    assert again["reason"] == "it is archived already"
    assert len(notes(home)) == 1


def test_that_nothing_was_archived_is_a_failure(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    (home / "folder.jsonl").mkdir()
    (home / "link.jsonl").symlink_to(home / ".claude/projects/-zoo" / f"{ID}.jsonl")
    for name in ("folder.jsonl", "link.jsonl"):
        code, out, err = run("archive", str(home / name))
        assert (code, out) == (1, "")
        assert "cannot be read: it is a link, or no plain file" in err
        code, out, err = run("show", str(home / name))
        assert (code, out) == (1, "")
        assert "cannot be read: it is a link, or no plain file" in err
    empty = put(home / "empty.jsonl", claude("user", "/new"))
    code, _, err = run("archive", str(empty))
    assert (code, "nothing was said" in err) == (1, True)
    assert notes(home) == []


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2025-11-20"), ("Asia/Tokyo", "2025-11-21")])
def test_an_archive_has_the_day_of_the_first_message(
    run: Callable[..., tuple[int, str, str]], home: Path, zone: str, day: str
) -> None:
    file = home / ".config/commonplace/config.json5"
    file.parent.mkdir(parents=True)
    search = f"query: {{timeZone: '{zone}'}}"
    file.write_text(f"{{agents: {{defaults: {{memorySearch: {{{search}}}}}}}}}")
    path = put(
        home / "old.jsonl",
        claude("user", "The ferry leaves at noon.", timestamp="2025-11-20T22:30:00Z"),
        claude("assistant", "Noted.", timestamp="2025-11-21T09:00:00Z"),
    )
    assert run("archive", str(path))[0] == 0
    (note,) = notes(home)
    assert note.name.startswith(f"{day}-")
    assert note.read_text("utf-8").startswith(f"# Session: {day} ")


def test_an_archive_without_times_has_the_day_of_today(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    before = time.strftime("%Y-%m-%d")
    run("archive", CODEX)
    (note,) = notes(home)
    assert note.name[:10] in (before, time.strftime("%Y-%m-%d"))


def test_list_goes_by_the_last_message_not_by_when_the_file_was_copied(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    new = 4_000_000_000
    project = home / ".claude/projects/-zoo"
    old = [claude("user", str(at), timestamp=f"2025-11-2{at}T12:00:00Z") for at in (0, 1)]
    put(project / f"{ID}.jsonl", *TALK, changed=new - 1)
    put(project / "old.jsonl", *old, changed=new + 1)
    put(project / "new.jsonl", claude("user", "x", timestamp="2025-12-24T12:00Z"), changed=new)
    shown = run("list", "--last", "4")[1].splitlines()
    assert [line.split()[-2] for line in shown[2:]] == ["new", "old"]
    assert shown[3].startswith("2025-11-21 ")
    first = json.loads(run("list", "--last", "1", "--json")[1])["sessions"][0]
    assert (first["at"], first["changed"]) == (1769860800, new - 1)


def event(path: object, id_: str = ID) -> str:
    return json.dumps(
        {
            "session_id": id_,
            "transcript_path": str(path),
            "cwd": "/tmp",
            "hook_event_name": "SessionEnd",
            "reason": "clear",
        }
    )


def test_a_hook_archives_its_session_where_agents_may_write(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    path = home / ".claude/projects/-zoo" / f"{ID}.jsonl"
    code, out, err = run("archive", "--hook", stdin=event(path))
    assert (code, out) == (0, "")
    assert "may not write" in err
    assert notes(home) == []
    allow(home)
    assert run("archive", "--hook", stdin=event(path)) == (0, "", "")
    (note,) = notes(home)
    assert "- **Source**: SessionEnd clear\n" in note.read_text("utf-8")


@pytest.mark.parametrize(
    "stdin",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"transcript_path": 7}',
        "[" * 100_000,
        "x" * 3_000_000,
        event("/nowhere/at/all.jsonl"),
        event("/etc"),
        event("\0"),
        "\udcff\udcfe",
    ],
)
def test_a_hook_never_fails(
    run: Callable[..., tuple[int, str, str]], home: Path, stdin: str
) -> None:
    allow(home)
    code, out, err = run("archive", "--hook", stdin=stdin)
    assert (code, out) == (0, "")
    assert err.startswith("note: ")
    assert "Traceback" not in err
    assert notes(home) == []


def test_another_session_is_never_archived_in_its_place(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    """The original took the newest transcript where it did not find the right one."""
    allow(home)
    folder = home / ".claude/projects/-zoo"
    for path, id_ in ((folder / f"{OTHER}.jsonl", ID), (folder / "gone.jsonl", "gone")):
        code, _, err = run("archive", "--hook", stdin=event(path, id_))
        assert code == 0
        assert err
    assert notes(home) == []


def test_a_session_that_was_reset_is_read_from_its_own_copy(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    allow(home)
    folder = home / "sessions"
    for day, text in (("2026-01-30", "older"), ("2026-01-31", "newer")):
        put(folder / f"abc.jsonl.reset.{day}T10-00-00.000Z", claude("user", text))
    put(folder / "xyz.jsonl.reset.2026-02-01T10-00-00.000Z", claude("user", "of another"))
    put(folder / "abc.jsonl", {"type": "session"})
    assert run("archive", "--hook", stdin=event(folder / "abc.jsonl", "abc"))[0] == 0
    (note,) = notes(home)
    assert note.read_text("utf-8").endswith("\n\nUser: newer\n")


def test_an_empty_session_leaves_nothing(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    allow(home)
    path = put(home / "empty.jsonl", claude("user", "/new"))
    code, _, err = run("archive", "--hook", stdin=event(path, "empty"))
    assert (code, notes(home)) == (0, [])
    assert "nothing was said" in err
