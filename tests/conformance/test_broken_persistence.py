from __future__ import annotations

import os
import pickle
import shutil
from contextlib import contextmanager
from tempfile import mkdtemp
from typing import TYPE_CHECKING, ClassVar

from hypothesis import settings
from tests.conformance.mutants import caught, complete

from commonplace.errors import IndexBusyError
from commonplace.index.simple_store import SimpleStore
from commonplace.resilience.lock import Lease
from commonplace.testing import StoreConformance
from commonplace.testing.store import PersistenceLaws
from commonplace.testing.store.lifetime import KillLaws
from commonplace_inmemory.store import InMemoryStore
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace.index.simple_store import StoredBuild
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.protocols.parts import Store


class Handle(InMemoryStore):
    """Opens another store's contents: what a file is to a store on disk."""

    def __init__(self, disk: InMemoryStore) -> None:
        super().__init__()
        self._disk = disk
        self._lease = disk._lease
        self._ids = disk._ids
        self._vectors = disk._vectors

    capabilities = InMemoryStore.capabilities | {"persistent"}

    def _snapshot(self) -> dict[int, StoredBuild]:
        super()._snapshot()
        return self._disk._snapshot()

    def _swap(self, builds: dict[int, StoredBuild]) -> None:
        super()._swap(builds)
        self._disk._swap(builds)

    def _keep(self, vectors: Mapping[str, Mapping[str, bytes]]) -> None:
        super()._keep(vectors)
        self._disk._keep(vectors)


class OpensEmpty(Handle):
    def __init__(self, disk: InMemoryStore) -> None:
        super().__init__(InMemoryStore())


class GivesUpUnfinishedBuilds(Handle):
    def close(self) -> None:
        live = {i: held for i, held in self._disk._builds.items() if held.build.state == "live"}
        self._disk._swap(live)
        super().close()


class ReadsOnOpening(Handle):
    def __init__(self, disk: InMemoryStore) -> None:
        super().__init__(disk)
        self._read = disk._snapshot()

    def _snapshot(self) -> dict[int, StoredBuild]:
        super()._snapshot()
        return dict(self._read)

    def _swap(self, builds: dict[int, StoredBuild]) -> None:
        super()._swap(builds)
        self._read = builds


class LeasesAlone(Handle):
    def __init__(self, disk: InMemoryStore) -> None:
        super().__init__(disk)
        self._lease = Lease()


