"""Reading notes safely: confined paths, decoding, and lines for `get`."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from typing import TYPE_CHECKING

from commonplace.errors import (
    NoteNotFoundError,
    PathNotAllowedError,
    UnavailableError,
    WorkspaceError,
)
from commonplace.files.roots import ENDINGS, how_to_restore, stamp_of
from commonplace.model.reports import NoteText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.files.roots import Root, Roots
    from commonplace.model.documents import Stamp


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
# A folder that is only passed through needs no permission to be listed, where that can be said.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_FILE = (
    os.O_RDONLY | _NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_STEPWISE = bool(_NOFOLLOW) and {os.open, os.stat} <= os.supports_dir_fd

_REFUSALS = frozenset(
    {errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENXIO, errno.EINVAL}
)
"""What systems answer for links, for files used as folders, sockets and impossible names."""


def open_below(base: str, parts: Sequence[str]) -> int:
    """A descriptor for reading of the regular file ``base/parts[0]/parts[1]/...``.

    Links in ``base`` are followed, in ``parts`` never, also if one is put there while this runs.
    A file that is not regular is not opened at all, so that no pipe is waited for.

    Raises :class:`~commonplace.errors.PathNotAllowedError` for links and for what is no regular
    file, ``FileNotFoundError`` where nothing is, and other ``OSError``.
    """
    if not parts:
        raise PathNotAllowedError
    try:
        return (_open_stepwise if _STEPWISE else _open_compared)(base, parts)
    except OSError as error:
        if error.errno in _REFUSALS:
            raise PathNotAllowedError from None
        raise
    except ValueError:  # a NUL, or a surrogate that stands for nothing
        raise PathNotAllowedError from None


def _open_stepwise(base: str, parts: Sequence[str]) -> int:
    """Walk down by descriptors: what is checked is what is opened."""
    folder = os.open(base, _FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        _require_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))
        opened = os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    return _checked(opened)


def _open_compared(base: str, parts: Sequence[str]) -> int:
    """Where there is no walking by descriptors (Windows): compare names before and after.

    A link that is there, or is put there once, is refused. A process that keeps swapping a
    folder and a link at the right moments could still win; with descriptors, none can.
    """
    location = os.path.join(base, *parts)
    _require_no_link(base, parts)
    _require_regular(os.lstat(location))
    opened = _checked(os.open(location, _FILE))
    try:
        _require_no_link(base, parts)
        same = os.path.samestat(os.fstat(opened), os.lstat(location))
        _require_no_link(base, parts)
    except BaseException:
        os.close(opened)
        raise
    if not same:
        os.close(opened)
        raise PathNotAllowedError
    return opened


def _require_no_link(base: str, parts: Sequence[str]) -> None:
    direct = os.path.join(os.path.realpath(base), *parts)
    real = os.path.realpath(os.path.join(base, *parts))
    if os.path.normcase(real) != os.path.normcase(direct):
        raise PathNotAllowedError


def _require_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise PathNotAllowedError


def _checked(opened: int) -> int:
    try:
        _require_regular(os.fstat(opened))
    except BaseException:
        os.close(opened)
        raise
    return opened


_LONGEST = 4096
_CITATION = re.compile(r"(?:#L([0-9]{1,9})(?:-L?([0-9]{1,9}))?|:([0-9]{1,9})(?:-([0-9]{1,9}))?)\Z")


def split_citation(path: str) -> tuple[str, int | None, int | None]:
    """``path#L3-L9`` or ``path:3-9`` as path, first and last line; without the last, one line.

    Without such an ending, which no note's name has, the lines are ``None``. Blanks before the path
    stay: a name can begin with one.
    """
    path = path.rstrip()
    found = _CITATION.search(path)
    if found is None:
        return path, None, None
    first = int(found[1] or found[3])
    last = int(found[2] or found[4] or first)
    return path[: found.start()], min(first, last), max(first, last)


def spellings(path: str) -> Iterator[str]:
    """``path``, then with each ending that it may lack, before its lines and after.

    Then without blanks before it. Then as others spell it: macOS gives ``é`` as two signs.
    """
    ways = [path]
    for bare in dict.fromkeys((path.rstrip(), path.strip())):
        ways += [bare] if bare != path else []
        name, first, _ = split_citation(bare)
        for whole, tail in ((name, bare[len(name) :]), (bare, "")):
            if not whole.endswith((*ENDINGS, "/")) and whole:
                ways += (f"{whole}{ending}{tail}" for ending in ENDINGS)
            if first is None:
                break
    yield from ways
    if not path.isascii():
        from unicodedata import normalize  # few paths need it

        for form in ("NFC", "NFD"):
            yield from (other for way in ways if (other := normalize(form, way)) != way)


def lacks_ending(path: str) -> bool:
    """Whether ``path``, perhaps a citation, has no ending, as a note's may be written."""
    name = split_citation(path)[0]
    return not os.path.splitext(name)[1] and not name.endswith("/")


