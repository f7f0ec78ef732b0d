"""Looks at a model's file before an engine does: is it one, and which one is it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from commonplace_local.faults import fault
from commonplace_local.gguf import BrokenFileError, read_metadata

if TYPE_CHECKING:
    from commonplace.plugin import ProviderError

__all__ = ["identity", "told_names"]

_MEND = "set local.modelPath to a GGUF file, or to hf:owner/repo/file.gguf"
_SAMPLES = 64
_SAMPLE = 4096


def told_names(path: str) -> tuple[str, ...]:
    """What the file calls itself and its kind.

    Raises :class:`~commonplace.errors.ProviderError` unless ``path`` could be a model.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise fault("not_found", f"{path} is a folder, not a model", hint=_MEND)
        if not stat.S_ISREG(mode):
            raise fault("not_found", f"{path} is no regular file", hint=_MEND)
        told = read_metadata(path, whole=False)
    except BrokenFileError as error:
        hint = "download it again: " + _MEND if "cut short" in str(error) else _MEND
        raise fault("not_found", f"{path} cannot be loaded: {error}", hint=hint) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    names = (told.get(f"general.{key}") for key in ("name", "basename", "architecture"))
    return tuple(str(name) for name in names if name)


def identity(path: str) -> str:
    """A name for the file's content, wherever it lies; other weights give another one.

    Of a file of gigabytes, the size and 64 pieces spread evenly are read: any training moves all
    weights, so models that differ, differ there. Raises as :func:`told_names`.
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
        return fault("not_found", f"there is no file {path}", hint=_MEND)
    words = getattr(error, "strerror", None) or str(error)
    return fault("not_found", f"{path} cannot be read: {words}", hint=_MEND)
