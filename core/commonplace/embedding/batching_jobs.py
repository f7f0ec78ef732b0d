"""Batch jobs under way, kept on disk: a process that is started again picks them up."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.dirs import make_private_folder
from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["JobRecord", "JobStore", "Taken"]

_VERSION = 1
_ENDING = ".json"


class JobRecord(NamedTuple):
    """One job: ``name`` is ours, ``job`` the vendor's (``""`` until its beginning was answered).

    ``key`` names provider and form of the texts, ``ids`` are digests of the texts, which are the
    lines' custom ids too; no text is kept. ``created`` is epoch seconds. ``dims`` are those of the
    vectors, where they were known.
    """

    name: str
    provider: str
    key: str
    ids: tuple[str, ...]
    created: float
    job: str = ""
    dims: int | None = None


class Taken(Exception):  # noqa: N818 - no error: somebody else is at work
    """Another process, or thread, works with the jobs."""


class JobStore:
    """A folder with a file for each job, which only its owner may read."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def lease(self) -> AbstractContextManager[object]:
        """To be held by who submits, polls and forgets. Raises :class:`Taken` at once."""
        from filelock import FileLock, Timeout

        self._make()
        lock = FileLock(os.path.join(self.folder, "lock"), timeout=0, mode=0o600)
        try:
            return lock.acquire()
        except Timeout:
            raise Taken from None
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def load(self) -> list[JobRecord]:
        """All jobs, oldest first; files that cannot be read are none."""
        found = []
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in os.scandir(self.folder):
                if entry.name.endswith(_ENDING):
                    record = _read(entry.path)
                    if record is not None:
                        found.append(record)
        return sorted(found, key=lambda record: (record.created, record.name))

    def save(self, record: JobRecord) -> None:
        """Keep it, whole or not at all. Raises :class:`UnavailableError`."""
        self._make()
        path = self._path(record.name)
        beside = f"{path}.{secrets.token_hex(4)}"
        try:
            handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"version": _VERSION, **record._asdict()}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise _unusable(self.folder, error) from error

    def forget(self, record: JobRecord) -> None:
        """Keep it no longer."""
        with contextlib.suppress(OSError):
            os.unlink(self._path(record.name))

    def _make(self) -> None:
        try:
            make_private_folder(self.folder)
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name + _ENDING)


def _read(path: str) -> JobRecord | None:
    try:
        with open(path, encoding="utf-8") as file:
            held: Any = json.load(file)
        right = (
            held.pop("version") == _VERSION
            and all(isinstance(held[name], str) for name in ("name", "provider", "key", "job"))
            and isinstance(held["created"], (int, float))
            and isinstance(held["dims"], (int, type(None)))
            and all(isinstance(id_, str) for id_ in held["ids"])
            and os.path.basename(path) == held["name"] + _ENDING
        )
        return JobRecord(**{**held, "ids": tuple(held["ids"])}) if right else None
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def _unusable(folder: str, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"batch jobs cannot be kept in {folder}: {error.strerror or error}",
        hint="make the folder writable, or set remote.batch.enabled to false",
    )
