"""Plays QMD's program: what each command does is written in ``behaviour.json`` in its folder.

Each run is noted in ``calls.jsonl``. ``started`` is written once a behaviour is in full swing, so
that a test need not guess how long that takes. It is started some hundred times: what few of its
runs need is imported there.
"""

from __future__ import annotations

import json
import os
import signal
import sys

TYPE_CHECKING = False  # not from ``typing``, which takes long to import
if TYPE_CHECKING:
    import subprocess
    from typing import Any, NoReturn

HANG = "import signal; signal.pause()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"


def note(file: str, value: object) -> None:
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(value) + "\n")


def say(script: dict[str, Any]) -> None:
    sys.stdout.write(script.get("stdout", ""))
    sys.stderr.write(script.get("stderr", ""))
    sys.stdout.flush()
    sys.stderr.flush()


def hang() -> NoReturn:
    note("started", os.getpid())
    while True:
        signal.pause()


def child(program: str) -> subprocess.Popen[bytes]:
    import subprocess

    process = subprocess.Popen([sys.executable, "-ISc", program])
    note("children", process.pid)
    return process


def play(script: dict[str, Any]) -> NoReturn:
    doing = script.get("do", "say")
    if doing == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if doing in ("segv", "die"):
        import resource

        say(script)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV if doing == "segv" else signal.SIGKILL)
    if doing == "orphan":  # which holds the pipes
        child(HANG)
    if doing == "trampoline":
        child(DEAF)
        hang()
    if doing == "drip":
        import time

        sys.stdout.write("[")
        note("started", os.getpid())
        while True:
            sys.stdout.write(" ")
            sys.stdout.flush()
            time.sleep(0.005)
    if doing == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    say(script)
    if doing in ("hang", "deaf"):
        hang()
    os._exit(script.get("code", 0))


class Server:
    """``qmd mcp``."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.asked = 0

    def serve(self) -> None:
        if self.script.get("do") == "unable":
            play({"code": 1, "stderr": "cannot open the index"})
        for line in sys.stdin:
            request = json.loads(line)
            note("requests.jsonl", request)
            if request["method"] == "initialize":
                self.greet(request["id"])
            elif request["method"] == "tools/call":
                self.asked += 1
                self.call(request["id"], request["params"]["arguments"])

    def greet(self, id_: int) -> None:
        if self.script.get("do") == "mute":
            hang()
        greeting = {
            "protocolVersion": "2025-06-18",
            "serverInfo": {"name": "qmd", "version": "2.8.3"},
            "capabilities": {"tools": {}},
        }
        self.answer(id_, greeting)
        if self.script.get("do") == "deafened":
            hang()

    def call(self, id_: int, arguments: dict[str, Any]) -> None:
        doing = self.script.get("do")
        self.misbehave(doing, id_)
        if doing == "refuse":
            content = [{"type": "text", "text": "Structured search (lex): no"}]
            self.answer(id_, {"isError": True, "content": content})
        elif doing == "error":
            self.write({"jsonrpc": "2.0", "id": id_, "error": {"code": -32602, "message": "no"}})
        elif doing == "wrong_id":
            self.answer(id_ + 1000, {})
        elif doing == "garbage":
            self.answer(id_, {"structuredContent": self.script.get("content")})
        else:
            wanted = arguments["collections"]
            rows = [
                row
                for row in self.script.get("results", [])
                if not wanted or row["file"].partition("/")[0] in wanted
            ]
            results = {"results": rows[: arguments["limit"]]}
            self.answer(id_, {"content": [], "structuredContent": results})

    def misbehave(self, doing: str | None, id_: int) -> None:
        if self.asked > self.script.get("calls", sys.maxsize):
            os._exit(3)
        if doing == "hang":
            hang()
        if doing == "late":
            note("started", id_)
            # A pipe that the test writes to when it wants the answer.
            with open("go", encoding="utf-8") as go:
                go.read()
        if doing == "half":
            sys.stdout.write('{"jsonrpc": "2.0", "id": ')
            sys.stdout.flush()
            os._exit(3)
        if doing == "noise":
            sys.stdout.write("ggml_init: found 0 devices\n[1]\n")
        if doing == "flood":
            while True:
                sys.stdout.write("x" * 65536)

    def answer(self, id_: int, result: dict[str, Any]) -> None:
        self.write({"jsonrpc": "2.0", "id": id_, "result": result})

    def write(self, message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def main() -> None:
    arguments = sys.argv[1:]
    note(
        "calls.jsonl",
        {
            "argv": arguments,
            "cwd": os.getcwd(),
            "env": dict(os.environ),
            "pid": os.getpid(),
            "leads": os.getsid(0) == os.getpid(),
        },
    )
    try:
        with open("behaviour.json", encoding="utf-8") as file:
            behaviour = json.load(file)
    except FileNotFoundError:
        behaviour = {}
    command = arguments[0] if arguments else ""
    script = behaviour.get(command, {})
    if command == "mcp":
        Server(script).serve()
    else:
        play(script)


if __name__ == "__main__":
    main()
