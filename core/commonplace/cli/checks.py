"""The checks of ``doctor`` and ``config check``: program, configuration, notes, plugins, index."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.cli.terminal import since, size
from commonplace.errors import (
    CommonplaceError,
    ConfigError,
    UnavailableError,
    counted,
    how_to_install,
    reason_of,
)
from commonplace.health.groups import contents_words, vector_words
from commonplace.model.documents import Finding, Fix

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping

    from commonplace.cli.context import Context
    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.memory import Memory
    from commonplace.model.reports import Status


_EXTRAS = (
    ("rich", "rich", "a progress bar with the time left"),
    ("numpy", "vectors", "fast scans of embeddings"),
    ("sqlite_vec", "vectors", "searching embeddings inside SQLite"),
    ("watchfiles", "watch", "notice of changed notes from the operating system, without polling"),
)

_NAMED = 5  # notes that the same keeps from being read
_ROOM = 20_000_000  # bytes; a disk with less has no room for the index of a few hundred notes

_CHECK = "commonplace config check lists every error with its line"
_SWITCH_ON = "set memorySearch.enabled to true and plugins.slots.memory to memory-core"


def all_checks(context: Context) -> Iterator[Finding]:
    """Yield each finding as its check ends; a check whose basis failed is left out.

    A warning or a problem that several parts report in the same words is yielded once, and what is
    well comes without a fix. The fixes work until the next finding is asked for.
    """
    reported: set[tuple[str, str]] = set()
    for finding in _checks(context):
        if finding.state == "ok" and finding.fix is not None:
            finding = finding._replace(fix=None)  # noqa: PLW2901
        if finding.state == "ok" or (finding.state, finding.text) not in reported:
            yield finding
        reported.add((finding.state, finding.text))


def _checks(context: Context) -> Iterator[Finding]:
    yield from _program()
    yield from _extras()
    settings = yield from _configuration(context)
    if settings is None:
        return
    yield _state_folder(settings)
    try:
        memory = context.open_memory()
    except CommonplaceError as error:
        yield Finding("problem", "workspace", str(error), Fix(error.hint) if error.hint else None)
        return
    with memory:
        yield from _notes(memory)
        yield from _journal(memory.settings)
        yield from plugin_findings(memory)
        status = memory.status(deep=True)
        for failure in status.failed_roots:
            yield Finding("problem", "notes", failure.words(memory.settings.workspace))
        yield from _unreadable(status)
        yield from _fallback(status)
        # Of these the configuration says it, with its line.
        unheard = [one.id for one in status.providers if memory.host.absence("provider", one.id)]
        yield from provider_findings(status, unheard)
        yield from _index(status, memory)


def _unreadable(status: Status) -> Iterator[Finding]:
    """A finding on each note, or one on all that the same keeps from being read."""
    paths: dict[str, list[str]] = {}
    for path, reason in status.unreadable:
        paths.setdefault(reason, []).append(path)
    for reason, those in paths.items():
        if len(those) > _NAMED:
            those = [f"{those[0]} and {len(those) - 1:,} more notes"]  # noqa: PLW2901
        for path in those:
            yield Finding("problem", "notes", f"{path} could not be read: {reason}")


def _program() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "python", f"Python {version} on {sys.platform}")
    try:
        import apsw
    except ImportError as error:
        yield Finding("problem", "sqlite", f"apsw: {error}", Fix(how_to_install("apsw")))
        return
    version = apsw.sqlite_lib_version()
    if "ENABLE_FTS5" in apsw.compile_options:
        yield Finding("ok", "sqlite", f"SQLite {version} with FTS5")
    else:
        text = f"SQLite {version} has no FTS5, which keyword search needs"
        fix = Fix(f"{how_to_install('apsw')} --force-reinstall --only-binary apsw")
        yield Finding("problem", "sqlite", text, fix)


def _extras() -> Iterator[Finding]:
    missing = {module: f"{gives}: {command}" for module, gives, command in missing_extras()}
    for module, _, _ in _EXTRAS:
        text = f"not installed; adds {missing[module]}" if module in missing else "installed"
        yield Finding("ok", f"extra {module}", text)


def missing_extras() -> Iterator[tuple[str, str, str]]:
    """The optional libraries that are not installed: name, what it adds, command that installs."""
    from importlib.util import find_spec

    for module, extra, gives in _EXTRAS:
        if find_spec(module) is None:
            yield module, gives, how_to_install(f"commonplace[{extra}]")


def unread_by(host: PluginHost) -> Callable[[str], str]:
    """What says why a plugin of ``host`` that declares no settings reads none, by its id."""

    def why(id_: str) -> str:
        from commonplace.config.load import section_class
        from commonplace.host.reports import unread

        with suppress(CommonplaceError):  # of one that does not load it is not known what it reads
            section_class(host, f"plugins.entries.{id_}.config")
        return unread(host.plugins(), id_)

    return why


def _configuration(context: Context) -> Generator[Finding, None, Settings | None]:
    from commonplace.config.load import load_settings
    from commonplace.config.reports import check

    asked = context.arguments()
    host = context.plugin_host()
    report = check(**asked, absence=host.absence, unread=unread_by(host))
    for fault in report.problems:
        yield Finding("problem", "configuration", str(fault), Fix(report.hint or _CHECK))
    for warning in report.warnings:
        yield Finding("warning", "configuration", warning)
    try:
        settings = load_settings(**asked)
    except ConfigError:
        return None
    # A part that no installed plugin offers is an error here, yet the memory opens without it.
    if not report.problems:
        files = ", ".join(report.files) or "no file, defaults only"
        yield Finding("ok", "configuration", files)
    if not settings.search.enabled or settings.slot == "none":
        yield Finding("warning", "memory", "memory search is switched off", Fix(_SWITCH_ON))
        return None
    return settings


def _state_folder(settings: Settings) -> Finding:
    import shutil

    folder = os.path.dirname(settings.index_path)
    existing = folder
    while not os.path.exists(existing) and os.path.dirname(existing) != existing:
        existing = os.path.dirname(existing)
    if os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK):
        free = shutil.disk_usage(existing).free
        if free < _ROOM:
            value = f"{folder} is on a disk with only {size(free)} free"
            return Finding("warning", "index folder", value, Fix("free some space"))
        return Finding("ok", "index folder", f"{folder} is writable")
    fix = Fix(f"grant yourself write access to {existing}, or set store.path to another path")
    return Finding("problem", "index folder", f"{folder} is not writable", fix)


def _notes(memory: Memory) -> Iterator[Finding]:
    from commonplace.host.answers import scanned
    from commonplace.sources import make_sources

    workspace = memory.settings.workspace
    with os.scandir(workspace) as entries:
        empty = next(entries, None) is None
    sources, notices = make_sources(memory.host, memory.settings)
    for notice in notices:
        fix = Fix("commonplace plugins lists the available sources")
        yield Finding("warning", "source", notice, fix)
    total = 0
    for source in sources:
        report = scanned(source)
        total += len(report.documents)
        # A source reports an empty workspace as failed, so that an unmounted disk deletes nothing.
        for failure in () if empty else report.failed_roots:
            yield Finding("problem", "notes", failure.words(workspace))
        for absent in (one for one in report.absent_roots if one.root or not empty):
            yield Finding("warning", "notes", absent.words(workspace))
        if report.skipped_symlinks:
            links = counted(report.skipped_symlinks, "symbolic link")
            text = f"{links} not followed, so that nothing outside is read"
            fix = Fix("name the folder they point at in extraPaths")
            yield Finding("warning", "notes", text, fix)
    if total:
        yield Finding("ok", "notes", f"{counted(total, 'note')} in {workspace}")
    else:
        fix = Fix("write a note (a .md file) there, or name another folder with --workspace")
        yield Finding("warning", "notes", f"no notes in {workspace}", fix)


def _journal(settings: Settings) -> Iterator[Finding]:
    from commonplace.writing.journal import damage_of

    try:
        damage = damage_of(settings.state_dir, settings.workspace)
    except OSError as error:
        damage = f"the journal of changes cannot be read: {error.strerror or error}"
    if damage:
        fix = Fix(
            "restore it from a backup, or delete these lines; until then no text counts as the "
            "owner's own where it is a source, and the last change may not be undone"
        )
        yield Finding("warning", "journal", damage, fix)


def plugin_findings(memory: Memory) -> Iterator[Finding]:
    """Which plugins fail, which are off, and which of their tools are left out."""
    infos = memory.host.plugins(load=True)
    failed = [info for info in infos if info.state == "failed"]
    for info in failed:
        fix = Fix(info.hint or f"disable it: COMMONPLACE_DISABLE_PLUGINS={info.name}")
        yield Finding("warning", "plugins", info.failure, fix)
    left_out = memory.plugin_tools.left_out()
    for problem in left_out:
        yield Finding("warning", "plugins", problem, Fix("update or uninstall that plugin"))
    off = [f"{one.name} {one.notices[0]}" for one in infos if one.state == "disabled"]
    if off:
        yield Finding("ok", "plugins", f"{counted(len(off), 'plugin')} off: {'; '.join(off)}")
    if not (failed or left_out):
        yield Finding("ok", "plugins", f"{counted(len(infos) - len(off), 'plugin')}, all load")


def _fallback(status: Status) -> Iterator[Finding]:
    fallback = status.fallback
    if fallback is not None and not fallback.by:  # else it is of a provider
        text = f"{status.backend} is active in place of {fallback.part}: {fallback.reason}"
        fix = Fix(f"fix what {fallback.part} reports, or set memory.backend to {status.backend}")
        yield Finding("warning", "backend", text, fix)


def provider_findings(status: Status, unheard: Collection[str] = ()) -> Iterator[Finding]:
    """How far each provider has embedded the notes, and whether one is in use.

    Those of ``unheard`` have been reported.
    """
    reported = {*unheard, *(one.id for one in status.providers if one.state != "ready")}
    for provider in (one for one in status.providers if one.id not in unheard):
        if provider.state != "ready":
            began = since(provider.since) if provider.state != "unusable" else ""
            text = f"provider {provider.id} is not available{began}: {provider.reason}"
            yield Finding("warning", "embeddings", text)
        elif provider.covered < provider.chunks and provider.role == "primary":
            covered = f"{provider.covered} of {counted(provider.chunks, 'chunk')} embedded"
            yield Finding(
                "ok" if provider.covered and provider.id == status.provider else "warning",
                "embeddings",
                f"{covered} with {provider.id}, model {provider.model}",
                Fix("commonplace index"),
            )
    if status.provider:
        model = f", model {status.model}" if status.model else ""
        yield Finding("ok", "embeddings", f"provider {status.provider}{model}")
    elif status.requested_provider in {"", "auto", "none"} and not status.providers:
        yield Finding("ok", "embeddings", "no provider: search is by keyword, which needs no key")
    elif status.requested_provider not in reported:
        named = f"provider {status.requested_provider!r} is configured but not used"
        fix = Fix("commonplace plugins lists the providers and what each needs")
        yield Finding("warning", "embeddings", f"{named}: search is by keyword", fix)


def _index(status: Status, memory: Memory) -> Iterator[Finding]:
    where = status.db_path or status.backend
    checked = any(finding.name == "check" for finding in status.findings)
    for problem in () if checked else status.problems:
        yield Finding("problem", "index", f"{where}: {problem}", Fix("commonplace index --force"))
    for finding in status.findings:
        yield finding._replace(name="index") if finding.name == "check" else finding
    if not status.available:
        fix = Fix("see the reason; the notes are unchanged")
        yield Finding("problem", "index", f"{where}: {_hindrance(status, memory)}", fix)
        return
    shown = {provider.reason for provider in status.providers}
    for notice in status.notices:
        if notice not in shown:
            yield Finding("warning", "index", notice)
    for line in status.information:
        yield Finding("ok", "backend", line)
    if status.groups is not None and status.groups.vector.library:
        yield Finding("ok", "vectors", vector_words(status.groups.vector))
    if not status.problems:
        yield _contents(where, status, memory)


def _hindrance(status: Status, memory: Memory) -> str:
    """Why no backend can search; of plugins that failed there are findings of their own."""
    several = len(status.links) > 1
    reasons = [f"{one.id}: {one.reason}" if several else one.reason for one in status.links]
    if not any(one.reason for one in status.links):
        plugins = {info.failure for info in memory.host.plugins()}
        reasons = [notice for notice in status.notices if notice not in plugins]
    return "; ".join(reasons) or "cannot be opened"


def _contents(where: str, status: Status, memory: Memory) -> Finding:
    """What the index holds, and what it does not know yet."""
    from commonplace.index.syncing import INLINE_DOCUMENTS

    def index() -> str:
        report = memory.sync()
        return f"indexed {counted(report.added + report.updated, 'note')}"

    if status.stale > 0 and status.files == 0:
        text = f"{where}: {counted(status.stale, 'note')} not indexed yet"
        return Finding("warning", "index", text, Fix("index the notes", index))
    text = f"{where}: {contents_words(status)}"
    if status.stale > INLINE_DOCUMENTS:
        text += (
            f"; {counted(status.stale, 'change')} not indexed, too many for a search to bring in"
        )
        return Finding(
            "warning", "index", text, Fix("index them, as `commonplace index` does", index)
        )
    if status.stale > 0:
        text += f"; {counted(status.stale, 'change')} for the next search or `commonplace index`"
    return Finding("ok", "index", text)


def providers_of(host: PluginHost, settings: Settings) -> list[str]:
    """The ids of the providers that the settings name; with ``auto`` all others, too."""
    from commonplace.config.search import PROVIDERS

    search = settings.search
    ids = dict.fromkeys((search.provider, search.fallback))
    named = [id_ for id_ in ids if id_ not in PROVIDERS]
    others = host.ids("provider") if search.provider == "auto" else ()
    return [*named, *(id_ for id_ in others if id_ not in named)]


def lacking(host: PluginHost, settings: Settings, env: Mapping[str, str]) -> Iterator[str]:
    """What the providers in question lack here, such as variables that are not set, once each.

    That is no problem of the configuration: it may be set where that is used.
    """
    from commonplace.embedding.access import access_of

    named: set[str] = set()
    for id_ in providers_of(host, settings):
        try:
            registration = host.provider(id_)
        except UnavailableError:  # which is reported already
            continue
        try:
            primary = id_ != settings.search.fallback and settings.search.provider in (id_, "auto")
            access_of(settings, env, registration, primary=primary)
        except UnavailableError as error:
            if str(error) not in named:
                yield f"{id_} cannot be used here: {reason_of(error)}"
            named.add(str(error))
