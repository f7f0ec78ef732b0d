"""``commonplace sessions``: list and show conversations, and archive one as a note."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    CallerError,
    CommonplaceError,
    PathNotAllowedError,
    PluginUnavailableError,
    SourceContext,
    UsageError,
    columns,
    positive_int,
    reason_of,
)
from commonplace_sessions.finding import (
    first_message,
    messages_in,
    newest,
    sessions,
    wanted_session,
    why_unreadable,
)
from commonplace_sessions.folder import WANTED, folder_of
from commonplace_sessions.transcript import masked

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace import Archived
    from commonplace.plugin import Context, Settings
    from commonplace_sessions.finding import Session
    from commonplace_sessions.folder import Folder

_LISTED = 20
_TITLE = 60
_LONGEST_EVENT = 1 << 20
_HOOK = "pipe the JSON that the program gives its hooks"


class SessionsCommand:
    """Lists conversations with agents, shows one, or archives its end as a note."""

    name = "sessions"
    summary = "List conversations with agents, show one, archive its end as a note"
    examples = (
        "commonplace sessions list",
        "commonplace sessions show 4d1f --last 5",
        "commonplace sessions archive 4d1f",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action",
            choices=("list", "show", "archive"),
            help="list: the newest first; show: what was said, with secrets masked; archive: write "
            "the last messages to memory/<day>-<name>.md",
        )
        parser.add_argument(
            "session",
            metavar="SESSION",
            nargs="?",
            help="show, archive: an id or how it begins, a path as list shows it, or a file",
        )
        parser.add_argument(
            "--last",
            metavar="N",
            type=positive_int,
            help="show: only the last N messages; archive: how many (default: 15); list: how many "
            "conversations (default: 20)",
        )
        parser.add_argument(
            "--hook",
            action="store_true",
            help="archive: take the session from the JSON that Claude Code and Codex give their "
            "hooks on standard input; whatever is wrong is a note, and the exit code is 0",
        )
        vars(parser)["parse_args"] = _lenient_to_hooks(parser.parse_args)

    def run(self, args: Namespace, context: Context) -> int:
        """Run the action."""
        if args.hook:
            if args.action == "archive" and not args.session:
                return _archive_hook(args, context)
            context.note("--hook is for archive, and takes the session from standard input")
            return 0
        if (args.session is None) != (args.action == "list"):
            words = "takes no session" if args.session else "needs a session"
            hint = f"commonplace sessions {args.action}" + (" ID" if args.session is None else "")
            raise UsageError(f"sessions {args.action} {words}", hint=hint)
        return {"list": _list, "show": _show, "archive": _archive}[args.action](args, context)


def _lenient_to_hooks(parse: Callable[..., Namespace]) -> Callable[..., Namespace]:
    """``parse``, but wrong words beside ``--hook`` exit with 0: 2 blocks what the user does."""

    def parse_args(words: Sequence[str]) -> Namespace:
        try:
            return parse(words)
        except UsageError as error:
            if "--hook" not in words:
                raise
            sys.stderr.write(f"commonplace sessions: {error}\n")
            raise SystemExit(0) from None

    return parse_args


def known_folders(settings: Settings) -> Iterator[tuple[str, Folder]]:
    """Where the transcripts of each program are, whether they are searched or not."""
    for id_ in WANTED:
        context = SourceContext(
            workspace=settings.workspace,
            agent=settings.agent,
            state_dirs=settings.openclaw_dirs,
            config=settings.plugin_config(id_),
        )
        try:
            yield id_, folder_of(id_, context)
        except PluginUnavailableError:  # an agent's id that is no folder has no sessions
            continue


def _list(args: Namespace, context: Context) -> int:
    with context.open_memory() as memory:
        found, failures = sessions(known_folders(memory.settings))
    context.notes(failures)
    shown = newest(found, args.last or _LISTED)
    titles = [first_message(one.location, one.program) for one, _ in shown]
    if context.json:
        rows = [
            {
                "id": one.id,
                "program": one.program,
                "path": one.path,
                "changed": one.changed,
                "at": at,
                "size": one.size,
                "title": masked(title)[:200],
            }
            for (one, at), title in zip(shown, titles, strict=True)
        ]
        context.emit({"sessions": rows, "total": len(found)})
        return 0
    ids = Counter(one.id for one in found)
    rows_ = [
        # Of a conversation that was reset there are several files of one id.
        (_minute(at), one.program, one.id if ids[one.id] == 1 else one.path)
        for one, at in shown
    ]
    for line, title in zip(columns(rows_), titles, strict=True):
        text = masked(title)
        context.line(f"{line}  {text[:_TITLE]}{'…' if len(text) > _TITLE else ''}".rstrip())
    if len(found) > len(shown):
        context.note(f"{len(found) - len(shown)} more: --last N shows more")
    elif not found and not failures:
        context.note("no conversations: OpenClaw, Claude Code and Codex keep none on this machine")
    return 0


def _minute(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _show(args: Namespace, context: Context) -> int:
    with context.open_memory() as memory:
        found, failures = sessions(known_folders(memory.settings))
    context.notes(failures)
    session = wanted_session(args.session, found)
    others = [one.path for one in found if one.id == session.id and one.path != session.path]
    if others and args.session not in (session.path, session.location):
        context.note(f"this is {session.path}; of the same id there is also {', '.join(others)}")
    messages, program = _read(session)
    shown = [(one, text) for one in messages if (text := masked(one.text.strip()))]
    shown = shown[-args.last :] if args.last else shown
    if context.json:
        rows = [
            {"role": one.role, "text": text, "line": one.line, "at": one.timestamp / 1000}
            for one, text in shown
        ]
        context.emit({"id": session.id, "program": program, "path": session.path, "messages": rows})
        return 0
    for one, text in shown:
        context.line(f"{one.role.capitalize()}: {text}\n")
    if not shown:
        context.note("nothing was said")
    return 0


def _archive(args: Namespace, context: Context) -> int:
    from commonplace_sessions.archive import archive_transcript

    with context.open_memory() as memory:
        found, failures = sessions(known_folders(memory.settings))
        context.notes(failures)
        session = wanted_session(args.session, found)
        done = archive_transcript(
            memory,
            session.location,
            session_id=session.id,
            program=session.program,
            source="commonplace sessions archive",
            most=args.last,
            allowed=True,
        )
    if done.path and not context.json:
        context.line(done.path)
    _report(done, context)
    return 0 if done.path else 1


def _archive_hook(args: Namespace, context: Context) -> int:
    """Archive the session that the JSON on standard input names; problems are notes."""
    from commonplace import Archived

    try:
        done = _archived(_event(_standard_input()), args, context)
    except CommonplaceError as error:
        done = Archived(path="", reason=reason_of(error))
    except UsageError as error:
        done = Archived(path="", reason=str(error))
    except Exception as error:  # noqa: BLE001 - a hook that fails would stop the program it serves
        done = Archived(path="", reason=f"{type(error).__name__}: {error}")
    _report(done, context)
    return 0


def _report(done: Archived, context: Context) -> None:
    if context.json:
        context.emit({"path": done.path, "messages": done.messages, "reason": done.reason})
    if done.reason:
        context.note(done.reason)


def _archived(event: Mapping[str, Any], args: Namespace, context: Context) -> Archived:
    from commonplace_sessions.archive import archive_transcript

    transcript = event.get("transcript_path")
    if not isinstance(transcript, str) or not transcript:
        raise UsageError("the hook names no transcript", hint=_HOOK)
    words = (event.get("hook_event_name"), event.get("reason") or event.get("trigger"))
    with context.open_memory() as memory:
        return archive_transcript(
            memory,
            transcript,
            session_id=str(event.get("session_id") or ""),
            source=" ".join(word for word in words if isinstance(word, str)),
            most=args.last,
        )


def _standard_input() -> bytes:
    """What is there, to its end: the program that writes must not find the pipe closed."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    data = sys.stdin.buffer.read(_LONGEST_EVENT)
    while sys.stdin.buffer.read(_LONGEST_EVENT):
        pass
    return data


def _event(text: bytes) -> Mapping[str, Any]:
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise UsageError("standard input is no JSON object", hint=_HOOK)
    return event


def _read(session: Session) -> tuple[Any, str]:
    try:
        return messages_in(session.location, session.program)
    except (OSError, PathNotAllowedError) as error:
        raise CallerError(
            f"{session.path} cannot be read: {why_unreadable(error)}",
            hint="name a plain file that you may read",
        ) from error
