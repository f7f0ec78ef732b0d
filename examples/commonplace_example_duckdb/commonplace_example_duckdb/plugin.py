"""Offers the store; DuckDB is imported when the store is first opened."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from commonplace.plugin import Probe, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import BackendRegistrar, Store, StoreContext


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Offer the store; a backend is chosen by its name in ``memory.backend``."""
    register.store(
        "duckdb",
        make_store,
        summary="chunks, keyword index and vectors in one DuckDB file",
        capabilities=frozenset(
            {"keyword", "phrases", "counts", "term_counts", "vectors", "persistent"}
        ),
        probe=_probe,
    )


def make_store(context: StoreContext) -> Store:
    """The store in a file beside the index of the builtin backend."""
    from commonplace_example_duckdb.store import DuckStore

    return DuckStore(f"{context.path}.duckdb")


def _probe() -> Probe:
    if find_spec("duckdb") is None:
        return Probe(
            available=False,
            reason="duckdb is not installed",
            hint="pip install commonplace-example-duckdb",
        )
    return Probe(available=True)
