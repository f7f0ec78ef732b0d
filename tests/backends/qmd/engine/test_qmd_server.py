"""The resident server, through the engine that keeps it."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import DeclinedError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace_qmd.engine.server import Server
from commonplace_qmd.engine.values import Line, QmdError, QmdTimeoutError, Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends.qmd.engine.conftest import House

    from commonplace_qmd.engine.client import Qmd


def result(file: str, score: float = 1.0) -> dict[str, Any]:
    snippet = "3: @@ -2,2 @@ (1 before, 0 after)\n4: a\n5: b"
    return {
        "docid": "#abc123",
        "file": file,
        "title": "T",
        "score": score,
        "context": None,
        "line": 3,
        "snippet": snippet,
    }


def row(collection: str, path: str, score: float = 1.0) -> Row:
    return Row(collection, path, score, 3)


CLI = '[{"file": "qmd://mem/cli.md", "score": 0.5}]'
FROM_CLI = Row("mem", "cli.md", 0.5, None)


@pytest.fixture
def warm(house: House) -> Callable[..., Qmd]:
    """Makes an engine whose server, with this script is there to be asked."""

    def make(**script: Any) -> Qmd:
        house.behave(mcp={"results": [result("mem/a.md")], **script}, search={"stdout": CLI})
        if "mcp" not in house.commands():
            house.knows("mem", "root")
        qmd = house.qmd()
        search(qmd)  # the first is answered by a process
        assert qmd.warm(deadline=NEVER)
        return qmd

    return make


def search(qmd: Qmd, deadline: Deadline = NEVER, **options: Any) -> list[Row]:
    given = {"collections": ["mem"], "limit": 6, "deadline": deadline, **options}
    return qmd.search("search", "zebra", **given)


def test_one_search_starts_no_server(house: House) -> None:
    house.behave(search={"stdout": CLI})
    assert search(house.qmd()) == [FROM_CLI]
    assert house.commands() == ["search"]


def test_the_second_search_starts_one_and_does_not_wait_for_it(house: House) -> None:
    house.behave(mcp={"do": "mute"}, search={"stdout": CLI})
    qmd = house.qmd()
    for _ in range(4):
        assert search(qmd) == [FROM_CLI]
    assert sorted(house.commands()) in (["mcp", *["search"] * 4], ["search"] * 4)


def test_a_server_that_no_search_waited_for_answers_once_it_is_up(house: House) -> None:
    house.behave(mcp={"results": [result("mem/a.md")]}, search={"stdout": CLI})
    house.knows("mem", "root")
    qmd = house.qmd()
    while (found := search(qmd)) == [FROM_CLI]:
        assert len(house.commands()) < 1000
    assert found == [row("mem", "a.md")]


def test_a_server_that_is_there_answers(house: House, warm: Callable[..., Qmd]) -> None:
    qmd = warm(results=[result("mem/a b%.md"), result("mem/c.md", 0.5)])
    assert search(qmd) == [row("mem", "a b%.md"), row("mem", "c.md", 0.5)]
    assert house.commands() == ["search", "mcp"]
    wanted = {"searches": [{"type": "lex", "query": "zebra"}], "rerank": False}
    assert house.requests() == [{**wanted, "collections": [], "limit": 20, "candidateLimit": 20}]


def test_without_other_collections_no_more_is_asked_for_than_wanted(
    house: House, warm: Callable[..., Qmd]
) -> None:
    house.indexed("mem", "root")
    qmd = warm(results=[result(f"mem/{n}.md") for n in range(30)])
    assert len(search(qmd, collections=["root", "mem"], limit=3)) == 3
    (request,) = house.requests()
    assert (request["collections"], request["limit"], request["candidateLimit"]) == ([], 3, 3)


def test_all_that_could_be_ranked_again_is_looked_at(house: House) -> None:
    house.knows("mem")
    house.indexed("mem")
    house.embedded()
    house.has_models("embeddinggemma-300M-Q8_0.gguf", "qwen3-reranker-0.6b-q8_0.gguf")
    house.behave(mcp={"results": [result("mem/a.md")]})
    qmd = house.qmd()
    qmd.search("query", [Line("vec", "a")], collections=["mem"], limit=3, deadline=NEVER)
    (request,) = house.requests()
    assert request["rerank"]
    assert "candidateLimit" not in request


def test_without_leave_there_is_no_server(house: House) -> None:
    house.behave(search={"stdout": CLI})
    qmd = house.qmd(resident=False)
    assert not qmd.warm(deadline=NEVER)
    assert [search(qmd) for _ in range(3)] == [[FROM_CLI]] * 3
    assert house.commands() == ["search"] * 3


def test_nothing_found_is_believed_of_collections_it_knows(warm: Callable[..., Qmd]) -> None:
    assert search(warm(results=[])) == []


def test_of_a_collection_it_does_not_know_a_process_is_asked(
    house: House, warm: Callable[..., Qmd]
) -> None:
    qmd = warm()
    assert search(qmd, collections=["mem", "new"]) == [FROM_CLI]
    assert house.requests() == []


def test_more_than_it_can_give_is_asked_of_a_process(
    house: House, warm: Callable[..., Qmd]
) -> None:
    qmd = warm()
    assert search(qmd, limit=21) == [FROM_CLI]
    assert house.requests() == []


def test_one_collection_crowded_out_by_another_is_asked_alone(
    house: House, warm: Callable[..., Qmd]
) -> None:
    crowd = [result(f"root/{n}.md") for n in range(30)]
    qmd = warm(results=[*crowd, *[result(f"mem/{n}.md") for n in range(6)]])
    assert [found.collection for found in search(qmd)] == ["mem"] * 6
    assert [request["collections"] for request in house.requests()] == [[], ["mem"]]


def test_one_still_crowded_out_is_asked_of_a_process(warm: Callable[..., Qmd]) -> None:
    crowd = [result(f"root/{n}.md") for n in range(30)]
    assert search(warm(results=[*crowd, result("mem/0.md")])) == [FROM_CLI]


def test_several_crowded_out_are_asked_of_a_process(warm: Callable[..., Qmd]) -> None:
    crowd = [result(f"other/{n}.md") for n in range(30)]
    assert search(warm(results=crowd), collections=["mem", "root"]) == [FROM_CLI]


def test_what_engines_print_between_is_passed_over(warm: Callable[..., Qmd]) -> None:
    assert search(warm(do="noise")) == [row("mem", "a.md")]


@pytest.mark.parametrize("doing", ["refuse", "error"])
def test_a_refusal_is_asked_of_a_process_and_the_server_stays(
    house: House, warm: Callable[..., Qmd], doing: str
) -> None:
    qmd = warm(do=doing)
    assert [search(qmd), search(qmd)] == [[FROM_CLI]] * 2
    assert house.commands().count("mcp") == 1
    assert len(house.requests()) == 2


@pytest.mark.parametrize(
    "script",
    [
        {"calls": 0},
        {"do": "half"},
        {"do": "wrong_id"},
        {"do": "flood"},
        {"do": "garbage", "content": None},
        {"do": "garbage", "content": {"results": None}},
        {"do": "garbage", "content": {"results": [{"file": "mem/a.md"}]}},
    ],
)
@pytest.mark.slow
def test_a_server_that_breaks_is_replaced_by_a_process_and_left_alone(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None], script: dict[str, Any]
) -> None:
    qmd = warm(**script)
    assert [search(qmd), search(qmd)] == [[FROM_CLI]] * 2
    (pid,) = [call["pid"] for call in house.calls() if call["argv"] == ["mcp"]]
    gone(pid)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_of_the_thread_that_listens_holds_no_search(
    warm: Callable[..., Qmd], monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(self: Server, line: bytes) -> None:
        raise ZeroDivisionError

    qmd = warm()
    monkeypatch.setattr(Server, "_receive", defective)
    deadline = Deadline.after(20)
    assert search(qmd, deadline) == [FROM_CLI]
    assert deadline.remaining() > 10


def test_a_server_that_cannot_start_is_left_alone(house: House) -> None:
    house.behave(mcp={"do": "unable"}, search={"stdout": CLI})
    qmd = house.qmd()
    assert not qmd.warm(deadline=NEVER)
    assert not qmd.warm(deadline=NEVER)
    assert [search(qmd), search(qmd)] == [[FROM_CLI]] * 2
    assert house.commands().count("mcp") == 1


def test_a_server_that_ends_before_it_is_greeted_is_seen_off(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    def broken(_pipe: int, _raw: memoryview) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(os, "write", broken)
    assert not house.qmd().warm(deadline=NEVER)
    (process,) = started
    assert process.returncode is not None
    assert process.stdin is not None
    assert process.stdin.closed


def test_after_a_pause_it_is_tried_again(house: House) -> None:
    now = [0.0]
    house.behave(mcp={"do": "unable"})
    qmd = house.qmd(clock=lambda: now[0])
    assert not qmd.warm(deadline=NEVER)
    house.behave()
    assert not qmd.warm(deadline=NEVER)
    now[0] = 5.0
    assert qmd.warm(deadline=NEVER)


def test_a_hang_is_a_timeout_and_later_searches_do_not_wait_for_it(
    house: House, warm: Callable[..., Qmd]
) -> None:
    qmd = warm(do="hang")
    with pytest.raises(QmdTimeoutError):
        search(qmd, Deadline.after(0.05))
    assert search(qmd) == [FROM_CLI]
    assert len(house.requests()) <= 1


def test_a_server_that_hangs_for_long_is_replaced(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    now = [0.0]
    warm(do="hang").close()
    qmd = house.qmd(clock=lambda: now[0])
    assert qmd.warm(deadline=NEVER)
    search(qmd)
    with pytest.raises(QmdTimeoutError):
        search(qmd, Deadline.after(0.05))
    pid = house.calls()[-1]["pid"]
    now[0] = 301.0
    search(qmd)
    gone(pid)
    assert not qmd.warm(deadline=NEVER)
    now[0] = 306.0
    assert qmd.warm(deadline=NEVER)


def test_a_server_that_does_not_get_up_is_given_up(
    house: House, gone: Callable[[int], None]
) -> None:
    now = [0.0]
    house.behave(mcp={"do": "mute"}, search={"stdout": CLI})
    qmd = house.qmd(clock=lambda: now[0])
    assert not qmd.warm(deadline=house.until_started())
    (pid,) = [call["pid"] for call in house.calls()]
    now[0] = 301.0
    assert not qmd.warm(deadline=NEVER)
    gone(pid)


def test_an_answer_that_comes_too_late_is_dropped(house: House, warm: Callable[..., Qmd]) -> None:
    os.mkfifo(house.cwd / "go")
    qmd = warm(do="late")
    with pytest.raises(QmdTimeoutError):
        search(qmd, Deadline.after(0.05))
    with open(house.cwd / "go", "w", encoding="utf-8"):
        pass  # a writer came and went: the late answer is sent
    server = qmd._resident._server  # type: ignore[union-attr]  # there is one
    assert server is not None
    while server.owing is not None:
        assert server.alive
    threading.Thread(target=(house.cwd / "go").write_text, args=("go",)).start()
    assert search(qmd) == [row("mem", "a.md")]


def test_a_changed_configuration_gets_a_new_server(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    qmd = warm()
    old = house.calls()[-1]["pid"]
    (house.root / "config" / "index.yml").write_text("collections: {}\n")
    assert search(qmd) == [FROM_CLI]
    gone(old)
    assert qmd.warm(deadline=NEVER)
    assert search(qmd) == [row("mem", "a.md")]


def test_an_index_in_place_of_another_gets_a_new_server(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    qmd = warm()
    old = house.calls()[-1]["pid"]
    os.rename(house.home.index_path, f"{house.home.index_path}.old")
    house.knows("mem")
    assert search(qmd) == [FROM_CLI]
    gone(old)


def test_a_server_that_makes_the_index_stays(house: House) -> None:
    house.behave(mcp={"results": [result("mem/a.md")]}, search={"stdout": CLI})
    qmd = house.qmd()
    assert search(qmd) == search(qmd) == [FROM_CLI]
    assert not os.path.exists(house.home.index_path)
    house.knows("mem")
    assert qmd.warm(deadline=NEVER)
    assert search(qmd) == [row("mem", "a.md")]
    assert house.commands().count("mcp") == 1


def test_an_idle_server_ends_and_is_started_again(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    qmd = warm()
    server = qmd._resident._server  # type: ignore[union-attr]  # there is one
    assert server is not None
    server._idle = -1.0
    # Its next sign of life is when the thread looks at how long it has been idle.
    os.kill(server.pid, 0)
    assert search(qmd) in ([row("mem", "a.md")], [FROM_CLI])
    gone(server.pid)
    assert qmd.warm(deadline=NEVER)


def test_a_server_that_died_by_itself_is_not_asked(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    qmd = warm()
    pid = house.calls()[-1]["pid"]
    os.kill(pid, 9)
    gone(pid)
    assert search(qmd) == [FROM_CLI]


def test_closing_ends_the_server_at_once(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    qmd = warm()
    qmd.close()
    gone(house.calls()[-1]["pid"])
    assert not qmd.warm(deadline=NEVER)
    with pytest.raises(QmdError, match="closed"):
        search(qmd)


def test_closing_ends_a_search_in_flight(house: House, warm: Callable[..., Qmd]) -> None:
    qmd = warm(do="hang")
    caught: list[str] = []

    def ask() -> None:
        try:
            search(qmd)
        except QmdError as error:
            caught.append(error.reason)

    thread = threading.Thread(target=ask)
    thread.start()
    while not house.requests():
        thread.join(0.01)
    qmd.close()
    thread.join()
    assert caught == ["closed"]


def test_when_we_die_the_server_ends(
    house: House, warm: Callable[..., Qmd], gone: Callable[[int], None]
) -> None:
    qmd = warm()
    server = qmd._resident._server  # type: ignore[union-attr]  # there is one
    assert server is not None
    assert server._process.stdin is not None
    server._process.stdin.close()  # as the system does when a process dies
    gone(server.pid)


def test_a_fork_does_not_ask_its_parents_server(house: House, warm: Callable[..., Qmd]) -> None:
    qmd = warm()
    server = qmd._resident._server  # type: ignore[union-attr]  # there is one
    assert server is not None
    server._pid = -1
    assert search(qmd) == [FROM_CLI]
    server._pid = os.getpid()
    server.stop()


def test_many_threads_get_their_own_answers(house: House, warm: Callable[..., Qmd]) -> None:
    qmd = warm(results=[result("mem/a.md"), result("root/b.md")])
    got: list[tuple[str, list[Row]]] = []

    def ask(collection: str) -> None:
        got.append((collection, search(qmd, collections=[collection])))

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("mem", "root") * 8]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all([found.collection for found in rows] == [name] for name, rows in got)
    assert len(got) == 16


@pytest.mark.slow
def test_a_server_that_does_not_read_does_not_hold_us(warm: Callable[..., Qmd]) -> None:
    qmd = warm(do="deafened")
    long = "word " * 100_000
    given: dict[str, Any] = {"collections": ["mem"], "limit": 6, "deadline": NEVER}
    assert qmd.search("search", long[:200], **given | {"limit": 21}) == [FROM_CLI]
    with pytest.raises(DeclinedError, match="too long"):  # for an argument, too
        qmd.search("search", long, **given)


def test_what_loads_models_waits_for_the_server_that_keeps_them(house: House) -> None:
    house.knows("mem", "root")
    house.embedded()
    house.has_models("embeddinggemma-300M-Q8_0.gguf")
    house.behave(mcp={"results": [result("root/a.md"), result("mem/a.md", 0.5)]})
    rows = house.qmd().search(
        "query", [Line("vec", "a")], collections=["root", "mem"], limit=3, deadline=NEVER
    )
    assert rows == [row("root", "a.md"), row("mem", "a.md", 0.5)]
    assert house.commands() == ["mcp"]


def test_typed_lines_of_words_do_not_wait(house: House) -> None:
    house.behave(query={"stdout": CLI})
    rows = house.qmd().search(
        "query", [Line("lex", "a")], collections=["mem"], limit=3, deadline=NEVER
    )
    assert rows == [FROM_CLI]
    assert house.commands() == ["query"]


def test_where_no_collection_is_named_all_may_answer(
    house: House, warm: Callable[..., Qmd]
) -> None:
    qmd = warm(results=[result("mem/a.md"), result("else/b.md")])
    assert search(qmd, collections=()) == [row("mem", "a.md"), row("else", "b.md")]
    assert len(house.requests()) == 1


def test_not_finding_what_qmd_cannot_part_is_declined(warm: Callable[..., Qmd]) -> None:
    qmd = warm(results=[])
    with pytest.raises(DeclinedError):
        qmd.search("search", "ประชุม", collections=["mem"], limit=3, deadline=NEVER)
