from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CallerError, IndexBusyError, IndexReadOnlyError
from commonplace.resilience.lock import Holder, Lease, Presence, present, waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from commonplace.model.reports import Progress

HOLDER = """
import sys
from commonplace.resilience.lock import Lease
path, *sys.argv = sys.argv[1:]
with Lease(path).held(0):
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
"""
WAIT = 60.0


class Clock:
    """Time that passes only during a sleep; ``then`` runs at the end of each sleep."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.now = 1000.0
        self.then = then

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.then()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


@contextmanager
def other_process(path: str, *argv: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lease until it is written a line to, or killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate("\n")


def let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def busy(lease: Lease) -> bool:
    try:
        with lease.held(0):
            return False
    except IndexBusyError:
        return True


def test_another_process_is_kept_out_and_its_error_names_the_writer(path: str) -> None:
    lease = Lease(path, what="the diary")
    with other_process(path, "/usr/bin/commonplace", "index", "--force") as process:
        with pytest.raises(IndexBusyError) as caught, lease.held(0):
            pass
        assert caught.value.holder == f"process {process.pid} (commonplace index)"
        assert str(caught.value).startswith(caught.value.holder)
        assert "writing the diary" in str(caught.value)
        assert caught.value.hint
    assert not busy(lease)


def test_a_message_says_since_when(path: str) -> None:
    with other_process(path) as process:
        found = Lease(path).holder()
        assert found is not None
        assert found.pid == process.pid
        for passed, said in [
            (-5, "is writing the index"),
            (0.5, "is writing the index"),
            (12, "has been writing the index for 12 s"),
            (600, "has been writing the index for 10 min"),
            (10800, "has been writing the index for 3 h"),
        ]:
            late = Lease(path, wall=lambda at=found.since + passed: at)  # type: ignore[misc]
            with pytest.raises(IndexBusyError) as caught, late.held(0):
                pass
            assert str(caught.value) == f"process {process.pid} {said}"
            assert late.notices() == (str(caught.value),)


@pytest.mark.parametrize(
    ("argv", "program"),
    [
        (["/usr/bin/commonplace", "search", "my secret"], "commonplace search"),
        (["/usr/bin/commonplace", "--agent=secret", "index"], "commonplace"),
        (["/lib/commonplace/__main__.py", "index"], "commonplace index"),
        (["/home/me/agent.py", "secret"], "agent.py"),
        (["-c"], ""),
        (["\x1b[31m"], ""),
        ([], ""),
    ],
)
def test_a_holder_is_named_by_its_program_without_arguments(
    path: str, argv: list[str], program: str
) -> None:
    with other_process(path, *argv) as process:
        found = Lease(path).holder()
        assert found == Holder(process.pid, found.since if found else 0.0, program)


def test_waiting_ends_when_it_said(path: str) -> None:
    clock = Clock()
    lease = Lease(path, clock=clock, sleep=clock.sleep)
    with other_process(path), pytest.raises(IndexBusyError), lease.held(30):
        pass
    assert clock.now == pytest.approx(1030)


def test_who_waits_gets_the_lease_of_another_process(path: str) -> None:
    with other_process(path) as process:

        def at_last() -> None:
            if clock.now > 1010 and process.poll() is None:
                let_go(process)
                process.wait()

        clock = Clock(at_last)
        with Lease(path, clock=clock, sleep=clock.sleep).held(30) as outermost:
            assert outermost
        assert 1010 < clock.now < 1011


def test_a_killed_process_holds_nothing(path: str) -> None:
    lease = Lease(path)
    with other_process(path) as process:
        assert lease.holder() is not None
        process.kill()
        process.wait()
        assert os.path.exists(f"{path}.pid")
        assert lease.holder() is None
        assert not os.path.exists(f"{path}.pid")
        assert not busy(lease)


def test_a_killed_process_is_replaced_at_once(path: str) -> None:
    with other_process(path) as process:
        process.kill()
        process.wait()
        lease = Lease(path)
        with lease.held(0):
            found = Lease(path).holder()
            assert found is not None
            assert found.pid == os.getpid()


def test_nothing_tells_of_a_holder_when_there_is_none(path: str) -> None:
    lease = Lease(path)
    assert (lease.holder(), lease.notices()) == (None, ())
    assert not os.path.exists(path)
    with lease.held(0):
        assert lease.notices() == ()
        found = lease.holder()
        assert found is not None
        assert found.pid == os.getpid()
    assert lease.holder() is None
    assert not os.path.exists(f"{path}.pid")


def test_the_file_that_names_the_holder_is_never_reached_by_a_link(path: str) -> None:
    target = f"{path}.target"
    with open(target, "w") as file:
        file.write("123\n1.0\nplanted\n")
    os.symlink(target, f"{path}.pid")
    lease = Lease(path)
    assert lease.holder() is None
    with lease.held(0), open(target) as file:
        assert file.read() == "123\n1.0\nplanted\n"


def test_a_pipe_in_the_place_of_that_file_is_not_waited_for(path: str) -> None:
    os.mkfifo(f"{path}.pid")
    lease = Lease(path)
    assert lease.holder() is None
    with lease.held(0):
        assert lease.holder() is not None


@pytest.mark.parametrize(
    "written", [None, b"", b"no number", b"\xff\xff", b"12", b"12\nyesterday\n", b"\n1.0\n"]
)
def test_a_holder_that_cannot_be_named_is_another_process(path: str, written: bytes | None) -> None:
    lease = Lease(path)
    with other_process(path):
        os.unlink(f"{path}.pid")
        if written is not None:
            with open(f"{path}.pid", "wb") as file:
                file.write(written)
        with pytest.raises(IndexBusyError, match="another process is writing"), lease.held(0):
            pass
        assert lease.holder() is None


@pytest.mark.parametrize("shared", [True, False], ids=["one object", "two objects"])
def test_another_thread_is_kept_out_and_called_so(path: str, shared: bool) -> None:
    lease = Lease(path)
    other = lease if shared else Lease(path)

    def holder() -> str:
        with pytest.raises(IndexBusyError) as caught, other.held(0):
            pass
        assert other.notices() == (str(caught.value),)
        return caught.value.holder

    with ThreadPoolExecutor(1) as pool, lease.held(0):
        assert pool.submit(holder).result(WAIT) == "another thread of this process"
    assert not busy(other)


def test_without_a_file_it_keeps_threads_apart_alone() -> None:
    lease = Lease()
    with ThreadPoolExecutor(1) as pool, lease.held(0) as outermost:
        assert outermost
        assert pool.submit(busy, lease).result(WAIT)
        assert not pool.submit(busy, Lease()).result(WAIT)
    assert not busy(lease)
    assert lease.holder() is None


@pytest.mark.parametrize("named", [True, False], ids=["file", "threads"])
def test_a_thread_may_take_it_again(path: str, named: bool) -> None:
    lease = Lease(path if named else None)
    with ThreadPoolExecutor(1) as pool, lease.held(0) as outer:
        with lease.held(0) as inner:
            assert (outer, inner) == (True, False)
        lease.check()
        assert pool.submit(busy, lease).result(WAIT)
        with pytest.raises(CallerError):
            pool.submit(lease.check).result(WAIT)
    with pytest.raises(CallerError, match="without the lease"):
        lease.check()
    assert not busy(lease)


def test_an_error_within_lets_go_and_comes_through(path: str) -> None:
    lease = Lease(path)
    with pytest.raises(OSError, match="disk"), lease.held(0):
        raise OSError("disk")
    assert not busy(Lease(path))


def test_a_wait_without_end_is_a_wait(path: str) -> None:
    with Lease(path).held(float("inf")) as outermost:
        assert outermost


def test_its_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "lock"
    with Lease(str(path)).held(0):
        assert path.exists()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def test_where_there_can_be_no_file_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    lease = Lease(str(tmp_path / "file" / "lock"), what="the diary")
    with pytest.raises(IndexReadOnlyError, match="the diary cannot be") as caught, lease.held(0):
        pass
    assert caught.value.hint
    assert lease.holder() is None
    with pytest.raises(CallerError):
        lease.check()


class TestWaitedFor:
    """The word for people who wait."""

    waits: list[float]
    reported: list[Progress]

    def take(self, *free_after: float, wait: float, holder: str = "") -> str:
        """Take a lease that is free after so many seconds."""
        self.waits, self.reported = [], []

        @contextmanager
        def hold(seconds: float) -> Iterator[str]:
            self.waits.append(seconds)
            if sum(self.waits) < free_after[0]:
                raise IndexBusyError("another process is writing", holder=holder)
            yield "held"

        holding: AbstractContextManager[str] = waited_for(
            hold, wait=wait, progress=self.reported.append
        )
        with holding as held:
            return held

    def test_what_is_free_soon_is_taken_in_silence(self) -> None:
        assert self.take(1, wait=30) == "held"
        assert (self.waits, self.reported) == ([1.0], [])

    def test_a_longer_wait_reports_the_holder(self) -> None:
        assert self.take(10, wait=30, holder="process 12 (agent.py)") == "held"
        assert self.waits == [1.0, 29.0]
        (progress,) = self.reported
        assert progress.label == "waiting for process 12 (agent.py), which is writing the index"

    def test_a_holder_without_a_name_is_another_process(self) -> None:
        self.take(10, wait=30)
        assert self.reported[0].label.startswith("waiting for another process,")

    def test_the_wait_is_bounded(self) -> None:
        with pytest.raises(IndexBusyError, match="another process is writing"):
            self.take(100, wait=30)
        assert sum(self.waits) == 30

    @pytest.mark.parametrize("wait", [0, 0.5, 1])
    def test_a_short_wait_is_tried_once(self, wait: float) -> None:
        with pytest.raises(IndexBusyError):
            self.take(100, wait=wait)
        assert (self.waits, self.reported) == ([wait], [])

    def test_that_it_is_busy_within_is_not_waited_for(self, path: str) -> None:
        reported: list[Progress] = []
        lease = Lease(path)
        holding = waited_for(lease.held, wait=30, progress=reported.append)
        with pytest.raises(IndexBusyError, match="within"), holding:
            raise IndexBusyError("within")
        assert reported == []
        assert not busy(Lease(path))


def test_no_library_is_imported_to_lock(path: str) -> None:
    code = (
        "import sys\n"
        "from commonplace.resilience.lock import Lease\n"
        "lease = Lease(sys.argv[1])\n"
        "assert lease.holder() is None\n"
        "with lease.held(0): pass\n"
        "assert 'filelock' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no descriptors are inherited there")
def test_a_child_that_inherits_the_lease_holds_it_for_a_killed_parent(path: str) -> None:
    program = """
