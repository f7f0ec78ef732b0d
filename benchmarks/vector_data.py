"""Vectors, texts and documents for the benchmark of vector search, made from a seed.

The vectors are clustered as embeddings are: a shared offset, a spectrum that falls by a power law,
topics, subtopics and near-duplicates; half of the queries are noisy copies of what is stored.
Documents have 4 to 36 chunks of some 700 characters.
"""

from __future__ import annotations

import re
import time
from array import array
from functools import cache
from hashlib import sha256
from math import fsum
from operator import mul
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from commonplace.model.chunks import AnalysedChunk, Chunk, PutDocument, Terms
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = 7
SPACE = "benchmark"
LIMIT = 10
BATCH = 100
"""Documents in one transaction."""

WORDS_IN_CHUNK = 120


class Data(NamedTuple):
    """What is stored and asked for; document ``n`` has the chunks of ``spans[n]``, from 0 on."""

    vectors: Any
    queries: list[bytes]
    spans: list[range]

    @property
    def dims(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def rows_of(self, numbers: Sequence[int]) -> list[int]:
        """The chunks of these documents."""
        return [row for number in numbers for row in self.spans[number]]


def make_data(chunks: int, dims: int, queries: int) -> Data:
    """All that a run needs."""
    vectors, asked = clustered(chunks, dims, queries)
    dice = Random(SEED)
    spans: list[range] = []
    begin = 0
    while begin < chunks:
        end = min(chunks, begin + dice.randint(4, 36))
        spans.append(range(begin, end))
        begin = end
    return Data(vectors, [row.tobytes() for row in asked], spans)


def clustered(chunks: int, dims: int, queries: int) -> tuple[Any, Any]:
    """Unit vectors, chunk by chunk, and queries for them."""
    dice = np.random.default_rng(SEED)
    spread = np.arange(1, dims + 1) ** -0.6
    turn = np.linalg.qr(dice.normal(size=(dims, dims)))[0].astype(np.float32)
    topics = max(4, chunks // 800)
    shares = 1 / np.arange(1, topics + 1)
    topic = dice.normal(size=(topics, dims)) * spread
    offset = dice.normal(size=dims) * spread * 0.8

    def draw(count: int) -> Any:
        rows = np.empty((count, dims), np.float32)
        for begin in range(0, count, 40):
            one = topic[dice.choice(topics, p=shares / shares.sum())]
            subtopic = one + dice.normal(size=dims) * spread * 0.7
            size = min(40, count - begin)
            rows[begin : begin + size] = (
                offset + subtopic + dice.normal(size=(size, dims)) * spread * 0.6
            )
        return rows

    stored = draw(chunks)
    again = dice.choice(chunks, chunks // 10)
    stored[again] = stored[again - 1] + dice.normal(size=(len(again), dims)) * spread * 0.05
    noisy = stored[dice.choice(chunks, queries // 2)]
    noisy = noisy + dice.normal(size=noisy.shape) * spread * 0.4
    asked = np.concatenate([draw(40 * (queries - len(noisy)))[::40], noisy])
    return tuple(_unit(rows @ turn) for rows in (stored, asked))


def _unit(rows: Any) -> Any:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")


def text_of(row: int, revision: int = 0) -> str:
    """The text of a chunk: sentences out of this project's documentation, and a few rare words."""
    prose = _prose()
    dice = Random(row * 1_000 + revision)
    parts = [f"w{row} r{revision}"]
    for _ in range(4):
        begin = dice.randrange(len(prose) - WORDS_IN_CHUNK)
        parts += prose[begin : begin + WORDS_IN_CHUNK // 4]
    return " ".join(parts)


@cache
def _prose() -> list[str]:
    docs = Path(__file__).parent.parent / "docs"
    # Without the page of figures, which runs of this change: sizes would be of other texts.
    pages = [path for path in sorted(docs.glob("*.md")) if path.name != "benchmarks.md"]
    texts = [path.read_text(encoding="utf-8") for path in pages]
    return " ".join(texts).split()


def document(data: Data, number: int, revision: int = 0) -> PutDocument:
    """A document as the index puts it into a store."""
    chunks = []
    for place, row in enumerate(data.spans[number]):
        text = text_of(row, revision)
        digest = sha256(text.encode()).hexdigest()
        terms = Terms(" ".join(re.findall(r"\w+", text.lower())))
        chunks.append(AnalysedChunk(Chunk(place + 1, place + 1, text), terms, digest))
    return PutDocument(
        source="memory",
        path=f"notes/{number}.md",
        digest=sha256(str((number, revision)).encode()).hexdigest(),
        stamp="1 1 1 1",
        fingerprint="benchmark",
        day=None,
        trust="memory",
        chunks=tuple(chunks),
    )


def fill(path: str, data: Data) -> tuple[float, float]:
    """Make a store; returns CPU seconds for documents, and for their vectors."""
    store = SqliteStore(path)
    taken = [0.0, 0.0]
    with store.writer(wait=10):
        build = store.open_build("benchmark")
        store.activate(build)
        for begin in range(0, len(data.spans), BATCH):
            numbers = range(begin, min(begin + BATCH, len(data.spans)))
            documents = [document(data, number) for number in numbers]
            digests = [chunk.digest for one in documents for chunk in one.chunks]
            rows = data.vectors[data.spans[begin].start :][: len(digests)]
            vectors = {d: row.tobytes() for d, row in zip(digests, rows, strict=True)}
            started = time.process_time()
            store.put_documents(build, documents)
            between = time.process_time()
            store.put_vectors(build, SPACE, data.dims, vectors)
            taken[0] += between - started
            taken[1] += time.process_time() - between
        started = time.process_time()
    store.close()
    return taken[0] + time.process_time() - started, taken[1]


def true_answers(data: Data, rows: Sequence[int] | None = None) -> list[list[int]]:
    """The nearest of ``rows`` (``None``: all), as chunks from 1 on, by scores without rounding.

    Of those that are near by float32.
    """
    vectors = data.vectors if rows is None else data.vectors[rows]
    answers = []
    for query in data.queries:
        about = vectors @ np.frombuffer(query, "<f4")
        near = np.argsort(-about)[: LIMIT * 20]
        exact = [(-fsum(map(mul, array("f", query), vectors[row].tolist())), row) for row in near]
        best = [int(row) for _, row in sorted(exact)[:LIMIT]]
        answers.append([(row if rows is None else rows[row]) + 1 for row in best])
    return answers
