"""``commonplace demo``: try commonplace on sample notes."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from commonplace.cli.commands.search import show_hits
from commonplace.cli.parser import argument, flag
from commonplace.errors import WorkspaceError, counted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from commonplace.cli.context import Context


_RESULTS = 2
_WORKSPACE = "workspace"


class DemoCommand:
    """Indexes a sample workspace in a temporary folder and searches it."""

    name = "demo"
    summary = "Try it on sample notes: copy them to a temporary folder, index them, search them"
    examples = ("commonplace demo", "commonplace demo --keep", "commonplace demo --into ./demo")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        about = "use this new or empty folder instead of a temporary one, and keep it"
        argument(parser, "--into", "DIR", about)
        flag(parser, "--keep", "keep the temporary folder, to try more searches")

    def run(self, args: Namespace, context: Context) -> int:
        """Copy, index, search three times, and print what to try next."""
        if args.into is not None:
            return self._run(context, _empty_folder(args.into), kept=True)
        context.style.links = context.style.links and args.keep  # to files that are deleted
        with _temporary_folder(keep=args.keep) as folder:
            return self._run(context, folder, kept=args.keep)

    def _run(self, context: Context, folder: str, *, kept: bool) -> int:
        from commonplace.sample import SEARCHES, copy_workspace

        workspace = os.path.join(folder, _WORKSPACE)
        notes = copy_workspace(workspace)
        config = _write_config(folder, workspace)
        with context.open_memory(workspace=workspace, config=config) as memory:
            with context.progress() as progress:
                report = memory.sync(progress=progress)
            found = [(query, memory.search(query, max_results=_RESULTS)) for query in SEARCHES]
        if context.json:
            from commonplace.cli.commands.index import warnings_of
            from commonplace.cli.jsonify import report_json, result_json

            index = report_json(report, warnings_of(report))
            hits = [{"query": query, **result_json(one, explain=False)} for query, one in found]
            facts = {"folder": folder, "config": config, "kept": kept, "index": index}
            context.emit({**facts, "searches": hits})
            return 0
        style = context.style
        context.line(
            f"Copied {counted(notes, 'note')} to {style.path(workspace)} "
            f"and indexed them in {report.seconds:.2f} s."
        )
        context.line()
        for query, result in found:
            context.line(style.strong(f"commonplace search {_quoted(query)}"))
            context.line()
            show_hits(result, context)
        _what_next(context, folder, config, kept=kept)
        return 0


@contextmanager
def _temporary_folder(*, keep: bool) -> Iterator[str]:
    """A new folder, deleted at the end, be it Ctrl-C or the end of the terminal."""
    import shutil
    import signal
    from tempfile import mkdtemp

    folder = mkdtemp(prefix="commonplace-demo-")
    if keep:
        yield folder
        return
    with _handled_signals():
        try:
            yield folder
        finally:
            with suppress(ValueError):  # on another thread, which gets no signals
                # A second Ctrl-C leaves nothing either.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _handled_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the command as Ctrl-C does; afterwards all is as before."""
    import signal
    import threading

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        before[signal.SIGINT] = signal.getsignal(signal.SIGINT)
        for name in ("SIGTERM", "SIGHUP"):  # the second is not everywhere
            if (number := getattr(signal, name, None)) is not None:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _empty_folder(into: str) -> str:
    folder = os.path.abspath(os.path.expanduser(into))  # shells leave --into=~/demo as it is
    hint = "name a folder that does not exist"
    try:
        os.makedirs(folder, exist_ok=True)
        is_empty = not os.listdir(folder)
    except OSError as error:
        reason = error.strerror or error
        raise WorkspaceError(f"{folder} cannot be used: {reason}", hint=hint) from error
    if not is_empty:
        raise WorkspaceError(f"{folder} is not empty", hint=hint)
    return folder


def _write_config(folder: str, workspace: str) -> str:
    from json import dumps

    path = os.path.join(folder, "commonplace.json5")
    index = os.path.join(folder, "index.sqlite")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "// The configuration of the demo; all its files are in this folder.\n"
            "{\n"
            "  agents: {\n"
            "    defaults: {\n"
            f"      workspace: {dumps(workspace)},\n"
            "      memorySearch: {\n"
            f"        store: {{ path: {dumps(index)} }},\n"
            '        provider: "none", // a demonstration sends nothing to anybody\n'
            "      },\n"
            "    },\n"
            "  },\n"
            "}\n"
        )
    return path


def _what_next(context: Context, folder: str, config: str, *, kept: bool) -> None:
    option = f"--config {_quoted(config)}"
    if context.env.get("COMMONPLACE_WORKSPACE"):  # it wins over the file
        option += f" --workspace {_quoted(os.path.join(folder, _WORKSPACE))}"
    lines = [
        "On your own notes (any folder of Markdown):",
        '  commonplace search --workspace DIR "what did we decide about backups?"',
        "",
    ]
    if kept:
        lines = [
            "Try these on the same notes:",
            f'  commonplace search {option} "who has the spare key?"',
            f'  commonplace search {option} --explain "函館の見積書はいつまで"',
            f"  commonplace get {option} memory/2026-10-07.md#L5-L12",
            f"  commonplace status {option}",
            "",
            *lines,
            f"All files of the demo are in {folder}; delete it when you are done.",
        ]
    else:
        lines += [
            "To try more on the sample notes: commonplace demo --keep",
            "The files of this demo are deleted.",
        ]
    context.lines(lines)


def _quoted(text: str) -> str:
    """``text`` as one word of a shell, in double quotes where that is safe."""
    from shlex import quote

    safe = quote(text)
    return safe if safe == text or set('"$`\\!') & set(text) else f'"{text}"'
