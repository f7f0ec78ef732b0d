from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.model.chunks import Chunk
from commonplace.testing import ChunkerConformance
from commonplace_chunkers.lines import LinesChunker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.documents import Document
    from commonplace.protocols.contexts import ChunkerContext


class Sound(LinesChunker):
    """What is broken below: it keeps every law as it is."""

    def __init__(self, context: ChunkerContext) -> None:
        super().__init__(context.size, context.overlap)
        self.calls = count()

    def chunk(self, document: Document) -> Sequence[Chunk]:
        return [self.twisted(chunk) for chunk in super().chunk(document)]

    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk


class LosesTheLast(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        chunks = super().chunk(document)
        return chunks[:-1] if len(chunks) > 1 else chunks


class LosesTheFirstWord(Sound):
    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk._replace(text=chunk.text.lstrip().partition(" ")[2] or chunk.text)


class CountsLinesFrom0(Sound):
    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk._replace(start_line=chunk.start_line - 1, end_line=chunk.end_line - 1)


class SaysMoreLines(Sound):
    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk._replace(start_line=1)


class TidiesUp(Sound):
    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk._replace(text=" ".join(chunk.text.split()))


class SplitsAsPythonDoes(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        text = "\n".join(document.text.splitlines())
        return super().chunk(document._replace(text=text))


class ComesBackwards(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        return super().chunk(document)[::-1]


class KeepsWhatIsBlank(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        return super().chunk(document) or [Chunk(1, document.text.count("\n") + 1, document.text)]


class MakesOneOfAll(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        if not document.text.strip():
            return []
        return [Chunk(1, document.text.count("\n") + 1, document.text)]


class GivesOneHeading(Sound):
    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk._replace(heading=cast("Any", "Heading"))


class ForgetsTheMap(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        return super().chunk(document._replace(line_map=None))


class GoesOnCounting(Sound):
    def twisted(self, chunk: Chunk) -> Chunk:
        return chunk._replace(heading=(f"part {next(self.calls)}",))


class ForgetsItsOverlap(Sound):
    @property
    def fingerprint(self) -> str:
        return f"lines-1(size={self._size})"


class ForgetsItsSettings(Sound):
    @property
    def fingerprint(self) -> str:
        return "lines-1"


class LooksBackAgainAndAgain(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        text = document.text
        for at in range(0, len(text), 4):
            text[:at].upper()
        return super().chunk(document)


class StopsAt64K(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        return super().chunk(document._replace(text=document.text[:65_536]))


class KeepsAHundred(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        return super().chunk(document)[:100]


class SharesItsDocument(Sound):
    def chunk(self, document: Document) -> Sequence[Chunk]:
        self.document = document
        return super().chunk(self.document)


class NamesItsSizeInHundreds(Sound):
    @property
    def fingerprint(self) -> str:
        return f"lines-1(size={self._size // 100}, overlap={self._overlap})"


class NamesThatItOverlaps(Sound):
    @property
    def fingerprint(self) -> str:
        return f"lines-1(size={self._size}, overlap={self._overlap > 0})"


class IsNamedByHash(Sound):
    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint} {hash(super().fingerprint)}"


class IsNamedByAddress(Sound):
    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint} {id(type(self))}"


BROKEN: list[tuple[type[Sound], str]] = [
    (LosesTheLast, "test_no_word_is_lost"),
    (LosesTheFirstWord, "test_no_word_is_lost"),
    (CountsLinesFrom0, "test_lines_are_true"),
    (SaysMoreLines, "test_lines_are_true"),
    (TidiesUp, "test_lines_are_true"),
    (SplitsAsPythonDoes, "test_lines_are_true"),
    (ComesBackwards, "test_chunks_come_in_the_order_of_the_text"),
    (KeepsWhatIsBlank, "test_a_blank_document_has_no_chunks"),
    (MakesOneOfAll, "test_chunks_are_about_as_large_as_asked"),
    (GivesOneHeading, "test_headings_are_texts"),
    (ForgetsTheMap, "test_a_line_map_changes_line_numbers_alone"),
    (GoesOnCounting, "test_the_same_text_is_cut_alike"),
    (ForgetsItsOverlap, "test_the_fingerprint_tells_settings_apart"),
    (ForgetsItsSettings, "test_the_fingerprint_tells_settings_apart"),
    (LooksBackAgainAndAgain, "test_time_is_in_proportion_to_the_text"),
    (StopsAt64K, "test_a_document_may_be_large"),
    (KeepsAHundred, "test_a_document_may_be_large"),
    (SharesItsDocument, "test_threads_get_their_own_chunks"),
    (NamesItsSizeInHundreds, "test_each_setting_is_a_part_of_the_fingerprint"),
    (NamesThatItOverlaps, "test_each_setting_is_a_part_of_the_fingerprint"),
    (IsNamedByHash, "test_another_process_cuts_alike"),
    (IsNamedByAddress, "test_another_process_cuts_alike"),
]


class Bench(ChunkerConformance):
    def __init__(self, broken: type[Sound]) -> None:
        self.broken = broken

    def make_chunker(self, context: ChunkerContext) -> Sound:
        return self.broken(context)


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(Sound), law, lambda: "", 8) == "kept"


def test_every_law_can_fail(all_laws: Callable[[type], set[str]]) -> None:
    assert {law for _, law in BROKEN} == all_laws(ChunkerConformance)
