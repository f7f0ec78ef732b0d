"""Laws about documents that grow at their end, for sources that say theirs do."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from hypothesis import strategies as st

from commonplace.protocols.contexts import SourceContext
from commonplace.testing.source.law import SourceLaws, law

if TYPE_CHECKING:
    from commonplace.model.documents import DocumentRef, Segment
    from commonplace.protocols.sources import GrowingSource, Source

__all__ = ["GrowthLaws"]

_LONG = "the ant and the bee " * 1_500
_TEXTS = st.lists(st.sampled_from(("the ant", "the bee", _LONG)), min_size=1, max_size=5)
_HUGE = 1 << 40


class GrowthLaws(SourceLaws):
    """``due`` and ``segments``."""

    @law("grows", texts=_TEXTS)
    def test_its_pieces_are_what_is_read(self, source: Source, texts: list[str]) -> None:
        """The pieces' texts and lines make up those of ``read``; each knows how far it goes.

        All but the last have a place, the size up to there, the checksum of so many bytes, and
        times of -1; the last has no place, and the file's stamp and checksum.
        """
        raw, ref = self._put(source, texts)
        pieces = _pieces(source, ref)
        whole = source.read(ref)
        assert whole is not None
        assert "\n".join(_texts(pieces)) == whole.text
        if whole.line_map is not None:
            lines = [line for piece in pieces for line in piece.document.line_map or ()]
            assert tuple(lines) == whole.line_map
        *others, last = pieces
        assert (last.place, last.document.ref) == ("", whole.ref)
        assert (last.document.digest, last.document.day) == (whole.digest, whole.day)
        assert {piece.document.trust for piece in pieces} == {whole.trust}
        sizes = [piece.document.ref.stamp[0] for piece in pieces]
        assert sizes == sorted(sizes)
        for piece in others:
            size, modified, changed, _ = piece.document.ref.stamp
            assert piece.place
            assert (modified, changed) == (-1, -1)
            assert piece.document.digest == sha256(raw[:size]).hexdigest()

    @law("grows", texts=_TEXTS, more=_TEXTS, cut=st.floats(0, 1))
    def test_what_was_before_stays_as_it_is(
        self, source: Source, texts: list[str], more: list[str], cut: float
    ) -> None:
        """Whatever is added, be it half a line, all pieces but the last are the same.

        To go on after any of them gives what follows it from the beginning.
        """
        raw, ref = self._put(source, texts)
        before = _pieces(source, ref)[:-1]
        added = b"".join(map(self.bytes_of, more))
        self._grow(raw + added[: int(len(added) * cut)])
        ref = self.ref(source, self.file_of("a"))
        after = _pieces(source, ref)
        assert after[: len(before)] == before
        for number, piece in enumerate(after[:-1], 1):
            assert _pieces(source, ref, piece.place) == after[number:]

    @law("grows", where=st.floats(0, 1, exclude_max=True))
    def test_what_is_not_the_same_is_not_gone_on_with(self, source: Source, where: float) -> None:
        """``None`` where any byte before the place is another, or the file ends before it.

        So it is for a place that this source has never given.
        """
        raw, ref = self._put(source, [_LONG] * 4)
        others = _pieces(source, ref)[:-1]
        assert others, "a document of so many texts has one piece"
        for piece in others:
            size = piece.document.ref.stamp[0]
            at = int(size * where)
            for other in (
                raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :],
                raw[: size - 1],
                raw[:at] + raw[at + 1 :],
            ):
                self.files.write(self.file_of("a"), other)
                again = self.ref(source, self.file_of("a"))
                with _growing(source).segments(again, piece.place) as segments:
                    assert segments is None
            self.files.write(self.file_of("a"), raw)
        with _growing(source).segments(ref, "no place of mine") as segments:
            assert segments is None

    @law("grows")
    def test_what_has_vanished_has_no_pieces(self, source: Source) -> None:
        """``None``, and no error, for what has gone since the scan."""
        _, ref = self._put(source, [_LONG] * 4)
        place = _pieces(source, ref)[0].place
        self.files.delete(self.file_of("a"))
        for after in ("", place):
            with _growing(source).segments(ref, after) as segments:
                assert segments is None

    @law("grows")
    def test_it_is_due_when_it_has_grown_enough(self, source: Source) -> None:
        """By ``delta_bytes`` or ``delta_messages``; what is not the file it was always is.

        Size and inode of the stamp it was indexed with are enough to tell.
        """
        raw, ref = self._put(source, ["the ant"] * 3)
        file = self.file_of("a")
        patient = self.make_source(SourceContext(self.files.path, "main", (), (), None, _HUGE, 99))
        soon = self.make_source(SourceContext(self.files.path, "main", (), (), None, len(raw), 99))
        indexed = (ref.stamp[0], -1, -1, ref.stamp[3])
        self._grow(raw + self.bytes_of("the bee"))
        for stamp in (ref.stamp, indexed):
            grown = self.ref(source, file)
            assert _growing(source).due(grown, stamp)
            assert not _growing(patient).due(grown, stamp)
            assert not _growing(soon).due(grown, stamp)
        self._grow(raw + raw)
        assert _growing(soon).due(self.ref(source, file), indexed)
        assert not _growing(patient).due(self.ref(source, file), indexed)
        self._grow(raw[:-1])
        assert _growing(patient).due(self.ref(source, file), indexed)
        other = os.path.join(self.files.path, f"{file}.other")
        with open(other, "wb") as written:
            written.write(raw + self.bytes_of("the bee"))
        os.replace(other, os.path.join(self.files.path, file))
        assert _growing(patient).due(self.ref(source, file), indexed)

    def _put(self, source: Source, texts: list[str]) -> tuple[bytes, DocumentRef]:
        raw = b"".join(map(self.bytes_of, texts))
        self.files.write(self.file_of("a"), raw)
        return raw, self.ref(source, self.file_of("a"))

    def _grow(self, raw: bytes) -> None:
        """Give the file these bytes; it stays the same file."""
        with open(os.path.join(self.files.path, self.file_of("a")), "r+b") as opened:
            opened.write(raw)
            opened.truncate(len(raw))


def _growing(source: Source) -> GrowingSource:
    return cast("GrowingSource", source)


def _pieces(source: Source, ref: DocumentRef, after: str = "") -> list[Segment]:
    with _growing(source).segments(ref, after) as segments:
        assert segments is not None, "a document that is there is said to have vanished"
        return list(segments)


def _texts(pieces: list[Segment]) -> list[str]:
    return [piece.document.text for piece in pieces if piece.document.text]
