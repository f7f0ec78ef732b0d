"""What an audit reads and what it reports: a note, a finding, and a proposed change."""

from __future__ import annotations

import re
from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING, Literal

from commonplace.plugin import (
    PEM_BEGIN,
    NamedTuple,
    NoteLine,
    facts,
    note_facts,
    redact,
    split_lines,
)
from commonplace_audit.private_keys import private_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Kind = Literal[
    "secret", "contradiction", "stale", "duplicate", "broken-link", "oversized", "unfound"
]
KINDS: tuple[Kind, ...] = (
    "secret",
    "contradiction",
    "stale",
    "duplicate",
    "broken-link",
    "oversized",
    "unfound",
)
"""In the order in which findings are shown."""

Severity = Literal["problem", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "info")
"""``problem``: act now; ``warning``: an agent may be misled; ``info``: worth a look."""

_WORDS = re.compile(r"[^\s\"'`“”‘’()\[\]<>{}|,;:=#*_]+").findall
_SHOWN = 120  # characters of a line that a sentence quotes
_LINES = re.compile(r"#L(\d+)(?:-L(\d+))?\Z")


class NoteEdit(NamedTuple):
    """A proposed change of one note: its lines ``first`` to ``last`` (1-based) become ``text``.

    ``text`` has the ends of its lines; without any, the lines are deleted. ``deletes_note`` says
    that they are all lines, and the file goes with them.
    """

    path: str
    first: int
    last: int
    text: str = ""
    deletes_note: bool = False


class AuditFinding(NamedTuple):
    """One thing that is wrong, where, and what may be done.

    ``citation`` is where (``path#L3-L9``, or a path), ``others`` are the citations that it is about
    besides. ``text`` is a sentence; ``hint`` says what to do. ``edit`` is the proposed change,
    ``None`` where only a person can tell, and ``diff`` the same as a unified diff, which the audit
    adds. :class:`Masks` takes secrets out of all of it.
    """

    kind: Kind
    severity: Severity
    citation: str
    text: str
    hint: str = ""
    others: tuple[str, ...] = ()
    edit: NoteEdit | None = None
    diff: str = ""


class AuditedNote(NamedTuple):
    """A note as it is audited.

    ``day`` is the day of a dated note (ISO), ``""`` for others. ``location`` is the absolute path
    of its file. ``title`` is what it calls itself, or the name of its file; ``names`` are further
    ones. ``facts`` are the lines that say something by themselves. ``start`` is what stands before
    the text in its file: ``""`` or a byte order mark; ``None`` where that is not UTF-8, so that no
    diff fits it.
    """

    path: str
    text: str
    location: str
    day: str
    title: str
    names: tuple[str, ...]
    facts: tuple[NoteLine, ...]
    start: str | None = ""


def audited(
    path: str, text: str, *, location: str = "", day: str = "", start: str | None = ""
) -> AuditedNote:
    """The note ``path`` with what the checks need to know of it."""
    says = note_facts(text)
    heading = next((line[2:].strip() for line in text.split("\n") if line.startswith("# ")), "")
    title = says.title or heading or stem(path).replace("-", " ").replace("_", " ")
    stated = tuple(facts(path, text, day))
    return AuditedNote(path, text, location, day, title, says.names, stated, start)


def cited_lines(citation: str) -> tuple[str, int, int]:
    """The path of a finding's citation, and its first and last line; 0 for the whole note.

    The path may have a ``#L`` of its own.
    """
    found = _LINES.search(citation)
    if found is None:
        return citation, 0, 0
    return citation[: found.start()], int(found[1]), int(found[2] or found[1])


def stem(path: str) -> str:
    """The name of a file without its folder and its ending."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def quoted(text: str) -> str:
    """``text`` on one line for a sentence, cut, and without secrets, which a cut would disguise."""
    line = redact(" ".join(text.split()))
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"


def argument(word: str) -> str:
    """``word``, such as a citation, as an argument of a command that is copied to a shell.

    It is quoted only where it must be: a ``#`` inside a word begins no comment.
    """
    plain = word.replace("#", "")
    return word if quote(plain) == plain and not word.startswith("#") else quote(word)


class Masks:
    """Takes secrets out of findings on ``notes`` (by path): all that is shown passes through it."""

    def __init__(self, notes: Mapping[str, AuditedNote]) -> None:
        self._notes = notes
        self._masked: dict[str, list[str]] = {}

    def masked(self, finding: AuditFinding) -> AuditFinding:
        """``finding`` without secrets.

        A value that only the words around it make a secret is known by the lines cited. A command
        that would have to hold a secret is no hint, and a change is left out whose diff would show
        one.
        """
        cited = (finding.citation, *finding.others)
        hidden = {word for citation in cited for word in self._hidden(citation)}

        def clean(text: str) -> str:
            for word in sorted(hidden, key=len, reverse=True):
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "***", text)
            return redact(text)

        hint = finding.hint
        if clean(hint) != hint:
            hint = "change it in an editor: a command would have to hold what looks like a secret"
        body = "\n".join(line[1:] for line in finding.diff.splitlines())
        finding = finding._replace(text=clean(finding.text), hint=hint)
        if clean(body) == body and not _holds_key(body):
            return finding
        return finding._replace(edit=None, diff="")

    def _hidden(self, citation: str) -> Iterator[str]:
        """The words of the lines of ``citation`` that are masked in them."""
        path, first, last = cited_lines(citation)
        note = self._notes.get(path)
        if note is None:
            return
        if path not in self._masked:
            self._masked[path] = masked_lines(note.text)
        masked, plain = self._masked[path], note.text.split("\n")
        for at in range(max(first - 1, 0), min(last or len(plain), len(plain))):
            if masked[at] != plain[at]:
                yield from _words(plain[at]) - _words(masked[at])


def _holds_key(text: str) -> bool:
    return bool(private_keys(text.split("\n")))


def _words(line: str) -> Counter[str]:
    return Counter(word for part in _WORDS(line) if (word := part.strip(".!?")))


def masked_lines(text: str) -> list[str]:
    """The lines of ``text`` without secrets."""
    lines = text.split("\n")
    for key in private_keys(lines):
        for at in range(key.first - 1, key.last):
            lines[at] = redact(lines[at]) if PEM_BEGIN.search(lines[at]) else "***"
    masked = redact("\n".join(lines)).split("\n")
    return masked if len(masked) == len(lines) else [redact(line) for line in lines]


def replaced(note: AuditedNote, number: int, line: str) -> NoteEdit:
    """The change that makes ``line`` of the line ``number`` (1-based) of ``note``, with its end."""
    kept = split_lines(note.text)[number - 1]
    return NoteEdit(note.path, number, number, line + kept[len(kept.rstrip("\r\n")) :])
