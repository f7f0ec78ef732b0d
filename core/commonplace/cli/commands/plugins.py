"""``commonplace plugins``: what is installed and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context
    from commonplace.cli.terminal import Style
    from commonplace.model.plugin_info import PluginInfo

__all__ = ["create"]


class PluginsCommand:
    """Lists every plugin by kind and id, with where it comes from."""

    name = "plugins"
    summary = "List the plugins: kind, id, where they come from, whether they work"
    examples = ("commonplace plugins", "commonplace plugins --load --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--load",
            action="store_true",
            help="load each of them and ask what it lacks to work here; 1 is returned if one "
            "does not load",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """List them; without ``--load`` nothing of theirs is imported."""
        from commonplace.cli.extra import plugin_host

        infos = plugin_host(context.env).plugins(load=args.load)
        if context.json:
            context.emit({"plugins": infos})
        else:
            _show(infos, context)
        return 1 if any(info.state == "failed" for info in infos) else 0


def _show(infos: tuple[PluginInfo, ...], context: Context) -> None:
    from commonplace.cli.words import columns

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
