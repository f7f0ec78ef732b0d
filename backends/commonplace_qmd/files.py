"""Small files of a QMD home: written whole or not at all, for nobody else to read."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["make_private_folder", "read_json", "write_whole"]


def make_private_folder(path: str) -> None:
    """Make ``path`` and what is missing above it; nobody else may look into ``path`` itself."""
    os.makedirs(path, exist_ok=True)
    with suppress(OSError):  # somebody else's folder, or a disk without permissions
        os.chmod(path, 0o700)


def write_whole(path: str, data: bytes) -> None:
    """Replace the file at ``path`` by ``data`` in one step; raises ``OSError``."""
    import tempfile

    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:  # made with mode 0600
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def read_json(path: str) -> dict[str, object]:
    """The JSON object in the file at ``path``; empty where there is none that can be read."""
    import json

    try:
        with open(path, "rb") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
