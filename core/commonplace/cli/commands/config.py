"""``commonplace config``: show, check, change, locate and describe the configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import DONE, NOT_VALID, argument, flag
from commonplace.cli.terminal import columns
from commonplace.errors import counted, suggest

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.cli.context import Context
    from commonplace.config.change import ConfigChange
    from commonplace.config.reading import Found
    from commonplace.config.reports import Explained
    from commonplace.config.resolve import Resolution
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


def _done(change: ConfigChange, action: str) -> str:
    """What was done, on one line; secrets are not shown."""
    from json import dumps

    from commonplace.cli.streams import printable

    def value_text(value: object) -> str:
        return "(hidden)" if change.secret else printable(dumps(value, ensure_ascii=False))

    if not change.changed:
        state = f"is {value_text(change.after)} already" if action == "set" else "is not set"
        return f"{change.key} {state} in {change.file}; nothing was changed"
    if action == "unset":
        was = "" if change.secret else f", which was {value_text(change.before)},"
        return f"Unset {change.key}{was} in {change.file}"
    was = "" if change.before is None or change.secret else f" (was {value_text(change.before)})"
    return f"Set {change.key} to {value_text(change.after)}{was} in {change.file}"


def _elsewhere(change: ConfigChange, context: Context) -> list[str]:
    """Where the setting comes from if that is not what was changed."""
    from commonplace.config.reading import key_path
    from commonplace.config.resolve import resolve

    arguments = context.arguments()
    if change.agent:
        arguments["agent"] = change.agent
    resolution = resolve(**arguments, needed=False)
    if resolution.error is not None or resolution.problems:
        return []
    if change.file not in resolution.files:
        if change.after is None:
            return []
        return [
            f"{change.file} is not read here: pass it with --config, or set it in your own file"
        ]
    notes = []
    for setting, one in _counting_more(resolution, change, context.section_classes()):
        file, line, key = one.layer.file, one.layer.line_of(one.keys), key_path(one.keys)
        if change.after is None:
            same = f"{key} (line {line})" if file == change.file else f"{file}:{line}"
            notes.append(f"{same} counts now")
        elif file == change.file:
            notes.append(f"{setting} has no effect while {key} (line {line}) counts more")
        else:
            notes.append(f"{file}:{line} has it too, and counts more")
    return list(dict.fromkeys(notes))


_OF_SEARCHING = re.compile(
    r"memory\.search|agents\.(defaults|list\[\d+\]|entries(\.[^.\[]+|\['[^']*'\]))"
    r"\.(memorySearch|memory\.search)(?=[.\[]|$)"
)
"""How keys of searching may begin, in either spelling, for one agent or for all."""


def _counting_more(
    resolution: Resolution, change: ConfigChange, classes: Callable[[str], type | None]
) -> Iterator[tuple[str, Found]]:
    """What the settings that were changed are read from, where that is another place.

    Each with its key as it was changed. Lists that add up count wherever they stand.
    """
    from commonplace.config.defaults import SEARCH_KEYS
    from commonplace.config.document import owned
    from commonplace.config.reading import key_path
    from commonplace.config.reports import SEARCH
    from commonplace.config.search import SearchSettings
    from commonplace.config.shape import Shape

    wanted = _OF_SEARCHING.sub(SEARCH, change.key, count=1)
    leaves = Shape(SearchSettings, SEARCH_KEYS, classes).complete().leaves
    found: dict[str, Found] = {}
    for position, one in resolution.found.get("search", {}).items():
        if position not in leaves or not leaves[position].setting.adds:
            # What plugins declare among the keys of searching counts more than in their sections.
            names = [f"{section}.{key}".rstrip(".") for section, key in owned(position)]
            found.update(dict.fromkeys((f"{SEARCH}.{position}", *names), one))
    for section, settings in resolution.found.items():
        for one in settings.values() if section != "search" else ():
            found.setdefault(key_path(one.keys), one)
    for name, one in found.items():
        if not (_is_within(name, wanted) or _is_within(wanted, name)):
            continue
        at = key_path(one.keys)
        same = _is_within(at, change.key) or _is_within(change.key, at)
        if not (same and one.layer.file == change.file):
            yield change.key + name[len(wanted) :], one


def _is_within(key: str, start: str) -> bool:
    return key == start or key.startswith((f"{start}.", f"{start}["))


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
    from commonplace.cli.checks import providers_of
    from commonplace.config.reports import Explained
    from commonplace.embedding.access import access_of
    from commonplace.errors import UnavailableError

    search = settings.search
    named = (search.provider, search.fallback)
    for id_ in providers_of(host, settings):
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
    from commonplace.config.reports import masked

    headers = dict.fromkeys(access.headers, "(hidden)")
    key = "(hidden)" if access.keys else None
    url_origin = access.address_origin or "default"
    yield "baseUrl", masked(access.base_url), url_origin, "The address in use."
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
    from commonplace.cli.checks import lacking, unread_by
    from commonplace.config.reports import check
    from commonplace.config.resolve import resolve

    host = context.plugin_host()
    report = check(
        **context.arguments(),
        absence=host.absence,
        unread=unread_by(host),
        needed=False,
    )
    settings = resolve(**context.arguments(), needed=False).settings
    unset = lacking(host, settings, context.env) if settings is not None else ()
    report = report.evolve(warnings=(*report.warnings, *host.switch_notices(), *unset))
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
    from commonplace.config.resolve import resolve

    workspace, config, env = context.workspace, context.config, context.env
    resolved = resolve(
        workspace=workspace, agent=context.agent, config=config, env=env, needed=False
    )
    paths = config_paths(workspace=resolved.workspace or workspace, config=config, env=env)
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
