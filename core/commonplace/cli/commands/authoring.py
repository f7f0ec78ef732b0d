"""For authors of plugins: ``commonplace plugins new`` and ``commonplace plugins check``."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from commonplace.cli.context import UsageError
from commonplace.cli.parser import BUILTIN, argument
from commonplace.errors import CallerError, CommonplaceError, counted, how_to_install, suggest

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from subprocess import Popen

    from commonplace.cli.context import Context

_LONGEST_NAME = 40
_SHOWN_LINES = 12

ACTIONS = {
    "new": "commonplace plugins new ranker short-first",
    "check": "commonplace plugins check ranker.short-first",
}
"""What authors do with plugins, each with an example."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of both."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=tuple(ACTIONS),
        help="new: write a plugin to begin with, and its tests; check: run the conformance tests "
        "on an installed plugin",
    )
    parser.add_argument(
        "subject",
        metavar="KIND|ID",
        nargs="?",
        help="new: backend, engine, provider, ranker, source, chunker, command or tool; check: the "
        "plugin, such as ranker.short-first",
    )
    argument(parser, "name", "NAME", "new: the id of the plugin", nargs="?")
    argument(parser, "--dir", "DIR", "new: where to put it (default: here)")
    about = "check: a stand-in for the server of a provider, on this machine"
    argument(parser, "--base-url", "URL", about)


def run(args: Namespace, context: Context) -> int:
    """Run ``args.action``."""
    wanted = 2 if args.action == "new" else 1
    if sum(word is not None for word in (args.subject, args.name)) != wanted:
        words = "a kind and a name" if args.action == "new" else "the id of a plugin"
        raise UsageError(f"plugins {args.action} takes {words}", hint=ACTIONS[args.action])
    return _new(args, context) if args.action == "new" else _check(args, context)


# --- new --------------------------------------------------------------------------------------


def _new(args: Namespace, context: Context) -> int:
    from commonplace.hookspecs import API_VERSION
    from commonplace.sample import PLUGINS, distribution_of, how_to_check, write_plugin

    kind, name = args.subject, args.name.removeprefix("commonplace-")
    if kind not in PLUGINS:
        near = suggest(kind, PLUGINS)
        known = f"there is {', '.join(PLUGINS)}"
        hint = f"did you mean {near}? {known}" if near else known
        raise UsageError(f"there is no kind of plugin named {kind!r}", hint=hint)
    entry = PLUGINS[kind][0]
    _check_name(name, entry, context)
    distribution = distribution_of(name)
    folder = os.path.abspath(os.path.join(os.path.expanduser(args.dir or "."), distribution))
    try:
        files = write_plugin(kind, name, folder, api=API_VERSION)
    except FileExistsError as error:
        hint = "choose another name, or another folder by --dir"
        raise CallerError(f"{folder} exists and is not empty", hint=hint) from error
    except OSError as error:
        raise CallerError(
            f"{error.filename or folder} cannot be written: {error.strerror}",
            hint="choose another folder by --dir",
        ) from error
    python = f"{sys.executable} -m "
    steps = [
        f"cd {os.path.relpath(folder) if args.dir is None else folder}",
        f'{python}pip install -e ".[test]"',
        f"{python}pytest",
        *filter(None, [how_to_check(kind, name)]),
    ]
    if context.json:
        plugin = f"{entry}.{name}"
        context.emit({"folder": folder, "files": files, "plugin": plugin, "next": steps})
        return 0
    context.line(f"wrote {counted(len(files), 'file')} to {folder}")
    context.lines(f"  {file}" for file in files)
    context.line("next:")
    context.lines(f"  {step}" for step in steps)
    return 0


def _check_name(name: str, kind: str, context: Context) -> None:
    from commonplace.model.plugins import is_id

    if not is_id(name) or not name[0].isalpha() or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{name!r} is no name of a plugin",
            hint="lower-case letters and digits joined by - or _, letters first, like short-first",
        )
    taken = context.plugin_host().ids(kind)  # type: ignore[arg-type]
    if name in taken or (kind == "command" and name in {*BUILTIN, "help"}):
        raise CallerError(f"there is a {kind} {name!r} already", hint="choose another name")


# --- check ------------------------------------------------------------------------------------


