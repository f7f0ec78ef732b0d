"""What parts answer in a search or a sync, checked before it is used.

A part that raises, hangs or gives what it must not costs its own share of the answer, never the
answer: a ranker is skipped with a note that names it, a backend is unavailable, so that the next
one answers, and the documents of a source stay as they were indexed.

Every search goes through here and loads this file alone: one for each kind of part would be two
more. What else is asked of parts is in ``sources.py`` (chunkers, too) and ``backends.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from commonplace.errors import (
    CommonplaceError,
    DeadlineExceededError,
    UnavailableError,
    counted,
    reason_of,
)
from commonplace.host.failures import (
    document_fault,
    failed_scan,
    failure_words,
    hit_fault,
    log_once,
    scan_fault,
)
from commonplace.model.documents import Document, DocumentRef, ScanReport, is_day
from commonplace.model.reports import Embedding, SyncReport
from commonplace.model.search import Arm, Candidate, Explanation, Found, Step, StoredChunk
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.host.host import PluginHost
    from commonplace.protocols.contexts import RankContext, RankerContext
    from commonplace.protocols.managers import Ranker
    from commonplace.protocols.parts import Source
    from commonplace.resilience.bounded_call import Worker

    ContextOf = Callable[[str], RankerContext]
    """Makes what the factory of the ranker with this id is given."""

RANKER_SECONDS = 2.0
"""How long a third party's ranker may take."""

_HANGING, _ROUNDING = 4, 1e-9
_NUMBERS = frozenset((float, int))
_path_of = attrgetter("path")

_KINDS = frozenset(("bm25", "cosine", "rank", "opaque"))
_LOOK_UPS: dict[str, type] = {"holders": int, "tokens_beginning": int, "vectors": bytes}
_STAGES = ("fuse", "adjust", "select")


def make_worker(name: str, at_most: int = 64) -> Worker:
    """A worker that gives up the calls of a part that hang."""
    from commonplace.resilience.bounded_call import Worker  # imports threading

    return Worker(name, at_most=at_most)


def foreign_label(host: PluginHost, kind: str, id_: str) -> str:
    """How messages name a part of a third party: with its plugin and distribution.

    ``""`` for a part of ours, which is trusted not to hang, and for one that cannot be loaded.
    """
    try:
        return (
            "" if host.is_builtin(kind, id_) else f"the {kind} {id_!r} of {host.label(kind, id_)}"
        )
    except CommonplaceError:  # reported where the part is asked for
        return ""


# --- rankers --------------------------------------------------------------------------------------


class GuardedRanker:
    """A ranker that never fails: where it does, its hits stay as they were, and say so.

    ``label`` names the ranker's plugin and its distribution. ``instead`` fuses where a ranker of
    the stage ``fuse`` fails, as hits without a score cannot be ranked. With ``trusted`` it runs on
    the caller's thread; others are given up after 2 seconds, or at the search's own deadline, and
    not tried while four calls hang.
    """

    def __init__(
        self, ranker: Ranker, label: str, *, trusted: bool, instead: Ranker | None = None
    ) -> None:
        self.id = _text(ranker.id, "its id")
        self.stage: Literal["fuse", "adjust", "select"] = _stage(ranker.stage)
        self.needs = frozenset(ranker.needs)
        self._ranker = ranker
        self._label = label
        self._worker = None if trusted else make_worker(f"ranker {self.id}", at_most=_HANGING)
        self._instead = instead

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> Sequence[Candidate]:
        """The hits as the ranker returns them, checked; ``hits`` with a note where it fails."""
        hits, seconds = tuple(hits), RANKER_SECONDS

        def work() -> list[Candidate]:
            ranked = self._ranker.rank(hits, context)
            added = context.further.given if context.further is not None else ()
            return _selected(ranked, hits, added, drops=self.stage == "select")

        try:
            if self._worker is None:
                return work()
            seconds = min(seconds, context.deadline.remaining())
            return self._worker.run(work, Deadline.after(seconds))
        except DeadlineExceededError:
            why = f"it took more than {seconds:.2g} s"
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            why = failure_words(error)
        note = f"the ranker {self.id!r} of {self._label} was skipped: {why}"
        log_once(f"ranker {self.id} of {self._label}", note)
        fused = hits if self._instead is None else self._instead.rank(hits, context)
        return [_with_failure(hit, self.id, note) for hit in fused]


