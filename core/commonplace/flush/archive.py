"""The end of a conversation as a note: its last messages, redacted, in a file of their own."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.errors import CommonplaceError
from commonplace.flush.plan import local_time, spoken, zone_words
from commonplace.model.prompt import fenced
from commonplace.model.tuples import Record
from commonplace.text.query import check_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.config.settings import Settings
    from commonplace.model.receipts import Origin, Receipt
    from commonplace.writing.writer import Writer

MESSAGES = 15
"""Messages that an archive keeps, the last ones."""

NAME_SECONDS = 15.0
"""For the model that names an archive."""

_SHOWN = 2_000  # characters of the conversation that the model is shown
_LONGEST_SLUG = 30
_MOST_NAMES = 100
_HEADING = "## Conversation Summary"
_ALREADY = "it is archived already"
_LEFT_OUT = "(left out: it reads like an order to an agent)"


class WritableMemory(Protocol):
    """What an archive needs of a :class:`~commonplace.Memory`."""

    @property
    def clock(self) -> Callable[[], float]:
        """What gives now, in epoch seconds."""
        ...

    @property
    def settings(self) -> Settings:
        """The configuration."""
        ...

    def writer(self, *, origin: Origin, who: str, allowed: bool | None = None) -> Writer:
        """What changes notes on the word of ``origin``."""
        ...


class Archived(Record):
    """The note that holds a conversation, relative to the workspace, and how many messages.

    ``path`` is ``""`` where nothing was archived, and ``reason`` says why: a conversation without
    messages leaves nothing.
    """

    path: str
    messages: int = 0
    reason: str = ""


def archive_session(  # noqa: PLR0913 - all but two by keyword
    memory: WritableMemory,
    messages: Iterable[Mapping[str, Any]],
    *,
    session_id: str,
    session_key: str = "",
    source: str = "",
    name: Callable[[str], str] | None = None,
    most: int | None = None,
    allowed: bool | None = None,
    began: float = 0,
    clock: Callable[[], float] | None = None,
) -> Archived:
    """Write the last messages of a conversation to ``memory/<day>-<slug>.md``.

    It is ``commonplace/<day>-<slug>.md`` where today's log is there (``Writer.log_path``).

    ``most`` is how many, 15 by default. ``messages`` have ``role`` and ``content``; what user and
    assistant said is kept, apart from commands (a text that begins with ``/``), with secrets
    masked. ``source`` says where it was held. ``name`` is called with a request in words and
    returns a short name for the conversation, within 15 seconds; without it, and where it fails,
    the name is the time. The day and the time are those at which the conversation ``began`` (epoch
    seconds), or now by ``clock`` (the memory's by default) where that is not known, as the user has
    them (``query.timeZone``).

    No file is ever overwritten: where the name is taken, ``-2`` and so on is added. The same
    messages of the same session are not archived twice, whichever ``source`` they come from: where
    its notes end with the first of the messages, only those after them are written.

    A message that reads like an instruction to an agent is left out, with a word why. It is
    written on the word of the session, so that agents must be allowed to write
    (``memory.write.enabled``); ``allowed`` replaces that, where a person asked for this archive.

    Raises :class:`~commonplace.CommonplaceError` where the note cannot be written.
    """
    check_memory(memory)
    patterns = memory.settings.search.redact.patterns
    said = [text for text in spoken(messages) if not _is_command(text)]
    texts = _without_instructions(
        [_one_line(text, patterns) for text in said[-(most or MESSAGES) :]]
    )
    if not texts:
        return Archived(path="", reason="nothing was said")
    writer = memory.writer(origin="session", who="session archive", allowed=allowed)
    why = f"the session {session_id} ended"
    earlier = [
        receipt
        for receipt in writer.journal()
        if receipt.why == why
        and os.path.isfile(os.path.join(memory.settings.workspace, *receipt.path.split("/")))
    ]
    archived = [line for receipt in reversed(earlier) for line in _summary(receipt)]
    new = _not_in(archived, texts)
    if not new:
        return Archived(path=earlier[0].path, messages=len(texts), reason=_ALREADY)
    zone = memory.settings.search.query.time_zone or ""
    moment = local_time(began or (clock or memory.clock)(), zone)
    facts = [("Session Key", session_key), ("Session ID", session_id), ("Source", source)]
    body = "\n".join(
        [
            *(
                f"- **{label}**: {_one_line(value, patterns)[:200]}"
                for label, value in facts
                if value
            ),
            "",
            _HEADING,
            "",
            *new,
            "",
        ]
    )
    title = f"# Session: {moment:%Y-%m-%d %H:%M} ({zone_words(moment, zone)})\n\n"
    slug = _slug(new, name) or f"{moment:%H%M}"
    folder = writer.log_path.rpartition("/")[0]
    stem = f"{folder}/{moment:%Y-%m-%d}-{slug}"
    for number in range(1, _MOST_NAMES + 1):
        path = f"{stem}-{number}.md" if number > 1 else f"{stem}.md"
        try:
            writer.change(path, partial(_new, title + body), why=why)
        except _TakenError:
            continue
        return Archived(path=path, messages=len(new))
    raise CommonplaceError(f"{_MOST_NAMES} notes are called {stem}", hint="rename or move some")


class _TakenError(Exception):
    """There is another note of this name."""


def _new(text: str, data: bytes | None) -> bytes:
    if data is not None:
        raise _TakenError
    return text.encode("utf-8", "replace")


def _summary(receipt: Receipt) -> list[str]:
    """The messages of the note that an earlier archive wrote."""
    return [line for line in receipt.after.text.partition(f"\n{_HEADING}\n")[2].split("\n") if line]


def _not_in(archived: Sequence[str], texts: list[str]) -> list[str]:
    """``texts`` without those of the beginning that ``archived`` ends with.

    A single text says nothing ("yes", "thanks") unless it is all that there is.
    """
    for size in range(min(len(texts), len(archived)), 0, -1):
        if texts[:size] == archived[-size:] and (size > 1 or size == len(texts)):
            return texts[size:]
    return texts


def _is_command(text: str) -> bool:
    return text.partition(": ")[2].lstrip().startswith("/")


def _one_line(text: str, patterns: tuple[str, ...]) -> str:
    """``text`` with secrets masked, in one line that no editor or terminal misreads."""
    from commonplace.text.redaction import redact

    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in whole).split())
    return redact(line, patterns)


def _without_instructions(texts: Sequence[str]) -> list[str]:
    """``texts``, with a word in place of each that reads like an instruction to an agent.

    Two neighbours are read together too: what they say may be split between them.
    """
    from commonplace.writing.screening import instruction_in

    kept: list[str] = []
    for text in texts:
        speaker, _, said = text.partition(": ")
        before = kept[-1] if kept else ""
        suspect = instruction_in(said) or instruction_in(f"{before}\n{text}")
        kept.append(f"{speaker}: {_LEFT_OUT}" if suspect else text)
    return kept


def _slug(texts: Sequence[str], name: Callable[[str], str] | None) -> str:
    """The name that the model gives, as ``[a-z0-9-]``; ``""`` where it gives none in time."""
    if name is None:
        return ""
    from commonplace.resilience.bounded_call import Worker
    from commonplace.resilience.deadline import Deadline

    conversation = "\n".join(texts)[:_SHOWN]
    request = (
        "Name this conversation in one to four English words, in lower case, joined by hyphens. "
        f"Answer with the name alone.\n\n{fenced(conversation, trust='session')}"
    )
    try:
        answer = Worker("archive-name").run(lambda: name(request), Deadline.after(NAME_SECONDS))
    except Exception:  # noqa: BLE001 - a name is not worth losing the archive
        return ""
    words = re.sub(r"[^a-z0-9]+", "-", str(answer).lower()[:200])
    return words.strip("-")[:_LONGEST_SLUG].strip("-")
