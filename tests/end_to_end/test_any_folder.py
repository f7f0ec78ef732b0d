"""A folder of 300 Markdown notes as people keep them, not made for agents."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import PathNotAllowedError
from commonplace.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace.model.reports import SyncEvent

    Put = Callable[..., None]

PATIENCE = 20.0
SUBJECTS = ("tide", "crane", "permit", "invoice", "kettle", "garden", "lamp")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def put(vault: Path) -> Put:
    def put(path: str, text: str | bytes) -> None:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    return put


@pytest.fixture
def filled(vault: Path, put: Put) -> Path:
    """300 notes: logs by day, projects, an inbox; and what editors and tools keep beside them."""
    for number in range(290):
        subject = SUBJECTS[number % len(SUBJECTS)]
        folder = ("Inbox", "Projects/Harbour", "Projects/Garden")[number % 3]
        put(f"{folder}/Note {number}.md", f"# {subject.title()} {number}\n\nAbout the {subject}.\n")
    put("daily/2026-11-03.md", "The ferry was late. #travel/sea\n")
    put("journals/2026_11_04.md", "The ferry was early. #travel\n")
    put(
        "Keys.md",
        "---\ntitle: Door codes\naliases: [keypad]\ntags: [home/keys]\n"
        "created: 2026-03-04\n---\nThe spare key hangs behind the boiler.\n",
    )
    put("Links.md", "See [[Projects/Harbour/Dredger|the digging ship]] and [[Quayside]].\n")
    put("Café.md", "Le café ouvre à huit heures, réservé pour Zoé.\n".encode("latin-1"))
    put("Wide.md", "The lighthouse keeper is called Ansgar.\n".encode("utf-16"))
    put("Unmarked.md", "The pilot boat is called Brise.\n".encode("utf-16-le"))
    put("readme.markdown", "A windlass is for the anchor.\n")
    put("Old.md", "Встреча завтра в порту\n".encode("cp1251"))
    put("Code.md", "```\n#include <stdio.h>\n```\nThe ferry in code. #tools\n")
    for hidden in (".obsidian/x.md", ".trash/x.md", "node_modules/y/x.md", "venv/x.md"):
        put(hidden, "a spare key that is no note")
    return vault


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def memory(filled: Path, env: dict[str, str]) -> Iterator[Memory]:
    with Memory.open(workspace=filled, env=env, one_shot=True) as memory:
        memory.sync()
        yield memory


def paths(memory: Memory, query: str) -> set[str]:
    return {hit.path for hit in memory.search(query, max_results=20).hits}


def test_the_first_search_answers_and_touches_no_note(filled: Path, env: dict[str, str]) -> None:
    before = {path: path.read_bytes() for path in filled.rglob("*") if path.is_file()}
    with Memory.open(workspace=filled, env=env, one_shot=True) as memory:
        assert memory.search("spare key").hits[0].path == "Keys.md"
        report = memory.sync()
        assert report.unchanged == 299
        assert [path for path, _ in report.unreadable] == ["Old.md"]
    assert before == {path: path.read_bytes() for path in filled.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("keypad", {"Keys.md"}),
        ("door boiler", {"Keys.md"}),
        ("tag:home spare", {"Keys.md"}),
        ("tag:home/keys spare", {"Keys.md"}),
        ("tag:#HOME spare", {"Keys.md"}),
        ("tag:key spare", set()),
        ("tag:travel ferry", {"daily/2026-11-03.md", "journals/2026_11_04.md"}),
        ("tag:travel/sea ferry", {"daily/2026-11-03.md"}),
        ("-tag:travel ferry", {"Code.md"}),
        ("tag:travel -tag:travel/sea ferry", {"journals/2026_11_04.md"}),
        ("tag:include ferry", set()),
        ("tag:tools ferry", {"Code.md"}),
        ("digging", {"Links.md"}),
        ("dredger", {"Links.md"}),
        ("quayside", {"Links.md"}),
        ("after:2026-11-04 ferry", {"journals/2026_11_04.md"}),
        ("before:2026-11-03 ferry", {"daily/2026-11-03.md"}),
        ("after:2026-03-04 before:2026-03-04 spare", {"Keys.md"}),
        ("réservé Zoé", {"Café.md"}),
        ("lighthouse Ansgar", {"Wide.md"}),
        ("pilot Brise", {"Unmarked.md"}),
        ("windlass", {"readme.markdown"}),
    ],
)
@pytest.mark.slow
def test_what_is_found(memory: Memory, query: str, found: set[str]) -> None:
    assert paths(memory, query) == found


def test_the_title_of_a_note_is_its_outermost_heading(memory: Memory) -> None:
    assert memory.search("boiler").hits[0].heading == ("Door codes",)


def test_no_note_has_letters_that_no_file_has(memory: Memory) -> None:
    text = memory.get("Café.md").text
    assert text == "Le café ouvre à huit heures, réservé pour Zoé."
    assert any("Old.md' could not be read" in note for note in memory.search("crane").notes)


def test_what_can_be_searched_can_be_read_and_nothing_else(memory: Memory, filled: Path) -> None:
    (filled.parent / "secret.md").write_text("secret")
    (filled / "link.md").symlink_to(filled.parent / "secret.md")
    for hit in memory.search("ferry", max_results=9).hits:
        assert "ferry" in memory.get(hit.path).text
    for path in ("../secret.md", "link.md", ".obsidian/x.md", "node_modules/y/x.md", "venv/x.md"):
        with pytest.raises(PathNotAllowedError):
            memory.get(path)


def test_the_current_folder_is_the_workspace_if_it_holds_notes(
    filled: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled)
    with Memory.open(env=env, one_shot=True) as memory:
        assert memory.search("spare key").hits[0].path == "Keys.md"


def test_memory_that_appears_is_what_is_searched_from_then_on(
    memory: Memory, filled: Path, put: Put
) -> None:
    put("MEMORY.md", "The spare key is with Mia.\n")
    report = memory.sync()
    assert (report.added, report.removed) == (1, 299)
    assert paths(memory, "spare key") == {"MEMORY.md"}
    left_out = memory.status().left_out
    assert left_out is not None
    assert "looked for MEMORY.md and memory/**/*.md; 300 other .md" in left_out.sentences()[0]
    with pytest.raises(PathNotAllowedError):
        memory.get("Keys.md")
    (filled / "MEMORY.md").unlink()
    memory.sync()
    assert paths(memory, "spare key") == {"Keys.md"}


def test_the_file_of_init_keeps_all_notes_searched(
    filled: Path, put: Put, env: dict[str, str]
) -> None:
    put("commonplace.json5", '{ memory: { search: { extraPaths: ["."] } } }')
    with Memory.open(workspace=filled, env=env, one_shot=True) as memory:
        memory.sync()
        put("memory/2026-11-05.md", "The spare key is with Mia.\n")
        assert memory.sync().removed == 0
        assert paths(memory, "spare key") == {"Keys.md", "memory/2026-11-05.md"}


@pytest.mark.slow
def test_a_large_note_that_changed_names_what_takes_it_up(
    filled: Path, put: Put, env: dict[str, str]
) -> None:
    put("Large.md", "word\n\n" * 200_000)
    with Memory.open(workspace=filled, env=env, one_shot=True) as memory:
        memory.sync()
        put("Large.md", "word\n\n" * 200_000 + "zebra\n")
        (note,) = (one for one in memory.search("zebra").warnings if "changed" in one)
        assert "1 changed note may not be in this answer" in note
        assert "run `commonplace index` (a search itself takes up 20 notes, each of 1 MiB" in note
        memory.sync()
        assert paths(memory, "zebra") == {"Large.md"}


def test_a_search_that_finds_nothing_says_how_many_notes_are_not_searched(
    filled: Path, put: Put, env: dict[str, str]
) -> None:
    put("MEMORY.md", "Tea at four.\n")
    with Memory.open(workspace=filled, env=env, one_shot=True) as memory:
        memory.sync()
        found = memory.search("spare key").notes
        (note,) = (note for note in found if note.startswith("looked for MEMORY.md"))
        assert "other .md file" in note
        assert 'extraPaths: ["."]' in note
        assert memory.search("spare key").warnings == ()
        assert not any(note in one.notes for one in [memory.search("tea")])
        group = memory.search("spare key", session_key="agent:main:telegram:group:42")
        assert not any("looked for" in one for one in group.notes)
        assert any("looked for" in one for one in memory.search("spare path:nowhere").notes)
    put("commonplace.json5", '{ memory: { search: { extraPaths: ["."] } } }')
    with Memory.open(workspace=filled, env=env, one_shot=True) as memory:
        memory.sync()
        assert not any("looked for" in one for one in memory.search("zebra").notes)


@pytest.mark.parametrize("poll", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_watched_folder_follows_its_files(
    filled: Path, put: Put, env: dict[str, str], *, poll: bool
) -> None:
    synced = threading.Condition()

    def notice(_: SyncEvent) -> None:
        with synced:
            synced.notify_all()

    def until(memory: Memory, query: str, found: set[str]) -> None:
        with synced:
            assert synced.wait_for(lambda: paths(memory, query) == found, PATIENCE)

    config = {"memory": {"search": {"sync": {"watchDebounceMs": 20, "onSearch": False}}}}
    with Memory.open(workspace=filled, env=env, config=config, on_sync=notice) as memory:
        memory.watch(poll=poll)
        memory.sync()
        until(memory, "spare key", {"Keys.md"})
        put("New/er/note.markdown", "The zeppelin landed.\n")
        until(memory, "zeppelin", {"New/er/note.markdown"})
        put("node_modules/z/x.md", "The zeppelin in a folder of tools.\n")
        put("memory/2026-11-05.md", "The spare key is with Mia.\n")
        until(memory, "spare key", {"memory/2026-11-05.md"})
        assert paths(memory, "zeppelin") == set()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any name")
@pytest.mark.parametrize("backend", ["builtin", "inmemory"])
def test_a_workspace_whose_path_is_no_utf8_is_indexed_and_searched(
    tmp_path: Path, env: dict[str, str], backend: str
) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/n\xff")
    os.makedirs(os.path.join(folder, "memory"))
    with open(os.path.join(folder, "MEMORY.md"), "w", encoding="utf-8") as file:
        file.write("An ant.\n")
    config = {"memory": {"backend": backend}}
    with Memory.open(workspace=folder, env=env, config=config) as memory:
        assert [hit.path for hit in memory.search("ant").hits] == ["MEMORY.md"]
    with Memory.open(workspace=folder, env=env, config=config) as memory:
        assert memory.sync().added == (0 if backend == "builtin" else 1)
        memory.writer(who="test").remember("A bee.")
        assert len(memory.search("bee").hits) == 1
        assert memory.status(deep=True).problems == ()
