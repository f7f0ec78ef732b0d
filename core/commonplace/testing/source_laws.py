"""What all laws of sources stand on, and those of reading."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from datetime import date
from functools import cache
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from hypothesis import strategies as st

from commonplace.index.planning import SourceScan, plan_changes
from commonplace.model.documents import StoredDocument, Trust
from commonplace.protocols.contexts import SourceContext
from commonplace.testing.base import Workspace
from commonplace.testing.laws import Laws, law
from commonplace.testing.strategies import HOSTILE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from commonplace.index.planning import Plan
    from commonplace.model.documents import Document, DocumentRef, ScanReport
    from commonplace.protocols.parts import Source


class SourceLaws(Laws):
    """What all laws of sources stand on.

    A document is a file, by default ``memory/*.md``. Where it is not, set ``of_files`` to False and
    define :meth:`put`, :meth:`remove` and :meth:`is_document`; laws about files are skipped then.
    """

    subject: ClassVar[str] = "source"

    registered_as: ClassVar[str] = ""
    """The id in the source's entry point; ``""`` where none is known."""

    of_files: ClassVar[bool] = True
    """Whether each document is a file of its own, whose bytes are those of :meth:`bytes_of`."""

    files: Workspace
    """The workspace of the source that a law is looking at; a new one for each example."""

    def make_source(self, context: SourceContext) -> Source:
        """Make the source, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_source(context)")

    def file_of(self, name: str) -> str:
        """Where below the workspace a document lies that is called ``name``."""
        return f"memory/{name}.md"

    def bytes_of(self, text: str) -> bytes:
        """What a document's file holds whose text has ``text`` in it."""
        return text.encode()

    def put(self, name: str, text: str) -> None:
        """Let there be a document called ``name`` whose text has ``text`` in it, and no other."""
        self.files.write(self.file_of(name), self.bytes_of(text))

    def remove(self, name: str) -> None:
        """Let the document called ``name`` be gone, as its owner deletes it."""
        self.files.delete(self.file_of(name))

    def is_document(self, ref: DocumentRef, name: str) -> bool:
        """Whether ``ref`` is of the document called ``name``."""
        return ref.location == self.location(name)

    def hide(self) -> None:
        """Take away what all documents lie in, as when its disk or its service is out of reach."""
        self.files.vanish()

    def show(self) -> None:
        """Undo :meth:`hide`."""
        self.files.come_back()

    def declared(self, subject: Any) -> frozenset[str]:
        """What the source declares, and ``files`` where documents are files."""
        declared = super().declared(subject)
        return declared | {"files"} if self.of_files else declared

    def growth(self, size: int, messages: int) -> Any:
        """Settings with which a document is due once it grew by so many bytes or messages.

        With 0 any growth is enough. ``None`` where the source has no such settings.
        """
        del size, messages

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """A source of no documents."""
        with TemporaryDirectory(prefix="commonplace-") as directory:
            self.files = Workspace(f"{os.path.realpath(directory)}/workspace")
            yield self.waiting(0, 0)

    def waiting(self, size: int, messages: int) -> Source:
        """A source of the same files, with the settings that :meth:`growth` gives."""
        config = self.growth(size, messages)
        return self.make_source(SourceContext(self.files.path, "main", config=config))

    def location(self, name: str) -> str:
        """The absolute path of the file of the document called ``name``."""
        return os.path.join(self.files.path, self.file_of(name))

    def read(self, source: Source, name: str) -> Document:
        """The document called ``name``, which is there."""
        document = source.read(self.ref(source, name))
        assert document is not None, "a document that is there is said to have vanished"
        return document

    def ref(self, source: Source, name: str) -> DocumentRef:
        """What a scan says of the document called ``name``, which is there."""
        refs = [ref for ref in source.scan().documents if self.is_document(ref, name)]
        assert len(refs) == 1, f"{name!r} is found {len(refs)} times"
        return refs[0]

    def found(self, source: Source, names: Iterable[str]) -> list[str]:
        """Which documents of these names a scan finds; it must find no others."""
        refs = source.scan().documents
        found = [name for name in names if any(self.is_document(ref, name) for ref in refs)]
        assert len(found) == len(refs), f"{len(refs)} documents are found, not {found}"
        return found


def planned(source: Source, known: ScanReport) -> Plan:
    """What the host would do to an index that holds what was ``known``."""
    stored = [StoredDocument(ref.source, ref.path, "", ref.stamp, "") for ref in known.documents]
    return plan_changes(stored, [SourceScan(source.id, source.scan(), "")])


_FOLDER = getattr(os, "O_DIRECTORY", 0)


@contextmanager
def watched_files(names: Collection[str]) -> Iterator[list[str]]:
    """Which files of these ``names`` (without folders) are opened meanwhile, by anybody."""
    opened: list[str] = []
    watches = _watches()
    watches.append((frozenset(names), opened))
    try:
        yield opened
    finally:
        watches.pop()


@cache
def _watches() -> list[tuple[frozenset[str], list[str]]]:
    """Those that are on, listened to by an audit hook: there is no way to take one out again."""
    watches: list[tuple[frozenset[str], list[str]]] = []

    def listen(event: str, details: tuple[Any, ...]) -> None:
        if event != "open" or not watches:
            return
        path, _, flags = details
        if isinstance(path, int) or (flags or 0) & _FOLDER:
            return
        name = os.path.basename(os.fsdecode(path))
        for names, opened in watches:
            if name in names:
                opened.append(name)

    sys.addaudithook(listen)
    return watches


_SECRET = "the secret of another folder"  # noqa: S105 - a text to be looked for, no password


class ReadLaws(SourceLaws):
    """``read``."""

    @law()
    def test_a_document_is_what_its_file_holds(self, source: Source) -> None:
        """Its text, the SHA-256 of the bytes, and the reference of the scan.

        Where it is not a file, a checksum that another text does not have.
        """
        self.put("a", "the ant and the bee")
        document = self.read(source, "a")
        assert "the ant and the bee" in document.text
        if self.of_files:
            assert document.digest == sha256(self.bytes_of("the ant and the bee")).hexdigest()
        else:
            self.put("b", "the cat")
            assert document.digest == self.read(source, "a").digest
            assert document.digest != self.read(source, "b").digest
        assert document.ref == self.ref(source, "a")
        assert document.trust in get_args(Trust)
        assert document.day is None or type(document.day) is date

    @law()
    def test_other_text_has_another_stamp(self, source: Source) -> None:
        """Longer, rewritten at the same length, or replaced: seen without any file being opened."""
        if not self.of_files:
            for text in ("the ant", "the bee", "the bee and the ant"):
                before = source.scan()
                self.put("a", text)
                assert len(planned(source, before).read) == 1, f"{text!r} has the same stamp"
            return
        changes: list[Callable[[str, str], None]] = [_lengthen, _rewrite, _replace]
        for number, change in enumerate(changes):
            self.put(f"n{number}", "the ant")
            location = self.location(f"n{number}")
            before = source.scan()
            change(location, f"{self.files.path}/new.tmp")
            assert len(planned(source, before).read) == 1, change.__name__

    @law()
    def test_what_is_read_carries_its_own_stamp(self, source: Source) -> None:
        """What changed after the scan is read as it is, with the stamp that it has now."""
        self.put("a", "the ant")
        old = self.ref(source, "a")
        self.put("a", "the bee, and a longer text")
        document = source.read(old)
        assert document is not None
        assert "the bee" in document.text
        assert document.ref.stamp == self.ref(source, "a").stamp != old.stamp
        assert (document.ref.source, document.ref.path) == (old.source, old.path)

    @law()
    def test_what_has_vanished_is_none(self, source: Source) -> None:
        """What is gone since the scan, or is a folder now, is no error."""
        for name in "ab":
            self.put(name, "the ant")
        refs = [self.ref(source, name) for name in "ab"]
        for name in "ab":
            self.remove(name)
        if self.of_files:
            os.makedirs(self.location("b"))
        assert [source.read(ref) for ref in refs] == [None, None]

    @law(raw=st.binary(max_size=60) | st.sampled_from(HOSTILE_TEXTS).map(str.encode))
    def test_any_bytes_are_read(self, source: Source, raw: bytes) -> None:
        """Bytes that are no text raise ``OSError``, and no bytes anything else.

        The text has no half surrogates, and a map of lines has every line.
        """
        self.put("a", "the ant")
        for held in (raw, raw + self.bytes_of("the ant"), self.bytes_of("the ant") + raw):
            if self.of_files:
                self.files.write(self.file_of("a"), held)
            else:
                self.put("a", held.decode("utf-8", "replace"))
            try:
                document = self.read(source, "a")
            except OSError:
                continue
            document.text.encode()
            if document.line_map is not None:
                lines = document.text.split("\n")
                assert len(document.line_map) in {len(lines), len(lines) - 1}
                assert list(document.line_map) == sorted(document.line_map)
                assert min(document.line_map, default=1) >= 1

    @law("files")
    def test_links_are_not_followed(self, source: Source) -> None:
        """A link to a file or a folder elsewhere shows nothing of it, whatever it is called."""
        self.put("a", "the ant")
        outside = self._outside()
        for name, target in (("link", outside), ("folder", os.path.dirname(outside))):
            link = self.location(name)
            os.symlink(target, link)
            os.symlink(target, os.path.splitext(link)[0])
        assert all(_SECRET not in text for text in _texts(source))

    @law("files")
    def test_links_put_in_later_are_not_followed(self, source: Source) -> None:
        """A file or folder that became a link since the scan is not read through it."""
        outside = self._outside()
        for swapped in ("file", "folder"):
            name = os.path.basename(outside)[:1]
            self.put(name, "x")
            location = self.location(name)
            refs = source.scan().documents
            assert len(refs) == 1
            folder = os.path.dirname(location)
            if swapped == "file":
                os.unlink(location)
                os.symlink(outside, location)
            else:
                os.rename(folder, f"{self.files.path}/aside")
                os.rename(
                    outside, os.path.join(os.path.dirname(outside), os.path.basename(location))
                )
                os.symlink(os.path.dirname(outside), folder)
            assert _SECRET not in _text(source, refs[0])
            if swapped == "file":
                os.unlink(location)

    def _outside(self) -> str:
        """A document's file in another folder, which the source has no business to read."""
        name = os.path.basename(self.file_of("z"))
        folder = os.path.join(os.path.dirname(self.files.path), "elsewhere")
        os.makedirs(folder)
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(self.bytes_of(_SECRET))
        return path


def _text(source: Source, ref: DocumentRef) -> str:
    document: Document | None = None
    with suppress(OSError):
        document = source.read(ref)
    return document.text if document is not None else ""


def _texts(source: Source) -> list[str]:
    return [_text(source, ref) for ref in source.scan().documents]


def _lengthen(location: str, _: str) -> None:
    with open(location, "ab") as file:
        file.write(b"\n")


def _rewrite(location: str, _: str) -> None:
    size, then = os.path.getsize(location), os.stat(location).st_mtime_ns
    with open(location, "r+b") as file:
        file.write(b"?" * size)
    os.utime(location, ns=(then, then + 10_000_000))


def _replace(location: str, other: str) -> None:
    before = os.stat(location)
    with open(other, "wb") as file:
        file.write(b"?" * before.st_size)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, location)