def _check(args: Namespace, context: Context) -> int:
    kind, id_ = _plugin(args.subject, context)
    for library in ("pytest", "hypothesis"):
        if find_spec(library) is None:
            hint = how_to_install("commonplace[testing]")
            raise CallerError(f"the conformance tests need {library}", hint=hint)
    laws: list[dict[str, Any]] = []
    with context.progress() as progress:
        progress.show(f"Loading {kind}.{id_}")
        total = 0
        for message in _messages(kind, id_, args.base_url or ""):
            if "refused" in message:
                raise CallerError(message["refused"], hint=message["hint"])
            if "total" in message:
                total = message["total"]
                continue
            laws.append(message)
            progress.close()
            progress.show(f"{len(laws)} of {total} laws: {message['law']}")
    failed = sum(law["result"] == "failed" for law in laws)
    broken = failed or len(laws) < total or not laws
    if context.json:
        context.emit({"plugin": f"{kind}.{id_}", "passed": not broken, "laws": laws})
    else:
        _show(laws, context)
        counts = {word: sum(law["result"] == word for law in laws) for word in _WORDS}
        context.line(", ".join(f"{number} {word}" for word, number in counts.items() if number))
    if len(laws) < total or not laws:
        raise CommonplaceError(
            f"the tests of {kind}.{id_} ended early: {len(laws)} of {total} laws were tried",
            hint="run its own tests to see why: pytest",
        )
    return 1 if failed else 0


_WORDS = ("passed", "failed", "skipped")


def _plugin(subject: str, context: Context) -> tuple[str, str]:
    """Kind and id of the plugin that ``subject`` names, with or without its kind."""
    from commonplace.host.discovery import KINDS

    host = context.plugin_host()
    known = {(info.kind, info.id) for info in host.plugins() if info.kind in KINDS}
    kind, dot, id_ = subject.partition(".")
    if dot:
        if kind not in KINDS:
            raise CallerError(f"there is no kind of plugin named {kind!r}", hint=ACTIONS["check"])
        if (kind, id_) in known:
            return kind, id_
    found = [kind for kind in KINDS if (kind, subject) in known]
    if len(found) == 1:
        return found[0], subject
    if found:
        hint = "say which: " + ", ".join(f"{kind}.{subject}" for kind in found)
        raise CallerError(f"several plugins are named {subject!r}", hint=hint)
    near = suggest(id_ or subject, {known_id for of, known_id in known if not dot or of == kind})
    raise CallerError(
        f"there is no plugin {subject!r}",
        hint=f"did you mean {near}?" if near else "commonplace plugins lists what is installed",
    )


_PROGRAM = (
    "import sys; from commonplace.testing.check import main; "
    "sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))"
)


def _messages(kind: str, id_: str, base_url: str) -> Iterator[dict[str, Any]]:
    """What the process that runs the conformance tests reports, as it comes.

    In a process of its own, because a plugin may end the one it is in, and in an empty folder,
    because pytest obeys the configuration of the folder it is in.
    """
    from subprocess import DEVNULL, Popen
    from tempfile import TemporaryDirectory

    reading, writing = os.pipe()
    with TemporaryDirectory(prefix="commonplace-check-") as folder:
        paths = [os.path.abspath(path) for path in sys.path if path]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        env.pop("PYTEST_ADDOPTS", None)
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        env["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(folder, "hypothesis")
        with open(os.path.join(folder, "output"), "wb") as output:
            process = Popen(  # noqa: S603 - Python itself, and a program of ours
                [sys.executable, "-c", _PROGRAM, str(writing), kind, id_, base_url],
                cwd=folder,
                env=env,
                stdin=DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(writing,),
            )
        os.close(writing)
        with open(reading, encoding="utf-8") as lines:
            try:
                for line in lines:
                    yield json.loads(line)
            finally:
                _end(process)


def _end(process: Popen[bytes]) -> None:
    process.terminate()  # does nothing to one that has ended
    process.wait()


def _show(laws: list[dict[str, Any]], context: Context) -> None:
    from commonplace.cli.streams import printable

    paint = {
        "passed": context.style.good,
        "failed": context.style.bad,
        "skipped": context.style.faint,
    }
    for law in laws:
        word = paint[law["result"]](f"{law['result']:<7}")
        context.line(f"{word}  {law['seconds']:6.2f} s  {printable(law['law'])}")
    for law in laws:
        if law["result"] == "failed":
            context.line()
            context.line(context.style.strong(f"failed: {printable(law['law'])}"))
            context.line(f"  {printable(law['meaning'])}")
            reason = law["reason"].splitlines()[-_SHOWN_LINES:]
            context.lines(f"  {printable(line)}" for line in reason)
