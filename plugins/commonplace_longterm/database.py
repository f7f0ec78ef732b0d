"""The LanceDB table of memories: rows of all agents, of which one agent's are asked for."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    CommonplaceError,
    IndexReadOnlyError,
    IndexUnavailableError,
    Lease,
    PluginUnavailableError,
    UnavailableError,
    redacted,
)
from commonplace_longterm.entries import Entry
from commonplace_longterm.settings import probe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from commonplace.plugin import Secret

_TABLE = "commonplace_ltm_1"
"""The number is the format's: another format has a table of its own."""

_COLUMNS = ("id", "text", "category", "importance", "created", "origin")
_EVERY = 2**31 - 1
_MOST_FRAGMENTS = 64
_LARGE = 1_000
_KEPT = timedelta(hours=1)
_WAIT_SECONDS = 10.0
_LONGEST_REASON = 200


class Row:
    """One memory with what it is found by; ``vector`` is ``None`` where it is not embedded."""

    __slots__ = ("digest", "entry", "terms", "vector")

    def __init__(self, entry: Entry, *, terms: str, digest: str, vector: bytes | None) -> None:
        self.entry = entry
        self.terms = terms
        self.digest = digest
        self.vector = vector


class Space:
    """The column that holds vectors of one fingerprint and length.

    ``refused`` stands in place of its name with texts of which the provider gave no vector.
    """

    __slots__ = ("column", "dims", "refused")

    def __init__(self, fingerprint: str, dims: int) -> None:
        name = hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self.column = f"vector_{name}_{dims}"
        self.refused = f"refused_{name}"
        self.dims = dims


