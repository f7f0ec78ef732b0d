"""Who embeds and who would answer a query, as far as is known without asking anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace.embedding.link import space_name, space_of, told
from commonplace.embedding.service import KEYWORDS
from commonplace.errors import UnavailableError
from commonplace.model.reports import ProviderState
from commonplace.model.search import Fallback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.embedding.link import ProviderLink
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.store import SpaceInfo

__all__ = ["Serving", "refusals_of", "serving", "states_of"]

_AT_MOST = 10

_STATES = {"closed": "ready", "open": "failing", "half-open": "probing"}


class Serving(NamedTuple):
    """Who embeds; ``answers`` says whether its vectors are there to be searched."""

    provider: str | None = None
    model: str | None = None
    fallback: Fallback | None = None
    answers: bool = False


def serving(service: EmbeddingService, spaces: Sequence[SpaceInfo]) -> Serving:
    """Who would answer a query now, in whose place, and why."""
    failed = service.absent
    excuse: Fallback | None = None
    for link, space, why_not in service.candidates(spaces):
        if space is None:
            if why_not is not None:
                excuse = excuse or Fallback(why_not.part, why_not.reason, why_not.since)
            continue
        state = link.state("query")
        if state.state != "closed":
            failed = failed or Fallback(link.id, state.reason, state.since or 0.0)
            continue
        fallback = failed or excuse
        if fallback is not None:
            fallback = fallback._replace(by=link.id)
        return Serving(link.id, link.model, fallback, answers=True)
    for link in service.links:
        state = link.state()
        if state.state != "closed":
            failed = failed or Fallback(link.id, state.reason, state.since or 0.0)
        elif not any(info.covered for info in spaces):
            fallback = failed._replace(by=link.id) if failed else None
            return Serving(link.id, link.model, fallback)
    failed = failed or excuse
    return Serving(fallback=failed._replace(by=KEYWORDS) if failed else None)


def states_of(
    service: EmbeddingService, spaces: Sequence[SpaceInfo], chunks: int
) -> tuple[ProviderState, ...]:
    """Every configured provider, the primary first. ``chunks`` is how many there are to cover."""
    states = []
    if (absent := service.absent) is not None:
        states.append(
            ProviderState(
                absent.part, "primary", "unusable", reason=absent.reason, since=absent.since
            )
        )
    for link in service.links:
        role = "primary" if link is service.primary else "fallback"
        states.append(_state_of(link, role, spaces, chunks))
    return tuple(states)


def refusals_of(service: EmbeddingService) -> list[str]:
    """A line on each text that a provider will not embed, ten at the most for each provider."""
    lines: list[str] = []
    if (memory := service.refused) is None:
        return lines
    for link in service.links:
        try:
            refused = memory.of(link.fingerprint())
        except UnavailableError:
            continue
        said = [f"{text.place} is not embedded: {text.reason}" for text in refused.values()]
        lines += said[:_AT_MOST]
        if len(said) > _AT_MOST:
            lines.append(f"{len(said) - _AT_MOST} more texts are not embedded with {link.id}")
    return lines


def _state_of(
    link: ProviderLink, role: str, spaces: Sequence[SpaceInfo], chunks: int
) -> ProviderState:
    state = link.state()
    try:
        space = space_of(link.fingerprint(), spaces)
        model = link.model
    except UnavailableError as error:
        return ProviderState(link.id, role, "unusable", chunks=chunks, reason=told(error))
    return ProviderState(
        id=link.id,
        role=role,
        state=_STATES[state.state],
        model=model,
        space=space_name(link.fingerprint(), space.dims) if space else "",
        covered=space.covered if space else 0,
        chunks=chunks,
        reason=state.reason,
        since=state.since,
        work="" if state.since is None else _work_of(link),
    )


def _work_of(link: ProviderLink) -> str:
    return "documents" if link.state("query").since is None else "queries"
