"""The server: listens before anything heavy is imported, so that the page is there within a second.

The browser is opened while the libraries are still being imported: its connection waits.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from commonplace import CommonplaceError, Memory, PluginUnavailableError
from commonplace.plugin import NamedTuple, how_to_install, is_loopback, listen, shown_host
from commonplace_browse.guarding import Keys, loopback_names

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from commonplace import Progress, SyncEvent
    from commonplace.plugin import Context


_FIRST_SECONDS = 1.0
_SWITCH_SECONDS = 0.0003


class ServeOptions(NamedTuple):
    """What the command line asked for; ``names`` are further values of ``Host``."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    read_only: bool = False
    opens: bool = False


def serve(context: Context, options: ServeOptions) -> None:
    """Serve the memory that ``context`` names until a signal ends it.

    Raises :class:`~commonplace.CallerError` for an address that cannot be listened on,
    :class:`~commonplace.PluginUnavailableError` without the extra ``browse``, and what
    ``Memory.open`` raises.
    """
    listening = listen(options.host, options.port)
    shown = shown_host(options.host)
    port = listening.getsockname()[1]
    keys = Keys(port)

    def announce(why: str) -> str:
        address = f"http://{shown}:{port}/?token={keys.new_token()}"
        if context.json:
            context.emit_line({"url": address, "readOnly": options.read_only})
        else:
            context.line(f"{why}: {address}")
            context.out.flush()
        return address

    listeners: list[Callable[[], None]] = []
    with listening, _open(context, listeners) as memory:
        serve_app = _importing()
        if not is_loopback(options.host):
            context.note(
                f"other machines can reach {shown}; what they read is not encrypted on the way"
            )
        address = announce("Browse your memory (the address works once; Ctrl-C ends)")
        if options.opens:
            _open_browser(address)
        names = (*options.names, *(loopback_names() if is_loopback(options.host) else (shown,)))
        indexing = _index(memory)
        serve_app(
            memory,
            keys,
            names=names,
            read_only=options.read_only,
            opened=_named(context),
            listening=listening,
            progress=indexing,
            listeners=listeners,
            # The next browser needs an address of its own.
            used=lambda: announce("For another browser"),
        )


def _importing() -> Callable[..., None]:
    """What serves; raises where the extra is missing, before any address is shown."""
    from importlib.util import find_spec

    for name in ("starlette", "uvicorn", "jinja2", "markdown_it", "nh3"):
        if find_spec(name) is None:
            raise PluginUnavailableError(
                f"browsing needs {name}, which is not installed",
                hint=how_to_install("commonplace[browse]"),
            )
    return _serve_app


def _serve_app(memory: Memory, keys: Keys, *, listening: socket.socket, **parts: Any) -> None:
    import uvicorn

    from commonplace_browse.app import make_app

    app: Any = make_app(memory, keys, **parts)
    config = uvicorn.Config(
        app,
        log_level="warning",
        lifespan="off",
        ws="none",
        loop="asyncio",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    # A search gives up the interpreter hundreds of times, and would wait 5 ms each time for a sync
    # or an audit that computes beside it.
    sys.setswitchinterval(_SWITCH_SECONDS)
    server = uvicorn.Server(config)
    # Requests that the end cuts off are no errors: nothing is said of them.
    logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)
    asyncio.run(server.serve(sockets=[listening]))


def _named(context: Context) -> Namespace:
    return Namespace(
        workspace=context.workspace, config=context.config, agent=context.agent, env=context.env
    )


def _open(context: Context, listeners: list[Callable[[], None]]) -> Memory:
    def synced(_: SyncEvent) -> None:
        # Also one that changed nothing: it may be the one that found a folder away, or back.
        for listener in listeners:
            listener()

    return Memory.open(
        workspace=context.workspace,
        agent=context.agent,
        config=context.config,
        env=context.env,
        on_sync=synced,
    )


def _index(memory: Memory) -> Callable[[], Progress | None]:
    """Update the index and watch the notes, in the background; the result says how far that is.

    It begins a second later, so that the first page has the processor for itself.
    """
    latest: list[Progress] = []

    def run() -> None:
        pause = threading.Event().wait
        pause(_FIRST_SECONDS)
        try:
            with suppress(CommonplaceError):  # the pages show it, with its reason
                memory.watch()
                memory.sync(progress=lambda progress: latest.__setitem__(slice(None), [progress]))
        finally:
            latest.clear()
        # Each full collection would look at what these have loaded, for 50 to 100 ms of a search.
        gc.collect()
        gc.freeze()

    threading.Thread(target=run, daemon=True, name="browse-index").start()
    return lambda: latest[0] if latest else None


def _open_browser(address: str) -> None:
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
