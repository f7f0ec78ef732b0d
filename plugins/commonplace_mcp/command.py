"""The command ``mcp``: serves memory until the client is gone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace import Memory
from commonplace.plugin import UsageError, serve_until_signal

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace import SyncListener
    from commonplace.plugin import Context
    from commonplace_mcp.surface import Surface


class McpCommand:
    """Serves the tools memory_search and memory_get, on standard input and output or over HTTP."""

    name = "mcp"
    summary = "Serve memory to an agent over MCP, on standard input and output or over HTTP"
    examples = (
        "commonplace mcp --workspace ~/notes",
        "commonplace mcp --agents main,work",
        "commonplace mcp --http 127.0.0.1:8000",
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
        parser.add_argument(
            "--watch",
            action="store_true",
            help="index and embed changed notes in the background, so that a search need not look "
            "at every file: worth it from some thousand notes on",
        )
        parser.add_argument(
            "--http",
            metavar="HOST:PORT",
            help="serve over HTTP instead, at /mcp; a host that other machines reach needs a token "
            "in COMMONPLACE_MCP_TOKEN",
        )
        parser.add_argument(
            "--allow-host",
            metavar="NAME",
            action="append",
            default=[],
            help="a further name by which clients reach --http, such as that of a proxy",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Serve until standard input ends, or a signal comes."""
        agents = [name.strip() for name in (args.agents or context.agent or "").split(",")]
        if args.agents and not all(agents):
            raise UsageError("--agents names an empty agent", hint="--agents main,work")
        if any(agents):  # one that is not there would fail the resources of all
            context.check_agents(agents)
        import logging

        from commonplace_mcp.surface import Surface

        surface = Surface(
            lambda agent: _open(context, agent, surface.synced, watch=args.watch),
            agents,
            session_key=args.session_key,
            suggesting=context.suggesting,
        )
        log, written = logging.getLogger("commonplace"), logging.StreamHandler()
        log.addHandler(written)  # clients keep what a server writes to standard error
        serve = _serve_stdio if args.http is None else partial(_serve_http, args, context)
        try:
            serve_until_signal(lambda: serve(surface), surface.close)
        finally:
            log.removeHandler(written)
        return 0


def _serve_stdio(surface: Surface) -> None:
    from commonplace_mcp.stdio import StdioServer, standard_streams

    StdioServer(surface, *standard_streams()).serve()


def _serve_http(args: Namespace, context: Context, surface: Surface) -> None:
    host, colon, port = args.http.rpartition(":")
    way = "--http 127.0.0.1:8000"
    if not (colon and port.isdecimal()):
        raise UsageError(f"--http {args.http}: no host and port", hint=way)
    if len(port) > 5 or int(port) > 65535:
        raise UsageError(f"--http {args.http}: the port is more than 65535", hint=way)
    from commonplace_mcp.http import serve

    def ready(address: str) -> None:
        context.note(f"serving {address}; press Ctrl-C to end")

    token = context.env.get("COMMONPLACE_MCP_TOKEN", "")
    host = host.strip("[]") or "127.0.0.1"
    serve(surface, host, int(port), token=token, names=args.allow_host, ready=ready)


def _open(context: Context, agent: str, on_sync: SyncListener, *, watch: bool) -> Memory:
    return Memory.open(
        workspace=context.workspace,
        agent=agent or None,
        config=context.config,
        env=context.env,
        on_sync=on_sync,
        watch=watch,
    )
