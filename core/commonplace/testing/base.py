"""Short ways to make documents and folders of notes, to write to a store and to query it."""

from __future__ import annotations

import os
import shutil
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from itertools import combinations
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from commonplace.errors import IndexBusyError
from commonplace.model.chunks import AnalysedChunk, AppendDocument, Chunk, PutDocument, Terms
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build, Stamp, StoredDocument, Trust
    from commonplace.model.search import ChunkId, Found, Nearest
    from commonplace.protocols.parts import Store, VectorStore


@contextmanager
def watched_network() -> Iterator[list[str]]:
    """Let no connection be made meanwhile, and note what was tried."""
    tried: list[str] = []

    def refuse(*asked: Any, **_: Any) -> Any:
        tried.append(repr(asked))
        raise OSError("there is no network just now")

    with ExitStack() as stack:
        for owner, name in (
            (socket.socket, "connect"),
            (socket.socket, "connect_ex"),
            (socket, "create_connection"),
            (socket, "getaddrinfo"),
        ):
            stack.enter_context(patch.object(owner, name, refuse))
        yield tried


Place = tuple[str, str, int]
"""Source, path and first line: names a chunk where no two of a document begin on one line."""

Corpus = list[PutDocument]
Batch = list["Change"]

ALL = 100_000
"""A limit that cuts nothing off in these tests."""

EVERYWHERE = Where()

WAIT = 30.0
"""Seconds to wait for a lease that will be free; long enough for the slowest machine."""


def fill(store: Store, *changes: Change, identity: str = "new") -> Build:
    """Put ``changes`` into the unfinished build of ``identity``, under the lease."""
    with store.writer(wait=WAIT):
        build = store.open_build(identity)
        store.put_documents(build, changes)
    return build


def publish(store: Store, *changes: Change, identity: str = "first") -> Build:
    """Make a build of ``changes`` and let it be the live one."""
    with store.writer(wait=WAIT):
        store.activate(fill(store, *changes, identity=identity))
    return live_build(store)


def write(store: Store, *changes: Change) -> None:
    """Apply ``changes`` to the live build."""
    with store.writer(wait=WAIT):
        store.put_documents(live_build(store), changes)


def live_build(store: Store) -> Build:
    """The live build; raises ``LookupError`` if there is none."""
    for build in store.builds():
        if build.state == "live":
            return build
    raise LookupError("the store has no live build")


def held(store: Store, build: Build | None = None) -> dict[tuple[str, str], StoredDocument]:
    """What ``documents`` says, by (source, path); each document must be named once."""
    documents = list(store.documents(build))
    by_key = {(document.source, document.path): document for document in documents}
    assert len(by_key) == len(documents), "documents() names a document twice"
    return by_key


def words(*should: str) -> KeywordQuery:
    """A query for any of these tokens."""
    return KeywordQuery(should=should)


def search(
    store: Store, query: KeywordQuery, where: Where = EVERYWHERE, limit: int = ALL
) -> list[Found]:
    """What ``keyword`` finds, without a deadline."""
    return list(store.keyword(query, where=where, limit=limit, deadline=NEVER).found)


def places(found: Iterable[Found]) -> list[Place]:
    """The positions of the chunks of an answer, in its order."""
    return [(hit.chunk.source, hit.chunk.path, hit.chunk.start_line) for hit in found]


def found_at(
    store: Store, query: KeywordQuery, where: Where = EVERYWHERE, limit: int = ALL
) -> list[Place]:
    """The positions of the chunks that ``keyword`` finds, in order of these."""
    return sorted(places(search(store, query, where, limit)))


def ids(found: Iterable[Found]) -> list[ChunkId]:
    """The ids of the chunks of an answer, in its order."""
    return [hit.chunk.id for hit in found]


def scored(found: Iterable[Found]) -> dict[ChunkId, float]:
    """The scores of an answer by the ids of its chunks."""
    return {hit.chunk.id: hit.score for hit in found}


