"""Reading a note below a root."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

from commonplace.files.opening import open_below
from commonplace.files.stats import stamp_of

if TYPE_CHECKING:
    from commonplace.files.roots import Root
    from commonplace.model.documents import Stamp

__all__ = ["decode", "read_bytes"]

_ATTEMPTS = 3
_AT_ONCE = 1 << 26

_MARKS = (
    # The longer first: the mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF8, "utf-8"),
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
            before = stamp_of(os.fstat(opened))
            data = _read_all(opened, size=before[0])
            if stamp_of(os.fstat(opened)) == before:
                break
            os.lseek(opened, 0, os.SEEK_SET)
    finally:
        os.close(opened)
    return data, before


def decode(data: bytes) -> str:
    r"""``data`` as text; never fails.

    It is UTF-8, or what its byte order mark says; the mark is dropped. What cannot be decoded
    becomes U+FFFD. Line ends, NUL and other control characters stay as they are.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def _read_all(opened: int, *, size: int) -> bytes:
    pieces: list[bytes] = []
    wanted = size + 1  # one more than there should be, so that the end is seen in the same call
    while piece := os.read(opened, min(max(wanted, 4096), _AT_ONCE)):
        pieces.append(piece)
        wanted -= len(piece)
        if wanted == 1:
            break
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
