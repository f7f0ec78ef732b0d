"""The server as a process: misbehaving clients, cancellations, and how it ends."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from asyncio import CancelledError
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest
from tests.plugins.mcp.conftest import META, ask, env_of

from commonplace_mcp.stdio import LONGEST_LINE, MOST_WAITING, THREADS, StdioServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from commonplace_mcp.surface import Surface

Json = dict[str, Any]
SEARCH = {"name": "memory_search", "arguments": {"query": "staging port", "maxResults": 1}}


ODD_TOOLS = """
from commonplace import ToolDefinition
from commonplace.plugin import hookimpl

class Odd:
    capabilities = frozenset()
    definitions = (
        ToolDefinition(name="odd", title="Odd", description="Odd.", parameters={"type": "object"}),
    )

    def call(self, name, arguments, *, session_key):
        raise ValueError("out of ink")

    def close(self):
        pass

@hookimpl
def commonplace_register_tools(register):
    register.toolset("odd", lambda context: Odd(), summary="odd")
"""


def by_id(messages: Sequence[Json]) -> dict[object, Json]:
    return {message["id"]: message for message in messages if "id" in message}


class TestProcess:
    def test_what_was_asked_before_the_end_of_input_is_answered(
        self, exchange: Callable[..., list[Json]]
    ) -> None:
        answers = by_id(exchange(ask(1, "server/discover"), ask("b", "tools/call", **SEARCH)))
        assert "8471" in answers["b"]["result"]["content"][0]["text"]

    @pytest.mark.skipif(os.name != "posix", reason="closes a stream as a shell does")
    def test_a_closed_stream_is_named(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        shell = ["sh", "-c", 'exec "$@" <&-', "sh", *command]
        ran = subprocess.run(shell, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 1
        assert "standard input or output is closed" in ran.stderr

    def test_an_early_client_of_the_older_era(self, exchange: Callable[..., list[Json]]) -> None:
        answers = exchange(
            {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
            {"method": "notifications/initialized"},
            {"id": 1, "method": "tools/list", "params": {"_meta": {"progressToken": 0}}},
        )
        assert [answer["id"] for answer in answers] == [0, 1]

    def test_commands_in_an_answer_act_on_the_memory_of_the_server(self, tmp_path: Path) -> None:
        (tmp_path / "notes").mkdir()
        config = tmp_path / "config.json5"
        config.write_text("{memory: {write: {enabled: true}}}")
        ours = ["--workspace", str(tmp_path / "notes"), "--config", str(config)]
        call = {"name": "memory_write", "arguments": {"text": "The tide turns at six."}}
        requests = ask(1, "tools/call", **call), ask(2, "tools/call", **call)

        def run(*arguments: str, given: bytes = b"") -> str:
            command, env = [sys.executable, "-m", "commonplace", *arguments], env_of(tmp_path)
            return subprocess.run(
                command, input=given, stdout=subprocess.PIPE, env=env, check=True, cwd=tmp_path
            ).stdout.decode()

        written = run("mcp", *ours, "--agents", "work", given=b"".join(map(line, requests)))
        answers = by_id([json.loads(one) for one in written.splitlines()])
        texts = [answers[id_]["result"]["content"][0]["text"] for id_ in (1, 2)]
        done = next(text for text in texts if "To undo it: commonplace " in text)
        undo = shlex.split(done.partition("To undo it: commonplace ")[2].splitlines()[0])
        assert undo[1:7] == [*ours, "--agent", "work"]
        run(*undo)
        assert not any((tmp_path / "notes" / "memory").iterdir())

    def test_a_batch_is_answered_by_one_array_in_the_version_that_has_them(
        self, exchange: Callable[..., list[Any]]
    ) -> None:
        def begin(version: str) -> Json:
            return {"id": 0, "method": "initialize", "params": {"protocolVersion": version}}

        def request(id_: int, method: str) -> Json:
            return {"jsonrpc": "2.0", "id": id_, "method": method}

        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        mixed = [request(1, "ping"), notice, request(2, "tools/list"), 7, request(3, "initialize")]
        batches = [json.dumps(one).encode() + b"\n" for one in (mixed, [notice], [])]
        first, *others = exchange(begin("2025-03-26"), *batches)
        assert first["id"] == 0
        (answers,) = [one for one in others if isinstance(one, list)]
        codes = {one["id"]: one.get("error", {}).get("code") for one in answers}
        assert codes == {1: None, 2: None, None: -32600, 3: -32600}
        assert "tools" in by_id([one for one in answers if one["id"]])[2]["result"]
        (empty,) = [one for one in others if isinstance(one, dict)]
        assert empty["error"]["code"] == -32600

        _, refused = exchange(begin("2025-06-18"), batches[0])
        assert refused["error"]["code"] == -32600

        long = json.dumps([request(id_, "ping") for id_ in range(MOST_WAITING + 1)]).encode()
        _, refused = exchange(begin("2025-03-26"), long + b"\n")
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)

    def test_a_plugin_that_fails_is_named_to_its_client_and_on_standard_error(
        self, command: Sequence[str], env: Mapping[str, str], tmp_path: Path
    ) -> None:
        info = tmp_path / "odd_parts-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-parts\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[commonplace]\ntool.odd = odd_tools\ntool.gone = odd_gone\n"
        )
        (tmp_path / "odd_gone.py").write_text("raise ImportError('no such library')")
        (tmp_path / "odd_tools.py").write_text(ODD_TOOLS)
        ran = subprocess.run(
            command,
            input=line(ask(1, "tools/call", name="odd", arguments={})),
            capture_output=True,
            env={**env, "PYTHONPATH": str(tmp_path)},
            check=True,
            timeout=60,
        )
        result = json.loads(ran.stdout)["result"]
        assert result["isError"]
        why = "the tool 'odd' of odd_tools (odd-parts 1.0) failed"
        assert f"{why}: ValueError: out of ink" in result["content"][0]["text"]
        assert why in ran.stderr.decode()
        assert "tool 'gone' of odd-parts 1.0 failed to load: ImportError: no such" in (
            ran.stderr.decode()
        )

    def test_a_misbehaving_client_is_answered_line_by_line(
        self, exchange: Callable[..., list[Json]]
    ) -> None:
        many = b'{"jsonrpc":"2.0","id":5,"method":"' + b"x" * (LONGEST_LINE + 10) + b'"}\n'
        answers = exchange(
            b"not json\n",
            b"[]\n",
            b"\n",
            b"\xff\xfe\x00\n",
            b"[" * 50_000 + b"\n",
            many,
            {"id": [], "method": "ping"},
            {"id": 2, "method": 7},
            {"id": True, "method": "ping"},
            {"id": 8},
            {"id": 3, "method": "tools/list", "params": []},
            {"method": "notifications/cancelled", "params": {"requestId": {}}},
            {"method": "notifications/whatever", "params": 3},
            {"id": 9, "result": {}},
            ask(4, "tools/list"),
            b'{"jsonrpc":"2.0","id":6,"method":"tools/li',
        )
        codes = [answer["error"]["code"] for answer in answers if "error" in answer]
        assert sorted(codes) == sorted([-32700] * 4 + [-32600] * 6 + [-32602])
        ids = [answer["id"] for answer in answers]
        assert 8 in ids
        assert not any(id_ is True for id_ in ids)
        assert "tools" in by_id(answers)[4]["result"]

    def test_a_message_that_is_too_long_is_refused_by_its_id(
        self, exchange: Callable[..., list[Json]]
    ) -> None:
        long = b'{"text":"' + b'\\"id\\":8} ' * (LONGEST_LINE // 9) + b'"}'
        answers = exchange(
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + long + b"}\n",
            b' { "id" : "a\\u0062", "method":"ping", "params":' + long + b"}\n",
            b'{"method":"ping","params":' + long + b', "jsonrpc":"2.0", "id": 2 }\r\n',
            # Not for certain, no request, or none at all.
            b'{"method":"ping","params":' + long + b',"id":3,"more":{}}\n',
            b'{"method":"ping","params":{"id":4},"more":' + long + b"}\n",
            b'{"jsonrpc":"2.0","id":5,"result":' + long + b"}\n",
            b'{"method":"ping","id":06,"params":' + long + b"}\n",
            b'{"method":"ping","id":true,"params":' + long + b"}\n",
            b'[{"method":"ping","id":7}' + b" " * LONGEST_LINE + b"]\n",
            ask(9, "tools/list"),
        )
        assert [answer["id"] for answer in answers[:3]] == [1, "ab", 2]
        assert [answer["id"] for answer in answers[3:-1]] == [None] * 6
        assert {answer["error"]["code"] for answer in answers[:-1]} == {-32600}
        assert answers[-1]["id"] == 9

    def test_an_index_is_built_with_progress(self, env: Mapping[str, str], tmp_path: Any) -> None:
        fresh = {**env, "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        (tmp_path / "memory").mkdir()
        for number in range(300):
            text = f"# Note {number}\n\nThe staging port is {8000 + number}.\n"
            (tmp_path / "memory" / f"{number}.md").write_text(text)
        command = [sys.executable, "-m", "commonplace", "mcp", "--workspace"]
        call = ask(1, "tools/call", **SEARCH)
        call["params"] = {**call["params"], "_meta": {**META, "progressToken": "p"}}
        ran = subprocess.run(
            [*command, str(tmp_path)],
            input=line(call),
            capture_output=True,
            env=fresh,
            check=True,
            timeout=60,
        )
        *reports, answer = [json.loads(line) for line in ran.stdout.splitlines()]
        assert "staging port" in answer["result"]["content"][0]["text"]
        assert reports
        numbers = [report["params"]["progress"] for report in reports]
        assert numbers == sorted(set(numbers))
        assert {report["params"]["progressToken"] for report in reports} == {"p"}

    def test_a_wrong_configuration_is_what_each_call_answers(
        self, exchange: Callable[..., list[Json]], tmp_path: Any
    ) -> None:
        (tmp_path / "bad.json5").write_text("{agents: 3}")
        lines = [ask(1, "tools/list"), ask(2, "tools/call", **SEARCH)]
        answers = by_id(exchange(*lines, options=["--config", str(tmp_path / "bad.json5")]))
        assert len(answers[1]["result"]["tools"]) == 2
        assert answers[2]["result"]["isError"] is True
        assert "bad.json5" in answers[2]["result"]["content"][0]["text"]

    @pytest.mark.parametrize("named", [["--agents", "main,nope"], ["--agent", "nope"]])
    def test_an_agent_that_is_not_configured_is_a_mistake_at_the_start(
        self, command: Sequence[str], env: dict[str, str], tmp_path: Any, named: list[str]
    ) -> None:
        config = tmp_path / "config.json5"
        config.write_text("{agents: {list: [{id: 'main'}, {id: 'desk'}]}}")
        options = ["--config", str(config), *named]
        ran = subprocess.run(
            [*command, *options], input=b"", capture_output=True, env=env, check=False, timeout=60
        )
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert "no agent 'nope' is configured" in ran.stderr.decode()
        assert "the agents are main, desk" in ran.stderr.decode()

    @pytest.mark.parametrize("config", ["{agents: 3}", "{", None])
    def test_a_wrong_configuration_is_no_reason_not_to_start(
        self, exchange: Callable[..., list[Json]], tmp_path: Any, config: str | None
    ) -> None:
        if config is not None:
            (tmp_path / "bad.json5").write_text(config)
        options = ["--agents", "main,desk", "--config", str(tmp_path / "bad.json5")]
        (answer,) = exchange(ask(1, "tools/call", **SEARCH), options=options)
        assert answer["result"]["isError"] is True
        assert "bad.json5" in answer["result"]["content"][0]["text"]

    def test_several_agents_are_served_by_one(self, exchange: Callable[..., list[Json]]) -> None:
        search = {"query": "staging port", "maxResults": 1}
        lines = [
            ask(1, "tools/list"),
            ask(2, "tools/call", name="memory_search", arguments={**search, "agent": "desk"}),
            ask(3, "tools/call", name="memory_search", arguments=search),
            ask(4, "tools/call", name="memory_search", arguments={**search, "agent": "x"}),
            ask(5, "resources/read", uri="memory://desk/MEMORY.md"),
        ]
        answers = by_id(exchange(*lines, options=["--agents", "main,desk"]))
        for tool in answers[1]["result"]["tools"]:
            assert tool["inputSchema"]["properties"]["agent"]["enum"] == ["main", "desk"]
        assert "8471" in answers[2]["result"]["content"][0]["text"]
        assert "8471" in answers[3]["result"]["content"][0]["text"]
        assert answers[4]["result"]["isError"] is True
        assert "Skerry" in answers[5]["result"]["contents"][0]["text"]

    def test_a_group_is_served_by_its_rules(self, exchange: Callable[..., list[Json]]) -> None:
        lines = [
            ask(1, "tools/call", name="memory_get", arguments={"path": "MEMORY.md"}),
            ask(2, "resources/list"),
            ask(3, "resources/read", uri="memory://notes/MEMORY.md"),
            ask(4, "resources/read", uri="memory://notes/./MEMORY.md"),
            ask(5, "resources/read", uri="memory://notes/memory/../MEMORY"),
            ask(6, "resources/read", uri="memory://notes/MEMORY.md:1-9"),
        ]
        answers = by_id(exchange(*lines, options=["--session-key", "agent:main:slack:channel:c1"]))
        assert answers[1]["result"]["isError"] is True
        names = {resource["name"] for resource in answers[2]["result"]["resources"]}
        assert names
        assert "MEMORY.md" not in names
        assert [answers[number]["error"]["code"] for number in (3, 4, 5, 6)] == [-32602] * 4

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_ends_it(
        self, command: Sequence[str], env: Mapping[str, str], number: signal.Signals
    ) -> None:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(line(ask(1, "tools/list")))
        server.stdin.flush()
        assert server.stdout.readline()
        server.send_signal(number)
        _, err = server.communicate(timeout=30)
        assert server.returncode == 0
        assert err == b""

    def test_it_watches_if_it_is_asked_to(
        self, command: Sequence[str], env: Mapping[str, str]
    ) -> None:
        server = subprocess.Popen(
            [*command, "--watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(line(ask(1, "tools/call", **SEARCH)))
        server.stdin.flush()
        assert server.stdout.readline()
        status = [part if part != "mcp" else "status" for part in command]
        shown = subprocess.run([*status, "--json"], capture_output=True, env=env, check=True)
        assert server.pid in {one["pid"] for one in json.loads(shown.stdout)["watchers"]}
        server.communicate(timeout=30)
        assert server.returncode == 0

    def test_it_ends_when_its_parent_is_killed(
        self, command: Sequence[str], env: Mapping[str, str]
    ) -> None:
        # The parent starts the server, lets it answer once, and is killed with its pipes open.
        request = line(ask(1, "tools/list"))
        script = (
            "import os, signal, subprocess, sys\n"
            f"server = subprocess.Popen({[*command]!r}, stdin=subprocess.PIPE, "
            "stdout=subprocess.PIPE)\n"
            f"server.stdin.write({request!r})\n"
            "server.stdin.flush(); server.stdout.readline()\n"
            "print(server.pid, flush=True)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        end, kept = os.pipe()
        parent = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            env=env,
            text=True,
            stderr=kept,
        )
        out, _ = parent.communicate(timeout=30)
        os.close(kept)
        assert int(out) > 0
        # Standard error is inherited: its end is reached once the server has ended, too.
        with os.fdopen(end, "rb") as last:
            assert last.read() == b""


def test_a_note_that_changes_is_reported_to_its_subscriber(
    command: Sequence[str], env: Mapping[str, str], mcp_home: Any
) -> None:
    note = mcp_home / "notes" / "memory" / "news.md"
    note.write_text("# News\n\nNothing yet.\n")
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert server.stdin is not None
    assert server.stdout is not None
    given_up = threading.Timer(60, server.kill)
    given_up.start()
    wanted = {"resourceSubscriptions": ["memory://notes/memory/news.md"]}
    try:
        server.stdin.write(line(ask(1, "subscriptions/listen", notifications=wanted)))
        server.stdin.flush()
        assert b"acknowledged" in server.stdout.readline()
        note.write_text("# News\n\nThe ferry sails again.\n")
        # The next search sees it, if the watcher has not noticed it first.
        server.stdin.write(line(ask(2, "tools/call", **SEARCH)))
        server.stdin.flush()
        seen = [json.loads(server.stdout.readline()) for _ in range(2)]
    finally:
        given_up.cancel()
        server.communicate(timeout=30)
        note.unlink()
    assert {message.get("method") for message in seen} == {None, "notifications/resources/updated"}


class TestInProcess:
    """The loop on streams of the test's own, where calls can be held."""

    @contextmanager
    def served(self, surface: Any) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """A server's input and output; it ends when its input is closed."""
        reading, writing = os.pipe()
        back, out = os.pipe()
        with (
            os.fdopen(reading, "rb") as reader,
            os.fdopen(out, "wb", buffering=0) as writer,
            os.fdopen(writing, "wb") as to,
            os.fdopen(back, "rb") as answers,
        ):
            server = StdioServer(surface, reader, writer)
            thread = threading.Thread(target=server.serve)
            thread.start()
            try:
                yield to, answers
            finally:
                if not to.closed:
                    to.close()
                thread.join(30)
                assert not thread.is_alive()

    def test_a_cancelled_call_gets_no_answer(self, surface: Surface) -> None:
        held, entered = threading.Event(), threading.Event()

        class Slow:
            def call(self, *_: object) -> Json:
                entered.set()
                assert held.wait(30)
                return {"content": [], "isError": False}

            tools = surface.tools
            templates = surface.templates
            prompts = surface.prompts
            on_sync = surface.on_sync

        with self.served(Slow()) as (to, back):
            to.write(line(ask(1, "tools/call", **SEARCH)))
            to.flush()
            assert entered.wait(30)
            cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
            to.write(line(cancel) + line(ask(2, "tools/list")))
            to.flush()
            assert json.loads(back.readline())["id"] == 2
            held.set()
            to.write(line(ask(3, "tools/list")))
            to.flush()
            assert json.loads(back.readline())["id"] == 3

    def test_without_a_thread_the_reader_answers(
        self, surface: Surface, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_: object) -> None:
            raise RuntimeError("can't start new thread")

        requests = io.BytesIO(b"".join(line(ask(i, "tools/call", **SEARCH)) for i in range(3)))
        written = io.BytesIO()
        server = StdioServer(surface, requests, written)
        surface.call("memory_search", SEARCH["arguments"], None)  # opening may start threads
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            server.serve()
        answers = [json.loads(text) for text in written.getvalue().splitlines()]
        assert [answer["id"] for answer in answers] == [0, 1, 2]
        assert all("8471" in one["result"]["content"][0]["text"] for one in answers)

    def test_a_signal_ends_the_server_also_where_the_reader_answers(
        self, monkeypatch: pytest.MonkeyPatch, surface: Surface
    ) -> None:
        def interrupted(*_: object) -> Json:
            raise KeyboardInterrupt

        def refuse(_: object) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(surface, "call", interrupted)
        monkeypatch.setattr(threading.Thread, "start", refuse)
        requests = io.BytesIO(line(ask(1, "tools/call", **SEARCH)))
        with pytest.raises(KeyboardInterrupt):
            StdioServer(surface, requests, io.BytesIO()).serve()

    def test_true_cancels_no_request(self, surface: Surface) -> None:
        written = io.BytesIO()
        server = StdioServer(surface, io.BytesIO(), written)
        server._begin(1)
        server._note({"params": {"requestId": True}, "method": "notifications/cancelled"})
        assert server._running == {1}

    def test_requests_beyond_the_limit_wait_in_the_pipe(self, surface: Surface) -> None:
        calls: list[int] = []

        class Counting:
            def call(self, *_: object) -> Json:
                calls.append(1)
                return {"content": [], "isError": False}

            tools = surface.tools
            templates = surface.templates
            prompts = surface.prompts
            on_sync = surface.on_sync

        number = 10_000
        requests = io.BytesIO(b"".join(line(ask(i, "tools/call", **SEARCH)) for i in range(number)))
        written = io.BytesIO()
        server = StdioServer(Counting(), requests, written)  # type: ignore[arg-type]
        waiting = Waiting()
        server._requests = waiting
        server.serve()
        answers = [json.loads(text) for text in written.getvalue().splitlines()]
        assert sorted(answer["id"] for answer in answers) == list(range(number))
        assert len(calls) == number
        assert waiting.most <= MOST_WAITING + THREADS  # at the end, one end mark for each thread

    def test_a_client_that_stops_reading_ends_the_server(self, surface: Surface) -> None:
        with self.served(surface) as (to, back):
            back.close()
            for number in range(3):
                to.write(line(ask(number, "tools/list")))

    def test_an_id_in_use_is_refused(self, surface: Surface) -> None:
        listen = ask("l", "subscriptions/listen", notifications={})
        with self.served(surface) as (to, back):
            to.write(line(listen) + line(listen))
            to.flush()
            ack, refusal = (json.loads(back.readline()) for _ in range(2))
        assert ack["method"] == "notifications/subscriptions/acknowledged"
        assert (refusal["id"], refusal["error"]["code"]) == ("l", -32600)

    def test_a_call_that_raises_whatever_it_likes_ends_no_thread(
        self, surface: Surface, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        faults = [KeyboardInterrupt(), SystemExit(3), CancelledError(), ValueError()]

        class Faulty:
            def call(self, _: object, arguments: Json, __: object) -> Json:
                raise faults[arguments["number"] % len(faults)]

            tools = surface.tools
            templates = surface.templates
            prompts = surface.prompts
            on_sync = surface.on_sync

        broken = io.StringIO()
        broken.close()
        monkeypatch.setattr(sys, "stderr", broken)
        calls = [{"number": number} for number in range(2 * THREADS)]
        with self.served(Faulty()) as (to, back):
            for id_, arguments in enumerate(calls):
                to.write(line(ask(id_, "tools/call", name="x", arguments=arguments)))
            to.write(line(ask("last", "tools/list")))
            to.flush()
            answers = by_id([json.loads(back.readline()) for _ in range(len(calls) + 1)])
        assert "tools" in answers.pop("last")["result"]
        codes = {id_: answer["error"]["code"] for id_, answer in answers.items()}
        assert codes == dict.fromkeys(range(len(calls)), -32603)

    def test_a_quick_call_behind_a_slow_one_does_not_wait_for_it(self, surface: Surface) -> None:
        threads_wake = threading.Event()
        asked_for = threading.Semaphore(0)
        answered = threading.Event()
        kept_waiting: list[bool] = []

        class SlowToWake(SimpleQueue[Any]):
            """A queue whose threads take their time from an item to the work on it."""

            def get(self, *_: Any) -> Any:
                asked_for.release()
                item = super().get()
                assert threads_wake.wait(30)
                return item

        class Slow:
            def call(self, _: object, arguments: Json, __: object) -> Json:
                if arguments["query"] == "slow":
                    kept_waiting.append(not answered.wait(5))
                return {"content": [], "isError": False}

            tools = surface.tools
            templates = surface.templates
            prompts = surface.prompts
            on_sync = surface.on_sync

        def call(id_: str) -> bytes:
            return line(ask(id_, "tools/call", name="x", arguments={"query": id_}))

        class Input(io.BytesIO):
            """Lines, each of them read once the test is ready for it."""

            def readline(self, size: int | None = -1, /) -> bytes:
                found = super().readline(size)
                if b'"slow"' in found:  # the first call is over, and its thread idle
                    assert all(asked_for.acquire(timeout=30) for _ in range(2))
                    threads_wake.clear()
                elif not found:  # both calls have been read
                    threads_wake.set()
                    assert answered.wait(30)
                return found

        class Output(io.BytesIO):
            def write(self, data: Any, /) -> int:
                if json.loads(bytes(data))["id"] == "quick":
                    answered.set()
                return len(data)

        threads_wake.set()
        requests = Input(call("first") + call("slow") + call("quick"))
        server = StdioServer(Slow(), requests, Output())  # type: ignore[arg-type]
        server._requests = SlowToWake()
        server.serve()
        assert kept_waiting == [False]

    def test_an_answer_that_is_no_json_ends_no_thread(self, surface: Surface) -> None:
        class Odd:
            def call(self, _: object, arguments: Json, __: object) -> Json:
                return {"content": [], "isError": False, "structuredContent": {1, 2}}

            tools = surface.tools
            templates = surface.templates
            prompts = surface.prompts
            on_sync = surface.on_sync

        asked = [ask(id_, "tools/call", **SEARCH) for id_ in range(2 * THREADS)]
        requests = io.BytesIO(b"".join(map(line, [*asked, ask("last", "tools/list")])))
        written = io.BytesIO()
        StdioServer(Odd(), requests, written).serve()  # type: ignore[arg-type]
        (answer,) = map(json.loads, written.getvalue().splitlines())
        assert answer["id"] == "last"

    def test_what_is_done_of_a_batch_is_answered_at_the_end(
        self, surface: Surface, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("commonplace_mcp.stdio.SECONDS_TO_FINISH", 0.01)
        held, entered = threading.Event(), threading.Event()

        class Stuck:
            def call(self, *_: object) -> Json:
                entered.set()
                held.wait(30)
                return {"content": [], "isError": False}

            tools = surface.tools
            templates = surface.templates
            prompts = surface.prompts
            on_sync = surface.on_sync

        begin = {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}
        asked = {"id": 2, "method": "tools/call", "params": SEARCH}
        batch = [{"jsonrpc": "2.0", **one} for one in ({"id": 1, "method": "ping"}, asked)]

        class Input(io.BytesIO):
            def readline(self, size: int | None = -1, /) -> bytes:
                found = super().readline(size)
                assert found or entered.wait(30)
                return found

        requests = Input(line(begin) + json.dumps(batch).encode() + b"\n")
        written = io.BytesIO()
        StdioServer(Stuck(), requests, written).serve()  # type: ignore[arg-type]
        held.set()
        first, *others = map(json.loads, written.getvalue().splitlines())
        assert first["id"] == 0
        assert [[one["id"] for one in batch] for batch in others] == [[1]]


class Waiting(SimpleQueue[Any]):
    """A queue that knows how long it was at most."""

    most = 0

    def put(self, item: Any, *args: Any) -> None:
        super().put(item, *args)
        self.most = max(self.most, self.qsize())


def line(message: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
