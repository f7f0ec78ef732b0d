"""Which rankers run: the chain of a profile, or the one the configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.spec import RankerContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.host.host import PluginHost
    from commonplace.spec import Ranker

__all__ = ["PROFILES", "make_chain"]

PROFILES: dict[str, tuple[str, ...]] = {
    "default": ("single",),
    "compat": ("single", "lexical_boost"),
}
"""Ranker ids by profile. ``default`` is ours; ``compat`` gives the original's numbers."""


def make_chain(host: PluginHost, *, profile: str, chain: Sequence[str] | None) -> list[Ranker]:
    """The rankers of ``chain``, or of ``profile`` where no chain is configured.

    Raises :class:`~commonplace.errors.PluginUnavailableError` for an id nobody offers.
    """
    ids = PROFILES[profile] if chain is None else chain
    return [host.ranker(id_).factory(RankerContext()) for id_ in ids]
