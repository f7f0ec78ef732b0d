"""The server over streamable HTTP, by the official SDK (extra ``mcp``).

It listens on this machine alone by default; any other address needs a token. Requests with
another ``Host`` or a foreign ``Origin`` are refused, so that no web page reaches it by a browser.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from commonplace import CallerError, PluginUnavailableError, __version__
from commonplace.plugin import how_to_install, is_loopback, listen, shown_host
from commonplace_mcp.asking import Asking
from commonplace_mcp.protocol import MISSING_CAPABILITY, MODERN
from commonplace_mcp.surface import MissingCapabilityError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from commonplace_mcp.surface import Surface

PATH = "/mcp"
LEAST_TOKEN = 16
"""Characters of a token; shorter ones can be guessed."""

SECONDS_TO_FINISH = 5
"""For requests that are running when a signal comes."""

_LOGGERS = "mcp.server.streamable_http", "uvicorn.error"
"""What logs failed requests: of the older era of the protocol, and of the newer one."""


def serve(
    surface: Surface,
    host: str,
    port: int,
    *,
    token: str,
    names: Sequence[str],
    ready: Callable[[str], None],
) -> None:
    """Serve ``surface`` on ``host`` and ``port`` (0: a free one) until a signal ends it.

    ``token`` is what clients send as ``Authorization: Bearer``; ``""`` asks for none, on loopback
    only. ``names`` are further values of ``Host`` that are accepted. ``ready`` is called with the
    address once it listens.

    Raises :class:`~commonplace.errors.CallerError` for an address or token that cannot be used.
    """
    if not token and not is_loopback(host):
        raise CallerError(
            f"{host} can be reached by other machines: a token is required",
            hint="set COMMONPLACE_MCP_TOKEN to a long random text, and give it to your clients",
        )
    if token and len(token) < LEAST_TOKEN:
        raise CallerError(
            f"the token has {len(token)} characters",
            hint=f"take at least {LEAST_TOKEN}, such as {secrets.token_urlsafe(16)}",
        )
    try:
        import uvicorn
        from mcp.server.transport_security import TransportSecuritySettings
    except ImportError as error:
        raise PluginUnavailableError(
            "MCP over HTTP needs the official SDK", hint=how_to_install("commonplace[mcp]")
        ) from error

    listening = listen(host, port)
    number = listening.getsockname()[1]
    hosts = [
        *names,
        *(["localhost", "127.0.0.1", "[::1]"] if is_loopback(host) else [shown_host(host)]),
    ]
    security = TransportSecuritySettings(
        allowed_hosts=[form for name in hosts for form in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{name}{end}"
            for name in hosts
            for scheme in ("http", "https")
            for end in ("", ":*")
        ],
    )
    threads = ThreadPoolExecutor(thread_name_prefix="commonplace-mcp")
    app: Any = sdk_server(surface, threads).streamable_http_app(
        streamable_http_path=PATH, transport_security=security, host=host
    )
    config = uvicorn.Config(
        _with_token(app, token) if token else app,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_worth_logging)
    ready(f"http://{shown_host(host)}:{number}{PATH}")
    with listening:
        try:
            asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
        finally:  # a call that still runs, such as one that builds the index, is not waited for
            threads.shutdown(wait=False, cancel_futures=True)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether it is anything but a client that went away in the middle of its request."""
    from starlette.requests import ClientDisconnect

    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ClientDisconnect)


def sdk_server(surface: Surface, threads: Executor | None = None) -> Any:
    """The SDK's server with the handlers of ``surface``; each call runs in one of ``threads``.

    Without ``threads`` these are asyncio's own, all of which ``asyncio.run`` waits for at its end.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    asking = Asking(surface)

    async def run(call: Callable[..., Any], *arguments: object) -> Any:
        work = partial(copy_context().run, call, *arguments)
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, work)
        except RefusedError as error:
            missing = isinstance(error, MissingCapabilityError)
            code = MISSING_CAPABILITY if missing else types.INVALID_PARAMS
            raise MCPError(code, str(error), error.data) from None

    async def list_tools(_: object, __: object) -> Any:
        return types.ListToolsResult.model_validate({"tools": await run(surface.tools)})

    async def call_tool(context: Any, params: Any) -> Any:
        answer = await run(_call_or_ask, surface, asking, context, params)
        asks = "inputRequests" in answer
        kind = types.InputRequiredResult if asks else types.CallToolResult
        return kind.model_validate(answer)

    async def list_resources(_: object, params: Any) -> Any:
        page, cursor = await run(surface.resources, params.cursor if params is not None else None)
        return types.ListResourcesResult.model_validate({"resources": page, "nextCursor": cursor})

    async def list_templates(_: object, __: object) -> Any:
        found = await run(surface.templates)
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": found})

    async def read_resource(_: object, params: Any) -> Any:
        content = await run(surface.read, str(params.uri))
        return types.ReadResourceResult.model_validate({"contents": [content]})

    async def list_prompts(_: object, __: object) -> Any:
        return types.ListPromptsResult.model_validate({"prompts": await run(surface.prompts)})

    async def get_prompt(_: object, params: Any) -> Any:
        found = await run(surface.prompt, params.name, params.arguments)
        return types.GetPromptResult.model_validate(found)

    return Server(
        "commonplace",
        version=__version__,
        title="commonplace memory",
        instructions=surface.instructions(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _call_or_ask(surface: Surface, asking: Asking, context: Any, params: Any) -> Any:
    """The result of a tool's call, or of 2026-07-28 on the question that comes before it."""
    arguments = params.arguments
    if context.protocol_version == MODERN:
        declared = context.session.client_capabilities
        capabilities = {} if declared is None else _plain(declared)
        question, arguments = asking.first(_plain(params), capabilities)
        if question is not None:
            return question
    return surface.call(params.name, arguments, None)


def _plain(model: Any) -> Any:
    """A value of the SDK as the protocol writes it."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _with_token(app: Any, token: str) -> Any:
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    return guarded
