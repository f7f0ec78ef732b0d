"""The command ``mcp``: serves memory until the client is gone."""

from __future__ import annotations

import signal
from functools import partial
from typing import TYPE_CHECKING

from commonplace import Memory
from commonplace.plugin import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context


class McpCommand:
    """Serves the tools memory_search and memory_get on standard input and output."""

    name = "mcp"
    summary = "Serve memory to an agent over MCP, on standard input and output"
    examples = (
        "commonplace mcp --workspace ~/notes",
        "commonplace mcp --agents main,work",
        "claude mcp add memory -- commonplace mcp --workspace ~/notes",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--agents",
            metavar="IDS",
            help="serve the memories of several agents (main,work): a call names one of them",
        )
        parser.add_argument(
            "--session-key",
            metavar="KEY",
            default="",
            help="the chat that is served, such as agent:main:telegram:group:42: it decides what "
            "may be seen, and whether passages are cited (default: a direct chat)",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Serve until standard input ends."""
        agents = [name.strip() for name in (args.agents or context.agent or "").split(",")]
        if args.agents and not all(agents):
            raise UsageError("--agents names an empty agent", hint="--agents main,work")
        return _serve(agents, args.session_key, context)


def _serve(agents: list[str], session_key: str, context: Context) -> int:
    from commonplace_mcp.stdio import StdioServer, standard_streams
    from commonplace_mcp.surface import Surface

    reader, writer = standard_streams()
    open_memory = partial(_open, context)
    surface = Surface(open_memory, agents, session_key=session_key)
    server = StdioServer(surface, reader, writer)
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", None)):
        if number is not None:
            signal.signal(number, _end)
    try:
        server.serve()
    except _Ended:
        pass
    finally:
        surface.close()
    return 0


class _Ended(BaseException):
    """A signal asked the server to end."""


def _end(number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise _Ended


def _open(context: Context, agent: str) -> Memory:
    return Memory.open(
        workspace=context.workspace,
        agent=agent or None,
        config=context.config,
        env=context.env,
    )
