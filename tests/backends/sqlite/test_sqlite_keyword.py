from __future__ import annotations

import random
from functools import partial
from itertools import count
from math import log
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.errors import DeadlineExceededError
from commonplace.model.chunks import DeleteDocument
from commonplace.model.search import KeywordQuery, TermCounts, Where
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing import make_chunk, make_put, publish, search, write
from commonplace.testing.base import EVERYWHERE, places, words
from commonplace_sqlite import keyword, maintenance, pruning, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.model.search import Found
    from commonplace_sqlite.store import SqliteStore

    Answer = list[Found]
    Ask = Callable[[SqliteStore, KeywordQuery, Where, int], Answer]

Columns = tuple[str, str, str]


def bm25(corpus: list[Columns], at: int, *query: str) -> float:
    """BM25 as FTS5's documentation gives it, with our weights, worked out the slow way."""
    split = [[column.split() for column in columns] for columns in corpus]
    lengths = [sum(map(len, columns)) for columns in split]
    score = 0.0
    for token in query:
        holding = sum(any(token in column for column in columns) for columns in split)
        idf = max(log((len(corpus) - holding + 0.5) / (holding + 0.5)), 1e-6)
        body, head, extra = (column.count(token) for column in split[at])
        frequency = body + head + 0.4 * extra
        length = 1 - 0.75 + 0.75 * lengths[at] / (sum(lengths) / len(lengths))
        score += idf * frequency * 2.2 / (frequency + 1.2 * length)
    return score


CORPUS: list[Columns] = [
    ("ant bee", "", ""),
    ("ant ant cat dog eel", "bee", "ant"),
    ("cat", "ant", "bee bee"),
    ("dog dog dog", "", ""),
    ("eel", "eel", "eel"),
    ("cat dog eel fox", "", "gnu"),
    ("fox fox", "gnu", ""),
]


def put_all(store: SqliteStore, corpus: list[Columns]) -> None:
    publish(
        store,
        *(
            make_put(f"{number}.md", make_chunk("text", body=body, head=head, extra=extra))
            for number, (body, head, extra) in enumerate(corpus)
        ),
    )


def scores(store: SqliteStore, query: KeywordQuery) -> dict[str, float]:
    return {hit.chunk.path: hit.score for hit in search(store, query)}


@pytest.mark.parametrize(
    "query", [("ant",), ("bee",), ("ant", "bee"), ("ant", "ant", "gnu"), ("fox", "eel", "dog")]
)
def test_scores_are_bm25_with_weighted_columns(store: SqliteStore, query: tuple[str, ...]) -> None:
    put_all(store, CORPUS)
    expected = {
        f"{at}.md": score for at in range(len(CORPUS)) if (score := bm25(CORPUS, at, *query)) > 0
    }
    assert scores(store, words(*query)) == pytest.approx(expected, rel=1e-9)


def test_scores_are_still_right_after_documents_were_put_and_deleted(store: SqliteStore) -> None:
    put_all(store, CORPUS)
    write(store, *(make_put(f"{number}.md", "ant bee cat") for number in range(3, 20)))
    write(store, *(DeleteDocument("memory", f"{number}.md") for number in range(7, 20)))
    write(
        store,
        *(
            make_put(f"{at}.md", make_chunk("", body=body, head=head, extra=extra))
            for at, (body, head, extra) in enumerate(CORPUS)
            if at >= 3
        ),
    )
    expected = {f"{at}.md": bm25(CORPUS, at, "ant", "fox") for at in (0, 1, 2, 5, 6)}
    assert scores(store, words("ant", "fox")) == pytest.approx(expected, rel=1e-9)


def test_a_repeated_token_counts_twice(store: SqliteStore) -> None:
    put_all(store, CORPUS)
    once, twice = scores(store, words("ant")), scores(store, words("ant", "ant"))
    assert twice == pytest.approx({path: 2 * score for path, score in once.items()})


def test_a_plain_query_is_answered_alike_and_counts_no_tokens(store: SqliteStore) -> None:
    put_all(store, CORPUS)
    query = words("ant", "ant", "gnu", "yak")
    ask = partial(store.keyword, where=Where(), limit=5, deadline=NEVER)
    plain, counted = ask(query._replace(plain=True)), ask(query)
    assert plain == counted._replace(terms=(), average=0.0)
    held = {
        hit.chunk.path: counts for hit, counts in zip(counted.found, counted.terms, strict=True)
    }
    assert held["1.md"] == TermCounts({"ant": 2 + 0.4}, 7)
    assert counted.average == sum(len(" ".join(columns).split()) for columns in CORPUS) / len(
        CORPUS
    )


