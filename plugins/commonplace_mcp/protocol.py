"""JSON-RPC of MCP in both of its eras: from a message to its answer.

A client of 2026-07-28 puts its version into every request and may begin with any method; clients of
2025-11-25 and earlier begin with ``initialize``. The first request decides which era a connection
speaks.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Literal

from commonplace import __version__
from commonplace_mcp.asking import Asking
from commonplace_mcp.surface import MissingCapabilityError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeGuard

    from commonplace import ProgressCallback
    from commonplace_mcp.surface import Json, Surface

MODERN = "2026-07-28"
BATCHES = "2025-03-26"  # the one version with batches, which every server of it has to take
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

_PREFIX = "io.modelcontextprotocol/"
_SERVER = {"name": "commonplace", "title": "commonplace memory", "version": __version__}
_QUICK = frozenset({"server/discover", "initialize", "ping", "subscriptions/listen"})
_SECONDS_CACHED = {"tools/list": 60, "prompts/list": 60}
_READ = ("resources/list", "resources/templates/list", "resources/read")
_CACHED = frozenset({"server/discover", *_SECONDS_CACHED, *_READ})

MOST_SUBSCRIPTIONS = 1_000
"""Notes that one client may be subscribed to at a time, and streams that it may listen on."""

Era = Literal["modern", "handshake"]


class ProtocolError(Exception):
    """An answer with an error instead of a result."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def parse(line: bytes) -> Json:
    """The message in ``line``.

    Raises :class:`ProtocolError` where it is no JSON object of a sensible depth.
    """
    return checked(_json_in(line))


def parse_batch(line: bytes) -> list[object] | None:
    """What the array in ``line`` holds, unchecked; ``None`` where it is empty, or no array."""
    found = _json_in(line) if line.lstrip().startswith(b"[") else None
    return found if found and isinstance(found, list) else None


def _json_in(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "Parse error: this is not JSON") from None


def checked(message: object) -> Json:
    """``message`` if it is one; raises :class:`ProtocolError` where it is not."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 object a line")
    return message


def error_message(id_: object, error: ProtocolError) -> Json:
    """``error`` as a message."""
    facts: Json = {"code": error.code, "message": str(error)}
    if error.data is not None:
        facts["data"] = error.data
    return {"jsonrpc": "2.0", "id": id_, "error": facts}


def is_id(value: object) -> TypeGuard[str | int]:
    """Whether ``value`` can be the id of a request. ``True`` is none, though it equals 1."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def request_id(message: Json) -> str | int | None:
    """The id of a request; ``None`` for a notification or a response.

    Raises :class:`ProtocolError` for an id that is neither a string nor a whole number, for a
    method that is no string, and for what is none of the three.
    """
    if message.keys().isdisjoint(("method", "result", "error")):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: it has no method")
    if "method" not in message or "id" not in message:
        return None
    id_ = message["id"]
    if not is_id(id_):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: the id is no string or number")
    if not isinstance(message["method"], str):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: the method is no string")
    return id_


