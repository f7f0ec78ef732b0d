"""Offers the rankers that no profile runs by itself: ``ranking.chain`` names them.

In a module of their own, so that a search without them imports none of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.plugin import Group, Secret, UnavailableError, hookimpl, setting

if TYPE_CHECKING:
    from commonplace.plugin import Ranker, RankerContext, RankerRegistrar


class SourceBalanceSettings(Group):
    """``plugins.entries.source_balance.config``."""

    share: float = setting(
        "Most of the shown hits that one source may have while others have hits, as a share; less "
        "than an even share counts as one.",
        default=0.5,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )
    least: float = setting(
        "What a hit of another source must score to come before one of a source that has its share "
        "already, as a share of that one's score.",
        default=0.75,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )


class ExactPathSettings(Group):
    """``plugins.entries.exact_path.config``."""

    stems: bool = setting("Whether a file's name without its ending names it.", default=True)
    anywhere: bool = setting(
        "Whether a path in a longer query counts, or only one that is the whole query.",
        default=True,
    )


class ImportanceSettings(Group):
    """``plugins.entries.importance.config``."""

    weight: float = setting(
        "How much an importance weighs: 0.5 multiplies a score by 0.75 for 0 to 1.25 for 1.",
        default=0.5,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )


class SpreadSettings(Group):
    """``plugins.entries.spread.config``."""

    another: float = setting(
        "What each further passage of a document keeps of its score.",
        default=0.9,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )
    next_to: float = setting(
        "What a passage next to a better one keeps of its score besides.",
        default=0.8,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )


class TimeWordsSettings(Group):
    """``plugins.entries.time_words.config``."""

    weight: float = setting(
        "Largest share that is added to a score.",
        default=0.2,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )
    when: bool = setting("`when did ...` prefers passages that name a time.", default=True)
    now: bool = setting("`now` and `current` prefer the newest of a series.", default=True)
    after: bool = setting(
        "`after the move` prefers what is after the day of a line that names the move.",
        default=True,
    )


class InstructionSettings(Group):
    """``plugins.entries.standing.config``."""

    every: int = setting(
        "Hits among which one standing instruction is offered.",
        default=6,
        minimum=1,
        maximum=100,
        clamp=(1, 100),
    )


class RerankSettings(Group):
    """``plugins.entries.rerank.config``."""

    url: str | None = setting(
        "Address of the endpoint, such as `https://api.jina.ai/v1/rerank` or "
        "`http://localhost:8080/rerank`.",
        default=None,
        veiled=True,
    )
    form: Literal["auto", "cohere", "jina", "tei"] = setting(
        "Form of the request: `cohere`, `jina` (also llama-server, vLLM), `tei` "
        "(text-embeddings-inference); `auto` goes by the address.",
        default="auto",
    )
    model: str | None = setting(
        "Model, where the server has several.", default=None, shown="the vendor's"
    )
    api_key: Secret | None = setting("Key: a literal or `${NAME}`.", default=None)
    candidates: int = setting(
        "Hits that are sent and reordered.", default=20, minimum=1, maximum=200, clamp=(1, 200)
    )
    weight: float = setting(
        "1 orders by the server's relevance alone, 0 by the score before it.",
        default=1.0,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )
    seconds: float = setting(
        "Longest wait for its answer; the order stays then.",
        default=3.0,
        unit="seconds",
        minimum=0.1,
        maximum=25,
        clamp=(0.1, 25),
    )


@hookimpl
def commonplace_register_rankers(register: RankerRegistrar) -> None:
    """Register them; each runs where the configuration's chain names it."""
    register.ranker(
        "source_balance",
        _source_balance,
        summary="no source takes more than its share of the hits while others have good ones",
        config=SourceBalanceSettings,
    )
    register.ranker(
        "exact_path",
        _exact_path,
        summary="the file that the query names by its path or name first",
        config=ExactPathSettings,
    )
    register.ranker(
        "importance",
        _importance,
        summary="entries marked as important before others",
        config=ImportanceSettings,
    )
    register.ranker(
        "spread",
        _spread,
        summary="further passages of a document behind those of others",
        config=SpreadSettings,
    )
    register.ranker(
        "time_words",
        _time_words,
        summary="what fits when, now, after and before in a question",
        config=TimeWordsSettings,
    )
    register.ranker(
        "standing",
        _standing,
        summary="one standing instruction (always, never, I prefer) among the hits for a task",
        config=InstructionSettings,
    )
    register.ranker(
        "rerank",
        _rerank,
        summary="the order of a cross-encoder behind an HTTP endpoint",
        config=RerankSettings,
    )


def _time_words(context: RankerContext) -> Ranker:
    from commonplace_ranking.times import TimeWords

    settings = context.config or TimeWordsSettings()
    return TimeWords(settings.weight, when=settings.when, now=settings.now, after=settings.after)


def _standing(context: RankerContext) -> Ranker:
    from commonplace_ranking.standing import Instructions

    return Instructions((context.config or InstructionSettings()).every)


def _rerank(context: RankerContext) -> Ranker:
    from commonplace.plugin import RelevanceRanker
    from commonplace_ranking.reranking import Reranker

    settings = context.config or RerankSettings()
    if not settings.url:
        hint = "set plugins.entries.rerank.config.url"
        raise UnavailableError("no address of an endpoint is configured", hint=hint)
    reranker = Reranker(
        settings.url,
        form=settings.form,
        model=settings.model,
        key=settings.api_key.reveal() if settings.api_key is not None else "",
        seconds=settings.seconds,
        permit=context.permit,
    )
    return RelevanceRanker(
        "rerank", reranker, candidates=settings.candidates, weight=settings.weight
    )


def _source_balance(context: RankerContext) -> Ranker:
    from commonplace_ranking.reordering import SourceBalance

    settings = context.config or SourceBalanceSettings()
    return SourceBalance(settings.share, settings.least)


def _exact_path(context: RankerContext) -> Ranker:
    from commonplace_ranking.reordering import ExactPath

    settings = context.config or ExactPathSettings()
    return ExactPath(stems=settings.stems, anywhere=settings.anywhere)


def _importance(context: RankerContext) -> Ranker:
    from commonplace_ranking.adjustments import Importance

    return Importance((context.config or ImportanceSettings()).weight)


def _spread(context: RankerContext) -> Ranker:
    from commonplace_ranking.adjustments import Spread

    settings = context.config or SpreadSettings()
    return Spread(settings.another, settings.next_to)
