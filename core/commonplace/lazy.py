"""Modules whose names are imported on first use, so that importing them costs nothing."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_exports(
    module: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of ``module``, which re-exports names.

    ``homes`` maps submodules of ``commonplace`` to the names that ``module`` takes from them,
    separated by blanks. Type checkers read a stub beside the module, which a test compares.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(f"commonplace.{home_of[name]}"), name)
        setattr(sys.modules[module], name, value)
        return value

    return sorted(home_of), load, lambda: sorted(home_of)
