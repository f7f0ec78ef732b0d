"""Transcripts of sessions from an OpenClaw folder to hits, and out of the way when not wanted."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, MemoryTools
from commonplace.errors import PathNotAllowedError
from commonplace.index import syncing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox

    Opener = Callable[..., Memory]

ON: dict[str, Any] = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
KEY = "sk-abcdefghijklmnopqrstuvwxyz"


def transcript(folder: Path, name: str, *said: tuple[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    records: list[object] = [{"type": "session", "id": name, "timestamp": "2026-01-31T10:00:00Z"}]
    for role, text in said:
        content = [{"type": "text", "text": text}]
        message = {"role": role, "content": content}
        records.append({"type": "message", "message": message, "timestamp": "2026-01-31T10:00:00Z"})
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    settle(path)
    return path


def settle(path: Path) -> None:
    old = 1_700_000_000_000_000_000
    os.utime(path, ns=(old, old))


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """An OpenClaw folder with sessions of two agents."""
    agents = tmp_path / "openclaw" / "agents"
    transcript(
        agents / "main/sessions",
        "one.jsonl",
        ("user", "Where do walruses live?"),
        ("assistant", "Walruses live in the Arctic."),
        ("user", f"My key for the zoo is {KEY}, keep it"),
    )
    transcript(
        agents / "main/sessions",
        "two.jsonl.reset.2026-02-01T10-00-00.000Z",
        ("user", "The ferry to the island leaves at seven."),
    )
    transcript(agents / "work/sessions", "three.jsonl", ("user", "Walruses are a secret project."))
    return tmp_path / "openclaw"


@pytest.fixture
def opener(tmp_path: Path, original: Path) -> Iterator[Opener]:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    note = workspace / "MEMORY.md"
    note.write_text("# Zoo\n\nThe zoo opens at nine.\n", encoding="utf-8")
    settle(note)
    opened: list[Memory] = []

    def open_(search: dict[str, Any] | None = None, **options: Any) -> Memory:
        env = {
            "HOME": str(tmp_path / "home"),
            "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
            "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
            "OPENCLAW_STATE_DIR": str(original),
        }
        plugins = {"entries": options.pop("entries", {})}
        config = {"memory": {"search": ON if search is None else search}, "plugins": plugins}
        options.setdefault("one_shot", True)  # nothing happens that was not asked for
        opened.append(Memory.open(workspace=workspace, env=env, config=config, **options))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()


def places(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.path for hit in memory.search(query, **options).hits]


def test_a_hit_names_the_lines_of_the_transcript(opener: Opener) -> None:
    (hit,) = opener().search("walruses arctic").hits
    assert (hit.path, hit.source, hit.trust) == ("sessions/one.jsonl", "sessions", "session")
    assert (hit.start_line, hit.end_line) == (2, 4)
    assert "Assistant: Walruses live in the Arctic." in hit.snippet


def test_archives_are_found_and_filters_work(opener: Opener) -> None:
    memory = opener()
    archive = "sessions/two.jsonl.reset.2026-02-01T10-00-00.000Z"
    assert places(memory, "ferry island") == [archive]
    assert places(memory, "ferry source:sessions after:2026-01-31 before:2026-01-31") == [archive]
    assert places(memory, "ferry after:2026-02-01") == []
    assert places(memory, "one two jsonl reset") == []
    assert places(memory, "zoo source:memory") == ["MEMORY.md"]
    assert places(memory, "zoo", sources=("sessions",)) == ["sessions/one.jsonl"]


def test_secrets_are_in_no_hit_and_no_index(opener: Opener, tmp_path: Path) -> None:
    memory = opener()
    (hit,) = memory.search("key for the zoo source:sessions").hits
    assert "sk-a…" in hit.snippet
    assert memory.search(KEY[8:]).hits == ()
    memory.close()
    for file in (tmp_path / "state").rglob("*"):
        if file.is_file():
            assert KEY[8:].encode() not in file.read_bytes()


def test_an_agent_finds_nothing_of_another(opener: Opener) -> None:
    assert places(opener(), "secret project") == []
    assert places(opener(agent="work"), "secret project") == ["sessions/three.jsonl"]
    assert places(opener(agent="work"), "arctic") == []
    assert places(opener(agent="idle"), "walruses") == []


def test_a_hit_is_read_on_in_its_own_lines_with_secrets_masked(opener: Opener) -> None:
    memory = opener()
    (hit,) = memory.search("key for the zoo source:sessions").hits
    for asked in (hit.citation, f"{hit.path}:{hit.start_line}-{hit.end_line}"):
        note = memory.get(asked)
        assert (note.path, note.trust) == (hit.path, "session")
        assert (note.start_line, note.end_line) == (hit.start_line, hit.end_line)
        assert "sk-a…" in note.text
        assert set(hit.snippet.split()) <= set(note.text.split())
    whole = memory.get("sessions/one")
    assert whole.path == "sessions/one.jsonl"
    assert KEY[8:] not in whole.text
    assert whole.text.split("\n")[hit.start_line - 1 : hit.end_line] == note.text.split("\n")


def test_a_transcript_is_read_only_where_it_is_searched(opener: Opener) -> None:
    for memory in (opener({}), opener(agent="work"), opener(agent="idle")):
        with pytest.raises(PathNotAllowedError):
            memory.get("sessions/one.jsonl")


def test_a_group_reads_no_transcript_and_learns_no_name_of_one(opener: Opener) -> None:
    memory = opener()
    assert "sk-a…" in MemoryTools(memory).memory_get("sessions/one.jsonl")
    group = MemoryTools(memory, session_key="agent:main:telegram:group:1")
    for path in ("sessions/one.jsonl", "sessions/one", "sessions/oni.jsonl", "one"):
        answer = group.call("memory_get", {"path": path})
        assert answer.failed
        assert "one.jsonl" not in answer.text.replace(path, "")
        assert "sk-a" not in answer.text


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({}, None),
        ({"sources": ["memory", "sessions"]}, "set experimental.sessionMemory to true as well"),
        ({"experimental": {"sessionMemory": True}}, 'put "sessions" into sources as well'),
    ],
)
def test_switched_off_nothing_is_searched_though_it_was_indexed(
    opener: Opener, search: dict[str, Any], words: str | None
) -> None:
    first = opener()
    assert places(first, "walruses") == ["sessions/one.jsonl"]
    first.close()
    off = opener({**search, "sync": {"onSearch": False}})
    assert places(off, "walruses") == places(off, "walruses source:sessions") == []
    assert places(off, "zoo") == ["MEMORY.md"]
    notices = [line for line in off.status().notices if "sessions are not searched" in line]
    assert len(notices) == (words is not None)
    assert all(words in line for line in notices if words)
    report = off.sync()
    assert report.removed == 2
    assert [row[0] for row in off.status().source_counts] == ["memory"]


def test_a_rebuilt_index_forgets_what_was_switched_off(opener: Opener) -> None:
    opener().sync()
    off = opener({})
    assert off.sync(force=True).rebuilt
    assert [row[0] for row in off.status().source_counts] == ["memory"]


def test_a_folder_that_vanishes_hides_and_comes_back(opener: Opener, original: Path) -> None:
    memory = opener()
    assert places(memory, "walruses") == ["sessions/one.jsonl"]
    folder, aside = original / "agents/main/sessions", original / "aside"
    for fate in ("gone", "empty"):
        folder.rename(aside)
        if fate == "empty":
            folder.mkdir()
        result = memory.search("walruses")
        assert result.hits == ()
        assert any("nothing is forgotten" in note for note in result.notes)
        assert places(memory, "zoo") == ["MEMORY.md"]
        assert memory.sync(force=True).rebuilt is False
        if fate == "empty":
            folder.rmdir()
        aside.rename(folder)
        result = memory.search("walruses")
        assert [hit.path for hit in result.hits] == ["sessions/one.jsonl"]
        assert result.notes == ()
    (folder / "one.jsonl").unlink()
    assert places(memory, "walruses") == []


def test_an_agent_without_sessions_is_reported_in_the_status_only(opener: Opener) -> None:
    memory = opener(agent="idle")
    result = memory.search("zoo")
    assert [hit.path for hit in result.hits] == ["MEMORY.md"]
    assert result.notes == ()
    assert any(
        line.startswith("sessions: ") and "is missing" in line for line in memory.status().notices
    )


def test_sessions_are_found_in_an_empty_workspace(opener: Opener, tmp_path: Path) -> None:
    (tmp_path / "workspace/MEMORY.md").unlink()
    (tmp_path / "workspace/memory").rmdir()
    assert places(opener(), "walruses") == ["sessions/one.jsonl"]


def test_a_folder_of_ones_own(opener: Opener, tmp_path: Path) -> None:
    transcript(tmp_path / "mine", "a.jsonl", ("user", "Narwhals have a tusk."))
    entries = {"sessions": {"config": {"root": str(tmp_path / "mine")}}}
    memory = opener(entries=entries)
    assert places(memory, "narwhals") == ["sessions/a.jsonl"]
    assert places(memory, "walruses") == []
    (tmp_path / "mine").rename(tmp_path / "aside")
    assert any("is missing" in note for note in memory.search("zoo").notes)


def test_other_agents_by_their_own_ids(opener: Opener, tmp_path: Path) -> None:
    said = {"type": "user", "message": {"role": "user", "content": "Refactor the narwhal module"}}
    path = tmp_path / "claude/-home-ann-zoo/0123.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(said) + "\n", encoding="utf-8")
    settle(path)
    entries = {"claude-code": {"config": {"root": str(tmp_path / "claude")}}}
    memory = opener({"sources": ["memory", "claude-code"]}, entries=entries)
    (hit,) = memory.search("narwhal").hits
    assert (hit.path, hit.source) == ("claude-code/-home-ann-zoo/0123.jsonl", "claude-code")
    assert (hit.start_line, hit.trust) == (1, "session")


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search takes all the time it needs for the little that has changed."""
    monkeypatch.setattr(syncing, "_INLINE_SECONDS", 600.0)


