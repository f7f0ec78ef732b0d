"""A source whose documents are transcripts of one format in one folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.errors import PathNotAllowedError
from commonplace.files.opening import open_below
from commonplace.files.stats import stamp_of
from commonplace.model.documents import Document, DocumentRef
from commonplace_sessions.folder import scan_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import ScanReport
    from commonplace_sessions.folder import Folder
    from commonplace_sessions.messages import Reader

__all__ = ["TranscriptSource"]


class TranscriptSource:
    """The files of ``folder`` that are ``wanted``, as ``reader`` reads them.

    A document's text has a line for each message (more for a long one), redacted; its ``line_map``
    gives the lines of the file.
    """

    version = "1"

    def __init__(
        self, id_: str, folder: Folder, wanted: Callable[[str], bool], reader: Callable[[], Reader]
    ) -> None:
        self.id = id_
        self._folder = folder
        self._wanted = wanted
        self._reader = reader

    def scan(self) -> ScanReport:
        """All transcripts there are; see :func:`~commonplace_sessions.folder.scan_folder`."""
        return scan_folder(self._folder, self.id, self._wanted)

    def read(self, ref: DocumentRef) -> Document | None:
        """The conversation, or ``None`` where it is gone, or has become a link or no regular file.

        A file that is being written is read as far as it goes, and carries the stamp from before,
        so that it is read again. Raises ``OSError`` if it is there and cannot be read.
        """
        from commonplace_sessions.jsonl import pieces_of
        from commonplace_sessions.names import day_of
        from commonplace_sessions.transcript import read_transcript

        below = ref.path.removeprefix(f"{self.id}/")
        parts = below.split("/")
        if below == ref.path or not self._wanted(below) or {"", ".", ".."}.intersection(parts):
            return None
        try:
            opened = open_below(self._folder.base, [*self._folder.parts, *parts])
        except (FileNotFoundError, PathNotAllowedError):
            return None
        try:
            stamp = stamp_of(os.fstat(opened))
            found = read_transcript(pieces_of(opened), self._reader())
        finally:
            os.close(opened)
        return Document(
            ref=DocumentRef(self.id, ref.path, ref.location, stamp),
            text=found.text,
            digest=found.digest,
            day=day_of(parts[-1], found.began),
            trust="session",
            line_map=found.line_map,
        )
