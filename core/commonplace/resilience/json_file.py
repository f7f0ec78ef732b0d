"""Small JSON files of state that several threads and processes change, each under its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
