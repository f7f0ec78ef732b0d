from __future__ import annotations

import os
import threading
from hashlib import md5, sha256
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from commonplace.model.documents import Document, DocumentRef, ScanReport, WatchedPath
from commonplace.testing import SourceConformance
from commonplace.testing.source import GrowthLaws
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from commonplace.protocols.contexts import SourceContext


class Sound(NotesSource):
    """What is broken below: it keeps every law as it is."""

    capabilities = frozenset({"watched", "partial", "readable"})

    def __init__(self, context: SourceContext) -> None:
        super().__init__(context.workspace)
        self.workspace = context.workspace
        self.calls = count()

    def scan(self) -> ScanReport:
        report = super().scan()
        return report._replace(documents=tuple(self.seen(ref) for ref in report.documents))

    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref

    def raw(self, ref: DocumentRef) -> bytes:
        with open(ref.location, "rb") as file:
            return file.read()

    def read_plainly(self, ref: DocumentRef) -> Document:
        raw = self.raw(ref)
        return Document(ref, raw.decode("utf-8", "replace"), sha256(raw).hexdigest())


class NumbersItsVersion(Sound):
    @property
    def version(self) -> str:  # type: ignore[override]  # a property is what is wrong with it
        return str(next(self.calls))


class FindsTheFirstOnly(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        return report._replace(documents=report.documents[:1])


class FindsTwice(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        return report._replace(documents=report.documents * 2)


class NamesAnotherSource(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref._replace(source="notes")


class OpensToLook(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        self.raw(ref)
        return ref


class OpensByTheSystem(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        os.close(os.open(ref.location, os.O_RDONLY))
        return ref


class WatchesOtherFiles(Sound):
    def watched(self) -> tuple[WatchedPath, ...]:
        return tuple(place._replace(suffix=".txt") for place in super().watched())


class WatchesWhatIsThere(Sound):
    def watched(self) -> tuple[WatchedPath, ...]:
        return tuple(WatchedPath(ref.location) for ref in self.scan().documents)


class WatchesWhatWasThere(Sound):
    def watched(self) -> tuple[WatchedPath, ...]:
        if not self.scan().documents:
            return super().watched()
        return (WatchedPath(os.path.join(self.workspace, "memory", "old")),)


class WatchesByRelativeNames(Sound):
    def watched(self) -> tuple[WatchedPath, ...]:
        return (*super().watched(), WatchedPath("memory"))


class StampsByItsClock(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref._replace(stamp=str(next(self.calls)))


class FailsForNothing(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        if not report.documents:
            raise FileNotFoundError(self.workspace)
        return report


class TakesFoldersAndAll(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        folder = os.path.join(self.workspace, "memory")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        extra = [
            DocumentRef("memory", f"memory/{name}", f"{folder}/{name}", "0 0 0 0")
            for name in names
            if not name.endswith(".md")
        ]
        return report._replace(documents=(*report.documents, *extra))


class NeverSure(Sound):
    def scan(self) -> ScanReport:
        return super().scan()._replace(complete_roots=())


class AlwaysSure(Sound):
    def scan(self) -> ScanReport:
        return super().scan()._replace(complete_roots=("",), failed_roots=())


class FailsWhereNothingIs(Sound):
    def scan(self) -> ScanReport:
        os.listdir(self.workspace)
        return super().scan()


class QuotesNames(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref._replace(path=quote(ref.path))

    def read(self, ref: DocumentRef) -> Document | None:
        return super().read(ref._replace(path=ref.location.removeprefix(f"{self.workspace}/")))


class FoldsCase(Sound):
    def scan(self) -> ScanReport:
        folded = {ref.path.casefold(): ref for ref in super().scan().documents}
        return super().scan()._replace(documents=tuple(folded.values()))


class NamesByNumber(Sound):
    def scan(self) -> ScanReport:
        self.calls = count()
        return super().scan()

    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref._replace(path=f"memory/{next(self.calls) // 2}.md")

    def read(self, ref: DocumentRef) -> Document | None:
        return self.read_plainly(ref)


class LeavesAMark(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        with open(f"{ref.location}.read", "wb"):
            return super().read(ref)


class HashesOtherwise(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        digest = md5(self.raw(ref), usedforsecurity=False).hexdigest()
        return document and document._replace(digest=digest)


class StripsTheText(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        return document and document._replace(text=document.text[:10])


class StampsBySize(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref._replace(stamp=ref.stamp.split()[0])


class StampsByTime(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        return ref._replace(stamp=" ".join(ref.stamp.split()[:2]))


class GivesTheStampOfTheScan(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        return document and document._replace(ref=ref)


class FailsForWhatHasGone(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        self.raw(ref)
        return super().read(ref)


class DecodesStrictly(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        self.raw(ref).decode()
        return super().read(ref)


class KeepsHalfSurrogates(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        text = self.raw(ref).decode("utf-8", "surrogateescape")
        return document and document._replace(text=text)


class FollowsLinks(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        refs = {ref.location: ref for ref in report.documents}
        for folder, _, names in os.walk(self.workspace, followlinks=True):
            for name in names:
                location = os.path.join(folder, name)
                path = location.removeprefix(f"{self.workspace}/")
                if path.startswith("memory/") and name.endswith(".md"):
                    refs.setdefault(location, DocumentRef("memory", path, location, "0 0 0 0"))
        return report._replace(documents=tuple(refs.values()))

    def read(self, ref: DocumentRef) -> Document | None:
        return self.read_plainly(ref)


class ReadsThroughLinks(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        return self.read_plainly(ref)


class KnowsOneThread(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        main = threading.current_thread() is threading.main_thread()
        return super().read(ref) if main else None


class StampsInMilliseconds(Sound):
    def seen(self, ref: DocumentRef) -> DocumentRef:
        size, modified, *others = ref.stamp.split()
        return ref._replace(stamp=" ".join((size, f"{int(modified) // 10**6 * 10**6}", *others)))


class CanWhatIsUnknown(Sound):
    capabilities = frozenset({"watched", "readable", "listening"})


class ReadsTheBeginning(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        return document and document._replace(text=document.text[:65_536])


class HashesTheBeginning(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        digest = sha256(self.raw(ref)[:65_536]).hexdigest() if document else ""
        return document and document._replace(digest=digest)


class FindsAPage(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        return report._replace(documents=report.documents[:256])


class SharesItsPlace(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        self.ref = ref
        return super().read(self.ref)


class TakesUnreadableForGone(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        try:
            return super().read(ref)
        except OSError:
            return None


class TakesUnreadableForEmpty(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        try:
            return super().read(ref)
        except PermissionError:
            return Document(ref, "", sha256(b"").hexdigest())


class ForgetsWhatItCannotSee(Sound):
    def scan(self) -> ScanReport:
        return super().scan()._replace(failed_roots=(), complete_roots=("",))


class GivesUpWhereItCannotSee(Sound):
    def scan(self) -> ScanReport:
        report = super().scan()
        return report._replace(documents=()) if report.failed_roots else report


class LeavesAFileOpen(Sound):
    def read(self, ref: DocumentRef) -> Document | None:
        self.files = [*getattr(self, "files", ()), os.open(os.devnull, os.O_RDONLY)]
        return super().read(ref)


class LeavesItsFoldersOpen(Sound):
    def scan(self) -> ScanReport:
        self.folders = [*getattr(self, "folders", ()), os.open(self.workspace, os.O_RDONLY)]
        return super().scan()


class NamesItsVersionByHash(Sound):
    @property
    def version(self) -> str:  # type: ignore[override]  # a property is what is wrong with it
        return f"notes-{hash('notes')}"


class LooksOnlyForWhatIsThere(Sound):
    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        report = super().scan_paths(paths)
        found = tuple(ref.path for ref in report.documents) if report else ()
        return report and report._replace(complete_roots=found)


class SaysItLookedEverywhere(Sound):
    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        report = super().scan_paths(paths)
        return report and report._replace(complete_roots=("",))


class LooksIntoNoFolder(Sound):
    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        return super().scan_paths([path for path in paths if path.endswith(".md")])


BROKEN: list[tuple[type[Sound], str]] = [
    (NumbersItsVersion, "test_it_says_what_it_is"),
    (FindsTheFirstOnly, "test_every_document_is_found"),
    (FindsTwice, "test_every_document_is_found"),
    (NamesAnotherSource, "test_every_document_is_found"),
    (OpensToLook, "test_looking_opens_nothing"),
    (OpensByTheSystem, "test_looking_opens_nothing"),
    (WatchesOtherFiles, "test_documents_lie_where_it_is_watched"),
    (WatchesWhatIsThere, "test_documents_lie_where_it_is_watched"),
    (WatchesWhatWasThere, "test_documents_lie_where_it_is_watched"),
    (WatchesByRelativeNames, "test_documents_lie_where_it_is_watched"),
    (LooksOnlyForWhatIsThere, "test_a_look_at_some_finds_what_a_scan_does"),
    (SaysItLookedEverywhere, "test_a_look_at_some_finds_what_a_scan_does"),
    (LooksIntoNoFolder, "test_a_look_at_some_finds_what_a_scan_does"),
    (StampsByItsClock, "test_looking_again_finds_the_same"),
    (FailsForNothing, "test_where_there_is_nothing_nothing_is_found"),
    (TakesFoldersAndAll, "test_other_files_are_none_of_its_documents"),
    (NeverSure, "test_a_deleted_document_is_known_to_be_gone"),
    (AlwaysSure, "test_an_unmounted_folder_hides_its_documents"),
    (FailsWhereNothingIs, "test_an_unmounted_folder_hides_its_documents"),
    (QuotesNames, "test_hostile_names_are_kept_to_the_letter"),
    (FoldsCase, "test_hostile_names_are_kept_to_the_letter"),
    (NamesByNumber, "test_what_is_cited_can_be_read_on"),
    (LeavesAMark, "test_nothing_is_written"),
    (HashesOtherwise, "test_a_document_is_what_its_file_holds"),
    (StripsTheText, "test_a_document_is_what_its_file_holds"),
    (StampsBySize, "test_other_text_has_another_stamp"),
    (StampsByTime, "test_other_text_has_another_stamp"),
    (GivesTheStampOfTheScan, "test_what_is_read_carries_its_own_stamp"),
    (FailsForWhatHasGone, "test_what_has_vanished_is_none"),
    (DecodesStrictly, "test_any_bytes_are_read"),
    (KeepsHalfSurrogates, "test_any_bytes_are_read"),
    (FollowsLinks, "test_links_are_not_followed"),
    (ReadsThroughLinks, "test_links_put_in_later_are_not_followed"),
    (KnowsOneThread, "test_threads_read_the_same"),
    (StampsInMilliseconds, "test_every_document_is_found"),
    (CanWhatIsUnknown, "test_it_says_what_it_is"),
    (ReadsTheBeginning, "test_a_document_may_be_large"),
    (HashesTheBeginning, "test_a_document_may_be_large"),
    (FindsAPage, "test_there_may_be_many_documents"),
    (SharesItsPlace, "test_threads_read_the_same"),
    (TakesUnreadableForGone, "test_a_file_that_may_not_be_read_is_an_error"),
    (TakesUnreadableForEmpty, "test_a_file_that_may_not_be_read_is_an_error"),
    (ForgetsWhatItCannotSee, "test_a_folder_that_may_not_be_read_hides_its_documents"),
    (GivesUpWhereItCannotSee, "test_a_folder_that_may_not_be_read_hides_its_documents"),
    (LeavesAFileOpen, "test_no_file_is_left_open"),
    (LeavesItsFoldersOpen, "test_no_file_is_left_open"),
    (NamesItsVersionByHash, "test_another_process_reads_the_same"),
]


class Bench(SourceConformance):
    def __init__(self, broken: type[Sound]) -> None:
        self.broken = broken

    def make_source(self, context: SourceContext) -> Sound:
        return self.broken(context)


class RegisteredAsAnother(Bench):
    registered_as = "another"


def test_an_id_other_than_that_of_the_entry_point_is_caught(judge: Callable[..., str]) -> None:
    assert judge(RegisteredAsAnother(Sound), "test_it_says_what_it_is", lambda: "") == "broken"


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(Sound), law, lambda: "", 8) == "kept"


def test_every_law_can_fail(
    all_laws: Callable[[type], set[str]], laws: Callable[[type], set[str]]
) -> None:
    # Those of documents that grow are in test_broken_growing.py.
    assert {law for _, law in BROKEN} == all_laws(SourceConformance) - laws(GrowthLaws)