import subprocess, sys
from commonplace.resilience.lock import Lease
lease = Lease(sys.argv[1])
assert lease.descriptor is None
with lease.held(0):
    child = [sys.executable, "-c", "print('held', flush=True); input()"]
    subprocess.run(child, pass_fds=[lease.descriptor])
"""
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        assert parent.stdout.readline() == b"held\n"
        parent.kill()
        parent.wait()
        with pytest.raises(IndexBusyError), Lease(path).held(0):
            pass
        parent.stdin.close()  # the child's too: it ends
        with Lease(path).held(WAIT):
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="no descriptors are inherited there")
def test_a_child_that_stays_behind_does_not_keep_a_lease_that_was_released(path: str) -> None:
    lease = Lease(path)
    with lease.held(0):
        assert lease.descriptor is not None
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            pass_fds=[lease.descriptor],
        )
    with child:
        with Lease(path).held(0):
            pass
        child.communicate(b"\n")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_lock_file_behind_a_link_is_refused(path: str, tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere", path)
    with pytest.raises(IndexReadOnlyError), Lease(path).held(0):
        pass
    assert not (tmp_path / "elsewhere").exists()


SHOWN = """
import sys
from commonplace.resilience.lock import Presence
base, *sys.argv = sys.argv[1:]
shown = Presence(base)
shown.begin()
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_process_is_present_until_it_ends(tmp_path: Path) -> None:
    base = str(tmp_path / "index.watch")
    assert present(base) == ()
    process = subprocess.Popen(
        [sys.executable, "-c", SHOWN, base, "commonplace", "watch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        (holder,) = present(base)
        assert (holder.pid, holder.program) == (process.pid, "commonplace watch")
        process.kill()
    assert os.listdir(tmp_path), "a killed process takes nothing with it"
    assert present(base) == ()
    assert os.listdir(tmp_path) == []


def test_two_of_one_process_are_distinct_and_end_on_any_thread(tmp_path: Path) -> None:
    base = str(tmp_path / "new" / "index.watch")
    one, two = Presence(base), Presence(base)
    one.begin()
    two.begin()
    assert [holder.pid for holder in present(base)] == [os.getpid()] * 2
    with ThreadPoolExecutor(1) as pool:
        pool.submit(one.end).result()
    assert len(present(base)) == 1
    two.end()
    two.end()
    assert present(base) == ()


def test_where_nothing_can_be_written_nothing_is_shown(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = Presence(str(tmp_path / "file" / "index.watch"))
    shown.begin()
    shown.end()
    assert present(str(tmp_path / "file" / "index.watch")) == ()
