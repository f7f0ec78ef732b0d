"""Downloads a model into the hub's cache folder, which other tools share.

A download is resumed after a break, checked by length and SHA-256, and moved into place whole.
"""

from __future__ import annotations

import os
import re
import sys
from hashlib import file_digest
from typing import TYPE_CHECKING

from commonplace_local.errors import local_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.plugin import Deadline
    from commonplace_local.hub import Hub, RemoteFile
    from commonplace_local.references import HubModel

    Progress = Callable[[int, int | None], None]


_SHA256 = re.compile(r"[0-9a-f]{64}")


class Downloader:
    """Fetches the files of one model; ``progress`` gets (bytes here, bytes in all)."""

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
                remote = self._hub.head(model, part, deadline=deadline)
                self._ensure(model, part, remote, deadline)
                self._name(part, remote)
            self._remember(model, remote.commit)
        except OSError as error:
            raise local_error(
                "unavailable",
                f"the model cannot be written below {self._folder.base}: {error.strerror or error}",
                hint="make room or give rights there, or set local.modelCacheDir",
            ) from error
        return self._folder.path_of(model.parts()[0], remote.commit)

    def _ensure(self, model: HubModel, path: str, remote: RemoteFile, deadline: Deadline) -> None:
        from commonplace.plugin import IndexBusyError, Lease

        blob, lock = self._folder.blob(remote.etag), self._folder.lock(remote.etag)
        for place in (blob, lock):
            os.makedirs(os.path.dirname(place), exist_ok=True)
        try:
            # The lock that the hub's own tools take, in the same way.
            with Lease(lock, what="the model").processes(deadline.remaining()):
                if not os.path.exists(blob):
                    self._fetch(model, path, remote, deadline)
        except IndexBusyError:
            raise local_error("timeout", "another process is still downloading the model") from None

    def _fetch(self, model: HubModel, path: str, remote: RemoteFile, deadline: Deadline) -> None:
        import httpx  # not with the module: a model that is here needs none of it

        blob = self._folder.blob(remote.etag)
        partial = f"{blob}.incomplete"
        while True:
            before = _size(partial)
            if remote.size is not None and before > remote.size:
                os.unlink(partial)
                before = 0
            if remote.size is not None and before == remote.size:
                break
            try:
                if self._append(model, path, partial, remote, deadline):
                    break
            except httpx.HTTPError as error:
                here = _size(partial)
                # Each break that still let bytes through is worth going on at once.
                if here > before and not deadline.expired:
                    continue
                raise self._stopped(here, remote, str(error) or type(error).__name__) from None
            if deadline.expired:
                raise self._stopped(_size(partial), remote, "the time was up", late=True)
        self._check(partial, remote)
        os.replace(partial, blob)

    def _append(
        self, model: HubModel, path: str, partial: str, remote: RemoteFile, deadline: Deadline
    ) -> bool:
        """Fetch what is missing of ``partial``; whether that was all of it."""
        start = _size(partial)
        with self._hub.content(
            model, path, start=start, etag=remote.etag, deadline=deadline
        ) as answer:
            if answer.status_code == 416 or (
                answer.status_code == 206
                and not answer.headers.get("content-range", "").startswith(f"bytes {start}-")
            ):
                if not start:
                    raise local_error(
                        "protocol", "the hub sends a part of a file, asked for all of it"
                    )
                # What is here is not the beginning of what is there.
                os.unlink(partial)
                return False
            resumed = answer.status_code == 206
            with open(partial, "ab" if resumed else "wb", buffering=0) as file:
                here = start if resumed else 0
                self._progress(here, remote.size)
                try:
                    # In pieces as they come: gathered to a size, they would be lost in a break.
                    for part in answer.iter_raw():
                        file.write(part)
                        here += len(part)
                        self._progress(here, remote.size)
                        if deadline.expired:
                            return remote.size == here
                finally:
                    os.fsync(file.fileno())
        return True

    def _check(self, partial: str, remote: RemoteFile) -> None:
        if (remote.size is not None and _size(partial) != remote.size) or (
            _SHA256.fullmatch(remote.etag) and _digest(partial) != remote.etag
        ):
            os.unlink(partial)
            raise local_error(
                "protocol",
                "what was downloaded is not the file that the hub describes",
                hint="try again; if it stays so, a proxy may be changing downloads",
            )

    def _name(self, path: str, remote: RemoteFile) -> None:
        place, blob = self._folder.path_of(path, remote.commit), self._folder.blob(remote.etag)
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

    def _stopped(self, here: int, remote: RemoteFile, why: str, *, late: bool = False) -> Exception:
        share = (
            f"{here * 100 // remote.size} % of {remote.size / 1e6:.0f} MB" if remote.size else here
        )
        return local_error(
            "timeout" if late else "unavailable",
            f"downloading the model stopped: {why}; {share} is here",
            hint="run the same command again: the download continues",
        )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def cache_folder(configured: str | None, env: Mapping[str, str]) -> str:
    """The folder of downloaded models: as configured, or that of the hub's own library."""
    if configured:
        return os.path.abspath(os.path.expanduser(configured))
    if env.get("HF_HUB_CACHE"):
        return os.path.expanduser(env["HF_HUB_CACHE"])
    if env.get("HF_HOME"):
        return os.path.join(os.path.expanduser(env["HF_HOME"]), "hub")
    base = env.get("XDG_CACHE_HOME") or os.path.join(
        env.get("HOME") or os.path.expanduser("~"), ".cache"
    )
    return os.path.join(base, "huggingface", "hub")


