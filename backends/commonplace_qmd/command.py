"""The command ``commonplace qmd``: shows how to run an agent's QMD by hand."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from commonplace.plugin import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context, Settings
    from commonplace_qmd.settings import QmdSettings


class QmdCommand:
    """Prints the variables by which ``qmd`` finds an agent's configuration and index."""

    name = "qmd"
    summary = "Show how to run QMD by hand on what an agent searches"
    examples = (
        'eval "$(commonplace qmd env)" && qmd status',
        "commonplace qmd env --agent work",
        "commonplace qmd env --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action", metavar="env", nargs="?", help="print shell exports, and how to fetch models"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Print; nothing is created, and QMD is not run."""
        if args.action != "env":
            raise UsageError("name what to show", hint=self.examples[0])
        with context.open_memory() as memory:
            settings = memory.settings
            config = _config(settings)
        variables = environment(settings)
        steps = steps_of(config.command)
        if context.json:
            context.emit(
                {
                    "agent": settings.agent,
                    "workspace": settings.workspace,
                    "command": config.command,
                    "searchMode": config.search_mode,
                    "env": variables,
                    "prewarm": steps,
                }
            )
            return 0
        for name, value in variables.items():
            context.line(f"export {name}={shlex.quote(value)}")
        context.line(f"# QMD of the agent {settings.agent} in {settings.workspace}")
        context.line(
            "# With these set, fetch the models (some 2 GB, once for all agents) and embed:"
        )
        for line in steps:
            context.line(f"#   {line}")
        return 0


def environment(settings: Settings) -> dict[str, str]:
    """The variables by which ``qmd`` finds the configuration and index of this agent.

    Not ``XDG_CONFIG_HOME``, which QMD does not need beside its own: in a shell that has it,
    commonplace would look for its configuration there, too.
    """
    from commonplace_qmd.home import home_of

    home = home_of(settings.state_dir, settings.agent, settings.workspace).qmd
    return {
        "QMD_CONFIG_DIR": home.config_dir,
        "XDG_CACHE_HOME": home.cache_home,
        "INDEX_PATH": home.index_path,
        "NO_COLOR": "1",
    }


def steps_of(command: str) -> list[str]:
    """The commands to run, in this order, before ``searchMode`` is ``vsearch`` or ``query``."""
    program = shlex.quote(command)
    return [
        "commonplace index",
        f"{program} pull",
        f"{program} embed",
        f"{program} query 'is it warm?' --json",
    ]


def _config(settings: Settings) -> QmdSettings:
    from commonplace_qmd.settings import QmdSettings

    found = settings.section_values.get("memory.qmd")
    return found if isinstance(found, QmdSettings) else QmdSettings()
