"""Finds dates that have passed, dates that no reader can resolve, secrets, and large notes."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from commonplace.plugin import looks_random, plain_line, prose_lines, redact
from commonplace_audit.findings import AuditFinding, masked_lines, quoted, replaced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from commonplace_audit.findings import AuditedNote, Severity

LARGEST = 100_000
"""Characters of a note that is not too large: about 50 pages."""

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
_DATE = (
    rf"(?:(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?!\d)|(?P<d1>\d{{1,2}})\.?\s+(?P<m1>{_MONTH})\s+"
    rf"(?P<y1>\d{{4}})|(?P<m2>{_MONTH})\s+(?P<d2>\d{{1,2}}),?\s+(?P<y2>\d{{4}}))"
)
_DUE = re.compile(
    r"(?:\b(?P<end>by|until|till|before|due(?:\s+(?:on|by|date))?|deadline(?:\s+(?:is|of))?|"
    r"expires?(?:\s+on)?|(?:valid|runs|lasts|good)\s+(?:until|till|through|to))|📅|due::)"
    rf"[\s:]*(?:the\s+)?{_DATE}",
    re.IGNORECASE,
)
_OPEN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]|\b(?:TODO|FIXME)\b")
_DONE = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]|~~|\bdone\b", re.IGNORECASE)
_LASTS = re.compile(
    r"\b(?:expires?|valid|runs|lasts|good|deadline|due)\b|\b(?:until|till)\b", re.IGNORECASE
)
_RELATIVE = re.compile(
    r"\b(?:(?P<day>tomorrow|yesterday|tonight|today)(?!['’]s)|"
    r"(?:next|last|this|coming)\s+(?:week|weekend|month|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|sunday))\b",
    re.IGNORECASE,
)
_AWAY = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_SOURCE_DAY = re.compile(r"\(Source: [^()]*?(\d{4}-\d{2}-\d{2})[^()]*\)\s*$")
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")


def stale_dates(note: AuditedNote, today: date) -> Iterator[AuditFinding]:
    """What was to be done or to last until a day that has passed, and relative dates.

    Of a dated note only open tasks count: the rest says what was true on its day.
    """
    for number, line in prose_lines(note.text):
        if _DONE.search(line) or line.lstrip().startswith((">", "|")):
            continue
        at = f"{note.path}#L{number}"
        open_task = _OPEN.search(line) is not None
        due = _due_of(line, note.day) if open_task else None
        found = _DUE.search(line)
        end = date_of(found) if found else due
        if end is not None and end < today and (open_task or _lasts(line, note)):
            what = "open task" if open_task else "statement"
            yield AuditFinding(
                "stale",
                "warning",
                at,
                f"{what} of {end}, which has passed: {quoted(plain_line(line))}",
                f"commonplace forget {at}, or commonplace correct {at} with what holds now",
            )
        elif not note.day and not line.lstrip().startswith("#"):
            yield from _relative(note, number, line, at)


def date_of(found: re.Match[str]) -> date | None:
    """The day that a match names; ``None`` for one that no calendar has."""
    try:
        if found["iso"]:
            return date.fromisoformat(found["iso"])
        month = (found["m1"] or found["m2"]).lower()
        number = _MONTHS.index(month) + 1
        return date(int(found["y1"] or found["y2"]), number, int(found["d1"] or found["d2"]))
    except ValueError:
        return None


def secrets(note: AuditedNote) -> Iterator[AuditFinding]:
    """The lines that hold what looks like a secret; the secret itself is never shown."""
    if redact(note.text) == note.text:
        return
    hint = "revoke it, keep it in a password manager, and delete it here: commonplace forget "
    lines, shown = note.text.split("\n"), masked_lines(note.text)
    found = False
    severity: Severity
    for number, (line, hidden) in enumerate(zip(lines, shown, strict=True), 1):
        if "-----BEGIN " in line and "PRIVATE KEY" in line:
            severity, what = "problem", "a private key begins here"
        elif hidden != line:
            severity, what = _secrecy(line, hidden), quoted(hidden)
        else:
            continue
        found = True
        at = f"{note.path}#L{number}"
        yield AuditFinding("secret", severity, at, f"looks like a secret: {what}", hint + at)
    if not found:  # only its lines together look like one
        text = "some of its lines together look like a secret"
        yield AuditFinding("secret", "problem", note.path, text, hint + note.path)


def oversized(
    notes: Sequence[AuditedNote], *, cut: Collection[str], largest: int
) -> Iterator[AuditFinding]:
    """Notes of more than ``largest`` characters, and those in ``cut``, which agents see in part."""
    for note in notes:
        if len(note.text) > largest:
            yield AuditFinding(
                "oversized",
                "warning",
                note.path,
                f"{len(note.text):,} characters in one note (at most {largest:,} are well)",
                "split it by subject or by month, with a note that links to the parts",
            )
        elif note.path in cut:
            yield AuditFinding(
                "oversized",
                "info",
                note.path,
                f"agents are shown only the beginning of its {len(note.text):,} characters when a "
                "session starts",
                "keep in it what always counts, or raise limits.maxInjectedChars",
            )


def _secrecy(line: str, masked: str) -> Severity:
    """``problem`` if what is masked looks random, ``info`` if it may be a word or an example."""
    shown = set(masked.split())
    hidden = (word.strip("`'\"“”.,;()[]{}<>") for word in line.split() if word not in shown)
    values = (part for word in hidden for part in re.split(r"[=:]", word))
    return "problem" if any(looks_random(value) for value in values) else "info"


def _lasts(line: str, note: AuditedNote) -> bool:
    return not note.day and _LASTS.search(line) is not None


def _due_of(line: str, day: str) -> date | None:
    """The day by which a task of a log is due that says it in words."""
    found = _RELATIVE.search(line)
    if not day or found is None or not found["day"]:
        return None
    away = _AWAY[found["day"].lower()]
    return date.fromisoformat(day) + timedelta(days=away) if away >= 0 else None


def _relative(note: AuditedNote, number: int, line: str, at: str) -> Iterator[AuditFinding]:
    bare = _CODE.sub("", line)
    found = _RELATIVE.search(bare)
    if found is None or found[0].lower() == "today":  # which often says "nowadays"
        return
    said = _SOURCE_DAY.search(line)
    diff = ""
    if said and found["day"] and line.count(found[0]) == 1 and _calendar(said[1]):
        then = date.fromisoformat(said[1]) + timedelta(days=_AWAY[found["day"].lower()])
        diff = replaced(note, number, line.replace(found[0], f"on {then}"))
    yield AuditFinding(
        "stale",
        "info",
        at,
        f"“{found[0]}” means nothing in a note without a day: {quoted(plain_line(line))}",
        "write the date",
        (),
        diff,
    )


def _calendar(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True
