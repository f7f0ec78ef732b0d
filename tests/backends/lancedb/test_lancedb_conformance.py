"""The laws of stores, which the store on LanceDB has to keep like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from commonplace.protocols.contexts import StoreContext
from commonplace.testing import StoreConformance
from commonplace.testing.store import FoundLaws
from commonplace.testing.store.builds import BuildLaws
from commonplace.testing.store.documents import AppendLaws, DocumentLaws
from commonplace.testing.store.keyword import MatchLaws, ScoreLaws
from commonplace.testing.store.vectors import NearestLaws, VectorLaws
from commonplace_lancedb import keyword, maintenance
from commonplace_lancedb.plugin import make_store
from commonplace_lancedb.settings import LanceSettings, location_of
from commonplace_lancedb.store import LanceStore

if TYPE_CHECKING:
    from commonplace.protocols.parts import Store

loaded_rows = pytest.importorskip(
    "commonplace_lancedb.loaded_rows", reason="needs the extra lancedb"
)
pytestmark = pytest.mark.usefixtures("lancedb_installed")

_FEW = settings(max_examples=2, stateful_step_count=8)
"""A commit to a table costs a hundred times what one to SQLite's file does."""


def _open(directory: str) -> Store:
    return make_store(StoreContext(path=f"{directory}/index.sqlite"))


class TestLanceStoreAtItsCore(MatchLaws, FoundLaws, NearestLaws):
    settings = _FEW

    def open_store(self, directory: str) -> Store:
        return _open(directory)


@pytest.mark.slow
class TestLanceStore(StoreConformance):
    settings = settings(max_examples=10, stateful_step_count=12)

    def open_store(self, directory: str) -> Store:
        return _open(directory)


@pytest.mark.slow
class TestLanceStoreOfMany(MatchLaws, ScoreLaws, DocumentLaws):
    """As if there were many matches: Lance filters, finds phrases, and counts tokens."""

    settings = settings(max_examples=10, stateful_step_count=12)

    @pytest.fixture(autouse=True)
    def _few_candidates(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(keyword, "_CANDIDATES", 2)
        monkeypatch.setattr(keyword, "_PER_HIT", 100_000)

    def open_store(self, directory: str) -> Store:
        return _open(directory)


class _HeldInMemory:
    """The rows are held in memory, as those of a bucket are."""

    def open_store(self, directory: str) -> Store:
        location = location_of(f"{directory}/index.sqlite", LanceSettings())
        return LanceStore(location, held_bytes=1_000_000_000)


@pytest.mark.slow
class TestHeldLanceStore(_HeldInMemory, TestLanceStore):
    pass


@pytest.mark.slow
class TestHeldLanceStoreOfMany(_HeldInMemory, TestLanceStoreOfMany):
    pass


class _TidiedOften(_HeldInMemory):
    """Every write merges files, which gives all rows other addresses."""

    settings = settings(max_examples=4, stateful_step_count=12)
    tail = 0
    """Up to so many new rows are read with all columns; of more only what is not known."""

    @pytest.fixture(autouse=True)
    def _often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(maintenance, "_MOST_FRAGMENTS", 2)
        monkeypatch.setattr(maintenance, "_LOOSE_ROWS", 0)
        monkeypatch.setattr(loaded_rows, "_TAIL", self.tail)
        monkeypatch.setattr(loaded_rows, "_PARTS", 2)


@pytest.mark.slow
class TestHeldLanceStoreThatIsTidiedOften(_TidiedOften, TestLanceStore):
    pass


@pytest.mark.slow
class TestHeldLanceStoreThatReadsWhatIsNew(
    _TidiedOften,
    DocumentLaws,
    AppendLaws,
    BuildLaws,
    MatchLaws,
    ScoreLaws,
    VectorLaws,
    NearestLaws,
    FoundLaws,
):
    """Between the merges some writes add so few rows that only these are read.

    What is left out would be the class above once more: leases, other processes, which read all
    rows, and batches of more rows than that. Threads, and files left open, meet reads of what is
    new in ``TestHeldLanceStore``, too.
    """

    tail = 4
