from __future__ import annotations

import struct
from array import array
from contextlib import closing
from math import fsum, sqrt
from operator import mul
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from commonplace.model.search import Where, newest_first
from commonplace.resilience.deadline import NEVER
from commonplace.testing import live_build, make_chunk, make_put, publish
from commonplace.testing.base import EVERYWHERE, WAIT, scored
from commonplace.testing.strategies import TESTED_SOURCES
from commonplace_sqlite.store import SqliteStore
from commonplace_sqlite.vectors.codes import (
    HEAD,
    NORM_SLACK,
    Kernels,
    checked,
    dot,
    encode_by_numpy,
    encode_plainly,
    normalised,
    numbers,
    padded,
    row_bytes,
)
from commonplace_sqlite.vectors.matrix import PcaBounds
from commonplace_sqlite.vectors.streaming import exact_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import PutDocument
    from commonplace.model.search import Nearest
    from commonplace_sqlite.vectors.searching import VectorSearch

    Plans = dict[str, tuple[str, Callable[[], VectorSearch]]]
    Case = tuple[list[PutDocument], dict[str, bytes], list[bytes]]

PLANS = (
    "simsimd from file",
    "numpy from file",
    "simsimd in memory",
    "numpy in memory",
    "simsimd and PCA bounds",
    "numpy and PCA bounds",
    "sqlite-vec",
    "sqlite-vec for many",
    "python",
    "python for many",
)


