"""The choice of an embedding provider, made once, when something first needs it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.config import Settings
    from commonplace.embedding.choice import Choice
    from commonplace.embedding.service import EmbeddingService
    from commonplace.host.host import PluginHost

__all__ = ["EmbeddingChooser"]


class EmbeddingChooser:
    """Puts off :func:`~commonplace.embedding.choice.choose`: it loads every provider plugin."""

    def __init__(
        self,
        host: PluginHost,
        settings: Settings,
        env: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._host = host
        self._settings = settings
        self._env = env
        self._clock = clock
        self._lock = threading.Lock()
        self._choice: Choice | None = None

    def service(self) -> EmbeddingService | None:
        """Who embeds, or ``None`` if nobody does."""
        return self.choice().service

    def choice(self) -> Choice:
        """Who embeds, with words on who was asked for and cannot."""
        from commonplace.embedding.choice import choose

        with self._lock:
            if self._choice is None:
                self._choice = choose(self._host, self._settings, self._env, clock=self._clock)
            return self._choice

    def close(self) -> None:
        """Close what was chosen; closing twice is fine."""
        with self._lock:
            choice, self._choice = self._choice, None
        if choice is not None and choice.service is not None:
            choice.service.close()
