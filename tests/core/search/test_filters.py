"""The filters of a query: paths as they may be typed, and what is said where nothing passes."""

from __future__ import annotations

import os
import threading
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.errors import DeclinedError, UnavailableError
from commonplace.host.answers import scanned
from commonplace.index.syncing import Freshness
from commonplace.model.documents import RootFailure
from commonplace.model.plugins import Mount
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.search import query_notes
from commonplace.search.query_notes import nothing_passes, nothing_to_search_for
from commonplace.text.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace.model.documents import Document, DocumentRef, ScanReport
    from commonplace.protocols.parts import Source

NOPE = Where(paths=("nope",), tags=("nope",))
BOTH = ("no note is at path:nope", "no note has the tag 'nope'")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "notes"
    (folder / "memory" / "kitchen").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Us\n\nThe disk is big. #home/office\n")
    (folder / "memory" / "kitchen" / "granola.md").write_text("Oats, and a disk of dough.\n")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(folder), env=env) as memory:
        yield memory


class Odd:
    """A source of notes whose scan or read does something else first."""

    version = "1"
    capabilities = frozenset[str]()

    def __init__(
        self,
        source: Source,
        *,
        scan: Callable[[], object] = lambda: None,
        read: Callable[[], object] = lambda: None,
    ) -> None:
        self.id = source.id
        self._source, self._scan, self._read = source, scan, read

    def scan(self) -> ScanReport:
        self._scan()
        return self._source.scan()

    def read(self, ref: DocumentRef) -> Document | None:
        self._read()
        return self._source.read(ref)


def found(memory: Memory, query: str) -> list[str]:
    return sorted(hit.path for hit in memory.search(query).hits)


def absent(memory: Memory, query: str) -> list[str]:
    """The notes on what no note has of the filters."""
    about = "no note is at path:", "no note has the tag "
    return [note for note in memory.search(query).notes if note.startswith(about)]


def raises(error: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


def test_paths_are_understood_as_they_are_typed(memory: Memory) -> None:
    folder, granola = memory.settings.workspace, "memory/kitchen/granola.md"
    for path in (granola, f"./{granola}", f"././/{granola}", f"{folder}/{granola}"):
        assert found(memory, f"path:{path} disk") == [granola]
        assert found(memory, f"-path:{path} disk") == ["MEMORY.md"]
    assert found(memory, "path:./memory disk") == [granola]
    assert found(memory, f"path:{folder}/memory/**/*.md disk") == [granola]
    for path in (".", "./", folder, f"{folder}/"):
        assert found(memory, f"path:{path} disk") == ["MEMORY.md", granola]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_linked_workspace_is_known_by_both_its_paths(memory: Memory, tmp_path: Path) -> None:
    real = memory.settings.workspace
    (tmp_path / "link").symlink_to(real)
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(tmp_path / "link"), env=env) as linked:
        for folder in (tmp_path / "link", real):
            assert found(linked, f"path:{folder}/MEMORY.md disk") == ["MEMORY.md"]


def test_an_extra_folder_is_known_by_its_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.md").write_text("The disk is big.\n")
    config = {"memory": {"search": {"extraPaths": ["../more"]}}}
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(tmp_path / "notes"), config=config, env=env) as memory:
        assert found(memory, f"path:{tmp_path}/more disk") == ["../more/a.md"]
        assert found(memory, f"path:{tmp_path}/less disk") == []


def test_paths_of_windows_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    import ntpath

    from commonplace.text import query

    monkeypatch.setattr(ntpath, "realpath", lambda path: path)
    windows = {"path": ntpath, "sep": "\\", "curdir": ".", "pardir": ".."}
    monkeypatch.setattr(query, "os", SimpleNamespace(**windows))
    for typed, path in (
        (r"C:\notes\memory\a.md", "memory/a.md"),
        (r".\memory", "memory"),
        (r"D:\other\a.md", "D:/other/a.md"),
    ):
        assert parse_query(f"path:{typed} x", None, r"C:\notes").where.paths == (path,)


