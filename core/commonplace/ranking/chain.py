"""Which rankers run: the chain of a profile, or the one the configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.spec import RankerContext

if TYPE_CHECKING:
    from commonplace.config import SearchSettings, Settings
    from commonplace.host.host import PluginHost
    from commonplace.spec import Ranker

__all__ = ["chain_of", "make_chain"]

_PROFILES: dict[str, tuple[str, ...]] = {
    "default": ("weighted",),
    "compat": ("weighted", "lexical_boost"),
}


def chain_of(settings: SearchSettings) -> tuple[str, ...]:
    """The ids of the rankers that run.

    ``ranking.chain`` as it stands, if it is set. Otherwise the profile's (``default`` is ours,
    ``compat`` gives the original's numbers), with the rankers that ``query.hybrid`` switches on.
    """
    if settings.ranking.chain is not None:
        return settings.ranking.chain
    chain = _PROFILES[settings.ranking.profile]
    hybrid = settings.query.hybrid
    if hybrid.temporal_decay.enabled:
        chain = (*chain, "temporal_decay")
    if hybrid.mmr.enabled:
        chain = (*chain, "mmr")
    return chain


def make_chain(host: PluginHost, settings: Settings) -> list[Ranker]:
    """The rankers of :func:`chain_of`, each with its own section of the configuration.

    Raises :class:`~commonplace.errors.PluginUnavailableError` for an id nobody offers.
    """
    hybrid = settings.search.query.hybrid
    context = RankerContext(
        vector_weight=hybrid.vector_weight,
        text_weight=hybrid.text_weight,
        half_life_days=hybrid.temporal_decay.half_life_days,
        mmr_lambda=hybrid.mmr.lambda_,
    )
    return [
        host.ranker(id_).factory(context._replace(config=settings.plugin_config(id_)))
        for id_ in chain_of(settings.search)
    ]
