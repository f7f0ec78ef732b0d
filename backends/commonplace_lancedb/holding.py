"""Who holds the rows of a namespace: when they are first read, and what a search does meanwhile."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import TYPE_CHECKING, Any

from commonplace_lancedb.errors import translated
from commonplace_lancedb.held import first_held

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.plugin import Deadline
    from commonplace_lancedb.held import Held
    from commonplace_lancedb.row_cache import RowCache
    from commonplace_lancedb.settings import Location

_PATIENCE = 0.75
"""The share of the time that is left for which a search waits; then it asks the bucket itself,
which is as much work again."""


class Holder:
    """Keeps what is held of the latest version that was asked for.

    What may take long, whole columns, is read by a thread, so that it is finished even where a
    search cannot wait for it.
    """

    def __init__(
        self, location: Location, most_bytes: int, row_cache: RowCache | None = None
    ) -> None:
        self.most_bytes = most_bytes
        self._row_cache = row_cache
        self._location = location
        self._lock = threading.Lock()
        self._held: Held | None = None
        self._job: threading.Thread | None = None

    @property
    def started(self) -> bool:
        """Whether there is something to build upon."""
        return self._held is not None

    def of(
        self,
        table: Any,
        fits: Callable[[], bool],
        columns: Sequence[str],
        deadline: Deadline | None,
    ) -> Held | None:
        """What is held of the version of ``table``, with ``columns``.

        ``None`` where it ``fits`` not in memory, is not ready when most of the time is over, or
        where a later version is held already.
        """
        held = self._held
        if held is not None and held.version == table.version and held.has(columns):
            return held
        if held is None and not self._is_on_disk() and not fits():
            return None
        if deadline is None or deadline.remaining() == inf:
            self._renew(table, columns, None)
        else:
            job = self._job
            if job is None or not job.is_alive():
                job = threading.Thread(
                    target=self._try, args=(table, columns), name="lancedb-rows", daemon=True
                )
                self._job = job
                job.start()
            job.join(deadline.remaining() * _PATIENCE)
        held = self._held
        ready = held is not None and held.version == table.version and held.has(columns)
        return held if ready else None

    def _is_on_disk(self) -> bool:
        return self._row_cache is not None and self._row_cache.has_rows()

    def _try(self, table: Any, columns: Sequence[str]) -> None:
        # Who asks the bucket itself meets the same error, and raises it.
        with suppress(Exception):
            self._renew(table, columns, timedelta(minutes=10))

    def _renew(self, table: Any, columns: Sequence[str], timeout: timedelta | None) -> None:
        with self._lock, translated(self._location):
            held = self._held
            row_cache = self._row_cache
            if held is not None and held.version < table.version:
                held = held.newer(table, timeout)
            elif held is None and row_cache is not None:
                held = row_cache.begun(table, timeout)
            elif held is None:
                held = first_held(table, self._location.namespace, timeout)
            if held.version == table.version:
                if row_cache is not None:
                    held = row_cache.loaded(held, columns, timeout)
                held.load(columns, timeout)
            self._held = held
            if row_cache is not None:
                self._held = row_cache.kept(held)
