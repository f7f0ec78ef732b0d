"""What the chunker by lines makes of texts worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_chunkers.lines import LinesChunker, fit_weighted, weight

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Document

    Make = Callable[..., Document]

Place = tuple[int, int]


def lines_of(make: Make, text: str, *, size: int = 40, overlap: int = 0) -> list[Place]:
    chunks = LinesChunker(size, overlap).chunk(make(text))
    return [(chunk.start_line, chunk.end_line) for chunk in chunks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("abc", 3),
        ("é", 1),
        ("漢", 4),
        ("かな", 8),
        ("한", 4),
        ("、。", 8),
        ("𠀀", 4),
        ("ไทย", 3),
        ("👍", 1),
        ("a漢b字c", 11),
    ],
)
def test_weight(text: str, expected: int) -> None:
    assert weight(text) == expected


@given(st.text("a漢é👍字", max_size=30), st.integers(0, 5), st.integers(0, 60))
def test_as_much_fits_as_the_budget_allows(text: str, start: int, budget: int) -> None:
    start = min(start, len(text))
    stop = fit_weighted(text, start, len(text), budget)
    assert weight(text[start:stop]) <= budget
    assert stop == len(text) or weight(text[start : stop + 1]) > budget


def test_every_line_costs_its_end_too(document: Make) -> None:
    # Nine characters and a line end: four lines make forty.
    text = "\n".join(["123456789"] * 8)
    assert lines_of(document, text) == [(1, 4), (5, 8)]
    assert lines_of(document, text, size=39) == [(1, 3), (4, 6), (7, 8)]


def test_windows_line_ends_cost_two(document: Make) -> None:
    text = "\r\n".join(["123456789"] * 8)
    assert lines_of(document, text, size=44) == [(1, 4), (5, 8)]
    assert lines_of(document, text, size=43) == [(1, 3), (4, 6), (7, 8)]


def test_chinese_characters_cost_four(document: Make) -> None:
    assert lines_of(document, "\n".join(["漢字"] * 8), size=36) == [(1, 4), (5, 8)]


def test_headings_mean_nothing(document: Make) -> None:
    (chunk,) = LinesChunker(1600, 320).chunk(document("# A\na\n# B\nb\n"))
    assert (chunk.start_line, chunk.end_line, chunk.heading) == (1, 4, ())


def test_whole_lines_are_repeated_up_to_the_overlap(document: Make) -> None:
    text = "\n".join(["123456789"] * 8)
    assert lines_of(document, text, overlap=10) == [(1, 4), (4, 7), (7, 8)]
    assert lines_of(document, text, overlap=19) == [(1, 4), (4, 7), (7, 8)]
    assert lines_of(document, text, overlap=20) == [(1, 4), (3, 6), (5, 8)]
    assert lines_of(document, text, overlap=9) == [(1, 4), (4, 7), (7, 8)]
    assert lines_of(document, text, overlap=1) == [(1, 4), (5, 8)]


@pytest.mark.parametrize("between", ["\n", "\n\n"], ids=["lines", "paragraphs"])
def test_the_end_of_a_line_longer_than_the_overlap_is_repeated(
    document: Make, between: str
) -> None:
    chunks = LinesChunker(40, 12).chunk(
        document("one two three four five six" + between + "x" * 25)
    )
    assert [(chunk.start_line, chunk.text) for chunk in chunks] == [
        (1, "one two three four five six"),
        (1, f"five six{between}{'x' * 25}"),
    ]


def test_the_overlap_leaves_room_for_the_next_line(document: Make) -> None:
    text = "\n".join(["123456789", "123456789", "123456789", "x" * 35, "y"])
    assert lines_of(document, text, overlap=30) == [(1, 3), (3, 4), (4, 5)]
    assert lines_of(document, text.replace("x" * 35, "x" * 39), overlap=30) == [
        (1, 3),
        (4, 4),
        (4, 5),
    ]


def test_a_chunk_never_begins_where_the_one_before_it_does(document: Make) -> None:
    text = "\n".join(["1234", "x" * 30, "y" * 30])
    assert lines_of(document, text, size=36, overlap=36) == [(1, 2), (2, 3)]


def test_a_line_too_long_is_cut_at_words_and_its_tail_repeated(document: Make) -> None:
    chunks = LinesChunker(40, 12).chunk(document("seven77 " * 6 + "\nnext line here"))
    assert [(chunk.start_line, chunk.end_line, chunk.text) for chunk in chunks] == [
        (1, 1, "seven77 " * 5),
        (1, 2, "seven77 seven77 \nnext line here"),
    ]


def test_a_chinese_line_too_long_is_cut_by_weight(document: Make) -> None:
    chunks = LinesChunker(40, 0).chunk(document("漢字" * 10))
    assert [chunk.text for chunk in chunks] == ["漢字" * 5, "漢字" * 5]


def test_blank_lines_alone_make_no_chunk(document: Make) -> None:
    text = "one\n" + "\n" * 200 + "two\n" + "\n" * 200
    assert lines_of(document, text, overlap=8) == [(1, 1), (202, 202)]


def test_lines_are_those_of_the_file_where_the_document_maps_them(document: Make) -> None:
    chunks = LinesChunker(32, 0).chunk(document("one " * 5 + "\ntwo\n" + "x" * 30, (4, 9, 9)))
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(4, 9), (9, 9)]
