"""What holds for the chunks of any text."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.graphemes import is_boundary
from commonplace_chunkers.lines import LinesChunker, weight
from commonplace_chunkers.plugin import MarkdownChunker
from commonplace_chunkers.scanner import outline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.chunks import Chunk
    from commonplace.model.documents import Document
    from commonplace.plugin import Chunker

    Chunking = tuple[type[MarkdownChunker | LinesChunker], Callable[[str], int]]

BOTH: list[Chunking] = [(MarkdownChunker, len), (LinesChunker, weight)]
both = pytest.mark.parametrize(("chunker_type", "measure"), BOTH, ids=["markdown", "lines"])

FRAGMENTS = [
    *("\n", "\n", "\n", "\n\n", "\r\n", "\r", "\t", " ", "    ", "\f", "\v", "\x85", "\u2028"),
    *("word ", "some more words", "a_long_identifier_without_a_space", "x" * 90, "x" * 300),
    *("# Heading\n", "## Sub\n", "\nTitle\n===\n", "- item\n", "1. item\n", "> quote\n", "---\n"),
    *("```\n", "~~~\n", "| a | b |\n|---|---|\n| c | d |\n", "<div>\n", "<!--", "-->", "[a]: b\n"),
    *(
        "\0",
        "\ufeff",
        "\u200b",
        "é",
        "e\u0301",
        "a\u0300\u0301\u0302",
        "क्षि",
        "กำลัง",
        "각",
        "\u1112\u1161",
    ),
    *("日本語の文。", "漢字" * 60, "한국어 ", "👍🏽", "👨‍👩‍👧", "🇩🇪🇫🇷🇩", "e" + "\u0301" * 40),
    *("word " * 30, "- item\n" * 12, "line of words\n" * 9),
]
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join)
texts = texts.filter(lambda text: not re.search("[\ud800-\udfff]", text))
sizes = st.integers(32, 160)


def _number(words_of_lines: list[int]) -> str:
    numbers = count()
    lines = (" ".join(f"w{next(numbers)}" for _ in range(words)) for words in words_of_lines)
    return "\n".join(lines)


# No two words of these are equal, so that each chunk has one place.
numbered_texts = st.lists(st.integers(0, 12) | st.integers(0, 60), max_size=25).map(_number)
overlaps = st.integers(0, 200)


def line_spans(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line.removesuffix("\r"))))
        start += len(line) + 1
    return spans


def next_word(text: str, at: int) -> int:
    """The first place from ``at`` on that is not white space."""
    return at + len(text[at:]) - len(text[at:].lstrip())


def places(text: str, chunks: Sequence[Chunk]) -> list[int]:
    """Where each chunk begins, as late as leaves no word out; checks that there is a place.

    Words may repeat, so that a chunk may be found in several places: then it is checked only what
    holds for all of them.
    """
    spans, found, most, least = line_spans(text), [], 0, 0
    for chunk in chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= len(spans)
        start, stop = spans[chunk.start_line - 1][0], spans[chunk.end_line - 1][1]
        latest = next_word(text, most)
        at = text.rfind(chunk.text, start, min(stop, latest + len(chunk.text)))
        assert at >= start, "not a piece of its lines, or words before it are left out"
        assert at + len(chunk.text) > next_word(text, least), "nothing new"
        most = max(most, at + len(chunk.text))
        least = max(least, text.find(chunk.text, start) + len(chunk.text))
        found.append(at)
    assert next_word(text, most) == len(text), "words at the end are left out"
    return found


def headings_above(text: str, line: int) -> int:
    """How many characters of headings and blank lines stand right above a line."""
    lines = text.split("\n")
    heads = [b for b in outline([row.removesuffix("\r") for row in lines]).blocks if b.text]
    in_heading = {at for head in heads for at in range(head.start, head.stop)}
    top = line - 1
    while top and (top - 1 in in_heading or not lines[top - 1].strip()):
        top -= 1
    return sum(len(row) + 1 for row in lines[top : line - 1])


def heading_below(text: str, line: int) -> int:
    """How many characters follow a line of a heading up to the end of what the heading is above."""
    lines = text.split("\n")
    blocks = outline([row.removesuffix("\r") for row in lines]).blocks
    stop = next((b.stop for b in blocks if b.text and b.start < line <= b.stop), line)
    while line < stop < len(lines) and not lines[stop].strip():
        stop += 1
    return sum(len(row) + 1 for row in lines[line : stop + 1]) if line < stop else 0


@both
@settings(max_examples=150, deadline=None)
@given(text=texts, size=sizes, overlap=overlaps)
@example(text="x" * 90 + "\nTitle\n===\n- item\n", size=100, overlap=0)
def test_laws(
    document: Callable[[str], Document],
    chunker_type: type[MarkdownChunker | LinesChunker],
    measure: Callable[[str], int],
    text: str,
    size: int,
    overlap: int,
) -> None:
    chunks = chunker_type(size, overlap).chunk(document(text))
    starts = places(text, chunks)
    assert starts == sorted(starts)
    spans, before = line_spans(text), 0
    for chunk, start in zip(chunks, starts, strict=True):
        assert chunk.text.strip()
        first, last = spans[chunk.start_line - 1][0], spans[chunk.end_line - 1][1]
        if chunker_type is LinesChunker and overlap and chunk.start_line == before:
            first = start  # the end of a line, which the chunk before has whole
        before = chunk.end_line
        if chunk.text != text[first:last]:
            if chunker_type is MarkdownChunker:  # a heading stays with what is below it
                first -= headings_above(text, chunk.start_line)
                last += heading_below(text, chunk.end_line)
            assert measure(text[first:last]) > size
        if measure(chunk.text) > size:
            assert measure(chunk.text) <= 4 * size
            inside = range(1, len(chunk.text))
            assert not any(is_boundary(text, start + at, start) for at in inside)


@both
@settings(max_examples=100, deadline=None)
@given(text=texts.filter(lambda text: "\u0301" * 40 not in text), size=sizes, overlap=overlaps)
def test_cuts_fall_between_graphemes(
    document: Callable[[str], Document],
    chunker_type: type[MarkdownChunker | LinesChunker],
    measure: Callable[[str], int],
    text: str,
    size: int,
    overlap: int,
) -> None:
    chunks = chunker_type(size, overlap).chunk(document(text))
    spans = line_spans(text)
    for chunk in chunks:
        first, last = spans[chunk.start_line - 1][0], spans[chunk.end_line - 1][1]
        found = [at for at in range(first, last) if text.startswith(chunk.text, at)]
        assert any(
            is_boundary(text, at, first) and is_boundary(text, at + len(chunk.text), first)
            for at in found
        )


@both
@settings(max_examples=50, deadline=None)
@given(words=st.lists(st.text("abc", min_size=1, max_size=7), min_size=1, max_size=80))
def test_no_word_is_cut(
    document: Callable[[str], Document],
    chunker_type: type[MarkdownChunker | LinesChunker],
    measure: Callable[[str], int],
    words: list[str],
) -> None:
    chunks = chunker_type(48, 0).chunk(document(" ".join(words)))
    assert set(" ".join(chunk.text for chunk in chunks).split()) == set(words)


@both
@settings(max_examples=50, deadline=None)
@given(text=st.text(" \t\n\r\f\v\x1c\x85\u00a0\u2028\u3000", max_size=200))
def test_a_blank_document_has_no_chunks(
    document: Callable[[str], Document],
    chunker_type: type[MarkdownChunker | LinesChunker],
    measure: Callable[[str], int],
    text: str,
) -> None:
    assert chunker_type(32, 8).chunk(document(text)) == []


@both
@settings(max_examples=80, deadline=None)
@given(text=texts, size=sizes, data=st.data())
def test_the_line_map_changes_only_line_numbers(
    document: Callable[..., Document],
    chunker_type: type[MarkdownChunker | LinesChunker],
    measure: Callable[[str], int],
    text: str,
    size: int,
    data: st.DataObject,
) -> None:
    total = text.count("\n") + 1
    steps = data.draw(st.lists(st.integers(0, 9), min_size=total, max_size=total))
    line_map = tuple(sum(steps[: at + 1]) + 1 for at in range(total))
    chunker: Chunker = chunker_type(size, 20)
    plain, mapped = chunker.chunk(document(text)), chunker.chunk(document(text, line_map))
    assert [(chunk.text, chunk.heading) for chunk in mapped] == [
        (chunk.text, chunk.heading) for chunk in plain
    ]
    assert [(chunk.start_line, chunk.end_line) for chunk in mapped] == [
        (line_map[chunk.start_line - 1], line_map[chunk.end_line - 1]) for chunk in plain
    ]


@settings(max_examples=100, deadline=None)
@given(text=texts, size=sizes, overlap=overlaps)
def test_markdown_keeps_headings_with_their_text(
    document: Callable[[str], Document], text: str, size: int, overlap: int
) -> None:
    chunks = MarkdownChunker(size, overlap).chunk(document(text))
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    heads = [b for b in outline(lines).blocks if b.kind == "heading" and not b.depth]
    in_heading = {line for head in heads for line in range(head.start, head.stop)}
    for chunk in chunks:
        inside = range(chunk.start_line - 1, chunk.end_line)
        spoken = [at in in_heading for at in inside if lines[at].strip()]
        # Headings come first: none stands below text in a chunk.
        assert spoken == sorted(spoken, reverse=True)


@settings(max_examples=100, deadline=None)
@given(text=numbered_texts, size=sizes, overlap=overlaps)
def test_markdown_overlaps_by_no_more_than_half(
    document: Callable[[str], Document], text: str, size: int, overlap: int
) -> None:
    chunks = MarkdownChunker(size, overlap).chunk(document(text))
    starts = places(text, chunks)
    for before, at, start in zip(chunks, starts, starts[1:], strict=False):
        repeated = at + len(before.text) - start
        assert repeated <= (size // 2 if overlap else 0)


@settings(max_examples=100, deadline=None)
@given(text=numbered_texts, size=sizes, overlap=overlaps)
def test_lines_overlap_by_no_more_than_was_asked_for(
    document: Callable[[str], Document], text: str, size: int, overlap: int
) -> None:
    chunks = LinesChunker(size, overlap).chunk(document(text))
    starts = places(text, chunks)
    for before, at, start in zip(chunks, starts, starts[1:], strict=False):
        stop = at + len(before.text)
        assert weight(text[start:stop]) <= overlap
