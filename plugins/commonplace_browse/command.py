"""The command ``browse``: opens the memory in the browser until Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import UsageError, serve_until_signal

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context


class BrowseCommand:
    """Serves pages on loopback, behind an address that works once."""

    name = "browse"
    summary = "Browse memory in a web browser, on this machine"
    examples = (
        "commonplace browse --workspace ~/notes",
        "commonplace browse --read-only",
        "commonplace browse --port 8080 --no-open",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--read-only", action="store_true", help="show only: no page changes or opens anything"
        )
        parser.add_argument(
            "--no-open", action="store_true", help="print the address, and open no browser"
        )
        parser.add_argument(
            "--port", metavar="N", default="0", help="port to listen on (default: any that is free)"
        )
        parser.add_argument(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            help="address to listen on (default: 127.0.0.1); any other than loopback lets other "
            "machines reach the pages, over HTTP without encryption",
        )
        parser.add_argument(
            "--allow-host",
            metavar="NAME",
            action="append",
            default=[],
            help="a further name by which browsers reach it, such as that of a proxy",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Serve until a signal comes."""
        if not (args.port.isdecimal() and len(args.port) <= 5 and int(args.port) < 65536):
            raise UsageError(f"--port {args.port}: no port", hint="--port 8080, or 0 for any")
        from commonplace_browse.serving import ServeOptions, serve

        options = ServeOptions(
            host=args.host.strip("[]"),
            port=int(args.port),
            names=tuple(args.allow_host),
            read_only=args.read_only,
            opens=not (args.no_open or context.json),
        )
        serve_until_signal(lambda: serve(context, options), lambda: None)
        return 0
