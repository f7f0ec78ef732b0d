"""Which words ask for the present, and the items of a list that are about a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace.text.questions import item_about

_ANALYSER = make_analyser()


@pytest.mark.parametrize(
    ("query", "tokens"),
    [
        ("what is the current gate code", {"current"}),
        ("who coaches the eight these days?", {"day"}),
        ("do we still rent the bus at the moment", {"still", "moment"}),
        ("was kostet der Bootsplatz derzeit", {"derzei"}),
        ("\u73b0\u5728\u8c01\u7ba1\u94a5\u5319", {"\u73b0\u5728"}),
        ("the latest gate code", set()),
        ("what happened last", set()),
        ("\u6700\u8fd1\u7684\u6bd4\u8d5b", set()),
        ("the gate code", set()),
    ],
)
def test_words_for_the_present_tell_nothing_of_the_topic(query: str, tokens: set[str]) -> None:
    assert _ANALYSER.query(parse_query(query)).timed == tokens


FIVE = "\n- bus: 9 seats\n- **boat**: Zell\n- `oar`\n- old oar, bus\n- bus"


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ({"bus": 1.0}, (["bus"], 5)),  # the shortest of equal ones
        ({"bus": 1.0, "seat": 1.0}, (["bus", "seat"], 14)),
        ({"boat": 1.0}, (["boat"], 16)),
        ({"oar": 1.0, "bus": 0.5}, (["oar"], 7)),
        ({"us": 1.0}, ([], 0)),
        ({"zell": 1.0}, ([], 0)),
        ({}, ([], 0)),
    ],
)
def test_the_best_item_begins_with_a_word_of_the_query(
    tokens: dict[str, float], expected: tuple[list[str], int]
) -> None:
    held, share = item_about(FIVE, tokens, tokens)
    assert held == expected[0]
    assert share == pytest.approx(expected[1] / len(FIVE))


def test_a_stem_that_ends_in_i_stands_for_a_word_in_y() -> None:
    assert item_about(FIVE + "\n- Safety: Bente", ["safeti"], {"safeti": 1.0})[0] == ["safeti"]


@given(st.text("-\n* bi"), st.dictionaries(st.sampled_from(["b", "i", "bi", "ib"]), st.just(1.0)))
def test_any_text_is_read(text: str, weights: dict[str, float]) -> None:
    held, share = item_about(text, weights, weights)
    assert set(held) <= set(weights)
    assert (0 < share <= 1) if held else share == 0
