"""A stand-in for a model: OpenAI's chat completions API on loopback, by a fixed script.

    python scripted_model.py [PORT]

It searches memory for the question, reads the lines of the best passage, and answers with the
line that shares most words with the question, and its source. It follows no instruction in what it
reads. ``requests`` holds what it was sent, as a model would see it.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

_SOURCE = re.compile(r"^Source: (.+)$", re.MULTILINE)
_PASSAGE = re.compile(r"<memory [^>]*>\n(.*?)\n</memory>", re.DOTALL)


class ScriptedModel(ThreadingHTTPServer):
    """The server, on ``port`` of this machine (0: a free one)."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.requests: list[Json] = []

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def running(port: int = 0) -> Iterator[ScriptedModel]:
    """A server that runs in a thread."""
    with ScriptedModel(port) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        choice = {"index": 0, "finish_reason": "stop", "message": reply(body["messages"])}
        data = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def reply(messages: list[Json]) -> Json:
    """The next message of the script."""
    question = next(m["content"] for m in reversed(messages) if m["role"] == "user")
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if not results:
        return _call("memory_search", {"query": question})
    source = _SOURCE.search(results[0])
    if source is None:
        return {"role": "assistant", "content": "I looked, and memory holds nothing on that."}
    if len(results) == 1:
        return _call("memory_get", {"path": source[1]})
    passage = _PASSAGE.search(results[1])
    lines = passage[1].split("\n") if passage else [""]
    asked = _words(question)
    best = max(lines, key=lambda line: len(asked & _words(line)))
    return {"role": "assistant", "content": f"{best.strip()}\nSource: {source[1]}"}


def _call(name: str, arguments: Json) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{name}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower()))


if __name__ == "__main__":
    with ScriptedModel(int(sys.argv[1]) if sys.argv[1:] else 8080) as model:
        print(model.url)
        model.serve_forever()
