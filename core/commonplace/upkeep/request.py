"""What somebody wants of a sync, and what several want of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.reports import Progress, ProgressCallback, Reason

__all__ = ["SyncRequest", "merged"]


class SyncRequest(NamedTuple):
    """A sync that is wanted.

    ``force`` makes the index anew; ``embed`` also embeds what is not; ``eager`` leaves nothing for
    later because it is little. ``paths`` are absolute paths that are known to have changed: they
    are told, and the sync looks at everything all the same. ``wait`` is how many seconds to wait
    for another writer.
    """

    reasons: tuple[Reason, ...]
    force: bool = False
    embed: bool = True
    eager: bool = False
    paths: frozenset[str] = frozenset()
    wait: float = 0.0
    progress: ProgressCallback | None = None


def merged(requests: Iterable[SyncRequest]) -> SyncRequest:
    """One request that does all that ``requests`` want; there must be one at least."""
    wanted = list(requests)
    if len(wanted) == 1:
        return wanted[0]
    told = [request.progress for request in wanted if request.progress is not None]

    def progress(done: Progress) -> None:
        for tell in told:
            tell(done)

    return SyncRequest(
        reasons=tuple(dict.fromkeys(reason for request in wanted for reason in request.reasons)),
        force=any(request.force for request in wanted),
        embed=any(request.embed for request in wanted),
        eager=any(request.eager for request in wanted),
        paths=frozenset().union(*(request.paths for request in wanted)),
        wait=max(request.wait for request in wanted),
        progress=progress if told else None,
    )
