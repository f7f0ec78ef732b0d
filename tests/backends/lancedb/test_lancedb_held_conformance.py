"""The laws of stores, kept by the store on LanceDB where its rows are held in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from commonplace.testing import StoreConformance
from commonplace.testing.store import FoundLaws
from commonplace.testing.store.documents import DocumentLaws
from commonplace.testing.store.keyword import MatchLaws, ScoreLaws
from commonplace.testing.store.vectors import NearestLaws
from commonplace_lancedb import held, keyword, maintenance
from commonplace_lancedb.settings import LanceSettings, location_of
from commonplace_lancedb.store import LanceStore

if TYPE_CHECKING:
    from commonplace.protocols.parts import Store

pytestmark = pytest.mark.usefixtures("lancedb_installed")

_FEW = settings(max_examples=2, stateful_step_count=8)


def _open(directory: str) -> Store:
    location = location_of(f"{directory}/index.sqlite", LanceSettings())
    return LanceStore(location, held_bytes=1_000_000_000)


class TestHeldLanceStoreAtItsCore(MatchLaws, FoundLaws, NearestLaws):
    settings = _FEW

    def open_store(self, directory: str) -> Store:
        return _open(directory)


@pytest.mark.slow
class TestHeldLanceStore(StoreConformance):
    settings = settings(max_examples=10, stateful_step_count=12)

    def open_store(self, directory: str) -> Store:
        return _open(directory)


@pytest.mark.slow
class TestHeldLanceStoreOfMany(MatchLaws, ScoreLaws, DocumentLaws):
    """As if there were many matches: Lance filters, finds phrases, and counts tokens."""

    settings = settings(max_examples=10, stateful_step_count=12)

    @pytest.fixture(autouse=True)
    def _few_candidates(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(keyword, "_CANDIDATES", 2)
        monkeypatch.setattr(keyword, "_PER_HIT", 100_000)

    def open_store(self, directory: str) -> Store:
        return _open(directory)


@pytest.mark.slow
class TestHeldLanceStoreThatIsTidiedOften(StoreConformance):
    """Every write merges files, which gives all rows other addresses; or adds a few rows."""

    settings = settings(max_examples=10, stateful_step_count=12)

    @pytest.fixture(autouse=True, params=[0, 4])
    def _often(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(maintenance, "_MOST_FRAGMENTS", 2)
        monkeypatch.setattr(maintenance, "_LOOSE_ROWS", 0)
        monkeypatch.setattr(held, "_TAIL", request.param)
        monkeypatch.setattr(held, "_PARTS", 2)

    def open_store(self, directory: str) -> Store:
        return _open(directory)
