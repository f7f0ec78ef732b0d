"""The checks of ``commonplace doctor``, from the ground up."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from commonplace.cli.words import count, size
from commonplace.errors import CommonplaceError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from commonplace.cli.context import Context
    from commonplace.config import Settings
    from commonplace.memory import Memory
    from commonplace.model.findings import Finding, Remedy
    from commonplace.model.reports import Status

__all__ = ["Check", "State", "all_checks"]

State = Literal["ok", "warning", "failed"]

_EXTRAS = (
    ("rich", "rich", "a progress bar with the time that is left"),
    ("numpy", "vectors", "fast scans of embeddings"),
    ("simsimd", "vectors", "faster scans of large sets of embeddings"),
    ("sqlite_vec", "vectors", "searching embeddings inside SQLite"),
    ("watchfiles", "watch", "changed notes told by the system, instead of looking for them"),
)

_ROOM = 20_000_000  # bytes; a disk with less has no room for the index of a few hundred notes

_CHECK = "commonplace config check shows all faults with their lines"
_SWITCH_ON = "set memorySearch.enabled to true and plugins.slots.memory to memory-core"


@frozen
class Check:
    """One thing that was looked at. ``hint`` is one line, empty where nothing need be done.

    ``remedy`` mends it, while the memory is open: until the next check is asked for.
    """

    name: str
    state: State
    message: str
    hint: str = ""
    remedy: Remedy | None = None


def all_checks(context: Context) -> Iterator[Check]:
    """Each check as it is made; those that need what just failed are left out.

    What more than one part warns of in the same words is told once.
    """
    warned: set[str] = set()
    for check in _checks(context):
        if check.state != "warning" or check.message not in warned:
            yield check
        if check.state == "warning":
            warned.add(check.message)


def _checks(context: Context) -> Iterator[Check]:
    yield from _program()
    yield from _extras()
    settings = yield from _configuration(context)
    if settings is None:
        return
    yield _state_folder(settings)
    try:
        memory = context.open_memory()
    except CommonplaceError as error:
        yield Check("workspace", "failed", str(error), error.hint)
        return
    with memory:
        yield from _notes(memory)
        yield from _plugins(memory)
        status = memory.status(deep=True)
        yield from _fallback(status)
        yield from _provider(status)
        yield from _index(status, memory)


def _program() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", "ok", f"Python {version} on {sys.platform}")
    try:
        import apsw
    except ImportError as error:
        yield Check("sqlite", "failed", f"apsw: {error}", "pip install --force-reinstall apsw")
        return
    version = apsw.sqlite_lib_version()
    if "ENABLE_FTS5" in apsw.compile_options:
        yield Check("sqlite", "ok", f"SQLite {version} with FTS5")
    else:
        yield Check(
            "sqlite",
            "failed",
            f"SQLite {version} without FTS5, which searches by keyword",
            "pip install --force-reinstall --only-binary apsw apsw",
        )


def _extras() -> Iterator[Check]:
    from importlib.util import find_spec

    for module, extra, gives in _EXTRAS:
        if find_spec(module) is not None:
            yield Check(f"extra {module}", "ok", "installed")
        else:
            yield Check(
                f"extra {module}",
                "ok",
                f'not installed; it gives {gives}: pip install "commonplace[{extra}]"',
            )


def _configuration(context: Context) -> Generator[Check, None, Settings | None]:
    from commonplace.cli.extra import plugin_host
    from commonplace.config import check, load_settings

    asked: dict[str, Any] = {
        "workspace": context.workspace,
        "agent": context.agent,
        "config": context.config,
        "env": context.env,
        "sections": context.section_classes(),
    }
    report = check(**asked, absence=plugin_host(context.env).absence)
    for fault in report.faults:
        yield Check("configuration", "failed", str(fault), report.hint or _CHECK)
    for warning in report.warnings:
        yield Check("configuration", "warning", warning)
    try:
        settings = load_settings(**asked)
    except ConfigError:
        return None
    # What is merely not offered by any plugin is a fault, and memory works as well as it can.
    if not report.faults:
        files = ", ".join(report.files) or "no file, defaults alone"
        yield Check("configuration", "ok", files)
    if not settings.search.enabled or settings.slot == "none":
        yield Check("memory", "warning", "memory search is switched off", _SWITCH_ON)
        return None
    return settings


def _state_folder(settings: Settings) -> Check:
    import shutil

    folder = os.path.dirname(settings.index_path)
    existing = folder
    while not os.path.exists(existing) and os.path.dirname(existing) != existing:
        existing = os.path.dirname(existing)
    if os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK):
        free = shutil.disk_usage(existing).free
        if free < _ROOM:
            value = f"{folder} is on a disk with only {size(free)} left"
            return Check("index folder", "warning", value, "free some space")
        return Check("index folder", "ok", f"{folder} can be written")
    return Check(
        "index folder",
        "failed",
        f"{folder} cannot be written",
        f"give yourself the right to write {existing}, or set store.path to another place",
    )


def _notes(memory: Memory) -> Iterator[Check]:
    from commonplace.assembly import make_sources

    workspace = memory.settings.workspace
    with os.scandir(workspace) as entries:
        empty = next(entries, None) is None
    sources, notices = make_sources(memory.host, memory.settings)
    for notice in notices:
        yield Check("source", "warning", notice, "commonplace plugins lists the sources there are")
    total = 0
    for source in sources:
        try:
            report = source.scan()
        except (CommonplaceError, OSError) as error:
            yield Check("notes", "failed", f"source {source.id} cannot be read: {error}")
            continue
        total += len(report.documents)
        # A source calls an empty workspace a failure, so that an unmounted disk forgets nothing.
        for failure in () if empty else report.failed_roots:
            yield Check("notes", "failed", f"{failure.root or workspace}: {failure.reason}")
        for absent in report.absent_roots:
            yield Check("notes", "warning", f"{absent.root}: {absent.reason}")
        if report.skipped_symlinks:
            links = count(report.skipped_symlinks, "symbolic link")
            yield Check(
                "notes",
                "warning",
                f"{links} not followed, so that nothing outside is read",
                "name the folder they point at in extraPaths",
            )
    if total:
        yield Check("notes", "ok", f"{count(total, 'note')} in {workspace}")
    else:
        yield Check(
            "notes",
            "warning",
            f"no notes in {workspace}",
            "write MEMORY.md or memory/YYYY-MM-DD.md there, or name another --workspace",
        )


def _plugins(memory: Memory) -> Iterator[Check]:
    infos = memory.host.plugins(load=True)
    failed = [info for info in infos if info.state == "failed"]
    for info in failed:
        yield Check(
            "plugins",
            "warning",
            info.failure,
            info.hint or f"do without it: COMMONPLACE_DISABLE_PLUGINS={info.name}",
        )
    if not failed:
        yield Check("plugins", "ok", f"{count(len(infos), 'plugin')}, all of them load")


def _fallback(status: Status) -> Iterator[Check]:
    if status.fallback is not None and not status.fallback.by:  # else it is of a provider
        yield Check(
            "backend",
            "warning",
            f"{status.backend} answers in place of {status.fallback.part}: "
            f"{status.fallback.reason}",
            f"fix what is said of {status.fallback.part}, or set memory.backend to "
            f"{status.backend}",
        )


def _provider(status: Status) -> Iterator[Check]:
    for provider in status.providers:
        if provider.state != "ready":
            since = _since(provider.since) if provider.state != "unusable" else ""
            yield Check(
                "embeddings",
                "warning",
                f"provider {provider.id} cannot be used{since}: {provider.reason}",
            )
        elif provider.covered < provider.chunks and provider.role == "primary":
            yield Check(
                "embeddings",
                "ok" if provider.id == status.provider else "warning",
                f"{provider.covered} of {count(provider.chunks, 'chunk')} embedded with "
                f"{provider.id}, model {provider.model}",
                "commonplace index",
            )
    if status.provider:
        model = f", model {status.model}" if status.model else ""
        yield Check("embeddings", "ok", f"provider {status.provider}{model}")
    elif status.requested_provider in {"", "auto", "none"} and not status.providers:
        yield Check("embeddings", "ok", "no provider: search is by keyword, which needs no key")
    else:
        yield Check(
            "embeddings",
            "warning",
            f"provider {status.requested_provider!r} is asked for and not used: search is by "
            "keyword",
            "commonplace plugins --load shows which providers there are and whether they load",
        )


def _since(seconds: float | None) -> str:
    import time

    if not seconds:
        return ""
    return time.strftime(" since %Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _index(status: Status, memory: Memory) -> Iterator[Check]:
    where = status.db_path or status.backend
    checked = any(finding.name == "check" for finding in status.findings)
    for problem in () if checked else status.problems:
        yield Check("index", "failed", f"{where}: {problem}", "commonplace index --force")
    yield from map(_found, status.findings)
    if not status.available:
        reason = "; ".join(status.notices) or "it cannot be opened"
        yield Check(
            "index", "failed", f"{where}: {reason}", "see the reason; notes are not touched"
        )
        return
    told = {provider.reason for provider in status.providers}
    for notice in status.notices:
        if notice not in told:
            yield Check("index", "warning", notice)
    for line in status.information:
        yield Check("backend", "ok", line)
    if not status.problems:
        chunks = f"{count(status.files, 'note')}, {count(status.chunks, 'chunk')}"
        changed = f"; {count(status.stale, 'change')} not indexed yet" if status.stale > 0 else ""
        empty = status.stale > 0 and not status.files
        remedy = _indexing(memory) if empty else None
        hint = "commonplace index" if changed else ""
        yield Check("index", "ok", f"{where}: {chunks}{changed}", hint, remedy)


def _found(finding: Finding) -> Check:
    states: dict[str, State] = {"ok": "ok", "warning": "warning", "problem": "failed"}
    remedy = finding.remedy
    hint = ""
    if remedy is not None:
        command = "--fix --drop-unused" if remedy.asked else "--fix"
        hint = f"commonplace doctor {command}: {remedy.says}"
    name = "index" if finding.name == "check" else finding.name
    return Check(name, states[finding.state], finding.value, hint, remedy)


def _indexing(memory: Memory) -> Remedy:
    from commonplace.model.findings import Remedy

    def run() -> str:
        report = memory.sync()
        return f"indexed {count(report.added, 'note')}"

    return Remedy("index the notes", run)
