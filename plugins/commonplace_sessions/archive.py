"""Archives a transcript as a note: the file of that session, and of no other."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace import Archived, archive_session
from commonplace.plugin import CallerError
from commonplace_sessions.finding import (
    began_at,
    last_messages,
    session_id_of,
    why_unreadable,
)
from commonplace_sessions.folder import is_archived

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace import Memory


_SPARE = 4  # times as many are read, as commands among them are not archived


def archive_transcript(  # noqa: PLR0913 - all but two by keyword
    memory: Memory,
    transcript: str,
    *,
    session_id: str = "",
    program: str = "",
    session_key: str = "",
    source: str = "",
    name: Callable[[str], str] | None = None,
    most: int | None = None,
    allowed: bool | None = None,
) -> Archived:
    """Archive the last messages of the file ``transcript`` as a note of ``memory``.

    ``session_id`` is the session that ended: a file of another one is refused, and no other is
    looked for, whatever is newer. If the file is gone or holds no messages, since the program has
    just begun a new one in its place, its own archived copies (``<id>.jsonl.reset.<time>``) are
    read, the newest first. Of ``program`` (``sessions``, ``claude-code``, ``codex``) the format
    is; without it each is tried. The note has the day of the session's first message, today where
    no message says its time. The rest is as for :func:`commonplace.archive_session`.

    A hook calls this with what its program gave it::

        with Memory.open(one_shot=True) as memory:
            archive_transcript(memory, event["transcript_path"], session_id=event["session_id"])

    which costs reading the transcript's ends and writing one file: no index is opened. From another
    plugin, or another language, the same is ``commonplace sessions archive --hook`` with the
    event's JSON on standard input, which never ends with an error.
    """
    path = os.path.abspath(os.path.expanduser(transcript))
    own = session_id_of(os.path.basename(path))
    if session_id and own != session_id:
        return Archived(path="", reason=f"the transcript is of the session {own}")
    reason = "there is no transcript"
    for file in (path, *_copies(path, own)):
        try:
            messages = last_messages(file, program, _SPARE * (most or 15))
        except FileNotFoundError:
            continue
        except (OSError, CallerError) as error:
            reason = f"the transcript cannot be read: {why_unreadable(error)}"
            continue
        done = archive_session(
            memory,
            [{"role": one.role, "content": one.text} for one in messages],
            session_id=session_id or own,
            session_key=session_key,
            source=source,
            name=name,
            most=most,
            allowed=allowed,
            began=began_at(file, program),
        )
        if done.path:
            return done
        reason = done.reason
    return Archived(path="", reason=reason)


def _copies(path: str, session_id: str) -> list[str]:
    """The archived transcripts of the session beside ``path``, the newest first."""
    folder = os.path.dirname(path)
    names: list[str] = []
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if is_archived(name)]
    own = [name for name in names if session_id_of(name) == session_id]
    newest = sorted(own, key=lambda name: name.rpartition(".jsonl.")[2].partition(".")[2])
    return [os.path.join(folder, name) for name in reversed(newest)]
