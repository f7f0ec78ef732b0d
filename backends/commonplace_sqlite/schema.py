"""The format of an index file: its tables and builds, and its pages with their checksums."""
# ruff: noqa: N802  methods of a VFS are called by the names that SQLite gave them

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import apsw

from commonplace.plugin import Build, IndexUnavailableError, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Migration = Callable[[apsw.Connection], None]


APPLICATION_ID = 0x436D6E70
"""Stands in the file's header ("Cmnp"): what is not marked so was not written by us."""

_TABLES = """
CREATE TABLE build (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity TEXT NOT NULL,
    state TEXT NOT NULL UNIQUE CHECK (state IN ('live', 'filling')),
    chunks INTEGER NOT NULL DEFAULT 0,          -- how many there are now
    counted INTEGER NOT NULL DEFAULT 0,        -- how many there were when common_<n> was filled
    removed INTEGER NOT NULL DEFAULT 0          -- how many of those were deleted since, at most
);
CREATE TABLE counter (                          -- ids are unique in the file, across its builds
    name TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('chunk', 1);
INSERT INTO counter VALUES ('commit', 1);
"""

# Each build has tables of its own: BM25 weighs a term by all rows of its table, so that two builds
# in one would rank each other; and a whole table is dropped faster than it is emptied.
_BUILD = """
CREATE TABLE document_<n> (
    id INTEGER PRIMARY KEY,
    source NOT NULL,                            -- no affinity: see rows.py
    path NOT NULL,
    digest NOT NULL,
    stamp NOT NULL,
    fingerprint NOT NULL,
    plain INTEGER NOT NULL,                     -- 1: all of the above are stored as they are
    day,
    trust TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    resume NOT NULL DEFAULT '',                 -- where to go on when it grows
    tags NOT NULL DEFAULT '',                   -- each ended by a line feed, which begins them, too
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

# The tokens of a build, and how many rows hold each; gone with the connection.
VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary_<n> USING fts5vocab ('main', 'fts_<n>', 'row')
"""

# What FTS5 keeps of deleted rows goes when it merges a segment that is so many percent of them;
# by itself it waits for ten.
_FEW_DELETED = "INSERT INTO fts_<n> (fts_<n>, rank) VALUES ('deletemerge', 4);"

_VECTOR_TABLES = """
CREATE TABLE space (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name NOT NULL UNIQUE,
    dims INTEGER NOT NULL
);
CREATE TABLE vector (                           -- the truth: all else about vectors is derived
    id INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    digest NOT NULL,                            -- of a chunk's text, in any build
    e BLOB NOT NULL,                            -- float32, little-endian, of length 1
    UNIQUE (space, digest)
);
CREATE TABLE vector_tail (                      -- the end of e, which may be cut: see stored.py
    id INTEGER PRIMARY KEY,
    e BLOB NOT NULL
);
CREATE TRIGGER vector_deleted AFTER DELETE ON vector
BEGIN DELETE FROM vector_tail WHERE id = old.id; END;
INSERT INTO counter VALUES ('slab', 1);
"""

