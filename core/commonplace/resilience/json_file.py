"""JSON files that several threads and processes change: small ones of state, and logs.

The first are replaced under their lock. To logs lines are appended, each by one write.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from commonplace.errors import IndexBusyError, IndexReadOnlyError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_WAIT_SECONDS = 2.0
"""Reading and writing such a file takes milliseconds."""


def read_json(path: str, *, strict: bool = False) -> dict[str, Any]:
    """The JSON object in the file at ``path``; an empty one where there is no file.

    A file that cannot be read, or holds no object, counts as empty, too. With ``strict`` it is an
    :class:`~commonplace.errors.UnavailableError`.
    """
    reason = "it holds no JSON object"
    try:
        with open(path, encoding="utf-8") as file:
            import json  # only where there is a file: most indexes need no parser

            held = json.load(file)
        if isinstance(held, dict):
            return held
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        reason = error.strerror or str(error)
    except (ValueError, RecursionError):
        pass
    if strict:
        raise UnavailableError(f"{path} cannot be read: {reason}", hint="correct it, or delete it")
    return {}


def update_json(
    path: str,
    change: Callable[[dict[str, Any]], Mapping[str, Any] | None],
    *,
    strict: bool = False,
    wait: float = _WAIT_SECONDS,
) -> None:
    """Replace the JSON object in the file at ``path`` by what ``change`` makes of it.

    ``change`` gets what :func:`read_json` reads, and returns the new object, or ``None`` where
    nothing is to be written. It is called twice, the second time under the lock of the file
    (``path`` + ``.lock``), so that nothing is lost that others write meanwhile: it must have no
    effects of its own.

    Raises :class:`~commonplace.errors.UnavailableError` if another thread or process holds the lock
    for ``wait`` seconds, or the file cannot be written; it is then unchanged.
    """
    if change(read_json(path, strict=strict)) is None:
        return
    import json

    from commonplace.dirs import write_whole
    from commonplace.resilience.lock import Lease

    with Lease(f"{path}.lock", what=path).held(wait):
        new = change(read_json(path, strict=strict))
        if new is None:
            return
        try:
            write_whole(path, json.dumps(new, indent=1) + "\n")
        except OSError as error:
            raise UnavailableError(
                f"{path} cannot be written: {error.strerror or error}",
                hint="check the rights of the file and its folder, and the free space",
            ) from error


class JsonLog:
    """A log in the file at ``path``: a line for each record, a JSON value.

    ``most_bytes`` is its size limit. A full log takes no more lines; one that is ``rotating``
    becomes ``path`` + ``.1``, in place of the one before it, and a new one begins.
    """

    def __init__(self, path: str, *, most_bytes: int, rotating: bool = False) -> None:
        self.path = path
        self._most = most_bytes
        self._rotating = rotating

    @property
    def is_full(self) -> bool:
        """Whether the file has reached its size limit."""
        return self._has(self._most)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a line; a log that cannot be written, or is full, is left as it is."""
        import json

        from commonplace.dirs import make_private_folder

        data = (json.dumps(record, separators=(",", ":")) + "\n").encode()
        with suppress(OSError, IndexReadOnlyError):
            make_private_folder(os.path.dirname(self.path))
            if self._rotating:
                self._rotate(self._most - len(data) + 1)
            elif self.is_full:
                return
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            for name in ("O_NOFOLLOW", "O_CLOEXEC"):  # some systems have neither
                flags |= getattr(os, name, 0)
            opened = os.open(self.path, flags, 0o600)
            try:
                if os.fstat(opened).st_size:
                    os.lseek(opened, -1, os.SEEK_END)
                    if os.read(opened, 1) != b"\n":  # a disk was full, or a writer killed
                        data = b"\n" + data
                os.write(opened, data)
            finally:
                os.close(opened)

    def records(self) -> Iterator[Any]:
        """The records, oldest first; lines that are no JSON are skipped.

        Raises :class:`~commonplace.errors.UnavailableError` if a file of the log exists and cannot
        be read.
        """
        import json

        try:
            texts = self._texts()
        except OSError as error:
            raise UnavailableError(
                f"{self.path} cannot be read: {error.strerror or error}",
                hint="check the rights of the file and its folder",
            ) from error
        for text in reversed(texts):
            for line in text.split("\n"):
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                yield record

    def _texts(self) -> list[str]:
        texts = []
        with ExitStack() as files:
            opened: list[Any] = []
            # The newest first: what is rotated meanwhile is then found twice, not passed over.
            for path in (self.path, f"{self.path}.1") if self._rotating else (self.path,):
                with suppress(FileNotFoundError):
                    file = files.enter_context(open(path, encoding="utf-8", errors="replace"))
                    if not any(os.path.sameopenfile(file.fileno(), one.fileno()) for one in opened):
                        opened.append(file)
                        texts.append(file.read(self._most * 2))
        return texts

    def _rotate(self, size: int) -> None:
        """Begin a new file if this one has ``size`` bytes.

        Under the lock of the log. A process that finds it held appends meanwhile, to either file.
        """
        if not self._has(size):
            return
        from commonplace.resilience.lock import Lease

        with suppress(IndexBusyError), Lease(f"{self.path}.lock", what=self.path).held(0):
            if self._has(size):  # still: another process may have begun a new one
                os.replace(self.path, f"{self.path}.1")

    def _has(self, size: int) -> bool:
        try:
            return os.stat(self.path).st_size >= size
        except OSError:
            return False
