from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import DeclinedError
from commonplace_qmd.engine.installation import installed_models
from commonplace_qmd.engine.search import (
    Plan,
    as_document,
    cleaned,
    has_words,
    is_findable,
    plain,
    plan,
)
from commonplace_qmd.engine.values import Line, QmdError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends.qmd.engine.conftest import House

    from commonplace_qmd.engine.values import Mode, ModelKind


NO_MODELS: frozenset[ModelKind] = frozenset()
EMBED: frozenset[ModelKind] = frozenset({"embed"})
ALL: frozenset[ModelKind] = frozenset({"embed", "rerank", "generate"})


def planned(
    house: House, mode: Mode, query: str | list[Line], models: frozenset[ModelKind] = NO_MODELS
) -> Plan:
    made = plan(mode, query, index_path=house.home.index_path, models=models)
    assert made is not None
    return made


def refused(
    house: House, mode: Mode, query: str | list[Line], models: frozenset[ModelKind] = NO_MODELS
) -> str:
    with pytest.raises(QmdError) as caught:
        planned(house, mode, query, models)
    assert caught.value.hint
    return caught.value.reason


def test_keywords_need_no_model(house: House) -> None:
    made = planned(house, "search", "lex: zebra\n")
    assert made.arguments == ("search",)
    assert made.query == "lex: zebra"
    assert made.tool == {"searches": [{"type": "lex", "query": "lex: zebra"}], "rerank": False}
    assert not made.heavy


@pytest.mark.parametrize("query", ["", " \n", [], [Line("lex", " "), Line("vec", "")]])
def test_no_words_are_no_search(house: House, query: str | list[Line]) -> None:
    assert plan("query", query, index_path=house.home.index_path, models=ALL) is None


@pytest.mark.parametrize("query", ["???", "-zebra", '-"a b"'])
def test_words_that_can_find_nothing_are_declined(house: House, query: str) -> None:
    with pytest.raises(DeclinedError):
        planned(house, "search", query)


def test_a_line_that_can_find_nothing_is_left_out(house: House) -> None:
    lines = [Line("lex", "-a"), Line("lex", "b")]
    assert planned(house, "query", lines).query == "lex: b"


def test_lines_are_for_one_mode(house: House) -> None:
    with pytest.raises(ValueError, match="mode query"):
        plan("search", [Line("lex", "a")], index_path=house.home.index_path, models=ALL)


def test_a_vector_search_before_anything_is_embedded_is_refused(house: House) -> None:
    assert refused(house, "vsearch", "zebra", ALL) == "no_vectors"
    house.embedded(0)
    assert refused(house, "query", [Line("vec", "zebra")], ALL) == "no_vectors"


def test_a_vector_search_without_its_model_is_refused(house: House) -> None:
    house.embedded()
    assert refused(house, "vsearch", "zebra") == "no_models"
    assert refused(house, "query", [Line("lex", "a"), Line("vec", "zebra")]) == "no_models"


def test_a_vector_search_uses_the_models_there_are(house: House) -> None:
    house.embedded()
    assert planned(house, "vsearch", "zebra -x", EMBED).query == "vec: zebra x"
    made = planned(house, "vsearch", "zebra", ALL)
    assert (made.arguments, made.query, made.heavy) == (("vsearch",), "zebra", True)


def test_typed_lines_work_without_any_model(house: House) -> None:
    made = planned(house, "query", [Line("lex", "a\nb"), Line("lex", '"c')])
    assert made.arguments == ("query", "--no-rerank")
    assert made.query == "lex: a b\nlex: c"
    assert made.tool is not None
    assert made.tool["rerank"] is False
    # ... and do not wait for one that is there.
    assert planned(house, "query", [Line("lex", "a\nb"), Line("lex", '"c')], ALL) == made


def test_a_plain_query_needs_a_model_to_expand_it(house: House) -> None:
    assert refused(house, "query", "zebra", EMBED) == "no_models"
    house.embedded()
    assert refused(house, "query", "zebra", frozenset({"generate"})) == "no_models"


