"""Taking in what a batch job made: checked line by line, kept some at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from commonplace.embedding.vectors import checked, dims_of
from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from commonplace.protocols.providers import BatchLine

__all__ = ["Collector"]

_AT_ONCE = 500  # vectors kept in one transaction


class Collector:
    """For one job, whose lines may be given to it again after a download broke.

    ``keep`` takes checked vectors by id; each once, whatever comes twice. ``kept`` are their ids,
    ``errors`` the words on lines that hold no vector that can be right. Ids that are not in
    ``ids`` are nobody's. Without ``dims`` the length that most of the first vectors have decides.
    """

    def __init__(
        self,
        provider: str,
        ids: Collection[str],
        *,
        dims: int | None,
        keep: Callable[[Mapping[str, bytes]], None],
    ) -> None:
        self.dims = dims
        self.kept: set[str] = set()
        self.errors: dict[str, str] = {}
        self._provider = provider
        self._ids = frozenset(ids)
        self._keep = keep
        self._waiting: dict[str, bytes] = {}

    def take(self, lines: Iterable[BatchLine]) -> None:
        """Check and keep; raises what ``lines`` and ``keep`` raise, and has kept the rest then."""
        try:
            for line in lines:
                self._look(line)
        finally:
            self._flush()

    def _look(self, line: BatchLine) -> None:
        id_ = line.custom_id
        if id_ not in self._ids or id_ in self.kept or id_ in self._waiting:
            return
        if line.vector is None:
            self.errors[id_] = line.error
            return
        try:
            (vector,) = checked([line.vector], count=1, dims=self.dims, provider=self._provider)
        except ProviderError as error:
            self.errors[id_] = str(error)
            return
        except (TypeError, ValueError, OverflowError):
            self.errors[id_] = f"{self._provider}: what came back is no vector of numbers"
            return
        self._waiting[id_] = vector
        if len(self._waiting) >= _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        if self.dims is None:
            lengths = Counter(map(dims_of, waiting.values()))
            ((self.dims, _),) = lengths.most_common(1)
        right = {id_: vector for id_, vector in waiting.items() if dims_of(vector) == self.dims}
        for id_ in waiting.keys() - right.keys():
            self.errors[id_] = f"{self._provider}: a vector is of another length than the others"
        self._keep(right)
        self.kept.update(right)
