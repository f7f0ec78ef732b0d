"""When QMD makes vectors, and what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Embedding, UnavailableError

if TYPE_CHECKING:
    from commonplace.plugin import Deadline
    from commonplace_qmd.engine import Qmd
    from commonplace_qmd.settings import QmdSettings
    from commonplace_qmd.state import State

__all__ = ["embed", "is_due", "needs_vectors"]

_FIRST_PAUSE = 60.0
_LONGEST_PAUSE = 3600.0


def needs_vectors(config: QmdSettings) -> bool:
    """Whether the configured way to search asks for vectors at all."""
    return config.search_mode != "search"


def is_due(config: QmdSettings, state: State, now: float) -> bool:
    """Whether it is time by ``embedInterval`` (0 is never), and no pause after a failure."""
    interval = config.update.embed_interval
    if not (needs_vectors(config) and state.pending and interval):
        return False
    return now >= state.embed_after and now - state.last_embed >= interval


def embed(
    qmd: Qmd, config: QmdSettings, state: State, *, now: float, deadline: Deadline
) -> tuple[State, Embedding]:
    """Have QMD embed what has no vector; the state after it, and what to tell.

    A failure is counted and told, never raised: what is embedded is searchable all the same. After
    each in a row the pause is doubled, from a minute to an hour.
    """
    before = max(0, state.pending)
    if "embed" not in qmd.models():
        reason = "QMD's model for vectors is not on this machine: see `commonplace qmd env`"
        return state._replace(embed_reason=reason), Embedding("qmd", missing=before, reason=reason)
    try:
        qmd.embed(deadline=deadline.sooner(config.update.embed_timeout_ms / 1000))
        pending = qmd.status(
            deadline=deadline.sooner(config.update.command_timeout_ms / 1000)
        ).pending
    except UnavailableError as error:
        failures = state.embed_failures + 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures - 1, 10))
        failed = state._replace(
            embed_failures=failures, embed_after=now + pause, embed_reason=str(error)
        )
        return failed, Embedding("qmd", missing=before, reason=str(error))
    done = state._replace(
        last_embed=now, embed_failures=0, embed_after=0.0, embed_reason="", pending=pending
    )
    return done, Embedding("qmd", embedded=max(0, before - pending), missing=pending)
