"""A proposal for MEMORY.md: made of the recalls, shown as a diff, applied as one change."""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from commonplace.plugin import (
    CallerError,
    CommonplaceError,
    NamedTuple,
    NoteNotFoundError,
    decode,
    facts,
    lowest,
    plain_line,
    read_note,
    recall_log,
    split_lines,
)
from commonplace_dream.gates import USUAL, day_of_log, never_recalled, propose, worded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace import Memory, Receipt
    from commonplace.plugin import NoteLine
    from commonplace_dream.gates import Gates, Step

WHO = "commonplace dream"
_TRUSTED = ("owner", "agent")
_NEW = "# Memory\n\n"
_LISTED = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?")


class Dream(NamedTuple):
    """What is proposed for the note ``path``: ``steps``, and lines that are perhaps stale.

    ``recorded`` is the number of different lines that were recalled at all; ``full`` says that the
    log of recalls has reached its size limit.
    """

    path: str
    steps: tuple[Step, ...]
    stale: tuple[NoteLine, ...]
    recorded: int
    full: bool = False


def dream(
    memory: Memory,
    *,
    gates: Gates = USUAL,
    budget: int = 2000,
    wording: Callable[[str], str] | None = None,
) -> Dream:
    """What the daily logs of ``memory`` hold that is worth keeping; nothing is written.

    ``wording`` may reword a line (such as a model's call); what adds a word or a number to the
    line is not taken. Raises :class:`~commonplace.plugin.UnavailableError` where the recalls or
    ``MEMORY.md`` cannot be read.
    """
    writer = memory.writer(origin="owner", who=WHO)
    settings = memory.settings
    log = recall_log(settings.state_dir, settings.workspace)
    recalls = log.read()
    folder = writer.log_path.rpartition("/")[0]
    logs: list[NoteLine] = []
    kept: list[NoteLine] = []
    for ref in memory.notes():
        day = day_of_log(ref.path, folder)
        if day and recalls:
            logs += facts(ref.path, _text(memory, ref.path), day)
        elif ref.path == writer.entry_path:
            with suppress(NoteNotFoundError):  # deleted since it was listed
                kept = facts(ref.path, memory.get(ref.path).text)

    def trusted(line: NoteLine) -> bool:
        cited = _text(memory, line.citation)
        return plain_line(cited) == line.text and writer.origin_of(line.citation) in _TRUSTED

    steps = propose(logs, kept, recalls, trusted=trusted, gates=gates, budget=budget)
    if wording is not None:
        steps = [step._replace(text=worded(step.text, wording(step.text))) for step in steps]
    stale = never_recalled(kept, recalls) if recalls else []
    return Dream(writer.entry_path, tuple(steps), tuple(stale), len(recalls), log.is_full)


def apply(memory: Memory, path: str, steps: Sequence[Step]) -> Receipt:
    """Write ``steps`` to the note ``path`` as one change, which its receipt undoes.

    Raises :class:`~commonplace.plugin.CallerError` without steps, and as ``Writer.change`` does.
    """
    if not steps:
        raise CallerError("there is nothing to apply", hint="commonplace dream shows what there is")
    owner = memory.writer(origin="owner", who=WHO)
    origin = lowest(*(owner.origin_of(step.source.citation) for step in steps))
    # A person applies this, on the word of the author of the lines.
    writer = memory.writer(origin=origin, who=WHO, allowed=True)
    sources = ", ".join(step.source.citation for step in steps)
    return writer.change(path, lambda base: edited(base, path, steps), why=f"kept from {sources}")


def edited(base: bytes | None, path: str, steps: Sequence[Step]) -> bytes:
    """The note with each step: in the place of the line that it replaces, or at the end.

    The other lines keep their bytes, whatever their encoding. Raises
    :class:`~commonplace.plugin.WriteRefusedError` for bytes that are no text.
    """
    note = read_note(base or _NEW.encode(), path)
    try:
        shown = split_lines(decode(base or _NEW.encode()))
    except OSError:
        shown = list(note.lines)
    return note.with_lines(_with_steps(note.lines, shown, steps, note.newline)).data()


def diff_of(memory: Memory, proposal: Dream) -> list[str]:
    """The proposal as a unified diff of the note."""
    before = _text(memory, proposal.path)
    lines = split_lines(before or _NEW)
    after = "".join(_with_steps(lines, lines, proposal.steps, "\n"))
    old, new = _without_ends(before), _without_ends(after)
    return list(difflib.unified_diff(old, new, proposal.path, proposal.path, lineterm="", n=1))


def digest_of(proposal: Dream, diff: Sequence[str]) -> str:
    """A short digest of what a person reviewed: the steps, and what they change in the note."""
    steps = [f"{step.source.citation} {step.text}" for step in proposal.steps]
    text = "\n".join([proposal.path, *steps, *diff])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def _with_steps(
    lines: Sequence[str], shown: Sequence[str], steps: Sequence[Step], end: str
) -> list[str]:
    """``lines`` with each step; ``shown`` are the same lines as a reader sees them."""
    result = list(lines)
    for step in steps:
        line = f"{step.text} (Source: {step.source.citation})"
        at = _position(shown, step.replaces)
        # The last line may have got its end from a step before.
        if at is not None and result[at].removesuffix(end) == lines[at].removesuffix(end):
            found = _LISTED.match(lines[at])
            result[at] = f"{found[0] if found else ''}{line}{end}"
        else:
            if result and not result[-1].endswith("\n"):
                result[-1] += end
            result.append(f"- {line}{end}")
    return result


def _position(lines: Sequence[str], replaced: NoteLine | None) -> int | None:
    """Where the line to be replaced stands now: at its number, or where its text is alone."""
    if replaced is None:
        return None
    found = [at for at, line in enumerate(lines) if plain_line(line) == replaced.text]
    if replaced.number - 1 in found:
        return replaced.number - 1
    return found[0] if len(found) == 1 else None


def _without_ends(text: str) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in split_lines(text)]


def _text(memory: Memory, path: str) -> str:
    try:
        return memory.get(path).text
    except CommonplaceError:
        return ""  # gone or unreadable meanwhile: it holds nothing to keep