@pytest.mark.parametrize(
    "should", [("c1", "c5", "r11"), ("r11", "r10"), ("c0", "c0", "absent"), ("c5", "r0", "absent")]
)
def test_counts_are_the_same_at_once_and_apart(
    large_store: SqliteStore, monkeypatch: pytest.MonkeyPatch, should: tuple[str, ...]
) -> None:
    answers = []
    for matches in (0, 1_000_000):
        monkeypatch.setattr(keyword, "_COUNTED_APART", matches)
        query = KeywordQuery(should)
        answers.append(large_store.keyword(query, where=Where(), limit=9, deadline=NEVER))
    assert len(answers[0].terms) == 9
    assert answers[0] == answers[1]


def test_selective_tokens_find_alone_where_they_find_enough(store: SqliteStore) -> None:
    put_all(store, CORPUS)
    query = words("ant", "cat", "dog", "fox")
    selective = query._replace(selective=("fox",))
    ask = partial(store.keyword, where=Where(), deadline=NEVER)
    found = ask(selective, limit=2)
    counts = dict(zip([hit.chunk.path for hit in found.found], found.terms, strict=True))
    assert counts == {
        "6.md": TermCounts({"fox": 2}, 3),
        "5.md": TermCounts({"cat": 1, "dog": 1, "fox": 1}, 5),
    }
    assert [hit.score for hit in found.found] == pytest.approx(
        [bm25(CORPUS, at, "fox") for at in (6, 5)]
    )
    assert ask(selective, limit=3) == ask(query, limit=3)
    plain = query._replace(plain=True)
    assert ask(plain._replace(selective=("fox",)), limit=2) == ask(plain, limit=2)


def test_required_and_excluded_phrases_are_not_scored(store: SqliteStore) -> None:
    put_all(store, CORPUS)
    plain = scores(store, words("dog", "cat"))
    query = KeywordQuery(should=("dog", "cat"), must=(("eel",),))
    assert scores(store, query) == {path: plain[path] for path in ("1.md", "5.md")}
    query = KeywordQuery(should=("dog", "cat"), must_not=(("eel",),))
    assert scores(store, query) == {path: plain[path] for path in ("2.md", "3.md")}
    query = KeywordQuery(
        should=("dog", "cat"), must=(("eel",),), must_not=(("cat", "dog", "eel", "fox"),)
    )
    assert scores(store, query) == {"1.md": plain["1.md"]}


def test_ties_are_cut_in_the_order_of_positions(store: SqliteStore) -> None:
    numbers = list(range(200))
    random.Random(1).shuffle(numbers)
    publish(store, *(make_put(f"{number:03}.md", "ant", "ant") for number in numbers))
    for limit in (1, 2, 7, 40, 399, 400, 500):
        found = places(search(store, words("ant"), limit=limit))
        every = [("memory", f"{number:03}.md", line) for number in range(200) for line in (1, 2)]
        assert found == every[:limit]


@pytest.mark.parametrize("limit", [4, 5, 40])
def test_ties_behind_better_ones_are_cut_in_the_order_of_positions(
    limit: int, store: SqliteStore
) -> None:
    best, others = [f"best{n}.md" for n in range(3)], [f"{n:03}.md" for n in range(200)]
    texts = dict.fromkeys(best, "ant") | dict.fromkeys(others, "ant bee cat dog")
    paths = [*texts]
    random.Random(1).shuffle(paths)
    publish(store, *(make_put(path, texts[path]) for path in paths))
    found = places(search(store, words("ant"), limit=limit))
    assert [path for _, path, _ in found] == [*best, *others][:limit]


def test_a_limit_of_nothing_is_nothing(store: SqliteStore) -> None:
    put_all(store, CORPUS)
    assert search(store, words("ant"), limit=0) == []
    assert search(store, words("ant"), limit=-1) == []


@pytest.mark.parametrize("token", ["a\0b", "\0", "a\ud800b", "\udfff"])
def test_tokens_without_an_encoding_find_themselves(store: SqliteStore, token: str) -> None:
    publish(store, make_put("a.md", make_chunk("text", body=f"ant {token} bee")))
    assert len(search(store, words(token))) == 1
    phrase = KeywordQuery(should=("ant",), must=(("ant", token, "bee"),))
    assert len(search(store, phrase)) == 1


