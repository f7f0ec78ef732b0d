"""When the rows of a namespace are read into memory, and what a search does meanwhile."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import TYPE_CHECKING, Any

from commonplace_lancedb.errors import translated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.plugin import Deadline
    from commonplace_lancedb.loaded_rows import LoadedRows
    from commonplace_lancedb.row_cache import RowCache
    from commonplace_lancedb.settings import Location

_PATIENCE = 0.75
"""The share of the time that is left for which a search waits; then it asks the bucket itself,
which is as much work again."""


class RowLoader:
    """Keeps the rows of the latest version that a search asked for.

    Reading whole columns may take long: a thread does it, and finishes even where a search cannot
    wait for it.
    """

    def __init__(
        self, location: Location, most_bytes: int, row_cache: RowCache | None = None
    ) -> None:
        self.most_bytes = most_bytes
        self._row_cache = row_cache
        self._location = location
        self._lock = threading.Lock()
        self._loaded: LoadedRows | None = None
        self._job: threading.Thread | None = None

    @property
    def started(self) -> bool:
        """Whether any rows are in memory."""
        return self._loaded is not None

    def rows_of(
        self,
        table: Any,
        fits: Callable[[], bool],
        columns: Sequence[str],
        deadline: Deadline | None,
    ) -> LoadedRows | None:
        """The rows of the version of ``table``, with ``columns``.

        ``None`` where they do not fit in memory (``fits``), where they are not ready when most of
        the time is over, or where a later version is loaded already.
        """
        loaded = self._loaded
        if loaded is not None and loaded.version == table.version and loaded.has(columns):
            return loaded
        if loaded is None and not self._is_on_disk() and not fits():
            return None
        if deadline is None or deadline.remaining() == inf:
            self._load(table, columns, None)
        else:
            job = self._job
            if job is None or not job.is_alive():
                job = threading.Thread(
                    target=self._try, args=(table, columns), name="lancedb-rows", daemon=True
                )
                self._job = job
                job.start()
            job.join(deadline.remaining() * _PATIENCE)
        loaded = self._loaded
        ready = loaded is not None and loaded.version == table.version and loaded.has(columns)
        return loaded if ready else None

    def _is_on_disk(self) -> bool:
        return self._row_cache is not None and self._row_cache.has_rows()

    def _try(self, table: Any, columns: Sequence[str]) -> None:
        # A search that asks the bucket itself meets the same error, and raises it.
        with suppress(Exception):
            self._load(table, columns, timedelta(minutes=10))

    def _load(self, table: Any, columns: Sequence[str], timeout: timedelta | None) -> None:
        from commonplace_lancedb.loaded_rows import load_rows  # numpy: only where rows are loaded

        with self._lock, translated(self._location):
            loaded = self._loaded
            row_cache = self._row_cache
            if loaded is not None and loaded.version < table.version:
                loaded = loaded.newer(table, timeout)
            elif loaded is None and row_cache is not None:
                loaded = row_cache.load(table, timeout)
            elif loaded is None:
                loaded = load_rows(table, self._location.namespace, timeout)
            if loaded.version == table.version:
                if row_cache is not None:
                    loaded = row_cache.with_columns(loaded, columns, timeout)
                loaded.load(columns, timeout)
            self._loaded = loaded
            if row_cache is not None:
                self._loaded = row_cache.saved(loaded)