def resolve(roots: Roots, path: str) -> tuple[Root, str]:
    """The root that admits ``path``, and the part below it as ``read_bytes`` takes it.

    ``path`` is relative to the workspace, as search results name it, or absolute. ``..`` is
    taken out of the name before anything is looked up, so it cannot be used to step through a
    link; the names alone decide, and whether such a file exists plays no part.

    Raises :class:`~commonplace.errors.PathNotAllowedError`, in the same words whatever the reason.
    """
    for asked in dict.fromkeys((path, path.strip())):
        if len(asked) > _LONGEST or "\0" in asked or not asked.endswith(ENDINGS):
            continue
        location = os.path.normpath(os.path.join(roots.workspace, asked))
        for root, relative in _admitting(roots, location, absolute=os.path.isabs(asked)):
            if _is_plain(roots.stored(location), relative):
                return root, relative
    raise PathNotAllowedError


def _admitting(roots: Roots, location: str, *, absolute: bool) -> Iterator[tuple[Root, str]]:
    for root in roots.all:
        relative = root.below(location)
        if relative is not None:
            yield root, relative
    if not absolute:
        return
    for root in roots.all:
        # The same place by another name: /private/tmp for /tmp, a workspace that is a link.
        real = os.path.join(os.path.realpath(root.base), *root.parts)
        if real != root.location:
            relative = root._replace(location=real).below(location)
            if relative is not None:
                yield root, relative


def _is_plain(stored: str, relative: str) -> bool:
    """Whether an index can hold this name, and a file system will not read more into it."""
    try:
        stored.encode()
    except UnicodeEncodeError:
        return False
    # On Windows a colon begins the name of a stream within the file.
    return os.name != "nt" or ":" not in relative


_ATTEMPTS = 3
_AT_ONCE = 1 << 26

