"""The laws of stores, by subject; ``StoreConformance`` is all of them."""

from __future__ import annotations

from commonplace.testing.store.builds import BuildLaws
from commonplace.testing.store.documents import AppendLaws, DocumentLaws
from commonplace.testing.store.found import FoundLaws
from commonplace.testing.store.keyword import MatchLaws, ScoreLaws
from commonplace.testing.store.lifetime import CrashLaws, LeaseLaws, LifetimeLaws, PersistenceLaws
from commonplace.testing.store.vectors import NearestLaws, VectorLaws


class StoreConformance(
    DocumentLaws,
    AppendLaws,
    BuildLaws,
    MatchLaws,
    ScoreLaws,
    VectorLaws,
    NearestLaws,
    FoundLaws,
    LeaseLaws,
    LifetimeLaws,
    PersistenceLaws,
    CrashLaws,
):
    """All that a store promises: subclass it, name the class ``Test...``, define ``open_store``.

    ``open_store(directory)`` opens the store that lives in ``directory``, an empty folder at first.
    It is called again with the same folder for stores that declare ``persistent``, and then has to
    find there what the last one left. What it opens is closed by the test.

    ``settings`` are Hypothesis's, for stores that are slow to open or to be tested harder.
    """
