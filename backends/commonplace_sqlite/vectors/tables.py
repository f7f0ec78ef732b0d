"""The tables of vectors: those of the whole file, and those of each build."""

from __future__ import annotations

__all__ = ["BUILD", "BUILD_TABLES", "FILE", "FILE_TABLES", "rows_in_part"]

FILE = """
CREATE TABLE space (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name NOT NULL UNIQUE,
    dims INTEGER NOT NULL
);
CREATE TABLE vector (                           -- the truth: all else about vectors is derived
    id INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    digest NOT NULL,                            -- of a chunk's text, in whatever build it stands
    e BLOB NOT NULL,                            -- float32, little-endian, of length 1
    UNIQUE (space, digest)
);
INSERT INTO counter VALUES ('slab', 1);
"""

FILE_TABLES = ("space", "vector")

# A slab is of consecutive chunks of one document, those that have a vector, in their order; a
# document has several if it is long, so that to add a few vectors never means to write many.
# Clustered by document, so that a filter on documents reads what it lets pass and nothing else.
BUILD = """
CREATE TABLE slab_<n> (
    space INTEGER NOT NULL,
    document INTEGER NOT NULL,
    part INTEGER NOT NULL,
    version INTEGER NOT NULL,                   -- never given twice in a file
    count INTEGER NOT NULL,
    chunks BLOB NOT NULL,                       -- ids, 64 bits each
    vectors BLOB NOT NULL,                      -- ids, 64 bits each
    PRIMARY KEY (space, document, part)
) WITHOUT ROWID;
CREATE INDEX slab_version_<n> ON slab_<n> (space, version, count);
CREATE TABLE code_<n> (                         -- apart, so that to read slabs reads few pages
    space INTEGER NOT NULL,
    document INTEGER NOT NULL,
    part INTEGER NOT NULL,
    packed BLOB NOT NULL,                       -- see codes.py
    PRIMARY KEY (space, document, part)
) WITHOUT ROWID;
"""

BUILD_TABLES = ("code_<n>", "slab_<n>")

_MOST_ROWS = 64
_ROW_BYTES = 3_900
"""Of a row of ``code_<n>``: a quarter of a page, less what SQLite needs; more would spill over."""


def rows_in_part(dims: int) -> int:
    """How many consecutive chunks of a document make one slab."""
    return min(_MOST_ROWS, max(1, _ROW_BYTES // (dims + 8)))
