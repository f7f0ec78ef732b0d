"""The notes that are written: where they are, and their lines, which go back to the same bytes."""

from __future__ import annotations

import codecs
import os
import re
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING
from unicodedata import normalize

from commonplace.errors import CallerError, UnavailableError, WriteRefusedError
from commonplace.files.left_out import holds_notes
from commonplace.files.reading import BYTE_ORDER_MARKS, OF_ESCAPES, decode, looks_western
from commonplace.files.roots import day_of, find_roots
from commonplace.model.documents import CURATED, CURATED_IN_PLAIN, is_day
from commonplace.model.receipts import Lines
from commonplace.model.tuples import NamedTuple
from commonplace.text.dates import today_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from commonplace.config.settings import Settings
    from commonplace.model.reports import Status

WESTERN = "cp1252"
"""The encoding of a note in which no byte beyond ASCII is UTF-8: Windows-1252, so Latin-1, too."""

_MARK = "\ufeff"
_ESCAPED = re.compile("[\udc80-\udcff]")
_LOG = re.compile(r"\d{4}-\d\d-\d\d(?:-.*)?\.md", re.DOTALL)


class NoteFile(NamedTuple):
    """The lines of a file, with their ends, and how they become its bytes again.

    ``mark`` is the byte order mark; ``encoding`` is ``""`` where it is not known. Bytes that are no
    UTF-8 in a file that is not :data:`WESTERN` become lone surrogates, so that lines that are not
    touched keep their bytes whatever they are; :func:`readable` gives what a reader sees.
    """

    lines: tuple[str, ...] = ()
    encoding: str = "utf-8"
    mark: bytes = b""
    path: str = ""

    @property
    def newline(self) -> str:
        """How most lines end."""
        crlf = sum(line.endswith("\r\n") for line in self.lines)
        return "\r\n" if crlf * 2 > len(self.lines) else "\n"

    def with_lines(self, lines: Sequence[str]) -> NoteFile:
        """The same file with other lines."""
        return self._replace(lines=tuple(lines))

    @property
    def is_mixed(self) -> bool:
        """Whether some bytes are no UTF-8, and others may be."""
        return _ESCAPED.search("".join(self.lines)) is not None

    def data(self) -> bytes:
        """The bytes of the file, which are read as its lines.

        Raises :class:`~commonplace.errors.WriteRefusedError` where its encoding lacks a character.
        """
        if not self.encoding:
            raise _no_text(self.path, "is neither UTF-8 nor UTF-16 nor Western European text")
        text = "".join(self.lines)
        try:
            data = self.restored()
            is_read = decode(data) == (comparable if self.encoding == WESTERN else readable)(text)
        except UnicodeEncodeError as error:
            sign = error.object[error.start]
            raise self.unfit(f"which has no {sign!r} (U+{ord(sign):04X})") from error
        except OSError:
            is_read = False
        if not is_read and self.encoding == "utf-8" and text.startswith(_MARK):
            raise WriteRefusedError(
                f"{self.path} would begin with U+FEFF, which would be taken for a byte order mark",
                kind="encoding",
                hint="leave this character out: it cannot be seen",
            )
        if not is_read:
            raise self.unfit("and with this text it would be taken for another encoding")
        return data

    def restored(self) -> bytes:
        """The bytes of these lines, however they are read; raises ``UnicodeEncodeError``."""
        text = "".join(self.lines)
        if self.encoding == WESTERN:
            # A letter and its accent may be typed as two characters: it has only both in one.
            return self.mark + comparable(text).encode(WESTERN)
        errors = "surrogateescape" if self.encoding in ("utf-8", "") else "strict"
        return self.mark + text.encode(self.encoding or "utf-8", errors)

    def unfit(self, why: str, hint: str = "") -> WriteRefusedError:
        """The refusal of a text that does not fit into the encoding of the file."""
        from shlex import quote

        said, how = (self.encoding or "utf-8").upper(), "save it as UTF-8 in an editor first"
        if self.is_mixed:
            said += " and in another encoding"
        if self.encoding == WESTERN:
            name, new = quote(self.path), quote(f"{self.path}.new")
            said, how = "Windows-1252 (Latin-1)", "make the note UTF-8 first, in the workspace: "
            # Written back into the same file, it keeps its rights.
            how += f"iconv -f CP1252 -t UTF-8 {name} > {new} && cat {new} > {name} && rm {new}"
        return WriteRefusedError(
            f"{self.path} is in {said}, {why}", kind="encoding", hint=hint or how
        )


