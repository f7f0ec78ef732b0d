"""The child as a process: killed, idle, left behind, and what it gets to see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace_local.worker import GoneError, Worker, child_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace_local.provider import LocalProvider

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def worker_of(provider: LocalProvider) -> Worker:
    assert provider._running._keeper is not None
    child = provider._running._keeper._child
    assert isinstance(child, Worker)
    return child


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def embed(provider: LocalProvider, text: str = "the cat") -> Any:
    return provider.embed([text], purpose="document", deadline=NEVER)


@posix
@pytest.mark.usefixtures("needs_engine")
def test_a_child_killed_between_requests_is_replaced(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    provider = local(tiny_gguf)
    before = embed(provider)
    first = worker_of(provider)
    os.kill(first.pid, signal.SIGKILL)
    assert list(embed(provider)[0]) == list(before[0])
    assert worker_of(provider).pid != first.pid
    assert first.ended()


@posix
@pytest.mark.usefixtures("needs_engine")
def test_a_child_killed_in_mid_request_is_replaced_and_the_answer_given(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    provider = local(tiny_gguf)
    embed(provider)
    child = worker_of(provider)
    # Stopped, it holds the request without answering: the kill comes in the middle for certain.
    os.kill(child.pid, signal.SIGSTOP)
    sent = threading.Event()
    send = child.send

    def watched(request: Any) -> None:
        send(request)
        sent.set()

    child.send = watched  # type: ignore[method-assign]  # the moment of sending is what is needed
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(embed(provider)))
    asking.start()
    assert sent.wait(60)
    os.kill(child.pid, signal.SIGKILL)
    asking.join(60)
    assert len(found[0][0]) == 64


@posix
@pytest.mark.usefixtures("needs_engine")
def test_three_kills_make_it_unavailable_until_it_has_rested(
    local: Callable[..., LocalProvider], tiny_gguf: Path, clock: Any
) -> None:
    provider = local(tiny_gguf, clock=clock)
    embed(provider)
    for pause in (None, 1.0, 300.0):
        os.kill(worker_of(provider).pid, signal.SIGKILL)
        if pause is None:
            embed(provider)
            continue
        with pytest.raises(ProviderError) as caught:
            embed(provider)
        assert caught.value.kind == "unavailable"
        assert "SIGKILL" in str(caught.value)
        assert caught.value.retry_after == pause
        clock.now += pause
        if pause == 1.0:
            embed(provider)
    assert len(embed(provider)[0]) == 64


@pytest.mark.usefixtures("needs_engine")
def test_an_idle_child_ends_by_itself_and_a_new_one_is_started(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    provider = local(tiny_gguf, options={"idle_seconds": 0.0})
    embed(provider)
    first = worker_of(provider)
    assert first._process.wait(60) == 0
    embed(provider)
    assert worker_of(provider).pid != first.pid


@posix
@pytest.mark.usefixtures("needs_engine")
def test_closing_leaves_no_child(local: Callable[..., LocalProvider], tiny_gguf: Path) -> None:
    provider = local(tiny_gguf)
    embed(provider)
    pid = worker_of(provider).pid
    provider.close()
    assert not alive(pid)
    provider.close()
    with pytest.raises(ProviderError, match="closed"):
        embed(provider)


@posix
@pytest.mark.usefixtures("needs_engine")
def test_closing_in_mid_request_ends_the_request(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    provider = local(tiny_gguf)
    embed(provider)
    child = worker_of(provider)
    os.kill(child.pid, signal.SIGSTOP)
    reported: list[BaseException] = []

    def ask() -> None:
        try:
            embed(provider)
        except ProviderError as error:
            reported.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    provider.close()
    asking.join(60)
    assert "closed" in str(reported[0])
    assert not alive(child.pid)


@posix
@pytest.mark.usefixtures("needs_engine")
def test_a_request_that_takes_too_long_is_a_timeout_and_its_answer_is_not_lost_for_others(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    provider = local(tiny_gguf)
    right = embed(provider, "the door")
    child = worker_of(provider)
    os.kill(child.pid, signal.SIGSTOP)
    with pytest.raises(ProviderError) as caught:
        provider.embed(["the cat"], purpose="query", deadline=Deadline.after(0.05))
    assert caught.value.kind == "timeout"
    os.kill(child.pid, signal.SIGCONT)
    assert list(embed(provider, "the door")[0]) == list(right[0])
    assert worker_of(provider) is child


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.usefixtures("needs_engine")
def test_a_killed_parent_leaves_no_child(tiny_gguf: Path) -> None:
    code = (
        "import os, sys\n"
        "from commonplace.resilience.deadline import NEVER\n"
        "from commonplace.plugin import ProviderContext\n"
        "from commonplace_local.provider import LocalProvider\n"
        "context = ProviderContext(options={'model_path': sys.argv[1], 'threads': 1})\n"
        "provider = LocalProvider(context, env=os.environ)\n"
        "provider.embed(['x'], purpose='document', deadline=NEVER)\n"
        "print(provider._running._keeper._child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tiny_gguf)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        watch = os.pidfd_open(pid)
        try:
            parent.kill()
            parent.wait(60)
            import select

            assert select.select([watch], [], [], 60)[0], "the child outlived its parent"
        finally:
            os.close(watch)


def test_the_child_gets_no_keys_to_see() -> None:
    env = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "sekrit",
        "HF_TOKEN": "sekrit",
        "AWS_SECRET_ACCESS_KEY": "sekrit",
        "GGML_VK_VISIBLE_DEVICES": "0",
        "CUDA_VISIBLE_DEVICES": "",
    }
    seen = child_environment(env)
    assert seen == {"PATH": "/bin", "GGML_VK_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": ""}


def test_nothing_of_the_current_folder_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('notes must not run')")
    (tmp_path / "commonplace_local.py").write_text("raise SystemExit('notes must not run')")
    monkeypatch.chdir(tmp_path)
    worker = Worker(os.environ)
    worker.send({"id": 1, "load": {"path": "no.gguf", "context": 1, "idle": 1}})
    reported = worker.receive(60)
    assert reported is not None
    assert reported["error"]["kind"] == "not_found"
    worker.stop()


def test_what_a_child_prints_last_is_reported_when_it_dies() -> None:
    code = "import os, sys; print('GGML_ASSERT failed', file=sys.stderr, flush=True); os._exit(3)"
    worker = Worker(os.environ, [sys.executable, "-c", code])
    with pytest.raises(GoneError, match="GGML_ASSERT failed") as caught:
        worker.receive(60)
    assert (caught.value.code, caught.value.manner) == (3, "with status 3")


def test_noise_on_its_output_is_no_answer() -> None:
    code = "print('hello'); print('[' * 100_000); print('{\"id\": 1}', flush=True); input()"
    worker = Worker(os.environ, [sys.executable, "-c", code])
    assert worker.receive(5) == {"id": 1}
    hello, nested = worker.words().splitlines()
    assert (hello, nested.strip("[")) == ("hello", "")
    assert worker.receive(0) is None
    worker.stop()
    worker.stop()


def test_a_child_that_has_gone_takes_no_request() -> None:
    worker = Worker(os.environ, [sys.executable, "-c", "pass"])
    worker._process.wait(60)
    with pytest.raises(GoneError) as caught:
        worker.send({"id": 1, "text": "x" * 100_000})
    assert caught.value.code == 0
