"""Modules whose names are imported on first use, so that importing them costs nothing."""

from __future__ import annotations

import sys

# Not from ``typing``: a process that runs a command sets the garbage collector up before it imports
# anything large.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_exports(module: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` (of ``__all__``, too) and ``__dir__`` of ``module``, which re-exports names.

    They are those of the stub beside its ``file``, which type checkers read as well: all that is in
    it is one ``from HOME import NAME as NAME`` for each. Raises ``ImportError`` for a package that
    is in a zip archive: neither stubs nor plugins can be found there.
    """
    try:
        with open(file.rpartition(".")[0] + ".pyi", encoding="utf-8") as opened:
            stub = opened.read()
    except NotADirectoryError as error:
        raise ImportError(
            f"{module} cannot run from a zip archive ({file}): install it with pip", name=module
        ) from error

    def load(name: str) -> Any:
        if name == "__all__":
            return names()
        at = stub.find(f" {name} as {name}")  # most processes want a few of the names
        if at < 0:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        home = stub[stub.rindex("from ", 0, at) : at].split(None, 2)[1]
        value = getattr(import_module(home), name)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        found = stub.replace("(", "").removeprefix("from ").split("\nfrom ")
        return sorted(line.split()[2] for line in found)

    return load, names
