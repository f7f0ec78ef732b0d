"""The laws of rankers, by subject; ``RankerConformance`` is all of them."""

from __future__ import annotations

from commonplace.testing.ranker.keeping import KeepingLaws
from commonplace.testing.ranker.scoring import ScoreLaws

__all__ = ["RankerConformance"]


class RankerConformance(KeepingLaws, ScoreLaws):
    """All that a ranker promises: subclass it, name the class ``Test...``, define one method.

    ``make_ranker(context)`` makes the ranker; a registration's factory will do. ``settings`` are
    Hypothesis's, for rankers that are slow or to be tested harder.
    """
