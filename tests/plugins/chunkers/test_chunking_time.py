"""Chunking takes time in proportion to the text, whatever the text is made of."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from commonplace_chunkers.lines import LinesChunker
from commonplace_chunkers.plugin import MarkdownChunker

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Document
    from commonplace.plugin import Chunker

    Make = Callable[[str], Document]

pytestmark = pytest.mark.slow


def _again(unit: str, *, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + unit * (size // len(unit)) + after


def _stairs(size: int) -> str:
    return "".join("  " * step + "- a\n" for step in range(int(size**0.5)))


def _wide_table(size: int) -> str:
    return "|" + "a|" * (size // 4) + "\n|" + "-|" * (size // 4) + "\n"


NASTY = {
    "one long line": _again("x"),
    "one long line of words": _again("lorem ipsum "),
    "one long Chinese line": _again("漢字"),
    "spaces before a word": _again(" ", after="x"),
    "tabs before a word": _again("\t", after="x"),
    "blank lines": _again("\n", after="x"),
    "windows lines": _again("\r\n", after="x"),
    "old Mac lines": _again("\r", after="x"),
    "form feeds": _again("a\f\n"),
    "nul": _again("\0"),
    "byte order marks": _again("\ufeff"),
    "headings": _again("# h\n"),
    "headings with text": _again("# h\n\ntext\n"),
    "setext headings": _again("a\n===\n"),
    "one long setext heading": _again("a\n", after="===\n"),
    "hashes": _again("#"),
    "quotes in a line": _again("> "),
    "quotes in a line before a word": _again("> ", after="x"),
    "nested quotes": _again("> > > >\n"),
    "lazy lines": _again("a\n", before="> "),
    "bullets in a line": _again("- "),
    "stars in a line before a word": _again("* ", after="x"),
    "numbers in a line": _again("1. "),
    "items": _again("- a\n"),
    "empty items": _again("-\n\n"),
    "ever deeper lists": _stairs,
    "fences": _again("```\n"),
    "backticks": _again("`"),
    "not quite fences": _again("``` a`b\n"),
    "a fence without end": _again("a\n", before="```\n"),
    "tables": _again("|a|b|\n|-|-|\n|c|d|\n\n"),
    "a long table": _again("|c|d|\n", before="|a|b|\n|-|-|\n"),
    "a wide table": _wide_table,
    "delimiter rows": _again("|-|-|\n"),
    "dashes": _again("--\n"),
    "brackets": _again("["),
    "lines of brackets": _again("[\n"),
    "definitions": _again("[a]: b\n"),
    "definitions with titles left open": _again("[a]: b\n'x\n===\n"),
    "a label without end": _again("a\n", before="["),
    "paragraphs of brackets": _again("[\na\n\n"),
    "a target of brackets": _again("(", before="[a]: "),
    "html": _again("<div>\n"),
    "a comment without end": _again("a\n", before="<!--\n"),
    "a tag of many attributes": _again("a ", before="<a "),
    "a tag of open quotes": _again("b='", before="<a "),
    "a tag of spaces": _again(" ", before="<a", after="x"),
    "lines of open tags": _again("<a\n"),
    "front matter without end": _again("c: d\n", before="---\na: b\n"),
    "flags": _again("🇩🇪"),
    "families": _again("👨‍👩‍👧"),
    "marks on one letter": _again("\u0301", before="e"),
    "hangul letters": _again("\u1112\u1161\u11ab"),
    "conjuncts": _again("क्षत्रि"),
}

CHUNKERS: dict[str, Chunker] = {
    "markdown": MarkdownChunker(800, 100),
    "lines": LinesChunker(1600, 320),
}


def seconds(chunker: Chunker, document: Document) -> float:
    """CPU seconds, the least of three tries."""
    tries = []
    for _ in range(3):
        before = time.process_time()
        chunker.chunk(document)
        tries.append(time.process_time() - before)
    return min(tries)


def grows_in_proportion(chunker: Chunker, make: Make, text: Callable[[int], str]) -> bool:
    """Whether four times the text takes less than ten times as long (quadratic: sixteen)."""
    small = seconds(chunker, make(text(50_000)))
    # A little is added so that the grain of the clock does not decide over very fast texts.
    return seconds(chunker, make(text(200_000))) < 10 * small + 0.004


@pytest.mark.parametrize("chunker", CHUNKERS)
@pytest.mark.parametrize("text", NASTY)
def test_time_is_linear(document: Make, chunker: str, text: str) -> None:
    # A busy machine may spoil one measurement, but not three.
    assert any(grows_in_proportion(CHUNKERS[chunker], document, NASTY[text]) for _ in range(3))


@pytest.mark.parametrize("chunker", CHUNKERS)
@pytest.mark.parametrize("text", NASTY)
def test_nothing_is_lost(document: Make, chunker: str, text: str) -> None:
    source = NASTY[text](20_000)
    size = {"markdown": 800, "lines": 1600}[chunker]
    chunks = CHUNKERS[chunker].chunk(document(source))
    words = [len("".join(chunk.text.split())) for chunk in chunks]
    # Overlap may repeat words, nothing may drop one.
    assert sum(words) >= len("".join(source.split()))
    assert all(0 < len(chunk.text) <= 4 * size for chunk in chunks)


@pytest.mark.parametrize("chunker", CHUNKERS)
@pytest.mark.parametrize("text", ["one long line of words", "quotes in a line", "nested quotes"])
def test_ten_megabytes_are_chunked(document: Make, chunker: str, text: str) -> None:
    chunks = CHUNKERS[chunker].chunk(document(NASTY[text](10_000_000)))
    assert len(chunks) > 1000


def test_a_hundred_thousand_headings(document: Make) -> None:
    chunks = CHUNKERS["markdown"].chunk(document("# heading\n\ntext\n\n" * 100_000))
    assert len(chunks) == 100_000
    assert {chunk.heading for chunk in chunks} == {("heading",)}
