"""``commonplace config``: show, check, change, locate and describe the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import DONE, NOT_VALID, argument, flag
from commonplace.cli.terminal import columns
from commonplace.errors import counted, suggest

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping

    from commonplace.cli.context import Context
    from commonplace.config.change import Change
    from commonplace.config.reports import Explained
    from commonplace.config.settings import Settings
    from commonplace.embedding.access import Access
    from commonplace.host.host import PluginHost


class ConfigCommand:
    """Four views of the configuration, and two changes to it."""

    name = "config"
    summary = "Show, check and change the configuration; list its files, print its schema"
    examples = (
        "commonplace config show --changed",
        "commonplace config set query.maxResults 10",
        "commonplace config unset query.maxResults",
        "commonplace config check --config ./commonplace.json5",
        "commonplace config path",
        "commonplace config schema",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action",
            choices=("show", "set", "unset", "check", "path", "schema"),
            help="show: every setting with its origin; set, unset: change one key of a file, not "
            "its comments; check: all errors at once; path: the files that are read; "
            "schema: JSON Schema for editors",
        )
        parser.add_argument(
            "key",
            metavar="KEY",
            nargs="?",
            help="set, unset: the setting, in full or short: query.maxResults; show: only these",
        )
        argument(parser, "value", "VALUE", "set: a word, a number, true, false or JSON", nargs="?")
        parser.add_argument(
            "--file",
            metavar="FILE",
            help="set, unset: the file to change, such as a workspace's commonplace.json5 "
            "(default: your own file, or the one that --config names)",
        )
        flag(parser, "--changed", "show: leave out settings at their default")

    def run(self, args: Namespace, context: Context) -> int:
        """Run the action."""
        wanted = {"show": None, "set": 2, "unset": 1}.get(args.action, 0)
        given = sum(word is not None for word in (args.key, args.value))
        if wanted != given and (wanted is not None or given > 1):
            words = ("no key", "a key", "a key and a value")[1 if wanted is None else wanted]
            raise UsageError(
                f"config {args.action} takes {words}",
                hint=_HINTS.get(args.action, f"commonplace config {args.action}"),
            )
        if args.action in {"set", "unset"}:
            return _change(args, context)
        if args.action == "show":
            return _show(context, changed=args.changed, key=args.key)
        if args.action == "check":
            return _check(context)
        return _path(context) if args.action == "path" else _schema(context)


_HINTS = {
    "set": "commonplace config set query.maxResults 10; a value with blanks needs quotes",
    "unset": "commonplace config unset query.maxResults",
    "show": "commonplace config show query.maxResults",
}


def _change(args: Namespace, context: Context) -> int:
    from commonplace.config import paths
    from commonplace.config.change import ConfigFile

    variable = "COMMONPLACE_CONFIG"
    named = context.config or paths.given(context.env, variable)
    option = "--config" if context.config else variable if named else ""
    file = ConfigFile(
        args.file or named or paths.user_file(context.env),
        env=context.env,
        classes=context.section_classes(),
        absence=context.plugin_host().absence,
        named_by="" if args.file else option,
    )
    agent = context.agent or ""
    if args.action == "set":
        change = file.set(args.key, args.value, agent=agent)
    else:
        change = file.unset(args.key, agent=agent)
    notes = [*change.notes, *_elsewhere(change, context)]
    if context.json:
        hidden = "(hidden)" if change.secret else None
        context.emit(
            {
                "file": change.file,
                "key": change.key,
                "before": change.before if change.before is None else hidden or change.before,
                "after": change.after if change.after is None else hidden or change.after,
                "changed": change.changed,
                "notes": notes,
            }
        )
        return 0
    context.line(_done(change, args.action))
    context.notes(notes)
    return 0


def _done(change: Change, action: str) -> str:
    """What was done, on one line; secrets are not shown."""
    from json import dumps

    from commonplace.cli.streams import printable

    def shown(value: object) -> str:
        return "(hidden)" if change.secret else printable(dumps(value, ensure_ascii=False))

    if not change.changed:
        state = f"is {shown(change.after)} already" if action == "set" else "is not set"
        return f"{change.key} {state} in {change.file}; nothing was changed"
    if action == "unset":
        was = "" if change.secret else f", which was {shown(change.before)},"
        return f"Unset {change.key}{was} in {change.file}"
    was = "" if change.before is None or change.secret else f" (was {shown(change.before)})"
    return f"Set {change.key} to {shown(change.after)}{was} in {change.file}"


def _elsewhere(change: Change, context: Context) -> list[str]:
    """Where the setting comes from if that is not the file that was changed."""
    from commonplace.config.reading import key_path
    from commonplace.config.resolve import resolve

    resolution = resolve(**context.arguments())
    if resolution.error is not None or resolution.problems:
        return []
    if change.file not in resolution.files:
        if change.after is None:
            return []
        return [
            f"{change.file} is not read here: pass it with --config, or set it in your own file"
        ]
    found = [found for section in resolution.found.values() for found in section.values()]
    wanted = _spelt_alike(change.key)
    for one in found:
        if one.layer.file != change.file and _spelt_alike(key_path(one.keys)) == wanted:
            verb = "counts now" if change.after is None else "has it too, and counts more"
            return [f"{one.layer.file}:{one.layer.line_of(one.keys)} {verb}"]
    return []


def _spelt_alike(key: str) -> str:
    """``key`` in the older of the two spellings that settings of searching have."""
    start = "memory.search."
    return f"agents.defaults.memorySearch.{key[len(start) :]}" if key.startswith(start) else key


def _show(context: Context, *, changed: bool, key: str | None) -> int:
    from json import dumps

    from commonplace.config.reports import explain
    from commonplace.config.resolve import resolve

    asked = context.arguments()
    resolved = resolve(**asked, needed=False).settings_or_raise()
    accesses = _accesses(context.plugin_host(), resolved, context.env)
    settings = (*explain(**asked, needed=False), *accesses)
    if changed:
        settings = tuple(item for item in settings if item.origin != "default")
    if key:
        settings = _matching(settings, key)
    if context.json:
        context.emit({"settings": settings})
        return 0
    from commonplace.cli.streams import one_line, printable

    style = context.style
    rows = [
        (
            item.key,
            printable(dumps(item.value, ensure_ascii=False))
            + (f" {item.unit}" if item.unit and item.value is not None else ""),
            one_line(item.origin),
        )
        for item in settings
    ]
    for line, item in zip(columns(rows), settings, strict=True):
        context.line(style.faint(line) if item.origin == "default" else line)
    return 0


def _accesses(host: PluginHost, settings: Settings, env: Mapping[str, str]) -> Iterator[Explained]:
    """Address, headers and key that the providers in question get, each with its origin.

    Those that the settings name; with ``auto`` those that a key or an address was found for.
    """
    from commonplace.config.reports import Explained
    from commonplace.config.search import PROVIDERS
    from commonplace.embedding.access import access_of
    from commonplace.errors import UnavailableError

    search = settings.search
    named = dict.fromkeys((search.provider, search.fallback))
    ids = [id_ for id_ in named if id_ not in PROVIDERS]
    if search.provider == "auto":
        ids += [id_ for id_ in host.ids("provider") if id_ not in ids]
    for id_ in ids:
        try:
            registration = host.provider(id_)
            primary = id_ != search.fallback and search.provider in (id_, "auto")
            access = access_of(settings, env, registration, primary=primary)
        except UnavailableError as error:
            if id_ in named:
                where, about = f"models.providers.{id_}", "How it is reached."
                yield Explained(key=where, value=None, origin=str(error), about=about)
            continue
        if registration.credentials is not None and (id_ in named or access.keys):
            for key, value, origin, about in _access(access):
                where = f"models.providers.{id_}.{key}"
                yield Explained(key=where, value=value, origin=origin, about=about)


def _access(access: Access) -> Iterator[tuple[str, object, str, str]]:
    from commonplace.config.reports import shown

    headers = dict.fromkeys(access.headers, "(hidden)")
    key = "(hidden)" if access.keys else None
    url_origin = access.address_origin or "default"
    yield "baseUrl", shown(access.base_url), url_origin, "The address in use."
    yield "headers", headers, "configuration" if headers else "default", "Sent there."
    yield "apiKey", key, access.key_origin or "not found", "The key sent there."


def _matching(settings: tuple[Explained, ...], key: str) -> tuple[Explained, ...]:
    """The settings that ``key`` means: in full, the end of a key, or an object of several."""
    found = tuple(
        item
        for item in settings
        if f".{item.key}".endswith(f".{key}") or f".{key}." in f".{item.key}."
    )
    if not found:
        near = suggest(
            key, [item.key.partition("memorySearch.")[2] or item.key for item in settings]
        )
        raise UsageError(
            f"no setting is called {key!r}",
            hint=f"did you mean {near}?" if near else "commonplace config show lists them",
        )
    return found


def _check(context: Context) -> int:
    from commonplace.cli.checks import unread_by
    from commonplace.config.reports import check

    host = context.plugin_host()
    report = check(
        **context.arguments(),
        absence=host.absence,
        unread=unread_by(host),
        needed=False,
    )
    report = report.evolve(warnings=(*report.warnings, *host.switch_notices()))
    code = NOT_VALID if report.problems else DONE
    if context.json:
        from commonplace.cli.jsonify import plain

        context.emit({"ok": not report.problems, **plain(report)})
        return code
    style = context.style
    for problem in report.problems:
        context.line(f"{style.bad('problem')}  {problem}")
    for warning in report.warnings:
        context.line(f"{style.warning('warning')}  {warning}")
    if report.hint:
        context.line(f"         fix: {context.suggesting(report.hint)}")
    if not report.problems:
        read = ", ".join(report.files) or "no file, defaults only"
        context.line(f"{style.good('ok')}       {read}")
    else:
        context.note(f"{counted(len(report.problems), 'problem')} found")
    return code


def _path(context: Context) -> int:
    from commonplace.config.paths import config_paths

    paths = config_paths(workspace=context.workspace, config=context.config, env=context.env)
    if context.json:
        context.emit({"paths": paths})
        return 0
    rows = [(path.role, "read" if path.exists else "missing", path.path) for path in paths]
    context.lines(columns(rows))
    return 0


def _schema(context: Context) -> int:
    from commonplace.config.reports import json_schema

    context.emit(json_schema(classes=context.section_classes()), versioned=False)
    return 0
