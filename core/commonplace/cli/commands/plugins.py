"""``commonplace plugins``: list the installed plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context
    from commonplace.cli.terminal import Style
    from commonplace.host.reports import PluginInfo


class PluginsCommand:
    """Lists every plugin by kind and id, with its distribution."""

    name = "plugins"
    summary = "List the plugins: kind, id, state, distribution, summary"
    examples = ("commonplace plugins", "commonplace plugins --load --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--load",
            action="store_true",
            help="load each plugin and report what it needs to work here; exit code 1 if one does "
            "not load",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """List them; without ``--load`` no plugin is imported."""
        from commonplace.cli.context import plugin_host

        infos = plugin_host(context.env).plugins(load=args.load)
        if context.json:
            context.emit({"plugins": infos})
        else:
            _show(infos, context)
        return 1 if any(info.state == "failed" for info in infos) else 0


def _show(infos: tuple[PluginInfo, ...], context: Context) -> None:
    from commonplace.cli.terminal import columns

    style = context.style
    rows = [
        (info.name, info.state, f"{info.distribution} {info.version}".strip(), info.summary)
        for info in infos
    ]
    for line, info in zip(columns(rows), infos, strict=True) if rows else ():
        context.line(_painted(line, info.state, style))
        if info.error:
            context.line(f"  {style.bad(info.error)}")
        for notice in info.notices:
            context.line(f"  {style.warning(notice)}")
        if info.hint:
            context.line(f"  fix: {info.hint}")
    if not rows:
        context.note("no plugins are installed")


def _painted(line: str, state: str, style: Style) -> str:
    if state == "failed":
        return style.bad(line)
    return style.faint(line) if state == "disabled" else line


create = PluginsCommand