def test_what_no_note_has_is_named(memory: Memory) -> None:
    assert absent(memory, "path:nope disk") == [BOTH[0]]
    assert absent(memory, f"path:{memory.settings.workspace}/nope disk") == [BOTH[0]]
    assert absent(memory, "tag:nope disk") == [BOTH[1]]
    assert absent(memory, "path:nope path:./MEMORY.md tag:home tag:away zebra") == [
        "no note is at path:nope",
        "no note has the tag 'away'",
    ]
    (long,) = absent(memory, f"path:{'x' * 500} disk")
    assert long.startswith("no note is at path:xxx")
    assert len(long) < 150


def test_filters_alone_are_looked_up_too(memory: Memory) -> None:
    words, tag = memory.search("tag:nope").notes
    assert words.endswith("list the notes: `commonplace list --tag nope`")
    assert tag == BOTH[1]


@pytest.mark.parametrize("query", ["zebra", "tag:home zebra", "path:MEMORY.md tag:home zebra"])
def test_nothing_is_said_of_filters_that_a_note_passes(memory: Memory, query: str) -> None:
    assert found(memory, query) == []
    assert absent(memory, query) == []


def test_only_an_answer_without_hits_is_looked_into(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[tuple[Where, float]] = []

    def look(where: Where, *given: Any) -> tuple[str, ...]:
        until: Deadline = given[2]
        looked.append((where, until.remaining()))
        return ()

    monkeypatch.setattr(query_notes, "nothing_passes", look)
    assert memory.search("path:MEMORY.md path:nope disk").hits
    memory.search("zebra")
    assert not looked
    memory.search("path:nope disk")
    memory.search("path:nope disk", timeout=5)
    (usual, seconds), (hasty, fewer) = looked
    assert usual.paths == hasty.paths == ("nope",)
    assert fewer <= 5 < seconds <= 30


def test_nothing_is_said_where_what_the_index_has_is_hidden(memory: Memory) -> None:
    steps = memory._steps()
    request = steps.request("path:nope disk")
    search = memory._backends().search_of(request.query, NEVER)
    answer = steps.ask(search, request)
    nothing = answer._replace(arms=())
    chosen = steps.choose(nothing, request, search.freshness, min_score=None, now=0.0)
    assert BOTH[0] in steps.present(chosen, answer, request, search, NEVER).notes
    search.freshness = Freshness(hidden=(RootFailure("nope", "not mounted"),))
    assert BOTH[0] not in steps.present(chosen, answer, request, search, NEVER).notes


def test_nothing_is_said_where_a_source_is_missing(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "MEMORY.md").write_text("The disk is big.\n")
    config = {"memory": {"search": {"sources": ["memory", "mails"]}}}
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(tmp_path), config=config, env=env) as memory:
        assert "source 'mails' is not searched" in " ".join(
            memory.search("path:mails/a disk").notes
        )
        assert absent(memory, "path:mails/a disk") == []


def test_a_failing_scan_or_read_leaves_out_what_is_not_known(memory: Memory) -> None:
    (source,) = memory._assembly.sources
    assert nothing_passes(NOPE, [source], tuple, NEVER) == BOTH
    for error in (UnavailableError("down"), DeclinedError("not this"), OSError(), ValueError()):
        odd = Odd(source, scan=raises(error))
        assert scanned(odd).failed_roots
        assert nothing_passes(NOPE, [source, odd], tuple, NEVER) == ()
        odd = Odd(source, read=raises(error))
        assert nothing_passes(NOPE, [odd], tuple, NEVER) == BOTH[:1]


def test_no_more_is_read_once_all_tags_are_found(memory: Memory) -> None:
    (source,) = memory._assembly.sources
    reads: list[str] = []
    odd = Odd(source, read=lambda: reads.append("read"))
    assert nothing_passes(Where(tags=("home",)), [odd], tuple, NEVER) == ()
    assert len(reads) == 1


