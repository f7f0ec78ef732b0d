from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import DeclinedError
from commonplace.model.search import KeywordQuery, Where
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import places, scored, words
from commonplace_sqlite import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_sqlite.store import SqliteStore

TEXTS = {
    "ai.md": "All about AI, and nothing else",
    "café.md": "Un café AU LAIT, s'il vous plaît",
    "zh.md": "今天天气很好",
    "code.md": "set memory_limit to 100% of c:\\temp",
    "plain.md": "the rain in Spain",
}


def filled(open_store: Callable[..., SqliteStore], tokenizer: str) -> SqliteStore:
    store = open_store(tokenizer=tokenizer)
    publish(store, *(make_put(path, text) for path, text in TEXTS.items()))
    return store


def found(store: SqliteStore, query: KeywordQuery, where: Where = Where()) -> set[str]:  # noqa: B008  a value
    return {path for _, path, _ in places(search(store, query, where))}


def test_analysed_terms_are_split_at_white_space_alone() -> None:
    connection = apsw.Connection(":memory:")
    schema.create_build(connection, 1, None)
    connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab('fts_1', 'row')")
    codes = (*range(1, 0x3000), *range(0x3000, 0xD800, 7), *range(0xE000, 0x110000, 61))
    odd = [chr(code) for code in codes if not chr(code).isspace()]
    connection.execute("INSERT INTO fts_1 (rowid, body) VALUES (1, ?)", (" ".join(odd),))
    terms = {term for (term,) in connection.execute("SELECT term FROM terms")}
    connection.close()
    # Of letters in ASCII either case is the same; the analyser writes them small.
    assert terms == {one.lower() if one.isascii() else one for one in odd}


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1), min_size=1
    )
)
@settings(max_examples=30)
def test_any_token_is_one_term(tokens: list[str]) -> None:
    tokens = [token for token in tokens if not any(map(str.isspace, token))]
    connection = apsw.Connection(":memory:")
    schema.create_build(connection, 1, None)
    connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab('fts_1', 'instance')")
    connection.execute("INSERT INTO fts_1 (rowid, body) VALUES (1, ?)", (" ".join(tokens),))
    offsets = [offset for (offset,) in connection.execute('SELECT "offset" FROM terms')]
    connection.close()
    assert sorted(map(str, offsets)) == sorted(map(str, range(len(tokens))))


def test_unicode61_cuts_and_folds_by_itself(open_store: Callable[..., SqliteStore]) -> None:
    store = filled(open_store, "unicode61")
    assert found(store, words("ai")) == {"ai.md"}
    assert found(store, words("CAFE", "lait")) == {"café.md"}
    assert found(store, words("memory_limit")) == {"code.md"}
    assert found(store, words("天气")) == set()
    assert found(store, words("...")) == set()
    assert found(store, words("...", "spain")) == {"plain.md"}
    assert found(store, KeywordQuery(("rain", "ai"), must=(("rain", "in"),))) == {"plain.md"}
    assert found(store, KeywordQuery(("rain", "ai"), must_not=(("Spain",),))) == {"ai.md"}


def test_what_unicode61_cannot_see_is_declined(open_store: Callable[..., SqliteStore]) -> None:
    store = filled(open_store, "unicode61")
    with pytest.raises(DeclinedError, match="punctuation alone"):
        search(store, KeywordQuery(("rain",), must=(("%",),)))
    assert found(store, KeywordQuery(("rain",), must_not=(("%",),))) == {"plain.md"}


def test_trigram_finds_pieces_of_words(open_store: Callable[..., SqliteStore]) -> None:
    store = filled(open_store, "trigram")
    assert found(store, words("ain")) == {"plain.md"}
    assert found(store, words("天天气")) == {"zh.md"}
    assert found(store, words("CAFÉ")) == {"café.md"}
    assert found(store, KeywordQuery(("ain",), must=(("rain", "in", "Sp"),))) == {"plain.md"}
    assert found(store, KeywordQuery(("ain", "all"), must_not=(("rain",),))) == {"ai.md"}