def make_rankers(
    host: PluginHost, chain: Sequence[str], default: Sequence[str], context_of: ContextOf
) -> tuple[list[Ranker], list[str]]:
    """The rankers of ``chain``, guarded, and notes on those that cannot run.

    Where one is missing or cannot be made, or none fuses, those of ``default`` run in place of the
    whole chain: hits without a fused score cannot be ranked, and an incomplete chain does not rank
    as the configuration asks. Where one of ``default`` itself is missing, its others run.
    """
    notes: list[str] = []

    def make_all(ids: Sequence[str]) -> list[GuardedRanker]:
        made = (_make_ranker(host, id_, context_of, default, notes) for id_ in ids)
        return [ranker for ranker in made if ranker is not None]

    rankers = make_all(chain)
    complete = len(rankers) == len(chain)
    if not complete and tuple(chain) != tuple(default):
        notes.append(f"a ranker of ranking.chain is missing: {', '.join(default)} rank instead")
        rankers = make_all(default)
    elif complete and not any(ranker.stage == "fuse" for ranker in rankers):
        notes.append(f"no ranker of ranking.chain fuses: {', '.join(default)} rank instead")
        rankers = make_all(default)
    return list(rankers), notes


def _make_ranker(
    host: PluginHost,
    id_: str,
    context_of: ContextOf,
    stand_ins: Sequence[str],
    notes: list[str],
) -> GuardedRanker | None:
    """The ranker; ``None``, and another note, where it cannot be made.

    Where a third party's ranker fuses, the first of ``stand_ins`` that does stands in for it.
    """
    label = "unknown origin"
    try:
        label, trusted = host.label("ranker", id_), host.is_builtin("ranker", id_)
        ranker = host.ranker(id_).factory(context_of(id_))
        instead = None
        if ranker.stage == "fuse" and not trusted:
            made = (_make_ranker(host, other, context_of, (), notes) for other in stand_ins)
            instead = next((other for other in made if other and other.stage == "fuse"), None)
        return GuardedRanker(ranker, label, trusted=trusted, instead=instead)
    except CommonplaceError as error:
        notes.append(f"the ranker {id_!r} was left out: {reason_of(error)}")
    except BaseException as error:  # noqa: BLE001 - as in GuardedRanker
        notes.append(f"the ranker {id_!r} of {label} was left out: {failure_words(error)}")
    return None


def _stage(stage: Any) -> Any:
    if stage not in _STAGES:
        raise TypeError(f"its stage is {stage!r}, not one of {', '.join(_STAGES)}")
    return stage


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} is {value!r}")
    return value


def _selected(
    ranked: object, hits: Sequence[Candidate], added: Sequence[Candidate], *, drops: bool
) -> list[Candidate]:
    """``ranked`` as a list, if it is made of ``hits``, and of those ``added``, each once.

    Scores must be within 0 and 1, or those of ``hits``; all hits must be there unless it ``drops``.
    """
    if isinstance(ranked, str | bytes) or not hasattr(ranked, "__iter__"):
        raise TypeError(f"it gave a {type(ranked).__name__} for hits")
    left = {hit.chunk.id: hit.chunk for hit in (*added, *hits)}
    scores = 0.0, 1.0, *[hit.score for hit in hits]
    least, most = min(scores) - _ROUNDING, max(scores) + _ROUNDING
    chosen = list(ranked)
    for hit in chosen:
        if not _is_hit(hit):
            raise TypeError(f"it gave {hit_fault(hit)}")
        known = left.pop(hit.chunk.id, None)
        if known is not hit.chunk and known != hit.chunk:
            raise ValueError(f"it gave {hit.chunk.path!r} twice, or was not given it")
        if type(hit.score) not in _NUMBERS or not least <= hit.score <= most:
            raise ValueError(f"it gave the score {hit.score!r}, which is not within 0 and 1")
    if not drops and (lost := sum([hit.chunk.id in left for hit in hits])):
        raise ValueError(f"it left out {counted(lost, 'hit')}, which is for the stage select")
    return [hit if hit.lines is None else _cut(hit, *hit.lines) for hit in chosen]