class CacheFolder:
    """The paths of one model's files: ``models--owner--repo/{blobs,refs,snapshots}``."""

    def __init__(self, root: str, model: HubModel) -> None:
        self._root = root
        self._model = model
        self._name = f"models--{model.owner}--{model.repo}"
        self.base = os.path.join(root, self._name)

    def find(self) -> str | None:
        """The file to load, if all of its parts are here; makes no request."""
        snapshot = os.path.join(self.base, "snapshots", self._commit())
        model = self._model
        if not model.path:
            here = [path for path in _files(snapshot) if model.picks(path)]
            if len(here) != 1:
                return None
            model = model._replace(path=here[0])
        found = [os.path.join(snapshot, *part.split("/")) for part in model.parts()]
        return found[0] if all(os.path.isfile(path) for path in found) else None

    def blob(self, etag: str) -> str:
        """The file with the content of ``etag``; ``.incomplete`` is appended until it is whole."""
        return os.path.join(self.base, "blobs", etag)

    def lock(self, etag: str) -> str:
        """The lock that is held while ``etag`` is downloaded."""
        return os.path.join(self._root, ".locks", self._name, f"{etag}.lock")

    def path_of(self, path: str, commit: str) -> str:
        """The file ``path`` of ``commit``."""
        return os.path.join(self.base, "snapshots", commit, *path.split("/"))

    def ref(self) -> str:
        """The file that holds the commit of the revision."""
        return os.path.join(self.base, "refs", *self._model.revision.split("/"))

    def _commit(self) -> str:
        try:
            with open(self.ref(), encoding="utf-8") as file:
                return file.read().strip() or self._model.revision
        except OSError:
            return self._model.revision


def _files(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(where, name), folder).replace(os.sep, "/")
        for where, _, names in os.walk(folder)
        for name in names
    )


_STEP = 10  # percent between two lines of the log


class Announcer:
    """Called with (bytes here, bytes in all): to the log, and to a terminal where there is one."""

    def __init__(self, what: str) -> None:
        import logging

        self._what = what
        self._log = logging.getLogger("commonplace.local")
        self._logged = -1
        self._shown = -1

    def __call__(self, here: int, size: int | None) -> None:
        """Report, if it has changed by enough."""
        share = here * 100 // size if size else 0
        if share // _STEP > self._logged:
            self._logged = share // _STEP
            self._log.info("downloading %s: %d of %s bytes", self._what, here, size or "?")
        if share > self._shown and sys.stderr is not None and sys.stderr.isatty():
            self._shown = share
            end = "\n" if share >= 100 else ""
            sys.stderr.write(f"\rdownloading {self._what}: {share} %{end}")
            sys.stderr.flush()
