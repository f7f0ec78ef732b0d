"""The flushes of one session, for a host that runs it: reports what happens, and gets answers."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from functools import partial
from hashlib import sha256
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol

from commonplace.dirs import write_whole
from commonplace.embedding.requests import estimate_tokens
from commonplace.errors import CallerError, CommonplaceError, reason_of
from commonplace.flush.machine import (
    Compact,
    Compacted,
    CompactionDue,
    Flush,
    FlushDone,
    FlushFailed,
    FlushMark,
    FlushState,
    Save,
    Saved,
    SaveFailed,
    Situation,
    TurnStarting,
    step,
)
from commonplace.flush.plan import flush_plan, parts_of, spoken
from commonplace.flush.runner import FlushReport, FlushTools, run_flush
from commonplace.model.tuples import Record
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.query import check_memory
from commonplace.tools.toolset import MemoryTools, SearchableMemory
from commonplace.writing.notefile import read_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.flush.machine import Decision, Event, Workspace
    from commonplace.flush.runner import Model
    from commonplace.model.receipts import Origin
    from commonplace.model.reports import NoteText
    from commonplace.writing.writer import Writer

FLUSH_SECONDS = 120.0
"""For one attempt of a flush: the reply to the user waits for it."""

_PROMPT_TOKENS = 2_000  # kept free of the conversation, for prompts, tools and their answers
_LEAST_PART = 500


class FlushableMemory(SearchableMemory, Protocol):
    """What a flush needs of a :class:`~commonplace.Memory`."""

    def writer(self, *, origin: Origin, who: str, allowed: bool | None = None) -> Writer:
        """What changes notes on the word of ``origin``."""
        ...


class MemoryNotes:
    """The notes of a memory, for the flush of a chat: it reads what the chat may, and appends."""

    def __init__(self, memory: FlushableMemory, session_key: str) -> None:
        self._tools = MemoryTools(memory, session_key=session_key)
        self._writer = memory.writer(origin="session", who="memory flush")

    @property
    def folder(self) -> str:
        """Where the logs are, relative to the workspace."""
        return self._writer.log_path.rpartition("/")[0]

    def get(self, path: str, *, start: int | None = None, lines: int | None = None) -> NoteText:
        """Lines of a note that the chat may see."""
        return self._tools.read(path, start, lines)

    def append(self, path: str, text: str) -> str:
        """Append ``text`` as a paragraph of its own; raises as ``Writer.change`` does."""
        receipt = self._writer.change(
            path, lambda data: appended(data, path, text), why="before a compaction"
        )
        return "; ".join(receipt.notes) if receipt.id else "It was there already."


def appended(data: bytes | None, path: str, text: str) -> bytes:
    """The note ``data`` with ``text`` at its end, in its own encoding and with its line ends.

    A new note begins with its name as a title. What is there already is not appended again.
    """
    note = read_note(data, path)
    end = note.newline
    block = [f"{line}{end}" for line in text.strip("\n").splitlines()]
    lines = list(note.lines) or [f"# {path.rpartition('/')[2].removesuffix('.md')}{end}"]
    if not lines[-1].endswith("\n"):
        lines[-1] += end
    size = len(block)
    if any(lines[at : at + size] == block for at in range(len(lines))):
        return data or b""
    if lines[-1].strip():
        lines.append(end)
    return note.with_lines([*lines, *block]).data()


class FlushAnswer(Record):
    """What the host is to do. ``compact`` is ``True`` where it may compact now.

    ``reason`` says whether the session was flushed, or why not; ``report`` is the flush, if one
    was tried.
    """

    compact: bool
    reason: str
    report: FlushReport | None = None


class FlushSession:
    """The flushes of the session ``session_key`` of ``memory``, by ``model``.

    ``model`` is called with messages and tools, and returns the message of the assistant, in the
    form of OpenAI's chat completions. ``window`` is the size of its context in tokens; it may be
    changed at any time. ``workspace`` is what the session may do there (``"rw"``, ``"ro"``,
    ``"none"``); ``cli_backend`` says that the model is a program that compacts by itself. ``clock``
    gives now in epoch seconds, by default the memory's does.

    A host calls :meth:`turn_starting` before each turn, :meth:`compacting` on every path to a
    compaction, and :meth:`compacted` after it. What goes wrong is the ``reason`` of the answer;
    they raise only :class:`~commonplace.CallerError`, for messages that are none. Threads may share
    one; two processes must not run the same session at once.
    """

    def __init__(
        self,
        memory: FlushableMemory,
        model: Model,
        *,
        window: int,
        session_key: str = "",
        workspace: Workspace = "rw",
        cli_backend: bool = False,
        seconds: float | None = FLUSH_SECONDS,
        clock: Callable[[], float] | None = None,
    ) -> None:
        check_memory(memory)
        settings = memory.settings
        self.window = window
        self._model = model
        self._settings = settings
        self._notes = MemoryNotes(memory, session_key)
        self._workspace = workspace
        self._cli_backend = cli_backend
        self._seconds = seconds
        self._clock = clock or memory.clock
        self._worker = Worker("flush")
        self._records = FlushRecords(settings.state_dir, settings.agent, session_key)
        self._lock = Lock()
        self._state = FlushState.of(self._records.load())

    @property
    def mark(self) -> FlushMark:
        """What is remembered of the session: its compactions, the last flush, what is owed."""
        return self._state.mark

    @property
    def model(self) -> str:
        """The model that ``memoryFlush.model`` names, ``""`` for the session's own."""
        return self._settings.flush.model or ""

    def turn_starting(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tokens: int | None = None,
        transcript_bytes: int | None = None,
        heartbeat: bool = False,
    ) -> FlushAnswer:
        """Flush the conversation so far if it is due, before a turn starts.

        ``messages`` are those of the next request. ``tokens`` is what it will have; without it
        their number is estimated. ``transcript_bytes`` is the size of the session's file, if it has
        one. ``heartbeat``: the program polls, no person spoke.
        """
        said = _said(messages)
        event = TurnStarting(
            window=self.window,
            tokens=_estimated(messages) if tokens is None else tokens,
            transcript_bytes=transcript_bytes,
            situation=self._situation(heartbeat=heartbeat),
        )
        return self._run(event, said)

    def compacting(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        cause: Literal["threshold", "overflow", "manual"] = "threshold",
        heartbeat: bool = False,
    ) -> FlushAnswer:
        """Flush the conversation before it is compacted; ``compact`` says whether it may be now.

        Call it on every path to a compaction: also where a request has overflowed the window, as
        the conversation is then flushed in parts. Where the flush fails twice, the compaction may
        go on, and the conversation is kept (in the state folder, for its owner alone) until a
        later flush succeeds.
        """
        said = _said(messages)
        event = CompactionDue(cause=cause, situation=self._situation(heartbeat=heartbeat))
        return self._run(event, said)

    def compacted(self, *, transcript_bytes: int | None = None, heartbeat: bool = False) -> None:
        """Count a compaction that took place."""
        situation = self._situation(heartbeat=heartbeat)
        self._run(Compacted(transcript_bytes=transcript_bytes, situation=situation), ())

    def _situation(self, *, heartbeat: bool) -> Situation:
        writable = os.access(self._settings.workspace, os.W_OK)
        return Situation(
            heartbeat=heartbeat,
            cli_backend=self._cli_backend,
            workspace=self._workspace if writable or self._workspace == "none" else "ro",
            writable=self._settings.write.enabled,
        )

    def _run(self, event: Event, said: Sequence[str]) -> FlushAnswer:
        report: FlushReport | None = None
        while True:
            decision = self._step(event)
            match decision:
                case Flush():
                    report = self._flush(decision, said)
                    event = (
                        FlushDone(attempt=decision.attempt, at=self._clock())
                        if report.done
                        else FlushFailed(attempt=decision.attempt, reason=report.reason)
                    )
                case Save():
                    event = self._save(decision.mark)
                case Compact():
                    self._keep(said)
                    return FlushAnswer(compact=True, reason=decision.reason, report=report)
                case _:
                    return FlushAnswer(compact=False, reason=decision.reason, report=report)

    def _step(self, event: Event) -> Decision:
        with self._lock:
            self._state, decision = step(self._state, event, self._settings.flush)
            return decision

    def _flush(self, flush: Flush, said: Sequence[str]) -> FlushReport:
        """Ask the model about all cycles of ``flush``, within the time that it is given."""
        current = self.mark.compactions
        kept = [self._records.kept(cycle) for cycle in flush.cycles if cycle < current]
        texts = [text for cycle in kept for text in cycle]
        if current in flush.cycles or not texts:  # of a compaction that was not announced: its rest
            texts += said
        settings = self._settings
        reserve = min(settings.flush.reserve_tokens_floor, self.window // 4)
        budget = max(_LEAST_PART, self.window - reserve - _PROMPT_TOKENS)
        deadline = NEVER if self._seconds is None else Deadline.after(self._seconds)
        tools: FlushTools | None = None
        try:
            zone = settings.search.query.time_zone or ""
            folder = self._notes.folder
            plan = flush_plan(settings.flush, now=self._clock(), zone=zone, folder=folder)
            tools = FlushTools(plan, self._notes)
            work = partial(run_flush, plan, parts_of(texts, budget), self._model, tools)
            return self._worker.run(work, deadline)
        except CommonplaceError as error:
            reason = reason_of(error) or type(error).__name__
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not end the session
            reason = f"{type(error).__name__}: {error}"
        except BaseException:  # interrupted: it must not count as a flush that runs
            with self._lock:
                self._state = self._state.replace(running=None, asked="")
            raise
        finally:
            if tools is not None:
                tools.close()
        return FlushReport(done=False, reason=reason) if tools is None else tools.report(reason)

    def _save(self, mark: FlushMark) -> Event:
        try:
            self._records.save(mark)
        except OSError as error:
            return SaveFailed(reason=error.strerror or str(error))
        return Saved(mark=mark)

    def _keep(self, said: Sequence[str]) -> None:
        """Keep what is compacted without its flush, unless this session may not write."""
        state = self._state
        if state.mark.flushed != state.mark.compactions and not state.excused:
            with suppress(OSError):  # the transcript still has it
                self._records.keep(state.mark.compactions, said)


def _said(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    try:
        return spoken(messages)
    except (AttributeError, TypeError) as error:
        raise CallerError(
            f"messages must be mappings with role and content: {error}",
            hint="of an object of a client library, take its model_dump()",
        ) from error


def _estimated(messages: Sequence[Mapping[str, Any]]) -> int:
    """The tokens of ``messages``, with tool calls and results; seldom fewer than the true ones."""
    return sum(
        estimate_tokens(json.dumps(dict(message), ensure_ascii=False, default=str))
        for message in messages
    )


_FOLDER = os.path.join("memory", "flush")
"""Below the state folder."""


class FlushRecords:
    """The files of one session, in a private folder below ``state_dir``.

    A mark is one record and replaced whole, so that it is never half saved. What is missing,
    damaged or of another form counts as a session that was never compacted.
    """

    def __init__(self, state_dir: str, agent: str, session_key: str) -> None:
        name = f"{agent}-{sha256(session_key.encode()).hexdigest()[:16]}"
        self._path = os.path.join(state_dir, _FOLDER, name)

    def load(self) -> FlushMark:
        """The mark that was saved last."""
        found = _read(f"{self._path}.json")
        try:
            return FlushMark(
                compactions=index(found["compactions"]),
                flushed=index(found["flushed"]),
                flushed_at=float(found["flushedAt"]),
                owed=tuple(map(index, found["owed"])),
                base=index(found["base"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return FlushMark()

    def save(self, mark: FlushMark) -> None:
        """Save ``mark``, and delete conversations that are owed no more. Raises ``OSError``."""
        record = {
            "compactions": mark.compactions,
            "flushed": mark.flushed,
            "flushedAt": mark.flushed_at,
            "owed": list(mark.owed),
            "base": mark.base,
        }
        write_whole(f"{self._path}.json", json.dumps(record) + "\n")
        for cycle in self._kept_cycles():
            if cycle < mark.compactions and cycle not in mark.owed:
                with suppress(OSError):
                    os.unlink(f"{self._path}.{cycle}.json")

    def keep(self, cycle: int, texts: Sequence[str]) -> None:
        """Keep the conversation of ``cycle``. Raises ``OSError``."""
        write_whole(f"{self._path}.{cycle}.json", json.dumps(list(texts)) + "\n")

    def kept(self, cycle: int) -> list[str]:
        """The conversation of ``cycle``; empty if it is not kept."""
        found = _read(f"{self._path}.{cycle}.json")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    def _kept_cycles(self) -> list[int]:
        folder, own = os.path.split(self._path)
        names: list[str] = []
        with suppress(OSError):  # they are deleted later
            names = os.listdir(folder)
        found = map(re.compile(rf"{re.escape(own)}\.(\d+)\.json").fullmatch, names)
        return [int(match[1]) for match in found if match]


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
