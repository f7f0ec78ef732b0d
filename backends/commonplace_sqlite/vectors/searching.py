"""Finds the nearest chunks, by the quickest plan for what is installed and how many there are.

==================  =========================================  =====================
plan                when                                       needs
==================  =========================================  =====================
``int8 in memory``  from the second search on                  numpy (and simsimd)
``int8 from file``  the first search                           simsimd, or numpy
``sqlite-vec``      no simsimd; at most 20,000, or no numpy    sqlite-vec
``float32``         none of these, or at most 1,000            nothing
==================  =========================================  =====================

All are exact: codes of 8 bits come with a bound on their error, and every chunk that can be among
the best by it is scored by its stored vector. Where many codes are in memory, their projection on
a few directions rules most of them out first: see matrix.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import apsw

from commonplace.plugin import Nearest, how_to_install
from commonplace_sqlite.keyword import documents_passing
from commonplace_sqlite.rows import found
from commonplace_sqlite.vectors.codes import Kernels, normalised, numbers
from commonplace_sqlite.vectors.slabs import covered, find_space
from commonplace_sqlite.vectors.streaming import (
    all_pairs,
    best_chunks,
    by_codes,
    by_extension,
    count_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from importlib.machinery import ModuleSpec

    from commonplace.plugin import Deadline, VectorSupport, Where
    from commonplace_sqlite.schema import LiveBuild
    from commonplace_sqlite.vectors.resident import Resident
    from commonplace_sqlite.vectors.slabs import Space
    from commonplace_sqlite.vectors.streaming import Pair


class Limits(NamedTuple):
    """From how many vectors on a plan is worth while, or up to how many.

    ``keep``: fewer vectors are read from the file by each search, which is quicker than importing
    numpy. ``pca_bounds``: from so many bytes of codes in memory on, PCA bounds are used.
    """

    keep: int = 2_000
    extension: int = 20_000
    python: int = 1_000
    pca_bounds: int = 8_000_000


class VectorSearch:
    """Answers queries, one at a time; keeps codes in memory once that has become worth while.

    ``extension`` and ``extension_path`` say whether, and from where, sqlite-vec is loaded.
    """

    def __init__(
        self,
        *,
        extension: bool = True,
        extension_path: str | None = None,
        kernels: Kernels | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._extension = Extension(enabled=extension, path=extension_path)
        self._kernels = kernels or Kernels()
        self._limits = limits or Limits()
        self._resident: Resident | None = None
        self._searches = 0

    def nearest(
        self,
        connection: apsw.Connection,
        live: LiveBuild,
        name: str,
        vector: bytes,
        where: Where,
        limit: int,
        deadline: Deadline,
    ) -> Nearest:
        """The best ``limit`` chunks of a build that pass ``where``.

        Raises ``ValueError`` where ``vector`` is not one of the space's.
        """
        space = find_space(connection, live.id, name)
        query = numbers(normalised(vector, space.dims if space else len(vector) // 4))
        if space is None or limit < 1:
            return Nearest((), exact=True)
        documents = documents_passing(connection, live.id, where)
        self._searches += 1
        plan = "int8 in memory"
        resident = self._follow(space)
        if resident is not None:
            deadline.check("the vector search")
            pairs = resident.pairs(query, documents, limit)
        else:
            plan, pairs = self._from_file(space, documents, query, limit, deadline)
        best = best_chunks(space, pairs, query, limit, self._kernels, deadline)
        return Nearest(found(connection, live.id, best), exact=True, plan=plan)

    def notices(self, *, used: bool) -> list[str]:
        """What is missing here, in lines for people; ``used``: there are vectors to be searched."""
        if not used and not self._extension.configured:
            return []
        lines = []
        if reason := self._extension.probe():
            lines.append(
                f"vectors are searched without sqlite-vec, with the same answers: {reason}"
            )
        old = "numpy" in sys.modules and not self._kernels.numpy_is_loaded
        if used and (old or not installed("numpy")):
            what = "numpy is older than 2.0" if old else "numpy is not installed"
            fix = how_to_install("commonplace[vectors]")
            lines.append(f"large numbers of vectors are searched slowly: {what} ({fix})")
        return lines

    def support(self) -> VectorSupport:
        """Whether sqlite-vec is loaded, and what vectors are searched with."""
        from commonplace.plugin import VectorSupport

        kernels, extension = self._kernels, self._extension
        reason = extension.probe()
        loaded = extension.enabled and not reason
        if kernels.simsimd is not None:
            plan = "8-bit codes by simsimd, which is faster than sqlite-vec"
        elif not loaded:
            plan = "8-bit codes by numpy" if kernels.numpy else "plain Python"
        elif kernels.numpy is None:
            plan = "sqlite-vec"
        else:
            plan = f"sqlite-vec up to {self._limits.extension} vectors, numpy for more"
        version, path, enabled = extension.version, extension.path, extension.enabled
        return VectorSupport("sqlite-vec", loaded, version, path, reason, plan, enabled)

    def _follow(self, space: Space) -> Resident | None:
        """The matrix in memory, up to date; ``None`` where there is none, and not worth one."""
        # Kept only once it is up to date: an update that the deadline or an error cuts off leaves
        # rows that are counted twice, or not there.
        resident, self._resident = self._resident, None
        if resident is None or not resident.is_of(space):
            if not self._is_worth_keeping(space):
                return None
            from commonplace_sqlite.vectors.resident import Resident

            resident = Resident(space, self._kernels, self._limits.pca_bounds)
        resident.refresh()
        self._resident = resident
        return resident

    def _is_worth_keeping(self, space: Space) -> bool:
        if self._searches < 2:
            return False
        kernels, keep = self._kernels, self._limits.keep
        if not kernels.numpy_is_loaded and covered(space) < keep:
            return False
        return kernels.numpy is not None

    def _from_file(
        self,
        space: Space,
        documents: Collection[int] | None,
        query: Sequence[float],
        limit: int,
        deadline: Deadline,
    ) -> tuple[str, list[Pair]]:
        kernels = self._kernels
        if kernels.simsimd is None:
            size = count_vectors(space, documents)
            few = size <= self._limits.extension or kernels.numpy is None
            if few and self._extension.load(space.connection):
                pairs = all_pairs(space, documents)
                return "sqlite-vec", by_extension(space.connection, pairs, query, limit)
            if size <= self._limits.python or kernels.numpy is None:
                return "float32", all_pairs(space, documents)
        pairs = by_codes(space, documents, query, limit, kernels, deadline)
        return "int8 from file", pairs


_ENTRY_POINT = "sqlite3_vec_init"


class Extension:
    """The vector extension of SQLite: found once, loaded into each connection that needs it.

    ``path`` is where it is (``None``: in the installed package); with ``enabled`` off it is never
    loaded, and there is nothing to complain about.
    """

    def __init__(self, *, enabled: bool = True, path: str | None = None) -> None:
        self.enabled = enabled
        self._path = path
        self.version = ""
        self.configured = enabled and path is not None
        """Whether the configuration names one by its path."""
        self._connection: apsw.Connection | None = None
        self._failed = ""

    @property
    def path(self) -> str:
        """Where it is looked for, without the suffix; ``""`` if it is not installed."""
        return self._path or _library()

    def load(self, connection: apsw.Connection) -> bool:
        """Load it into ``connection``; returns whether that worked."""
        if not self.enabled or self._failed:
            return False
        if self._connection is not connection:
            self._failed = self._load(connection)
            self._connection = None if self._failed else connection
        return not self._failed

    def probe(self) -> str:
        """Try it; returns why it cannot be used, or ``""``."""
        if self.enabled and not self.version and not self._failed:
            connection = apsw.Connection(":memory:")
            try:
                self._failed = self._load(connection)
            finally:
                connection.close()
        return self._failed

    def _load(self, connection: apsw.Connection) -> str:
        path = self.path
        if not path:
            return "sqlite-vec is not installed"
        try:
            connection.enable_load_extension(True)
            try:
                connection.load_extension(path, _ENTRY_POINT)
            finally:
                connection.enable_load_extension(False)
            connection.execute("SELECT vec_distance_cosine(x'0000803f', x'0000803f')").fetchone()
            self.version = str(connection.execute("SELECT vec_version()").get)
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
    folders = spec.submodule_search_locations if spec is not None else None
    return next((f"{folder}/vec0" for folder in folders or ()), "")
