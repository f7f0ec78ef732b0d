"""``commonplace config``: show, check, locate and describe the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.terminal import count

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context


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

    from commonplace.config.reports import explain

    settings = explain(
        workspace=context.workspace,
        agent=context.agent,
        config=context.config,
        env=context.env,
        sections=context.section_classes(),
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


def _check(context: Context) -> int:
    from commonplace.cli.context import plugin_host
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
        return 1 if report.problems else 0
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
    return 1 if report.problems else 0


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