def _is_hit(hit: Any) -> bool:
    known = isinstance(hit, Candidate)  # apart: a plugin fills its fields as it likes
    return (
        known
        and isinstance(hit.chunk, StoredChunk)
        and isinstance(hit.explain, Explanation)
        and (hit.lines is None or list(map(type, hit.lines)) == [int, int])
    )


def _cut(hit: Candidate, first: int, last: int) -> Candidate:
    """``hit`` with these lines of its chunk alone, or unchanged where they are not whole lines."""
    chunk = hit.chunk
    lines = chunk.text.split("\n")
    whole = len(lines) == chunk.end_line - chunk.start_line + 1
    if not (whole and chunk.start_line <= first <= last <= chunk.end_line):
        return hit
    text = "\n".join(lines[first - chunk.start_line : last - chunk.start_line + 1])
    return hit._replace(chunk=chunk._replace(start_line=first, end_line=last, text=text))


def _with_failure(hit: Candidate, ranker: str, note: str) -> Candidate:
    step = Step(ranker=ranker, before=hit.score, after=hit.score, note=note, failed=True)
    return hit._replace(explain=hit.explain._replace(steps=(*hit.explain.steps, step)))


# --- sources --------------------------------------------------------------------------------------


def scanned(source: Source, label: str = "") -> ScanReport:
    """What ``source`` finds, or that it failed; ``label`` names it in messages."""
    try:
        return checked_scan(source.scan())
    except BaseException as error:  # noqa: BLE001 - as in GuardedRanker
        return failed_scan(source.id, label or f"the source {source.id!r}", error)


def checked_scan(report: object) -> ScanReport:
    """``report`` if a scan may return that; else raises ``CommonplaceError`` with its fault."""
    if is_scan(report):
        return report
    raise CommonplaceError(scan_fault(report))


def is_scan(report: Any) -> TypeGuard[ScanReport]:
    """Whether a scan of a source may return it."""
    # Every search looks at its whole workspace: no call of our own for each document.
    return (
        type(report) is ScanReport
        and set(map(type, refs := report.documents)) <= {DocumentRef}
        and set(map(type, map(_path_of, refs))) <= {str}
        and "" not in map(_path_of, refs)
    )


def read_of(source: Source, ref: DocumentRef, label: str = "") -> Document | None:
    """The document as ``source`` reads it; ``None`` if it is gone. ``label`` names the source.

    Raises :class:`OSError`, as for a file that cannot be read, for any failure of the source.
    """
    try:
        document: object = source.read(ref)
    except (OSError, CommonplaceError):
        raise
    except BaseException as error:
        raise OSError(f"{label or source.id} failed: {failure_words(error)}") from error
    if document is not None and not is_document(document):
        raise OSError(f"{label or source.id} gave {document_fault(document)}")
    return document


def is_document(document: Any) -> TypeGuard[Document]:
    """Whether it is a document as a source may give it."""
    return (
        type(document) is Document
        and [type(document.names), type(document.tags), type(document.ref)]
        == [tuple, tuple, DocumentRef]
        and all(type(text) is str for text in (document.text, document.digest, document.title))
        and all(type(text) is str for text in (document.ref.stamp, *document.names, *document.tags))
        and type(document.day).__name__ in {"NoneType", "date"}
        and (document.trust, document.line_map) == ("memory", None)
    ) or not document_fault(document)


# --- backends -------------------------------------------------------------------------------------


def checked_report(given: object) -> SyncReport:
    """``given``, if it is a report that an engine may give; else raises ``TypeError``."""
    if type(given) is not SyncReport:
        raise TypeError(f"it gave a {type(given).__name__} for a report")
    for name, value in vars(given).items():
        usual = getattr(SyncReport, name)
        if usual is None:
            right = value is None or type(value) is (Embedding if name == "embedding" else tuple)
        elif type(usual) is float:
            right = type(value) in {int, float} and isfinite(value)
        else:
            right = type(value) is type(usual) and (type(value) is not int or value >= -1)
        if not right:
            raise TypeError(f"it gave a report with {name} {str(value)[:40]!r}")
    return given


