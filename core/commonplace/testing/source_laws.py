"""What all laws of sources stand on, and those of reading."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
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
from commonplace.testing.base import Laws, law
from commonplace.testing.manager_laws import Workspace
from commonplace.testing.strategies import HOSTILE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from commonplace.index.planning import Plan
    from commonplace.model.documents import Document, DocumentRef, ScanReport
    from commonplace.protocols.parts import Source


class SourceLaws(Laws):
    """What all laws of sources stand on; a document is a file, by default ``memory/*.md``."""

    subject: ClassVar[str] = "source"

    files: Workspace
    """The workspace of the source that a law is looking at."""

    def make_source(self, context: SourceContext) -> Source:
        """Make the source, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_source(context)")

    def file_of(self, name: str) -> str:
        """Where below the workspace a document lies that is called ``name``."""
        return f"memory/{name}.md"

    def bytes_of(self, text: str) -> bytes:
        """What a document's file holds whose text has ``text`` in it."""
        return text.encode()

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

    def write(self, name: str, text: str) -> str:
        """Write a document; its file's path below the workspace."""
        file = self.file_of(name)
        self.files.write(file, self.bytes_of(text))
        return file

    def read(self, source: Source, file: str) -> Document:
        """The document of a file that is there."""
        document = source.read(self.ref(source, file))
        assert document is not None, "a document that is there is said to have vanished"
        return document

    def ref(self, source: Source, file: str) -> DocumentRef:
        """What a scan says of a file that is there."""
        location = os.path.join(self.files.path, file)
        refs = [ref for ref in source.scan().documents if ref.location == location]
        assert len(refs) == 1, f"{file!r} is found {len(refs)} times"
        return refs[0]


def found(source: Source) -> list[str]:
    """Where the documents of a scan lie."""
    return sorted(ref.location for ref in source.scan().documents)


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
        """Its text, the SHA-256 of the bytes, and the reference of the scan."""
        file = self.write("a", "the ant and the bee")
        document = self.read(source, file)
        assert "the ant and the bee" in document.text
        assert document.digest == sha256(self.bytes_of("the ant and the bee")).hexdigest()
        assert document.ref == self.ref(source, file)
        assert document.trust in get_args(Trust)
        assert document.day is None or type(document.day) is date

    @law()
    def test_other_text_has_another_stamp(self, source: Source) -> None:
        """Seen without being opened: longer, rewritten at the same length, or replaced."""
        changes: list[Callable[[str, str], None]] = [_lengthen, _rewrite, _replace]
        for number, change in enumerate(changes):
            location = os.path.join(self.files.path, self.write(f"n{number}", "the ant"))
            before = source.scan()
            change(location, f"{self.files.path}/new.tmp")
            assert len(planned(source, before).read) == 1, change.__name__

    @law()
    def test_what_is_read_carries_its_own_stamp(self, source: Source) -> None:
        """A file that changed after the scan is read as it is, with the stamp that it has now."""
        file = self.write("a", "the ant")
        old = self.ref(source, file)
        self.write("a", "the bee, and a longer text")
        document = source.read(old)
        assert document is not None
        assert "the bee" in document.text
        assert document.ref.stamp == self.ref(source, file).stamp != old.stamp
        assert (document.ref.source, document.ref.path) == (old.source, old.path)

    @law()
    def test_what_has_vanished_is_none(self, source: Source) -> None:
        """A file that is gone since the scan, or is a folder now, is no error."""
        gone, folder = self.write("a", "the ant"), self.write("b", "the ant")
        refs = [self.ref(source, file) for file in (gone, folder)]
        for file in (gone, folder):
            self.files.delete(file)
        os.makedirs(os.path.join(self.files.path, folder))
        assert [source.read(ref) for ref in refs] == [None, None]

    @law(raw=st.binary(max_size=60) | st.sampled_from(HOSTILE_TEXTS).map(str.encode))
    def test_any_bytes_are_read(self, source: Source, raw: bytes) -> None:
        """Bytes that are no text raise ``OSError``, and no bytes anything else.

        The text has no half surrogates, and a map of lines has every line.
        """
        file = self.write("a", "the ant")
        for held in (raw, raw + self.bytes_of("the ant"), self.bytes_of("the ant") + raw):
            self.files.write(file, held)
            try:
                document = self.read(source, file)
            except OSError:
                continue
            document.text.encode()
            if document.line_map is not None:
                lines = document.text.split("\n")
                assert len(document.line_map) in {len(lines), len(lines) - 1}
                assert list(document.line_map) == sorted(document.line_map)
                assert min(document.line_map, default=1) >= 1

    @law()
    def test_links_are_not_followed(self, source: Source) -> None:
        """A link to a file or a folder elsewhere shows nothing of it, whatever it is called."""
        self.write("a", "the ant")
        outside = self._outside()
        for name, target in (("link", outside), ("folder", os.path.dirname(outside))):
            link = os.path.join(self.files.path, self.file_of(name))
            os.symlink(target, link)
            os.symlink(target, os.path.splitext(link)[0])
        assert all(_SECRET not in text for text in _texts(source))

    @law()
    def test_links_put_in_later_are_not_followed(self, source: Source) -> None:
        """A file or folder that became a link since the scan is not read through it."""
        outside = self._outside()
        for swapped in ("file", "folder"):
            location = os.path.join(self.files.path, self.write(os.path.basename(outside)[:1], "x"))
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

    @law()
    def test_threads_read_the_same(self, source: Source) -> None:
        """Reads in several threads do not meet."""
        files = [self.write(f"n{number}", f"the ant {number}") for number in range(6)]
        refs = [self.ref(source, file) for file in files]
        expected = [source.read(ref) for ref in refs]
        assert None not in expected
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(source.read, refs * 4)) == expected * 4

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
