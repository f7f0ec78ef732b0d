from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from commonplace.model.documents import Document, DocumentRef, RootFailure, ScanReport
from commonplace.testing import SourceConformance

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.protocols.contexts import SourceContext


class Service:
    """A service with pages, of which it gives the revision."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, str]] = {}
        self.revisions = 0
        self.is_down = False


class Pages:
    """A source of the pages of a service: it keeps every law that is not about files."""

    id = "pages"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, service: Service) -> None:
        self.service = service

    def scan(self) -> ScanReport:
        if self.service.is_down:
            return ScanReport((), (), (RootFailure("", "the service is down"),))
        return ScanReport(tuple(map(self.ref, self.service.pages)), ("",))

    def ref(self, name: str) -> DocumentRef:
        return DocumentRef("pages", f"pages/{name}", name, f"r{self.service.pages[name][0]}")

    def read(self, ref: DocumentRef) -> Document | None:
        if ref.location not in self.service.pages:
            return None
        text = self.service.pages[ref.location][1]
        return Document(self.ref(ref.location), text, sha256(text.encode()).hexdigest())


class StampsByLength(Pages):
    def ref(self, name: str) -> DocumentRef:
        return super().ref(name)._replace(stamp=str(len(self.service.pages[name][1])))


class HasNoStamp(Pages):
    def ref(self, name: str) -> DocumentRef:
        return super().ref(name)._replace(stamp="")


class HasOneDigest(Pages):
    def read(self, ref: DocumentRef) -> Document | None:
        document = super().read(ref)
        return document and document._replace(digest="digest")


class ForgetsWhatIsOutOfReach(Pages):
    def scan(self) -> ScanReport:
        return ScanReport((), ("",)) if self.service.is_down else super().scan()


class FailsForWhatHasGone(Pages):
    def read(self, ref: DocumentRef) -> Document | None:
        if ref.location not in self.service.pages:
            raise FileNotFoundError(ref.location)
        return super().read(ref)


class TestPages(SourceConformance):
    of_files = False
    kind: type[Pages] = Pages

    def make_source(self, context: SourceContext) -> Pages:
        self.service = Service()
        return self.kind(self.service)

    def put(self, name: str, text: str) -> None:
        self.service.revisions += 1
        self.service.pages[name] = self.service.revisions, text

    def remove(self, name: str) -> None:
        del self.service.pages[name]

    def is_document(self, ref: DocumentRef, name: str) -> bool:
        return ref.path == f"pages/{name}"

    def hide(self) -> None:
        self.service.is_down = True

    def show(self) -> None:
        self.service.is_down = False


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (StampsByLength, "test_other_text_has_another_stamp"),
        (HasNoStamp, "test_every_document_is_found"),
        (HasOneDigest, "test_a_document_is_what_its_file_holds"),
        (ForgetsWhatIsOutOfReach, "test_an_unmounted_folder_hides_its_documents"),
        (FailsForWhatHasGone, "test_what_has_vanished_is_none"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_the_law_catches_without_files(
    broken: type[Pages], law: str, judge: Callable[..., str]
) -> None:
    bench = TestPages()
    bench.kind = broken
    assert judge(bench, law, lambda: broken.__name__) == "broken"
