"""The tables of an index file, and which version of them a file has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace_sqlite.vectors import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    Migration = Callable[[apsw.Connection], None]

__all__ = [
    "APPLICATION_ID",
    "BUILD_TABLES",
    "FILE_TABLES",
    "MIGRATIONS",
    "VERSION",
    "create",
    "create_build",
    "drop_build",
    "migrate",
    "of_build",
    "text_id",
]

APPLICATION_ID = 0x436D6E70
"""Stands in the file's header ("Cmnp"): what is not marked so was not written by us."""

_TABLES = """
CREATE TABLE build (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity TEXT NOT NULL,
    state TEXT NOT NULL UNIQUE CHECK (state IN ('live', 'filling')),
    tokenizer TEXT,                             -- of FTS5; NULL: terms come analysed
    chunks INTEGER NOT NULL DEFAULT 0,          -- how many there are now
    surveyed INTEGER NOT NULL DEFAULT 0,        -- how many there were when common_<n> was made
    removed INTEGER NOT NULL DEFAULT 0          -- how many of those have gone since, at most
);
CREATE TABLE counter (                          -- ids are unique in the file, across its builds
    name TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('chunk', 1);
"""

# Each build has tables of its own: BM25 weighs a term by all rows of its table, so that two builds
# in one would rank each other; and a whole table is dropped faster than it is emptied.
_BUILD = """
CREATE TABLE document_<n> (
    id INTEGER PRIMARY KEY,
    source NOT NULL,                            -- no affinity: see encoding.py
    path NOT NULL,
    digest NOT NULL,
    size NOT NULL, mtime_ns NOT NULL, ctime_ns NOT NULL, inode NOT NULL,
    recipe NOT NULL,
    plain INTEGER NOT NULL,                     -- 1: all of the above are stored as they are
    day,
    trust TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    resume NOT NULL DEFAULT '',                 -- where to go on when it grows
    UNIQUE (source, path)
);
CREATE TABLE chunk_<n> (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    heading NOT NULL,
    digest NOT NULL
);
CREATE TABLE text_<n> (                         -- apart, so that looking up chunks reads few pages
    id INTEGER PRIMARY KEY,
    text NOT NULL,                              -- by document and ordinal: see text_id
    body BLOB NOT NULL                          -- analysed tokens, compressed
);
CREATE INDEX chunk_document_<n> ON chunk_<n> (document, ordinal);
CREATE INDEX chunk_digest_<n> ON chunk_<n> (digest);
CREATE TABLE common_<n> (term TEXT PRIMARY KEY, documents INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE fts_<n> USING fts5 (
    body, head, extra, content='', contentless_delete=1, tokenize=<tokenize>
);
"""

# What FTS5 keeps of deleted rows goes when it merges a segment that is so many percent of them;
# by itself it waits for ten.
_FEW_DELETED = "INSERT INTO fts_<n> (fts_<n>, rank) VALUES ('deletemerge', 4);"

FILE_TABLES = ("build", "counter", *tables.FILE_TABLES)
BUILD_TABLES = (
    *tables.BUILD_TABLES,
    "fts_<n>",
    "common_<n>",
    "text_<n>",
    "chunk_<n>",
    "document_<n>",
)

# Analysed terms are tokens already, and only white space may split them. FTS5's ascii tokenizer
# takes every character beyond ASCII as part of a token and leaves it as it is; here it is told the
# same of every ASCII character but white space (and NUL, which encoding.py keeps out).
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
_TOKEN_CHARACTERS = "".join(
    chr(code) for code in range(1, 128) if not chr(code).isalnum() and chr(code) not in _WHITE
)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _tokenize(tokenizer: str | None) -> str:
    if tokenizer is None:
        return _quoted(f"ascii tokenchars {_quoted(_TOKEN_CHARACTERS)}")
    return _quoted("trigram case_sensitive 0" if tokenizer == "trigram" else tokenizer)


def of_build(sql: str, build: int) -> str:
    """``sql`` for one build: ``<n>`` is its number, which its tables are named by.

    ``<text_id>`` is the id in ``text_<n>`` of the text of ``c``, a row of ``chunk_<n>``.
    """
    return sql.replace("<n>", str(build)).replace("<text_id>", _TEXT_ID)


MIGRATIONS: Sequence[Migration] = ()
"""Step ``n`` leads from version ``n + 1`` to ``n + 2``; each runs inside one transaction."""

VERSION = len(MIGRATIONS) + 1


_ORDINAL_BITS = 24

_TEXT_ID = f"(c.document << {_ORDINAL_BITS} | c.ordinal)"


def text_id(document: int, ordinal: int) -> int:
    """The id of a chunk's text.

    New texts of a document thus fill the pages that its old ones leave: a file grows little,
    however often documents are replaced.
    """
    return document << _ORDINAL_BITS | ordinal


def create(connection: apsw.Connection) -> None:
    """Write the tables into an empty file; the caller holds a transaction."""
    connection.execute(_TABLES + tables.FILE)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", VERSION)


def create_build(connection: apsw.Connection, build: int, tokenizer: str | None) -> None:
    """Make the tables of a build; the caller holds a transaction."""
    made = _BUILD.replace("<tokenize>", _tokenize(tokenizer))
    connection.execute(of_build(made + tables.BUILD + _FEW_DELETED, build))


def drop_build(connection: apsw.Connection, build: int) -> None:
    """Drop the tables of a build; the caller holds a transaction."""
    for table in BUILD_TABLES:
        connection.execute(of_build(f"DROP TABLE IF EXISTS {table}", build))


def migrate(connection: apsw.Connection, migrations: Sequence[Migration] | None = None) -> None:
    """Bring older tables up to the newest version; the caller holds a transaction."""
    steps = MIGRATIONS if migrations is None else migrations
    for step in steps[connection.pragma("user_version") - 1 :]:
        step(connection)
    connection.pragma("user_version", len(steps) + 1)
