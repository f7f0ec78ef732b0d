"""Copies an index to another backend: notes are read again, vectors are taken, none is paid for."""

from __future__ import annotations

import struct
from contextlib import closing
from typing import TYPE_CHECKING, cast

from commonplace.assembly import Assembly
from commonplace.errors import CallerError, DeclinedError, UnavailableError
from commonplace.index.builds import live_build
from commonplace.model.chunks import embedding_text
from commonplace.model.reports import Progress
from commonplace.model.search import Where
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import USUAL_ARMS
from commonplace.resilience.deadline import NEVER, CallerProgress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.index.manager import IndexedMemoryManager
    from commonplace.model.documents import SpaceInfo
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import StoredChunk
    from commonplace.protocols.parts import VectorStore

_DOCUMENTS = 500
"""Documents whose vectors are read at once, of an index of more than :data:`_CHUNKS` chunks."""

_CHUNKS = 10_000
_LEASE_SECONDS = 30.0


class CopiedSpace(NamedTuple):
    """The vectors of one space: ``copied`` now, ``missing`` for so many chunks of the new index."""

    space: str
    copied: int
    missing: int


class Copied(NamedTuple):
    """What was indexed in the backend ``to``, and the vectors that it has from the backend ``of``.

    ``note`` says why there are none, where there are none.
    """

    of: str
    to: str
    report: SyncReport
    spaces: tuple[CopiedSpace, ...] = ()
    note: str = ""


def copy_index(
    host: PluginHost,
    settings: Settings,
    to: str,
    *,
    force: bool = False,
    progress: ProgressCallback | None = None,
) -> Copied:
    """Index the notes in the backend ``to``, with the vectors of the first configured backend.

    No embedding provider is asked, or needed. The index that is copied stays as it is. What was
    interrupted continues with the next call. ``force`` rebuilds the index of ``to``. A ``progress``
    that raises is not called again; its error is raised once all is copied.

    Raises :class:`~commonplace.errors.CallerError` where ``to`` is that first backend,
    :class:`~commonplace.errors.DeclinedError` for an engine that indexes by itself, and
    :class:`~commonplace.errors.UnavailableError` for one that is not there or cannot be written.
    """
    of = settings.backends[0]
    if to == of:
        raise CallerError(
            f"the index is in {to} already",
            hint="`commonplace index` updates it; memory.backend names the backend to copy from",
        )
    if host.backend(to).role == "manager":
        raise DeclinedError(
            f"{to} makes an index of its own, which takes no vectors",
            hint=f"set memory.backend to {to}, and run `commonplace index`",
        )
    target, notices = _opened(host, settings, to)
    with closing(target), CallerProgress(progress) as own:
        ours = target.vector_store()
        if ours is not None and "persistent" not in ours.capabilities:
            raise CallerError(
                f"{to} holds an index in memory alone: what is copied would be gone at once",
                hint="name a backend that keeps one on disk, or in a bucket",
            )
        report = target.maintain(force=force, embed=False, deadline=NEVER, progress=own)
        report = report.replace(notices=(*report.notices, *notices))
        return _with_vectors(Copied(of, to, report), host, settings, ours, own)


def _opened(
    host: PluginHost, settings: Settings, backend: str
) -> tuple[IndexedMemoryManager, tuple[str, ...]]:
    """The engine of a backend that is a store, and what is to be said of the sources."""
    assembly = Assembly(host, settings)
    # Without a service for embeddings nothing can be sent.
    made = assembly.manager(backend, embedding=lambda: None, arms=USUAL_ARMS)
    return cast("IndexedMemoryManager", made), assembly.notices  # as of each backend with a store


def _with_vectors(
    copied: Copied,
    host: PluginHost,
    settings: Settings,
    ours: VectorStore | None,
    progress: ProgressCallback | None,
) -> Copied:
    if ours is None:
        return copied._replace(note=f"{copied.to} keeps no vectors")
    try:
        if host.backend(copied.of).role == "manager":
            return copied._replace(note=f"the vectors of {copied.of} cannot be read")
        source, _ = _opened(host, settings, copied.of)
    except UnavailableError as error:
        return copied._replace(note=f"no vectors were copied: {error}")
    try:
        theirs = source.vector_store()
        spaces = theirs.spaces() if theirs is not None else ()
        if theirs is None or not spaces:
            return copied._replace(note=f"{copied.of} holds no vectors to copy")
        with ours.writer(wait=_LEASE_SECONDS):
            done = tuple(_copy(space, theirs, ours, progress) for space in spaces)
        return copied._replace(spaces=done)
    finally:
        source.close()


def _copy(
    space: SpaceInfo, source: VectorStore, target: VectorStore, progress: ProgressCallback | None
) -> CopiedSpace:
    build = live_build(target)
    if build is None:  # of a workspace without notes
        return CopiedSpace(space.space, 0, 0)
    wanted: dict[str, list[str]] = {}
    for digest, text in target.missing_vectors(build, space.space):
        wanted.setdefault(text, []).append(digest)
    copied, total = 0, len(wanted)
    for chunks in _chunks(space, source) if wanted else ():
        texts = {chunk.id: embedding_text(chunk) for chunk in chunks}
        found = source.vectors(space.space, [id_ for id_, text in texts.items() if text in wanted])
        vectors = {
            digest: vector for id_, vector in found.items() for digest in wanted.pop(texts[id_], ())
        }
        if vectors:
            target.put_vectors(build, space.space, space.dims, vectors)
            copied += len(vectors)
        if progress is not None:
            completed = total - len(wanted)
            progress(Progress(label="Copying vectors", completed=completed, total=total))
        if not wanted:
            break
    return CopiedSpace(space.space, copied, sum(map(len, wanted.values())))


def _chunks(space: SpaceInfo, source: VectorStore) -> Iterator[list[StoredChunk]]:
    """The chunks of ``source`` that have a vector in ``space``, some documents at a time.

    They are those nearest to any vector: a store need not be able to list what it holds.
    """
    anywhere = struct.pack(f"<{space.dims}f", 1.0, *[0.0] * (space.dims - 1))
    for where in _parts(space, source):
        near = source.nearest(
            space.space, anywhere, where=where, limit=space.chunks, deadline=NEVER
        )
        yield [found.chunk for found in near.found]


def _parts(space: SpaceInfo, source: VectorStore) -> Iterator[Where]:
    if space.chunks <= _CHUNKS:
        yield Where()
        return
    paths = sorted({document.path for document in source.documents()})
    for start in range(0, len(paths), _DOCUMENTS):
        yield Where(paths=tuple(paths[start : start + _DOCUMENTS]))
