"""Renders proposed changes as diffs: that of one finding, and one a file of all findings."""

from __future__ import annotations

import difflib
from itertools import takewhile
from typing import TYPE_CHECKING

from commonplace.plugin import split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace_audit.findings import AuditedNote, AuditFinding, NoteEdit

    Change = tuple[int, int, str]  # the characters from the first to before the second become it


def patch_of(findings: Sequence[AuditFinding], notes: Mapping[str, AuditedNote]) -> tuple[str, int]:
    """One patch with the changes of ``findings``, and how many of them it leaves out.

    Of those that change the same text it has the first.
    """
    edits: dict[str, list[NoteEdit]] = {}
    changes: dict[str, list[Change]] = {}
    left_out = 0
    for edit in (finding.edit for finding in findings):
        if edit is None:
            continue
        known = changes.setdefault(edit.path, [])
        change = _change(edit, notes[edit.path].text)
        if change in known:
            continue
        if any(_collide(change, other) for other in known):
            left_out += 1
            continue
        known.append(change)
        edits.setdefault(edit.path, []).append(edit)
    return "".join(diff_of(notes[path], those) for path, those in edits.items()), left_out


def diff_of(note: AuditedNote, edits: Sequence[NoteEdit]) -> str:
    """The ``edits`` of ``note``, no two of the same text, as ``patch -p0`` takes them there."""
    text, start = note.text, note.start or ""
    for first, last, new in sorted((_change(edit, text) for edit in edits), reverse=True):
        text = text[:first] + new + text[last:]
    path, later = f"{note.path}\t" if " " in note.path else note.path, start + text
    into = path
    if any(edit.deletes_note for edit in edits):
        later, into = "", "/dev/null"
    lines = difflib.unified_diff(split_lines(start + note.text), split_lines(later), path, into)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _change(edit: NoteEdit, text: str) -> Change:
    """What ``edit`` changes in ``text``, without what stays of its lines."""
    lines = split_lines(text)
    before, after = "".join(lines[edit.first - 1 : edit.last]), edit.text
    start = sum(map(len, lines[: edit.first - 1]))
    head = _alike(before, after)
    before, after = before[head:], after[head:]
    tail = _alike(before[::-1], after[::-1])
    end = start + head + len(before) - tail
    return start + head, end, after[: len(after) - tail]


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _collide(one: Change, other: Change) -> bool:
    """Whether both change the same characters, or insert at the same one."""
    start, end = max(one[0], other[0]), min(one[1], other[1])
    return start < end or (start == end and (one[0] == one[1] or other[0] == other[1]))