def busy(store: Store) -> bool:
    """Whether a thread or process holds the lease, as another thread finds it."""

    def taken() -> bool:
        try:
            with store.writer(wait=0):
                return False
        except IndexBusyError:
            return True

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(taken).result(WAIT)


def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """A step after the other while ``work`` runs in another thread; raises what that raises."""
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        while not working.done():
            yield
        working.result()


def make_chunk(
    text: str,
    *,
    line: int = 1,
    heading: tuple[str, ...] = (),
    body: str | None = None,
    head: str = "",
    extra: str = "",
) -> AnalysedChunk:
    """A chunk that begins at ``line``; its terms are the words of ``text`` unless ``body`` is."""
    return AnalysedChunk(
        chunk=Chunk(line, line + text.count("\n"), text, heading),
        terms=Terms(" ".join(text.casefold().split()) if body is None else body, head, extra),
        digest=_digest("\n".join((*heading, "", text))),
    )


def make_put(
    path: str,
    *chunks: str | AnalysedChunk,
    source: str = "memory",
    day: str | None = None,
    trust: Trust = "memory",
    stamp: Stamp | None = None,
    fingerprint: str = "fingerprint",
    resume: str = "",
    tags: tuple[str, ...] = (),
) -> PutDocument:
    """A document of ``chunks``; those given as text stand on consecutive lines."""
    made = _placed(chunks, 1)
    text = "\n".join(chunk.chunk.text for chunk in made)
    return PutDocument(
        source=source,
        path=path,
        digest=_digest(text),
        stamp=stamp or f"{len(text)} 1000000000 1000000000 1",
        fingerprint=fingerprint,
        day=day,
        trust=trust,
        chunks=made,
        resume=resume,
        tags=tags,
    )


def make_append(
    path: str,
    *chunks: str | AnalysedChunk,
    keep: int,
    source: str = "memory",
    day: str | None = None,
    stamp: Stamp | None = None,
    line: int = 101,
    resume: str = "",
) -> AppendDocument:
    """What follows the first ``keep`` chunks of a document; see :func:`make_put`.

    Chunks given as text stand on the lines from ``line`` on.
    """
    made = _placed(chunks, line)
    text = "\n".join(chunk.chunk.text for chunk in made)
    return AppendDocument(
        source=source,
        path=path,
        keep=keep,
        digest=_digest(f"{keep} {text}"),
        stamp=stamp or f"{len(text)} 2000000000 2000000000 1",
        day=day,
        chunks=made,
        resume=resume,
    )


def _placed(chunks: Iterable[str | AnalysedChunk], line: int) -> tuple[AnalysedChunk, ...]:
    made: list[AnalysedChunk] = []
    for chunk in chunks:
        made.append(make_chunk(chunk, line=line) if isinstance(chunk, str) else chunk)
        line = made[-1].chunk.end_line + 1
    return tuple(made)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_PLAIN = Where(
    sources=frozenset({"memory", "o'brien's", "sessions", "sessions2"}),
    paths=("memory",),
    after="2026-01-02",
    before="2026-01-30",
    not_paths=("memory/old",),
    not_sources=frozenset({"sessions"}),
    tags=("zoo",),
    not_tags=("done",),
)
_GLOBS = _PLAIN._replace(
    paths=("memory/*.md", "*/old/**"),
    not_paths=("no", "**/old/?.md"),
    not_sources=frozenset({"sessions", "nowhere"}),
    tags=("zoo", "work"),
    not_tags=("no", "done"),
)


def filters_together(scale: float = 1.0) -> list[Where]:
    """All filters, all but one, and any two: these not where ``scale`` is below 1.

    Paths are those of folders and globs in turn; both where ``scale`` is above 1.
    """
    fields = Where._fields
    sizes = (len(fields), len(fields) - 1, 2) if scale >= 1 else (len(fields), len(fields) - 1)
    sets = [names for size in sizes for names in combinations(fields, size)]
    return [
        Where(**{name: getattr((_PLAIN, _GLOBS)[turn % 2], name) for name in names})
        for number, names in enumerate(sets)
        for turn in ((0, 1) if scale > 1 else (number,))
    ]