def checked_arms(given: object, backend: str) -> tuple[Arm, ...]:
    """``given``, if it is what a search of a backend may answer, with shares within 0 and 1.

    Raises :class:`~commonplace.errors.UnavailableError` for anything else.
    """
    if not isinstance(given, tuple | list):
        raise _wrong(backend, f"a {type(given).__name__} for ranked lists")
    for arm in given:
        if type(arm) is not Arm:
            raise _wrong(backend, f"a {type(arm).__name__} for a ranked list")
        if arm.kind not in _KINDS:
            raise _wrong(backend, f"scores of the kind {arm.kind!r}")
        if not isinstance(arm.unknown, frozenset):
            raise _wrong(backend, f"a {type(arm.unknown).__name__} for a set of unknown words")
        if not isinstance(arm.found, tuple | list):
            raise _wrong(backend, f"a {type(arm.found).__name__} for hits")
        for item in arm.found:
            if fault := _fault_of(item):
                raise _wrong(backend, fault)
    return tuple(map(_within, given))


def guarded_look_ups(arm: Arm, look_up: Callable[..., Mapping[Any, Any]]) -> dict[str, Any]:
    """The look-ups of ``arm``, done by ``look_up``, which is given each and its kind of values."""
    given = {name: getattr(arm, name) for name in _LOOK_UPS}
    return {name: partial(look_up, read, _LOOK_UPS[name]) for name, read in given.items() if read}


def checked_look_up(given: object, kind: type, backend: str) -> Mapping[Any, Any]:
    """``given``, if it maps tokens or ids of chunks to values of ``kind``, as look-ups must.

    Raises :class:`~commonplace.errors.UnavailableError` for anything else.
    """
    if not isinstance(given, Mapping):
        raise _wrong(backend, f"a {type(given).__name__} for a look-up")
    for key, value in given.items():
        if not (isinstance(key, (int, str)) and isinstance(value, kind)):
            raise _wrong(backend, f"{key!r:.40} and a {type(value).__name__} for a look-up")
    return given


def _fault_of(item: Any) -> str:
    """What is wrong with a hit of an engine, if anything is."""
    if type(item) is not Found or type(item.chunk) is not StoredChunk:
        return f"a {type(item).__name__} for a hit"
    chunk: Any = item.chunk
    shares = {type(item.evidence), type(item.coverage)}
    if type(item.score) not in _NUMBERS or shares - _NUMBERS - {type(None)}:
        return f"the score {item.score!r}"
    if not (isinstance(chunk.path, str) and isinstance(chunk.text, str) and chunk.path):
        return "a hit without a path or a text"
    lines = chunk.start_line, chunk.end_line
    if type(lines[0]) is not int or type(lines[1]) is not int or not 1 <= lines[0] <= lines[1]:
        return f"the lines {lines[0]!r} to {lines[1]!r}"
    if not isinstance(chunk.id, (int, str)):
        return f"the id {str(chunk.id)[:40]!r}"
    return "" if not chunk.day or is_day(chunk.day) else f"the day {str(chunk.day)[:40]!r}"


def _within(arm: Arm) -> Arm:
    """``arm`` with its shares within 0 and 1."""
    shares = (share for item in arm.found for share in (item.evidence, item.coverage))
    if all(0 <= (share or 0) <= 1 for share in shares):
        return arm
    found = (
        i._replace(evidence=_share(i.evidence), coverage=_share(i.coverage)) for i in arm.found
    )
    return arm._replace(found=tuple(found))


def _share(number: float | None) -> float | None:
    return None if number is None or not isfinite(number) else min(max(number, 0.0), 1.0)


def _wrong(backend: str, what: str) -> UnavailableError:
    return UnavailableError(f"{backend} answered with {what}")
