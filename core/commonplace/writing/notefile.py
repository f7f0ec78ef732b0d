"""The notes that are written: where they are, and their lines, which go back to the same bytes."""

from __future__ import annotations

import codecs
import os
from itertools import takewhile
from typing import TYPE_CHECKING

from commonplace.errors import WriteRefusedError
from commonplace.files.left_out import holds_notes
from commonplace.files.roots import day_of, find_roots
from commonplace.model.receipts import Lines
from commonplace.model.tuples import NamedTuple
from commonplace.text.dates import today_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.config.settings import Settings

_WIDE = (
    # The longer first: the mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NoteFile(NamedTuple):
    """The lines of a file, with their ends, and how they become its bytes again.

    ``mark`` is the byte order mark. Bytes that are no UTF-8 become lone surrogates, so that lines
    that are not touched keep their bytes whatever they are.
    """

    lines: tuple[str, ...] = ()
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def newline(self) -> str:
        """How most lines end."""
        crlf = sum(line.endswith("\r\n") for line in self.lines)
        return "\r\n" if crlf * 2 > len(self.lines) else "\n"

    def with_lines(self, lines: Sequence[str]) -> NoteFile:
        """The same file with other lines."""
        return self._replace(lines=tuple(lines))

    def data(self) -> bytes:
        """The bytes of the file."""
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        return self.mark + "".join(self.lines).encode(self.encoding, errors)


def read_note(data: bytes | None, path: str) -> NoteFile:
    """The file as lines; one that is not there has none.

    Raises :class:`~commonplace.errors.WriteRefusedError` for bytes that are no text.
    """
    if not data:
        return NoteFile()
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise _no_text(path) from error
            return NoteFile(tuple(split_lines(text)), encoding, mark)
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if b"\0" in data:
        raise _no_text(path)
    text = data[len(mark) :].decode("utf-8", "surrogateescape")
    return NoteFile(tuple(split_lines(text)), "utf-8", mark)


def _no_text(path: str) -> WriteRefusedError:
    return WriteRefusedError(
        f"{path} is no text that can be changed line by line",
        kind="not_text",
        hint="save it as UTF-8 in an editor first",
    )


def split_lines(text: str) -> list[str]:
    r"""The lines of ``text`` with their ends; only ``\n`` ends a line, as in citations."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def changed_lines(before: Sequence[str], after: Sequence[str]) -> tuple[Lines, Lines]:
    """The smallest run of lines of each that holds all differences."""
    pairs = zip(before, after, strict=False)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = min(len(before), len(after)) - head
    tail = 0
    while tail < rest and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return (
        run_of(before, head, len(before) - tail),
        run_of(after, head, len(after) - tail),
    )


def run_of(lines: Sequence[str], first: int, last: int) -> Lines:
    """The lines ``first`` (counted from 0) up to but not including ``last``."""
    return Lines(start=first + 1, end=last, text="".join(lines[first:last]))


_FOLDER = "memory"
_CURATED = ("MEMORY.md", "memory.md")
_OF_FOLDER = "commonplace"
_LATEST_LOGS = 14


class Places:
    """The paths of logs and entries; ``clock`` gives epoch seconds.

    Where a folder of notes without ``MEMORY.md`` and ``memory/`` is the workspace, they are in its
    folder ``commonplace``: a folder ``memory`` would hide all other notes.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self._workspace = settings.workspace
        self._rules = settings.search.notes.rules
        self._zone = settings.search.query.time_zone or ""
        self._clock = clock

    @property
    def today(self) -> str:
        """The day, as ``2026-01-31``."""
        return today_at(self._clock(), self._zone).isoformat()

    @property
    def log(self) -> str:
        """The path of today's log."""
        return f"{self._folder}/{self.today}.md"

    @property
    def entries(self) -> str:
        """The path of the note with lasting entries."""
        if self._folder != _FOLDER:
            return f"{self._folder}/{_CURATED[0]}"
        there = [name for name in _CURATED if os.path.lexists(os.path.join(self._workspace, name))]
        return there[0] if there else _CURATED[0]

    def compared(self) -> list[str]:
        """The paths of notes that may hold already what is to be remembered."""
        folder = self._folder
        try:
            names = os.listdir(os.path.join(self._workspace, folder))
        except OSError:
            names = []
        dated = sorted((name for name in names if day_of(name) is not None), reverse=True)
        return [self.entries, *(f"{folder}/{name}" for name in dated[:_LATEST_LOGS])]

    @property
    def _folder(self) -> str:
        whole = find_roots(self._workspace, (), self._rules).whole
        return _OF_FOLDER if whole and holds_notes(self._workspace) else _FOLDER
