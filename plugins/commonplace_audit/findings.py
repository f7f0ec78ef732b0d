"""What an audit reads and what it reports: a note, a finding, and a proposed change as a diff."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal

from commonplace.plugin import NamedTuple, NoteLine, facts, note_facts, redact, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

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

_SHOWN = 120  # characters of a line that a sentence quotes


class AuditFinding(NamedTuple):
    """One thing that is wrong, where, and what may be done.

    ``citation`` is where (``path#L3-L9``, or a path), ``others`` are the citations that it is about
    besides. ``text`` is a sentence; ``hint`` says what to do. ``diff`` is the proposed change of
    one note as a unified diff, ``""`` where only a person can tell. No text holds a secret.
    """

    kind: Kind
    severity: Severity
    citation: str
    text: str
    hint: str = ""
    others: tuple[str, ...] = ()
    diff: str = ""


class AuditedNote(NamedTuple):
    """A note as it is audited.

    ``day`` is the day of a dated note (ISO), ``""`` for others. ``location`` is the absolute path
    of its file. ``title`` is what it calls itself, or the name of its file; ``names`` are further
    ones. ``facts`` are the lines that say something by themselves.
    """

    path: str
    text: str
    location: str
    day: str
    title: str
    names: tuple[str, ...]
    facts: tuple[NoteLine, ...]


def audited(path: str, text: str, *, location: str = "", day: str = "") -> AuditedNote:
    """The note ``path`` with what the checks need to know of it."""
    says = note_facts(text)
    heading = next((line[2:].strip() for line in text.split("\n") if line.startswith("# ")), "")
    title = says.title or heading or stem(path).replace("-", " ").replace("_", " ")
    return AuditedNote(path, text, location, day, title, says.names, tuple(facts(path, text, day)))


def stem(path: str) -> str:
    """The name of a file without its folder and its ending."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def quoted(text: str) -> str:
    """``text`` on one line for a sentence, cut and without secrets."""
    line = redact(" ".join(text.split()))
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"


def diff_of(note: AuditedNote, after: Sequence[str]) -> str:
    """The change of ``note`` to the lines ``after`` as ``patch -p0`` takes it in the workspace.

    ``""`` where it would show a secret.
    """
    name = f"{note.path}\t" if " " in note.path else note.path
    lines = difflib.unified_diff(split_lines(note.text), list(after), name, name)
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return diff if redact(diff) == diff else ""


def replaced(note: AuditedNote, number: int, line: str) -> str:
    """The diff that makes ``line`` of the line ``number`` (1-based) of ``note``, with its end."""
    lines = split_lines(note.text)
    kept = lines[number - 1]
    end = kept[len(kept.rstrip("\r\n")) :]
    return diff_of(note, [*lines[: number - 1], line + end, *lines[number:]])
