"""Merges the proposed diffs of findings into one patch with one diff a file."""

from __future__ import annotations

import re
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from commonplace.plugin import split_lines
from commonplace_audit.findings import diff_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace_audit.findings import AuditedNote, AuditFinding

    Edit = tuple[int, int, str]  # the characters from the first to before the second become it

_HUNK = re.compile(r"@@ -(\d+)")


def patch_of(findings: Sequence[AuditFinding], notes: Mapping[str, AuditedNote]) -> tuple[str, int]:
    """One patch with the diffs of ``findings``, and how many of them it leaves out.

    Of those that change the same text it has the first.
    """
    edits: dict[str, list[Edit]] = {}
    diffs: dict[str, list[str]] = {}
    left_out = 0
    for finding in findings:
        path = finding.citation.partition("#L")[0]
        if not finding.diff or finding.diff in diffs.setdefault(path, []):
            continue
        before = split_lines(_text_of(notes[path]))
        own = list(_edits(finding.diff, before))
        if any(_collide(one, other) for one in own for other in edits.setdefault(path, [])):
            left_out += 1
            continue
        edits[path] += own
        diffs[path].append(finding.diff)
    merged = (
        those[0] if len(those) == 1 else _merged(notes[path], edits[path])
        for path, those in diffs.items()
        if those
    )
    return "".join(merged), left_out


def _text_of(note: AuditedNote) -> str:
    return (note.start or "") + note.text


def _edits(diff: str, before: Sequence[str]) -> Iterator[Edit]:
    """What ``diff`` changes in a file of the lines ``before``, without what stays of its lines."""
    starts = [0, *accumulate(map(len, before))]
    at = first = 0  # of the lines before: the next one, and the first that is replaced
    added = ""
    lines = [*split_lines(diff)[2:], " "]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        sign = line[0]
        if sign == "-":
            at += 1
        elif sign == "+":
            added += line[1:-1] if following.startswith("\\") else line[1:]
        elif sign != "\\":
            if at > first or added:
                yield _trimmed(starts[first], "".join(before[first:at]), added)
            hunk = _HUNK.match(line)
            at = first = at + 1 if hunk is None else int(hunk[1]) - 1
            added = ""


def _trimmed(start: int, before: str, after: str) -> Edit:
    head = _alike(before, after)
    before, after = before[head:], after[head:]
    tail = _alike(before[::-1], after[::-1])
    end = start + head + len(before) - tail
    return start + head, end, after[: len(after) - tail]


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _collide(one: Edit, other: Edit) -> bool:
    """Whether both change the same characters, or insert at the same one."""
    start, end = max(one[0], other[0]), min(one[1], other[1])
    return start < end or (start == end and (one[0] == one[1] or other[0] == other[1]))


def _merged(note: AuditedNote, edits: Sequence[Edit]) -> str:
    text = _text_of(note)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return diff_of(note, split_lines(text.removeprefix(note.start or "")))
