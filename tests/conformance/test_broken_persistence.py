from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from commonplace.testing import StoreConformance
from commonplace.testing.store.persisting import PersistenceLaws
from commonplace_inmemory.lease import Lease
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.spec import Store
    from commonplace_inmemory.store import _Held
    from commonplace_inmemory.vectors import Vectors


class Handle(InMemoryStore):
    """Opens another store's contents: what a file is to a store on disk."""

    def __init__(self, disk: InMemoryStore) -> None:
        super().__init__()
        self._disk = disk
        self._lease = disk._lease
        self._build_ids = disk._build_ids
        self._chunk_ids = disk._chunk_ids
        self._vectors = disk._vectors

    @property
    def capabilities(self) -> frozenset[str]:
        return super().capabilities | {"persistent"}

    def _snapshot(self) -> dict[int, _Held]:
        super()._snapshot()
        return self._disk._snapshot()

    def _swap(self, builds: dict[int, _Held]) -> None:
        super()._swap(builds)
        self._disk._swap(builds)

    def _keep(self, vectors: Vectors) -> None:
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

    def _snapshot(self) -> dict[int, _Held]:
        super()._snapshot()
        return dict(self._read)

    def _swap(self, builds: dict[int, _Held]) -> None:
        super()._swap(builds)
        self._read = builds


class LeasesAlone(Handle):
    def __init__(self, disk: InMemoryStore) -> None:
        super().__init__(disk)
        self._lease = Lease()


def _opener(handle: type[Handle]) -> Callable[[str], Store]:
    disks: dict[str, InMemoryStore] = {}
    return lambda directory: handle(disks.setdefault(directory, InMemoryStore()))


class TestHandle(StoreConformance):
    disks: ClassVar[dict[str, InMemoryStore]] = {}

    def open_store(self, directory: str) -> Store:
        return Handle(self.disks.setdefault(directory, InMemoryStore()))


BROKEN: list[tuple[type[Handle], str]] = [
    (OpensEmpty, "test_everything_is_there_after_reopening"),
    (GivesUpUnfinishedBuilds, "test_a_filling_build_is_resumed_after_reopening"),
    (ReadsOnOpening, "test_what_one_writes_the_other_reads"),
    (LeasesAlone, "test_the_lease_is_for_the_whole_folder"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(
    broken: type[Handle], law: str, verdict: Callable[[Callable[[str], Store], str], str]
) -> None:
    assert verdict(_opener(broken), law) == "broken"


def test_a_history_with_reopening_catches_what_is_forgotten(
    verdict: Callable[[Callable[[str], Store], str], str],
) -> None:
    law = "test_any_history_leaves_what_a_naive_model_leaves"
    assert verdict(_opener(GivesUpUnfinishedBuilds), law) == "broken"


def test_every_law_can_fail(laws: Callable[[type], set[str]]) -> None:
    assert {law for _, law in BROKEN} == laws(PersistenceLaws)
