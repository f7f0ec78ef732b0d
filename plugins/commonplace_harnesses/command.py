"""The commands ``install`` and ``uninstall``."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

from commonplace.plugin import CommonplaceError, UsageError, expand_user, state_dir
from commonplace_harnesses.files import DONE, HarnessFiles, unified
from commonplace_harnesses.harnesses import ARCHIVE, HARNESSES, Setup

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context
    from commonplace_harnesses.files import FileChange
    from commonplace_harnesses.harnesses import Harness

RECORD = "harness-files.json"
"""In the state folder: the files that were made here."""


class InstallCommand:
    """Adds memory to the configuration of a harness."""

    name = "install"
    summary = "Connect an agent's program to memory: its MCP server and its hooks"
    examples = (
        "commonplace install claude-code --workspace ~/notes",
        "commonplace install codex --dry-run",
        "commonplace install vscode --scope project",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        _add_common(parser)

    def run(self, args: Namespace, context: Context) -> int:
        """Add what is missing, or print it with ``--dry-run``."""
        harness = HARNESSES[args.harness]
        setup = _setup(args, context, harness)
        setup = setup._replace(program=_program(setup), options=_options(setup, context))
        files = _files(setup, args)
        changes = [files.installed(target) for target in harness.targets(setup)]
        if not args.dry_run:
            files.apply(changes)
        steps = [*harness.steps[""], *harness.steps.get(setup.scope, ())]
        if ARCHIVE in steps and _may_write(context):
            steps.remove(ARCHIVE)
        steps = [context.suggesting(step) for step in steps]
        missing = shutil.which(harness.program, path=setup.env.get("PATH")) is None
        notes = [f"no command {harness.program} was found"] if missing else []
        _report(context, args, changes, steps=steps, notes=notes)
        return 0


class UninstallCommand:
    """Removes memory from the configuration of a harness."""

    name = "uninstall"
    summary = "Take memory out of an agent's program: its MCP server and its hooks"
    examples = ("commonplace uninstall claude-code", "commonplace uninstall codex --dry-run")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        _add_common(parser)

    def run(self, args: Namespace, context: Context) -> int:
        """Remove what is there, or print it with ``--dry-run``."""
        harness = HARNESSES[args.harness]
        setup = _setup(args, context, harness)
        files = _files(setup, args)
        changes, notes = _removals(files, harness, setup)
        if not args.dry_run:
            files.apply(changes[::-1])  # a folder that was made goes after the files in it
        _report(context, args, changes, steps=[], notes=notes)
        return 0


def _removals(
    files: HarnessFiles, harness: Harness, setup: Setup
) -> tuple[list[FileChange], list[str]]:
    """What an uninstallation changes, and what is worth knowing.

    The hooks stay while a server of another name has their options, or if none of this name is
    there.
    """
    server, *hooks = harness.targets(setup)
    change, *others = [files.uninstalled(target) for target in (server, *hooks)]
    left = [(name, options) for name, options in files.ours(server) if name != setup.name]
    names = ", ".join(name for name, _ in left)
    memories = [options for _, options in left]
    notes = []
    if left and any(other.action != "none" for other in others):
        used = any(options in memories for hook in hooks for _, options in files.ours(hook))
        if used or change.action == "none":
            others = [other._replace(after=other.before) for other in others]
            notes.append(f"the hooks stay, for {names}")
        else:
            notes.append(f"the hooks were those of {setup.name}; to have hooks, install again")
            notes[-1] += f" one of: {names}"
    if all(one.action == "none" for one in (change, *others)):
        also = f"; there is: {names}" if left else ""
        notes.insert(0, f"nothing is installed under the name {setup.name}{also}")
    return [change, *others], notes


def _add_common(parser: ArgumentParser) -> None:
    parser.add_argument("harness", choices=(*HARNESSES,), help="the program")
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="whose configuration is changed: yours (default), the project's in the current "
        "folder, which others share",
    )
    parser.add_argument(
        "--name", metavar="NAME", default="memory", help="the server's name (default: memory)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the changes as a diff, and write nothing"
    )
    parser.add_argument(
        "--follow-links",
        action="store_true",
        help="change the file that a link leads to; without it links are refused",
    )


def _setup(args: Namespace, context: Context, harness: Harness) -> Setup:
    if args.scope not in harness.scopes:
        raise UsageError(
            f"{harness.title} has no scope {args.scope}",
            hint=f"--scope {' or '.join(harness.scopes)}",
        )
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", args.name):
        raise UsageError(
            f"--name {args.name}: not a name for a server", hint="use letters, digits, - and _"
        )
    return Setup(
        program=("commonplace",),
        options=(),
        name=args.name,
        scope=args.scope,
        folder=os.getcwd(),
        env=context.env,
    )


def _program(setup: Setup) -> tuple[str, ...]:
    """How commonplace is run: by name in a project's files, which others share; else by path.

    Programs with windows do not have the ``PATH`` of a shell.
    """
    if setup.scope == "project":
        return ("commonplace",)
    found = shutil.which("commonplace", path=setup.env.get("PATH"))
    return (os.path.abspath(found),) if found else (sys.executable, "-m", "commonplace")


def _options(setup: Setup, context: Context) -> tuple[str, ...]:
    """Which memory it is. In a project's files, what was given; else whole paths.

    A harness starts its servers in folders of its own choice, without the variables of a shell.
    """
    values = {
        "--workspace": context.workspace,
        "--config": context.config,
        "--agent": context.agent,
    }
    if setup.scope != "project":
        with context.open_memory() as memory:
            values["--workspace"] = memory.settings.workspace
        config = context.config or context.env.get("COMMONPLACE_CONFIG", "")
        values["--config"] = os.path.abspath(expand_user(config, context.env)) if config else None
        values["--agent"] = context.agent or context.env.get("COMMONPLACE_AGENT")
    options = tuple(word for option, value in values.items() if value for word in (option, value))
    try:
        "".join(options).encode()
    except UnicodeEncodeError:
        raise UsageError(
            "a path that is not UTF-8 cannot stand in these files", hint="rename the folder"
        ) from None
    return options


def _may_write(context: Context) -> bool:
    """Whether agents may write to the memory already; a project's may not be there yet."""
    try:
        with context.open_memory() as memory:
            return memory.settings.write.enabled
    except CommonplaceError:
        return False


def _files(setup: Setup, args: Namespace) -> HarnessFiles:
    return HarnessFiles(
        setup.base,
        os.path.join(state_dir(setup.env), RECORD),
        follow_links=args.follow_links,
        new_mode=0o644 if setup.scope == "project" else 0o600,
    )


def _report(
    context: Context,
    args: Namespace,
    changes: list[FileChange],
    *,
    steps: list[str],
    notes: list[str],
) -> None:
    if context.json:
        context.emit(
            {
                "harness": args.harness,
                "scope": args.scope,
                "dryRun": args.dry_run,
                "files": [
                    {"path": change.path, "action": change.action, "diff": unified(change)}
                    for change in changes
                ],
                "steps": steps,
                "notes": notes,
            }
        )
        return
    if args.dry_run:
        for change in changes:
            for line in unified(change).splitlines():
                context.line(line)
        if all(change.action == "none" for change in changes):
            context.note("there is nothing to change")
    for change in changes if not args.dry_run else ():
        linked = f" (behind the link {change.path})" if change.real != change.path else ""
        context.line(f"{DONE[change.action]:<9}  {change.real}{linked}")
    if steps and not args.dry_run:
        context.line()
        context.line("Still to do:")
        for step in steps:
            context.line(f"- {step}")
    for note in notes:
        context.note(note)