def test_a_search_is_ended_in_its_midst(store: SqliteStore) -> None:
    publish(store, make_put("a.md", *["ant bee cat"] * 3_000))
    ticks = count()
    with pytest.raises(DeadlineExceededError):
        store.keyword(
            words("ant", "bee", "cat"),
            where=EVERYWHERE,
            limit=10,
            deadline=Deadline(8.0, clock=lambda: float(next(ticks))),
        )
    assert next(ticks) < 20, "the search went on though its time was over"
    assert len(search(store, words("ant"), limit=10)) == 10


def test_paths_that_are_no_text_can_be_kept_found_and_filtered(store: SqliteStore) -> None:
    path = "memory/caf\udce9.md"
    publish(store, make_put(path, "ant"), make_put("memory/b.md", "ant"), make_put("c.md", "ant"))
    assert {document.path for document in store.documents()} == {path, "memory/b.md", "c.md"}
    for pattern, expected in {
        "memory": {path, "memory/b.md"},
        "memory/*": {path, "memory/b.md"},
        "memory/c*": {path},
        path: {path},
        "*.md": {"c.md"},
    }.items():
        found = search(store, words("ant"), Where(paths=(pattern,)))
        assert {hit.chunk.path for hit in found} == expected
    write(store, DeleteDocument("memory", path))
    assert {document.path for document in store.documents()} == {"memory/b.md", "c.md"}


# --- leaving aside what cannot be among the best

RARE = tuple(f"r{number}" for number in range(12))
COMMON = tuple(f"c{number}" for number in range(6))
PIECES = ("\u306e", "\u4f1a")  # of text without spaces: in six and in three of eight chunks


def large_corpus() -> Iterator[tuple[str, list[str], str | None]]:
    """Path, chunks and day of documents in which some words are rare and others common."""
    rng = random.Random(5)
    for number in range(300):
        chunks: list[str] = []
        for _ in range(8):
            body = [word for at, word in enumerate(COMMON) if rng.random() < (at + 1) / 7]
            body += rng.choices(COMMON, k=rng.randint(0, 4)) if rng.random() < 0.3 else []
            body += [word for at, word in enumerate(RARE) if rng.random() < 0.002 * (at + 1)]
            body += [f"w{rng.randint(0, 500)}" for _ in range(rng.randint(1, 30))]
            rng.shuffle(body)
            body += PIECES[:1] if len(chunks) < 6 else ()
            body += PIECES[1:] if len(chunks) < 3 else ()
            chunks.append(" ".join(body))
        yield f"memory/{number}.md", chunks, "2026-01-31" if number % 5 == 0 else None


@pytest.fixture(scope="module")
def large_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    from commonplace_sqlite.store import SqliteStore as Store

    store = Store(str(tmp_path_factory.mktemp("large") / "index.sqlite"))
    publish(store, *(make_put(path, *chunks, day=day) for path, chunks, day in large_corpus()))
    yield store
    store.close()


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are left aside in an index that is too small for it."""
    monkeypatch.setattr(pruning, "_LEAST_FOUND", 0)


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks without leaving anything aside."""

    def ask(store: SqliteStore, query: KeywordQuery, where: Where, limit: int) -> Answer:
        with monkeypatch.context() as patch:
            patch.setattr(keyword, "best_by_rarer", lambda *_: None)
            return search(store, query, where, limit)

    return ask


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rare=st.lists(st.sampled_from((*RARE, "absent")), max_size=4),
    common=st.lists(st.sampled_from(COMMON), max_size=4),
    unwanted=st.lists(st.sampled_from((*RARE, *COMMON)), max_size=1),
    where=st.sampled_from((Where(), Where(after="2026-01-31"), Where(paths=("memory/1*",)))),
    limit=st.integers(1, 40),
    data=st.data(),
)
def test_leaving_rows_aside_changes_no_answer(
    large_store: SqliteStore,
    plainly: Ask,
    rare: list[str],
    common: list[str],
    unwanted: list[str],
    where: Where,
    limit: int,
    data: st.DataObject,
) -> None:
    should = data.draw(st.permutations(rare + common))
    query = KeywordQuery(tuple(should), must_not=tuple((token,) for token in unwanted))
    expected = plainly(large_store, query, where, limit)
    assert search(large_store, query, where, limit) == expected


