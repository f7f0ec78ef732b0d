"""Reads what a GGUF file says of itself, without its tensors."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAGIC", "BrokenFileError", "Value", "read_metadata"]

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_LONGEST = 16 * 1024 * 1024  # bytes of one string: templates are long, but not that long
_MOST = 100_000

Value = int | float | bool | str


class BrokenFileError(ValueError):
    """The file is no GGUF, is cut short, or is damaged; ``str()`` says which in a few words."""


def read_metadata(path: str, *, whole: bool) -> Mapping[str, Value]:
    """The file's keys with a scalar or a string; lists are left out.

    Not ``whole`` stops where the tokenizer's words begin, which may be hundreds of thousands: the
    model's name and kind stand before them. Raises :class:`BrokenFileError`, or ``OSError``.
    """
    with open(path, "rb") as file:
        return _Reader(file).metadata(whole=whole)


class _Reader:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def metadata(self, *, whole: bool) -> dict[str, Value]:
        magic = self._file.read(4)
        if not magic:
            raise BrokenFileError("it is empty")
        if magic != MAGIC:
            raise BrokenFileError("it is no GGUF file")
        version = self._number("<I")
        if version not in _VERSIONS:
            raise BrokenFileError(f"its GGUF version {version} is not one that can be read")
        self._number("<Q")  # tensors
        count = int(self._number("<Q"))
        if count > _MOST:
            raise BrokenFileError("its head is damaged")
        found: dict[str, Value] = {}
        for _ in range(count):
            key = self._string()
            if not whole and key.startswith("tokenizer."):
                break
            value = self._value(int(self._number("<I")))
            if value is not None:
                found[key] = value
        return found

    def _value(self, kind: int) -> Value | None:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._skip(int(self._number("<I")), int(self._number("<Q")))
            return None
        if kind not in _SCALARS:
            raise BrokenFileError("its head is damaged")
        return self._number(_SCALARS[kind])

    def _skip(self, kind: int, count: int) -> None:
        if kind == _STRING:
            for _ in range(count):
                self._string()
        elif kind in _SCALARS:
            self._file.seek(struct.calcsize(_SCALARS[kind]) * count, 1)
        else:
            raise BrokenFileError("its head is damaged")

    def _string(self) -> str:
        length = int(self._number("<Q"))
        if length > _LONGEST:
            raise BrokenFileError("its head is damaged")
        return self._bytes(length).decode("utf-8", "replace")

    def _number(self, form: str) -> int | float | bool:
        number: int | float | bool = struct.unpack(form, self._bytes(struct.calcsize(form)))[0]
        return number

    def _bytes(self, count: int) -> bytes:
        raw = self._file.read(count)
        if len(raw) < count:
            raise BrokenFileError("it is cut short")
        return raw
