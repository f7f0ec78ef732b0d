"""Changes as people review them: a preview as a diff, a digest of what was shown, then the change.

All go through ``Memory.writer``. A change is made only if its preview is still the one that was
shown; proposals of other commands are asked for, and applied, through these commands.
"""

from __future__ import annotations

import difflib
import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from commonplace import CallerError, CommonplaceError, Receipt, WriteRefusedError
from commonplace.plugin import NamedTuple, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace import Memory, Writer

WHO = "commonplace browse"
_AROUND = 2
"""Unchanged lines that a preview shows above and below."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
ACTIONS = ("correct", "supersede", "forget", "remember", "undo")


class DiffLine(NamedTuple):
    """A line of a diff: ``kind`` is ``add``, ``del`` or ``same``; ``number`` counts from 1."""

    kind: str
    number: int
    html: Markup


class Preview(NamedTuple):
    """A change that is not made yet; ``digest`` stands for exactly what is shown."""

    receipt: Receipt
    diff: tuple[DiffLine, ...]
    digest: str
    fields: tuple[tuple[str, str], ...]


def writer_of(memory: Memory) -> Writer:
    """The writer of the person at the browser."""
    return memory.writer(origin="owner", who=WHO)


def preview(memory: Memory, fields: Mapping[str, str]) -> Preview:
    """What the form ``fields`` would change: ``action``, ``at``, ``was``, ``new``, ``why``.

    Raises as :class:`~commonplace.Writer` does, and :class:`~commonplace.CallerError` for fields
    that no form of ours has.
    """
    receipt = _run(writer_of(memory).preview(), fields)
    if receipt.before.text == receipt.after.text:
        raise CallerError("nothing would change", hint="edit the text, or choose another change")
    try:
        lines = split_lines(memory.get(receipt.path).text)
    except CommonplaceError:
        lines = []
    kept = ("action", "at", "was", "new", "why", "kind")
    return Preview(
        receipt,
        tuple(diff_of(receipt, lines)),
        digest_of(receipt),
        tuple((name, fields[name]) for name in kept if name in fields),
    )


def apply(memory: Memory, fields: Mapping[str, str]) -> Receipt:
    """Make the change of which ``fields["digest"]`` was shown.

    Raises :class:`~commonplace.WriteRefusedError` if it would be another one now.
    """
    if preview(memory, fields).digest != fields.get("digest", ""):
        raise WriteRefusedError(
            "the note has changed since this change was shown; nothing is written",
            kind="changed",
            hint="look at the note again",
        )
    return _run(writer_of(memory), fields)


def digest_of(receipt: Receipt) -> str:
    """A digest of what a change does to which lines."""
    parts = (receipt.path, str(receipt.before.start), receipt.before.text, receipt.after.text)
    text = "\0".join((*parts, str(receipt.deleted)))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def diff_of(receipt: Receipt, lines: Sequence[str] = ()) -> Iterable[DiffLine]:
    """The changed lines of ``receipt``; ``lines``, of the note before it, give what is around."""
    before, after = split_lines(receipt.before.text), split_lines(receipt.after.text)
    first = receipt.before.start
    above = max(0, first - 1 - _AROUND)
    for number, line in enumerate(lines[above : first - 1], above + 1):
        yield DiffLine("same", number, _shown(line))
    yield from _changed(before, after, first, receipt.after.start)
    below = receipt.before.end
    shift = len(after) - len(before)
    for number, line in enumerate(lines[below : below + _AROUND], below + 1 + shift):
        yield DiffLine("same", number, _shown(line))


def diff_of_text(unified: str) -> list[DiffLine]:
    """The lines of a unified diff, such as another command gives."""
    found: list[DiffLine] = []
    old = new = 0
    for line in unified.split("\n"):
        if (hunk := _HUNK.match(line)) is not None:
            old, new = int(hunk[1]), int(hunk[2])
        elif old + new == 0 or line.startswith("\\"):
            continue
        elif line.startswith("+"):
            found.append(DiffLine("add", new, _shown(line[1:])))
            new += 1
        elif line.startswith("-"):
            found.append(DiffLine("del", old, _shown(line[1:])))
            old += 1
        else:
            found.append(DiffLine("same", new, _shown(line[1:])))
            old, new = old + 1, new + 1
    return found


def propose(run: Callable[..., dict[str, Any]], only: str = "") -> dict[str, Any]:
    """The proposal of ``dream`` as its JSON, of the steps ``only`` (``1,3``) or of all.

    Raises what the command raises.
    """
    if only and not re.fullmatch(r"[0-9]+(,[0-9]+)*", only):
        raise CallerError("the steps are not numbers", hint="choose them on the page")
    return run("dream", *(("--only", only) if only else ()))


def accept(run: Callable[..., dict[str, Any]], only: str, digest: str) -> str:
    """Apply the steps ``only`` of the proposal with ``digest``; the id of the receipt.

    Raises what the command raises, so where the proposal has changed since.
    """
    if not re.fullmatch(r"[0-9]+(,[0-9]+)*", only):
        raise CallerError("no step is chosen", hint="choose one on the page")
    answer = run("dream", "--apply", f"--if={digest}", "--only", only)
    return str(answer.get("receipt") or "")


def _run(writer: Writer, fields: Mapping[str, str]) -> Receipt:
    action, at = fields.get("action", ""), fields.get("at", "")
    was, new, why = fields.get("was") or None, fields.get("new", ""), fields.get("why", "")
    if action == "correct":
        return writer.correct(at, new, was=was, why=why)
    if action == "supersede":
        return writer.supersede(at, new, was=was, why=why)
    if action == "forget":
        return writer.forget(at, was=was, why=why)
    if action == "remember":
        lasting = fields.get("kind") == "entry"
        return writer.remember(new, kind="entry" if lasting else "log", why=why)
    if action == "undo":
        return writer.undo(at, why=why)
    raise CallerError(f"there is no change {action!r}", hint=", ".join(ACTIONS))


def _changed(before: Sequence[str], after: Sequence[str], old: int, new: int) -> Iterable[DiffLine]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            for at in range(c, d):
                yield DiffLine("same", new + at, _shown(after[at]))
            continue
        pairs = [_words(before[a + at], after[c + at]) for at in range(min(b - a, d - c))]
        for at in range(a, b):
            html = pairs[at - a][0] if at - a < len(pairs) else _shown(before[at])
            yield DiffLine("del", old + at, html)
        for at in range(c, d):
            html = pairs[at - c][1] if at - c < len(pairs) else _shown(after[at])
            yield DiffLine("add", new + at, html)


def _words(old: str, new: str) -> tuple[Markup, Markup]:
    """Two lines, with the words marked by which they differ."""
    a, b = re.findall(r"\s+|\w+|[^\w\s]", old), re.findall(r"\s+|\w+|[^\w\s]", new)
    if len(a) + len(b) > 2000:
        return _shown(old), _shown(new)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < 0.4:
        return _shown(old), _shown(new)
    left, right = [], []
    for kind, i, j, k, m in matcher.get_opcodes():
        gone, come = _shown("".join(a[i:j])), _shown("".join(b[k:m]))
        same = kind == "equal"
        left.append(gone if same or not gone else Markup("<del>%s</del>") % gone)
        right.append(come if same or not come else Markup("<ins>%s</ins>") % come)
    return Markup("").join(left), Markup("").join(right)


def _shown(line: str) -> Markup:
    plain = line.rstrip("\r\n").encode("utf-8", "replace").decode()
    return escape(plain)
