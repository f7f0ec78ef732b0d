"""Sources, chunkers and probes of third parties: what hangs or raises costs that part only.

Our own are called directly: they are trusted not to hang, and their faults are ours to see.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from commonplace.errors import (
    CommonplaceError,
    PluginConflictError,
    PluginUnavailableError,
    ScopeDeniedError,
    UnavailableError,
    reason_of,
)
from commonplace.host.border import checked_scan, is_document, read_of
from commonplace.host.failures import document_fault, failed_scan, kind_of, log_once
from commonplace.model.chunks import Chunk
from commonplace.model.documents import Finding, RootFailure, Segment, SpaceInfo, StoreHealth
from commonplace.model.plugins import Mount, Probe
from commonplace.protocols.contexts import ManagerHealth
from commonplace.resilience.bounded_call import Worker, failure_of
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from commonplace.host.discovery import Kind
    from commonplace.host.host import PluginHost
    from commonplace.model.documents import Document, DocumentRef, ScanReport, WatchedPath
    from commonplace.model.plugins import Registration
    from commonplace.model.search import Query
    from commonplace.protocols.contexts import ChunkerContext, ManagerContext
    from commonplace.protocols.parts import (
        Chunker,
        GrowingSource,
        PartialSource,
        Source,
        WatchedSource,
    )
    from commonplace.resilience.deadline import GuardedCaller

T = TypeVar("T")

CALL_SECONDS = 20.0
"""How long a scan, the reading of a document and its chunking may take, each."""

PROBE_SECONDS = 5.0
"""How long a part may take to say whether it can work here."""


def probed(host: PluginHost, kind: Kind, id_: str, probe: Callable[[], Probe]) -> Probe:
    """What ``probe`` answers, which asks the part ``id_`` of ``kind``.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where one of a third party fails or
    hangs.
    """
    if host.is_builtin(kind, id_):
        return probe()
    return answer_of(probe, f"{kind} {id_!r} of {host.label(kind, id_)}")


def answer_of(probe: Callable[[], Probe], part: str, *, seconds: float = PROBE_SECONDS) -> Probe:
    """What ``probe`` answers; ``part`` names what it asks.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where it fails, or takes longer than
    ``seconds``.
    """
    try:
        answer: Any = Worker(f"the probe of {part}").run(probe, Deadline.after(seconds))
    except CommonplaceError as error:
        raise PluginUnavailableError(str(error), hint=error.hint) from error
    except BaseException as error:
        words = failure_of(error)
        raise PluginUnavailableError(f"the probe of {part} failed: {words}") from error
    if type(answer) is not Probe or type(answer.available) is not bool:
        raise PluginUnavailableError(f"the probe of {part} answered {str(answer)[:60]!r}")
    return answer._replace(reason=str(answer.reason), hint=str(answer.hint))


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


class _Limited:
    """Calls of one part, each given up after some seconds."""

    def __init__(self, what: str, seconds: float) -> None:
        self._worker = Worker(what, patient=False)
        self._seconds = seconds

    def __call__(self, work: Callable[[], T]) -> T:
        return self._worker.run(work, Deadline.after(self._seconds))


def _segment_fault(segment: Any) -> str:
    if type(segment) is not Segment:
        return f"{kind_of(segment)} for a piece"
    if type(segment.place) is not str:
        return f"a piece whose place is {kind_of(segment.place)}, not a str"
    document = segment.document
    return "" if is_document(document) else f"a piece with {document_fault(document)}"


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
    if type(heading) is str or not all(type(part) is str for part in heading):
        return f"a chunk whose heading is {str(heading)[:40]}, not a tuple of str"
    return ""


def mounts_given(
    mounts: Callable[[ManagerContext], Sequence[Mount]], context: ManagerContext, backend: str
) -> Sequence[Mount]:
    """What ``mounts`` of ``backend`` gives; nothing, and a line in the log, where it fails."""
    try:
        given: Any = tuple(mounts(context))
        if wrong := [one for one in given if type(one) is not Mount]:
            raise TypeError(f"it gave a {type(wrong[0]).__name__} for a folder")  # noqa: TRY301
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
        why = failure_of(error)
        log_once(f"mounts of {backend}", f"backend {backend} cannot say what it mounts: {why}")
        return ()
    return cast("Sequence[Mount]", given)


def check_permit(
    permits: Callable[[Any, Query], None], config: Any, backend: str, query: Query
) -> None:
    """Raise what ``permits`` of ``backend`` raises for a query that may not be asked.

    Where it fails it is not known who may ask: :class:`~commonplace.errors.ScopeDeniedError`.
    """
    try:
        permits(config, query)
    except CommonplaceError:
        raise
    except BaseException as error:
        raise ScopeDeniedError(
            f"which chats may search is not known: {backend} failed: {failure_of(error)}",
            hint="update its plugin, or choose another backend",
        ) from error


def refuse_chats(section: str, reason: str, query: Query) -> None:
    """Refuse a chat that a section that cannot be read might restrict.

    An absent section restricts no chat, and a search that names no chat is the owner's own.
    """
    if query.session_key.strip():
        raise ScopeDeniedError(
            f"which chats may search is not known: {section} cannot be read, for {reason}",
            hint=f"fix that plugin (commonplace plugins), or remove {section}",
        )


def _text(value: object, what: str) -> str:
    if type(value) is not str or not value:
        raise TypeError(f"its {what} is {value!r}"[:100])
    return value


def checked_health(given: object) -> ManagerHealth:
    """``given``, if it is a condition that an engine may report; else raises ``TypeError``."""
    if type(given) is not ManagerHealth:
        raise TypeError(f"it gave a {type(given).__name__} for its health")
    lines: Any = given.notices, given.information, (given.reason,)
    if any(type(part) is not tuple or any(type(one) is not str for one in part) for part in lines):
        raise TypeError("it gave its health with lines that are no texts")
    findings: Any = given.findings
    if type(findings) is not tuple or any(type(one) is not Finding for one in findings):
        raise TypeError("it gave its health with findings that are none")
    counts: list[Any] = [int(given.available)]
    for space in given.spaces or ():
        counts += _checked_part(space, SpaceInfo, space.space)[1:]
    if (store := given.store) is not None:
        _checked_part(store, StoreHealth, store.location)
        counts += (store.documents, store.chunks, store.size)
        counts += [n for _, n in (*store.documents_by_source, *store.chunks_by_source)]
    if wrong := [count for count in counts if type(count) is not int or count < 0]:
        raise TypeError(f"it gave its health with the count {str(wrong[0])[:40]!r}")
    return given


def _checked_part(part: Any, expected: type, name: object) -> Any:
    if type(part) is not expected or type(name) is not str:
        raise TypeError(f"it gave its health with a {type(part).__name__}")
    return part


def health_of(guard: GuardedCaller, report: Callable[[], ManagerHealth]) -> ManagerHealth:
    """The health for searching of the backend that ``guard`` calls, by its own ``report``.

    ``report`` raises :class:`~commonplace.errors.CommonplaceError` where the backend fails.
    """
    if (failure := guard.failure("search")) is not None and failure.retry_in:
        return ManagerHealth(available=False, reason=failure.reason)
    try:
        health = report()
    except CommonplaceError as error:
        return ManagerHealth(available=False, reason=reason_of(error))
    store = health.store
    if health.available and store is not None and not store.documents:
        # With an empty index it can answer only if that can be filled.
        if (failure := guard.failure("sync")) is not None:
            return health._replace(available=False, reason=failure.reason)
        if not store.writable:
            reason = f"the index of {guard.id} is empty and cannot be written"
            return health._replace(available=False, reason=reason)
    return health