# A slab is of consecutive chunks of one document, those that have a vector, in their order; a
# document has several if it is long, so that to add a few vectors never means to write many.
# Clustered by document, so that a filter on documents reads what it lets pass and nothing else.
_SLABS = """
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

FILE_TABLES = ("build", "counter", "space", "vector", "vector_tail")
BUILD_TABLES = (
    "code_<n>",
    "slab_<n>",
    "fts_<n>",
    "common_<n>",
    "text_<n>",
    "chunk_<n>",
    "document_<n>",
)

# Analysed terms are tokens already, and only white space may split them. FTS5's ascii tokenizer
# takes every character beyond ASCII as part of a token and leaves it as it is; here the same
# holds for every ASCII character but white space (and NUL, which rows.py keeps out).
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
_TOKEN_CHARACTERS = "".join(
    chr(code) for code in range(1, 128) if not chr(code).isalnum() and chr(code) not in _WHITE
)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_TOKENIZE = _quoted(f"ascii tokenchars {_quoted(_TOKEN_CHARACTERS)}")


def of_build(sql: str, build: int) -> str:
    """``sql`` for one build: ``<n>`` is its number, which its tables are named by.

    ``<text_id>`` is the id in ``text_<n>`` of the text of ``c``, a row of ``chunk_<n>``.
    """
    return sql.replace("<n>", str(build)).replace("<text_id>", _TEXT_ID)


COUNT_COMMIT = "UPDATE counter SET next = next + 1 WHERE name = 'commit'"
"""To be part of every transaction: see :func:`~commonplace_sqlite.connection.log_is_behind`."""

COMMITS = "SELECT next FROM counter WHERE name = 'commit'"

_LIVE = """
SELECT id, chunks, counted, removed, (SELECT next FROM counter WHERE name = 'commit')
FROM build WHERE state = 'live'
"""

FIRST_VERSION = 7
"""That of the first files whose tokens and vectors are stored as now; older ones are rebuilt."""

MIGRATIONS: Sequence[Migration] = ()
"""Step ``n`` leads from version ``n + 7`` to ``n + 8``; each runs inside one transaction."""

VERSION = FIRST_VERSION + len(MIGRATIONS)


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
    connection.execute(_TABLES + _VECTOR_TABLES)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", VERSION)


def migrate(connection: apsw.Connection, migrations: Sequence[Migration] | None = None) -> None:
    """Run the steps from the file's version to the newest; the caller holds a transaction."""
    steps = MIGRATIONS if migrations is None else migrations
    for step in steps[connection.pragma("user_version") - FIRST_VERSION :]:
        step(connection)
    connection.pragma("user_version", FIRST_VERSION + len(steps))


class LiveBuild(NamedTuple):
    """What reading needs to know of a build: see the table ``build``."""

    id: int
    chunks: int
    counted: int
    removed: int
    commits: int
    """How many transactions had changed the file when this was read."""


def live_build(connection: apsw.Connection | None) -> LiveBuild | None:
    """The build that is searched, if there is one."""
    if connection is None:
        return None
    row: Any = connection.execute(_LIVE).fetchone()
    return row and LiveBuild(*row)


def has_spaces(connection: apsw.Connection) -> bool:
    """Whether the file holds any vectors."""
    return connection.execute("SELECT 1 FROM space LIMIT 1").get is not None


def all_builds(connection: apsw.Connection | None) -> tuple[Build, ...]:
    """All builds, the oldest first."""
    if connection is None:
        return ()
    rows: Any = connection.execute("SELECT id, identity, state FROM build ORDER BY id")
    return tuple(Build(*row) for row in rows)


def need(connection: apsw.Connection | None, build: Build) -> None:
    """Raise :class:`~commonplace.errors.IndexUnavailableError` unless ``build`` is there."""
    sql = "SELECT 1 FROM build WHERE id = ? AND identity = ?"
    if connection is None or not connection.execute(sql, (build.id, build.identity)).fetchone():
        raise IndexUnavailableError(
            f"there is no build {build.id} ({build.identity})", hint="open a build again"
        )


def open_build(connection: apsw.Connection, identity: str) -> Build:
    """The unfinished build of ``identity``, or a new one; one of another identity is deleted."""
    for build in all_builds(connection):
        if build.state == "filling":
            if build.identity == identity:
                return build
            drop(connection, build)
    sql = "INSERT INTO build (identity, state) VALUES (?, 'filling')"
    connection.execute(sql, (identity,))
    build = Build(connection.last_insert_rowid(), identity, "filling")
    tables = _BUILD.replace("<tokenize>", _TOKENIZE) + _SLABS + _FEW_DELETED
    connection.execute(of_build(tables, build.id))
    return build


def activate(connection: apsw.Connection, build: Build) -> None:
    """Make ``build`` the live one and the only one of its kind."""
    need(connection, build)
    for other in all_builds(connection):
        if other.state == "live" and other.id != build.id:
            drop(connection, other)
    connection.execute("UPDATE build SET state = 'live' WHERE id = ?", (build.id,))


def drop(connection: apsw.Connection, build: Build) -> None:
    """Delete a build, if it exists, and the vectors that no other build has."""
    connection.execute("DELETE FROM build WHERE id = ?", (build.id,))
    for table in BUILD_TABLES:
        connection.execute(of_build(f"DROP TABLE IF EXISTS {table}", build.id))


