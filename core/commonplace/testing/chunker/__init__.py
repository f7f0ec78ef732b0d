"""The laws of chunkers; ``ChunkerConformance`` is all of them."""

from __future__ import annotations

from commonplace.testing.chunker.cutting import CuttingLaws

__all__ = ["ChunkerConformance"]


class ChunkerConformance(CuttingLaws):
    """All that a chunker promises: subclass it, name the class ``Test...``, define one method.

    ``make_chunker(context)`` makes the chunker; a registration's factory will do. ``settings`` are
    Hypothesis's, for chunkers that are slow or to be tested harder.
    """
