"""Laws about what a scan finds, and what may be concluded from it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from commonplace.testing.source.law import SourceLaws, found, law, planned
from commonplace.testing.source.opening import watched_files
from commonplace.testing.strategies import HOSTILE_PATHS
from commonplace.watching.relevance import Relevance

if TYPE_CHECKING:
    from commonplace.protocols.sources import Source, WatchedSource

__all__ = ["ScanLaws"]


class ScanLaws(SourceLaws):
    """``scan``."""

    @law()
    def test_it_says_what_it_is(self, source: Source) -> None:
        """An id as in its entry point, and a version, that stay."""
        assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", source.id)
        assert source.version.strip()
        before = source.id, source.version
        self.read(source, self.write("a", "the ant"))
        assert (source.id, source.version) == before

    @law()
    def test_every_document_is_found(self, source: Source) -> None:
        """Each once, with its source, a path of its own and what ``stat`` says of its file."""
        files = [self.write(name, f"the ant {name}") for name in "abc"]
        refs = source.scan().documents
        assert sorted(ref.location for ref in refs) == [
            os.path.join(self.files.path, file) for file in files
        ]
        assert len({ref.path for ref in refs}) == 3
        for ref in refs:
            assert ref.source == source.id
            assert ref.path
            assert not ref.path.startswith("/")
            assert len(ref.stamp) == 4
            assert ref.stamp[0] == os.path.getsize(ref.location)

    @law()
    def test_looking_opens_nothing(self, source: Source) -> None:
        """A scan is by ``stat`` alone: it opens no document, however many there are."""
        files = [self.write(name, "the ant") for name in ("watched-a", "watched-b")]
        with watched_files([os.path.basename(file) for file in files]) as opened:
            assert len(source.scan().documents) == 2
        assert opened == []

    @law("watched")
    def test_documents_lie_where_it_is_watched(self, source: WatchedSource) -> None:
        """What is named before there are any documents holds those that come, and stays.

        Places are absolute; a document's file is one of them, or lies below one.
        """
        before = Relevance(source.watched())
        for name in "ab":
            self.write(name, "the ant")
        after = Relevance(source.watched())
        assert all(os.path.isabs(place.location) for place in source.watched())
        for location in found(source):
            assert before.is_document(location), f"nobody watches for a new {location}"
            assert after.is_document(location), f"nobody watches {location}"

    @law()
    def test_looking_again_finds_the_same(self, source: Source) -> None:
        """While nothing changes, nothing seems to: the same documents with the same stamps."""
        for name in "abc":
            self.write(name, "the ant")
        before = source.scan()
        assert source.scan() == before
        assert planned(source, before).size == 0

    @law()
    def test_where_there_is_nothing_nothing_is_found(self, source: Source) -> None:
        """No documents are no error."""
        assert source.scan().documents == ()

    @law()
    def test_other_files_are_none_of_its_documents(self, source: Source) -> None:
        """A file of another kind, and a folder that is called as a document, are left out."""
        file = self.write("a", "the ant")
        self.files.write(f"{file}.other", "the ant")
        os.makedirs(os.path.join(self.files.path, self.file_of("folder")))
        assert found(source) == [os.path.join(self.files.path, file)]

    @law()
    def test_a_deleted_document_is_known_to_be_gone(self, source: Source) -> None:
        """A file that its owner deleted can be forgotten: its folder was seen to its end."""
        keep, gone = self.write("a", "the ant"), self.write("b", "the bee")
        before = source.scan()
        path = self.ref(source, gone).path
        self.files.delete(gone)
        plan = planned(source, before)
        assert [document.path for document in plan.gone] == [path]
        assert plan.hidden == 0
        assert found(source) == [os.path.join(self.files.path, keep)]

    @law()
    def test_an_unmounted_folder_hides_its_documents(self, source: Source) -> None:
        """Where the folder is not there, nothing is concluded, and nothing raised.

        When it is back, everything is as before.
        """
        for name in "ab":
            self.write(name, "the ant")
        before = source.scan()
        self.files.vanish()
        try:
            plan = planned(source, before)
            assert (plan.gone, plan.hidden) == ((), 2)
            report = source.scan()
            assert report.failed_roots or report.absent_roots, "nothing says why"
        finally:
            self.files.come_back()
        assert source.scan() == before

    @law()
    def test_hostile_names_are_kept_to_the_letter(self, source: Source) -> None:
        """Line breaks, quotes, wildcards, emoji, composed and decomposed letters.

        What the file system can hold has a path of its own, with forward slashes, that can be
        stored, and can be read.
        """
        names = {path.removeprefix("memory/").replace("/", "-") for path in HOSTILE_PATHS}
        files = [self.file_of(name.removesuffix(".md")) for name in sorted(names)]
        files = [file for file in files if self.files.can_name(file)]
        for number, file in enumerate(files):
            self.files.write(file, self.bytes_of(f"the ant number {number}."))
        refs = source.scan().documents
        assert len({ref.path for ref in refs}) == len(refs) == len(files)
        for number, file in enumerate(files):
            ref, document = self.ref(source, file), self.read(source, file)
            assert f"the ant number {number}." in document.text
            assert document.ref.path == ref.path
            assert ref.path.encode()
            assert os.path.basename(file) in ref.path

    @law()
    def test_nothing_is_written(self, source: Source) -> None:
        """Looking and reading leave all files as they are, and add none."""
        file = self.write("a", "the ant")
        before = self.files.contents()
        source.scan()
        self.read(source, file)
        assert self.files.contents() == before
