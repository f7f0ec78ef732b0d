"""Which files are transcripts: by their names, in a folder that is scanned without opening any."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import PluginUnavailableError, Root, is_ignored, is_storable, scan_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from commonplace.plugin import RootFailure, ScanReport, SourceContext


_SUFFIX = ".jsonl"
_ARCHIVED = re.compile(
    r".+\.(?:reset|deleted)\.(\d{4}-\d{2}-\d{2})T\d{2}-\d{2}-\d{2}(?:\.\d+)?Z", re.ASCII | re.DOTALL
)
_BACKUP = ".bak."
# Copies of a transcript at its compaction, and files of other records.
_OTHERS = re.compile(r"\.checkpoint\.[0-9a-f-]{36}\.jsonl\Z|\.trajectory\.jsonl\Z", re.IGNORECASE)
_HOMES = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": ("CODEX_HOME", ".codex", "sessions"),
}
"""The variable that moves the folder of a program, its name in the home, and what is below it."""
_FIRST_DAY = 719_163  # of the epoch, in the calendar of ``date``
_MILLISECONDS_PER_DAY = 86_400_000
_DAY = re.compile(r"(?:rollout-)?(\d{4}-\d{2}-\d{2})(?!\d)", re.ASCII)


class Folder(NamedTuple):
    """A folder of transcripts. Links are followed in ``base``, and refused in ``parts`` and below.

    ``named`` means that it is configured, and ``deep`` that its subfolders are scanned.
    """

    base: str
    parts: tuple[str, ...] = ()
    named: bool = False
    deep: bool = False

    @property
    def location(self) -> str:
        """Its absolute path."""
        return os.path.join(self.base, *self.parts)


def folder_of(id_: str, context: SourceContext) -> Folder:
    """The configured folder, the program's own, or that of this agent's sessions with OpenClaw.

    Raises :class:`~commonplace.plugin.PluginUnavailableError` for an agent whose id could lead to
    another folder.
    """
    deep = id_ in _HOMES
    root = getattr(context.config, "root", None)
    if root is not None:
        return Folder(os.path.abspath(root), named=True, deep=deep)
    if deep:
        variable, usual, below = _HOMES[id_]
        own = os.environ.get(variable, "") or os.path.join(os.path.expanduser("~"), usual)
        return Folder(os.path.abspath(os.path.join(own, below)), deep=True)
    if not context.state_dirs:
        return Folder(context.workspace, ("sessions",))
    agent = context.agent
    if agent in ("", ".", "..") or any(mark in agent for mark in "/\\:\0"):
        raise PluginUnavailableError(
            f"the agent's id {agent!r} cannot be the name of a folder",
            hint="name the folder by plugins.entries.sessions.config.root",
        )
    return Folder(context.state_dirs[0], ("agents", agent, "sessions"))


def root_of(folder: Folder, source: str, wanted: Callable[[str], bool]) -> Root:
    """The folder as a root whose files are those ``wanted`` by their path below it."""

    def enters(below: str) -> bool:
        name = below.rpartition("/")[2]
        return folder.deep and not is_ignored(name) and is_storable(name)

    return Root(
        location=folder.location,
        stored=source,
        base=folder.base,
        parts=folder.parts,
        own=False,
        kind="folder",
        wanted=wanted,
        suffix="",
        enters=enters,
    )


def scan_folder(folder: Folder, source: str, wanted: Callable[[str], bool]) -> ScanReport:
    """Every regular file whose path below ``folder`` (forward slashes) is ``wanted``.

    Stored paths begin with the id of ``source``. A missing file is forgotten only while the folder
    exists and is not empty, since its disk may not be mounted. A folder that is not configured is
    then absent, which is a failure only if a file of it is known.
    """
    report = scan_root(root_of(folder, source, wanted), source=source)

    def named(failure: RootFailure) -> RootFailure:
        subject, _, rest = failure.reason.partition("it ")
        reason = f"{folder.location}: {failure.reason}" if subject else f"{folder.location} {rest}"
        return failure._replace(reason=reason) if failure.root == source else failure

    failed = tuple(map(named, report.failed_roots))
    absent = tuple(map(named, report.absent_roots))
    if folder.named:
        failed, absent = (*failed, *absent), ()
    else:  # no setting names it that could be taken out
        absent = tuple(one._replace(reason=_unnamed(one.reason)) for one in absent)
    return report._replace(failed_roots=failed, absent_roots=absent)


def _unnamed(reason: str) -> str:
    return f"{reason.rpartition('; ')[0]}; there is none before the first conversation"


def is_openclaw(below: str) -> bool:
    """Whether the path ``below`` a folder of sessions is a transcript, in use or archived."""
    if "/" in below or _BACKUP in below or _OTHERS.search(below):
        return False
    return below.endswith(_SUFFIX) or is_archived(below)


def is_archived(name: str) -> bool:
    """Whether ``name`` is the transcript of a session that was reset or deleted."""
    return _ARCHIVED.fullmatch(name) is not None


def is_claude_code(below: str) -> bool:
    """Whether the path ``below`` is a session of a project, and not of an agent that it started.

    It is ``<project>/<id>.jsonl``, or ``<id>.jsonl`` where the folder is that of one project.
    """
    name = below.rpartition("/")[2]
    return below.count("/") <= 1 and name.endswith(_SUFFIX) and not name.startswith("agent-")


def is_codex(below: str) -> bool:
    """Whether ``below`` is a session: ``2026/01/31/rollout-<time>-<id>.jsonl``, in any folder."""
    name = below.rpartition("/")[2]
    return name.startswith("rollout-") and name.endswith(_SUFFIX)


WANTED = {"sessions": is_openclaw, "claude-code": is_claude_code, "codex": is_codex}
"""By the id of the source: whether the path below its folder is a transcript."""


def day_of(name: str, began: float) -> date | None:
    """The day of a session: from its name, else its first message, else its archiving.

    ``began`` is in epoch milliseconds (its day in UTC), 0 if unknown.
    """
    from datetime import date

    if (found := _DAY.match(name)) and (day := _date(found[1])):
        return day
    if began:
        return date.fromordinal(_FIRST_DAY + int(began // _MILLISECONDS_PER_DAY))
    found = _ARCHIVED.fullmatch(name)
    return _date(found[1]) if found else None


def _date(text: str) -> date | None:
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
