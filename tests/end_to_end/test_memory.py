"""One agent's memory from files to answers, through real parts."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import (
    AsyncMemory,
    CallerError,
    ConfigError,
    Memory,
    MemoryClosedError,
    NoteNotFoundError,
    PathNotAllowedError,
    PluginHost,
    UnavailableError,
    WorkspaceError,
)
from commonplace.embedding import choice
from commonplace.errors import MemoryDisabledError
from commonplace.index.manager import IndexedMemoryManager
from commonplace.plugin import hookimpl
from commonplace.search.search import Searcher
from commonplace.tools import plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace import SearchResult

    Opener = Callable[..., Memory]


def write(root: Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    old = 1_700_000_000_000_000_000
    os.utime(target, ns=(old, old))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    write(root, "MEMORY.md", "# Team\n\nThe staging server listens on port 8443.\n")
    write(root, "memory/2026-10-03.md", "# Friday\n\nMia fixed `ERR_MODULE_NOT_FOUND` in build.\n")
    write(root, "memory/projects/otter.md", "# Otter\n\n## 部署\n\n新的API方案在周三上线。\n")
    return root


@pytest.fixture
def opener(tmp_path: Path, workspace: Path) -> Iterator[Opener]:
    opened: list[Memory] = []

    def open_(**options: object) -> Memory:
        env = {
            "HOME": str(tmp_path / "home"),
            "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
            "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
        }
        settings = {"workspace": workspace, "env": env, **options}
        memory = Memory.open(**settings)  # type: ignore[arg-type]  # options are each test's own
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


def test_the_first_search_builds_the_index_and_cites(opener: Opener) -> None:
    result = opener().search("which port does staging use?")
    assert result.hits[0].citation.startswith("MEMORY.md#L")
    assert "8443" in result.hits[0].snippet
    assert result.hits[0].heading == ("Team",)
    assert result.hits[0].source == "memory"
    assert (result.backend, result.provider, result.stale) == ("builtin", None, 0)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("ERR_MODULE_NOT_FOUND", "memory/2026-10-03.md"),
        ("module not found", "memory/2026-10-03.md"),
        ("API方案", "memory/projects/otter.md"),
        ("什么时候上线", "memory/projects/otter.md"),
        ('"staging server"', "MEMORY.md"),
        ("after:2026-10-01 build", "memory/2026-10-03.md"),
        ("path:memory/projects 方案", "memory/projects/otter.md"),
    ],
)
def test_what_a_person_types_finds_the_note(opener: Opener, query: str, path: str) -> None:
    assert opener().search(query).hits[0].path == path


def test_quoted_words_that_stand_nowhere_side_by_side_still_find_what_comes_near(
    opener: Opener,
) -> None:
    memory = opener()
    assert memory.search('"port listens"').hits[0].path == "MEMORY.md"
    assert "side by side" in memory.search('"port listens"').notes[0]
    assert memory.search('"listens on port"').notes == ()
    assert memory.search('"purple zebra"').notes == ("no note has 'purple' or 'zebra'",)


def test_a_word_with_a_minus_is_kept_out(opener: Opener) -> None:
    memory = opener()
    assert memory.search("port build").hits
    assert all("8443" not in hit.snippet for hit in memory.search("port build -staging").hits)


@pytest.mark.parametrize("query", ["", "   ", '"', "* ( ) :", "AND OR NOT", "NEAR(", "-", '"" ""'])
def test_no_query_raises_and_an_empty_one_says_so(opener: Opener, query: str) -> None:
    result = opener().search(query)
    if not query.strip():
        assert result.hits == ()
        assert "no words" in result.notes[0]


def test_every_step_of_the_explanation_leads_to_the_score(opener: Opener) -> None:
    for hit in opener().search("staging port").hits:
        assert [arm.arm for arm in hit.explain.arms] == ["keyword"]
        assert hit.explain.steps[-1].after == hit.score
        assert 0 <= hit.score <= 1


def test_a_change_is_found_by_the_next_search(opener: Opener, workspace: Path) -> None:
    memory = opener()
    memory.sync()
    write(workspace, "memory/new.md", "The walrus is called Humboldt.\n")
    assert memory.search("walrus").hits[0].path == "memory/new.md"
    (workspace / "memory/new.md").unlink()
    assert not memory.search("walrus").hits


def test_many_changes_are_counted_and_not_waited_for(opener: Opener, workspace: Path) -> None:
    memory = opener(one_shot=True)
    memory.sync()
    for number in range(30):
        write(workspace, f"memory/n{number}.md", "A walrus again.\n")
    result = memory.search("walrus")
    assert (result.hits, result.stale) == ((), 30)
    assert any("commonplace index" in note for note in result.notes)
    memory.sync()
    assert memory.search("walrus").stale == 0
    assert memory.search("walrus").hits


def test_a_search_does_not_wait_where_every_note_has_changed(
    opener: Opener, workspace: Path
) -> None:
    for number in range(30):
        write(workspace, f"memory/n{number}.md", "A walrus again.\n")
    opener().sync()
    for number in range(30):
        write(workspace, f"memory/n{number}.md", "A walrus once more.\n")
    assert opener().search("walrus").stale == 30
    cut_otherwise = {"memory": {"search": {"chunking": {"strategy": "lines"}}}}
    result = opener(config=cut_otherwise).search("walrus")
    assert result.hits
    assert result.notes[0].startswith("chunking.strategy is lines here and markdown in the index")


def test_a_renamed_note_is_found_under_its_new_name_only(opener: Opener, workspace: Path) -> None:
    memory = opener()
    memory.sync()
    (workspace / "memory/projects/otter.md").rename(workspace / "memory/projects/seal.md")
    assert {hit.path for hit in memory.search("API方案").hits} == {"memory/projects/seal.md"}


def test_a_second_sync_finds_nothing_to_do(opener: Opener) -> None:
    memory = opener()
    first = memory.sync()
    assert (first.added, first.opened) == (3, 3)
    again = memory.sync()
    assert (again.added, again.updated, again.removed, again.unchanged) == (0, 0, 0, 3)


def test_force_rebuilds_everything_and_answers_the_same(opener: Opener) -> None:
    memory = opener()
    before = memory.search("staging port")
    report = memory.sync(force=True)
    assert report.rebuilt
    assert report.added == 3
    assert memory.search("staging port") == before


def test_another_chunker_makes_the_documents_again(opener: Opener) -> None:
    opener().sync()
    report = opener(config={"memory": {"search": {"chunking": {"strategy": "lines"}}}}).sync()
    assert (report.updated, report.rebuilt) == (3, False)


def test_compat_has_its_own_tokenizer_and_scores(opener: Opener) -> None:
    settings = {"ranking": {"profile": "compat"}, "store": {"fts": {"tokenizer": "trigram"}}}
    opener().sync()
    memory = opener(config={"agents": {"defaults": {"memorySearch": settings}}})
    assert memory.sync().rebuilt
    (hit, *_) = memory.search("stagin").hits
    apart = memory.search("staging zebra")
    assert apart.hits[0].path == hit.path
    assert apart.notes == ("no note has 'zebra'",)
    assert hit.path == "MEMORY.md"
    assert [step.ranker for step in hit.explain.steps] == ["weighted", "lexical_boost"]
    assert {arm.arm for arm in apart.hits[0].explain.arms} == {"keyword:staging"}


def test_two_agents_have_an_index_each(opener: Opener, tmp_path: Path) -> None:
    config = {
        "agents": {"list": [{"id": "main"}, {"id": "second", "workspace": str(tmp_path / "other")}]}
    }
    write(tmp_path / "other", "MEMORY.md", "The lighthouse is white.\n")
    assert not opener(config=config).search("lighthouse").hits
    second = opener(config=config, agent="second", workspace=None)
    assert second.search("lighthouse").hits[0].path == "MEMORY.md"
    names = {path.name.partition("-")[0] for path in (tmp_path / "state" / "memory").iterdir()}
    assert names >= {"main", "second"}


def test_two_folders_under_one_agent_never_answer_for_each_other(
    opener: Opener, tmp_path: Path
) -> None:
    assert opener().search("staging").hits
    (tmp_path / "other").mkdir()
    assert not opener(workspace=tmp_path / "other").search("staging").hits
    one_file = {"memory": {"search": {"store": {"path": str(tmp_path / "one.sqlite")}}}}
    assert opener(config=one_file).search("staging").hits
    assert not opener(config=one_file, workspace=tmp_path / "other").search("staging").hits
    assert opener(config=one_file).search("staging").hits


def test_max_results_and_min_score_bound_the_answer(opener: Opener) -> None:
    memory = opener()
    assert len(memory.search("the staging build 方案", max_results=1).hits) == 1
    hits = memory.search("staging", min_score=0.99).hits
    assert hits == ()


def test_sources_restrict(opener: Opener) -> None:
    memory = opener()
    assert memory.search("staging", sources=["memory"]).hits
    nothing = memory.search("staging", sources=["sessions"])
    assert not nothing.hits
    assert "no source 'sessions'" in nothing.notes[0]
    assert "no source 'mail'" in memory.search("staging source:mail source:memory").notes[0]


def test_get_reads_lines_of_the_file_itself(opener: Opener, workspace: Path) -> None:
    memory = opener()
    note = memory.get("MEMORY.md", start=3, lines=1)
    assert note.text == "The staging server listens on port 8443."
    assert (note.start_line, note.end_line) == (3, 3)
    write(workspace, "MEMORY.md", "changed\n")
    assert memory.get("MEMORY.md").text == "changed"


def test_get_refuses_everything_else_in_the_same_words(opener: Opener, workspace: Path) -> None:
    (workspace / "secret.md").write_text("no")
    (workspace / "memory" / "link.md").symlink_to(workspace / "secret.md")
    memory = opener()
    refusals = set()
    for path in ["secret.md", "../x.md", "/etc/passwd", "memory/link.md", "memory/a.txt", "", "\0"]:
        with pytest.raises(PathNotAllowedError) as caught:
            memory.get(path)
        refusals.add(str(caught.value))
    assert len(refusals) == 1
    with pytest.raises(NoteNotFoundError):
        memory.get("memory/missing.md")


def test_status_tells_the_condition(opener: Opener, workspace: Path) -> None:
    memory = opener()
    memory.sync()
    write(workspace, "memory/new.md", "more\n")
    status = memory.status(deep=True)
    assert (status.files, status.stale, status.backend) == (3, 1, "builtin")
    assert status.available
    assert status.writable
    assert status.problems == ()
    assert status.source_counts[0][:2] == ("memory", 3)


def test_a_missing_workspace_and_a_file_as_one(opener: Opener, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="does not exist"):
        opener(workspace=tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="not a folder"):
        opener(workspace=tmp_path / "file")


def test_an_empty_workspace_says_what_to_write(opener: Opener, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = opener(workspace=tmp_path / "empty").search("anything")
    assert result.hits == ()
    assert any("no notes yet" in note for note in result.notes)


def test_notes_written_into_an_empty_workspace_are_all_found(
    opener: Opener, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    memory = opener(workspace=tmp_path / "empty")
    memory.search("anything")
    for number in range(40):
        write(tmp_path / "empty", f"memory/n{number}.md", "A walrus again.\n")
    assert memory.search("walrus").stale == 0


def test_a_typo_in_the_configuration_is_reported_with_its_hint(opener: Opener) -> None:
    with pytest.raises(ConfigError) as caught:
        opener(config={"agents": {"defaults": {"memorySearch": {"chunkng": {}}}}})
    assert "chunking" in str(caught.value) + str(caught.value.problems)


def test_switched_off_is_an_error_of_its_own(opener: Opener) -> None:
    with pytest.raises(MemoryDisabledError):
        opener(config={"agents": {"defaults": {"memorySearch": {"enabled": False}}}})


def test_qmd_is_stood_in_for_and_the_answer_says_so(opener: Opener) -> None:
    result = opener(config={"memory": {"backend": "qmd"}}).search("staging")
    assert result.backend == "builtin"
    assert result.fallback is not None
    assert result.fallback.part == "qmd"


def test_the_in_memory_store_answers_alike(opener: Opener) -> None:
    builtin = opener().search("staging port")
    other = opener(config={"memory": {"backend": "inmemory"}}).search("staging port")
    assert other.backend == "inmemory"
    assert [hit.citation for hit in other.hits] == [hit.citation for hit in builtin.hits]
    for one, two in zip(builtin.hits, other.hits, strict=True):
        assert one.score == pytest.approx(two.score, rel=1e-5)


def test_notes_are_never_modified(opener: Opener, workspace: Path) -> None:
    def contents() -> dict[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in workspace.rglob("*")
            if path.is_file()
        }

    before = contents()
    memory = opener()
    memory.search("staging")
    memory.sync(force=True)
    memory.get("MEMORY.md")
    assert contents() == before


def test_the_same_verbs_for_asyncio(workspace: Path, tmp_path: Path) -> None:
    async def run() -> str:
        config = {
            "agents": {"defaults": {"memorySearch": {"store": {"path": str(tmp_path / "i")}}}}
        }
        opened = await AsyncMemory.open(workspace=workspace, config=config)
        assert (await opened.sync()).known == 0
        await opened.close()
        async with AsyncMemory.open(workspace=workspace, config=config) as memory:
            result = await memory.search("staging port")
            assert (await memory.get("MEMORY.md")).total_lines == 3
            assert (await memory.status()).files == 3
        with pytest.raises(CallerError, match="closed"):
            await memory.sync()
        return result.hits[0].path

    assert asyncio.run(run()) == "MEMORY.md"


def test_what_cannot_be_looked_at_is_hidden_and_comes_back(
    opener: Opener, workspace: Path, tmp_path: Path
) -> None:
    write(tmp_path / "handbook", "birds.md", "The heron stands still.\n")
    config = {"memory": {"search": {"extraPaths": [str(tmp_path / "handbook")]}}}
    memory = opener(config=config)
    assert memory.search("heron").hits
    (tmp_path / "handbook").rename(tmp_path / "unplugged")
    gone = memory.search("heron")
    assert gone.hits == ()
    assert any("handbook" in note for note in gone.notes)
    assert memory.search("staging").hits
    (tmp_path / "unplugged").rename(tmp_path / "handbook")
    report = memory.sync()
    assert (report.added, report.updated) == (0, 0)
    assert memory.search("heron").hits


@pytest.mark.parametrize("used", [False, True], ids=["never used", "used"])
def test_a_closed_memory_says_so(opener: Opener, used: bool) -> None:
    memory = opener()
    if used:
        assert memory.search("staging").hits
        assert memory.recall().text
        assert memory.status().available
    writer = memory.writer(who="me")
    memory.close()
    memory.close()
    calls: tuple[Callable[[], object], ...] = (
        partial(memory.search, "staging"),
        memory.sync,
        memory.watch,
        partial(memory.session_started, "s"),
        memory.compacted,
        partial(memory.get, "MEMORY.md"),
        memory.notes,
        memory.status,
        memory.recall,
        lambda: memory.plugin_tools,
        memory._embedding,  # threads that are still at work reach these two
        memory._steps,
        partial(writer.remember, "tea"),
        partial(writer.forget, "MEMORY.md#L3"),
        partial(memory.writer(who="you").remember, "tea"),
    )
    for call in calls:
        with pytest.raises(MemoryClosedError, match="this memory is closed") as raised:
            call()
        assert raised.value.hint == "open another one"


@pytest.mark.parametrize(
    "backend", ["builtin", ["inmemory", "builtin"]], ids=["one backend", "a chain"]
)
@pytest.mark.parametrize("method", ["maintain", "search"])
def test_a_search_that_is_overtaken_by_the_end_says_that_the_memory_is_closed(
    opener: Opener, monkeypatch: pytest.MonkeyPatch, backend: object, method: str
) -> None:
    def closing(manager: IndexedMemoryManager, *given: Any, **named: Any) -> object:
        memory.close()  # as another thread does
        return whole(manager, *given, **named)

    memory = opener(config={"memory": {"backend": backend}})
    assert memory.search("staging").hits
    whole = getattr(IndexedMemoryManager, method)
    monkeypatch.setattr(IndexedMemoryManager, method, closing)
    with pytest.raises(MemoryClosedError):
        memory.search("staging")


def test_an_answer_holds_where_another_thread_closes_the_memory_meanwhile(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opener()
    memory.search("staging")
    whole = Searcher.present

    def closing(*given: Any) -> SearchResult:
        result = whole(*given)
        memory.close()
        return result

    monkeypatch.setattr(Searcher, "present", closing)
    assert memory.search("staging", session_key="one").hits


def test_opening_closes_what_it_opened_where_watching_cannot_begin(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    closed: list[PluginHost] = []

    def close(host: PluginHost) -> None:
        closed.append(host)

    monkeypatch.setattr(PluginHost, "close", close)
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(UnavailableError, match="not watched: no thread could be started: "):
        opener(watch=True)
    (host,) = closed
    monkeypatch.undo()
    host.close()


def test_a_single_note_is_found_with_a_score_to_be_seen(opener: Opener, tmp_path: Path) -> None:
    write(tmp_path / "one", "MEMORY.md", "The spare key hangs in the shed.\n")
    (hit,) = opener(workspace=tmp_path / "one").search("spare key").hits
    assert hit.score > 0.05


def test_threads_share_the_parts_that_are_made_at_their_first_use(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opener()
    both = threading.Barrier(2)

    def met(part: type) -> Callable[..., object]:
        def make(*given: object, **named: object) -> object:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.05)  # for the other thread, if that makes one, too
            return part(*given, **named)

        return make

    for part in (choice.EmbeddingChooser, plugins.PluginTools):
        monkeypatch.setattr(f"{part.__module__}.{part.__name__}", met(part))
    for get in (memory._embedding, lambda: memory.plugin_tools):
        both.reset()
        with ThreadPoolExecutor(2) as threads:
            one, other = threads.map(lambda get: get(), [get, get])
        assert one is other


def test_notes_of_a_workspace_that_has_gone_are_no_empty_list(
    opener: Opener, workspace: Path
) -> None:
    memory = opener()
    assert len(memory.notes()) == 3
    shutil.rmtree(workspace)
    with pytest.raises(UnavailableError, match="no document can be listed: "):
        memory.notes()
    workspace.mkdir()
    assert memory.notes() == ()


def test_a_host_that_memories_share_outlives_each_of_them(opener: Opener) -> None:
    class Listener:
        @hookimpl
        def commonplace_searched(self, query: str, result: SearchResult) -> None:
            assert result.backend
            heard.append(query)

    heard: list[str] = []
    host = PluginHost(env={})
    host.register(Listener(), name="listener")
    one, other = opener(host=host), opener(host=host)
    for memory in (one, other):
        memory.search(f"port {len(heard)}")
        memory.close()
    assert host.close(timeout=60)
    assert len(heard) == 2
