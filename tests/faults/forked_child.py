"""A child that is forked while its parent uses a memory: says what the child could do.

Usage: ``python forked_child.py FOLDER MOMENT``, where the moment is ``sync`` (another thread is in
a sync), ``transaction`` (it is in a transaction of the index when the fork begins) or ``asyncio``
(threads of the parent's asynchronous memory are idle).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import commonplace_sqlite.database
from commonplace import AsyncMemory, Memory
from commonplace.resilience import parts_of_this_process
from commonplace_sqlite.connection import transaction as usual_transaction
from commonplace_sqlite.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

_GIVE_UP_SECONDS = 120  # a child that hangs is killed by the alarm


class _Starting:
    """Stands where a fork takes locks, and says that it does."""

    def __init__(self, begun: threading.Event) -> None:
        self._begun = begun

    def acquire(self, timeout: float) -> bool:
        """Say so; there is nothing to hold."""
        del timeout
        self._begun.set()
        return False


def say(*words: str) -> None:
    """Write a line at once: what a child has not written when it ends is lost."""
    os.write(1, (" ".join(words) + "\n").encode())


def fork(work: Callable[[], object], ready: Callable[[], object] = lambda: None) -> int:
    """The status of a child that does ``work``; the parent is ``ready`` once it has begun."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
        child = os.fork()
    if not child:
        signal.alarm(_GIVE_UP_SECONDS)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - said, and the child ends here
            say(f"{type(error).__name__}: {error}")
            os._exit(1)
        os._exit(0)
    ready()
    return os.waitpid(child, 0)[1]


def beta(memory: Memory) -> None:
    """What a child does: it writes a note and finds it."""
    Path(memory.settings.workspace, "memory", "beta.md").write_text("beta\n", encoding="utf-8")
    memory.sync()
    say(*(hit.path for hit in memory.search("beta").hits))


def in_sync(memory: Memory) -> int:
    """Fork while another thread is in a sync."""
    inside, go = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        inside.set()
        go.wait()

    syncing = threading.Thread(target=lambda: memory.sync(force=True, progress=wait))
    syncing.start()
    inside.wait()
    status = fork(lambda: beta(memory), go.set)
    syncing.join()
    return status


def in_transaction(memory: Memory) -> int:
    """Fork while another thread is in a transaction of the index."""
    inside, go = threading.Event(), threading.Event()

    @contextmanager
    def transaction(connection: apsw.Connection) -> Iterator[None]:
        with usual_transaction(connection):
            yield
            inside.set()
            go.wait()

    setattr(commonplace_sqlite.database, "transaction", transaction)  # noqa: B010 - not exported
    syncing = threading.Thread(target=lambda: memory.sync(force=True))
    syncing.start()
    inside.wait()
    (database,) = (part for part in parts_of_this_process() if isinstance(part, Database))
    database.undivided = (_Starting(go), *database.undivided)  # type: ignore[assignment]
    status = fork(lambda: beta(memory), go.set)
    syncing.join()
    return status


def in_asyncio(memory: Memory) -> int:
    """Fork while threads of an asynchronous memory wait for their next call."""
    shared = AsyncMemory(memory)

    async def ask() -> None:
        await shared.sync()
        say(*(hit.path for hit in (await shared.search("alpha")).hits))

    asyncio.run(ask())
    return fork(lambda: asyncio.run(ask()))


def main(folder: str, moment: str) -> int:
    """Run one moment; 0 where the child could do its work."""
    workspace = Path(folder, "workspace")
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "alpha.md").write_text("alpha\n", encoding="utf-8")
    env = {
        "COMMONPLACE_STATE_DIR": str(Path(folder, "state")),
        "HOME": folder,
        "COMMONPLACE_CACHE_DIR": folder,
    }
    moments = {"sync": in_sync, "transaction": in_transaction, "asyncio": in_asyncio}
    with Memory.open(workspace=workspace, config={}, env=env) as memory:
        memory.sync()
        status = moments[moment](memory)
        if moment != "asyncio":
            say(*(hit.path for hit in memory.search("beta").hits))
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
