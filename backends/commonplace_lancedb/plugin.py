"""Offers the LanceDB store to the host, under the id ``lancedb``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.plugin import Probe, hookimpl, how_to_install
from commonplace_lancedb.settings import LanceSettings, location_of
from commonplace_lancedb.store import LanceStore

if TYPE_CHECKING:
    from commonplace.plugin import BackendRegistrar, Store, StoreContext


_NEEDED = ("lancedb", "pyarrow")


def make_store(context: StoreContext) -> Store:
    """A store on the table that the configuration names, which is opened at first use."""
    settings = context.config or LanceSettings()
    location = location_of(context.path, settings)
    far = location.folder is None and not location.is_service
    held_bytes = settings.held_megabytes * 1_000_000 if far else 0
    cached_bytes = settings.cache_megabytes * 1_000_000 if context.cache_dir else 0
    row_cache = None
    if held_bytes and cached_bytes:
        from commonplace_lancedb.row_cache import RowCache

        row_cache = RowCache(location, os.path.join(context.cache_dir, "lancedb"), cached_bytes)
    return LanceStore(
        location,
        consistency_seconds=settings.read_consistency_interval,
        held_bytes=held_bytes,
        row_cache=row_cache,
        index_vectors_from=settings.vector_index_rows,
    )


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Offer the store, for those who ask for it by name."""
    register.store(
        "lancedb",
        make_store,
        summary="chunks, keyword index and vectors in a LanceDB table, here or in a bucket",
        config=LanceSettings,
        capabilities=LanceStore.capabilities,
        probe=_probe,
    )


def _probe() -> Probe:
    from importlib.util import find_spec

    missing = [library for library in _NEEDED if find_spec(library) is None]
    if not missing:
        return Probe(available=True)
    return Probe(
        available=False,
        reason=f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed",
        hint=how_to_install("commonplace[lancedb]"),
    )
