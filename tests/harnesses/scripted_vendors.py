"""A scripted model behind the APIs of Anthropic and OpenAI, on loopback, streaming or not.

It calls the tool whose name has one of the ends in ``WANTED`` as soon as it is offered one, and
ends its turn once it has the result. With Anthropic's memory tool it views one note. ``requests``
holds what was sent: what a model would see.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

WANTED = ("memory_search", "load_memory")
QUERY = {"query": "which port does the staging server use", "maxResults": 1}
VIEW: dict[str, object] = {"command": "view", "path": "/memories/projects/tide-api.md"}
DONE = "That is all."


class Vendors(ThreadingHTTPServer):
    """The server, on a free port of this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, Json]] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def running() -> Iterator[Vendors]:
    """A server that runs in a thread."""
    with Vendors() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Vendors
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}', "application/json")

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body: Json = json.loads(data or b"{}")
        path = self.path.partition("?")[0]
        self.server.requests.append((path, body))
        if path.endswith("/count_tokens"):
            self._send(b'{"input_tokens": 10}', "application/json")
            return
        streams = {"/messages": messages, "/responses": responses, "/completions": completions}
        stream = next((stream for end, stream in streams.items() if path.endswith(end)), None)
        if stream is None:
            self._send(b"{}", "application/json")
            return
        events = list(stream(body))
        if not body.get("stream"):
            self._send(json.dumps(whole(events)).encode(), "application/json")
            return
        text = "".join(
            (f"event: {name}\n" if name else "") + f"data: {event}\n\n" for name, event in events
        )
        self._send(text.encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def whole(events: list[tuple[str, str]]) -> Json:
    """The events of a stream as the one answer to a client that asked for none."""
    data = [json.loads(event) for _, event in events if event != "[DONE]"]
    first, last = data[0], data[-1]
    if "response" in last:
        response: Json = last["response"]
        return response
    if "choices" in first:
        message = {"content": None, **first["choices"][0]["delta"]}
        choice = {**last["choices"][0], "message": message}
        return {**first, "object": "chat.completion", "choices": [choice]}
    block, delta, ended = data[1]["content_block"], data[2]["delta"], data[4]["delta"]
    if "text" in delta:
        block["text"] = delta["text"]
    else:
        block["input"] = json.loads(delta["partial_json"])
    return {**first["message"], **ended, "content": [block]}


def messages(body: Json) -> Iterator[tuple[str, str]]:
    """Anthropic's messages API."""
    tools = body.get("tools", [])
    name, wanted = _offered(tool.get("name", "") for tool in tools), QUERY
    if any(str(tool.get("type")).startswith("memory_") for tool in tools):
        name, wanted = "memory", VIEW
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": DONE}
    reason = "end_turn"
    if name and "tool_result" not in json.dumps(body["messages"]):
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(wanted)}
        reason = "tool_use"
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model")}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    ended = {"stop_reason": reason, "stop_sequence": None}
    for event in (
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": usage},
        {"type": "message_stop"},
    ):
        yield str(event["type"]), json.dumps(event)


def responses(body: Json) -> Iterator[tuple[str, str]]:
    """OpenAI's responses API."""
    text = json.dumps(body)
    called = '"function_call_output"' in text
    item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": DONE, "annotations": []}]
    if not called and (found := _function(body.get("tools", []))):
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", **found}
        item["arguments"] = json.dumps(QUERY)
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    done = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
    for event in (
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**done, "usage": usage}},
    ):
        yield str(event["type"]), json.dumps(event)


def _function(tools: list[Json], namespace: str | None = None) -> Json | None:
    """How a function that is ``WANTED`` is called, in a namespace or not."""
    for tool in tools:
        if tool.get("type") == "namespace" or "tools" in tool:
            if found := _function(tool.get("tools", []), tool.get("name")):
                return found
        elif str(tool.get("name", "")).endswith(WANTED):
            return {"name": tool["name"]} | ({"namespace": namespace} if namespace else {})
    return None


def completions(body: Json) -> Iterator[tuple[str, str]]:
    """OpenAI's chat completions API."""
    name = _offered(tool["function"]["name"] for tool in body.get("tools") or [])
    called = any(message["role"] == "tool" for message in body["messages"])
    delta: Json = {"role": "assistant", "content": DONE}
    reason = "stop"
    if name and not called:
        function = {"name": name, "arguments": json.dumps(QUERY)}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        delta, reason = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason}):
        yield "", json.dumps({**chunk, "choices": [{"index": 0, **choice}]})
    yield "", "[DONE]"


def _offered(names: Iterator[str]) -> str:
    return next((name for name in names if name.endswith(WANTED)), "")