def read_note(data: bytes | None, path: str) -> NoteFile:
    """The file as lines; one that is not there has none.

    Raises :class:`~commonplace.errors.WriteRefusedError` for bytes that are no text.
    """
    if not data:
        return NoteFile(path=path)
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise _no_text(path) from error
            return NoteFile(tuple(split_lines(text)), encoding, mark, path)
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if b"\0" in data:
        raise _no_text(path)
    text, encoding = _decoded(data[len(mark) :])
    return NoteFile(tuple(split_lines(text)), encoding, mark, path)


def _decoded(data: bytes) -> tuple[str, str]:
    """Text and encoding of what has neither a mark nor NUL, as :func:`decode` takes them."""
    with suppress(UnicodeDecodeError):
        return data.decode(), "utf-8"
    with suppress(UnicodeDecodeError):
        text = data.decode(WESTERN)
        if looks_western(text):
            return text, WESTERN
    text = data.decode("utf-8", "surrogateescape")
    with suppress(OSError):
        decode(data)
        return text, "utf-8"
    return text, ""


def readable(text: str) -> str:
    """``text`` of a note as a search shows it: stray bytes are letters of Western Europe."""
    return text if text.isascii() else text.translate(OF_ESCAPES)


def comparable(text: str) -> str:
    """``text`` so that what a reader cannot tell apart is equal, whatever its bytes are."""
    return text if text.isascii() else normalize("NFC", readable(text))


def _no_text(
    path: str, why: str = "is no text that can be changed line by line"
) -> WriteRefusedError:
    return WriteRefusedError(
        f"{path} {why}",
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

    def since(self, day: object) -> str:
        """``day`` since which something holds: today where it is ``None``."""
        if day is None:
            return self.today
        if not is_day(day):
            raise CallerError(f"since must be a day such as 2026-01-31, not {day!r:.40}")
        return str(day)

    @property
    def log(self) -> str:
        """The path of today's log."""
        return f"{self._folder}/{self.today}.md"

    @property
    def entries(self) -> str:
        """The path of the note with lasting entries."""
        names = self.curated
        there = [name for name in names if os.path.lexists(os.path.join(self._workspace, name))]
        return there[0] if there else names[0]

    @property
    def curated(self) -> tuple[str, ...]:
        """The paths that the note with lasting entries may have; the first that is there counts."""
        return CURATED if self._folder == _FOLDER else CURATED_IN_PLAIN

    def compared(self) -> list[str]:
        """The paths of notes that may hold already what is to be remembered."""
        folder, names = self._listed()
        dated = sorted((name for name in names if day_of(name) is not None), reverse=True)
        return [self.entries, *(f"{folder}/{name}" for name in dated[:_LATEST_LOGS])]

    def logs(self, day: date) -> list[str]:
        """The paths of the logs of a day: ``memory/2026-01-31.md``, then those with a slug."""
        start = day.isoformat()
        folder, names = self._listed()
        found = [name for name in names if name.startswith(start) and name.endswith(".md")]
        return [f"{folder}/{name}" for name in sorted(found) if name[len(start)] in ".-"]

    def latest_logs(self, before: date) -> list[str]:
        """The paths of the logs of the newest day before ``before`` that has any."""
        _, names = self._listed()
        logs = filter(_LOG.fullmatch, names)
        days = (day for name in logs if (day := day_of(name)) is not None)
        newest = max((day for day in days if day < before), default=None)
        return self.logs(newest) if newest else []

    def _listed(self) -> tuple[str, list[str]]:
        """The folder of logs, and the names in it."""
        folder = self._folder
        try:
            return folder, os.listdir(os.path.join(self._workspace, folder))
        except OSError:
            return folder, []

    @property
    def _folder(self) -> str:
        whole = find_roots(self._workspace, (), self._rules).whole
        return _OF_FOLDER if whole and holds_notes(self._workspace) else _FOLDER


def check_workspace(workspace: str, status: Callable[[], Status]) -> None:
    """Raise ``UnavailableError`` where nothing is left in a workspace of which notes are indexed.

    Its disk may not be mounted: what was written there would be out of sight once it is.
    """
    try:
        with os.scandir(workspace) as entries:
            if next(entries, None) is not None:
                return
    except OSError:
        return  # writing says why
    # A root that is not there counts as failed where the index holds something of it.
    if any(not root.root for root in status().failed_roots):
        raise UnavailableError(
            f"{workspace} is empty, and its notes are in the index: its disk may not be mounted",
            hint="mount it; if the notes were deleted, make the folder memory/ in it",
        )
