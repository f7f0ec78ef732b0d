"""Fetches a model into the hub's cache folder: resumed after breaks, checked, put there whole."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING

import httpx

from commonplace_local.faults import fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import Deadline
    from commonplace_local.cached import CacheFolder
    from commonplace_local.hub import Hub, RemoteFile
    from commonplace_local.references import HubModel

    Progress = Callable[[int, int | None], None]

__all__ = ["Downloader"]

_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = 1024 * 1024
_LONGEST_WAIT = 24 * 3600.0


class Downloader:
    """Fetches the files of one model; ``progress`` is told (bytes here, bytes in all)."""

    def __init__(self, hub: Hub, folder: CacheFolder, progress: Progress) -> None:
        self._hub = hub
        self._folder = folder
        self._progress = progress

    def fetch(self, model: HubModel, *, deadline: Deadline) -> str:
        """The path of the file to load, once all parts of ``model`` are here.

        What was fetched when the deadline passes, or the connection breaks for good, is kept, and
        the next call goes on from there. Raises :class:`~commonplace.errors.ProviderError`.
        """
        if not model.path:
            model = self._hub.pick(model, deadline=deadline)
        try:
            for part in model.parts():
                told = self._hub.head(model, part, deadline=deadline)
                self._whole(model, part, told, deadline)
                self._name(part, told)
            self._remember(model, told.commit)
        except OSError as error:
            raise fault(
                "unavailable",
                f"the model cannot be written below {self._folder.base}: {error.strerror or error}",
                hint="make room or give rights there, or set local.modelCacheDir",
            ) from error
        return self._folder.place(model.parts()[0], told.commit)

    def _whole(self, model: HubModel, path: str, told: RemoteFile, deadline: Deadline) -> None:
        from filelock import FileLock, Timeout

        blob, lock = self._folder.blob(told.etag), self._folder.lock(told.etag)
        for place in (blob, lock):
            os.makedirs(os.path.dirname(place), exist_ok=True)
        try:
            with FileLock(lock, timeout=min(deadline.remaining(), _LONGEST_WAIT)):
                if not os.path.exists(blob):
                    self._fetch(model, path, told, deadline)
        except Timeout:
            raise fault("timeout", "another process is still downloading the model") from None

    def _fetch(self, model: HubModel, path: str, told: RemoteFile, deadline: Deadline) -> None:
        blob = self._folder.blob(told.etag)
        partial = f"{blob}.incomplete"
        while True:
            before = _size(partial)
            if told.size is not None and before > told.size:
                os.unlink(partial)
                before = 0
            if told.size is not None and before == told.size:
                break
            try:
                if self._append(model, path, partial, told, deadline):
                    break
            except httpx.HTTPError as error:
                here = _size(partial)
                # Each break that still let bytes through is worth going on at once.
                if here > before and not deadline.expired:
                    continue
                raise self._stopped(here, told, str(error) or type(error).__name__) from None
            if deadline.expired:
                raise self._stopped(_size(partial), told, "the time was up", late=True)
        self._check(partial, told)
        os.replace(partial, blob)

    def _append(
        self, model: HubModel, path: str, partial: str, told: RemoteFile, deadline: Deadline
    ) -> bool:
        """Fetch what is missing of ``partial``; whether that was all of it."""
        start = _size(partial)
        with self._hub.content(
            model, path, start=start, etag=told.etag, deadline=deadline
        ) as answer:
            if answer.status_code == 416 or (
                answer.status_code == 206
                and not answer.headers.get("content-range", "").startswith(f"bytes {start}-")
            ):
                if not start:
                    raise fault("protocol", "the hub sends a part of a file, asked for all of it")
                # What is here is not the beginning of what is there.
                os.unlink(partial)
                return False
            resumed = answer.status_code == 206
            with open(partial, "ab" if resumed else "wb", buffering=0) as file:
                here = start if resumed else 0
                self._progress(here, told.size)
                try:
                    # In pieces as they come: gathered to a size, they would be lost in a break.
                    for part in answer.iter_raw():
                        file.write(part)
                        here += len(part)
                        self._progress(here, told.size)
                        if deadline.expired:
                            return told.size == here
                finally:
                    os.fsync(file.fileno())
        return True

    def _check(self, partial: str, told: RemoteFile) -> None:
        wrong = told.size is not None and _size(partial) != told.size
        if not wrong and _SHA256.fullmatch(told.etag):
            wrong = _digest(partial) != told.etag
        if wrong:
            os.unlink(partial)
            raise fault(
                "protocol",
                "what was downloaded is not the file that the hub describes",
                hint="try again; if it stays so, a proxy may be changing downloads",
            )

    def _name(self, path: str, told: RemoteFile) -> None:
        place, blob = self._folder.place(path, told.commit), self._folder.blob(told.etag)
        if os.path.exists(place):
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):  # a link to what was deleted
            os.unlink(place)
        try:
            os.symlink(os.path.relpath(blob, os.path.dirname(place)), place)
        except (OSError, NotImplementedError):
            os.replace(blob, place)  # no links here: the file itself, as the hub's library does

    def _remember(self, model: HubModel, commit: str) -> None:
        if model.revision == commit:
            return
        ref = self._folder.ref()
        os.makedirs(os.path.dirname(ref), exist_ok=True)
        with open(f"{ref}.new", "w", encoding="utf-8") as file:
            file.write(commit)
        os.replace(f"{ref}.new", ref)

    def _stopped(self, here: int, told: RemoteFile, why: str, *, late: bool = False) -> Exception:
        share = f"{here * 100 // told.size} % of {told.size / 1e6:.0f} MB" if told.size else here
        return fault(
            "timeout" if late else "unavailable",
            f"downloading the model stopped: {why}; {share} is here",
            hint="run the same again: it goes on from there",
        )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _digest(path: str) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while part := file.read(_PART):
            digest.update(part)
    return digest.hexdigest()
