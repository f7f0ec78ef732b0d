"""One audit: reads all notes once, and asks each check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.plugin import ENDINGS, CommonplaceError, NamedTuple, Progress, day_of, decode
from commonplace_audit.contradictions import contradictions, restated
from commonplace_audit.duplicates import duplicates
from commonplace_audit.findings import KINDS, SEVERITIES, AuditFinding, Masks, audited, cited_lines
from commonplace_audit.links import Links
from commonplace_audit.patches import diff_of, patch_of
from commonplace_audit.reach import unfound
from commonplace_audit.staleness import LARGEST, oversized, secrets, stale_dates

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from datetime import date

    from commonplace import Memory
    from commonplace.plugin import ProgressCallback
    from commonplace_audit.findings import AuditedNote, Kind

    _Findings = Iterator[AuditFinding]

_SILENCED = re.compile(r"<!--\s*audit:\s*ignore(?:\s+([\w, -]+?))?\s*-->")


class Audit(NamedTuple):
    """The result: the findings, the number of notes that were read, and those that were not.

    ``unreadable`` are (path, reason). ``silenced`` counts findings on lines that say
    ``<!-- audit: ignore -->``. ``others`` counts notes of extra paths, which are not audited as
    they can be of others. ``patch`` has one diff a file with the changes of all findings, but
    those that change the same text as one before: they are counted in ``left_out``.
    """

    findings: tuple[AuditFinding, ...]
    notes: int
    unreadable: tuple[tuple[str, str], ...] = ()
    silenced: int = 0
    patch: str = ""
    left_out: int = 0
    others: int = 0


def audit(
    memory: Memory,
    *,
    kinds: Collection[Kind] = KINDS,
    largest: int = LARGEST,
    today: date | None = None,
    progress: ProgressCallback = lambda _: None,
) -> Audit:
    """The findings of ``kinds`` in the notes of ``memory``, by kind, severity and citation.

    The same notes, ``today`` (the memory's, if not given) and settings give the same findings. No
    note is changed, and conversations and documents of others are not audited. ``unfound`` searches
    the index, which is updated for it; everything else reads the notes alone. ``largest`` is in
    characters.

    Raises :class:`~commonplace.plugin.UnavailableError` if notes are to be searched for and no
    backend can answer.
    """
    day = today or memory.today
    notes, unreadable, others = read_notes(memory, progress)

    def each(kind: Kind, check: Callable[[AuditedNote], Iterator[AuditFinding]]) -> _Findings:
        for done, note in enumerate(notes):
            progress(Progress(label=_label(kind), completed=done, total=len(notes)))
            yield from check(note)

    def stale() -> _Findings:
        yield from restated(notes)
        yield from each("stale", lambda note: stale_dates(note, day))

    checks: Mapping[Kind, Callable[[], _Findings]] = {
        "secret": lambda: each("secret", secrets),
        "contradiction": lambda: contradictions(notes),
        "stale": stale,
        "duplicate": lambda: duplicates(notes),
        "broken-link": lambda: each("broken-link", Links(notes, memory.settings.workspace).broken),
        "oversized": lambda: oversized(notes, cut=memory.recall().cut, largest=largest),
        "unfound": lambda: unfound(memory, notes, progress),
    }
    asked = [kind for kind in KINDS if kind in kinds]
    found: list[AuditFinding] = []
    for kind in asked:
        progress(Progress(label=_label(kind), completed=0, total=len(notes)))
        found += checks[kind]()
    ordered = sorted(found, key=_order)
    by_path = {note.path: note for note in notes}
    masks = Masks(by_path)
    kept = [
        masks.masked(_with_diff(one, by_path)) for one in ordered if not _is_silenced(one, by_path)
    ]
    silenced = len(found) - len(kept)
    patch, left_out = patch_of(kept, by_path)
    return Audit(
        tuple(kept), len(notes), tuple(unreadable), silenced, patch, left_out, others=others
    )


def read_notes(
    memory: Memory, progress: ProgressCallback
) -> tuple[list[AuditedNote], list[tuple[str, str]], int]:
    """The notes of ``memory``, (path, reason) of those not readable, how many are others'."""
    others = 0
    notes: list[AuditedNote] = []
    unreadable: list[tuple[str, str]] = []
    refs = [ref for ref in memory.notes() if ref.path.endswith(ENDINGS)]
    for done, ref in enumerate(refs):
        progress(Progress(label="Reading notes", completed=done, total=len(refs)))
        try:
            note = memory.get(ref.path)
        except CommonplaceError as error:
            unreadable.append((ref.path, str(error)))
            continue
        if note.trust == "memory":
            day = day_of(ref.path)
            shown = day.isoformat() if day else ""
            text, start = _exact(note.text, ref.location)
            notes.append(audited(ref.path, text, location=ref.location, day=shown, start=start))
        elif note.trust == "external":
            others += 1
    return notes, unreadable, others


def _exact(text: str, location: str) -> tuple[str, str | None]:
    """``text`` with the ends of lines that its file has, and what stands there before it.

    A diff has to meet each byte: it is ``None`` for a file that is not UTF-8.
    """
    try:
        with open(location, "rb") as file:
            data = file.read()
        exact = decode(data)
    except (OSError, ValueError):
        return text, None
    if exact.splitlines() != text.splitlines():  # changed meanwhile
        return text, None
    for start in ("", "\ufeff"):
        if (start + exact).encode("utf-8", "replace") == data:
            return exact, start
    return exact, None


def _with_diff(finding: AuditFinding, notes: Mapping[str, AuditedNote]) -> AuditFinding:
    """``finding`` with its change as a diff; without it, and why, where none fits the file."""
    if finding.edit is None:
        return finding
    note = notes[finding.edit.path]
    if note.start is not None:
        return finding._replace(diff=diff_of(note, [finding.edit]))
    why = "no diff is proposed: the file is not UTF-8, or has just changed"
    return finding._replace(edit=None, hint=f"{finding.hint} ({why})")


def _label(kind: Kind) -> str:
    return f"Looking for findings: {kind}"


def _order(finding: AuditFinding) -> tuple[int, int, str, int, str]:
    path, first, _ = cited_lines(finding.citation)
    rank = SEVERITIES.index(finding.severity)
    return KINDS.index(finding.kind), rank, path, first, finding.text


def _is_silenced(finding: AuditFinding, notes: Mapping[str, AuditedNote]) -> bool:
    path, first, last = cited_lines(finding.citation)
    if path not in notes:
        return False
    lines = notes[path].text.split("\n")
    # A mark in its first line is one of the whole note.
    text = "\n".join(lines[first - 1 : last] if first else lines[:1])
    marks = _SILENCED.finditer(text)
    return any(not mark[1] or finding.kind in re.split(r"[,\s]+", mark[1]) for mark in marks)
