"""``commonplace plugins``: what is installed, what it is for, and whether it can work here."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from commonplace.cli.commands import authoring
from commonplace.cli.parser import flag
from commonplace.cli.streams import printable
from commonplace.cli.terminal import wrap

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator

    from commonplace.cli.context import Context
    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.host.reports import PluginInfo


_TITLES = {
    "backend": "Backends: where the index is",
    "provider": "Embedding providers: search by meaning",
    "source": "Sources: what is searched",
    "chunker": "Chunkers: how documents are cut",
    "ranker": "Rankers: how results are ordered",
    "command": "Commands",
    "tool": "Tools for agents",
    "query": "Query rewriting",
    "search": "Around searches",
    "write": "Before changes of notes",
    "prompt": "Sections of prompts",
    "events": "Listeners",
}
_ALL_SECONDS = 5.0


class PluginsCommand:
    """Lists every plugin by kind, with whether it can work here; writes and checks plugins."""

    name = "plugins"
    summary = "List the plugins, with what each needs; begin a plugin, check one"
    examples = (
        "commonplace plugins",
        "commonplace plugins --no-probe",
        "commonplace plugins --json",
        "commonplace plugins new ranker short-first",
        "commonplace plugins check ranker.short-first",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        authoring.configure(parser)
        about = "list the names only: no plugin is imported or asked whether it is ready"
        flag(parser, "--no-probe", about)

    def run(self, args: Namespace, context: Context) -> int:
        """List them, return 1 if one does not load; or do what ``args.action`` says."""
        if args.action:
            return authoring.run(args, context)
        from commonplace.cli.checks import missing_extras

        host = context.plugin_host()
        with context.progress() as progress:
            progress.show("Asking the plugins")
            infos = host.plugins(load=not args.no_probe)
            if not args.no_probe:
                infos = tuple(_with_keys(infos, host, context))
        missing = tuple(missing_extras())
        if context.json:
            extras = [
                dict(zip(("library", "adds", "install"), one, strict=True)) for one in missing
            ]
            notices = host.switch_notices()
            context.emit({"plugins": infos, "missingExtras": extras, "warnings": notices})
        else:
            _show(infos, context)
            _show_extras(missing, context)
            context.notes(host.switch_notices())
        return 1 if any(info.state == "failed" for info in infos) else 0


def _with_keys(
    infos: Iterable[PluginInfo], host: PluginHost, context: Context
) -> Iterator[PluginInfo]:
    """``infos``; a provider is ready only where it has the key or the model that it needs."""
    from commonplace.embedding.choice import readiness
    from commonplace.host.reports import with_readiness
    from commonplace.resilience.deadline import Deadline

    settings = _settings(context)
    until = Deadline.after(_ALL_SECONDS)
    for info in infos:
        if settings is None or info.kind != "provider" or not info.ready:
            yield info
            continue
        registration = host.provider(info.id)
        yield with_readiness(info, partial(readiness, registration, settings, context.env), until)


def _settings(context: Context) -> Settings | None:
    """The settings of the agent, ``None`` where they are wrong: ``doctor`` reports that."""
    from commonplace.config.load import load_settings
    from commonplace.errors import ConfigError

    asked = context.arguments()
    # Without a workspace its own file is unknown, and all else is as configured.
    for workspace in (context.workspace, os.curdir):
        asked["workspace"] = workspace
        with suppress(ConfigError):
            return load_settings(**asked)
    return None


def _show(infos: tuple[PluginInfo, ...], context: Context) -> None:
    width = max((len(info.id) for info in infos), default=0)
    kinds = sorted({info.kind for info in infos}, key=[*_TITLES, *(i.kind for i in infos)].index)
    for kind in kinds:
        context.line(context.style.strong(_TITLES.get(kind, kind)))
        for info in infos:
            if info.kind == kind:
                _show_one(info, context, width)
        context.line()
    if not infos:
        context.note("no plugins are installed")


def _show_one(info: PluginInfo, context: Context, width: int) -> None:
    """A line on what it is for, then what it lacks and how to get that."""
    style = context.style
    word, paint = _state(info, context)
    about = info.summary
    if info.distribution not in {"", "commonplace"}:
        about += f" ({info.distribution} {info.version})".rstrip()
    indent = width + 15
    _wrapped(context, f"  {info.id:<{width}}  {paint(f'{word:<9}')}  ", indent, about.strip())
    below = partial(_wrapped, context, " " * indent, indent)
    if info.error:
        below(info.error, style.bad)
    for notice in info.notices:  # without what stands in the line above it
        words = notice.removeprefix("cannot work here: ").removeprefix(f"{info.id}: ")
        below(words, style.warning)
    if info.hint:
        below(f"fix: {info.hint}")


def _state(info: PluginInfo, context: Context) -> tuple[str, Callable[[str], str]]:
    style = context.style
    if info.state == "failed":
        return "failed", style.bad
    if info.state == "disabled":
        return "off", style.faint
    if info.ready is None:
        return "installed", style.faint
    return ("ready", style.good) if info.ready else ("not ready", style.warning)


def _show_extras(missing: tuple[tuple[str, str, str], ...], context: Context) -> None:
    if not missing:
        return
    context.line(context.style.strong("Optional libraries that are not installed"))
    width = max(len(module) for module, _, _ in missing)
    for module, gives, command in missing:
        _wrapped(context, f"  {module:<{width}}  ", width + 4, f"{gives}: {command}")
    context.line()


def _wrapped(
    context: Context, head: str, indent: int, text: str, paint: Callable[[str], str] = str
) -> None:
    """``text`` behind ``head``, wrapped on a terminal; ``indent`` is the width of ``head``."""
    text = printable(text)
    if not context.pretty:
        context.line(f"{head}{text}".rstrip())
        return
    if context.style.width - indent < 30:  # a narrow terminal: below, a little indented
        if head.strip():
            context.line(head.rstrip())
        head, indent = " " * 6, 6
    for start, end in wrap(text, context.style.width - indent) if text else ((0, 0),):
        context.line((head + paint(text[start:end])).rstrip())
        head = " " * indent
