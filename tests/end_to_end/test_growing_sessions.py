"""Transcripts that grow: whatever happens to them, the index is as if it was made from scratch."""

from __future__ import annotations

import json
import os
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commonplace.index import documents
from commonplace.index.manager import IndexedMemoryManager
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.plugin import MarkdownChunker
from commonplace_sessions import transcript
from commonplace_sessions.folder import Folder, is_openclaw
from commonplace_sessions.readers import read_openclaw
from commonplace_sessions.source import TranscriptSource
from commonplace_sessions.transcript import PIECE
from commonplace_sqlite.rows import found
from commonplace_sqlite.schema import checked_vfs
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import Change, Chunk
    from commonplace.model.documents import Build, Document
    from commonplace.model.reports import SyncReport

WIDTH = 1600
LATER = 2**62
"""Nanoseconds: a time at which every file is settled."""


class WithoutAppend(SqliteStore):
    """Is given grown documents as a whole."""

    capabilities = SqliteStore.capabilities - {"append"}


class Counting(SqliteStore):
    """Remembers how many chunks were put in each transaction."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.put: list[int] = []

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes)
        self.put.append(sum(len(getattr(change, "chunks", ())) for change in changes))


class CountingChunker(MarkdownChunker):
    def __init__(self) -> None:
        super().__init__(WIDTH, 100)
        self.characters = 0

    def chunk(self, document: Document) -> Sequence[Chunk]:
        self.characters += len(document.text)
        return super().chunk(document)


class Setup(NamedTuple):
    """A folder of sessions with a manager over an index of them."""

    folder: Path
    store: SqliteStore
    chunker: CountingChunker
    manager: IndexedMemoryManager
    path: str

    def sync(self, **options: Any) -> SyncReport:
        return self.manager.maintain(embed=False, **{"deadline": NEVER, **options})


def opened(folder: Path, store: SqliteStore, index: str) -> Setup:
    place = Folder(str(folder), named=True)
    source = TranscriptSource("sessions", place, is_openclaw, lambda: read_openclaw, (3_000, 3))
    chunker = CountingChunker()
    manager = IndexedMemoryManager(
        store=store,
        sources=[source],
        chunker=chunker,
        analyser=make_analyser("standard"),
        clock_ns=lambda: LATER,
    )
    return Setup(folder, store, chunker, manager, index)


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    (tmp_path / "sessions").mkdir()
    index = str(tmp_path / "index.sqlite")
    with closing(Counting(index)) as store:
        yield opened(tmp_path / "sessions", store, index)


def said(text: str, role: str = "user", **more: Any) -> bytes:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    record = {"type": "message", "message": message, **more}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def rows(index: str) -> list[Any]:
    """All that an index holds of documents, chunks and terms, but for the ids of rows."""
    with closing(apsw.Connection(index, vfs=checked_vfs(""))) as file:
        live = file.execute("SELECT id FROM build WHERE state = 'live'").get
        file.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, fts_{live}, instance)")
        documents = file.execute(
            "SELECT source, path, hex(digest), stamp, fingerprint, plain,"
            f" day, trust, chunks FROM document_{live} ORDER BY source, path"
        ).fetchall()
        places = file.execute(
            f"SELECT c.id, d.path, c.ordinal, hex(c.digest) FROM chunk_{live} AS c"
            f" JOIN document_{live} AS d ON d.id = c.document ORDER BY d.path, c.ordinal"
        ).fetchall()
        terms = file.execute(
            f"SELECT d.path, c.ordinal, v.term, v.col, v.offset FROM temp.terms AS v"
            f" JOIN chunk_{live} AS c ON c.id = v.doc"
            f" JOIN document_{live} AS d ON d.id = c.document"
            " ORDER BY d.path, c.ordinal, v.col, v.offset, v.term"
        ).fetchall()
        built = file.execute("SELECT chunks FROM build WHERE state = 'live'").fetchall()
        ranked: list[Any] = [(place[0], 0.0) for place in places]
        chunks = [hit.chunk._replace(id=0) for hit in found(file, live, ranked)]
    return [documents, [place[1:] for place in places], chunks, terms, built]


def resumes(index: str) -> list[Any]:
    with closing(apsw.Connection(index, vfs=checked_vfs(""))) as file:
        live = file.execute("SELECT id FROM build WHERE state = 'live'").get
        return list(file.execute(f"SELECT path, resume FROM document_{live} ORDER BY path"))


def from_scratch(folder: Path, index: str) -> list[Any]:
    with closing(SqliteStore(index)) as store:
        opened(folder, store, index).sync()
        return [rows(index), resumes(index)]


Step = tuple[str, Any]

TEXTS = st.builds(
    lambda words, times: " ".join(words * times),
    st.lists(
        st.sampled_from(
            ["walrus", "Größe", "日本語のテキスト", "🐜", "TOKEN=abcdefghijklmnopqrstuvwx", "# x"]
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([1, 3, 40, 400]),
)
LINES = st.one_of(
    st.builds(said, TEXTS),
    st.builds(said, TEXTS, st.just("assistant"), timestamp=st.just("2026-01-31T10:00:00Z")),
    st.builds(said, st.just("Read HEARTBEAT.md if it exists")),
    st.builds(
        said, st.sampled_from(["HEARTBEAT_OK", "HEARTBEAT_OK " + "x" * 400]), st.just("assistant")
    ),
    st.just(b'{"type": "toolResult", "content": "' + b"x" * 5_000 + b'"}\n'),
    st.just(b"no json at all\n"),
    st.just(b"\n"),
    st.just(b'{"runId": "dreaming-narrative-1"}\n'),
)


def steps() -> SearchStrategy[list[Step]]:
    some = st.lists(LINES, min_size=1, max_size=4).map(b"".join)
    return st.lists(
        st.one_of(
            st.tuples(st.just("append"), some),
            st.tuples(st.just("append"), some),
            st.tuples(st.just("append in two halves"), st.tuples(some, st.floats(0, 1))),
            st.tuples(st.just("begin a line"), st.tuples(some, st.floats(0, 1))),
            st.tuples(st.just("truncate"), st.floats(0, 1)),
            st.tuples(st.just("rewrite"), st.floats(0, 1)),
            st.tuples(st.just("replace"), some),
            st.tuples(st.just("archive"), st.none()),
            st.tuples(st.just("delete"), st.none()),
            st.tuples(st.just("touch"), st.none()),
            st.tuples(st.just("sync"), st.booleans()),
            st.tuples(st.just("sync"), st.booleans()),
        ),
        max_size=14,
    )


class History:
    """What happens to one transcript."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "a.jsonl"
        self._times = count(1_700_000_000_000_000_000, 10_000_000_001)

    def happen(self, what: str, value: Any) -> None:
        if what == "sync":
            return
        if what in ("append", "append in two halves", "begin a line", "replace"):
            self._write(what, value)
        elif self.path.exists():
            self._change(what, value)
        if self.path.exists():
            time = next(self._times)
            os.utime(self.path, ns=(time, time))

    def _write(self, what: str, value: Any) -> None:
        if what == "append":
            self._append(value)
        elif what == "replace":
            other = self.path.with_name("other")
            other.write_bytes(value)
            other.replace(self.path)
        else:
            line, share = value
            self._append(line[: int(len(line) * share)])
            if what == "append in two halves":
                self._append(line[int(len(line) * share) :])

    def _change(self, what: str, value: Any) -> None:
        data = self.path.read_bytes()
        if what == "truncate":
            os.truncate(self.path, int(len(data) * value))
        elif what == "rewrite" and (found := data.find(b"walrus", int(len(data) * value))) >= 0:
            with self.path.open("r+b") as file:
                file.seek(found)
                file.write(b"beluga")
        elif what == "archive":
            day = next(self._times) // 10_000_000_000 % 28 + 1
            name = f"a.jsonl.reset.2026-02-{day:02}T10-00-00.000Z"
            self.path.rename(self.path.with_name(name))
        elif what == "delete":
            self.path.unlink()

    def _append(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)


