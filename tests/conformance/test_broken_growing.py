from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from commonplace.files.roots import FileStamp, file_stamp
from commonplace.model.documents import Segment
from commonplace.testing import SourceConformance
from commonplace.testing.source import GrowthLaws
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from commonplace.model.documents import Document, DocumentRef, Stamp
    from commonplace.protocols.contexts import SourceContext

SIZE = 20_000


def parts(stamp: Stamp) -> FileStamp:
    """What a stamp says of its file."""
    file = file_stamp(stamp)
    assert file is not None
    return file


class Sound(NotesSource):
    """Notes that grow line by line, in pieces of some 20,000 bytes; it keeps every law."""

    capabilities = frozenset({"watched", "growing"})

    def __init__(self, context: SourceContext) -> None:
        super().__init__(context.workspace)
        self.bytes: int
        self.messages: int
        self.bytes, self.messages = context.config

    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        return document and document._replace(text=document.text.removesuffix("\n"))

    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        now, before = parts(ref.stamp), parts(indexed)
        size, grown = before.size, now.size - before.size
        if grown <= 0 or before.inode != now.inode or grown >= self.bytes:
            return True
        with open(ref.location, "rb") as file:
            return file.read()[size:].count(b"\n") >= self.messages

    @contextmanager
    def segments(
        self, ref: DocumentRef, after: str = ""
    ) -> Generator[Iterator[Segment] | None, None, None]:
        document = self.read(ref)
        if document is None:
            yield None
            return
        with open(ref.location, "rb") as file:
            raw = file.read()
        begin = self.begin(raw, after) if after else 0
        yield None if begin is None else self.pieces(document, raw, begin)

    def begin(self, raw: bytes, after: str) -> int | None:
        end, _, digest = after.partition(" ")
        if not end.isdecimal() or len(raw) < int(end):
            return None
        return int(end) if self.digest(raw, 0, int(end)) == digest else None

    def digest(self, raw: bytes, begin: int, end: int) -> str:
        del begin
        return sha256(raw[:end]).hexdigest()

    def ends(self, raw: bytes) -> list[int]:
        ends, at, begin = [], 0, 0
        for line in raw.split(b"\n")[:-1]:
            at += len(line) + 1
            if at - begin >= SIZE:
                ends.append(at)
                begin = at
        return ends

    def pieces(self, document: Document, raw: bytes, begin: int) -> Iterator[Segment]:
        for end in self.ends(raw):
            if end > begin:
                stamp = FileStamp(end, -1, -1, parts(document.ref.stamp).inode).text
                digest = self.digest(raw, begin, end)
                piece = document._replace(ref=document.ref._replace(stamp=stamp), digest=digest)
                yield self.piece(Segment(piece, f"{end} {digest}"), raw[begin : end - 1])
                begin = end
        yield self.piece(Segment(document), raw[begin:].removesuffix(b"\n"))

    def piece(self, segment: Segment, raw: bytes) -> Segment:
        return segment._replace(document=segment.document._replace(text=raw.decode()))


class SaysTheWholeEachTime(Sound):
    def piece(self, segment: Segment, raw: bytes) -> Segment:
        return segment


class HashesThePiece(Sound):
    def digest(self, raw: bytes, begin: int, end: int) -> str:
        return sha256(raw[begin:end]).hexdigest()


class GivesTheLastAPlace(Sound):
    def piece(self, segment: Segment, raw: bytes) -> Segment:
        return super().piece(segment._replace(place=segment.place or "0 "), raw)


class StampsEachPieceAlike(Sound):
    def pieces(self, document: Document, raw: bytes, begin: int) -> Iterator[Segment]:
        for segment in super().pieces(document, raw, begin):
            piece = segment.document._replace(ref=document.ref)
            yield segment._replace(document=piece)


class CutsInHalves(Sound):
    def ends(self, raw: bytes) -> list[int]:
        half = raw.rfind(b"\n", 0, len(raw) // 2) + 1
        return [half] if half else []


class ClosesTheLastPieceSoon(Sound):
    def ends(self, raw: bytes) -> list[int]:
        last = raw.rfind(b"\n") + 1
        return sorted({*super().ends(raw), last} - {0})


class BeginsAgain(Sound):
    def begin(self, raw: bytes, after: str) -> int | None:
        return None if super().begin(raw, after) is None else 0


class TrustsTheSize(Sound):
    def begin(self, raw: bytes, after: str) -> int | None:
        end = after.partition(" ")[0]
        return int(end) if end.isdecimal() and len(raw) >= int(end) else None


class ComparesTheEnd(TrustsTheSize):
    def begin(self, raw: bytes, after: str) -> int | None:
        end = super().begin(raw, after)
        return end if end is None or raw[end - 1 : end] == b"\n" else None


class FailsForWhatHasGone(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        with open(ref.location, "rb"):
            return super().read(ref)


class IsAlwaysDue(Sound):
    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        return True


class KnowsFilesByName(Sound):
    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        return super().due(ref, parts(indexed)._replace(inode=parts(ref.stamp).inode).text)


class WaitsForGrowthAlone(Sound):
    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        return parts(ref.stamp).size >= parts(indexed).size and super().due(ref, indexed)


BROKEN: list[tuple[type[Sound], str]] = [
    (SaysTheWholeEachTime, "test_its_pieces_are_what_is_read"),
    (HashesThePiece, "test_its_pieces_are_what_is_read"),
    (GivesTheLastAPlace, "test_its_pieces_are_what_is_read"),
    (StampsEachPieceAlike, "test_its_pieces_are_what_is_read"),
    (CutsInHalves, "test_what_was_before_stays_as_it_is"),
    (ClosesTheLastPieceSoon, "test_what_was_before_stays_as_it_is"),
    (BeginsAgain, "test_what_was_before_stays_as_it_is"),
    (TrustsTheSize, "test_what_is_not_the_same_is_not_gone_on_with"),
    (ComparesTheEnd, "test_what_is_not_the_same_is_not_gone_on_with"),
    (FailsForWhatHasGone, "test_what_has_vanished_has_no_pieces"),
    (IsAlwaysDue, "test_it_is_due_when_it_has_grown_enough"),
    (KnowsFilesByName, "test_it_is_due_when_it_has_grown_enough"),
    (WaitsForGrowthAlone, "test_it_is_due_when_it_has_grown_enough"),
]


class Bench(SourceConformance):
    def __init__(self, broken: type[Sound]) -> None:
        self.broken = broken

    def make_source(self, context: SourceContext) -> Sound:
        return self.broken(context)

    def growth(self, size: int, messages: int) -> tuple[int, int]:
        return size, messages

    def bytes_of(self, text: str) -> bytes:
        return f"{text}\n".encode()


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(Sound), law, lambda: "", 20) == "kept"


def test_every_law_can_fail(laws: Callable[[type], set[str]]) -> None:
    assert {law for _, law in BROKEN} == laws(GrowthLaws)