# SQLite checks the structure of what it reads, not its content: after a few bits were flipped it
# finds other words, or none. So each page ends with a CRC-32 of its bytes and its number. It is
# written with the page, and compared whenever SQLite reads the page from the disk (5 microseconds).
# The log needs none: SQLite has checksums in it, and reads nothing of what follows a damaged entry.
# Other programs can read the file. One that writes it damages it, and so does one that, closing it,
# writes back a log that a killed process left.

# Larger than SQLite's 4096, for rows here are of 1 to 2 kB: chunks with their text.
PAGE_SIZE = 16_384
RESERVED = 4
"""Bytes at the end of each page."""

_CONTENT = PAGE_SIZE - RESERVED
_SIZE_IN_HEADER = 28

_registered: dict[str, _Checked] = {}


def checked_vfs(base: str) -> str:
    """The name of the VFS that checks pages, over that called ``base`` (``""``: the system's)."""
    if base not in _registered:
        _registered[base] = _Checked(f"commonplace {base}", base)
    return _registered[base].name


def reserve(connection: apsw.Connection) -> None:
    """Keep the bytes of the checksums free; for a file that is still empty."""
    import ctypes  # no search makes a file

    count = ctypes.c_int(RESERVED)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(count))
    connection.pragma("page_size", PAGE_SIZE)


def sealed(content: bytes, number: int) -> bytes:
    """The page with that ``number`` (from 1): its content and the checksum."""
    return content + zlib.crc32(content, number).to_bytes(RESERVED, "little")


def _is_sealed(page: bytes, number: int) -> bool:
    # This is done for every page that is read: nothing is copied.
    content, checksum = memoryview(page)[:_CONTENT], page[_CONTENT:]
    return len(page) == PAGE_SIZE and zlib.crc32(content, number) == int.from_bytes(
        checksum, "little"
    )


class _Checked(apsw.VFS):
    def __init__(self, name: str, base: str) -> None:
        super().__init__(name, base)
        self.name = name
        self._base = base

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _CheckedFile(self._base, name, flags)
        return super().xOpen(name, flags)

    def xAccess(self, pathname: str, flags: int) -> bool:
        # SQLite would write a journal that it finds over the pages. Where there is a log there is
        # no journal, so it is not of this file; and a file that is not yet complete is made again.
        return not pathname.endswith("-journal") and super().xAccess(pathname, flags)


class _CheckedFile(apsw.VFSFile):
    def xRead(self, amount: int, offset: int) -> bytes:
        before, start = offset % PAGE_SIZE, offset - offset % PAGE_SIZE
        if not start and amount < PAGE_SIZE:
            # Parts of the header, which SQLite reads before it knows the size of a page.
            return super().xRead(amount, offset)
        # Of a value that fills several pages it may read what it needs of each: never a checksum.
        data = super().xRead(PAGE_SIZE, start)
        number = start // PAGE_SIZE + 1
        if not data:
            # SQLite takes it for zeros. New pages that it frees again are never written.
            if number <= self._pages_written_back():
                raise apsw.CorruptError(f"page {number} is missing")
        elif not _is_sealed(data, number):
            raise apsw.CorruptError(f"page {number} is not as it was written")
        return data if amount == PAGE_SIZE else data[before : before + amount]

    def xWrite(self, data: bytes, offset: int) -> None:
        if len(data) != PAGE_SIZE:
            super().xWrite(data, offset)
            return
        self._fill(offset)
        number = offset // PAGE_SIZE + 1
        super().xWrite(sealed(bytes(data)[:_CONTENT], number), offset)

    def xTruncate(self, newsize: int) -> None:
        self._fill(newsize)
        super().xTruncate(newsize)

    def _fill(self, end: int) -> None:
        """Write the pages up to ``end`` that are not there: SQLite leaves free ones out."""
        for offset in range(self.xFileSize(), end, PAGE_SIZE):
            super().xWrite(sealed(bytes(_CONTENT), offset // PAGE_SIZE + 1), offset)

    def _pages_written_back(self) -> int:
        """How many pages the file has by its own header; those in the log are not among them."""
        return int.from_bytes(super().xRead(4, _SIZE_IN_HEADER), "big")

    def excepthook(self, *_: object) -> bool:
        """SQLite reports a damaged page itself."""
        return True
