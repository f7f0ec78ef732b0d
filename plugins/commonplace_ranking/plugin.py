"""Offers the built-in rankers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Ranker, RankerContext, RankerRegistrar


@hookimpl
def commonplace_register_rankers(register: RankerRegistrar) -> None:
    """Add them."""
    for id_, summary, factory in (
        ("single", "fusion where there is one arm: its raw score as 0..1, order kept", _single),
        ("weighted", "fusion by weighted sum of vector and keyword score", _weighted),
        ("rrf", "fusion by reciprocal rank", _rrf),
        ("temporal_decay", "newer dated notes before older ones", _temporal_decay),
        ("mmr", "hits that say something new before hits that repeat", _mmr),
        ("lexical_boost", "the original's bonus for query words in text and path", _lexical_boost),
    ):
        register.ranker(id_, factory, summary=summary)


def _single(_context: RankerContext) -> Ranker:
    from commonplace_ranking.single import Single

    return Single()


def _weighted(context: RankerContext) -> Ranker:
    from commonplace_ranking.weighted import Weighted

    return Weighted(context.vector_weight, context.text_weight)


def _rrf(_context: RankerContext) -> Ranker:
    from commonplace_ranking.rrf import ReciprocalRank

    return ReciprocalRank()


def _temporal_decay(context: RankerContext) -> Ranker:
    from commonplace_ranking.temporal_decay import TemporalDecay

    return TemporalDecay(context.half_life_days)


def _mmr(context: RankerContext) -> Ranker:
    from commonplace_ranking.mmr import Mmr

    return Mmr(context.mmr_lambda)


def _lexical_boost(_context: RankerContext) -> Ranker:
    from commonplace_ranking.lexical_boost import LexicalBoost

    return LexicalBoost()
