"""Finds dates that have passed, dates that no reader can resolve, secrets, and large notes."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from commonplace.plugin import (
    PEM_BEGIN,
    is_yearly,
    looks_random,
    may_be_seen_from_today,
    plain_line,
    prose_lines,
    redact,
    times_of,
)
from commonplace_audit.findings import AuditFinding, argument, masked_lines, quoted, replaced
from commonplace_audit.past_states import past_lines
from commonplace_audit.private_keys import private_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from commonplace_audit.findings import AuditedNote, Severity

LARGEST = 100_000
"""Characters of a note that is not too large: about 50 pages."""

# Before a date that times_of reads.
_DUE = re.compile(
    r"(?:\b(?:(?P<by>by|before)|(?P<until>until|till)|due(?:\s+(?:on|by|date))?|deadline(?:\s+(?:is|of))?|"
    r"expires?(?:\s+on)?|(?:runs|lasts)\s+(?:until|till|through|to)|"
    r"(?P<held>valid|good)\s+(?:until|till|through|to))|📅|due::)"
    r"[\s:]*(?:the\s+)?",
    re.IGNORECASE,
)
# Before a date by which nothing is due: since when, of when, and the signs of some programs.
_NOT_DUE = re.compile(
    r"(?:\b(?:since|from|as\s+of|created|added|opened|noted|reported(?:\s+on)?|started(?:\s+on)?|"
    r"seit|vom|von|depuis|desde)|\bс|[自从從➕✅🛫❌])[\s:]*\Z",
    re.IGNORECASE,
)
# What names a file, where a date says nothing of the task.
_NAME = re.compile(
    r"\]\([^)]*\)|\[\[[^\]]*\]\]|\(Source:[^()]*\)|[\w./-]*[a-z_~][\w.-]*/[^\s()]*"
    r"|[\w-]+\.(?:md|markdown|txt)\b\S*",
    re.IGNORECASE | re.ASCII,
)
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]")
_OPEN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]|\b(?:TODO|FIXME)\b")
_DONE = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]|~~|\bdone\b", re.IGNORECASE)
# What was so: "built by 2020", where "to be built by 2020" is still to come.
_WAS = re.compile(
    r"(?<!be )(?<!get )\b(?:was|were|had|has|have|did|been|built|made|left|came|went|got|sent|"
    r"paid|took|wrote|grew|rose|fell|sold|bought|\w{2,}ed)\b",
    re.IGNORECASE,
)
# What was so until then, in one clause: "was open until 2024", where "was extended until" and "is
# open until" say what holds.
_WAS_UNTIL = re.compile(
    r"\b(?:was|were|did|lived|worked|stayed|lasted|ran|served|existed|belonged|used\s+to)\b"
    r"(?![^.,;:]*\b(?:is|are|has|have|extended|prolonged|renewed|postponed|delayed|granted|given|"
    r"allowed|approved|booked|reserved|paid)\b)[^.,;:]*\Z",
    re.IGNORECASE,
)
_HAS_TO = re.compile(r"\b(?:has|have)\s+to\b", re.IGNORECASE)
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
# What holds whenever it is read: "every Monday for next week", "by later she means this week".
_RULE = re.compile(
    r"\b(?:every|each|always|usually|normally|never|whenever|means?|jede[nmrs]?|immer|chaque|"
    r"toujours|cada|siempre|sempre|ogni)\b|кажд|всегда|每|总是|毎|いつも|매주|매달|항상",
    re.IGNORECASE,
)
# What came after: "canvas until 2026, SVG since".
_THEN = re.compile(
    r"[^.]*?[,;:][^.,;]*\b(?:after|since|afterwards|from\s+then|seitdem)\b", re.IGNORECASE
)
# Any Wednesday in the middle of a month: weeks, weekends and months about it do not end with it.
_MIDDLE = date(2025, 1, 15)
# A Saturday of another month, half a year and five years away.
_ANOTHER = date(2030, 8, 24)
_FRENCH = re.compile(
    r"\b(?:le|la|les|est|il|elle|je|nous|on|un|une|des|du|a|au|et)\b|[éèêàç]", re.IGNORECASE
)
_SOURCE_DAY = re.compile(r"\(Source: [^()]*?(\d{4}-\d{2}-\d{2})[^()]*\)\s*$")
# In each year that is written out, as in the days of a calendar that no reader's day decides.
_DIGIT = re.compile(r"[\d〇零一二三四五六七八九]")
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")


def stale_dates(note: AuditedNote, today: date) -> Iterator[AuditFinding]:
    """What was to be done or to last until a day that has passed, and relative dates.

    Of a dated note only open tasks count: the rest says what was true on its day. Past
    states that a note lists as such do not count (:func:`past_lines`).
    """
    past = past_lines(note.text) if not note.day else frozenset()
    for number, line in prose_lines(note.text):
        if number in past or _DONE.search(line) or line.lstrip().startswith((">", "|")):
            continue
        at = f"{note.path}#L{number}"
        open_task = _OPEN.search(line) is not None
        end = _end_of(line, note, open_task=open_task)
        if end and end < today.isoformat():
            what, where = "open task" if open_task else "statement", argument(at)
            yield AuditFinding(
                "stale",
                "warning",
                at,
                f"{what} of {end}, which has passed: {quoted(plain_line(line))}",
                f"if it {'is done' if open_task else 'holds no more'}: commonplace forget {where}, "
                f"or commonplace correct {where} with what holds now",
            )
        elif not note.day and not line.lstrip().startswith("#"):
            yield from _relative(note, number, line, at)


def secrets(note: AuditedNote) -> Iterator[AuditFinding]:
    """The lines that hold what looks like a secret, which is masked where it is shown."""
    hint = (
        "revoke it, keep it in a password manager, and delete it here; the journal in the state "
        "folder keeps what is forgotten, so delete that, too: commonplace forget "
    )
    lines = note.text.split("\n")
    keys = private_keys(lines)
    if not (keys or PEM_BEGIN.search(note.text) or _is_masked(note.text)):
        return  # as in most
    shown = masked_lines(note.text)
    for key in keys:
        at = f"{note.path}#L{key.first}" + (f"-L{key.last}" if key.last > key.first else "")
        severity: Severity = "problem" if key.sure else "info"
        what = f"looks like a secret: {key.what}"
        yield AuditFinding("secret", severity, at, what, hint + argument(at))
    of_keys = {number for key in keys for number in range(key.first, key.last + 1)}
    found = bool(keys)
    for number, (line, hidden) in enumerate(zip(lines, shown, strict=True), 1):
        if hidden == line or number in of_keys:
            continue
        found = True
        at = f"{note.path}#L{number}"
        what = f"looks like a secret: {quoted(hidden)}"
        yield AuditFinding("secret", _secrecy(line, hidden), at, what, hint + argument(at))
    if not found and _is_masked(PEM_BEGIN.sub("", note.text)):
        text = "some of its lines together look like a secret"
        yield AuditFinding("secret", "problem", note.path, text, hint + argument(note.path))


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
                f"{len(note.text):,} characters (notes should have at most {largest:,})",
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


def _is_masked(text: str) -> bool:
    return redact(text) != text


def _secrecy(line: str, masked: str) -> Severity:
    """``problem`` if what is masked looks random, ``info`` if it may be a word or an example."""
    shown = set(masked.split())
    hidden = (word.strip("`'\"“”.,;()[]{}<>") for word in line.split() if word not in shown)
    values = (part for word in hidden for part in re.split("[=:＝：]", word))
    return "problem" if any(looks_random(value) for value in values) else "info"


def _end_of(line: str, note: AuditedNote, *, open_task: bool) -> str:
    """The last day (ISO) of what is to be done or to last by what ``line`` says, ``""`` if none."""
    if not open_task and (note.day or not _DUE.search(line)):
        return ""
    bare = _CODE.sub(_blank, _NAME.sub(_blank, line))
    if not (open_task or _has_year_behind(bare)):  # reading all lines would take long
        return ""
    seen = date.fromisoformat(note.day) if note.day else _MIDDLE
    times = times_of(bare, lambda: seen)
    if not note.day and times:  # "until Monday" is another day for each reader
        others = {(time.start, time.days) for time in times_of(bare, lambda: _ANOTHER)}
        times = [time for time in times if (time.start, time.days) in others]
    dated = [time for time in times if not is_yearly(time.days[0]) and not time.seen_from_today]
    for found in _DUE.finditer(bare):
        for time in dated:
            if found.start() <= time.start <= found.end() <= time.end:
                return time.days[1] if open_task or _lasts(bare, found) else ""
    if _BOX.match(line) is None:
        named = []
    else:  # a log is no older than what it says is to be done
        named = [
            first
            for time in dated
            for first, last in [time.days]
            if first == last and first >= note.day and not _NOT_DUE.search(bare[: time.start])
        ]
    if note.day and open_task:
        named += [
            time.days[1]
            for time in times
            if time.seen_from_today
            and time.days[0] >= note.day
            and not bare[: time.end].endswith(("'s", "’s"))  # "today's paper"
        ]
    return max(named, default="")


def _has_year_behind(bare: str) -> bool:
    """Whether a day with its year can follow the first word by which something is due."""
    due = _DUE.search(bare)
    return due is not None and _DIGIT.search(bare, due.start()) is not None


def _lasts(line: str, due: re.Match[str]) -> bool:
    """Whether a line that is no task says what is to come: "built by 2020" does not."""
    if due["until"] and _THEN.match(line, due.end()):
        return False
    if (due["until"] or due["held"]) and _WAS_UNTIL.search(line[: due.start()]):
        return False
    was = _WAS.search(_HAS_TO.sub("", line)) is not None
    return _LASTS.search(line) is not None or (due["by"] is not None and not was)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _relative(note: AuditedNote, number: int, line: str, at: str) -> Iterator[AuditFinding]:
    bare = _CODE.sub("", line)
    if _RULE.search(bare):
        return
    found = _RELATIVE.search(bare)
    if found is None:
        word = _relative_word(bare)
    else:
        word = found[0] if found[0].lower() != "today" else ""  # which often says "nowadays"
    if not word:
        return
    source_day = _SOURCE_DAY.search(line)
    edit = None
    if (
        source_day
        and found
        and found["day"]
        and line.count(found[0]) == 1
        and _calendar(source_day[1])
    ):
        then = date.fromisoformat(source_day[1]) + timedelta(days=_AWAY[found["day"].lower()])
        edit = replaced(note, number, line.replace(found[0], f"on {then}"))
    yield AuditFinding(
        "stale",
        "info",
        at,
        f"“{word}” means nothing in a note without a day: {quoted(plain_line(line))}",
        "write the date",
        (),
        edit,
    )


def _relative_word(line: str) -> str:
    """The first word for a time that only the day of its writing tells, in any language."""
    if not may_be_seen_from_today(line):  # reading all lines would take a minute
        return ""
    for time in times_of(line, lambda: _MIDDLE):
        word = line[time.start : time.end]
        if not time.seen_from_today or time.days[1] == _MIDDLE.isoformat():
            continue  # "today" often says "nowadays", and "the last 30 days" a rule
        if word == "Morgen" and line[: time.start].strip(" -*+#"):
            continue  # the German morning
        if word.lower() == "hier" and not _FRENCH.search(line):
            continue  # the German "here"
        return word
    return ""


def _calendar(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True
