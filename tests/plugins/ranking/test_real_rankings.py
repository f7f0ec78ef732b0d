"""The fusion does not hurt: measured on the rankings of ten real models."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from commonplace_ranking.fusion import Evidence, Weighted

HERE = Path(__file__).resolve().parent


@pytest.mark.slow
def test_evidence_loses_with_no_model_and_gains_in_the_mean() -> None:
    folder = Path(os.environ.get("COMMONPLACE_EVAL_DIR", ""), "dev")
    if not any(folder.glob("*/rankings.json")):
        pytest.skip("no rankings.json found; COMMONPLACE_EVAL_DIR names the folder above dev/")
    measuring = real_rankings()
    pairs = measuring.pairs_of(folder)
    assert len(pairs) == 10
    gains = {name: measuring.gain(lists, Evidence()) for name, lists in pairs.items()}
    assert min(gains.values()) >= -0.005, gains
    assert fmean(gains.values()) >= 0.02, gains
    shares = [measuring.gain(lists, Weighted()) for lists in pairs.values()]
    assert fmean(gains.values()) > fmean(shares)


def real_rankings() -> Any:
    spec = importlib.util.spec_from_file_location("real_rankings", HERE / "real_rankings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