def test_rows_are_left_aside_in_queries_of_common_and_rare_words(
    large_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[list[str] | None] = []
    real = pruning.best_by_rarer

    def noting(*given: Any) -> Any:
        pruned = real(*given)
        taken.append(pruned and sorted(pruned[1]))
        return pruned

    monkeypatch.setattr(keyword, "best_by_rarer", noting)
    for query in (
        words("r11", "r10", "c2"),
        words("r11", "r10"),
        words("c2", "c1"),
        words("c2", "c0", "absent"),
        words("c2", "absent"),
    ):
        search(large_store, query, limit=10)
    assert taken == [
        ["r10", "r11"],
        None,
        ["c0"],  # what no chunk holds is not asked for
        None,
    ]


def test_words_of_most_chunks_choose_none_and_are_counted(large_store: SqliteStore) -> None:
    ask = partial(large_store.keyword, where=Where(), limit=5, deadline=NEVER)
    found, rare = ask(words("r11", "c5", "r10")), ask(words("r11", "r10"))
    assert found.found == rare.found
    assert any("c5" in one.counts for one in found.terms)
    plain = ask(words("r11", "c5", "r10")._replace(plain=True))
    assert plain.found[0].score > rare.found[0].score
    alone = ask(words("c5", "absent"))
    assert ["c5" in one.counts for one in alone.terms] == [True] * 5


def test_common_pieces_of_text_without_spaces_choose_none(large_store: SqliteStore) -> None:
    ask = partial(large_store.keyword, where=Where(), limit=9, deadline=NEVER)
    found, rare = ask(words("r11", *PIECES, "r10")), ask(words("r11", "r10"))
    assert found.found == rare.found
    assert not any(PIECES[0] in one.counts for one in found.terms)  # it has no weight
    assert any(PIECES[1] in one.counts for one in found.terms)
    assert [one.length for one in found.terms] == [one.length for one in rare.terms]
    alone = ask(words(PIECES[0]))
    assert [one.counts[PIECES[0]] for one in alone.terms] == [1] * 9
    few = ask(words("r0", PIECES[0]))
    held = ["r0" in one.counts for one in few.terms]
    assert held[0]
    assert not held[-1]  # what has no other token has its length
    assert all(one.length for one in few.terms)


def test_a_word_that_became_rare_is_not_taken_for_common(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored count of a word may be outdated; the bound goes by what may be left."""
    monkeypatch.setattr(maintenance, "_DRIFT", 100)  # not counted again
    filling = " ".join(f"w{number}" for number in range(30))
    publish(
        store,
        make_put("rare.md", *[f"rare {filling}"] * 30),
        make_put("short.md", *["once"] * 10),
        make_put("others.md", *[filling] * 900),
        make_put("common.md", *[f"once {filling}"] * 1_500),
    )
    assert search(store, words("rare", "once"), limit=5)
    write(store, DeleteDocument("memory", "common.md"))
    found = places(search(store, words("rare", "once"), limit=5))
    assert [path for _, path, _ in found] == ["short.md"] * 5


def test_the_bound_of_a_term_is_never_reached() -> None:
    for chunks, documents, frequency, length in [
        (100, 60, 1_000, 1_000),
        (100, 10, 500, 500),
        (9, 4, 1, 1),
    ]:
        weight = max(log((chunks - documents + 0.5) / (documents + 0.5)), 1e-6)
        score = weight * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / 50))
        assert score < pruning._most(chunks, documents)
        assert pruning._most(chunks, documents) <= pruning._most(chunks, documents - 1)


def test_nothing_of_a_token_is_syntax() -> None:
    assert rows.phrase(['a"b', "OR"]) == '"a""b OR"'
    assert keyword.any_of(["x", "x"]) == '"x" OR "x"'


@pytest.mark.parametrize(
    ("token", "chunks", "most"),
    [
        ("word", 1_000, 500),
        ("word", 10_000, 3_000),
        ("word", 100_000, 20_000),
        ("\u7aef\u53e3", 1_000, 300),
        ("\u7aef\u53e3", 8_000, 1_000),
        ("\u7aef\u53e3", 100_000, 10_000),
    ],
)
def test_of_many_chunks_rarer_tokens_choose_candidates(token: str, chunks: int, most: int) -> None:
    assert keyword._most_holders(token, chunks) == pytest.approx(most)
