"""``commonplace init``: write a small configuration, index the notes, and show what to try."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from commonplace.cli.parser import argument, flag
from commonplace.errors import CallerError, WorkspaceError, counted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context
    from commonplace.memory import Memory
    from commonplace.model.plugins import Registration
    from commonplace.model.reports import LeftOut, SyncReport
    from commonplace.protocols.providers import EmbeddingProvider


_WORDS_ALONE = "none"

_OWN_FILE = """\
// How commonplace searches the notes in this folder. It works without this file, too.
// All settings: `commonplace config show`. What names a service or a key stands in
// {user_file}.
{{
  memory: {{
    search: {{
      {extra}
      // notes: {{ text: true }},       // search .txt files, too
      // notes: {{ gitignore: true }},  // leave out what .gitignore files name
      // query: {{ maxResults: 10 }},   // hits of a search; 6 if it is not said
    }},
  }},
}}
"""
_WHOLE = """\
// Every note in this folder is searched. So it stays with this line when an agent
      // writes MEMORY.md or memory/, which would otherwise be all that is searched.
      extraPaths: ["."],"""
_MEMORY = """\
// MEMORY.md and memory/ are searched; this would be every other note in this folder:
      // extraPaths: ["."],"""

_USER_FILE = """\
// The configuration of commonplace for all of your agents. It works without this file, too.
// All settings: `commonplace config show`.
{{
  agents: {{
    defaults: {{
      {workspace}  // searched wherever you are
      memorySearch: {{
        {provider}
      }},
    }},
  }},
}}
"""


class _File(NamedTuple):
    """A file to write; ``exists`` tells that it is there, and is left as it is."""

    path: str
    text: str
    exists: bool


