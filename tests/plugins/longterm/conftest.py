"""Stores of memories in a folder, with vectors that a test chooses."""

from __future__ import annotations

import hashlib
import math
from array import array
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import UnavailableError
from commonplace_longterm.database import Database
from commonplace_longterm.store import LongTermStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from commonplace.plugin import Deadline


def unit(numbers: Sequence[float]) -> bytes:
    """A unit vector as bytes."""
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return array("f", [number / length for number in numbers]).tobytes()


class FakeEmbedder:
    """Gives the vectors in ``given``, and of other texts a vector by their words.

    ``refused`` texts get none, and a server may change ``dims``.
    """

    def __init__(self, name: str = "fake", dims: int = 16) -> None:
        self.id = name
        self.model = f"{name}-1"
        self.dims = dims
        self.given: dict[str, bytes] = {}
        self.refused: frozenset[str] = frozenset()
        self.failing = ""
        self.asked: list[str] = []

    def fingerprint(self) -> str:
        return self.id

    def query(self, text: str, *, deadline: Deadline) -> bytes:
        (vector,) = self.documents([text], deadline=deadline)
        assert vector is not None
        return vector

    def documents(self, texts: Sequence[str], *, deadline: Deadline) -> list[bytes | None]:
        assert deadline.remaining() > 0
        if self.failing:
            raise ProviderError(self.failing, provider=self.id, kind="unavailable")
        self.asked += texts
        return [
            None if text in self.refused else self.given.get(text) or self._of_words(text)
            for text in texts
        ]

    def _of_words(self, text: str) -> bytes:
        numbers = [0.0] * self.dims
        for word in text.casefold().split():
            digest = hashlib.sha256(word.encode()).digest()
            for at in range(self.dims):
                numbers[at] += digest[at % 32] - 127.5 + at / 100
        return unit(numbers)


@pytest.fixture(scope="session")
def lancedb_installed() -> None:
    """Skips where the extra is not installed."""
    for library in ("lancedb", "pyarrow", "numpy"):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed: pip install 'commonplace[lancedb]'")


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def open_store(lancedb_installed: None, tmp_path: Path) -> Iterator[Callable[..., LongTermStore]]:
    """Opens stores of agents in one folder; without an embedder words alone serve."""
    opened: list[LongTermStore] = []

    def make(
        agent: str = "main", embedder: FakeEmbedder | None = None, unusable: str = "", **parts: Any
    ) -> LongTermStore:
        def given() -> FakeEmbedder | None:
            if unusable:
                raise UnavailableError(unusable)
            return embedder

        times = iter(range(1, 1_000_000))
        store = LongTermStore(
            Database(str(tmp_path / "longterm.lance"), agent, {}, **parts),
            given,
            clock=lambda: float(next(times)),
        )
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()