def packed(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def vectors_of(dims: int) -> SearchStrategy[bytes]:
    """Anything that is finite: of length 0, tiny, huge, alike but for the last bit."""
    anything = st.floats(width=32, allow_nan=False, allow_infinity=False)
    near = st.sampled_from((0.5, -0.5, 0.5000001, 0.49999997))
    few = st.integers(-1, 1).map(float)
    lists = [st.lists(one, min_size=dims, max_size=dims) for one in (anything, near, few)]
    one_hot = st.integers(0, dims - 1).map(lambda at: [float(at == i) for i in range(dims)])
    return st.one_of(*lists, one_hot, st.just([0.0] * dims)).map(packed)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Documents, a vector for most of their texts, and queries."""
    dims = draw(st.sampled_from((1, 2, 7, 8, 9, 65)))
    vector = vectors_of(dims)
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    words = st.integers(0, 30).map(str)  # so that texts are shared now and then
    documents = []
    for number, size in enumerate(sizes):
        texts = draw(st.lists(words, min_size=size, max_size=size))
        chunks = [make_chunk(text, line=line) for line, text in enumerate(texts, start=1)]
        source = draw(st.sampled_from(TESTED_SOURCES))
        documents.append(make_put(f"{number % 3}/{number}.md", *chunks, source=source))
    digests = {chunk.digest for put in documents for chunk in put.chunks}
    pool = draw(st.lists(vector, min_size=1, max_size=20))
    held = {d: pool[i % len(pool)] for i, d in enumerate(sorted(digests)) if i % 7 != 6}
    queries = draw(st.lists(st.sampled_from(pool) | vector, min_size=1, max_size=3))
    return documents, held, queries


def units(vectors: dict[str, bytes]) -> dict[str, bytes]:
    """What of ``vectors`` has a length, at length 1, as a store takes it."""
    return {
        digest: normalised(vector, len(vector) // 4)
        for digest, vector in vectors.items()
        if any(array("f", vector))
    }


def brute_force(
    store: SqliteStore, query: bytes, documents: list[PutDocument], limit: int
) -> list[tuple[int | str, float]]:
    """By the stored rows, without rounding; the query brought to length 1 as stored rows are."""
    numbers = array("f", normalised(query, len(query) // 4))
    build = live_build(store).id
    with store._database.reading() as connection:
        assert connection is not None
        rows: Any = connection.execute(
            f"SELECT c.id, d.day, d.source, d.path, c.ordinal FROM chunk_{build} AS c "
            f"JOIN document_{build} AS d ON d.id = c.document"
        ).fetchall()
    keys = {(put.source, put.path) for put in documents}
    held = store.vectors("space", [row[0] for row in rows])
    best = sorted(
        (-dot(numbers, held[id_]), newest_first(day), source, path, ordinal, id_)
        for id_, day, source, path, ordinal in rows
        if id_ in held and (source, path) in keys
    )
    return [(row[-1], -row[0]) for row in best[:limit]]


def pairs(answer: Nearest) -> list[tuple[int | str, float]]:
    return list(scored(answer.found).items())


@pytest.mark.parametrize("name", PLANS)
@settings(
    max_examples=settings().max_examples // 4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(case=cases(), limit=st.integers(1, 12))
def test_an_exact_plan_is_brute_force(
    exact_plans: Plans, name: str, case: Case, limit: int
) -> None:
    documents, held, queries = case
    plan, make_search = exact_plans[name]
    with TemporaryDirectory() as folder, closing(SqliteStore(f"{folder}/index.sqlite")) as store:
        build = publish(store, *documents)
        with store.writer(wait=WAIT):
            store.put_vectors(build, "space", len(queries[0]) // 4, units(held))
        store._search = make_search()
        some = [put for put in documents if put.path.startswith("1/")]
        for query in queries:
            for where, passing in ((EVERYWHERE, documents), (Where(paths=("1",)), some)):
                for _ in range(2):  # what is kept in memory is kept from the second time on
                    answer = store.nearest("space", query, where=where, limit=limit, deadline=NEVER)
                assert pairs(answer) == brute_force(store, query, passing, limit)
                assert answer.exact
                assert answer.plan == plan or not units(held)


@pytest.mark.parametrize("name", ["simsimd and PCA bounds", "numpy and PCA bounds"])
def test_pca_bounds_follow_the_rows_that_move(
    store: SqliteStore, exact_plans: Plans, name: str
) -> None:
    dice = Random(7)
    documents = {n: make_put(f"{n}.md", *(f"{n} {i}" for i in range(4))) for n in range(30)}
    build = publish(store, *documents.values())
    store._search = exact_plans[name][1]()
    for turn in range(12):
        some = dice.sample(sorted(documents), 9)
        documents |= {n: make_put(f"{n}.md", *(f"{n} {turn} {i}" for i in range(4))) for n in some}
        with store.writer(wait=WAIT):
            store.put_documents(build, [documents[n] for n in some])
            texts = store.missing_vectors(build, "space")
            vectors = {
                digest: packed([dice.gauss() / 20**place for place in range(8)])
                for digest, _ in texts
            }
            store.put_vectors(build, "space", 8, units(vectors))
        for query in list(vectors.values())[:12]:
            answer = store.nearest("space", query, where=EVERYWHERE, limit=3, deadline=NEVER)
            assert pairs(answer) == brute_force(store, query, list(documents.values()), 3)


@given(data=st.data(), dims=st.sampled_from((1, 3, 64, 5_000)))
@settings(max_examples=60, deadline=None)
def test_sums_of_pieces_are_sums_without_error(data: st.DataObject, dims: int) -> None:
    dice = Random(data.draw(st.integers()))
    smallest = data.draw(st.sampled_from((1, 2.0**-20, 2.0**-40, 2.0**-120)))
    drawn = [[dice.gauss() * smallest ** dice.random() for _ in range(dims)] for _ in range(4)]
    *rows, query = [numbers(normalised(packed(values), dims)).tolist() for values in drawn]
    products = [[*map(mul, row, query)] for row in rows]
    products.append([value * (-1) ** place for place, value in enumerate(products[0])])
    expected = [min(1.0, max(-1.0, fsum(row))) for row in products]
    assert exact_sums(np, np.array(products)) == expected


def packed_lengths(vector: bytes) -> float:
    return sqrt(fsum(map(mul, array("f", vector), array("f", vector))))


@given(vector=st.integers(1, 40).flatmap(vectors_of))
def test_what_is_stored_has_length_1_or_0(vector: bytes) -> None:
    stored = normalised(vector, len(vector) // 4)
    assert packed_lengths(stored) == pytest.approx(float(any(array("f", vector))), abs=NORM_SLACK)
    assert normalised(stored, len(vector) // 4) == stored
    if any(array("f", vector)):
        assert checked(stored, len(vector) // 4) == stored
    else:
        with pytest.raises(ValueError, match="length 0 where"):
            checked(stored, len(vector) // 4)


@given(vector=st.integers(1, 40).flatmap(vectors_of), length=st.floats(0.9991, 1.0009))
def test_what_is_nearly_of_length_1_is_brought_closer(vector: bytes, length: float) -> None:
    stored = normalised(vector, len(vector) // 4)
    assume(any(array("f", vector)))
    off = packed([length * value for value in numbers(stored)])
    assert packed_lengths(checked(off, len(vector) // 4)) == pytest.approx(1, abs=NORM_SLACK)


@given(data=st.data(), dims=st.integers(1, 40))
def test_both_encoders_keep_the_bound(data: st.DataObject, dims: int) -> None:
    vectors = [normalised(v, dims) for v in data.draw(st.lists(vectors_of(dims), min_size=1))]
    width = row_bytes(dims)
    for rows in (encode_plainly(vectors, dims), encode_by_numpy(np, vectors, dims)):
        assert len(rows) == width * len(vectors)
        for place, vector in enumerate(vectors):
            row = memoryview(rows)[place * width : (place + 1) * width]
            scale, residual = numbers(row[:HEAD])
            code = row[HEAD : HEAD + dims].cast("b").tolist()
            assert not any(row[HEAD + dims :])
            missing = [
                value - scale * level for value, level in zip(array("f", vector), code, strict=True)
            ]
            assert residual >= sqrt(fsum(map(mul, missing, missing)))
            assert -128 not in code


@pytest.mark.slow
@given(data=st.data(), dims=st.sampled_from((8, 24, 200)))
@settings(max_examples=40, deadline=None)
def test_pca_bounds_hold_for_every_score(data: st.DataObject, dims: int) -> None:
    """Of vectors that lie in few directions, and of any others; all of them, not rounded."""
    dice = Random(data.draw(st.integers()))
    falling = data.draw(st.sampled_from((0.0, 1.0, 3.0)))
    drawn = [
        packed([dice.gauss() / (1 + place) ** falling for place in range(dims)]) for _ in range(150)
    ]
    odd = data.draw(st.lists(vectors_of(dims), max_size=30))
    *vectors, query = [normalised(vector, dims) for vector in (*odd, *drawn)]
    rows = encode_by_numpy(np, vectors, dims)
    matrix = np.frombuffer(rows, np.int8).reshape(len(vectors), -1)
    scales, residuals = np.ascontiguousarray(matrix[:, :HEAD]).view("<f4").T
    bounds = PcaBounds(Kernels(), dims, len(vectors) + 5)
    codes = matrix[:, HEAD : HEAD + dims]
    some = len(vectors) // 2
    assert bounds.extend(codes[:some], scales[:some], residuals[:some])
    assert bounds.extend(codes, scales, residuals)
    for asked in (query, vectors[0], vectors[-1]):
        about, most = bounds.estimate(numbers(asked), slice(0, len(vectors)))
        scores = [dot(numbers(asked), vector) for vector in vectors]
        assert all(upper >= score for upper, score in zip(most.tolist(), scores, strict=True))
        if falling == 3.0 and not odd:
            assert most.mean() < about.mean() + 0.5, "and tells something"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dims", "columns"), [(128, 64), (384, 64), (768, 96), (1_536, 192), (2_560, 256)]
)
def test_pca_bounds_have_an_eighth_of_the_columns_but_whole_registers(
    dims: int, columns: int
) -> None:
    dice = np.random.default_rng(7)
    codes = dice.integers(-127, 128, (600, dims)).astype(np.int8)
    scales = (1 / np.linalg.norm(codes.astype(float), axis=1)).astype(np.float32)
    bounds = PcaBounds(Kernels(), dims, len(codes))
    assert bounds.extend(codes, scales, np.zeros(len(codes), np.float32))
    assert bounds._codes.shape == (600, columns)
    query = codes[3] * float(scales[3])
    _, most = bounds.estimate(query, slice(100, 500))
    assert (most >= (codes[100:500] * scales[100:500, None].astype(float)) @ query).all()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_pca_bounds_of_few_directions_are_no_closer_than_proven(seed: int) -> None:
    """Where nothing is left beside them, rounding is all that the bounds have to cover."""
    dice = np.random.default_rng(seed)
    codes = (dice.integers(-9, 10, (120, 3)) @ dice.integers(-4, 5, (3, 64))).astype(np.int8)
    scales = (1 / np.maximum(1, np.linalg.norm(codes.astype(float), axis=1))).astype(np.float32)
    bounds = PcaBounds(Kernels(), 64, len(codes))
    assert bounds.extend(codes, scales, np.zeros(len(codes), np.float32))
    rows = codes * scales.astype(float)[:, None]
    for query in (rows[0], rows[1], rows[2] + dice.normal(size=64) / 1e4):
        asked = query / max(1, np.linalg.norm(query))
        about, most = bounds.estimate(asked, slice(0, len(codes)))
        scores = rows @ asked
        assert (most >= scores).all()
        assert (most - about).max() < 0.02


@given(data=st.data(), dims=st.integers(1, 2_100))
@settings(max_examples=20, deadline=None)
def test_kernels_multiply_exactly(data: st.DataObject, dims: int) -> None:
    dice = Random(data.draw(st.integers()))
    rows = [bytes([129]) * dims, bytes([127]) * dims, *(dice.randbytes(dims) for _ in range(300))]
    code = padded(data.draw(st.sampled_from(rows)))
    width = row_bytes(dims)
    rows = [(dice.randbytes(HEAD) + row).ljust(width, b"\0") for row in rows]
    expected = [
        sum(map(mul, memoryview(code).cast("b"), memoryview(row).cast("b"))) for row in rows
    ]
    assert Kernels().dots(code, b"".join(rows), width) == expected
    matrix = np.frombuffer(b"".join(rows), np.int8).reshape(-1, width)
    assert Kernels().sums_of(code, matrix).tolist() == expected
    without_simsimd = Kernels()
    without_simsimd.simsimd = None
    for kernels in (Kernels(), without_simsimd):
        assert kernels.dots_of(code, matrix).tolist() == np.array(expected, np.float32).tolist()
