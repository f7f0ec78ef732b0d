from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CallerError, IndexBusyError
from commonplace.testing import make_put, publish, search
from commonplace.testing.base import held, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace_sqlite.store import SqliteStore

HOLDER = """
import sys
from commonplace_sqlite.store import SqliteStore
store = SqliteStore(sys.argv[1])
with store.writer(wait=0):
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
"""


@contextmanager
def other_process(path: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lease until it is written a line to, or killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate("\n")


def take(store: SqliteStore, wait: float = 0) -> None:
    with store.writer(wait=wait):
        pass


def test_another_process_is_kept_out_and_sees_the_writer(store: SqliteStore, path: str) -> None:
    with other_process(path) as process:
        with pytest.raises(IndexBusyError, match=f"process {process.pid} .*writing") as caught:
            take(store)
        assert caught.value.hint
        with pytest.raises(IndexBusyError):
            take(store, wait=0.05)
        assert store.builds() == ()  # to read needs no lease
    take(store)


def test_a_killed_process_holds_nothing(store: SqliteStore, path: str) -> None:
    with other_process(path) as process:
        process.kill()
        process.wait()
        publish(store, make_put("a.md", "ant"))
    assert len(search(store, words("ant"))) == 1


def test_who_waits_gets_the_lease_of_another_process(store: SqliteStore, path: str) -> None:
    with other_process(path) as process:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        publish(store, make_put("a.md", "ant"))
    assert set(held(store)) == {("memory", "a.md")}


def test_two_processes_write_one_after_the_other(
    store: SqliteStore, path: str, open_store: Callable[..., SqliteStore]
) -> None:
    publish(store)
    code = (
        "import sys\n"
        "from commonplace.testing import make_put, write\n"
        "from commonplace_sqlite.store import SqliteStore\n"
        "store = SqliteStore(sys.argv[1])\n"
        "for number in range(10):\n"
        "    write(store, make_put(f'{sys.argv[2]}-{number}.md', 'ant'))\n"
        "store.close()\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, path, name]) for name in ("one", "two")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(held(store)) == 20
    assert len(search(store, words("ant"))) == 20
    assert store.health(deep=True).problems == ()


def test_writing_outside_of_the_lease_is_the_callers_fault(store: SqliteStore) -> None:
    live = publish(store, make_put("a.md", "ant"))
    actions: list[Callable[[], object]] = [
        lambda: store.put_documents(live, []),
        lambda: store.open_build("new"),
        lambda: store.activate(live),
        lambda: store.drop(live),
    ]
    for action in actions:
        with pytest.raises(CallerError, match="without the lease"):
            action()
    assert store.builds() == (live,)


def test_a_deep_check_names_the_writer(store: SqliteStore, path: str) -> None:
    publish(store)
    with other_process(path) as process:
        (notice,) = store.health(deep=True).notices
        assert notice.startswith(f"process {process.pid} ")
        assert store.health().notices == ()
    assert store.health(deep=True).notices == ()
