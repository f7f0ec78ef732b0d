"""The laws of chunkers: every character in a chunk, every chunk a piece of its lines."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from hypothesis import strategies as st

from commonplace.model.documents import Document, DocumentRef
from commonplace.protocols.contexts import ChunkerContext
from commonplace.testing.laws import Laws, law
from commonplace.testing.pressure import answers_alike, same_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.model.chunks import Chunk
    from commonplace.protocols.parts import Chunker


USUAL = ChunkerContext(size=400, overlap=60)

_FRAGMENTS = (
    *("\n", "\n\n", "\r\n", "\r", "\t", " ", "    ", "\f", "\v", "\x85", "\u2028"),
    *("word ", "some more words", "a_long_identifier_without_a_space", "x" * 90, "x" * 900),
    *("# Heading\n", "## Sub\n", "\nTitle\n===\n", "- item\n", "1. item\n", "> quote\n", "---\n"),
    *("```\n", "~~~\n", "| a | b |\n|---|---|\n| c | d |\n", "<div>\n", "<!--", "-->", "[a]: b\n"),
    *("\0", "\ufeff", "\u200b", "e\u0301", "a\u0300\u0301\u0302", "\u0301"),
    *(
        "\u65e5\u672c\u8a9e\u306e\u6587\u3002",
        "\u6f22\u5b57" * 60,
        "\u0e21\u0e49\u0e32\u0e25\u0e32\u0e22",
    ),
    *("\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"),
    *("word " * 60, "- item\n" * 30, "line of words\n" * 30),
)

NASTY = {
    "one long line": "x",
    "one long line of words": "lorem ipsum ",
    "lines": "a line of words\n",
    "blank lines": "\n",
    "headings": "# h\n\ntext\n",
    "quotes in a line": "> ",
    "fences": "```\n",
    "brackets": "[",
    "marks on one letter": "\u0301",
}
"""What a long text is made of, by repeating it."""


def document(text: str, line_map: tuple[int, ...] | None = None) -> Document:
    """A note of this text."""
    ref = DocumentRef("memory", "memory/note.md", "/workspace/memory/note.md", "0 0 0 0")
    return Document(ref, text, "", line_map=line_map)


def _cut(chunker: Chunker, text: str) -> list[Chunk]:
    return list(chunker.chunk(document(text)))


def lines_of(text: str) -> list[str]:
    """Its lines, which end at line feeds; a carriage return before one is part of the end."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def texts() -> st.SearchStrategy[str]:
    """Markdown and anything else, put together of pieces that are hard to cut; no surrogates."""
    pieces = st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join)
    return pieces.map(lambda text: re.sub("[\ud800-\udfff]", "?", text))


_LARGEST = 4
_SIZES = st.builds(
    ChunkerContext, size=st.integers(32, 600), overlap=st.integers(0, 100), config=st.none()
)


