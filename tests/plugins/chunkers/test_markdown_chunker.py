"""What the chunker by structure makes of texts worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace_chunkers.plugin import MarkdownChunker

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Document

    Make = Callable[..., Document]

Place = tuple[int, int]


def lines_of(make: Make, text: str, *, size: int = 40, overlap: int = 0) -> list[Place]:
    chunks = MarkdownChunker(size, overlap).chunk(make(text))
    return [(chunk.start_line, chunk.end_line) for chunk in chunks]


def headings_of(make: Make, text: str, *, size: int = 800) -> list[tuple[str, ...]]:
    return [chunk.heading for chunk in MarkdownChunker(size, 0).chunk(make(text))]


def test_a_small_text_is_one_chunk_without_its_last_line_end(document: Make) -> None:
    (chunk,) = MarkdownChunker(800, 100).chunk(document("one\n\ntwo\n"))
    assert (chunk.start_line, chunk.end_line, chunk.text) == (1, 3, "one\n\ntwo")
    assert chunk.heading == ()


def test_blank_lines_around_a_chunk_are_left_out(document: Make) -> None:
    (chunk,) = MarkdownChunker(800, 100).chunk(document("\n \n  kept  \n\t\n\n"))
    assert (chunk.start_line, chunk.end_line, chunk.text) == (3, 3, "  kept  ")


def test_line_ends_of_windows_stay_inside_a_chunk(document: Make) -> None:
    (chunk,) = MarkdownChunker(800, 100).chunk(document("one\r\n\r\ntwo\r\n"))
    assert (chunk.start_line, chunk.end_line, chunk.text) == (1, 3, "one\r\n\r\ntwo")


@pytest.mark.parametrize("mark", ["\r", "\x85", "\u2028", "\f", "\v", "\x1c"])
def test_other_marks_end_no_line(document: Make, mark: str) -> None:
    text = f"one{mark}one\ntwo"
    (chunk,) = MarkdownChunker(800, 100).chunk(document(text))
    assert (chunk.start_line, chunk.end_line, chunk.text) == (1, 2, text)


# --- sections -----------------------------------------------------------------------------------


def test_every_heading_begins_a_chunk(document: Make) -> None:
    text = "before\n\n# A\n\na\n\n## B\nb\n\nC\n---\nc\n"
    assert lines_of(document, text, size=800) == [(1, 1), (3, 5), (7, 8), (10, 12)]
    assert headings_of(document, text) == [(), ("A",), ("A", "B"), ("A", "C")]


def test_a_chunk_knows_the_path_of_its_headings(document: Make) -> None:
    text = "x\n# A\na\n## B ##\nb\n#### D\nd\n## E\ne\n# F\nf\n"
    assert headings_of(document, text) == [
        (),
        ("A",),
        ("A", "B"),
        ("A", "B", "D"),
        ("A", "E"),
        ("F",),
    ]


def test_headings_without_text_go_with_the_section_after_them(document: Make) -> None:
    text = "# A\n\n## B\n\n### C\nc\n## Empty\n## D\nd\n"
    assert lines_of(document, text, size=800) == [(1, 6), (7, 9)]
    assert headings_of(document, text) == [("A", "B", "C"), ("A", "D")]


def test_a_last_heading_without_text_is_still_found(document: Make) -> None:
    assert lines_of(document, "# A\na\n# B\n", size=800) == [(1, 2), (3, 3)]


def test_many_headings_without_text_fill_chunks(document: Make) -> None:
    chunks = MarkdownChunker(100, 0).chunk(document("# heading\n" * 30))
    assert [chunk.end_line for chunk in chunks][-1] == 30
    assert all(len(chunk.text) > 40 for chunk in chunks[:-1])


def test_headings_in_lists_quotes_and_fences_begin_nothing(document: Make) -> None:
    text = "- a\n\n  # b\n\n> # c\n\n```\n# d\n```\n"
    assert lines_of(document, text, size=800) == [(1, 9)]


def test_empty_headings_do_not_show_in_the_path(document: Make) -> None:
    assert headings_of(document, "#\na\n## B\nb\n") == [(), ("B",)]


def test_a_very_long_heading_is_shortened_in_the_path(document: Make) -> None:
    ((heading,),) = headings_of(document, f"# {'long ' * 100}\ntext\n", size=2000)
    assert heading == ("long " * 40).rstrip()


def test_front_matter_goes_with_the_first_section(document: Make) -> None:
    text = "---\ntitle: x\n# y: z\n---\n\n# A\na\n# B\nb\n"
    assert lines_of(document, text, size=800) == [(1, 7), (8, 9)]
    assert headings_of(document, text, size=800) == [("A",), ("B",)]


def test_front_matter_does_not_part_a_heading_from_the_next(document: Make) -> None:
    front = "---\n" + "key: a long value of it\n" * 4 + "---\n"
    text = front + "\n# A\n\n## B\nb\n"
    assert lines_of(document, text, size=200) == [(1, 11)]


def test_front_matter_without_a_heading_below_it_goes_with_the_first_text(document: Make) -> None:
    front = "---\n" + "key: value\n" * 3 + "---\n"
    assert lines_of(document, front + "one line of a text\n" * 4, size=80)[0] == (1, 7)


def test_front_matter_longer_than_a_chunk_leaves_the_heading_with_its_text(document: Make) -> None:
    text = "---\n" + "key: value\n" * 9 + "---\n# A\na text\n"
    chunks = lines_of(document, text, size=60)
    assert chunks[-1][1] == 13
    assert chunks[-1][0] <= 12
    assert all(start <= end for start, end in chunks)


def test_front_matter_alone_is_a_chunk(document: Make) -> None:
    assert lines_of(document, "---\ntitle: x\n---\n", size=800) == [(1, 3)]


# --- cuts ---------------------------------------------------------------------------------------


def test_cuts_fall_between_blocks_rather_than_lines(document: Make) -> None:
    text = "first line\nsecond line\n\nthird line\nfourth line\nfifth line"
    assert lines_of(document, text) == [(1, 2), (4, 6)]


def test_cuts_fall_between_items_rather_than_inside_one(document: Make) -> None:
    text = "- item one\n- item two\n- item\n  three\n  going on"
    assert lines_of(document, text) == [(1, 2), (3, 5)]


def test_cuts_fall_between_outer_items_rather_than_inner_ones(document: Make) -> None:
    text = "- outer\n  - inner\n- outer\n  - inner\n  - inner"
    assert lines_of(document, text, size=36) == [(1, 2), (3, 5)]


def test_a_border_that_leaves_a_small_chunk_is_passed_over(document: Make) -> None:
    text = "tiny\n\nfirst line\nsecond line\nthird line\nfourth line"
    assert lines_of(document, text) == [(1, 5), (6, 6)]


def test_a_long_table_is_cut_between_its_rows(document: Make) -> None:
    text = "| a | b |\n|---|---|\n" + "| c | d |\n" * 4
    assert lines_of(document, text) == [(1, 4), (5, 6)]


def test_a_heading_is_not_cut_from_its_text(document: Make) -> None:
    text = "# Heading\n\n" + "a line of words\n" * 3
    assert lines_of(document, text) == [(1, 3), (4, 5)]


def test_a_line_too_long_beside_its_heading_is_cut_at_a_word(document: Make) -> None:
    chunks = MarkdownChunker(40, 0).chunk(document("# Heading\n" + "seven77 " * 5))
    assert [chunk.text for chunk in chunks] == [
        "# Heading\nseven77 seven77 ",
        "seven77 seven77 seven77 ",
    ]


def test_a_long_line_is_cut_at_words_and_leaves_no_crumb(document: Make) -> None:
    chunks = MarkdownChunker(40, 10).chunk(document("seven77 " * 5 + "end"))
    assert [chunk.text for chunk in chunks] == ["seven77 " * 3, "seven77 seven77 end"]
    assert all(chunk.start_line == chunk.end_line == 1 for chunk in chunks)


def test_the_rest_of_a_long_line_goes_with_the_lines_after_it(document: Make) -> None:
    chunks = MarkdownChunker(40, 0).chunk(document("seven77 " * 7 + "\nnext line"))
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 1), (1, 2)]
    assert chunks[1].text.endswith("\nnext line")


def test_a_heading_far_from_its_text_stands_alone(document: Make) -> None:
    assert lines_of(document, "# A\n" + "\n" * 100 + "text") == [(1, 1), (102, 102)]


# --- overlap ------------------------------------------------------------------------------------


def test_chunks_repeat_the_fewest_lines_that_hold_the_overlap(document: Make) -> None:
    text = "\n".join(f"line {number:03}" for number in range(1, 13))
    places = lines_of(document, text, size=40, overlap=9)
    assert places == [(1, 4), (3, 6), (5, 8), (7, 10), (9, 12)]
    places = lines_of(document, text, size=40, overlap=8)
    assert places == [(1, 4), (4, 7), (7, 10), (10, 12)]


def test_nothing_is_repeated_without_overlap(document: Make) -> None:
    text = "\n".join(f"line {number:03}" for number in range(1, 9))
    assert lines_of(document, text, size=40, overlap=0) == [(1, 4), (5, 8)]


def test_nothing_is_repeated_across_headings(document: Make) -> None:
    assert lines_of(document, "# A\na\n# B\nb\n", size=800, overlap=100) == [(1, 2), (3, 4)]


def test_a_line_of_more_than_half_a_chunk_is_not_repeated(document: Make) -> None:
    text = "a line of twenty one.\na line of twenty two.\na line of twenty 333."
    assert lines_of(document, text, size=40, overlap=10) == [(1, 1), (2, 2), (3, 3)]


# --- lines of the file --------------------------------------------------------------------------


def test_lines_are_those_of_the_file_where_the_document_maps_them(document: Make) -> None:
    chunks = MarkdownChunker(32, 0).chunk(document("one " * 5 + "\ntwo\n" + "x" * 30, (4, 9, 9)))
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(4, 9), (9, 9)]


def test_lines_missing_from_the_map_keep_their_number(document: Make) -> None:
    (chunk,) = MarkdownChunker(800, 0).chunk(document("one\ntwo\nthree", (7,)))
    assert (chunk.start_line, chunk.end_line) == (7, 3)
