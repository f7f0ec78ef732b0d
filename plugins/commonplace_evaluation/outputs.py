"""Files that are written beside the result: checked before the work, and no file of others lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.plugin import CallerError, check_output

if TYPE_CHECKING:
    from collections.abc import Callable


def check_beside(path: str, what: str, is_ours: Callable[[bytes], bool]) -> None:
    """See that ``what``, such as ``"the report"``, can be written to ``path``.

    Raises :class:`~commonplace.errors.CallerError` without its folder, and as
    :func:`commonplace.plugin.check_output` does.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise CallerError(f"{path}: there is no folder {folder}", hint="make it, or name another")
    check_output(path, what, is_ours)
