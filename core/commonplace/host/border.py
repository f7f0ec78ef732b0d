"""The border to plugins: what rankers, engines and sources give is checked before it is used.

A part that raises, hangs or gives what it must not costs its own share of the answer, never the
answer: a ranker is skipped with a note that names it, an engine is unavailable, so that the next
backend answers, and the documents of a source stay as they were indexed.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from commonplace.errors import CommonplaceError, DeadlineExceededError, UnavailableError, reason_of
from commonplace.model.documents import Document, DocumentRef, RootFailure, ScanReport
from commonplace.model.search import Arm, Candidate, Explanation, Found, Step, StoredChunk
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.host.host import PluginHost
    from commonplace.protocols.contexts import RankContext, RankerContext
    from commonplace.protocols.managers import Ranker
    from commonplace.protocols.parts import Source
    from commonplace.resilience.bounded_call import Worker

    ContextOf = Callable[[str], RankerContext]
    """Makes what the factory of the ranker with this id is given."""

RANKER_SECONDS = 2.0
"""How long a third party's ranker may take."""

_HANGING = 4

FAILED = "failed: "
"""What the note of a ranker's step begins with, where the ranker was skipped for its failure."""

_KINDS = frozenset({"bm25", "cosine", "rank", "opaque"})
_STAGES = ("fuse", "adjust", "select")


class GuardedRanker:
    """A ranker that never fails: where it does, its hits stay as they were, and say so.

    ``label`` names the ranker's plugin and its distribution. ``instead`` fuses where a ranker of
    the stage ``fuse`` fails, as hits without a score cannot be ranked. With ``trusted`` it runs on
    the caller's thread; others are given up after 2 seconds, and not tried while four calls hang.
    """

    def __init__(
        self, ranker: Ranker, label: str, *, trusted: bool, instead: Ranker | None = None
    ) -> None:
        self.id = _text(ranker.id, "its id")
        self.stage: Literal["fuse", "adjust", "select"] = ranker.stage
        self.needs = frozenset(ranker.needs)
        self._ranker = ranker
        self._label = label
        self._worker = None if trusted else _worker(self.id)
        self._instead = instead

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> Sequence[Candidate]:
        """What the ranker gives, if that is a selection of ``hits`` with finite scores."""
        given = tuple(hits)

        def work() -> list[Candidate]:
            return _selected(self._ranker.rank(given, context), given)

        try:
            if self._worker is None:
                return work()
            return self._worker.run(work, Deadline.after(RANKER_SECONDS))
        except DeadlineExceededError:
            why = f"it took more than {RANKER_SECONDS:g} s"
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            why = f"{type(error).__name__}: {error}".rstrip(": ")
        note = f"{FAILED}the ranker {self.id!r} of {self._label} was skipped: {why}"
        _log_once(f"ranker {self.id} of {self._label}", note)
        fused = given if self._instead is None else self._instead.rank(given, context)
        return [_noted(hit, self.id, note) for hit in fused]


def _worker(ranker: str) -> Worker:
    from commonplace.resilience.bounded_call import Worker  # imports threading

    return Worker(f"ranker {ranker}", at_most=_HANGING)


def make_rankers(
    host: PluginHost, chain: Sequence[str], default: Sequence[str], context_of: ContextOf
) -> tuple[list[Ranker], list[str]]:
    """The rankers of ``chain``, guarded, and notes on those that cannot run.

    One that is missing or cannot be made is left out. Without one that fuses, the rankers of
    ``default`` run in place of the whole chain, for hits would have no scores.
    """
    notes: list[str] = []
    made = [one for id_ in chain for one in _made(host, id_, context_of, notes)]
    if not any(ranker.stage == "fuse" for ranker, _ in made):
        notes.append(f"no ranker of ranking.chain fuses: {', '.join(default)} rank instead")
        made = [one for id_ in default for one in _made(host, id_, context_of, notes)]
    rankers: list[Ranker] = []
    for ranker, label in made:
        trusted, instead = _is_builtin(label), None
        if ranker.stage == "fuse" and not trusted:
            others = [one for id_ in default for one, _ in _made(host, id_, context_of, notes)]
            instead = next((one for one in others if one.stage == "fuse"), None)
        try:
            rankers.append(GuardedRanker(ranker, label, trusted=trusted, instead=instead))
        except (TypeError, ValueError) as error:
            notes.append(f"a ranker of {label} was left out: {error}")
    return rankers, notes


