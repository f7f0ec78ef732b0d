"""Offers the built-in rankers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Group, WrongValueError, hookimpl, setting

if TYPE_CHECKING:
    from commonplace.plugin import Ranker, RankerContext, RankerRegistrar, Reading


class MmrSettings(Group):
    """``query.hybrid.mmr``."""

    enabled: bool = setting(
        "Prefer hits that differ from those above them.", default=False, tunable=True
    )
    lambda_: float = setting(
        "1 looks at relevance alone, 0 at difference alone.",
        default=0.7,
        key="lambda",
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )


class TemporalDecaySettings(Group):
    """``query.hybrid.temporalDecay``."""

    enabled: bool = setting("Prefer newer dated notes.", default=False, tunable=True)
    half_life_days: int = setting(
        "Age at which a dated note counts half.",
        default=30,
        unit="days",
        minimum=1,
        clamp=(1, None),
        tunable=True,
        tunable_within=(1, 36_500),
    )


class RecencySettings(Group):
    """``query.hybrid.recency``."""

    weight: float = setting(
        "Largest share of its score that a dated note loses with age; 0 switches it off. It does "
        "not run beside `temporalDecay`.",
        default=0.1,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )
    half_life_days: int = setting(
        "Age at which half of that share is lost.",
        default=30,
        unit="days",
        minimum=1,
        clamp=(1, None),
        tunable=True,
        tunable_within=(1, 36_500),
    )
    now: float = setting(
        "The same share where the query asks for what holds now (`now`, `current`, 现在); "
        "half of it is lost in a year. Of several notes about the same the newest loses nothing, "
        "the oldest three quarters of it more, the others by the order of their days.",
        default=0.4,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )


class ValiditySettings(Group):
    """``query.hybrid.validity``."""

    weight: float = setting(
        "Share of its score that a chunk loses whose matching line is struck out, or whose note "
        "says `status: superseded`, `deprecated` or the like; 0 switches it off.",
        default=0.3,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )


def _trust(raw: object, reading: Reading) -> str | float:
    """One of the names, or a weight."""
    from commonplace_ranking.fusion import MOST_WEIGHT, TRUST

    wanted = f"must be {', '.join(TRUST)}, or a number from 0 to {MOST_WEIGHT:g}"
    if isinstance(raw, str):
        name = reading.text(raw)
        if name not in TRUST:
            raise WrongValueError(wanted)
        return name
    weight = reading.number(raw, wanted)
    if not 0 <= weight <= MOST_WEIGHT:
        raise WrongValueError(wanted)
    return float(weight)


class EvidenceSettings(Group):
    """``query.hybrid.trust``."""

    trust: str | float = setting(
        "How far `fusion: evidence` trusts vectors beside keywords: `unknown`; `proven` for a "
        "model that you measured to be good on your notes; `weak` for one that was not made for "
        "search; or a number, the weight of keyword evidence (`unknown` is 4, `weak` 8).",
        default="unknown",
        read=_trust,
        schema={
            "anyOf": [
                {"enum": ["unknown", "proven", "weak"]},
                {"type": "number", "minimum": 0, "maximum": 100},
            ]
        },
        tunable=True,
    )


@hookimpl
def commonplace_register_rankers(register: RankerRegistrar) -> None:
    """Register them; the profile and their ``enabled`` decide which run."""
    register.ranker(
        "single",
        _single,
        summary="fusion where there is one arm: its raw score as 0..1, order kept",
    )
    register.ranker(
        "evidence",
        _evidence,
        summary="fusion by the rank of vectors and what the words cover of the query",
        config=EvidenceSettings,
    )
    register.ranker(
        "weighted", _weighted, summary="fusion by weighted sum of vector and keyword score"
    )
    register.ranker("rrf", _rrf, summary="fusion by reciprocal rank")
    register.ranker(
        "recency",
        _recency,
        summary="of nearly equal hits the newer dated note first",
        config=RecencySettings,
    )
    register.ranker(
        "validity",
        _validity,
        summary="what says of itself that it is superseded behind what holds",
        config=ValiditySettings,
    )
    register.ranker(
        "temporal_decay",
        _temporal_decay,
        summary="newer dated notes before older ones",
        config=TemporalDecaySettings,
    )
    register.ranker(
        "mmr",
        _mmr,
        summary="hits that say something new before hits that repeat",
        config=MmrSettings,
    )
    register.ranker(
        "lexical_boost",
        _lexical_boost,
        summary="the original's bonus for query words in text and path",
    )


def _single(_context: RankerContext) -> Ranker:
    from commonplace_ranking.fusion import Single

    return Single()


def _evidence(context: RankerContext) -> Ranker:
    from commonplace_ranking.fusion import TRUST, Evidence, Trust

    trust = (context.config or EvidenceSettings()).trust
    return Evidence(TRUST[trust] if isinstance(trust, str) else Trust(trust))


def _weighted(context: RankerContext) -> Ranker:
    from commonplace_ranking.fusion import Weighted

    return Weighted(context.vector_weight, context.text_weight)


def _rrf(_context: RankerContext) -> Ranker:
    from commonplace_ranking.fusion import ReciprocalRank

    return ReciprocalRank()


def _recency(context: RankerContext) -> Ranker:
    from commonplace_ranking.fusion import Recency

    settings = context.config or RecencySettings()
    return Recency(settings.weight, settings.half_life_days, settings.now)


def _validity(context: RankerContext) -> Ranker:
    from commonplace_ranking.validity import Validity

    return Validity((context.config or ValiditySettings()).weight)


def _temporal_decay(context: RankerContext) -> Ranker:
    from commonplace_ranking.adjustments import TemporalDecay

    return TemporalDecay((context.config or TemporalDecaySettings()).half_life_days)


def _mmr(context: RankerContext) -> Ranker:
    from commonplace_ranking.mmr import Mmr

    return Mmr((context.config or MmrSettings()).lambda_)


def _lexical_boost(_context: RankerContext) -> Ranker:
    from commonplace_ranking.adjustments import LexicalBoost

    return LexicalBoost()
