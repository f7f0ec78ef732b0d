"""Conversations on this machine: which there are, what was said in one, and which one is meant."""

from __future__ import annotations

import os
from bisect import insort
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    CallerError,
    NoteNotFoundError,
    PathNotAllowedError,
    file_stamp,
    open_below,
)
from commonplace_sessions.folder import WANTED, is_archived, scan_folder
from commonplace_sessions.readers import READERS
from commonplace_sessions.transcript import Lines, pieces_of, records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace_sessions.folder import Folder
    from commonplace_sessions.readers import Message


_TAIL = 1 << 17
"""Bytes of the end of a transcript that are read first."""

_LAST = 1 << 15
"""Bytes of the end that are read for the time of the last message."""

_LINE_BY_LINE = ("claude-code", "codex")
"""Formats of which a reader may start anywhere. One of OpenClaw's may be of its own dreaming, which
stands at its beginning."""


class Session(NamedTuple):
    """One transcript: ``program`` is the source that reads it, ``changed`` epoch seconds.

    ``path`` is as in hits (``codex/2026/...``), or absolute for one outside of the known folders;
    ``location`` is the file itself.
    """

    id: str
    program: str
    path: str
    location: str
    changed: float
    size: int


def session_id_of(name: str) -> str:
    """The id in the name of a transcript: ``<id>.jsonl``, ``rollout-<time>-<id>.jsonl``.

    That of an archived one (``<id>.jsonl.reset.<time>``) and of a topic (``<id>-topic-...``) is
    that of its session.
    """
    stem = name.partition(".jsonl")[0]
    if stem.startswith("rollout-"):
        return stem[-36:] if len(stem) >= 36 else stem
    return stem.partition("-topic-")[0]


def sessions(folders: Iterable[tuple[str, Folder]]) -> tuple[list[Session], list[str]]:
    """The transcripts in the ``folders`` of programs, the newest first, and why some are missing.

    A folder that is not there is no failure, unless it is configured.
    """
    found, failures = [], []
    for program, folder in folders:
        report = scan_folder(folder, program, WANTED[program])
        failures += [failure.reason for failure in report.failed_roots]
        for ref in report.documents:
            name = ref.path.rpartition("/")[2]
            file = file_stamp(ref.stamp)
            size, changed = (file.size, file.mtime_ns / 1e9) if file is not None else (0, 0.0)
            found.append(
                Session(session_id_of(name), program, ref.path, ref.location, changed, size)
            )
    return sorted(found, key=lambda one: (-one.changed, one.path)), failures


def wanted_session(given: str, known: Iterable[Session]) -> Session:
    """The session that ``given`` names: its id or how the id begins, its path, or a file.

    Raises :class:`~commonplace.plugin.NoteNotFoundError` for none, and
    :class:`~commonplace.plugin.CallerError` where it may be one of several sessions.
    """
    known = list(known)
    if not given.strip():
        raise CallerError("the session has no name", hint="commonplace sessions list")
    matching = [one for one in known if given in (one.path, one.location, one.id)]
    matching = matching or [one for one in known if one.id.startswith(given)]
    ids = {one.id for one in matching}
    if len(ids) > 1:
        names = ", ".join(sorted(ids)[:4])
        raise CallerError(f"{given!r} may be {names}", hint="give more of the id, or the path")
    if matching:
        in_use = [one for one in matching if not is_archived(one.path)]
        return (in_use or matching)[0]
    location = os.path.abspath(os.path.expanduser(given))
    with suppress(OSError):
        found = os.stat(location)
        return Session(
            session_id_of(os.path.basename(location)),
            "",
            location,
            location,
            found.st_mtime,
            found.st_size,
        )
    raise NoteNotFoundError(
        f"there is no session {given!r}", hint="commonplace sessions list shows them"
    )


def messages_in(location: str, program: str = "") -> tuple[list[Message], str]:
    """The messages of the transcript at ``location`` and the program whose format it has.

    Without ``program`` each format is tried. Links are not followed. Raises ``OSError`` and
    :class:`~commonplace.plugin.PathNotAllowedError` for a file that cannot be read.
    """
    for id_ in (program,) if program in READERS else tuple(READERS):
        found = list(_messages(location, id_))
        if found:
            return found, id_
    return [], program


def why_unreadable(error: Exception) -> str:
    """Why the file of a transcript cannot be read, from what :func:`messages_in` raised."""
    if isinstance(error, PathNotAllowedError):
        return "it is a link, or no plain file"
    return getattr(error, "strerror", "") or str(error)


def last_messages(location: str, program: str, most: int) -> list[Message]:
    """The last ``most`` messages of a transcript, or a few more; their lines are not those of it.

    It is read from its end where its format allows that: a hook has no time to read a session of
    many megabytes. Otherwise as :func:`messages_in`.
    """
    readers = [id_ for id_ in _LINE_BY_LINE if program in ("", id_)]
    folder, name = os.path.split(location)
    opened = open_below(folder, [name])
    try:
        tail, size = _TAIL, os.fstat(opened).st_size
        while readers and tail < size:
            for id_ in readers:
                os.lseek(opened, size - tail, os.SEEK_SET)
                found = list(READERS[id_](records(Lines(pieces_of(opened)))))
                if len(found) > most:  # the first may be the rest of a line, by chance
                    return found[1:]
            tail *= 8
    finally:
        os.close(opened)
    return messages_in(location, program)[0]


def first_message(location: str, program: str) -> str:
    """What the user said first, in one line; ``""`` if that cannot be read."""
    with suppress(OSError, CallerError):
        for message in islice(_messages(location, program), 20):
            text = " ".join(message.text.split())
            if message.role == "user" and text and not text.startswith("/"):
                return text
    return ""


def began_at(location: str, program: str) -> float:
    """When the first message with a time was said, in epoch seconds; 0 if none has one."""
    for id_ in (program,) if program in READERS else tuple(READERS):
        with suppress(OSError, CallerError):
            for message in islice(_messages(location, id_), 100):
                if message.timestamp:
                    return message.timestamp / 1000
    return 0


def last_said(location: str, program: str) -> float:
    """When the last message was said, in epoch seconds; 0 if the file's end does not say it."""
    folder, name = os.path.split(location)
    with suppress(OSError, CallerError):
        opened = open_below(folder, [name])
        try:
            os.lseek(opened, max(0, os.fstat(opened).st_size - _LAST), os.SEEK_SET)
            found = READERS[program](records(Lines(pieces_of(opened))))
            return max((message.timestamp for message in found), default=0) / 1000
        finally:
            os.close(opened)
    return 0


def newest(found: Sequence[Session], most: int) -> list[tuple[Session, float]]:
    """The ``most`` of ``found`` in which something was said last, and when.

    Where the messages have no times, that is when the file changed, by which ``found`` is ordered.
    A file changes no earlier than its last message is said: most files need not be read.
    """
    dated: list[tuple[Session, float]] = []
    for one in found:
        if len(dated) >= most and dated[most - 1][1] >= one.changed:
            break
        at = last_said(one.location, one.program) or one.changed
        insort(dated, (one, at), key=lambda pair: -pair[1])
    return dated[:most]


def _messages(location: str, program: str) -> Iterator[Message]:
    folder, name = os.path.split(location)
    opened = open_below(folder, [name])
    try:
        yield from READERS[program](records(Lines(pieces_of(opened))))
    finally:
        os.close(opened)