class InitCommand:
    """Writes ``commonplace.json5`` or the user's own file; neither is needed, or overwritten."""

    name = "init"
    summary = "Set up a folder of notes: write a small configuration, index, show what to try"
    examples = ("commonplace init ~/notes", "commonplace init --dry-run", "commonplace init --user")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        about = "folder of the notes (default: that of --workspace, else the current folder)"
        argument(parser, "folder", "DIR", about, nargs="?")
        parser.add_argument(
            "--user",
            action="store_true",
            help="write your own configuration file, which makes DIR the workspace everywhere, "
            "instead of DIR/commonplace.json5",
        )
        flag(parser, "--dry-run", "write and index nothing; show what would be")
        parser.add_argument(
            "-y",
            "--yes",
            action="store_true",
            help="ask nothing; a provider that is set up is sent the notes",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Look, ask, write, index, and say what was done."""
        from commonplace.health.status import left_out_of

        folder = _folder(args.folder or context.workspace)
        with context.open_memory(workspace=folder) as memory:
            found = left_out_of(memory.settings)
            if found.too_wide:
                raise WorkspaceError(
                    f"{folder} is never searched as a whole: it holds your home folder",
                    hint="name a folder in it: commonplace init ~/notes",
                )
            asked = not (args.yes or args.dry_run or context.json) and _is_terminal(context)
            provider = _ask(context, memory) if asked else ""
        files = _files(context, folder, found, provider, user=args.user)
        report = None
        if not args.dry_run:
            for file in files:
                _write(file)
            allowed = args.yes or provider not in ("", _WORDS_ALONE)
            with (
                context.open_memory(workspace=folder, yes=allowed) as memory,
                context.progress() as progress,
            ):
                report = memory.sync(progress=progress)
        if context.json:
            _emit(context, found, files, report)
        else:
            _show(context, found, files, report)
        return 0


def _folder(named: str | None) -> str:
    folder = os.path.abspath(os.path.expanduser(named or os.curdir))
    if not os.path.isdir(folder):
        raise WorkspaceError(
            f"{folder} is not a folder", hint="name the folder that holds your notes"
        )
    return folder


def _is_terminal(context: Context) -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and context.out.isatty()


def _ask(context: Context, memory: Memory) -> str:
    """Ask who makes embeddings; the provider's id, or ``""`` where that is left open."""
    from commonplace.errors import CommonplaceError

    offered: list[tuple[int, str, Registration[EmbeddingProvider]]] = []
    for id_ in memory.host.ids("provider"):
        try:
            registration = memory.host.provider(id_)
        except CommonplaceError:
            continue
        offered.append((registration.priority or 100, id_, registration))
    choices = [(_WORDS_ALONE, "by words alone: nothing to install, nothing leaves this computer")]
    choices += [(id_, _in_words(id_, one)) for _, id_, one in sorted(offered, key=lambda o: o[:2])]
    context.line("commonplace finds notes by their words. A model can also find what is meant in")
    context.line("other words. How do you want to search? (You can change this at any time.)")
    for number, (_, words) in enumerate(choices, 1):
        context.line(f"  {number}  {words}")
    context.out.write(f"1 to {len(choices)}, or Enter to decide later: ")
    context.out.flush()
    answer = sys.stdin.readline().strip()
    ids = {str(number): id_ for number, (id_, _) in enumerate(choices, 1)}
    if answer and answer not in ids and answer not in ids.values():
        raise CallerError(
            f"{answer!r} is none of the choices; nothing was written",
            hint=f"run it again, and type a number from 1 to {len(choices)}",
        )
    context.line()
    return ids.get(answer, answer)


def _in_words(id_: str, registration: Registration[EmbeddingProvider]) -> str:
    credentials = registration.credentials
    if credentials is None or credentials.optional:
        return f"{id_}, on this computer: {registration.summary}"
    key = f"; needs a key in {credentials.env[0]}" if credentials.env else "; needs a key"
    return f"{id_}, a service: it is sent the text of your notes{key}"


def _files(
    context: Context, folder: str, found: LeftOut, provider: str, *, user: bool
) -> list[_File]:
    from json import dumps

    from commonplace.config.paths import WORKSPACE_FILE, user_file

    theirs = user_file(context.env)
    files = []
    if not user:
        path = os.path.join(folder, WORKSPACE_FILE)
        extra = _WHOLE if found.whole else _MEMORY
        text = _OWN_FILE.format(user_file=theirs, extra=extra)
        files.append(_File(path, text, os.path.lexists(path)))
    if user or provider:
        # Only the user's own file may name who is sent the notes.
        chosen = f"provider: {dumps(provider)}," if provider else '// provider: "none",'
        place = f"{'' if user else '// '}workspace: {dumps(folder)},"
        text = _USER_FILE.format(workspace=place, provider=chosen)
        files.append(_File(theirs, text, os.path.lexists(theirs)))
    return files


def _has(path: str, text: str) -> bool:
    """Whether the file at ``path`` is ``text``."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read() == text
    except (OSError, UnicodeDecodeError):
        return False


def _write(file: _File) -> None:
    if file.exists:
        return
    try:
        os.makedirs(os.path.dirname(file.path), exist_ok=True)
        with open(file.path, "x", encoding="utf-8") as stream:
            stream.write(file.text)
    except OSError as error:
        raise CallerError(
            f"{file.path} cannot be written: {error.strerror or error}",
            hint="make its folder writable, or go on without it: no configuration is needed",
        ) from error


def _emit(context: Context, found: LeftOut, files: list[_File], report: SyncReport | None) -> None:
    from commonplace.cli.commands.index import warnings_of
    from commonplace.cli.jsonify import left_out_json, report_json

    context.emit(
        {
            "workspace": found.workspace,
            **left_out_json(found),
            "files": [
                {
                    "path": file.path,
                    "written": report is not None and not file.exists,
                    "existed": file.exists,
                    "text": file.text,
                }
                for file in files
            ],
            "index": report_json(report, warnings_of(report)) if report is not None else None,
        }
    )


def _show(context: Context, found: LeftOut, files: list[_File], report: SyncReport | None) -> None:
    style = context.style
    context.line(f"Found {counted(found.searched, 'note')} in {style.path(found.workspace)}.")
    searched = found.sentences() if found.searched else found.nothing_found()
    context.lines(f"  {line}" for line in searched)
    for file in files:
        if file.exists:
            kept = f"Kept {style.path(file.path)} as it is."
            if _has(file.path, file.text):
                context.line(kept)
                continue
            context.line(f"{kept} New, it would be:")
        else:
            done = "Would write" if report is None else "Wrote"
            context.line(f"{done} {style.path(file.path)}:")
        context.line(style.faint("  " + file.text.rstrip().replace("\n", "\n  ")))
    if report is None:
        return
    from commonplace.cli.commands.index import summary_of, warnings_of

    context.lines(f"Indexed {line}" for line in summary_of(report))
    context.notes(warnings_of(report) if found.searched else ())
    is_here = os.path.samefile(found.workspace, os.curdir)
    place = "" if is_here or _is_everywhere(files) else _option(found)
    context.line()
    context.line("Try next:")
    for words in (
        f'search{place} "what did I write about ..."',
        f"search{place} --help",
        f"status{place}",
    ):
        context.line(f"  commonplace {words}")


def _is_everywhere(files: list[_File]) -> bool:
    """Whether the user's own file has just made this folder the workspace."""
    return any("\n      workspace:" in file.text and not file.exists for file in files)


def _option(found: LeftOut) -> str:
    from shlex import quote

    return f" --workspace {quote(found.workspace)}"
