from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.facts import (
    facts,
    item_about,
    prose_lines,
    successor_in,
    superseded_in,
    superseded_mark,
)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("one\n```\ncode\n```\ntwo", [1, 5]),
        ("one\n```sh\ncode\n```sh\nmore\n```\ntwo", [1, 7]),
        ("````md\n```\ncode\n```\n````\ntwo", [6]),
        ("~~~\n```\n~~~\ntwo", [4]),
        ("```code``` in a line\ntwo", [1, 2]),
        ("~~~ `sh`\ncode\n~~~\ntwo", [4]),
        ("one\n```\ncode that does not end", [1]),
        ("---\ntitle: x\n---\none", [4]),
    ],
)
def test_prose_lines_are_outside_code_and_front_matter(text: str, numbers: list[int]) -> None:
    assert [number for number, _ in prose_lines(text)] == numbers


@pytest.mark.parametrize("end", ["", " ", "\t\r"])
@pytest.mark.parametrize("new", ["port 8080", "a (b) by: c", "x" * 80, "", "two\n  lines"])
def test_the_mark_of_a_superseded_line_is_read_as_it_is_written(new: str, end: str) -> None:
    line = f"- ~~The port is 80~~ {superseded_mark('2026-11-22', new)}{end}"
    assert superseded_in(line) == ("The port is 80", "2026-11-22")
    assert successor_in(line) == " ".join(new.split())
    assert facts("a.md", line) == []


def test_the_mark_names_the_beginning_of_a_long_successor() -> None:
    mark = superseded_mark("2026-11-22", "words " * 20)
    assert mark.endswith(" words w…)")
    assert successor_in(mark) == ("words " * 20)[:79]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("~~old~~ (superseded by new)", ("old", "")),
        ("~~a~~ and ~~b~~(superseded 2026-11-22)", ("a~~ and ~~b", "2026-11-22")),
        ("~~old\nlines~~\n(superseded 2026-11-22 by: new)", ("old\nlines", "2026-11-22")),
        ("~~old~~", None),
        ("old (superseded 2026-11-22 by: new)", None),
    ],
)
def test_a_mark_may_be_written_by_hand(text: str, found: tuple[str, str] | None) -> None:
    assert superseded_in(text) == found


@pytest.mark.parametrize("line", ["~~old~~ (superseded 2026-11-22)", "~~old~~", ""])
def test_a_line_may_name_no_successor(line: str) -> None:
    assert successor_in(line) is None


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


def test_a_source_names_a_line_that_a_file_can_have() -> None:
    sources = [f"(Source: memory/a.md#L{line})" for line in ("12", "9" * 5_000)]
    found = [facts("MEMORY.md", f"- Mia drinks tea {source}")[0].source for source in sources]
    assert found == ["memory/a.md#L12", ""]
