"""Documents, vectors and workspaces for the laws, and a naive store to compare with."""

from __future__ import annotations

import os
import re
import shutil
import struct
from hashlib import sha256
from math import fsum, sqrt
from typing import TYPE_CHECKING, cast

from attrs import evolve
from hypothesis import strategies as st

from commonplace.files.roots import Roots, day_of, glob_regex, stamp_of
from commonplace.files.scan import scan
from commonplace.model.chunks import (
    AnalysedChunk,
    AppendDocument,
    Chunk,
    DeleteDocument,
    PutDocument,
    Terms,
)
from commonplace.model.documents import Document
from commonplace.model.store import StoredDocument
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import ALL, EVERYWHERE, WAIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import Change
    from commonplace.model.documents import DocumentRef, ScanReport, Stamp, Trust
    from commonplace.model.search import KeywordQuery, Nearest, Phrase, Where
    from commonplace.model.store import Build
    from commonplace.protocols.stores import Store, VectorStore
    from commonplace.testing.base import Place


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
) -> PutDocument:
    """A document of ``chunks``; those given as text stand on consecutive lines."""
    made = _placed(chunks, 1)
    text = "\n".join(chunk.chunk.text for chunk in made)
    return PutDocument(
        source=source,
        path=path,
        digest=_digest(text),
        stamp=stamp or (len(text), 1_000_000_000, 1_000_000_000, 1),
        fingerprint=fingerprint,
        day=day,
        trust=trust,
        chunks=made,
        resume=resume,
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
        stamp=stamp or (len(text), 2_000_000_000, 2_000_000_000, 1),
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


DIMS = 3

TOLERANCE = 1e-5
"""How far a score may be from the cosine: a little more than float32 can be wrong by."""


def make_vector(*numbers: float) -> bytes:
    """A vector as stores take it: of unit length, float32, little-endian."""
    length = sqrt(fsum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def unit_vectors() -> SearchStrategy[bytes]:
    """Vectors of :data:`DIMS` dimensions, often equal, at right angles or opposite."""
    few = st.tuples(*[st.integers(-2, 2)] * DIMS)
    many = st.tuples(*[st.floats(-1, 1, width=32)] * DIMS)
    return (few | many).filter(lambda one: max(map(abs, one)) > 1e-3).map(lambda v: make_vector(*v))


def digests(documents: Iterable[PutDocument]) -> list[str]:
    """The digests of all chunks, each once."""
    return list(dict.fromkeys(chunk.digest for put in documents for chunk in put.chunks))


def attach(
    store: VectorStore, build: Build, space: str, vectors: Mapping[str, bytes], dims: int = DIMS
) -> None:
    """Put vectors under the lease."""
    with store.writer(wait=WAIT):
        store.put_vectors(build, space, dims, vectors)


def vector_store(store: Store) -> VectorStore:
    """``store``, which declares ``vectors``."""
    return cast("VectorStore", store)


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


def nearest_places(
    documents: Iterable[PutDocument], vectors: Mapping[str, bytes], query: bytes, where: Where
) -> dict[Place, float]:
    """Each chunk that passes and has a vector, with its cosine."""
    return {
        (put.source, put.path, chunk.chunk.start_line): _cosine(query, vectors[chunk.digest])
        for put in documents
        if passes(put, where)
        for chunk in put.chunks
        if chunk.digest in vectors
    }


def _cosine(one: bytes, other: bytes) -> float:
    a, b = _numbers(one), _numbers(other)
    lengths = sqrt(fsum(x * x for x in a) * fsum(y * y for y in b))
    return fsum(x * y for x, y in zip(a, b, strict=True)) / lengths


def _numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


Corpus = list[PutDocument]
Batch = list["Change"]

Documents = dict[tuple[str, str], PutDocument]
"""Documents by (source, path), each with the stamp it was last touched with."""


def applied(documents: Documents, changes: Iterable[Change]) -> Documents:
    """``documents`` after ``changes``, one after the other."""
    after = dict(documents)
    for change in changes:
        key = change.source, change.path
        if isinstance(change, PutDocument):
            after[key] = change
        elif isinstance(change, DeleteDocument):
            after.pop(key, None)
        elif isinstance(change, AppendDocument):
            after[key] = evolve(
                after[key],
                digest=change.digest,
                stamp=change.stamp,
                day=change.day,
                chunks=after[key].chunks[: change.keep] + change.chunks,
                resume=change.resume,
            )
        elif key in after:
            after[key] = evolve(after[key], stamp=change.stamp)
    return after


def stored(documents: Documents) -> dict[tuple[str, str], StoredDocument]:
    """What ``Store.documents`` should say, by (source, path)."""
    return {
        key: StoredDocument(
            put.source, put.path, put.digest, put.stamp, put.fingerprint, put.resume
        )
        for key, put in documents.items()
    }


def matching(documents: Documents, query: KeywordQuery, where: Where) -> set[Place]:
    """Where the chunks stand that a search should find."""
    return {
        (put.source, put.path, chunk.chunk.start_line)
        for put in documents.values()
        if passes(put, where)
        for chunk in put.chunks
        if any(holds(chunk.terms, (token,)) for token in query.should)
        and all(holds(chunk.terms, phrase) for phrase in query.must)
        and not any(holds(chunk.terms, phrase) for phrase in query.must_not)
    }


def holds(terms: Terms, phrase: Phrase) -> bool:
    """Whether one of the columns has the tokens of ``phrase`` side by side."""
    needle = f" {' '.join(phrase)} "
    return any(needle in f" {column} " for column in (terms.body, terms.head, terms.extra))


def passes(put: PutDocument, where: Where) -> bool:
    """Whether a document passes every filter that is set."""
    if where.sources is not None and put.source not in where.sources:
        return False
    if where.paths and not any(re.fullmatch(glob_regex(p), put.path) for p in where.paths):
        return False
    if where.after is None and where.before is None:
        return True
    return put.day is not None and (where.after or "") <= put.day <= (where.before or "9999-12-31")


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


class PlainSource:
    """The source ``memory`` of a workspace, as managers are given it: ``MEMORY.md``, ``memory/``.

    For tests of managers alone: it takes any text for UTF-8.
    """

    id = "memory"
    version = "plain"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, workspace: str) -> None:
        self._roots = Roots(workspace)

    def scan(self) -> ScanReport:
        """All notes there are."""
        return scan(self._roots, source=self.id)

    def read(self, ref: DocumentRef) -> Document | None:
        """The note, or ``None`` where it is gone."""
        try:
            with open(ref.location, "rb") as file:
                stamp = stamp_of(os.fstat(file.fileno()))
                raw = file.read()
        except FileNotFoundError:
            return None
        text = raw.decode("utf-8", "replace")
        digest = sha256(raw).hexdigest()
        return Document(ref._replace(stamp=stamp), text, digest, day=day_of(ref.path))