@pytest.fixture
def narwhals() -> bytes:
    said = {"type": "message", "message": {"role": "user", "content": "And narwhals?"}}
    return json.dumps(said).encode() + b"\n"


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("key", ["deltaBytes", "deltaMessages"])
def test_what_is_said_meanwhile_is_found_at_once_if_one_likes(
    opener: Opener, original: Path, narwhals: bytes, key: str
) -> None:
    memory = opener({**ON, "sync": {"sessions": {key: 0}}})
    assert places(memory, "narwhals") == []
    for piece in (narwhals[:20], narwhals[20:]):
        with (original / "agents/main/sessions/one.jsonl").open("ab") as file:
            file.write(piece)
        found = places(memory, "narwhals")
    assert found == ["sessions/one.jsonl"]


@pytest.mark.usefixtures("unhurried")
def test_a_search_lets_a_conversation_grow_and_a_sync_takes_it(
    opener: Opener, original: Path, narwhals: bytes
) -> None:
    memory = opener({**ON, "sync": {"sessions": {"deltaMessages": 3}}})
    memory.sync()  # which waits until nothing is so new that it would be looked at twice
    assert places(memory, "narwhals") == []
    path = original / "agents/main/sessions/one.jsonl"
    for _ in range(2):
        with path.open("ab") as file:
            file.write(narwhals)
        result = memory.search("narwhals")
        assert (result.hits, result.stale) == ((), 0)
        assert result.notes == ("no note has 'narwhals'",)
        status = memory.status()
        assert (status.stale, status.deferred) == (0, 1)
    # The next memory that is opened continues counting from the same state.
    other = opener({**ON, "sync": {"sessions": {"deltaMessages": 3}}})
    with path.open("ab") as file:
        file.write(narwhals)
    assert places(other, "narwhals") == ["sessions/one.jsonl"]
    assert other.status().deferred == 0
    with path.open("ab") as file:
        file.write(narwhals.replace(b"narwhals", b"belugas"))
    assert places(memory, "belugas") == []
    assert memory.sync().updated == 1
    assert places(memory, "belugas") == ["sessions/one.jsonl"]
    assert memory.status().deferred == 0