LONG = said("walrus " * 1_000)
POLL = said("Read HEARTBEAT.md if it exists")
ALIVE = said("HEARTBEAT_OK, and the walrus is well", "assistant")
STAMPED = said("okapi", timestamp="2026-01-31T10:00:00Z")
BORDER = [("append", LONG * 3), ("sync", True)]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "PIECE", 300)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("kind", [SqliteStore, pytest.param(WithoutAppend, marks=pytest.mark.slow)])
@example(history=[*BORDER, ("append", LONG), ("sync", False), ("append", STAMPED * 9)])
@example(history=[("append", STAMPED + LONG * 3), ("sync", True), ("append", LONG)])
@example(
    history=[
        ("append", POLL + LONG.replace(b"user", b"assistant")),
        ("sync", True),
        ("append", ALIVE),
    ]
)
@example(history=[*BORDER, ("append", LONG), ("rewrite", 0.0), ("append", LONG)])
@example(history=[*BORDER, ("truncate", 0.9), ("sync", True), ("append", LONG)])
@example(history=[("append", LONG * 5), ("sync", True), ("archive", None), ("append", LONG)])
@example(history=[("append in two halves", (LONG * 4, 0.7)), ("sync", False), ("touch", None)])
@example(history=[("append", LONG * 2 + LONG[:-1]), ("sync", True), ("append", b"\n" + LONG)])
@example(history=[("append", LONG * 4), ("sync", True), ("replace", LONG * 2 + said("bee") * 99)])
@given(history=steps())
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_history_ends_as_if_made_from_scratch(
    kind: type[SqliteStore], history: list[Step]
) -> None:
    with TemporaryDirectory() as scratch:
        folder, index = Path(scratch, "sessions"), f"{scratch}/index.sqlite"
        folder.mkdir()
        (folder / "kept.jsonl").write_bytes(said("so that the folder is never empty"))
        with closing(kind(index)) as store:
            memory, life = opened(folder, store, index), History(folder)
            for what, value in history:
                life.happen(what, value)
                if what == "sync":
                    memory.sync(eager=value)
            report = memory.sync()
            assert (report.remaining, report.deferred, report.unreadable) == (0, 0, ())
            assert store.health(deep=True).problems == ()
            assert memory.sync().chunks_written == 0
            expected, places = from_scratch(folder, f"{scratch}/scratch.sqlite")
            assert rows(index) == expected
            assert kind is WithoutAppend or resumes(index) == places


