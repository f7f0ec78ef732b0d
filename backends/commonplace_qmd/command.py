"""What people see of QMD: the command ``commonplace qmd``, and the condition of one agent's."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import CommonplaceError, ManagerHealth, StoreHealth, UsageError, reason_of
from commonplace_qmd.home import home_of
from commonplace_qmd.settings import QmdSettings
from commonplace_qmd.update import needs_vectors

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from commonplace.plugin import Context
    from commonplace_qmd.collections import Changes
    from commonplace_qmd.engine.client import Qmd
    from commonplace_qmd.engine.values import QmdStatus
    from commonplace_qmd.home import State
    from commonplace_qmd.update import Updater


class QmdCommand:
    """Prints the variables by which ``qmd`` finds an agent's configuration and index."""

    name = "qmd"
    summary = "Show how to run QMD by hand on what an agent searches"
    examples = (
        'eval "$(commonplace qmd env)" && qmd status',
        "commonplace qmd env --agent work",
        "commonplace qmd env --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action", metavar="env", nargs="?", help="print shell exports, and how to fetch models"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Print; nothing is created, and QMD is not run."""
        if args.action != "env":
            raise UsageError("name what to show", hint=self.examples[0])
        with context.open_memory() as memory:
            settings = memory.settings
            config = settings.section_values.get("memory.qmd") or QmdSettings()
        # Not XDG_CONFIG_HOME, which QMD does not need beside its own: in a shell that has it,
        # commonplace would look for its configuration there, too.
        home = home_of(settings.state_dir, settings.agent, settings.workspace)
        variables = home.qmd.variables
        program = shlex.quote(config.command)
        # What to run, in this order, before ``searchMode`` is ``vsearch`` or ``query``.
        steps = ["commonplace index", f"{program} pull", f"{program} embed"]
        steps.append(f"{program} query 'is it warm?' --json")
        if context.json:
            context.emit(
                {
                    "agent": settings.agent,
                    "workspace": settings.workspace,
                    "command": config.command,
                    "searchMode": config.search_mode,
                    "env": variables,
                    "prewarm": steps,
                }
            )
            return 0
        for name, value in variables.items():
            context.line(f"export {name}={shlex.quote(value)}")
        context.line(f"# QMD of the agent {settings.agent} in {settings.workspace}")
        context.line(
            "# With these set, fetch the models (some 2 GB, once for all agents) and embed:"
        )
        for line in steps:
            context.line(f"#   {line}")
        return 0


def health_of(updater: Updater, notices: tuple[str, ...], *, deep: bool) -> ManagerHealth:
    """The condition of engine, index and folders; failures are reported, never raised."""
    qmd, config, location = updater.qmd, updater.config, updater.home.qmd.index_path
    try:
        probe = qmd.probe()
        if not probe.available:
            reason = f"{probe.reason} ({probe.hint})" if probe.hint else probe.reason
            return ManagerHealth(available=False, reason=reason, notices=notices)
        state, changes = updater.state(), updater.changes()
    except CommonplaceError as error:
        return ManagerHealth(available=False, reason=reason_of(error), notices=notices)
    status: QmdStatus | None = None
    problems: tuple[str, ...] = ()
    if deep and state.last_update:
        from commonplace.plugin import Deadline

        try:
            status = qmd.status(deadline=Deadline.after(config.update.command_timeout_ms / 1000))
        except CommonplaceError as error:
            problems = (reason_of(error),)
    counts: dict[str, int] = {}
    for scan in changes.scans:
        source = scan.collection.source
        counts[source] = counts.get(source, 0) + len(scan.report.documents)
    by_source = tuple(sorted(counts.items()))
    documents = status.documents if status else state.documents
    writer = updater.lease.notices() if deep else ()
    return ManagerHealth(
        available=True,
        store=StoreHealth(
            location=location,
            documents=documents,
            chunks=documents,
            size=_size(location),
            documents_by_source=by_source,
            chunks_by_source=by_source,
            problems=problems,
        ),
        notices=(*notices, *_notices(qmd, config, state, changes), *writer),
        information=(_summary(state, status),),
    )


def _notices(qmd: Qmd, config: QmdSettings, state: State, changes: Changes) -> Iterator[str]:
    for scan in changes.scans:
        for folder in scan.skipped:
            yield (
                f"{folder}: QMD indexes no folder of this name, so its notes are not found; "
                "rename it"
            )
    if not needs_vectors(config):
        return
    missing = sorted({"embed", "rerank", "generate"}.difference(qmd.models()))
    needed = {"embed"} if config.search_mode == "vsearch" else {"embed", "rerank", "generate"}
    if lacking := [kind for kind in missing if kind in needed]:
        yield (
            f"memory.qmd.searchMode is {config.search_mode}, and QMD's models for "
            f"{', '.join(lacking)} are not on this machine: see `commonplace qmd env`"
        )
    elif state.pending:
        yield "QMD has texts without vectors: run `commonplace index`"
    if state.embed_failures:
        yield f"QMD failed to embed {state.embed_failures} times in a row: {state.embed_reason}"


def _summary(state: State, status: QmdStatus | None) -> str:
    if not state.last_update:
        return "QMD has not indexed anything yet"
    from datetime import UTC, datetime

    when = datetime.fromtimestamp(state.last_update, UTC).strftime("%Y-%m-%d %H:%M UTC")
    if status is None:
        return f"QMD has {state.documents} documents, updated {when}"
    return (
        f"QMD {status.version} has {status.documents} documents and {status.vectors} vectors, "
        f"updated {when}"
    )


def _size(location: str) -> int:
    size = 0
    for suffix in ("", "-wal"):
        with suppress(OSError):
            size += os.stat(location + suffix).st_size
    return size