class Connection:
    """One client: which era it speaks, and what it subscribed to.

    ``send`` takes a message for the client and may be called from any thread.
    """

    def __init__(self, surface: Surface, send: Callable[[Json], None]) -> None:
        self._surface = surface
        self._asking = Asking(surface)
        self._send = send
        self._era: Era | None = None
        self.takes_batches = False
        self._listening: dict[str | int, Json] = {}
        self._subscribed: set[str] = set()
        self._seen: dict[str, str | None] = {}  # text of each note that is subscribed to
        self._looking = threading.Lock()
        surface.on_sync = self.synced
        self._both: dict[str, Callable[[Json], Json]] = {
            "tools/list": _one_page("tools", surface.tools),
            "resources/list": self._resources,
            "resources/templates/list": _one_page("resourceTemplates", surface.templates),
            "resources/read": lambda params: {"contents": [surface.read(params.get("uri"))]},
            "prompts/list": _one_page("prompts", surface.prompts),
            "prompts/get": lambda p: surface.prompt(p.get("name"), p.get("arguments")),
        }
        self._of: dict[Era, dict[str, Callable[[Json], Json]]] = {
            "modern": {
                "server/discover": lambda _: {
                    "supportedVersions": [MODERN],
                    **self._about("modern"),
                },
                "tools/call": self._call_asking,
            },
            "handshake": {
                "initialize": self._initialize,
                "ping": lambda _: {},
                "tools/call": self._call,
                "resources/subscribe": self._subscribe,
                "resources/unsubscribe": self._unsubscribe,
            },
        }

    def is_quick(self, message: Json) -> bool:
        """Whether the answer to a request reads no notes, and may be given at once."""
        return message["method"] in _QUICK

    def answer(self, message: Json) -> Json | None:
        """The answer to a request, or ``None`` where the answer is a stream of notifications."""
        id_ = message["id"]
        try:
            params = _object({} if (given := message.get("params")) is None else given, "they")
            method = message["method"]
            era = self._era_of(method, params)
            result = self._result(era, method, params, id_)
        except ProtocolError as error:
            return error_message(id_, error)
        except RefusedError as error:
            missing = isinstance(error, MissingCapabilityError)
            code = MISSING_CAPABILITY if missing else INVALID_PARAMS
            return error_message(id_, ProtocolError(code, str(error), error.data))
        if result is None:
            return None
        if era == "modern":
            result = _modern(method, result)
        return {"jsonrpc": "2.0", "id": id_, "result": result}

    def cancelled(self, id_: str | int) -> None:
        """The client cancelled request ``id_``; ends a subscription."""
        with self._looking:
            self._listening.pop(id_, None)
            self._forget_unwanted()

    def synced(self, changed_index: bool) -> None:  # noqa: FBT001 - its one argument
        """Notify the client of what it asked for, after a sync or a search, which may sync, too.

        The notes that it subscribed to are compared with what they were: a search may have indexed
        a change before the sync that was meant for it.
        """
        with self._looking:  # a change is reported once, whichever thread sees it first
            changed = {uri for uri in list(self._seen) if self._look(uri)}
        for id_, wanted in list(self._listening.items()):
            if changed_index and wanted.get("resourcesListChanged"):
                self._notify("resources/list_changed", {}, id_)
            for uri in wanted.get("resourceSubscriptions", ()):
                if uri in changed:
                    self._notify("resources/updated", {"uri": uri}, id_)
        for uri in sorted(self._subscribed & changed):
            self._notify("resources/updated", {"uri": uri})

    def _look(self, uri: str) -> bool:
        """Whether the note has another text than when it was last looked at."""
        try:
            text: str | None = self._surface.read(uri)["text"]
        except RefusedError:
            text = None
        changed = self._seen.get(uri) != text
        self._seen[uri] = text
        return changed

    def progress_of(self, params: Json) -> ProgressCallback | None:
        """Where a request wants its progress reported; ``None`` where it does not."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not is_id(token):
            return None
        steps = iter(range(1, 1 << 62))

        def report(progress: Any) -> None:
            # The protocol wants growing numbers; work of several parts begins at 0 again.
            facts = {"progressToken": token, "progress": next(steps)}
            words = f"{progress.label} {progress.completed} of {progress.total or 'many'}"
            self._notify("progress", {**facts, "message": words})

        return report

    def _era_of(self, method: str, params: Json) -> Era:
        """The era that a request speaks, which must be that of the connection."""
        meta = params.get("_meta")
        version = meta.get(_PREFIX + "protocolVersion") if isinstance(meta, dict) else None
        if self._era is None:
            if version is None and method != "initialize":
                raise ProtocolError(
                    INVALID_PARAMS, "Invalid params: begin with initialize or a protocol version"
                )
            self._era = "handshake" if version is None else "modern"
        if self._era == "handshake":
            if version is not None:
                raise ProtocolError(
                    INVALID_REQUEST, "this connection was opened by initialize: send no version"
                )
            return "handshake"
        if method == "initialize":
            raise ProtocolError(
                UNSUPPORTED_VERSION,
                f"this connection speaks {MODERN}: initialize is not accepted",
                {"supported": [MODERN]},
            )
        if version is None:
            raise ProtocolError(
                INVALID_PARAMS, "Invalid params: _meta must carry the protocol version"
            )
        if version != MODERN:
            raise ProtocolError(
                UNSUPPORTED_VERSION,
                "Unsupported protocol version",
                {"supported": [MODERN], "requested": version},
            )
        return "modern"

    def _result(self, era: Era, method: str, params: Json, id_: str | int) -> Json | None:
        handler = self._both.get(method) or self._of[era].get(method)
        if handler is not None:
            return handler(params)
        if method == "subscriptions/listen" and era == "modern":
            self._listen(params.get("notifications"), id_)
            return None
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)

    def _about(self, era: Era) -> Json:
        listens = {"listChanged": era == "modern", "subscribe": True}
        return {
            "capabilities": {
                "tools": {"listChanged": False},
                "resources": listens,
                "prompts": {"listChanged": False},
            },
            "instructions": self._surface.instructions(),
        }

    def _initialize(self, params: Json) -> Json:
        asked = params.get("protocolVersion")
        version = asked if asked in HANDSHAKE else HANDSHAKE[0]
        self.takes_batches = version == BATCHES
        return {"protocolVersion": version, "serverInfo": _SERVER, **self._about("handshake")}

    def _call_asking(self, params: Json) -> Json:
        """Run a tool, or ask the user first."""
        meta = _object(params.get("_meta"), "_meta")
        answer, arguments = self._asking.first(params, meta.get(_PREFIX + "clientCapabilities"))
        return self._call({**params, "arguments": arguments}) if answer is None else answer

    def _call(self, params: Json) -> Json:
        progress = self.progress_of(params)
        answer = self._surface.call(params.get("name"), params.get("arguments"), progress)
        self.synced(False)
        return answer

    def _resources(self, params: Json) -> Json:
        page, cursor = self._surface.resources(params.get("cursor"))
        return {"resources": page} | ({"nextCursor": cursor} if cursor else {})

    def _subscribe(self, params: Json) -> Json:
        uri = self._surface.read(params.get("uri"))["uri"]
        self._surface.watch()
        with self._looking:
            self._see([uri])
            self._subscribed.add(uri)
        return {}

    def _unsubscribe(self, params: Json) -> Json:
        with self._looking:
            self._subscribed.discard(str(params.get("uri")))
            self._forget_unwanted()
        return {}

    def _see(self, uris: Collection[str]) -> None:
        """Look at the notes that are subscribed to from now on; the lock is held.

        Raises :class:`ProtocolError` where they are too many together.
        """
        fresh = [uri for uri in uris if uri not in self._seen]
        if len(self._seen) + len(fresh) > MOST_SUBSCRIPTIONS:
            raise ProtocolError(
                INVALID_PARAMS,
                f"Invalid params: a client may subscribe to {MOST_SUBSCRIPTIONS} resources at a "
                f"time, and this one has {len(self._seen)}; end a subscription first",
            )
        for uri in fresh:
            self._look(uri)

    def _forget_unwanted(self) -> None:
        """Drop the texts of notes that no subscription wants any more; the lock is held."""
        wanted = self._subscribed.union(
            *(listening.get("resourceSubscriptions", ()) for listening in self._listening.values())
        )
        self._seen = {uri: text for uri, text in self._seen.items() if uri in wanted}

    def _listen(self, wanted: object, id_: str | int) -> None:
        wanted = _object(wanted, "notifications")
        honoured: Json = {}
        if wanted.get("resourcesListChanged") is True:
            honoured["resourcesListChanged"] = True
        uris = wanted.get("resourceSubscriptions")
        listed = uris if isinstance(uris, list) else ()
        known = list(dict.fromkeys(uri for uri in listed if isinstance(uri, str)))
        if known:
            honoured["resourceSubscriptions"] = known
            self._surface.watch()
        with self._looking:
            if len(self._listening) >= MOST_SUBSCRIPTIONS:
                raise ProtocolError(
                    INVALID_PARAMS,
                    f"Invalid params: a client may listen on {MOST_SUBSCRIPTIONS} streams at a "
                    "time; cancel one first",
                )
            self._see(known)
            self._listening[id_] = honoured
        self._notify("subscriptions/acknowledged", {"notifications": honoured}, id_)

    def _notify(self, name: str, params: Json, subscription: str | int | None = None) -> None:
        if subscription is not None:
            params = {"_meta": {_PREFIX + "subscriptionId": subscription}, **params}
        self._send({"jsonrpc": "2.0", "method": f"notifications/{name}", "params": params})


def _object(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name} are no object")
    return value


def _modern(method: str, result: Json) -> Json:
    result = {"resultType": "complete", **result, "_meta": {_PREFIX + "serverInfo": _SERVER}}
    if method in _CACHED:
        seconds = _SECONDS_CACHED.get(method, 0)
        scope = "public" if seconds else "private"  # a note is for this client alone
        result |= {"ttlMs": seconds * 1000, "cacheScope": scope}
    return result


def _one_page(name: str, listed: Callable[[], list[Json]]) -> Callable[[Json], Json]:
    """Answers with a whole list, which therefore knows no cursor."""

    def answer(params: Json) -> Json:
        if params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "Invalid params: this list has one page, no cursor")
        return {name: listed()}

    return answer
