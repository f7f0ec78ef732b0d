"""``commonplace config``: show, check, locate and describe the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.terminal import count

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping

    from commonplace.cli.context import Context
    from commonplace.config.reports import Explained
    from commonplace.config.resolve import Arguments
    from commonplace.config.settings import Settings
    from commonplace.embedding.access import Access
    from commonplace.host.host import PluginHost


class ConfigCommand:
    """Four actions on the configuration."""

    name = "config"
    summary = "Show the configuration, check it, list its files, print its schema"
    examples = (
        "commonplace config show --changed",
        "commonplace config check --config ./commonplace.json5",
        "commonplace config path",
        "commonplace config schema",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action",
            choices=("show", "check", "path", "schema"),
            help="show: every setting with its origin; check: all errors at once; "
            "path: the files that are read; schema: JSON Schema for editors",
        )
        parser.add_argument(
            "--changed", action="store_true", help="show: leave out settings at their default"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Run the action."""
        if args.action == "show":
            return _show(context, changed=args.changed)
        if args.action == "check":
            return _check(context)
        return _path(context) if args.action == "path" else _schema(context)


def _show(context: Context, *, changed: bool) -> int:
    from json import dumps

    from commonplace.cli.context import plugin_host
    from commonplace.config.load import load_settings
    from commonplace.config.reports import explain

    asked: Arguments = {
        "workspace": context.workspace,
        "agent": context.agent,
        "config": context.config,
        "env": context.env,
        "sections": context.section_classes(),
    }
    host = plugin_host(context.env)
    settings = (
        *explain(**asked),
        *_accesses(host, load_settings(**asked), context.env),
    )
    if changed:
        settings = tuple(item for item in settings if item.origin != "default")
    if context.json:
        context.emit(
            {
                "settings": [
                    {
                        "key": item.key,
                        "value": item.value,
                        "origin": item.origin,
                        "unit": item.unit,
                        "about": item.about,
                    }
                    for item in settings
                ]
            }
        )
        return 0
    from commonplace.cli.terminal import columns, printable

    style = context.style
    rows = [
        (
            item.key,
            printable(dumps(item.value, ensure_ascii=False))
            + (f" {item.unit}" if item.unit and item.value is not None else ""),
            printable(item.origin),
        )
        for item in settings
    ]
    for line, item in zip(columns(rows) if rows else (), settings, strict=True):
        context.line(style.faint(line) if item.origin == "default" else line)
    return 0


def _accesses(host: PluginHost, settings: Settings, env: Mapping[str, str]) -> Iterator[Explained]:
    """Address, headers and key that the providers in question get, each with its origin.

    Those that the settings name; with ``auto`` those that a key or an address was found for.
    """
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
                yield _row(f"models.providers.{id_}", None, str(error), "How it is reached.")
            continue
        if registration.credentials is not None and (id_ in named or access.keys):
            yield from _access(id_, access)


def _access(id_: str, access: Access) -> Iterator[Explained]:
    from commonplace.config.reports import shown

    prefix = f"models.providers.{id_}"
    url, headers = shown(access.base_url), dict.fromkeys(access.headers, "(hidden)")
    key = "(hidden)" if access.keys else None
    yield _row(f"{prefix}.baseUrl", url, access.address_origin or "default", "The address in use.")
    yield _row(
        f"{prefix}.headers", headers, "configuration" if headers else "default", "Sent there."
    )
    yield _row(f"{prefix}.apiKey", key, access.key_origin or "not found", "The key sent there.")


def _row(key: str, value: object, origin: str, about: str) -> Explained:
    from commonplace.config.reports import Explained

    return Explained(key=key, value=value, origin=origin, about=about)


def _check(context: Context) -> int:
    from commonplace.cli.context import plugin_host
    from commonplace.cli.parser import DONE, NOT_VALID
    from commonplace.config.reports import check

    report = check(
        workspace=context.workspace,
        agent=context.agent,
        config=context.config,
        env=context.env,
        sections=context.section_classes(),
        absence=plugin_host(context.env).absence,
    )
    if context.json:
        context.emit(
            {
                "ok": not report.problems,
                "files": report.files,
                "problems": report.problems,
                "warnings": report.warnings,
                "hint": report.hint,
            }
        )
        return NOT_VALID if report.problems else DONE
    style = context.style
    for problem in report.problems:
        context.line(f"{style.bad('problem')}  {problem}")
    for warning in report.warnings:
        context.line(f"{style.warning('warning')}  {warning}")
    if report.hint:
        context.line(f"         fix: {report.hint}")
    if not report.problems:
        read = ", ".join(report.files) or "no file, defaults only"
        context.line(f"{style.good('ok')}       {read}")
    else:
        context.note(f"{count(len(report.problems), 'problem')} found")
    return NOT_VALID if report.problems else DONE


def _path(context: Context) -> int:
    from commonplace.config.paths import config_paths

    paths = config_paths(workspace=context.workspace, config=context.config, env=context.env)
    if context.json:
        context.emit(
            {
                "paths": [
                    {"role": path.role, "path": path.path, "exists": path.exists} for path in paths
                ]
            }
        )
        return 0
    from commonplace.cli.terminal import columns

    rows = [(path.role, "read" if path.exists else "missing", path.path) for path in paths]
    for line in columns(rows):
        context.line(line)
    return 0


def _schema(context: Context) -> int:
    from commonplace.config.reports import json_schema

    context.emit(json_schema(classes=context.section_classes()), versioned=False)
    return 0


create = ConfigCommand