def test_lines_are_those_of_the_file_however_often_it_grew(opener: Opener, original: Path) -> None:
    memory = opener()
    memory.sync()
    path = original / "agents/main/sessions/one.jsonl"
    for turn in range(4):
        with path.open("ab") as file:
            for number in range(60):
                text = f"Day {turn}{number:02}: " + "the zoo was quiet. " * 30
                said = {"type": "message", "message": {"role": "user", "content": text}}
                file.write(b"\n" + json.dumps(said).encode() + b"\n")
        assert memory.sync().updated == 1
    lines = path.read_text(encoding="utf-8").split("\n")
    for word in ("000", "059", "130", "359"):
        (hit, *_) = memory.search(f'"Day {word}"').hits
        assert any(f"Day {word}:" in line for line in lines[hit.start_line - 1 : hit.end_line])
        assert hit.end_line - hit.start_line < 8


def test_what_was_deleted_in_the_original_is_kept_there_and_found(
    opener: Opener, original: Path
) -> None:
    folder = original / "agents/main/sessions"
    memory = opener()
    memory.sync()
    archive = folder / "one.jsonl.deleted.2026-02-03T04-05-06.789Z"
    (folder / "one.jsonl").rename(archive)
    report = memory.sync()
    assert (report.added, report.removed) == (1, 1)
    assert places(memory, "walruses") == [f"sessions/{archive.name}"]


