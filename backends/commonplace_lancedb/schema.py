"""The columns of the table, and which of them are indexed."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ID_BITS",
    "SCALAR_INDEXES",
    "column_of",
    "epoch_column",
    "is_vector_column",
    "schema",
    "vector_column",
    "vector_fields",
]

_KEY = "lance-schema:unenforced-primary-key"

ID_BITS = 61
"""Of the ids that are drawn for documents and chunks: enough never to draw one twice."""

SCALAR_INDEXES = {
    "namespace": "bitmap",
    "build": "bitmap",
    "kind": "bitmap",
    "source": "bitmap",
    "path": "btree",
    "id": "btree",
    "doc": "btree",
    "digest": "btree",
}
"""What filters ask for, and how it is indexed once a table is large enough to need it."""


def schema() -> pa.Schema:
    """The columns that every table has; those of vectors are added when a space is first used.

    ``kind`` is ``head`` (see ``head.py``), ``doc``, ``chunk``, or ``dead`` for what has been
    replaced and waits to be deleted. ``doc`` is the id of the document's own row.
    """
    import pyarrow as pa

    text, whole = pa.string(), pa.int64()
    return pa.schema(
        [
            # Marked as key, two that insert the same row at a time clash: Lance else keeps both.
            pa.field("id", whole, nullable=False, metadata={_KEY: "true"}),
            ("namespace", text),
            ("kind", text),
            ("build", whole),
            ("doc", whole),
            ("source", text),
            ("path", text),
            ("place", whole),
            ("day", text),
            ("trust", text),
            ("start_line", whole),
            ("end_line", whole),
            ("text", text),
            ("heading", pa.list_(text)),
            ("terms", text),
            ("tokens", whole),
            ("chunks", whole),
            ("digest", text),
            ("recipe", text),
            ("stamp", text),
            ("revision", whole),
            ("state", text),
        ]
    )


def column_of(space: str, dims: int) -> str:
    """The name that the columns of a space have in common; all namespaces share them."""
    name = f"{dims} {space}".encode("utf-8", "surrogatepass")
    return blake2b(name, digest_size=8).hexdigest()


def vector_column(column: str) -> str:
    """Where the vectors are."""
    return f"v_{column}"


def epoch_column(column: str) -> str:
    """Where the marks are that say which of the vectors count."""
    return f"e_{column}"


def is_vector_column(name: str) -> bool:
    """Whether a column of the table is one of vectors."""
    return name.startswith("v_")


def vector_fields(column: str, dims: int) -> list[Any]:
    """Both columns of a space."""
    import pyarrow as pa

    return [
        pa.field(vector_column(column), pa.list_(pa.float32(), dims)),
        pa.field(epoch_column(column), pa.int64()),
    ]