def _made(
    host: PluginHost, id_: str, context_of: ContextOf, notes: list[str]
) -> Iterator[tuple[Ranker, str]]:
    """The ranker and its label; none, and another note, where it cannot be made."""
    label = "unknown origin"
    try:
        label = host.label("ranker", id_)
        ranker = host.ranker(id_).factory(context_of(id_))
        _check_stage(ranker.stage)
    except CommonplaceError as error:
        notes.append(f"the ranker {id_!r} was left out: {reason_of(error)}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as in GuardedRanker
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        notes.append(f"the ranker {id_!r} of {label} was left out: {why}")
    else:
        yield ranker, label


def _check_stage(stage: object) -> None:
    if stage not in _STAGES:
        raise TypeError(f"its stage is {stage!r}, not one of {', '.join(_STAGES)}")


def _is_builtin(label: str) -> bool:
    """Whether a plugin is of our own distribution."""
    return label.partition("(")[2].startswith("commonplace ")


def failures_of(hits: Iterable[Candidate]) -> tuple[str, ...]:
    """Which rankers of ``hits`` were skipped for their failures, and why, each once."""
    notes = {
        step.note.removeprefix(FAILED): None
        for hit in hits
        for step in hit.explain.steps
        if step.note.startswith(FAILED)
    }
    return tuple(notes)


def scanned(source: Source) -> ScanReport:
    """What ``source`` finds; where it fails, all of it is a root that could not be looked at."""
    try:
        report: object = source.scan()
        if type(report) is not ScanReport:
            reason = f"its scan gave a {type(report).__name__}"
        elif wrong := next((ref for ref in report.documents if not _is_reference(ref)), None):
            reason = f"its scan gave {type(wrong).__name__} {str(wrong)[:60]!r} for a document"
        else:
            return report
    except CommonplaceError as error:
        reason = reason_of(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as in GuardedRanker
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
    note = f"the source {source.id!r} failed: {reason}"
    _log_once(f"source {source.id}", note)
    return ScanReport((), (), failed_roots=(RootFailure("", note, source.id),))


def _is_reference(ref: Any) -> bool:
    return type(ref) is DocumentRef and type(ref.path) is str and bool(ref.path)


def read_of(source: Source, ref: DocumentRef) -> Document | None:
    """The document as ``source`` reads it; ``None`` if it is gone.

    Raises :class:`OSError`, as for a file that cannot be read, for any failure of the source.
    """
    try:
        document: object = source.read(ref)
    except (OSError, CommonplaceError):
        raise
    except (Exception, SystemExit) as error:
        raise OSError(f"{source.id} failed: {type(error).__name__}: {error}") from error
    if document is not None and (type(document) is not Document or type(document.text) is not str):
        raise OSError(f"{source.id} gave a {type(document).__name__} for a document")
    return document


def checked_arms(given: object, backend: str) -> tuple[Arm, ...]:
    """``given``, if it is what a search of a backend may answer.

    Raises :class:`~commonplace.errors.UnavailableError` for anything else.
    """
    if not isinstance(given, tuple | list):
        raise _wrong(backend, f"a {type(given).__name__} for ranked lists")
    for arm in given:
        if type(arm) is not Arm:
            raise _wrong(backend, f"a {type(arm).__name__} for a ranked list")
        if arm.kind not in _KINDS:
            raise _wrong(backend, f"scores of the kind {arm.kind!r}")
        if not isinstance(arm.found, tuple | list):
            raise _wrong(backend, f"a {type(arm.found).__name__} for hits")
        for item in arm.found:
            if fault := _fault_of(item):
                raise _wrong(backend, fault)
    return tuple(given)


def _fault_of(item: Any) -> str:
    """What is wrong with a hit of an engine, if anything is."""
    if type(item) is not Found or type(item.chunk) is not StoredChunk:
        return f"a {type(item).__name__} for a hit"
    chunk: Any = item.chunk
    shares = {type(item.evidence), type(item.coverage)}
    if type(item.score) not in {float, int} or shares - {float, int, type(None)}:
        return f"the score {item.score!r}"
    if not (isinstance(chunk.path, str) and isinstance(chunk.text, str) and chunk.path):
        return "a hit without a path or a text"
    lines = chunk.start_line, chunk.end_line
    if type(lines[0]) is not int or type(lines[1]) is not int or not 1 <= lines[0] <= lines[1]:
        return f"the lines {lines[0]!r} to {lines[1]!r}"
    return ""


def _wrong(backend: str, what: str) -> UnavailableError:
    return UnavailableError(f"{backend} answered with {what}")


def _selected(given: object, hits: Sequence[Candidate]) -> list[Candidate]:
    """``given`` as a list, if it is made of ``hits``, each at most once, with finite scores."""
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise TypeError(f"it gave a {type(given).__name__} for hits")
    left = {hit.chunk.id: hit.chunk for hit in hits}
    chosen = list(given)
    for one in chosen:
        if not isinstance(one, Candidate) or not isinstance(one.explain, Explanation):
            raise TypeError(f"it gave a {type(one).__name__} for a hit")
        known = left.pop(one.chunk.id, None)
        if known is not one.chunk and known != one.chunk:
            raise ValueError(
                f"it gave {one.chunk.path!r}, which it was not given, or gave it twice"
            )
        if type(one.score) not in {float, int} or not isfinite(one.score):
            raise ValueError(f"it gave the score {one.score!r}")
    return chosen


def _noted(hit: Candidate, ranker: str, note: str) -> Candidate:
    step = Step(ranker=ranker, before=hit.score, after=hit.score, note=note)
    return hit._replace(explain=hit.explain.replace(steps=(*hit.explain.steps, step)))


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} is {value!r}")
    return value


_LOGGED: set[str] = set()


def _log_once(part: str, note: str) -> None:
    """Log the first failure of a part: its later ones may say the same in other words."""
    if part not in _LOGGED:
        from commonplace.host.events import logger

        _LOGGED.add(part)
        logger().warning(note.removeprefix(FAILED))
