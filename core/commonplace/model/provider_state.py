"""What is known of an embedding provider; kept apart, because no search needs it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ProviderState"]


class ProviderState(NamedTuple):
    """A configured embedding provider, asked nothing.

    ``role`` is ``primary`` or ``fallback``. Of ``chunks`` chunks ``covered`` have a vector in its
    ``space`` (``""`` while it has none). ``state`` is ``ready``, ``failing``, ``probing`` (failing,
    and tried again by the next call) or ``unusable``; ``reason`` says why, ``since`` when (epoch
    seconds), and ``work`` at what: ``queries`` or ``documents``.
    """

    id: str
    role: str
    state: str
    model: str = ""
    space: str = ""
    covered: int = 0
    chunks: int = 0
    reason: str = ""
    since: float | None = None
    work: str = ""
