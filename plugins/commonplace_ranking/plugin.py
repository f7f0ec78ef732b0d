"""Offers the built-in rankers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.plugins import Registration
from commonplace.spec import hookimpl

if TYPE_CHECKING:
    from commonplace.spec import Ranker, RankerContext, Registry


@hookimpl
def commonplace_register_rankers(registry: Registry) -> None:
    """Add them."""
    registry.add(
        Registration(
            id="single",
            summary="fusion where there is one arm: its raw score mapped to 0..1, order kept",
            factory=_single,
        )
    )
    registry.add(
        Registration(
            id="lexical_boost",
            summary="the original's bonus for query words in text and path, without a provider",
            factory=_lexical_boost,
        )
    )


def _single(_context: RankerContext) -> Ranker:
    from commonplace_ranking.single import Single

    return Single()


def _lexical_boost(_context: RankerContext) -> Ranker:
    from commonplace_ranking.lexical_boost import LexicalBoost

    return LexicalBoost()
