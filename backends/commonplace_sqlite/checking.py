"""What a check finds: the counts of the live build, damage, files set aside before, rights."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from commonplace.plugin import DamagedIndexes, Finding, Fix
from commonplace_sqlite.failures import DAMAGE
from commonplace_sqlite.rows import text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw

    from commonplace.plugin import Holder


_COMPANIONS = ("-wal", "-shm", "-journal")
_SUFFIXES = ("", *_COMPANIONS, ".lock", ".lock.pid")


def damaged_indexes(path: str) -> DamagedIndexes:
    """The damaged files that were set aside beside ``path``, each with what SQLite keeps beside it.

    The companions go first: left behind, SQLite would take them for those of the next file.
    """
    return DamagedIndexes(path, {ending: ending for ending in (*_COMPANIONS, "")})


def _mode_of(path: str) -> int:
    """What is allowed to whom; nothing where there is no such file, or where that is not known."""
    if os.name != "posix":
        return 0
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0


_MOST_PROBLEMS = 20

Kind = Literal["file", "keywords", "orphans", "counts", "vectors"]
"""What a problem is in; ``file`` is for SQLite's own, which a new build does not always repair."""


class Problem(NamedTuple):
    """An inconsistency, as one line."""

    kind: Kind
    line: str


_COUNTS = "SELECT source, count(*), sum(chunks) FROM document_<n> GROUP BY source"

_CHECKS: dict[Kind, dict[str, str]] = {
    "orphans": {
        "chunks belong to no document": "count(*) FROM chunk_<n> "
        "WHERE document NOT IN (SELECT id FROM document_<n>)",
        "chunks have no text": "count(*) FROM chunk_<n> AS c "
        "WHERE <text_id> NOT IN (SELECT id FROM text_<n>)",
        "texts belong to no chunk": "count(*) FROM text_<n> "
        "WHERE id NOT IN (SELECT <text_id> FROM chunk_<n> AS c)",
    },
    "keywords": {
        "chunks are not in the keyword index": "count(*) FROM chunk_<n> "
        "WHERE id NOT IN (SELECT id FROM fts_<n>_docsize)",
        "entries of the keyword index belong to no chunk": "count(*) FROM fts_<n>_docsize "
        "WHERE id NOT IN (SELECT id FROM chunk_<n>)",
    },
    "vectors": {
        "vectors are derived for documents that are not there": "count(*) FROM slab_<n> "
        "WHERE document NOT IN (SELECT id FROM document_<n>)",
        "runs of vectors have no codes": "count(*) FROM slab_<n> AS s WHERE NOT EXISTS ("
        "SELECT 1 FROM code_<n> WHERE space = s.space AND document = s.document AND part = s.part)",
        "vectors have another length than their space": "count(*) FROM vector AS v "
        "JOIN space AS s ON s.id = abs(v.space) WHERE 4 * s.dims <> length(v.e) + "
        "coalesce((SELECT length(e) FROM vector_tail WHERE id = v.id), 0)",
        "ends of vectors belong to no vector": "count(*) FROM vector_tail "
        "WHERE id NOT IN (SELECT id FROM vector)",
        "is the error in the count of chunks that have vectors": "abs("
        "(SELECT coalesce(sum(count), 0) FROM slab_<n>) - (SELECT count(*) FROM vector AS v "
        "JOIN chunk_<n> AS c ON c.digest = v.digest WHERE v.space > 0))",
    },
    "counts": {
        "documents have another number of chunks than they should": "count(*) "
        "FROM document_<n> AS d "
        "WHERE chunks <> (SELECT count(*) FROM chunk_<n> WHERE document = d.id)",
        "is the error in the count of chunks": "abs(chunks - (SELECT count(*) FROM chunk_<n>)) "
        "FROM build WHERE id = <n>",
    },
}
"""By kind, what is wrong where the value that is selected is not 0."""

_ANY_WORD = "SELECT 1 FROM fts_<n> WHERE fts_<n> MATCH 'a' LIMIT 1"


def counts_by_source(connection: apsw.Connection, build: int) -> tuple[tuple[str, int, int], ...]:
    """(source, documents, chunks) of a build, by source."""
    rows: Any = connection.execute(of_build(_COUNTS, build))
    return tuple(
        sorted((text_out(source), documents, chunks) for source, documents, chunks in rows)
    )


def problems(connection: apsw.Connection) -> tuple[Problem, ...]:
    """What is wrong with the file; takes as long as reading all of it."""
    try:
        return tuple(_problems(connection))
    except DAMAGE as error:
        return (Problem("file", f"the file is damaged: {error}"),)


def _problems(connection: apsw.Connection) -> Iterator[Problem]:
    # FTS5 takes part in this: it checks its segments against each other. It would do so by what
    # this connection last knew of them, and only a query lets it check whether that still holds.
    with suppress(*DAMAGE):  # which is found, and named, right below
        builds: Any = connection.execute("SELECT id FROM build").fetchall()
        for (build,) in builds:
            connection.execute(of_build(_ANY_WORD, build)).fetchall()
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS})"):
        if line != "ok":
            yield Problem("keywords" if "fts5" in str(line).lower() else "file", str(line))
    rows: Any = connection.execute("SELECT id, state FROM build ORDER BY id").fetchall()
    for build, state in rows:
        for kind, checks in _CHECKS.items():
            for words, value in checks.items():
                count: int = connection.execute(of_build(f"SELECT {value}", build)).get
                if count:
                    yield Problem(kind, f"the {state} build: {count} {words}")


_LOOKED_AT = (
    ("file", "integrity check", "the file is sound"),
    ("keywords", "keyword index", "in line with the chunks"),
    ("orphans", "orphans", "none"),
    ("counts", "counts", "as counted"),
    ("vectors", "vectors", "in line with the chunks"),
)


def findings(
    path: str,
    problems: Sequence[Problem],
    documents: int,
    chunks: int,
    *,
    holder: Holder | None,
    last_resort: Callable[[], str],
) -> Iterator[Finding]:
    """One for each kind of problem, then on the writer, older damaged files and permissions.

    ``documents`` and ``chunks`` are the counts of the live build, ``holder`` is the process that
    writes; ``last_resort`` sets the file aside.
    """
    counted = f"{documents} note{'s'[: documents != 1]}, {chunks} chunk{'s'[: chunks != 1]}"
    for kind, name, well in _LOOKED_AT:
        found = [problem.line for problem in problems if problem.kind == kind]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            fix = Fix("set the damaged index aside", last_resort)
            yield Finding("problem", name, found[0] + more, fix)
        else:
            yield Finding("ok", name, f"{counted}, {well}" if kind == "counts" else well)
    yield _writer(holder)
    yield damaged_indexes(path).finding()
    yield _rights(path)


def _writer(holder: Holder | None) -> Finding:
    if holder is None:
        return Finding("ok", "writer", "no process is writing")
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder.since))
    program = f" ({holder.program})" if holder.program else ""
    return Finding("ok", "writer", f"process {holder.pid}{program} writes since {since}")


def _rights(path: str) -> Finding:
    files = [path + suffix for suffix in _SUFFIXES if _mode_of(path + suffix) & 0o077]
    if not files:
        return Finding("ok", "rights", "the index is its owner's alone")
    names = ", ".join(map(os.path.basename, files))

    def run() -> str:
        for file in files:
            with suppress(FileNotFoundError):  # the log is deleted with its last connection
                os.chmod(file, 0o600)
        return f"made {names} readable for their owner alone"

    fix = Fix("take the rights of others from the index", run)
    return Finding("warning", "rights", f"others can open {names}", fix)