def test_trigram_finds_short_tokens_in_the_text(open_store: Callable[..., SqliteStore]) -> None:
    store = filled(open_store, "trigram")
    assert found(store, words("天气")) == {"zh.md"}
    assert found(store, words("气")) == {"zh.md"}
    assert found(store, words("AI")) == {"ai.md", "café.md", "plain.md"}
    assert found(store, words("zz")) == set()
    assert found(store, words("天气", "rain")) == {"zh.md", "plain.md"}
    assert found(store, KeywordQuery(("rain", "天气"), must=(("天",),))) == {"zh.md"}
    assert found(store, KeywordQuery(("rain", "天气"), must_not=(("in",),))) == {"zh.md"}


def test_short_tokens_are_no_patterns(open_store: Callable[..., SqliteStore]) -> None:
    store = filled(open_store, "trigram")
    assert found(store, words("%")) == {"code.md"}
    assert found(store, words("_")) == {"code.md"}
    assert found(store, words(":\\")) == {"code.md"}
    assert found(store, words("0%")) == {"code.md"}
    assert found(store, words("a_")) == set()


def test_short_tokens_are_ranked_filtered_and_limited(
    open_store: Callable[..., SqliteStore],
) -> None:
    store = open_store(tokenizer="trigram")
    publish(
        store,
        make_put("often.md", "天气 天气 天气"),
        make_put("once.md", "天气 and something else that is much longer than the other one"),
        make_put("other.md", "nothing of the kind", source="sessions"),
        make_put("theirs.md", "天气", source="sessions"),
        *(make_put(f"{number}.md", "filling") for number in range(9)),
    )
    ranked = search(store, words("天气"))
    assert [path for _, path, _ in places(ranked)] == ["often.md", "theirs.md", "once.md"]
    assert all(hit.score > 0 for hit in ranked)
    assert search(store, words("天气"), limit=2) == ranked[:2]
    assert found(store, words("天气"), Where(sources=frozenset({"sessions"}))) == {"theirs.md"}
    alone = scored(ranked)
    ((once, score),) = scored(search(store, words("something"))).items()
    both = scored(search(store, words("天气", "something")))
    assert both == pytest.approx(alone | {once: alone[once] + score})
    assert scored(search(store, words("天气", "天气"))) == pytest.approx(
        {id_: 2 * score for id_, score in alone.items()}
    )


def test_text_without_an_encoding_is_found_too(open_store: Callable[..., SqliteStore]) -> None:
    store = open_store(tokenizer="trigram")
    publish(store, make_put("a.md", "ab \ud800 天气"), make_put("b.md", "else"))
    assert found(store, words("天气")) == {"a.md"}


def test_a_build_is_searched_by_its_own_tokenizer(open_store: Callable[..., SqliteStore]) -> None:
    """The index of another configuration is kept until it is rebuilt."""
    filled(open_store, "trigram").close()
    assert found(open_store(), words("ain")) == {"plain.md"}


def test_pieces_are_found_in_texts_that_were_written_again(
    open_store: Callable[..., SqliteStore],
) -> None:
    store = filled(open_store, "trigram")
    for _ in range(3):  # so that there is a new turn, and texts have moved within it
        for number in range(12):
            write(store, make_put("long.md", *(f"{number} {line} zz" for line in range(20))))
    for query, paths in {
        KeywordQuery(("ai",)): {"ai.md", "plain.md", "café.md"},
        KeywordQuery(("天气",)): {"zh.md"},
        KeywordQuery(("rain",), must=(("ai",),)): {"plain.md"},
    }.items():
        assert found(store, query) == paths
        some = Where(paths=("plain.md",))
        assert found(store, query, some) == paths & {"plain.md"}
    assert len(search(store, words("zz"))) == 20