def _covers(text: str, chunks: Sequence[Chunk]) -> bool:
    """Whether the chunks can be laid, in order, so that no word stays outside of them."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    reached = 0
    for chunk in chunks:
        first, stop = starts[chunk.start_line - 1], starts[chunk.end_line] - 1
        # As late as leaves no word out: what is repeated may stand in several places.
        next_word = reached + len(text[reached:]) - len(text[reached:].lstrip())
        at = text.rfind(chunk.text, first, min(stop, next_word + len(chunk.text)))
        if at < 0:
            return False
        reached = max(reached, at + len(chunk.text))
    return not text[reached:].strip()


def _is_linear(chunker: Chunker, piece: str) -> bool:
    small, large = (_seconds(chunker, piece * (size // len(piece))) for size in (12_000, 48_000))
    # A little is added so that the grain of the clock does not decide over very fast texts.
    return large < 10 * small + 0.004


def _seconds(chunker: Chunker, text: str) -> float:
    """Seconds of this thread, the less of two tries."""
    tries = []
    for _ in range(2):
        before = time.thread_time()
        chunker.chunk(document(text))
        tries.append(time.thread_time() - before)
    return min(tries)


class ChunkerConformance(Laws):
    """All that a chunker promises: subclass it, name the class ``Test...``, define one method.

    ``make_chunker(context)`` makes the chunker; a registration's factory will do. ``variants()``
    may add settings of its own that its fingerprint has to tell apart. ``settings`` are
    Hypothesis's, for chunkers that are slow or to be tested harder.
    """

    subject: ClassVar[str] = "chunker"

    def make_chunker(self, context: ChunkerContext) -> Chunker:
        """Make the chunker, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_chunker(context)")

    def variants(self) -> Mapping[str, ChunkerContext]:
        """Settings of which one is not as usual, by its name; add those of your own section."""
        return {
            "size": USUAL._replace(size=USUAL.size // 2),
            "size by a little": USUAL._replace(size=USUAL.size + 1),
            "overlap": USUAL._replace(overlap=0),
            "overlap by a little": USUAL._replace(overlap=USUAL.overlap + 20),
        }

    @contextmanager
    def opened(self) -> Iterator[Chunker]:
        """A chunker of a usual size."""
        yield self.make_chunker(USUAL)

    @law(text=texts(), context=_SIZES)
    def test_no_word_is_lost(self, chunker: Chunker, text: str, context: ChunkerContext) -> None:
        """Every character that is not white space is in a chunk, of whatever size."""
        del chunker
        assert _covers(text, self.make_chunker(context).chunk(document(text)))

    @law(text=texts())
    def test_lines_are_true(self, chunker: Chunker, text: str) -> None:
        """A chunk's text is a contiguous piece of the lines that it says, and begins in the first.

        It ends in the last. Lines end at line feeds, with or without a carriage return.
        """
        lines = text.split("\n")
        for chunk in chunker.chunk(document(text)):
            assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
            held = lines[chunk.start_line - 1 : chunk.end_line]
            at = "\n".join(held).find(chunk.text)
            assert at >= 0, "not a piece of its lines"
            begins = any(
                "\n".join(held).startswith(chunk.text, place) for place in range(len(held[0]) + 1)
            )
            assert begins, "it begins on a later line"
            assert chunk.text.count("\n") == len(held) - 1, "it ends on an earlier line"

    @law(text=texts())
    def test_chunks_come_in_the_order_of_the_text(self, chunker: Chunker, text: str) -> None:
        """No chunk begins before the one before it, and none is of white space alone."""
        chunks = chunker.chunk(document(text))
        starts = [chunk.start_line for chunk in chunks]
        assert starts == sorted(starts)
        assert [chunk.end_line for chunk in chunks] == sorted(chunk.end_line for chunk in chunks)
        assert all(chunk.text.strip() for chunk in chunks)

    @law(text=st.text(" \t\n\r\f\v\x1c\x85\u00a0\u2028\u3000", max_size=80))
    def test_a_blank_document_has_no_chunks(self, chunker: Chunker, text: str) -> None:
        """Where there is no word there is nothing to find."""
        assert list(chunker.chunk(document(text))) == []

    @law(text=texts(), context=_SIZES)
    def test_chunks_are_about_as_large_as_asked(
        self, chunker: Chunker, text: str, context: ChunkerContext
    ) -> None:
        """A chunk is not longer than four times ``size``, and a text that fits is one chunk."""
        del chunker
        other = self.make_chunker(context)
        chunks = other.chunk(document(text))
        assert all(len(chunk.text) <= _LARGEST * context.size for chunk in chunks)
        assert len(other.chunk(document("the ant"))) == 1

    @law(text=texts())
    def test_headings_are_texts(self, chunker: Chunker, text: str) -> None:
        """The path of headings is a tuple of texts of one line, each with something in it."""
        for chunk in chunker.chunk(document(text)):
            assert isinstance(chunk.heading, tuple)
            assert all(heading.strip() and "\n" not in heading for heading in chunk.heading)

    @law(text=texts(), step=st.integers(0, 5))
    def test_a_line_map_changes_line_numbers_alone(
        self, chunker: Chunker, text: str, step: int
    ) -> None:
        """Where lines of the text are other lines of the file, chunks name those of the file."""
        line_map = tuple(7 + at * step for at in range(len(lines_of(text))))
        plain = chunker.chunk(document(text))
        assert list(chunker.chunk(document(text, line_map))) == [
            chunk._replace(
                start_line=line_map[chunk.start_line - 1], end_line=line_map[chunk.end_line - 1]
            )
            for chunk in plain
        ]

    @law(text=texts())
    def test_the_same_text_is_cut_alike(self, chunker: Chunker, text: str) -> None:
        """Again, also after another document, and by another chunker of the same settings."""
        chunks = list(chunker.chunk(document(text)))
        assert list(chunker.chunk(document(text))) == chunks
        other = self.make_chunker(USUAL)
        other.chunk(document("# Another\n\ntext\n" * 9))
        assert list(other.chunk(document(text))) == chunks

    @law()
    def test_threads_get_their_own_chunks(self, chunker: Chunker) -> None:
        """Of other documents, cut in several threads at once, by one chunker."""
        texts = [
            f"# Heading {at}\n\n{f'word {at} and ' * 60}\n\n## Sub {at}\n\nmore" for at in range(6)
        ]
        answers_alike(chunker, [partial(_cut, chunker, text) for text in texts])

    @law()
    def test_a_document_may_be_large(self, chunker: Chunker) -> None:
        """Of hundreds of kilobytes every word is in a chunk, with its true lines and headings."""
        sections = [f"# Section {at}\n\n{f'word{at} of the text, ' * 30}\n" for at in range(500)]
        text = "".join(sections)
        chunks = chunker.chunk(document(text))
        assert _covers(text, chunks)
        lines = text.split("\n")
        for chunk in chunks:
            assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        line = "a line of one word after another " * 9_000
        assert _covers(line, chunker.chunk(document(line)))

    @law()
    def test_each_setting_is_a_part_of_the_fingerprint(self, chunker: Chunker) -> None:
        """Where one setting alone is another and any text is cut otherwise, it differs."""
        del chunker
        text = "".join(f"{fragment}\n\nword and word" for fragment in _FRAGMENTS) * 9
        usual = self.make_chunker(USUAL)
        for name, context in self.variants().items():
            other = self.make_chunker(context)
            if _cut(usual, text) != _cut(other, text):
                assert usual.fingerprint != other.fingerprint, f"it forgets {name}"

    @law()
    def test_another_process_cuts_alike(self, chunker: Chunker) -> None:
        """Chunks and fingerprint hang on no hash seed and no address: both are kept on disk."""
        same_elsewhere(self, chunker, "_cut_by_a_new_one")

    def _cut_by_a_new_one(self) -> object:
        chunker = self.make_chunker(USUAL)
        return chunker.fingerprint, _cut(chunker, "\n".join(_FRAGMENTS) * 3)

    @law(text=texts(), one=_SIZES, other=_SIZES)
    def test_the_fingerprint_tells_settings_apart(
        self, chunker: Chunker, text: str, one: ChunkerContext, other: ChunkerContext
    ) -> None:
        """Where any text is cut otherwise the fingerprint differs; it is one line, and stays."""
        assert chunker.fingerprint.strip()
        assert "\n" not in chunker.fingerprint
        assert chunker.fingerprint == self.make_chunker(USUAL).fingerprint
        long = text + "\n\nword and word" * 99
        cut = [self.make_chunker(context) for context in (one, other)]
        if cut[0].chunk(document(long)) != cut[1].chunk(document(long)):
            assert cut[0].fingerprint != cut[1].fingerprint

    @law()
    def test_time_is_in_proportion_to_the_text(self, chunker: Chunker) -> None:
        """Four times the text takes less than ten times as long, whatever it is made of.

        Time that grows with the square would take sixteen times. Of three tries one is enough,
        for the machine may be busy.
        """
        for name, piece in NASTY.items():
            assert any(_is_linear(chunker, piece) for _ in range(3)), name