def test_nothing_is_written_where_the_original_lives(opener: Opener, original: Path) -> None:
    def contents() -> dict[Path, object]:
        found = ((path, path.lstat()) for path in [original, *original.rglob("*")])
        return {
            path: (
                facts.st_mode,
                facts.st_ino,
                facts.st_mtime_ns,
                path.is_file() and path.read_bytes(),
            )
            for path, facts in found
        }

    before = contents()
    for agent in ("main", "work", "idle"):
        memory = opener(agent=agent, one_shot=False)
        memory.search("walruses")
        memory.sync()
        memory.sync(force=True)
        memory.status(deep=True)
        with suppress(PathNotAllowedError):
            memory.get("sessions/one.jsonl")
        memory.close()
    assert contents() == before


@pytest.mark.slow
def test_a_search_does_not_wait_for_a_long_session(opener: Opener, original: Path) -> None:
    memory = opener()
    assert places(memory, "walruses") == ["sessions/one.jsonl"]
    folder = original / "agents/main/sessions"
    transcript(
        folder, "long.jsonl", *[("user", f"Day {n}: " + "walrus " * 100) for n in range(1500)]
    )
    transcript(folder, "short.jsonl", ("user", "Narwhals have a tusk."))
    result = memory.search("narwhals")
    assert [hit.path for hit in result.hits] == ["sessions/short.jsonl"]
    assert result.stale == 1
    assert places(memory, "walruses") == ["sessions/one.jsonl"]
    report = memory.sync()
    assert (report.added, report.remaining) == (1, 0)
    assert "sessions/long.jsonl" in places(memory, "walrus")
    assert memory.search("walrus").stale == 0


def test_the_doctor_names_the_folder_that_is_not_there(
    sandbox: Sandbox, tmp_path: Path, original: Path
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"memory": {"search": ON}}), encoding="utf-8")
    sandbox.env["OPENCLAW_STATE_DIR"] = str(original)
    arguments = ("doctor", "--config", str(config), "--agent")
    assert "is missing" not in sandbox.run(*arguments, "main").out
    found = sandbox.run(*arguments, "idle").out
    assert f"{original}/agents/idle/sessions is missing" in " ".join(found.split())


@pytest.mark.slow
def test_the_status_counts_what_waits_to_grow_apart(
    sandbox: Sandbox, tmp_path: Path, original: Path, narwhals: bytes
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"memory": {"search": ON}}), encoding="utf-8")
    sandbox.env["OPENCLAW_STATE_DIR"] = str(original)
    with_config = ("--config", str(config))
    sandbox.run("index", *with_config).went_well()
    assert "Grown since" not in sandbox.run("status", *with_config).went_well()
    with (original / "agents/main/sessions/one.jsonl").open("ab") as file:
        file.write(narwhals)
    status = json.loads(sandbox.run("status", "--json", *with_config).went_well())
    assert (status["stale"], status["dirty"], status["deferred"]) == (0, False, 1)
    shown = sandbox.run("status", *with_config).went_well()
    (line,) = [line for line in shown.splitlines() if "Grown since" in line]
    assert line.split(maxsplit=2)[2] == "1 conversation, too little to be indexed yet"
    found = json.loads(sandbox.run("search", "narwhals", "--json", *with_config).went_well())
    assert found["results"] == []
    sandbox.run("index", *with_config).went_well()
    assert "Grown since" not in sandbox.run("status", *with_config).went_well()
    found = json.loads(sandbox.run("search", "narwhals", "--json", *with_config).went_well())
    assert len(found["results"]) == 1
