"""Modules whose names are imported on first use, so that importing them costs nothing."""

from __future__ import annotations

import sys

# Not from ``typing``: a process that runs a command sets the garbage collector up before it imports
# anything large.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_exports(
    module: str, file: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of ``module``, which re-exports names.

    They are those of the stub beside its ``file``, which type checkers read as well: all that is in
    it is one ``from HOME import NAME as NAME`` for each. Raises ``ImportError`` for a package that
    is in a zip archive: neither stubs nor plugins can be found there.
    """
    try:
        with open(file.rpartition(".")[0] + ".pyi", encoding="utf-8") as stub:
            imports = stub.read().replace("(", "").removeprefix("from ").split("\nfrom ")
    except NotADirectoryError as error:
        raise ImportError(
            f"{module} cannot run from a zip archive ({file}): install it with pip", name=module
        ) from error
    home_of = {name: home for home, _, name, *_ in map(str.split, imports)}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return sorted(home_of), load, lambda: sorted(home_of)
