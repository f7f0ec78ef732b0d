"""The laws of sources: scanning, and documents that grow."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, cast

from hypothesis import strategies as st

from commonplace.files.roots import Roots, file_stamp, stamp_of
from commonplace.model.search import cited
from commonplace.search.citations import Readable, read_cited
from commonplace.sync.folders import Relevance
from commonplace.testing.laws import law
from commonplace.testing.source_laws import ReadLaws, SourceLaws, planned, watched_files
from commonplace.testing.source_pressure import PressureLaws
from commonplace.testing.strategies import HOSTILE_PATHS

if TYPE_CHECKING:
    from commonplace.files.roots import FileStamp
    from commonplace.model.documents import DocumentRef, Segment, Stamp
    from commonplace.protocols.parts import GrowingSource, PartialSource, Source, WatchedSource


class ScanLaws(SourceLaws):
    """``scan``."""

    @law()
    def test_it_says_what_it_is(self, source: Source) -> None:
        """An id as in its entry point, a version that stays, and capabilities that there are."""
        assert source.capabilities <= {"watched", "partial", "growing", "readable"}
        assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", source.id)
        assert source.id == (self.registered_as or source.id), f"its id is {source.id!r}"
        assert source.version.strip()
        before = source.id, source.version
        self.put("a", "the ant")
        self.read(source, "a")
        assert (source.id, source.version) == before

    @law()
    def test_every_document_is_found(self, source: Source) -> None:
        """Each once, with its source, a path of its own and a stamp.

        The stamp of a file is that of :func:`~commonplace.plugin.stamp_of`.
        """
        for name in "abc":
            self.put(name, f"the ant {name}")
        assert self.found(source, "abc") == ["a", "b", "c"]
        refs = source.scan().documents
        assert len({ref.path for ref in refs}) == 3
        for ref in refs:
            assert ref.source == source.id
            assert ref.path
            assert not ref.path.startswith("/")
            assert ref.stamp
            assert type(ref.stamp) is str
            if self.of_files:
                assert ref.stamp == stamp_of(os.stat(ref.location))

    @law("files")
    def test_looking_opens_nothing(self, source: Source) -> None:
        """A scan is by ``stat`` alone: it opens no document, however many there are."""
        names = ("watched-a", "watched-b")
        for name in names:
            self.put(name, "the ant")
        with watched_files([os.path.basename(self.file_of(name)) for name in names]) as opened:
            assert len(source.scan().documents) == 2
        assert opened == []

    @law("watched", "files")
    def test_documents_lie_where_it_is_watched(self, source: WatchedSource) -> None:
        """What is named before there are any documents holds those that come, and stays.

        Places are absolute; a document's file is one of them, or lies below one.
        """
        before = Relevance(source.watched())
        for name in "ab":
            self.put(name, "the ant")
        after = Relevance(source.watched())
        assert all(os.path.isabs(place.location) for place in source.watched())
        for location in map(self.location, self.found(source, "ab")):
            assert before.is_document(location), f"a new {location} is not watched for"
            assert after.is_document(location), f"{location} is not watched"

    @law("watched", "partial", "files")
    def test_a_look_at_some_finds_what_a_scan_does(self, source: PartialSource) -> None:
        """Paths that changed are found as by a scan, unless only one can tell.

        What is gone was looked for, and nothing is said of any other.
        """
        for name in "abc":
            self.put(name, "the ant")
        before = {ref.location: ref.path for ref in source.scan().documents}
        self.put("a", "the wasp")
        self.remove("b")
        self.put("d", "the ant")
        locations = {self.location(name) for name in "abd"}
        now = source.scan()
        found = source.scan_paths(locations)
        assert source.scan_paths([os.path.dirname(self.location("a"))]) is None, "a folder"
        if found is None:
            return
        assert [*found.documents] == [ref for ref in now.documents if ref.location in locations]
        assert {ref.path for ref in found.documents} <= {*found.complete_roots}
        assert before[self.location("b")] in found.complete_roots
        assert before[self.location("c")] not in found.complete_roots
        assert "" not in found.complete_roots

    @law()
    def test_looking_again_finds_the_same(self, source: Source) -> None:
        """While nothing changes, nothing seems to: the same documents with the same stamps."""
        for name in "abc":
            self.put(name, "the ant")
        before = source.scan()
        assert source.scan() == before
        assert planned(source, before).size == 0

    @law()
    def test_where_there_is_nothing_nothing_is_found(self, source: Source) -> None:
        """No documents are no error."""
        assert source.scan().documents == ()

    @law("files")
    def test_other_files_are_none_of_its_documents(self, source: Source) -> None:
        """A file of another kind, and a folder that is called as a document, are left out."""
        self.put("a", "the ant")
        self.files.write(f"{self.file_of('a')}.other", "the ant")
        os.makedirs(self.location("folder"))
        assert self.found(source, "a") == ["a"]

    @law()
    def test_a_deleted_document_is_known_to_be_gone(self, source: Source) -> None:
        """What its owner deleted can be forgotten: all that lies around it was seen to its end."""
        self.put("a", "the ant")
        self.put("b", "the bee")
        before = source.scan()
        path = self.ref(source, "b").path
        self.remove("b")
        plan = planned(source, before)
        assert [document.path for document in plan.gone] == [path]
        assert plan.hidden == 0
        assert self.found(source, "ab") == ["a"]

    @law()
    def test_an_unmounted_folder_hides_its_documents(self, source: Source) -> None:
        """Where it is missing, nothing is concluded or raised; later all is as before."""
        for name in "ab":
            self.put(name, "the ant")
        before = source.scan()
        self.hide()
        try:
            plan = planned(source, before)
            assert (plan.gone, plan.hidden) == ((), 2)
            report = source.scan()
            assert report.failed_roots or report.absent_roots, "nothing says why"
        finally:
            self.show()
        assert source.scan() == before

    @law("files")
    def test_hostile_names_are_kept_to_the_letter(self, source: Source) -> None:
        """Whatever name a file can have, its path is its own, can be stored, and can be read."""
        names = {path.removeprefix("memory/").replace("/", "-") for path in HOSTILE_PATHS}
        known = [name.removesuffix(".md") for name in sorted(names)]
        known = [name for name in known if self.files.can_name(self.file_of(name))]
        for number, name in enumerate(known):
            self.put(name, f"the ant number {number}.")
        refs = source.scan().documents
        assert len({ref.path for ref in refs}) == len(refs) == len(known)
        for number, name in enumerate(known):
            ref, document = self.ref(source, name), self.read(source, name)
            assert f"the ant number {number}." in document.text
            assert document.ref.path == ref.path
            assert ref.path.encode()
            assert os.path.basename(self.file_of(name)) in ref.path

    @law("readable", "files", text=st.sampled_from(("the ant", "the bee: and: more", "ant " * 900)))
    def test_what_is_cited_can_be_read_on(self, source: Source, text: str) -> None:
        """The path and the lines that a hit cites lead back to its words, and to no other text.

        A line of the file holds all words that ``read`` made of it.
        """
        for name in ("a", "a.b", "2026-01-31"):
            self.put(name, f"{text} {name}")
        readable = Readable(Roots(self.files.path, own=False), tuple, [source])
        for ref in source.scan().documents:
            document = source.read(ref)
            assert document is not None
            whole = read_cited(readable, ref.path)
            assert (whole.path, whole.trust) == (ref.path, document.trust)
            texts = document.text.split("\n")
            for number, line in zip(document.line_map or count(1), texts, strict=False):
                read = read_cited(readable, cited(ref.path, number, number))
                assert (read.path, read.start_line) == (ref.path, number)
                assert set(line.split()) <= set(read.text.split())
            assert set(whole.text.split()) <= set(document.text.split())

    @law()
    def test_nothing_is_written(self, source: Source) -> None:
        """Looking and reading leave all files as they are, and add none."""
        self.put("a", "the ant")
        before = self.files.contents()
        source.scan()
        self.read(source, "a")
        assert self.files.contents() == before


_LONG = "the ant and the bee " * 1_500
_TEXTS = st.lists(st.sampled_from(("the ant", "the bee", _LONG)), min_size=1, max_size=5)
_HUGE = 1 << 40


class GrowthLaws(SourceLaws):
    """``due`` and ``segments``."""

    @law("growing", "files", texts=_TEXTS)
    def test_its_pieces_are_what_is_read(self, source: GrowingSource, texts: list[str]) -> None:
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
        stamps = [file_of_stamp(piece.document.ref.stamp) for piece in pieces]
        sizes = [stamp.size for stamp in stamps]
        assert sizes == sorted(sizes)
        for piece, (size, modified, changed, _) in zip(others, stamps, strict=False):
            assert piece.place
            assert (modified, changed) == (-1, -1)
            assert piece.document.digest == sha256(raw[:size]).hexdigest()

    @law("growing", "files", texts=_TEXTS, more=_TEXTS, cut=st.floats(0, 1))
    def test_what_was_before_stays_as_it_is(
        self, source: GrowingSource, texts: list[str], more: list[str], cut: float
    ) -> None:
        """Whatever is added, all pieces but the last stay; to go on after one gives the rest."""
        raw, ref = self._put(source, texts)
        before = _pieces(source, ref)[:-1]
        added = b"".join(map(self.bytes_of, more))
        self._grow(raw + added[: int(len(added) * cut)])
        ref = self.ref(source, "a")
        after = _pieces(source, ref)
        assert after[: len(before)] == before
        for number, piece in enumerate(after[:-1], 1):
            assert _pieces(source, ref, piece.place) == after[number:]

    @law("growing", "files", where=st.floats(0, 1, exclude_max=True))
    def test_what_is_not_the_same_is_not_gone_on_with(
        self, source: GrowingSource, where: float
    ) -> None:
        """``None`` where a byte before the place differs or is missing, or the place is unknown."""
        raw, ref = self._put(source, [_LONG] * 4)
        others = _pieces(source, ref)[:-1]
        assert others, "a document of so many texts has one piece"
        for piece in others:
            size = file_of_stamp(piece.document.ref.stamp).size
            at = int(size * where)
            for other in (
                raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :],
                raw[: size - 1],
                raw[:at] + raw[at + 1 :],
            ):
                self.files.write(self.file_of("a"), other)
                again = self.ref(source, "a")
                with source.segments(again, piece.place) as segments:
                    assert segments is None
            self.files.write(self.file_of("a"), raw)
        with source.segments(ref, "no place of mine") as segments:
            assert segments is None

    @law("growing", "files")
    def test_what_has_vanished_has_no_pieces(self, source: GrowingSource) -> None:
        """``None``, and no error, for what has gone since the scan."""
        _, ref = self._put(source, [_LONG] * 4)
        place = _pieces(source, ref)[0].place
        self.remove("a")
        for after in ("", place):
            with source.segments(ref, after) as segments:
                assert segments is None

    @law("growing", "files")
    def test_it_is_due_when_it_has_grown_enough(self, source: GrowingSource) -> None:
        """By bytes or by messages, where :meth:`growth` can set them; a replaced file always is.

        Size and inode of the stamp it was indexed with are enough to tell.
        """
        raw, ref = self._put(source, ["the ant"] * 3)
        patient = cast("GrowingSource", self.waiting(_HUGE, 99))
        soon = cast("GrowingSource", self.waiting(len(raw), 99))
        waits = self.growth(_HUGE, 99) is not None
        indexed = file_of_stamp(ref.stamp)._replace(mtime_ns=-1, ctime_ns=-1).text
        self._grow(raw + self.bytes_of("the bee"))
        for stamp in (ref.stamp, indexed):
            grown = self.ref(source, "a")
            assert source.due(grown, stamp)
            assert not waits or not patient.due(grown, stamp)
            assert not waits or not soon.due(grown, stamp)
        self._grow(raw + raw)
        assert soon.due(self.ref(source, "a"), indexed)
        assert not waits or not patient.due(self.ref(source, "a"), indexed)
        self._grow(raw[:-1])
        assert patient.due(self.ref(source, "a"), indexed)
        location = self.location("a")
        other = f"{location}.other"
        with open(other, "wb") as written:
            written.write(raw + self.bytes_of("the bee"))
        os.replace(other, location)
        assert patient.due(self.ref(source, "a"), indexed)

    def _put(self, source: GrowingSource, texts: list[str]) -> tuple[bytes, DocumentRef]:
        raw = b"".join(map(self.bytes_of, texts))
        self.files.write(self.file_of("a"), raw)
        return raw, self.ref(source, "a")

    def _grow(self, raw: bytes) -> None:
        """Give the file these bytes; it stays the same file."""
        with open(os.path.join(self.files.path, self.file_of("a")), "r+b") as opened:
            opened.write(raw)
            opened.truncate(len(raw))


def file_of_stamp(stamp: Stamp) -> FileStamp:
    """What a stamp says of its file; the stamp must be of one."""
    file = file_stamp(stamp)
    assert file is not None, f"{stamp!r} is no stamp of a file"
    return file


def _pieces(source: GrowingSource, ref: DocumentRef, after: str = "") -> list[Segment]:
    with source.segments(ref, after) as segments:
        assert segments is not None, "a document that is there is said to have vanished"
        return list(segments)


def _texts(pieces: list[Segment]) -> list[str]:
    return [piece.document.text for piece in pieces if piece.document.text]


class SourceConformance(ScanLaws, ReadLaws, GrowthLaws, PressureLaws):
    """All that a source promises: subclass it, name the class ``Test...``.

    ``make_source(context)`` makes the source; a registration's factory will do. The laws write
    documents below ``context.workspace``; where these are no Markdown files in ``memory/``, define
    ``file_of(name)``, a path below the workspace, and ``bytes_of(text)``, what is in the file.

    Where a document is not a file (a mail in a mailbox, a row, a page of a service), set
    ``of_files = False`` and define ``put(name, text)``, ``remove(name)`` and
    ``is_document(ref, name)``, and where they do not lie below ``context.workspace`` ``hide()``
    and ``show()``, too. Set ``registered_as`` to the id in its entry point. ``settings`` are
    Hypothesis's.
    """
