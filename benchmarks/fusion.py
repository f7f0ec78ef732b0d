"""Fusions of keywords with the real rankings of embedding models, against the better of both lists.

    COMMONPLACE_EVAL_DIR=../shared/eval python benchmarks/fusion.py [--models]

Prints nDCG@10 beyond that of the better list: the mean over all models, the worst model, and how
many models lose more than 0.005; with ``--models`` that of each model. Returns 1 if the default
fusion loses more than that with any, or gains less than 0.02 in the mean. Cosines are not
published, so that ``weighted`` gets such as fall by 0.01 a rank.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from commonplace_ranking.fusion import TRUST, Evidence, ReciprocalRank, Trust, Weighted

if TYPE_CHECKING:
    from commonplace.plugin import Ranker

LOSS = 0.005
LEAST_GAIN = 0.02

FUSIONS: dict[str, Ranker] = {
    "weighted": Weighted(),
    "rrf": ReciprocalRank(),
    "evidence": Evidence(),
    "evidence, trust: proven": Evidence(TRUST["proven"]),
    **{f"evidence, trust: {c}": Evidence(Trust(c)) for c in (0, 1, 2, 3, 5, 6, 8, 16)},
}


def load_measuring() -> Any:
    """What the tests measure with; tests are not packages."""
    path = Path(__file__).parents[1] / "tests/plugins/ranking/real_rankings.py"
    spec = importlib.util.spec_from_file_location("real_rankings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", action="store_true", help="print each model, too")
    args = parser.parse_args()
    measuring = load_measuring()
    pairs = measuring.pairs_of(Path(os.environ["COMMONPLACE_EVAL_DIR"], "dev"))
    print(
        f"{'nDCG@10 against the better list':34} {'mean':>7} {'worst':>7}  below, of {len(pairs)}"
    )
    failed = False
    for name, ranker in FUSIONS.items():
        gains = {pair: measuring.gain(lists, ranker) for pair, lists in pairs.items()}
        mean, worst = fmean(gains.values()), min(gains.values())
        below = sum(gain < -LOSS for gain in gains.values())
        print(f"{name:34} {mean:+7.3f} {worst:+7.3f}  {below}")
        if args.models:
            for pair, gain in gains.items():
                print(f"    {pair:30} {gain:+7.3f}")
        failed = failed or (name == "evidence" and (below > 0 or mean < LEAST_GAIN))
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