class Database:
    """The memories of ``agent`` in the LanceDB at ``uri``; opened by the first use.

    Every question and every change names the agent: rows of others are neither ranked nor touched.
    Writers on one machine take turns. Errors are those of commonplace.
    """

    def __init__(
        self, uri: str, agent: str, options: Mapping[str, Secret], *, wait: float = _WAIT_SECONDS
    ) -> None:
        self.uri = uri
        self._mine = f"agent = {_literal(agent)}"
        self._agent = agent
        self._options = options
        self._wait = wait
        self._lock = threading.RLock()
        self._connection: Any = None
        self._checked = False
        folder = "" if "://" in uri else uri
        path = os.path.join(folder, f"{_TABLE}.lock") if folder else None
        self._lease = Lease(path, what="the long-term store")

    # --- reading

    def check(self) -> None:
        """Raise :class:`~commonplace.errors.PluginUnavailableError` where a library is missing.

        Reading raises it too: an empty answer would be wrong.
        """
        if self._checked:
            return
        able = probe()
        if not able.available:
            raise PluginUnavailableError(
                f"the long-term store cannot be used: {able.reason}", hint=able.hint
            )
        self._checked = True

    def entries(self, condition: str = "", *, limit: int = _EVERY) -> list[Entry]:
        """The agent's memories that pass ``condition``, in no order."""
        rows = self._rows(condition, _COLUMNS, limit)
        return [_entry(row) for row in rows]

    def by_ids(self, ids: Collection[str]) -> dict[str, Entry]:
        """The memories of these ids, by id."""
        if not ids:
            return {}
        listed = ", ".join(map(_literal, sorted(ids)))
        return {entry.id: entry for entry in self.entries(f"id IN ({listed})")}

    def by_digests(self, digests: Collection[str]) -> dict[str, Entry]:
        """The memories whose texts have these digests, by digest; the oldest of each."""
        if not digests:
            return {}
        listed = ", ".join(map(_literal, sorted(digests)))
        rows = self._rows(f"digest IN ({listed})", (*_COLUMNS, "digest"))
        rows.sort(key=lambda row: (-row["created"], row["id"]))
        return {row["digest"]: _entry(row) for row in rows}

    def count(self, mark: str | None = None) -> int:
        """How many memories the agent has; with ``mark`` those in this column, or refused."""
        table = self._open()
        if table is None:
            return 0
        marked = "" if mark is None else f" AND space = '{mark}'"
        with self._translated():
            number: int = table.count_rows(self._mine + marked)
        return number

    def lacking(self, space: Space, limit: int = _EVERY) -> list[Entry]:
        """Memories without a vector in ``space``, but for those that were refused one."""
        return self.entries(f"space NOT IN ('{space.column}', '{space.refused}')", limit=limit)

    def spaces(self, fingerprint: str) -> list[Space]:
        """The spaces of a fingerprint that the table has, of any length."""
        table = self._open()
        if table is None:
            return []
        with self._translated():
            names = list(table.schema.names)
        start = Space(fingerprint, 0).column[:-1]
        found = [name.removeprefix(start) for name in names if name.startswith(start)]
        return [Space(fingerprint, int(dims)) for dims in found]

    def nearest(self, space: Space, vector: bytes, limit: int) -> list[tuple[Entry, float]]:
        """The agent's memories that are nearest to a unit vector, with their cosines."""
        table = self._open()
        if table is None or limit < 1:
            return []
        import numpy as np

        query = np.frombuffer(vector, "<f4").astype(np.float32)
        with self._translated():
            if space.column not in table.schema.names:
                return []
            search = table.search(query, vector_column_name=space.column).distance_type("cosine")
            search = search.where(f"{self._mine} AND space = '{space.column}'", prefilter=True)
            # Every vector is compared: an agent has thousands of memories, not millions.
            search = search.bypass_vector_index().limit(limit)
            found = search.select([*_COLUMNS, "_distance"]).to_arrow().to_pylist()
        # LanceDB's distance is 1 - cosine here; its default is the square of the Euclidean one.
        return [(_entry(row), min(1.0, max(-1.0, 1.0 - row["_distance"]))) for row in found]

    def matching(self, tokens: Sequence[str], limit: int) -> list[tuple[Entry, str, str]]:
        """The agent's memories that hold one of ``tokens``, best first.

        Each comes with its terms and the column that has its vector, ``""`` where it has none.
        """
        table = self._open()
        if table is None or not tokens:
            return []
        with self._translated():
            from lancedb.query import MatchQuery

            search = table.search(MatchQuery(" ".join(tokens), "terms"), query_type="fts")
            search = search.where(self._mine, prefilter=True).limit(limit)
            found = search.select([*_COLUMNS, "terms", "space", "_score"]).to_arrow().to_pylist()
        return [(_entry(row), row["terms"], row["space"]) for row in found]

    # --- writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers of this machine out; raises ``IndexBusyError`` if it takes long."""
        with self._lease.held(self._wait):
            yield

    def put(self, rows: Sequence[Row], space: Space | None) -> None:
        """Add memories, or replace those of the same id. Their vectors are of ``space``.

        With a space, those without a vector are kept as refused.
        """
        if not rows:
            return
        table = self._table()
        with self._translated():
            embedded = any(row.vector is not None for row in rows)
            if space is not None and embedded and space.column not in table.schema.names:
                import pyarrow as pa

                vectors = pa.list_(pa.float32(), space.dims)
                table.add_columns(pa.schema([pa.field(space.column, vectors)]))
                table = self._connected().open_table(_TABLE)
            new = self._arrow(table.schema, rows, space)
            merge = table.merge_insert(["agent", "id"]).when_matched_update_all()
            # Without the option LanceDB refuses rows that have no vector.
            merge.when_not_matched_insert_all().execute(new, on_bad_vectors="null")
            self._compact(table, len(rows))

    def delete(self, ids: Collection[str]) -> int:
        """Delete memories of the agent; how many there were."""
        table = self._open()
        if table is None or not ids:
            return 0
        condition = f"{self._mine} AND id IN ({', '.join(map(_literal, sorted(ids)))})"
        with self._translated():
            number: int = table.count_rows(condition)
            if number:
                table.delete(condition)
        return number

    def close(self) -> None:
        """Let go of the connection; closing twice is fine."""
        with self._lock:
            self._connection = None

    # --- inside

    def _rows(self, condition: str, columns: Sequence[str], limit: int = _EVERY) -> list[Any]:
        table = self._open()
        if table is None:
            return []
        where = f"{self._mine} AND ({condition})" if condition else self._mine
        with self._translated():
            search = table.search().where(where).limit(limit).select(list(columns))
            found: list[Any] = search.to_arrow().to_pylist()
        return found

    def _connected(self) -> Any:
        with self._lock:
            if self._connection is None:
                options = {name: secret.reveal() for name, secret in self._options.items()}
                with self._translated():
                    os.environ.setdefault("LANCEDB_LOG", "off")  # it writes to standard error
                    import lancedb

                    arguments = {"storage_options": options} if options else {}
                    self._connection = lancedb.connect(self.uri, **arguments)
            return self._connection

    def _open(self) -> Any:
        """The newest version of the table; ``None`` where there is none yet."""
        self.check()
        if "://" not in self.uri and not os.path.isdir(os.path.join(self.uri, f"{_TABLE}.lance")):
            return None
        connection = self._connected()
        with self._translated():
            try:
                return connection.open_table(_TABLE)
            except ValueError as error:
                if re.search(r"(?i)was not found", str(error)):
                    return None
                raise

    def _table(self) -> Any:
        """The table to write to; made if need be."""
        table = self._open()
        connection = self._connected()
        with self._translated():
            if table is None:
                table = connection.create_table(_TABLE, schema=_schema(), exist_ok=True)
            indexed = [index.columns for index in table.list_indices()]
            if ["agent"] not in indexed:
                from lancedb.index import Bitmap

                table.create_index("agent", config=Bitmap())
            if ["terms"] not in indexed:
                from lancedb.index import FTS

                # Terms are analysed: their tokens are kept as they are.
                plain = FTS(
                    base_tokenizer="whitespace",
                    with_position=False,
                    max_token_length=None,
                    lower_case=False,
                    stem=False,
                    remove_stop_words=False,
                    ascii_folding=False,
                )
                table.create_index("terms", config=plain)
            return table

    def _arrow(self, schema: pa.Schema, rows: Sequence[Row], space: Space | None) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        columns: dict[str, Any] = {
            name: [getattr(row.entry, name) for row in rows] for name in _COLUMNS
        }
        columns["agent"] = [self._agent] * len(rows)
        columns["terms"] = [row.terms for row in rows]
        columns["digest"] = [row.digest for row in rows]
        # Asked for instead of the vectors themselves, which would have to be read.
        names = (space.column, space.refused) if space is not None else ("", "")
        columns["space"] = [names[row.vector is None] for row in rows]
        arrays = []
        for field in schema:
            if field.name in columns:
                arrays.append(pa.array(columns[field.name], field.type))
            elif space is not None and field.name == space.column:
                vectors = [
                    None if row.vector is None else np.frombuffer(row.vector, "<f4").tolist()
                    for row in rows
                ]
                arrays.append(pa.array(vectors, field.type))
            else:
                arrays.append(pa.nulls(len(rows), field.type))
        return pa.Table.from_arrays(arrays, schema=schema)

    def _compact(self, table: Any, added: int) -> None:
        """Gather what many changes have scattered, or a large one has left out of the indexes."""
        many = table.stats()["fragment_stats"]["num_fragments"] > _MOST_FRAGMENTS
        if many or added >= _LARGE:
            table.optimize(cleanup_older_than=_KEPT)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except CommonplaceError:
            raise
        except Exception as error:  # noqa: BLE001 - LanceDB raises whatever class comes to hand
            raise self._error_of(str(error)) from None

    def _error_of(self, words: str) -> IndexUnavailableError:
        shown = re.sub(r"(?<=://)[^/@]*@", "", self.uri)
        if re.search(r"(?i)permission denied|read-only file system|os error (1|13|30)\b", words):
            return IndexReadOnlyError(
                f"the long-term store at {shown} cannot be written",
                hint="make the folder and what is in it writable",
            )
        if re.search(r"(?i)no space left|os error 28|disk quota", words):
            return IndexUnavailableError(
                f"the long-term store at {shown} cannot be written: the disk is full",
                hint="free some space and try again",
            )
        secrets = []
        for secret in self._options.values():
            try:
                secrets.append(secret.reveal())
            except UnavailableError:
                continue
        line = redacted(words.splitlines()[0] if words else "no reason given", secrets)
        return IndexUnavailableError(
            f"the long-term store at {shown} cannot be used: {line[:_LONGEST_REASON]}",
            hint="check dbPath and storageOptions of memory-lancedb; a damaged folder can be moved "
            "away and its memories imported from an export",
        )


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    kinds = {"importance": pa.float64(), "created": number}
    names = ("agent", *_COLUMNS, "terms", "digest", "space")
    return pa.schema([pa.field(name, kinds.get(name, text), nullable=False) for name in names])


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(*(row[name] for name in _COLUMNS))


def _literal(text: str) -> str:
    """A string of Lance's SQL."""
    return "'" + text.replace("'", "''") + "'"
