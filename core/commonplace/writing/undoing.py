"""Taking a change back: finding its lines in the note as it is now."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from commonplace.errors import WriteRefusedError
from commonplace.writing.journal import Journal, digest_of
from commonplace.writing.notefile import (
    WESTERN,
    NoteFile,
    comparable,
    read_note,
    readable,
    split_lines,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.writing.changing import Changer
    from commonplace.writing.journal import History, JournalEntry


_MOST_JOURNALS = 50
"""So many journals, the newest, are looked through for that of a folder that was moved."""


def moved_history(journal: str, workspace: str) -> str:
    """How to bring along the history of ``workspace`` where the folder was moved; ``""``: none is.

    Of the journals beside ``journal`` it is one whose folder is gone, and of which a note here is,
    byte for byte, what its last change made of it. None is named where ``journal`` is there: the
    other one would take its place, and changes made since the move could not be undone any more.
    """
    from shlex import quote

    if os.path.lexists(journal):
        return ""
    for path in _journals_beside(journal):
        folder = _workspace_of(path)
        if not folder or os.path.lexists(folder):
            continue
        latest = {one.receipt.path: one.becomes for one in _entries_of(path, folder)}
        if any(_digest_at(workspace, note) == digest for note, digest in latest.items() if digest):
            return (
                f"changes made while this folder was {folder} are kept under that path; to bring "
                f"them along: mv {quote(path)} {quote(journal)}"
            )
    return ""


def _journals_beside(journal: str) -> list[str]:
    found: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(os.path.dirname(journal)) as entries:
        found += (one for one in entries if one.name.endswith(".jsonl") and one.path != journal)
        found.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    return [one.path for one in found[:_MOST_JOURNALS]]


def _workspace_of(journal: str) -> str:
    """The folder that a journal's first line names; ``""`` where it names none."""
    import json

    with suppress(OSError, ValueError, AttributeError), open(journal, "rb") as file:
        return str(json.loads(file.readline(1 << 16)).get("workspace", ""))
    return ""


def _entries_of(path: str, folder: str) -> Sequence[JournalEntry]:
    with suppress(OSError):
        return Journal(path, folder).entries()
    return ()


def _digest_at(workspace: str, note: str) -> str:
    with suppress(OSError, ValueError), open(os.path.join(workspace, note), "rb") as file:
        return digest_of(file.read())
    return ""


def find_receipt(entries: History, id_: str, changer: Changer | None = None) -> JournalEntry:
    """The entry of this id, of the only id that begins so, or the ``last`` to be undone.

    ``entries`` are those of ``changer``.
    Raises :class:`~commonplace.errors.WriteRefusedError` where there is none, or several, and
    where the last may be one that cannot be read.
    """
    if id_ == "last":
        undoable = (
            entry
            for entry in reversed(entries)
            if not entry.receipt.undoes and entry.receipt.id not in entries.undone
        )
        last = next(undoable, None)
        line = entries.lines[last.receipt.id] if last is not None else 0
        if hidden := [damaged for damaged in entries.damaged if damaged > line]:
            raise WriteRefusedError(
                f"line {hidden[-1]} of the journal cannot be read: the last change may be there",
                kind="undone",
                hint="undo another change by its id: commonplace journal lists them",
            )
        if last is not None:
            return last
        raise WriteRefusedError(
            "there is no change to undo",
            kind="undone",
            hint=(moved_history(changer.journal.path, changer.workspace) if changer else "")
            or "commonplace journal lists all of them",
        )
    found = [entry for entry in entries if id_ and entry.receipt.id.startswith(id_)]
    exact = [entry for entry in found if entry.receipt.id == id_]
    if len(exact or found) != 1:
        count = "several changes begin" if found else "no change has an id that begins"
        raise WriteRefusedError(
            f"{count} with {id_!r}", kind="undone", hint="commonplace journal lists all of them"
        )
    return (exact or found)[0]


def undone_note(entries: History, entry: JournalEntry, base: bytes | None) -> bytes | None:
    """The bytes of the note without the change ``entry``; ``None``: no file.

    ``entries`` are all changes, oldest first. Raises
    :class:`~commonplace.errors.WriteRefusedError` where it was undone, or its lines have changed,
    and where the encoding that the note has now does not fit them.
    """
    receipt = entry.receipt
    if receipt.id in entries.undone:
        raise WriteRefusedError(
            f"the change {receipt.id} is undone already",
            kind="undone",
            hint="to make it once more, undo the change that undid it: commonplace journal",
        )
    if receipt.created and digest_of(base) == entry.becomes:
        return None
    if receipt.deleted:
        if base is not None:
            raise _changed(entry, "there is a file of that name again")
        return _of_digest(NoteFile(tuple(split_lines(receipt.before.text))), entry)
    if base is None:
        raise _changed(entry, "the file is gone")
    note = read_note(base, receipt.path)
    exact = digest_of(base) == entry.becomes
    at = receipt.after.start - 1 if exact else _position(entries, entry, base, note.lines)
    size = receipt.after.end - receipt.after.start + 1
    before = split_lines(receipt.before.text)
    if not (exact or note.is_mixed):
        before = [*map(readable, before)]  # the note may have been converted since
    above, below = [*note.lines[:at]], note.lines[at + size :]
    if before and above and not above[-1].endswith("\n"):
        above[-1] += note.newline  # what was restored must not become part of that line
    if before and below and not before[-1].endswith("\n"):
        before[-1] += note.newline  # it was the last line, and no longer is
    restored = note.with_lines([*above, *before, *below])
    if exact:
        return _of_digest(restored, entry)
    # What cannot be read is restored all the same: no text of it is taken for another.
    return restored.data() if note.encoding else restored.restored()