def filtered_puts() -> Corpus:
    """Documents of ``ant``: for each filter some that pass all others and match better.

    The first two, which match worst, pass all of :func:`filters_together`; so do some that look
    like what does not.
    """
    mine, all_ = ("memory", "o'brien's"), ("zoo", "work")
    kinds: list[tuple[tuple[str, ...], str, str | None, tuple[str, ...]]] = [
        (mine, "memory/a.md", "2026-01-02", all_),
        (("elsewhere", "Memory", "memory2", "sessions"), "memory/b.md", "2026-01-30", all_),
        *((mine, path, "2026-01-30", all_) for path in ("zoo/c.md", "memory2/c.md", "Memory/c.md")),
        (mine, "memory/old/d.md", "2026-01-30", all_),
        *((mine, f"memory/{day}.md", day, all_) for day in (None, "2026-01-01", "2026-01-31")),
        *((mine, f"memory/{tag}.md", "2026-01-30", (tag, "work")) for tag in ("zo", "zoo2", "oo")),
        (mine, "memory/e.md", "2026-01-30", (*all_, "done")),
        (("sessions2",), "memory/older.md", "2026-01-30", (*all_, "done2")),
    ]
    return [
        make_put(path, text, source=source, day=day, tags=tags)
        for text, some in (("ant bee cat dog", kinds[:1]), ("ant ant ant dog", kinds[1:]))
        for sources, path, day, tags in some
        for source in sources
    ]


DIMS = 3


def make_vector(*numbers: float) -> bytes:
    """A vector as stores take it: of unit length, float32, little-endian."""
    length = sqrt(fsum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def digests(documents: Iterable[PutDocument]) -> list[str]:
    """The digests of all chunks, each once."""
    return list(dict.fromkeys(chunk.digest for put in documents for chunk in put.chunks))


def attach(
    store: VectorStore, build: Build, space: str, vectors: Mapping[str, bytes], dims: int = DIMS
) -> None:
    """Put vectors under the lease."""
    with store.writer(wait=WAIT):
        store.put_vectors(build, space, dims, vectors)


def nearest(
    store: VectorStore,
    query: bytes,
    where: Where = EVERYWHERE,
    limit: int = ALL,
    *,
    space: str = "space",
) -> Nearest:
    """What ``nearest`` answers, however long it takes."""
    return store.nearest(space, query, where=where, limit=limit, deadline=NEVER)


class Workspace:
    """The folder ``path``, made when it is not there.

    It holds a file that is no note, so that it is never empty: an empty folder looks like a disk
    that is not mounted.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        os.makedirs(path, exist_ok=True)
        self.write("README.txt", "not a note")

    def write(self, name: str, text: str | bytes) -> str:
        """Write a file below the workspace, whatever was there; its absolute path."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        raw = text if isinstance(text, bytes) else text.encode()
        with open(path, "wb") as file:
            file.write(raw)
        return path

    def delete(self, name: str) -> None:
        """Delete a file."""
        os.unlink(os.path.join(self.path, name))

    def move(self, name: str, to: str) -> None:
        """Give a file another name, replacing what is there."""
        target = os.path.join(self.path, to)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(os.path.join(self.path, name), target)

    def can_name(self, name: str) -> bool:
        """Whether the file system can hold a file of exactly this name, beside those alike."""
        try:
            path = self.write(name, "")
        except (OSError, ValueError):
            return False
        parent, last = os.path.split(path)
        kept = last in os.listdir(parent)
        os.unlink(path)
        return kept

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """Every file's bytes and time of change, by absolute path."""
        found = {}
        for folder, _, names in os.walk(self.path):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[path] = file.read(), os.stat(path).st_mtime_ns
        return found

    def vanish(self) -> None:
        """Take the whole folder away, as when its disk is unmounted."""
        os.rename(self.path, f"{self.path} (away)")

    def come_back(self) -> None:
        """Undo :meth:`vanish`."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.rename(f"{self.path} (away)", self.path)
