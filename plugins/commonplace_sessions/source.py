"""A source of documents: the transcripts of one format in one folder, read as they grow."""

from __future__ import annotations

import os
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from commonplace.plugin import (
    Document,
    DocumentRef,
    FileStamp,
    PathNotAllowedError,
    Segment,
    WatchedPath,
    file_stamp,
    open_below,
    stamp_of,
)
from commonplace_sessions.folder import root_of, scan_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator

    from commonplace.plugin import ScanReport, Stamp
    from commonplace_sessions.folder import Folder
    from commonplace_sessions.readers import Reader
    from commonplace_sessions.transcript import Lines, Transcript


_COUNTED = 1 << 16


class TranscriptSource:
    """The files of ``folder`` that are ``wanted``, as ``reader`` reads them.

    A document's text has a line for each message (more for a long one), redacted; its ``line_map``
    gives the lines of the file. One that grows is due once it has grown by ``growth``, so many
    bytes or so many messages; 0 is any.
    """

    capabilities = frozenset({"watched", "partial", "growing", "readable"})

    def __init__(
        self,
        id_: str,
        folder: Folder,
        wanted: Callable[[str], bool],
        reader: Callable[[], Reader],
        growth: tuple[int, int] = (0, 0),
        *,
        secret_patterns: tuple[str, ...] = (),
    ) -> None:
        self.id = id_
        # What is masked is a part of the text: other patterns make another index.
        masked = zlib.crc32(repr(secret_patterns).encode("utf-8", "surrogatepass"))
        self.version = f"3-{masked:08x}" if secret_patterns else "3"
        self._folder = folder
        self._wanted = wanted
        self._reader = reader
        self._least_bytes, self._least_messages = growth

    def scan(self) -> ScanReport:
        """All transcripts; see :func:`~commonplace_sessions.folder.scan_folder`."""
        return scan_folder(self._folder, self.id, self._wanted)

    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        """What is at ``paths`` now; see :mod:`commonplace.files.changed`."""
        from commonplace.plugin import scan_paths

        return scan_paths(
            [root_of(self._folder, self.id, self._wanted)],
            paths,
            source=self.id,
            stored=lambda _, below: f"{self.id}/{below}",
        )

    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        """Whether it is another file than the indexed one, or has grown by enough.

        A file that has grown by fewer than the configured bytes is opened to count its new lines.
        """
        before, now = file_stamp(indexed), file_stamp(ref.stamp)
        if before is None or now is None:
            return True
        size, grown = before.size, now.size - before.size
        if grown <= 0 or before.inode != now.inode:
            return True
        if grown >= self._least_bytes or self._least_messages <= 0:
            return True
        try:
            with self._opened(ref) as opened:
                return opened is None or grew_by_messages(opened, size, self._least_messages)
        except OSError:
            return True  # reading it reports the error

    def watched(self) -> tuple[WatchedPath, ...]:
        """The folder of the transcripts."""
        return (WatchedPath(self._folder.location, recursive=self._folder.deep),)

    def read(self, ref: DocumentRef) -> Document | None:
        """The conversation, or ``None`` if the file is missing, a link, or not a regular one.

        A file that is being written is read to its current end, with the stamp from before, so
        that it is read again. Raises ``OSError`` if it exists and cannot be read.
        """
        from commonplace_sessions.transcript import pieces_of, read_transcript

        with self._opened(ref) as opened:
            if opened is None:
                return None
            stamp = stamp_of(os.fstat(opened))
            found = read_transcript(pieces_of(opened), self._reader())
        return self._document(ref, found, stamp)

    @contextmanager
    def segments(
        self, ref: DocumentRef, after: str = ""
    ) -> Generator[Iterator[Segment] | None, None, None]:
        """The conversation in pieces of about 16,000 characters, each of whole messages.

        To continue ``after`` a position, all bytes before it are read and compared by checksum,
        which costs little beside parsing them. ``None`` and ``OSError`` are as in :meth:`read`.
        """
        from commonplace_sessions.transcript import Cut, Lines, pieces_of

        cut = Cut.of(after) if after else Cut()
        with self._opened(ref) as opened:
            if cut is None or opened is None:
                yield None
                return
            stamp = stamp_of(os.fstat(opened))
            lines = Lines(pieces_of(opened))
            lines.pass_over(pieces_of(opened, cut.end), cut.lines)
            is_same = lines.end == cut.end and (not after or lines.digest == cut.digest)
            yield self._segments(ref, lines, cut.began, stamp) if is_same else None

    def _segments(
        self, ref: DocumentRef, lines: Lines, began: float, stamp: Stamp
    ) -> Iterator[Segment]:
        from commonplace_sessions.transcript import pieces_of_transcript

        whole = file_stamp(stamp)
        inode = whole.inode if whole is not None else 0
        for piece in pieces_of_transcript(lines, self._reader(), began):
            if piece.cut is None:
                yield Segment(self._document(ref, piece, stamp))
            else:
                so_far = FileStamp(piece.cut.end, -1, -1, inode).text
                yield Segment(self._document(ref, piece, so_far), piece.cut.text)

    def _document(self, ref: DocumentRef, found: Transcript, stamp: Stamp) -> Document:
        from commonplace_sessions.folder import day_of

        return Document(
            ref=DocumentRef(self.id, ref.path, ref.location, stamp),
            text=found.text,
            digest=found.digest,
            day=day_of(ref.path.rpartition("/")[2], found.began),
            trust="session",
            line_map=found.line_map,
        )

    @contextmanager
    def _opened(self, ref: DocumentRef) -> Iterator[int | None]:
        """The open file, or ``None`` if none may be read; raises ``OSError``."""
        below = ref.path.removeprefix(f"{self.id}/")
        parts = below.split("/")
        opened = None
        if below != ref.path and self._wanted(below) and not {"", ".", ".."}.intersection(parts):
            with suppress(FileNotFoundError, PathNotAllowedError):
                opened = open_below(self._folder.base, [*self._folder.parts, *parts])
        try:
            yield opened
        finally:
            if opened is not None:
                os.close(opened)


def grew_by_messages(opened: int, since: int, wanted: int) -> bool:
    """Whether the open file has ``wanted`` line ends after its first ``since`` bytes."""
    os.lseek(opened, since, os.SEEK_SET)
    found = 0
    while found < wanted and (piece := os.read(opened, _COUNTED)):
        found += piece.count(b"\n")
    return found >= wanted
