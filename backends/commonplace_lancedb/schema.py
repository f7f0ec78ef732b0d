"""The columns of the table, and which of them are indexed."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from commonplace.plugin import Stamp


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
            ("position", whole),
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
            ("fingerprint", text),
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


_ESCAPE = "\ufdd0"
"""A code point that is no character, so that it stands in no text on purpose."""

_STRANGE = re.compile(f"[\0{_ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_ESCAPE}(.)", re.DOTALL)
_COLUMNS = " \0 "


def text_in(text: str) -> str:
    """``text`` without NUL and lone surrogates, which cannot be in UTF-8 or in a filter."""
    return _STRANGE.sub(_escaped, text) if _STRANGE.search(text) else text


def text_out(text: str) -> str:
    """The inverse of :func:`text_in`."""
    return _ESCAPED.sub(_unescaped, text) if _ESCAPE in text else text


def _escaped(match: re.Match[str]) -> str:
    # Surrogates, NUL and the mark itself become private characters behind the mark.
    code = ord(match[0])
    shifted = {0: 0xE800, 0xFDD0: 0xE801}.get(code, code - 0xD800 + 0xE000)
    return _ESCAPE + chr(shifted)


def _unescaped(match: re.Match[str]) -> str:
    code = ord(match[1])
    return chr({0xE800: 0, 0xE801: 0xFDD0}.get(code, code - 0xE000 + 0xD800))


def terms_in(body: str, head: str, extra: str) -> str:
    """The three columns of terms as one text, which a phrase cannot cross.

    NUL stands between them as a token of its own; none of theirs can be one.
    """
    return _COLUMNS.join((text_in(body), text_in(head), text_in(extra)))


def terms_out(terms: str) -> tuple[str, str, str]:
    """Body, head and extra as tokens of the index: see :func:`text_out` for their own text."""
    body, head, extra = terms.split(_COLUMNS)
    return body, head, extra


def heading_in(heading: tuple[str, ...]) -> list[str]:
    """Headings as a list that Arrow can hold."""
    return [text_in(part) for part in heading]


def heading_out(parts: Iterable[str] | None) -> tuple[str, ...]:
    """The inverse of :func:`heading_in`."""
    return tuple(text_out(part) for part in parts or ())


def last_column(terms: str) -> str:
    """The column extra, as tokens of the index."""
    return terms.rpartition(_COLUMNS)[2]


def stamp_in(stamp: Stamp) -> str:
    """Four numbers of which some need more than 64 bits with a sign, as text."""
    return ",".join(map(str, stamp))


def stamp_out(text: str) -> Stamp:
    """The inverse of :func:`stamp_in`."""
    size, mtime, ctime, inode = map(int, text.split(","))
    return size, mtime, ctime, inode


def literal(text: str) -> str:
    """``text`` as a string of a filter."""
    return "'" + text_in(text).replace("'", "''") + "'"


def literals(values: Iterable[str | int]) -> str:
    """Values for ``IN (...)``."""
    return ", ".join(str(v) if isinstance(v, int) else literal(v) for v in values)
