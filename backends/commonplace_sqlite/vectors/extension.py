"""sqlite-vec, loaded into a connection by its path: to import its package would import numpy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = ["Extension", "installed"]

_ENTRY_POINT = "sqlite3_vec_init"


class Extension:
    """The vector extension of SQLite: found once, loaded into each connection that needs it.

    ``path`` is where it is (``None``: in the installed package); with ``enabled`` off it is never
    loaded, and there is nothing to complain about.
    """

    def __init__(self, *, enabled: bool = True, path: str | None = None) -> None:
        self._enabled = enabled
        self._path = path
        self._connection: apsw.Connection | None = None
        self._failed = ""

    @property
    def configured(self) -> bool:
        """Whether somebody asked for one by its path."""
        return self._enabled and self._path is not None

    def load(self, connection: apsw.Connection) -> bool:
        """Make its functions known to ``connection``; tells whether that worked."""
        if not self._enabled or self._failed:
            return False
        if self._connection is not connection:
            self._failed = self._load(connection)
            self._connection = None if self._failed else connection
        return not self._failed

    def probe(self) -> str:
        """Try it; returns why it cannot be used, or ``""``."""
        if self._enabled and self._connection is None and not self._failed:
            connection = apsw.Connection(":memory:")
            try:
                self._failed = self._load(connection)
            finally:
                connection.close()
        return self._failed

    def _load(self, connection: apsw.Connection) -> str:
        path = self._path or _library()
        if not path:
            return "sqlite-vec is not installed"
        try:
            connection.enable_load_extension(True)
            try:
                connection.load_extension(path, _ENTRY_POINT)
            finally:
                connection.enable_load_extension(False)
            connection.execute("SELECT vec_distance_cosine(x'0000803f', x'0000803f')").fetchone()
        except (apsw.Error, AttributeError) as error:
            return f"sqlite-vec cannot be loaded from {path}: {error}"
        return ""


def installed(name: str) -> ModuleSpec | None:
    """Where a top-level package is, without importing it (nor ``importlib.util``)."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    from importlib.machinery import PathFinder

    return PathFinder.find_spec(name)


def _library() -> str:
    spec = installed("sqlite_vec")
    places = spec.submodule_search_locations if spec is not None else None
    return next((f"{place}/vec0" for place in places or ()), "")
