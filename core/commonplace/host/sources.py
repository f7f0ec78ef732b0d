"""Sources and chunkers of third parties: what hangs or raises costs their own documents only.

Our own are called directly: they are trusted not to hang, and their faults are ours to see.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from commonplace.errors import (
    CommonplaceError,
    PluginConflictError,
    PluginUnavailableError,
    UnavailableError,
    reason_of,
)
from commonplace.host.answers import checked_scan, is_document, is_scan, read_of
from commonplace.host.failures import document_fault, failed_scan, kind_of, log_once
from commonplace.model.chunks import Chunk
from commonplace.model.documents import RootFailure, Segment
from commonplace.resilience.bounded_call import Worker, failure_of
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from commonplace.host.host import PluginHost
    from commonplace.model.documents import Document, DocumentRef, ScanReport, WatchedPath
    from commonplace.model.plugins import Registration
    from commonplace.protocols.contexts import ChunkerContext
    from commonplace.protocols.parts import (
        Chunker,
        GrowingSource,
        PartialSource,
        Source,
        WatchedSource,
    )

T = TypeVar("T")

CALL_SECONDS = 20.0
"""How long a scan, the reading of a document and its chunking may take, each."""


class GuardedSource:
    """A source whose failures are failed roots and unreadable documents, never errors.

    A call that takes longer than ``seconds`` is given up; until it comes back, the next ones fail
    at once. ``label`` names it in messages. Raises ``TypeError`` where the source's id, version or
    capabilities are invalid.
    """

    def __init__(self, source: Source, label: str, *, seconds: float = CALL_SECONDS) -> None:
        self.id = _text(source.id, "id")
        self._label = label
        self.version = _text(source.version, "version")
        self.capabilities = frozenset(_text(one, "capability") for one in source.capabilities)
        self._source = source
        self._limited = _Limited(label, seconds)

    def scan(self) -> ScanReport:
        """What the source finds; one that fails is a root that failed."""
        try:
            return self._checked(self._limited(self._source.scan))
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            return failed_scan(self.id, self._label, error)

    def _checked(self, given: Any) -> ScanReport:
        try:
            report = checked_scan(given)
        except BaseException as error:  # noqa: BLE001 - as in scan
            return failed_scan(self.id, self._label, error)
        failed = (*report.failed_roots, *report.absent_roots)
        if any(type(root) is not RootFailure for root in failed):
            raise TypeError("its scan gave what is no root that failed")
        if type(report.skipped_symlinks) is not int:
            raise TypeError("its scan gave no number of links")
        if not all(type(text) is str for text in (*report.complete_roots, *report.empty)):
            raise TypeError("its scan gave what is no root")
        if any(ref.source != self.id for ref in report.documents):
            raise ValueError("its scan gave a document of another source")
        if not all(type(ref.stamp) is str for ref in report.documents):
            raise TypeError("its scan gave stamps that are no texts")
        return self._each_once(report)

    def _each_once(self, report: ScanReport) -> ScanReport:
        """``report`` with the first of each path: the other ones would be indexed for ever."""
        first: dict[str, DocumentRef] = {}
        for ref in report.documents:
            first.setdefault(ref.path, ref)
        if len(first) == len(report.documents):
            return report
        twice = next(ref.path for ref in report.documents if first[ref.path] is not ref)
        log_once(f"doubles of {self.id}", f"{self._label} gave {twice!r} twice")
        return report._replace(documents=tuple(first.values()))

    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        """See :class:`~commonplace.plugin.PartialSource`."""
        report = self._limited(lambda: cast("PartialSource", self._source).scan_paths(paths))
        return None if report is None else self._checked(report)

    def read(self, ref: DocumentRef) -> Document | None:
        """The document; raises ``OSError`` for any failure."""
        try:
            return self._limited(lambda: read_of(self._source, ref, self._label))
        except CommonplaceError as error:
            raise OSError(reason_of(error)) from error

    def watched(self) -> Sequence[WatchedPath]:
        """See :class:`~commonplace.plugin.WatchedSource`."""
        return self._limited(cast("WatchedSource", self._source).watched)

    def due(self, ref: DocumentRef, indexed: str) -> bool:
        """See :class:`~commonplace.plugin.GrowingSource`; it is due where the source fails."""
        try:
            return bool(self._limited(lambda: self._growing.due(ref, indexed)))
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            failure_of(error)
            return True

    @contextmanager
    def segments(self, ref: DocumentRef, after: str = "") -> Iterator[Iterator[Segment] | None]:
        """See :class:`~commonplace.plugin.GrowingSource`; raises ``OSError`` for any failure."""
        opened = self._call(lambda: self._growing.segments(ref, after))
        pieces = self._call(opened.__enter__)
        try:
            yield None if pieces is None else self._each(pieces)
        finally:
            self._call(lambda: opened.__exit__(None, None, None))

    @property
    def _growing(self) -> GrowingSource:
        return cast("GrowingSource", self._source)

    def _each(self, pieces: Iterator[Segment]) -> Iterator[Segment]:
        end: Any = object()
        while (segment := self._call(lambda: next(pieces, end))) is not end:
            if fault := _segment_fault(segment):
                raise OSError(f"{self._label} gave {fault}")
            yield segment

    def _call(self, work: Callable[[], T]) -> T:
        try:
            return self._limited(work)
        except OSError:
            raise
        except BaseException as error:
            raise OSError(f"{self._label} failed: {failure_of(error)}") from error


def scanned_paths(source: PartialSource, paths: Collection[str]) -> ScanReport | None:
    """What ``source`` finds at ``paths``; ``None`` where it cannot tell, or fails."""
    try:
        report: object = source.scan_paths(paths)
    except BaseException as error:  # noqa: BLE001 - a scan follows, which reports its failure
        note = f"the source {source.id!r} failed to scan single paths: {failure_of(error)}"
        log_once(f"paths of {source.id}", note)
        return None
    return report if is_scan(report) else None


def _segment_fault(segment: Any) -> str:
    if type(segment) is not Segment:
        return f"{kind_of(segment)} for a piece"
    if type(segment.place) is not str:
        return f"a piece whose place is {kind_of(segment.place)}, not a str"
    document = segment.document
    return "" if is_document(document) else f"a piece with {document_fault(document)}"


class GuardedChunker:
    """A chunker that is made by its first use; a document that it fails on is unreadable.

    ``label`` names it in messages. ``fingerprint`` raises
    :class:`~commonplace.errors.UnavailableError` where there is none: the index stays as it is.
    """

    def __init__(
        self, make: Callable[[], Chunker], label: str, *, seconds: float = CALL_SECONDS
    ) -> None:
        self._make = make
        self._label = label
        self._limited = _Limited(label, seconds)
        self._made: Chunker | None = None

    @property
    def fingerprint(self) -> str:
        """See :class:`~commonplace.plugin.Chunker`."""
        try:
            return self._limited(lambda: _text(self._chunker().fingerprint, "fingerprint"))
        except CommonplaceError:
            raise
        except BaseException as error:
            raise UnavailableError(f"{self._label} failed: {failure_of(error)}") from error

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks of ``document``; raises ``OSError`` for any failure."""
        try:
            chunks = self._limited(lambda: list(self._chunker().chunk(document)))
        except BaseException as error:
            raise OSError(f"{self._label} failed: {failure_of(error)}") from error
        for chunk in chunks:
            if fault := _chunk_fault(chunk):
                raise OSError(f"{self._label} gave {fault}")
        if not chunks and document.text.strip():
            raise OSError(f"{self._label} gave no chunk of a text")
        lines = document.line_map or (document.text.count("\n") + 1,)
        if beyond := [chunk.end_line for chunk in chunks if chunk.end_line > max(lines)]:
            raise OSError(f"{self._label} gave a chunk to line {beyond[0]} of {max(lines)}")
        return chunks

    def _chunker(self) -> Chunker:
        if self._made is None:
            self._made = self._make()
        return self._made