def test_conversations_are_not_read_for_tags(memory: Memory) -> None:
    (source,) = memory._assembly.sources
    odd = Odd(source, read=raises(UnavailableError("too long")))
    odd.capabilities = frozenset({"growing"})
    assert nothing_passes(NOPE, [odd], tuple, NEVER) == BOTH


def test_nothing_is_looked_at_after_the_deadline(memory: Memory) -> None:
    (source,) = memory._assembly.sources
    calls: list[str] = []
    odd = Odd(source, scan=lambda: calls.append("scan"), read=lambda: calls.append("read"))
    assert nothing_passes(NOPE, [odd], tuple, Deadline.after(0)) == ()
    assert calls == []
    now = [0.0]
    until = Deadline(1.0, lambda: now[0])

    def slow() -> None:
        calls.append("scan")
        now[0] = 2.0

    assert nothing_passes(NOPE, [Odd(source, scan=slow), odd], tuple, until) == ()
    assert calls == ["scan"]
    calls.clear()
    now[0] = 0.0

    def slow_read() -> None:
        calls.append("read")
        now[0] = 2.0

    assert nothing_passes(NOPE, [Odd(source, read=slow_read)], tuple, until) == BOTH[:1]
    assert calls == ["read"]


def test_what_hangs_is_given_up(memory: Memory) -> None:
    (source,) = memory._assembly.sources
    goes_on = threading.Event()
    for odd, notes in (
        (Odd(source, scan=goes_on.wait), ()),
        (Odd(source, read=goes_on.wait), BOTH[:1]),
    ):
        began = monotonic()
        assert nothing_passes(NOPE, [odd], tuple, Deadline.after(0.2)) == notes
        assert monotonic() - began < 5
    goes_on.set()


@pytest.mark.parametrize(
    ("mount", "path", "may_hold"),
    [
        (Mount("qmd/more", "/more"), "qmd/more/a.md", True),
        (Mount("qmd/more", "/more"), "qmd", True),
        (Mount("qmd/more", "/more"), "**/a.md", True),
        (Mount("qmd/more", "/more"), "qmd/less", False),
        (Mount("qmd/docs", "/notes/docs", stored="docs"), "docs/a.md", True),
        (Mount("qmd/docs", "/notes/docs", stored="docs"), "qmd/docs/a.md", False),
        (Mount("qmd/all", "/notes", stored=""), "a.md", True),
    ],
)
def test_files_of_a_backend_of_its_own_are_not_denied(
    memory: Memory, mount: Mount, path: str, may_hold: bool
) -> None:
    where = Where(paths=(path,), tags=("nope",))
    notes = () if may_hold else (f"no note is at path:{path}",)
    assert nothing_passes(where, memory._assembly.sources, lambda: [mount], NEVER) == notes


@pytest.mark.parametrize(
    ("where", "command"),
    [
        (Where(tags=("bomtag",)), "commonplace list --tag bomtag"),
        (Where(tags=("two words",)), "commonplace list --tag 'two words'"),
        (
            Where(sources=frozenset({"memory"}), after="2026-01-01", before="2026-02-01"),
            "commonplace list --source memory --after 2026-01-01 --before 2026-02-01",
        ),
        (Where(tags=("a", "b")), ""),
        (Where(paths=("memory",)), ""),
        (Where(tags=("a",), not_tags=("b",)), ""),
        (Where(sources=frozenset({"memory", "sessions"})), ""),
        (Where(sources=frozenset(), tags=("a",)), ""),
    ],
)
def test_filters_alone_name_the_command_that_lists(where: Where, command: str) -> None:
    words = nothing_to_search_for("", KeywordQuery(()), where)
    assert words.startswith("the query has filters and no words: add a word to search for")
    assert words.endswith(f"list the notes: `{command}`" if command else "search for")
