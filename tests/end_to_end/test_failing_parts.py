"""While every part of a plugin fails at random, searches answer, say why, and lose nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faults.failing_parts import run

from commonplace.host.discovery import installed
from commonplace.protocols.providers import Limits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 5])
def test_a_failing_part_costs_its_own_share(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "host.answers.RANKER",
        "host.sources.CALL",
        "host.backends.PROBE",
        "host.events.HOOK",
    ):
        monkeypatch.setattr(f"commonplace.{name}_SECONDS", 0.2)
    monkeypatch.setattr("commonplace.embedding.guarded.FACT_SECONDS", 0.2)
    limits = Limits(query_seconds=0.3, request_seconds=0.3, wait_seconds=0.2)
    outcome = run(tmp_path, searches=60, seed=seed, share=0.2, installed=installed(), limits=limits)
    assert (outcome.raised, outcome.silent, outcome.lost) == ([], [], [])
    assert outcome.served.total() == outcome.searches
    assert len(outcome.failed) > 10