class Written(SqliteStore):
    """A store on disk, which keeps every law as it is."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        super().__init__(f"{directory}/index.sqlite")


class WritesInTheEnd(SqliteStore):
    def __init__(self, directory: str) -> None:
        self.directory, self.scratch = directory, mkdtemp()
        shutil.copytree(directory, self.scratch, dirs_exist_ok=True)
        super().__init__(f"{self.scratch}/index.sqlite")

    def close(self) -> None:
        super().close()
        if os.path.exists(self.scratch):
            shutil.copytree(self.scratch, self.directory, dirs_exist_ok=True)
            shutil.rmtree(self.scratch)


class WritesInTwoSteps(Written):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes[:1])
        super().put_documents(build, changes[1:])


class InAFile(SimpleStore):
    """Keeps everything in one file; it keeps every law as it is."""

    capabilities = SimpleStore.capabilities | {"persistent"}

    def __init__(self, directory: str) -> None:
        self.path = f"{directory}/index"
        super().__init__(lease=Lease(f"{self.path}.lock"))

    def load(self) -> Mapping[int, StoredBuild]:
        if not os.path.exists(self.path):
            return {}
        with open(self.path, "rb") as file:
            held: dict[int, StoredBuild] = pickle.load(file)
        return held

    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        with open(f"{self.path}.new", "wb") as file:
            pickle.dump(dict(builds), file)
        os.replace(f"{self.path}.new", self.path)


class WritesInPlace(InAFile):
    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        with open(self.path, "wb") as file:
            pickle.dump(dict(builds), file)


class DropsBeforeItActivates(InAFile):
    def activate(self, build: Build) -> None:
        for other in self.builds():
            if other.state == "live":
                self.drop(other)
        super().activate(build)


class CountsIdsFromWhatItHolds(InAFile):
    last = 0

    def new_id(self) -> int:
        builds = self.load().values()
        ids = [row.id for held in builds for row in held.contents.rows()]
        self.last = 1 + max([self.last, *(held.build.id for held in builds), *ids])
        return self.last


class LeavesItsLease(Written):
    @contextmanager
    def writer(self, *, wait: float) -> Iterator[None]:
        lock, mine = f"{self.directory}/lock", f"{id(self)}"
        if os.path.exists(lock):
            with open(lock, encoding="utf-8") as file:
                if file.read() != mine:
                    raise IndexBusyError("another process is writing")
        with super().writer(wait=wait):
            with open(lock, "w", encoding="utf-8") as file:
                file.write(mine)
            yield
        os.unlink(lock)


class Disks:
    """Which folder is which disk: a copy of a folder is the same one."""

    def __init__(self) -> None:
        self.disks: dict[str, InMemoryStore] = {}

    def of(self, directory: str) -> InMemoryStore:
        mark = f"{directory}/disk"
        if not os.path.exists(mark):
            with open(mark, "w", encoding="utf-8") as file:
                file.write(str(len(self.disks)))
        with open(mark, encoding="utf-8") as file:
            return self.disks.setdefault(file.read(), InMemoryStore())


def _opener(handle: type[Handle]) -> Callable[[str], Store]:
    disks = Disks()
    return lambda directory: handle(disks.of(directory))


class TestHandle(StoreConformance):
    settings = settings(max_examples=6, stateful_step_count=15)
    disks: ClassVar[Disks] = Disks()
    test_another_process_reads_what_this_one_wrote = None  # type: ignore[assignment]  # in memory

    def open_store(self, directory: str) -> Store:
        return Handle(self.disks.of(directory))


BROKEN: list[tuple[type[Handle], str]] = [
    (OpensEmpty, "test_everything_is_there_after_reopening"),
    (GivesUpUnfinishedBuilds, "test_a_filling_build_is_resumed_after_reopening"),
    (ReadsOnOpening, "test_what_one_writes_the_other_reads"),
    (LeasesAlone, "test_the_lease_is_for_the_whole_folder"),
]


CRASHING: list[tuple[type[SqliteStore | InAFile], str]] = [
    (WritesInTheEnd, "test_a_kill_loses_nothing_that_was_written"),
    (WritesInTwoSteps, "test_a_kill_within_a_batch_leaves_all_of_it_or_nothing"),
    (LeavesItsLease, "test_a_kill_while_a_build_fills_spares_the_live_one"),
    (WritesInPlace, "test_a_kill_at_any_step_leaves_all_or_nothing"),
    (DropsBeforeItActivates, "test_a_kill_at_any_step_leaves_all_or_nothing"),
]


test_the_law_catches = caught(BROKEN, _opener)
test_the_law_catches_what_a_kill_brings_to_light = caught(CRASHING, lambda broken: broken)
test_every_law_can_fail = complete([*BROKEN, *CRASHING], PersistenceLaws, KillLaws)


def test_the_law_of_ids_catches_those_that_are_given_again_after_reopening(
    verdict: Callable[[Callable[[str], Store], str], str],
) -> None:
    law = "test_an_id_never_names_another_chunk"
    assert verdict(CountsIdsFromWhatItHolds, law) == "broken"
    assert verdict(InAFile, law) == "kept"


def test_a_file_that_is_replaced_is_whole_at_any_step(
    verdict: Callable[[Callable[[str], Store], str], str],
) -> None:
    assert verdict(InAFile, "test_a_kill_at_any_step_leaves_all_or_nothing") == "kept"


def test_a_history_with_reopening_catches_what_is_forgotten(
    verdict: Callable[[Callable[[str], Store], str], str],
) -> None:
    law = "test_any_history_leaves_what_a_naive_model_leaves"
    assert verdict(_opener(GivesUpUnfinishedBuilds), law) == "broken"