BYTE_ORDER_MARKS = (
    # The longer first: the mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_bytes(root: Root, relative: str) -> tuple[bytes, Stamp]:
    """All bytes of the file ``relative`` (forward slashes, ``""``: the root itself) below ``root``.

    The stamp is what it was before the first byte was read. A file that is written meanwhile is
    read again, three times in all; if it never rests, the last bytes come with the stamp from
    before them, so that the next scan sees that it has changed.

    Raises :class:`~commonplace.errors.PathNotAllowedError` where a link is in the way or the file
    is not a regular one, ``FileNotFoundError`` where nothing is, and other ``OSError``.
    """
    below = relative.split("/") if relative else []
    opened = open_below(root.base, [*root.parts, *below])
    try:
        for _ in range(_ATTEMPTS):
            status = os.fstat(opened)
            before = stamp_of(status)
            data = _read_all(opened, size=status.st_size)
            if stamp_of(os.fstat(opened)) == before:
                break
            os.lseek(opened, 0, os.SEEK_SET)
    finally:
        os.close(opened)
    return data, before


_UNREADABLE = (
    "it is neither UTF-8 nor UTF-16 nor Western European text: save it as UTF-8, "
    "or take it out of the notes"
)
_WITHOUT_MARK = 8
"""Bytes of a text in UTF-16 without a byte order mark, at least: fewer tell nothing."""

# What the bytes 0x80 to 0xFF are in Windows' Latin-1; five of them are nothing.
_WESTERN = bytes(range(0x80, 0x100)).decode("cp1252", "replace").replace("\ufffd", "\x7f")
_OF_BYTES = dict(enumerate(_WESTERN, 0x80))
OF_ESCAPES = dict(enumerate(_WESTERN, 0xDC80))
"""What bytes that are no UTF-8 are, as ``surrogateescape`` gives them."""
_FOREIGN = re.compile(
    # Other alphabets in one byte a letter make long runs of these, and signs inside words.
    r"[\x00-\x08\x0e-\x1f\x7f\xa4\xa6\xa8\xaf\xb8]|[^\x00-\x7f]{4}|[^\W\d_a-zA-Z]{3}"
    r"|(?<=[^\W\d_])[\xa1-\xa9\xab\xac\xae-\xb4\xb6\xb9\xbb-\xbf\xd7\xf7](?=[^\W\d_])"
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_SIGNS = re.compile(r"[\xa1-\xaa\xac-\xaf\xb1-\xb6\xb8-\xba\xbc-\xbf]")
_MOST_FOREIGN = 0.5
"""The largest share of letters beyond A to Z in a text of a Western European language."""


def decode(data: bytes) -> str:
    r"""``data`` as text.

    It is UTF-8, or what its byte order mark says; the mark is dropped. UTF-16 is known without one
    by the NUL in every second place. Bytes that are no UTF-8 are Western European (Windows-1252,
    the Latin-1 of old editors), if the text looks like that. Line ends, NUL and other control
    characters stay as they are. What no mark's encoding has becomes U+FFFD.

    Raises ``OSError`` (``EILSEQ``) for anything else, such as an image or another alphabet in one
    byte a letter: a guess would be found by words that are not in it.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _western(data)
    return _without_mark(data) or text if "\0" in text else text


def _without_mark(data: bytes) -> str:
    """``data`` as UTF-16, if nearly every second byte is NUL; else ``""``."""
    if len(data) < _WITHOUT_MARK or len(data) % 2:
        return ""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if data[first::2].count(0) * 10 >= len(data) * 4 and not data[1 - first :: 2].count(0):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                return ""
    return ""


def _western(data: bytes) -> str:
    """``data`` as Windows-1252, or as UTF-8 with such bytes in it. Raises ``OSError``."""
    if found := _without_mark(data):
        return found
    if _CONTROLS.search(data):  # no text in either reading below: a long image is refused at once
        raise OSError(errno.EILSEQ, _UNREADABLE)
    text = data.decode("latin-1").translate(_OF_BYTES)
    if looks_western(text):
        return text
    text = data.decode("utf-8", "surrogateescape")
    alone = "".join(sign if sign < "\x80" or ord(sign) in OF_ESCAPES else " " for sign in text)
    alone = alone.translate(OF_ESCAPES)
    if _SIGNS.search(alone) or not looks_western(alone):
        raise OSError(errno.EILSEQ, _UNREADABLE)
    return text.translate(OF_ESCAPES)


def looks_western(text: str) -> bool:
    """Whether ``text``, read as Windows-1252, is likely to be that."""
    if _FOREIGN.search(text):
        return False
    letters = sum(map(str.isalpha, text))
    foreign = letters - sum(sign.isalpha() for sign in text if sign.isascii())
    return foreign <= max(2, letters * _MOST_FOREIGN)


def _read_all(opened: int, *, size: int) -> bytes:
    pieces: list[bytes] = []
    wanted = size + 1  # one more than there should be, so that the end is seen in the same call
    while piece := os.read(opened, min(max(wanted, 4096), _AT_ONCE)):
        pieces.append(piece)
        wanted -= len(piece)
        if wanted == 1:
            break
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_lines(
    roots: Roots, path: str, start: int | None = None, lines: int | None = None, prefix: str = ""
) -> NoteText:
    r"""``lines`` lines of the note at ``path`` from the 1-based line ``start``; all by default.

    ``path`` is as in :func:`commonplace.files.reading.resolve`, or a citation (``path#L3-L9`` or
    ``path:3-9``) whose lines count where none are given. ``start`` and ``lines`` below 1 are taken
    as 1. Lines end at ``\n`` or ``\r\n``; the text keeps them as they stand in the file, without
    the one after the last line. Past the end the text is empty and ``end_line`` is below
    ``start_line``. ``prefix`` stands before the path that the answer names.

    Raises :class:`~commonplace.errors.PathNotAllowedError` for everything memory may not read,
    :class:`~commonplace.errors.NoteNotFoundError` where an allowed path has no note,
    :class:`~commonplace.errors.WorkspaceError` where the workspace is gone, and
    :class:`~commonplace.errors.UnavailableError` where the file cannot be read now.
    """
    path, cited_first, cited_last = split_citation(path)
    if start is None and lines is None and cited_first is not None and cited_last is not None:
        start, lines = cited_first, cited_last - max(1, cited_first) + 1
    root, relative = resolve(roots, path)
    stored = prefix + roots.stored_below(root, relative)
    try:
        text = decode(read_bytes(root, relative)[0])
    except FileNotFoundError:
        if not prefix and not os.path.isdir(roots.workspace):
            raise WorkspaceError(
                "the workspace is missing or not a folder", hint=how_to_restore(roots.workspace)
            ) from None
        raise NoteNotFoundError(
            f"there is no note {stored}", hint="search for it: search results name their notes"
        ) from None
    except OSError as error:
        raise UnavailableError(
            f"{stored} cannot be read: {error.strerror or error}",
            hint="check that it is text, its permissions and the disk",
        ) from error
    note = cut_lines(stored, text, start, lines)
    return note if root.own else note.replace(trust="external")


def cut_lines(path: str, text: str, start: int | None, lines: int | None) -> NoteText:
    """``lines`` lines of ``text`` from line ``start``, as :func:`read_lines` gives them."""
    total = text.count("\n") + (not text.endswith("\n") and text != "")
    first = max(1, start or 1)
    last = total if lines is None else min(total, first + max(1, lines) - 1)
    if first > last:
        return NoteText(path=path, text="", start_line=first, end_line=first - 1, total_lines=total)
    # Splitting no further than the last line wanted keeps long notes cheap.
    pieces = text.split("\n", last)[first - 1 : last]
    if last < total or text.endswith("\n"):
        pieces[-1] = pieces[-1].removesuffix("\r")
    return NoteText(
        path=path, text="\n".join(pieces), start_line=first, end_line=last, total_lines=total
    )