def test_ranking_the_best_again_is_left_out_without_its_model(house: House) -> None:
    made = planned(house, "query", "vec: zebra", frozenset({"generate"}))
    assert made.arguments == ("query", "--no-rerank")
    assert made.query == "vec : zebra"
    assert made.tool == {"query": "vec : zebra", "rerank": False}
    assert planned(house, "query", "zebra", ALL).arguments == ("query",)


def test_more_lines_than_the_server_takes_are_for_a_process(house: House) -> None:
    lines = [Line("lex", f"a{n}") for n in range(11)]
    assert planned(house, "query", lines).tool is None
    assert planned(house, "query", lines[:10]).tool is not None


def test_models_are_found_by_their_files(tmp_path: Path) -> None:
    assert installed_models(str(tmp_path), {}) == NO_MODELS
    (tmp_path / "hf_ggml-org_embeddinggemma-300M-Q8_0.gguf").write_bytes(b"GGUF...")
    (tmp_path / "hf_x_qwen3-reranker-0.6b-q8_0.gguf.etag").write_bytes(b"GGUF")
    (tmp_path / "hf_x_qwen3-reranker-0.6b-q8_0.gguf").write_bytes(b"<html>")
    assert installed_models(str(tmp_path), {}) == EMBED


def test_models_of_ones_own_are_found(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    (tmp_path / "hf_a_b.gguf").write_bytes(b"GGUF")
    env = {"QMD_EMBED_MODEL": str(own), "QMD_RERANK_MODEL": "hf:a/r/b.gguf"}
    assert installed_models(str(tmp_path), env) == {"embed", "rerank"}


@pytest.mark.parametrize("word", ["lex", "vec", "hyde", "intent", "expand", "LEX"])
def test_a_plain_query_is_not_taken_for_a_typed_one(word: str) -> None:
    assert plain(f"  {word}: x") == f"{word} : x"


def test_a_plain_query_is_on_one_line() -> None:
    assert plain("what is\nlex: this") == "what is lex: this"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (Line("lex", ' "a b" c'), '"a b" c'),
        (Line("lex", '"a b" "c'), '"a b" c'),
        (Line("lex", "a\nvec: b"), "a vec: b"),
        (Line("lex", "a -b"), "a -b"),
        (Line("vec", "a -b --c d-e"), "a b c d-e"),
        (Line("vec", '-"a b"'), '"a b"'),
        (Line("hyde", "a\0b"), "a b"),
    ],
)
def test_what_would_be_refused_is_put_right(line: Line, text: str) -> None:
    assert cleaned(line).text == text


@given(st.text())
def test_every_line_stays_one_line_with_quotes_in_pairs(text: str) -> None:
    line = cleaned(Line("lex", text))
    assert len(as_document([line]).split("\n")) == 1
    assert line.text.count('"') % 2 == 0
    line.text.encode()


def test_lines_make_a_document() -> None:
    assert as_document([Line("lex", "a b"), Line("vec", "c?")]) == "lex: a b\nvec: c?"


@pytest.mark.parametrize("text", ["a", "-a b", '-"a b" "c"', "a-b", "-a 水", "'s", "_", "-a -b c"])
def test_a_query_with_a_word_can_find_something(text: str) -> None:
    assert has_words(text)


@pytest.mark.parametrize("text", ["", "???", "-a", '-"a b"', "-a-b", '""', "-", '- "?"', "🎉"])
def test_a_query_without_one_never_does(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("text", ["router", "café", "cafe\u0301", "東京", "Москва", "שלום", "서울"])
def test_words_of_these_scripts_are_found(text: str) -> None:
    assert is_findable(text)


@pytest.mark.parametrize(
    "text", ["กรุงเทพ", "router ประชุม", "ລາວ", "ភ្នំពេញ", "မြန်မာ", "हिन्दी", "தமிழ்"]
)
def test_words_of_these_may_not_be(text: str) -> None:
    assert not is_findable(text)
