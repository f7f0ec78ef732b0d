"""Laws about where chunks begin and end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from commonplace.protocols.contexts import ChunkerContext
from commonplace.testing.chunker.law import (
    NASTY,
    USUAL,
    ChunkerLaws,
    document,
    law,
    lines_of,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.chunks import Chunk
    from commonplace.protocols.sources import Chunker

__all__ = ["CuttingLaws"]

_LARGEST = 4
_SIZES = st.builds(
    ChunkerContext, size=st.integers(32, 600), overlap=st.integers(0, 100), config=st.none()
)


class CuttingLaws(ChunkerLaws):
    """Every word is in a chunk, and every chunk is a piece of its lines."""

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
        """Again, by another chunker of the same settings, and in other threads."""
        chunks = list(chunker.chunk(document(text)))
        assert list(chunker.chunk(document(text))) == chunks
        other = self.make_chunker(USUAL)
        other.chunk(document("# Another\n\ntext\n" * 9))
        assert list(other.chunk(document(text))) == chunks
        with ThreadPoolExecutor(2) as pool:
            cut = pool.map(lambda _: list(chunker.chunk(document(text))), range(2))
            assert all(one == chunks for one in cut)

    @law(text=texts(), one=_SIZES, other=_SIZES)
    def test_the_fingerprint_tells_settings_apart(
        self, chunker: Chunker, text: str, one: ChunkerContext, other: ChunkerContext
    ) -> None:
        """Where any text is cut otherwise, the fingerprint is another; it is one line, and stays.

        Documents are not made again as long as it is the same.
        """
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
