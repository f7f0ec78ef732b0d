"""Looks into the SQLite file that QMD keeps, for what its commands do not tell honestly."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["crowded", "has_vector_table", "has_vectors", "known_collections"]

_BUSY_SECONDS = 1.0


def known_collections(index_path: str) -> frozenset[str]:
    """The collections that a resident QMD knows of; empty where that cannot be read."""
    return frozenset(str(row[0]) for row in _rows(index_path, "SELECT name FROM store_collections"))


def crowded(index_path: str, collections: Collection[str]) -> bool:
    """Whether the index has, or may have, notes of others than ``collections``."""
    rows = _rows(index_path, "SELECT DISTINCT collection FROM documents")
    return not rows or not {str(row[0]) for row in rows}.issubset(collections)


def has_vectors(index_path: str) -> bool:
    """Whether anything is embedded: without, QMD answers "nothing found" to a vector search."""
    return bool(_rows(index_path, "SELECT 1 FROM content_vectors LIMIT 1"))


def has_vector_table(index_path: str) -> bool:
    """Whether QMD would load its model to search vectors, of which there may be none."""
    return bool(_rows(index_path, "SELECT 1 FROM sqlite_master WHERE name = 'vectors_vec'"))


def _rows(index_path: str, query: str) -> list[tuple[Any, ...]]:
    import sqlite3

    try:
        uri = f"file:{quote(index_path)}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.Error:  # no file, no such table in this version, or somebody holds it
        return []