def guarded_chunker(
    host: PluginHost, strategy: str, context: ChunkerContext, *, required: bool
) -> GuardedChunker:
    """The chunker ``strategy`` of a third party.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where it is ``required`` and cannot
    be loaded, or two plugins offer it; else its first use does so, as no search of an index needs
    it.
    """

    def registered() -> Registration[Chunker]:
        try:
            return host.chunker(strategy)
        except PluginConflictError as error:
            raise PluginUnavailableError(str(error), hint=error.hint) from error

    def make() -> Chunker:
        return registered().factory(context)

    try:
        registered()
        label = host.label("chunker", strategy)
    except PluginUnavailableError:
        if required:
            raise
        label = strategy
    return GuardedChunker(make, f"the chunker of {label}")


def _chunk_fault(chunk: Any) -> str:
    """What a chunker gave instead of a chunk, with the field that is wrong; or ``""``."""
    if type(chunk) is not Chunk:
        return f"{kind_of(chunk)} for a chunk"
    if type(chunk.text) is not str:
        return f"a chunk whose text is {kind_of(chunk.text)}, not a str"
    first, last = lines = chunk.start_line, chunk.end_line
    if list(map(type, lines)) != [int, int] or not 1 <= first <= last:
        span = f"{first!r:.20} to {last!r:.20}"
        return f"a chunk of the lines {span}, which must be int from 1 on, the first one first"
    heading: Any = chunk.heading
    if not isinstance(heading, tuple | list) or not all(type(part) is str for part in heading):
        return f"a chunk whose heading is {str(heading)[:40]}, not a tuple of str"
    return ""


class _Limited:
    """Calls of one part, each given up after some seconds."""

    def __init__(self, what: str, seconds: float) -> None:
        self._worker = Worker(what, patient=False)
        self._seconds = seconds

    def __call__(self, work: Callable[[], T]) -> T:
        return self._worker.run(work, Deadline.after(self._seconds))


def _text(value: object, what: str) -> str:
    if type(value) is not str or not value:
        raise TypeError(f"its {what} is {value!r}"[:100])
    return value
