"""When an agent is asked to write notes before its context is compacted: events in, decisions out.

A session counts its compactions; what lies between two of them is a *cycle*. Each cycle is flushed
once, before the compaction that ends it. The machine has no clock, no files and no model: its host
reports events and carries out the one decision that each is answered with.

======================  =======================================================================
event                   decisions that may answer it
======================  =======================================================================
``TurnStarting``        ``Flush``, ``Save``, ``Continue``
``CompactionDue``       ``Flush``, ``Save``, ``Wait``, ``Compact``, ``Continue``
``FlushDone``           ``Save``; then, by ``Saved`` or ``SaveFailed``, the answer to the first
``FlushFailed``         the answer to what was asked first, or ``Flush`` again
``Compacted``           ``Save``
``Saved, SaveFailed``   the answer to what was asked first
======================  =======================================================================

The marker is the number of the cycle that was flushed, taken when its flush began: a flush turn
during which the session is compacted has flushed the cycle that ended, not the one that began. A
cycle that was compacted without its flush, because the flush failed or the compaction was not
asked about, is *owed*: it is flushed at the next turn, or with the next cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import Record

if TYPE_CHECKING:
    from commonplace.config.settings import FlushSettings

Workspace = Literal["rw", "ro", "none"]
Cause = Literal["tokens", "bytes", "owed", "threshold", "overflow", "manual"]
Question = Literal["", "turn", "compaction"]

MOST_FAILURES = 3
"""Failed flushes of one cycle after which turns try no more; its compaction still does."""

TRIES_PER_COMPACTION = 2


class Situation(Record):
    """What a turn runs in.

    ``heartbeat``: the program polls, no person spoke. ``cli_backend``: the model is another program
    that compacts its own context. ``workspace``: what the session may do there. ``writable``:
    whether agents may write memory at all (``memory.write.enabled``).
    """

    heartbeat: bool = False
    cli_backend: bool = False
    workspace: Workspace = "rw"
    writable: bool = True


HERE = Situation()


class TurnStarting(Record):
    """A turn is about to start in a context window of ``window`` tokens.

    ``tokens`` are those that the next request will have, ``None`` if not known.
    ``transcript_bytes`` is the size of the session's transcript, ``None`` if it has none.
    """

    window: int
    tokens: int | None = None
    transcript_bytes: int | None = None
    situation: Situation = HERE


class CompactionDue(Record):
    """The session is about to be compacted. Report this on every path, overflow included."""

    cause: Literal["threshold", "overflow", "manual"] = "threshold"
    situation: Situation = HERE


class FlushDone(Record):
    """The flush ``attempt`` has written what was worth writing, at ``at`` (epoch seconds)."""

    attempt: int
    at: float = 0.0


class FlushFailed(Record):
    """The flush ``attempt`` has failed."""

    attempt: int
    reason: str = ""


class Compacted(Record):
    """The session was compacted; ``transcript_bytes`` as in :class:`TurnStarting`."""

    transcript_bytes: int | None = None
    situation: Situation = HERE


class FlushMark(Record):
    """What is remembered of a session, and saved as one record.

    ``compactions`` counts them. ``flushed`` is the cycle that was last flushed, -1 for none, and
    ``flushed_at`` when. ``owed`` are the cycles that were compacted without their flush.
    ``base`` is the size of the transcript in bytes at the last flush or compaction.
    """

    compactions: int = 0
    flushed: int = -1
    flushed_at: float = 0.0
    owed: tuple[int, ...] = ()
    base: int = 0


class Saved(Record):
    """``mark`` is saved."""

    mark: FlushMark


class SaveFailed(Record):
    """The mark could not be saved."""

    reason: str = ""


Event = TurnStarting | CompactionDue | FlushDone | FlushFailed | Compacted | Saved | SaveFailed


class Flush(Record):
    """Ask the model to write notes on ``cycles``, the last of which may still go on.

    Answer with :class:`FlushDone` or :class:`FlushFailed` and this ``attempt``.
    """

    attempt: int
    cycles: tuple[int, ...]
    cause: Cause


class Save(Record):
    """Save ``mark``; answer with :class:`Saved` or :class:`SaveFailed`."""

    mark: FlushMark


class Wait(Record):
    """Do not compact yet, for this ``reason``. Ask again when the flush that runs has ended."""

    reason: str


class Compact(Record):
    """Compact now. ``reason`` says that the cycle is flushed, or why it is not."""

    reason: str


class Continue(Record):
    """Go on; nothing is flushed now, for this ``reason``."""

    reason: str


Decision = Flush | Save | Wait | Compact | Continue


class Running(Record):
    """A flush that has begun: the ``cycles`` it covers."""

    attempt: int
    cycles: tuple[int, ...]


class FlushState(Record):
    """All that the machine knows. A new process starts with ``FlushState.of(mark)`` as saved.

    ``asked`` is the question that the host waits with, ``asked_in`` its cycle, ``cause`` that of a
    compaction, and ``tries`` the flushes since then. ``reason`` belongs to the answer that waits
    until the mark is saved. ``attempts`` and ``failures`` count flushes, of the process and of this
    cycle. ``grown_to`` is the size of the transcript when it was last reported. ``excused``: this
    cycle need not be flushed, since its session may not write. ``barred``: the situation that was
    last reported allows no flush.
    """

    mark: FlushMark = FlushMark()
    saved: FlushMark = FlushMark()
    running: Running | None = None
    attempts: int = 0
    failures: int = 0
    tries: int = 0
    asked: Question = ""
    asked_in: int = 0
    reason: str = ""
    cause: Cause = "tokens"
    grown_to: int = 0
    excused: bool = False
    barred: bool = False

    @classmethod
    def of(cls, mark: FlushMark) -> FlushState:
        """The state of a session whose ``mark`` was saved; a flush that ran then has failed."""
        return cls(mark=mark, saved=mark)


def flush_threshold(window: int, settings: FlushSettings) -> int:
    """The tokens from which a context of ``window`` tokens is flushed; 0 for no window.

    ``window - reserve - soft``, as OpenClaw has it. In small windows the reserve is at most a
    quarter of the window and the soft threshold at most half of the rest, so that there is
    always a threshold, and a larger window never has a lower one.
    """
    reserve = min(settings.reserve_tokens_floor, window // 4)
    soft = min(settings.soft_threshold_tokens, (window - reserve) // 2)
    return max(0, window - reserve - soft)


def step(state: FlushState, event: Event, settings: FlushSettings) -> tuple[FlushState, Decision]:
    """The state after ``event``, and what is to be done."""
    match event:
        case TurnStarting():
            answered = _turn(state, event, settings)
        case CompactionDue():
            answered = _compaction(state, event, settings)
        case FlushDone():
            answered = _done(state, event)
        case FlushFailed():
            answered = _failed(state, event)
        case Compacted():
            answered = _compacted(state, event, settings)
        case Saved():
            answered = _answer(state.replace(saved=event.mark), state.reason)
        case SaveFailed():
            reason = f"the marker is not saved: {event.reason}"
            answered = _answer(state, reason, unsaved=True)
    return answered


DISABLED = "memoryFlush.enabled is false"
NOT_WRITABLE = "memory.write.enabled is false: agents may not write"
CLI_BACKEND = "the model is a program that compacts its own context: archive its sessions instead"
READ_ONLY = "the session may not write to the workspace"
HEARTBEAT = "a heartbeat flushes nothing; the next turn of a person does"


def skipped(situation: Situation, settings: FlushSettings) -> str:
    """Why nothing may be flushed in ``situation``; ``""`` if it may be."""
    if reason := _excuse(situation, settings):
        return reason
    return HEARTBEAT if situation.heartbeat else ""


def _excuse(situation: Situation, settings: FlushSettings) -> str:
    """Why the cycle need not be flushed, not even later."""
    if not settings.enabled:
        return DISABLED
    if not situation.writable:
        return NOT_WRITABLE
    if situation.cli_backend:
        return CLI_BACKEND
    return READ_ONLY if situation.workspace != "rw" else ""


def _turn(
    state: FlushState, event: TurnStarting, settings: FlushSettings
) -> tuple[FlushState, Decision]:
    size = event.transcript_bytes
    if size is not None:
        state = state.replace(grown_to=size)
        if size < state.mark.base:  # another file, or one that was cut
            state = state.replace(mark=state.mark.replace(base=0))
    reason = skipped(event.situation, settings)
    excused = state.excused and bool(_excuse(event.situation, settings))
    state = state.replace(barred=bool(reason), excused=excused)
    if state.running is not None:
        return state, Continue(reason="a flush is running")
    if reason:
        return state, Continue(reason=reason)
    mark = state.mark
    state = state.replace(asked="turn", asked_in=mark.compactions, tries=0)
    if _is_flushed(mark):
        return _answer(state, "this cycle is flushed")
    due, why = _due(event, mark, settings)
    if not due and not mark.owed:
        return _answer(state, why)
    if state.failures >= MOST_FAILURES:
        return _answer(state, f"{state.failures} flushes failed: the next one is at the compaction")
    cycles = (*mark.owed, mark.compactions) if due else mark.owed
    return _begin(state, cycles, due or "owed")


def _due(
    event: TurnStarting, mark: FlushMark, settings: FlushSettings
) -> tuple[Literal["tokens", "bytes"] | None, str]:
    """What makes the flush due, or ``None`` and why it is not."""
    threshold = flush_threshold(event.window, settings)
    limit, size = settings.force_flush_transcript_bytes, event.transcript_bytes
    if event.tokens is not None and threshold and event.tokens >= threshold:
        return "tokens", ""
    if limit and size is not None and size - mark.base >= limit:
        return "bytes", ""
    if event.tokens is None:
        return None, "the number of tokens is not known: the flush waits for the compaction"
    return None, f"{event.tokens} of {threshold} tokens"


def _compaction(
    state: FlushState, event: CompactionDue, settings: FlushSettings
) -> tuple[FlushState, Decision]:
    state = state.replace(barred=bool(skipped(event.situation, settings)))
    if state.running is not None:
        return state, Wait(reason="a flush is running")
    mark = state.mark
    state = state.replace(
        asked="compaction", asked_in=mark.compactions, cause=event.cause, tries=0, excused=False
    )
    if _is_flushed(mark):
        return _answer(state, "flushed")
    if reason := _excuse(event.situation, settings):
        return _answer(state.replace(excused=True), reason)
    if event.situation.heartbeat:
        return _answer(state, HEARTBEAT)
    return _begin(state, (*mark.owed, mark.compactions), event.cause)


def _begin(state: FlushState, cycles: tuple[int, ...], cause: Cause) -> tuple[FlushState, Decision]:
    attempt = state.attempts + 1
    state = state.replace(
        attempts=attempt, tries=state.tries + 1, running=Running(attempt=attempt, cycles=cycles)
    )
    return state, Flush(attempt=attempt, cycles=cycles, cause=cause)


def _done(state: FlushState, event: FlushDone) -> tuple[FlushState, Decision]:
    running = state.running
    if running is None or running.attempt != event.attempt:
        return state, Continue(reason="this flush is over already")
    mark = state.mark
    is_current = running.cycles[-1] == mark.compactions
    mark = mark.replace(
        flushed=max(mark.flushed, running.cycles[-1]),
        flushed_at=event.at,
        owed=tuple(cycle for cycle in mark.owed if cycle not in running.cycles),
        base=state.grown_to if is_current else mark.base,
    )
    return _answer(state.replace(mark=mark, running=None, failures=0), "flushed")


def _failed(state: FlushState, event: FlushFailed) -> tuple[FlushState, Decision]:
    running = state.running
    if running is None or running.attempt != event.attempt:
        return state, Continue(reason="this flush is over already")
    mark = state.mark
    state = state.replace(running=None, failures=state.failures + 1)
    is_wanted = state.asked == "compaction" and state.asked_in == mark.compactions
    if is_wanted and not state.barred and state.tries < TRIES_PER_COMPACTION:
        return _begin(state, (*mark.owed, mark.compactions), state.cause)
    return _answer(state, f"the flush failed: {event.reason}")


def _compacted(
    state: FlushState, event: Compacted, settings: FlushSettings
) -> tuple[FlushState, Decision]:
    mark, running = state.mark, state.running
    cycle = mark.compactions
    is_begun = running is not None and cycle in running.cycles
    is_excused = state.excused or bool(_excuse(event.situation, settings))
    # A flush that runs may fail, or its process die: until it is done, its cycle is owed.
    is_owed = not _is_flushed(mark) and (is_begun or not is_excused)
    owed = (*mark.owed, cycle) if is_owed else mark.owed
    size = state.grown_to if event.transcript_bytes is None else event.transcript_bytes
    mark = mark.replace(compactions=cycle + 1, owed=owed, base=size)
    state = state.replace(mark=mark, failures=0, excused=False, grown_to=size, reason="compacted")
    return state, Save(mark=mark)


def _is_flushed(mark: FlushMark) -> bool:
    return mark.flushed == mark.compactions


def _answer(
    state: FlushState, reason: str, *, unsaved: bool = False
) -> tuple[FlushState, Decision]:
    """Answer what the host asked first; what has changed since is saved before, unless it failed.

    A compaction that took place during its own flush is not granted a second time.
    """
    if state.running is not None:
        return state, Continue(reason="a flush is running")
    if state.mark != state.saved and not unsaved:
        return state.replace(reason=reason), Save(mark=state.mark)
    asked, state = state.asked, state.replace(asked="")
    if asked == "compaction":
        if state.asked_in == state.mark.compactions:
            return state, Compact(reason=reason)
        return state, Continue(reason="the session was compacted meanwhile")
    return state, Continue(reason=reason)
