"""Reads and checks the head of a GGUF file, without its tensors."""

from __future__ import annotations

import os
import stat
import struct
from typing import TYPE_CHECKING, Any, BinaryIO

from commonplace_local.errors import local_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.plugin import ProviderError


MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
# The forms of the kinds of value, in which a string and an array have a place, too.
_SCALARS = {kind: f"<{form}" for kind, form in enumerate("BbHhIif?  Qqd") if form != " "}
# Of a tensor's type: how many numbers make a block, and its bytes. Types that are missing here are
# left to the engine.
_BLOCKS = {
    0: (1, 4),  # f32
    1: (1, 2),  # f16
    2: (32, 18),  # q4_0
    3: (32, 20),  # q4_1
    6: (32, 22),  # q5_0
    7: (32, 24),  # q5_1
    8: (32, 34),  # q8_0
    10: (256, 84),  # q2_k
    11: (256, 110),  # q3_k
    12: (256, 144),  # q4_k
    13: (256, 176),  # q5_k
    14: (256, 210),  # q6_k
    30: (1, 2),  # bf16
}
_LONGEST = 16 * 1024 * 1024  # bytes of one string: templates are long, but not that long
_MOST = 100_000

Value = int | float | bool | str


class BrokenFileError(ValueError):
    """The file is no GGUF, is cut short, or is damaged; the message says which."""


def read_metadata(path: str, *, whole: bool) -> Mapping[str, Value]:
    """The file's keys with a scalar or a string; lists are left out.

    Not ``whole`` stops where the tokenizer's words begin, which may be hundreds of thousands: the
    model's name and kind stand before them. ``whole`` reads on, and sees that the file is as long
    as its tensors need. Raises :class:`BrokenFileError`, or ``OSError``.
    """
    with open(path, "rb") as file:
        return _Reader(file).metadata(whole=whole)


class _Reader:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._length = os.fstat(file.fileno()).st_size

    def metadata(self, *, whole: bool) -> dict[str, Value]:
        magic = self._file.read(4)
        if not magic:
            raise BrokenFileError("it is empty")
        if magic != MAGIC:
            raise BrokenFileError("it is no GGUF file")
        version = self._number("<I")
        if version not in _VERSIONS:
            raise BrokenFileError(f"its GGUF version {version} is not one that can be read")
        tensors = self._number("<Q")
        count = self._number("<Q")
        if max(count, tensors) > _MOST:
            raise BrokenFileError("its head is damaged")
        found: dict[str, Value] = {}
        for _ in range(count):
            key = self._string()
            if not whole and key.startswith("tokenizer."):
                break
            value = self._value(self._number("<I"))
            if value is not None:
                found[key] = value
        else:
            alignment = found.get("general.alignment", 32)
            if not isinstance(alignment, int):
                raise BrokenFileError("its head is damaged")
            self._check_length(tensors, alignment)
        return found

    def _check_length(self, tensors: int, alignment: int) -> None:
        """Raise unless the file holds its tensors, whose descriptions come next."""
        needed = 0
        for _ in range(tensors):
            self._string()
            numbers = 1
            for _ in range(self._number("<I")):
                numbers *= self._number("<Q")
            block, size = _BLOCKS.get(self._number("<I"), (1, 0))
            needed = max(needed, self._number("<Q") + numbers // block * size)
        begin = -(-self._file.tell() // max(1, alignment)) * max(1, alignment)
        if tensors and begin + needed > self._length:
            raise BrokenFileError(
                f"it is cut short: {self._length} of {begin + needed} bytes are here"
            )

    def _value(self, kind: int) -> Value | None:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._skip(self._number("<I"), self._number("<Q"))
            return None
        if kind not in _SCALARS:
            raise BrokenFileError("its head is damaged")
        number: Value = self._number(_SCALARS[kind])
        return number

    def _skip(self, kind: int, count: int) -> None:
        if kind == _STRING:
            for _ in range(count):
                self._string()
        elif kind in _SCALARS and count <= self._length:
            self._file.seek(struct.calcsize(_SCALARS[kind]) * count, 1)
        else:
            raise BrokenFileError("its head is damaged")

    def _string(self) -> str:
        length: int = self._number("<Q")
        if length > _LONGEST:
            raise BrokenFileError("its head is damaged")
        return self._bytes(length).decode("utf-8", "replace")

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._bytes(struct.calcsize(form)))[0]

    def _bytes(self, count: int) -> bytes:
        raw = self._file.read(count)
        if len(raw) < count:
            raise BrokenFileError("it is cut short")
        return raw


_HINT = "set local.modelPath to a GGUF file, or to hf:owner/repo/file.gguf"
_SAMPLES = 64
_SAMPLE = 4096


def checked_names(path: str) -> tuple[str, ...]:
    """The names that the file gives for itself and its architecture.

    Raises :class:`~commonplace.errors.ProviderError` unless ``path`` can be a model.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise local_error("not_found", f"{path} is a folder, not a model", hint=_HINT)
        if not stat.S_ISREG(mode):
            raise local_error("not_found", f"{path} is no regular file", hint=_HINT)
        metadata = read_metadata(path, whole=False)
    except BrokenFileError as error:
        hint = "download it again: " + _HINT if "cut short" in str(error) else _HINT
        raise local_error("not_found", f"{path} cannot be loaded: {error}", hint=hint) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    names = (metadata.get(f"general.{key}") for key in ("name", "basename", "architecture"))
    return tuple(str(name) for name in names if name)


def identity(path: str) -> str:
    """A name for the file's content, wherever it lies; other weights give another one.

    Of a file of gigabytes, the size and 64 pieces spread evenly are read: any training moves all
    weights, so models that differ, differ there. Raises as :func:`checked_names`.
    """
    from hashlib import blake2b

    digest = blake2b(digest_size=12)
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(str(size).encode())
            for place in range(_SAMPLES):
                file.seek(max(0, size - _SAMPLE) * place // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE))
    except OSError as error:
        raise _unreadable(path, error) from None
    return digest.hexdigest()


def _unreadable(path: str, error: OSError | ValueError) -> ProviderError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return local_error("not_found", f"there is no file {path}", hint=_HINT)
    words = getattr(error, "strerror", None) or str(error)
    return local_error("not_found", f"{path} cannot be read: {words}", hint=_HINT)