@pytest.mark.slow
def test_one_more_message_costs_no_more_than_a_piece(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = setup.folder / "a.jsonl"
    message = "The walrus number {} lives in the Arctic, and eats clams. " * 4
    path.write_bytes(b"".join(said(message.format(*[n] * 4)) for n in range(2_000)))
    size = len(message)
    whole = setup.sync()
    assert whole.chunks_written > 300
    assert setup.chunker.characters > 2_000 * size
    parsed: list[bytes] = []

    def counted(line: bytes) -> Any:
        parsed.append(line)
        return parse(line)

    parse = transcript._parsed
    monkeypatch.setattr(transcript, "_parsed", counted)
    most = PIECE + 2 * size
    for number in range(3):
        setup.chunker.characters = 0
        parsed.clear()
        with path.open("ab") as file:
            file.write(said(f"And one more, {number}."))
        report = setup.sync()
        assert report.updated == 1
        assert 0 < setup.chunker.characters <= most
        assert report.chunks_written <= 2 * most // WIDTH + 1
        assert len(parsed) <= most // size + 4
        assert report.opened == 1
    assert rows(setup.path) == from_scratch(setup.folder, f"{setup.folder}.scratch")[0]


def test_what_says_nothing_costs_nothing_but_the_last_piece(setup: Setup) -> None:
    path = setup.folder / "a.jsonl"
    path.write_bytes(LONG * 9)
    setup.sync()
    with path.open("ab") as file:
        file.write(b'{"type": "toolResult", "content": "' + b"x" * 500_000 + b'"}\n')
    setup.chunker.characters = 0
    assert setup.sync().updated == 1
    assert setup.chunker.characters <= PIECE
    assert setup.sync().unchanged == 1


@pytest.mark.slow
@pytest.mark.parametrize("what", ["archived", "archived and gone on"])
def test_an_archived_conversation_keeps_its_vectors(setup: Setup, what: str) -> None:
    path = setup.folder / "a.jsonl"
    texts = (f"walrus {n} " + f"clam {n} " * 200 for n in range(700))
    path.write_bytes(b"".join(map(said, texts)))
    assert setup.sync().chunks_written > 600
    store = setup.store
    (live,) = store.builds()
    vectors = {digest: b"\0\0\x80?" for digest, _ in store.missing_vectors(live, "space")}
    with store.writer(wait=1):
        store.put_vectors(live, "space", 1, vectors)
    path.rename(path.with_name("a.jsonl.reset.2026-02-01T10-00-00.000Z"))
    if what == "archived and gone on":
        path.write_bytes(said("A new session begins."))
    report = setup.sync()
    assert (report.added, report.removed) in ((1, 1), (1, 0))
    missing = [text for _, text in store.missing_vectors(live, "space")]
    assert missing == (["User: A new session begins."] if path.exists() else [])


@pytest.mark.slow
def test_a_long_conversation_is_made_in_small_parts(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_AT_ONCE", 4 * PIECE)
    (setup.folder / "a.jsonl").write_bytes(LONG * 400)
    assert isinstance(setup.store, Counting)
    report = setup.sync()
    assert (report.added, report.updated, report.remaining) == (1, 0, 0)
    assert len(setup.store.put) > 2
    assert max(setup.store.put) <= 500 + 2 * (5 * PIECE) // WIDTH
    assert sum(setup.store.put) == report.chunks_written
    assert rows(setup.path) == from_scratch(setup.folder, f"{setup.folder}.scratch")[0]


@pytest.mark.slow
@pytest.mark.parametrize("grown", [False, True])
def test_a_long_conversation_that_time_ran_out_for_is_gone_on_with(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, *, grown: bool
) -> None:
    monkeypatch.setattr(documents, "_AT_ONCE", 4 * PIECE)
    path = setup.folder / "a.jsonl"
    path.write_bytes(LONG)
    if grown:
        setup.sync()
    with path.open("ab") as file:
        file.write(LONG * 99)
    seconds = count()
    report = setup.sync(deadline=Deadline(3.0, clock=lambda: next(seconds)))
    assert (report.added, report.updated, report.remaining) == (0, 0, 1)
    part = report.chunks_written
    assert part > 0
    with path.open("ab") as file:
        file.write(said("The end."))
    report = setup.sync()
    assert (report.updated, report.remaining) == (1, 0)
    scratch = from_scratch(setup.folder, f"{setup.folder}.scratch")
    assert rows(setup.path) == scratch[0]
    assert report.chunks_written < len(scratch[0][1])
    assert report.chunks_written + part >= len(scratch[0][1])


@pytest.mark.slow
def test_a_search_takes_the_end_of_a_long_conversation_along(setup: Setup) -> None:
    path = setup.folder / "a.jsonl"
    path.write_bytes(LONG * 300)
    assert path.stat().st_size > 1 << 20
    assert setup.sync(at_most=20).remaining == 1
    setup.sync()
    with path.open("ab") as file:
        file.write(LONG)
    assert setup.sync(at_most=20, eager=False).updated == 1
    # What only seemed to have grown is a long one to be made from its beginning.
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"beluga")
    with path.open("ab") as file:
        file.write(LONG)
    before = rows(setup.path)
    report = setup.sync(at_most=20, eager=False)
    assert (report.updated, report.remaining) == (0, 1)
    assert rows(setup.path) == before
    assert setup.sync().updated == 1
    assert rows(setup.path) == from_scratch(setup.folder, f"{setup.folder}.scratch")[0]
