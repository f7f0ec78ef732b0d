"""Ways to search that a machine may be left with, by what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace_sqlite.vectors import matrix, resident
from commonplace_sqlite.vectors.codes import Kernels
from commonplace_sqlite.vectors.searching import Limits, VectorSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeSearch = Callable[[], VectorSearch]


class Having(Kernels):
    """What a machine has on which some libraries are not installed."""

    def __init__(self, *, numpy: bool, simsimd: bool, loaded: bool) -> None:
        self._loaded = loaded
        if not numpy:
            self.numpy = None
        if not simsimd:
            self.simsimd = None

    @property
    def numpy_is_loaded(self) -> bool:
        return self._loaded and self.numpy is not None


def _search(
    limits: Limits, *, numpy: bool = False, simsimd: bool = False, extension: bool = False
) -> MakeSearch:
    def make() -> VectorSearch:
        kernels = Having(numpy=numpy, simsimd=simsimd, loaded=not limits.keep)
        return VectorSearch(extension=extension, kernels=kernels, limits=limits)

    return make


_MANY = Limits(keep=0, extension=10**9, python=10**9, pca_bounds=10**12)
_BOUNDED = _MANY._replace(pca_bounds=0)
_NEVER = Limits(keep=10**9, extension=-1, python=-1)

EXACT: dict[str, tuple[str, MakeSearch]] = {
    "simsimd from file": ("int8 from file", _search(_NEVER, simsimd=True)),
    "numpy from file": ("int8 from file", _search(_NEVER, numpy=True)),
    "simsimd in memory": ("int8 in memory", _search(_MANY, numpy=True, simsimd=True)),
    "numpy in memory": ("int8 in memory", _search(_MANY, numpy=True)),
    "simsimd and PCA bounds": ("int8 in memory", _search(_BOUNDED, numpy=True, simsimd=True)),
    "numpy and PCA bounds": ("int8 in memory", _search(_BOUNDED, numpy=True)),
    "sqlite-vec": ("sqlite-vec", _search(_MANY, extension=True)),
    "sqlite-vec for many": ("sqlite-vec", _search(_NEVER, extension=True)),
    "python": ("float32", _search(_MANY)),
    "python for many": ("float32", _search(_NEVER)),
}


@pytest.fixture
def exact_plans(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, MakeSearch]]:
    """By name: what the plan calls itself, and a search that follows it.

    The matrix in memory takes a few rows for many, so that it leaves some out before it looks.
    """
    monkeypatch.setattr(resident, "_GROUP_ROWS", 2)
    monkeypatch.setattr(resident, "_ROWS_PER_RUN", 1)
    monkeypatch.setattr(resident, "_FEWEST_DIMS", 3)
    monkeypatch.setattr(resident, "_PATIENCE", 0)
    monkeypatch.setattr(resident, "_MOST_LEFT", 1)
    monkeypatch.setattr(matrix, "_SHARE", 2)
    monkeypatch.setattr(matrix, "_SAMPLE_ROWS", 16)
    monkeypatch.setattr(matrix, "_STEP_ROWS", 16)
    return EXACT