def made_folders(entries: Sequence[JournalEntry], path: str) -> int:
    """How many of the folders above the note at ``path`` changes made, from the innermost.

    One that an undo may have removed with its last note counts no more: if it is there again, a
    user made it.
    """
    made: set[str] = set()
    notes: set[str] = set()
    holds: Counter[str] = Counter()  # how many of the notes are below a folder
    for entry in entries:
        note = entry.receipt.path
        above = _folders_above(note)
        made.update(above[: entry.folders])
        if entry.becomes and note not in notes:
            notes.add(note)
            holds.update(above)
        elif not entry.becomes:
            if note in notes:
                notes.remove(note)
                holds.subtract(above)
            if entry.receipt.undoes:
                made.difference_update(folder for folder in above if not holds[folder])
    return sum(1 for _ in takewhile(made.__contains__, _folders_above(path)))


def _folders_above(path: str) -> list[str]:
    """``a/b``, ``a`` of ``a/b/c.md``."""
    *above, _ = path.split("/")
    return ["/".join(above[:size]) for size in range(len(above), 0, -1)]


_FORMS = (
    ("utf-8", b""),
    ("utf-8", b"\xef\xbb\xbf"),
    ("utf-16-le", b"\xff\xfe"),
    ("utf-16-be", b"\xfe\xff"),
    ("utf-32-le", b"\xff\xfe\0\0"),
    ("utf-32-be", b"\0\0\xfe\xff"),
    (WESTERN, b""),
    (WESTERN, b"\xef\xbb\xbf"),
)


def _of_digest(note: NoteFile, entry: JournalEntry) -> bytes:
    """The bytes of the note as they were before ``entry``, whatever their encoding was."""
    for form in (note, *(NoteFile(note.lines, encoding, mark) for encoding, mark in _FORMS)):
        with suppress(UnicodeEncodeError):
            data = form.restored()
            if digest_of(data) == entry.was:
                return data
    raise _changed(entry, "its bytes cannot be restored")


def _position(
    entries: Sequence[JournalEntry], entry: JournalEntry, base: bytes, lines: Sequence[str]
) -> int:
    """Where the lines of ``entry`` stand now, counted from 0."""
    receipt = entry.receipt
    wanted = split_lines(comparable(receipt.after.text))
    size = len(wanted)
    known = _by_journal(entries, entry, digest_of(base))
    if known is not None:
        return known
    lines = [*map(comparable, lines)]
    around = (comparable(entry.around[0]), comparable(entry.around[1]))
    fits = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == wanted]
    beside = [at for at in fits if _neighbours(lines, at, size) == around]
    if len(beside) == 1:
        return beside[0]
    if len(fits) == 1 and size:
        return fits[0]
    raise _changed(entry, "its lines have changed since" if not fits else "its place is not clear")


def _neighbours(lines: Sequence[str], at: int, size: int) -> tuple[str, str]:
    last = at + size
    return (lines[at - 1] if at else "", lines[last] if last < len(lines) else "")


def _by_journal(entries: Sequence[JournalEntry], entry: JournalEntry, now: str) -> int | None:
    """The position by the later changes, where the journal has all of them; ``None`` elsewhere."""
    receipt = entry.receipt
    first, size = receipt.after.start - 1, receipt.after.end - receipt.after.start + 1
    state = entry.becomes
    later = entries[[one.receipt.id for one in entries].index(receipt.id) + 1 :]
    for other in later:
        if other.receipt.path != receipt.path:
            continue
        if other.was != state:
            return None
        state = other.becomes
        begin, end = other.receipt.before.start - 1, other.receipt.before.end
        if end <= first:
            first += (other.receipt.after.end - other.receipt.after.start) - (
                other.receipt.before.end - other.receipt.before.start
            )
        elif begin < first + size:
            return None  # it touched the same lines, which may have been restored since
    return first if state == now else None


def _changed(entry: JournalEntry, why: str) -> WriteRefusedError:
    receipt = entry.receipt
    return WriteRefusedError(
        f"the change {receipt.id} of {receipt.path} cannot be undone: {why}; it made "
        f"{readable(receipt.after.text[:400])!r} of {readable(receipt.before.text[:400])!r}",
        kind="changed",
        hint="undo the later changes first, or edit the note by hand: commonplace journal",
    )
