"""The rows of a namespace in memory: of a newer version only what is new is read.

A row never changes where it lies: a file of the table is written once, and what is deleted is only
marked. So rows are known by their address (Lance's row id). Columns are read as a whole when they
are first asked for, which takes fewer requests than the rows of one search would; after that a
version costs one request for each file that it added. Where files were merged, all addresses are
new: then texts and vectors are taken over by the id of the chunk, whose text never changes.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from commonplace_lancedb.head import EVERY, epoch_column, is_vector_column, literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta

    import pyarrow as pa

    from commonplace_lancedb.conditions import Condition

TEXTS = ("text", "heading", "terms")
"""What makes a row large, besides vectors; all other columns are always held."""

_TAIL = 5_000
"""So many new rows are read with all that is held of others; of more only what is not known."""

_PARTS = 24
"""More lists of rows than that are made one, but for the first."""

_LEAST_LIVE = 0.8
"""Share of the rows of a part that are still there; below it the others are let go."""

_RUNS = 5_000
"""So many runs of rows are put one after the other, which is quicker than to gather rows."""


class Part:
    """Rows that became known together, by ascending address; columns are added to it."""

    def __init__(self, addresses: Any, table: pa.Table) -> None:
        self.addresses = addresses
        self.table = table.combine_chunks()

    def only(self, kept: Any) -> Part:
        """The rows where the mask ``kept`` is true."""
        import pyarrow as pa

        return Part(self.addresses[kept], self.table.filter(pa.array(kept)))

    def widened(self, schema: pa.Schema, names: Sequence[str]) -> Part:
        """With the columns ``names``, also those that were added to the table since: all null."""
        import pyarrow as pa

        missing = [name for name in names if not _has(self, (name,))]
        if not missing:
            return self
        table = self.table
        for name in missing:
            field = schema.field(name)
            table = table.append_column(field, pa.nulls(len(self.addresses), field.type))
        return Part(self.addresses, table)


class Held:
    """What is in memory of one version; a later one shares its parts.

    Rows are named by their position: that in the parts, one after the other. ``every`` are the
    addresses of all rows of the table, whosever they are.
    """

    def __init__(self, table: Any, namespace: str, every: Any, parts: list[Part]) -> None:
        import numpy as np

        self.version: int = table.version
        self.every = every
        self._table, self._namespace, self._parts = table, namespace, parts
        self._lock = threading.RLock()
        self.addresses = np.concatenate([part.addresses for part in parts])
        self._live = _among(self.addresses, every)
        self._starts = np.cumsum([0, *(len(part.addresses) for part in parts)])
        self._light: dict[str, Any] = {}
        self._of: dict[tuple[int | None, str], Any] = {}

    def newer(self, table: Any, timeout: timedelta | None = None) -> Held:
        """The same of a later version, for which as little as possible is read."""
        import numpy as np

        every = _addresses(table, timeout)
        if not self._is_of(table, every, timeout):
            return first_held(table, self._namespace, timeout)
        new = ~_among(every, self.every)
        number = int(np.count_nonzero(new))
        first = len(every) - number
        if number > _TAIL or not new[first:].all():
            return self._reread(table, every, timeout)
        names = table.schema.names
        light = light_columns(names)
        parts = [part.widened(table.schema, light) for part in self._parts]
        if number:
            loaded = {name for part in parts for name in part.table.column_names}
            columns = [name for name in names if name in loaded]
            search = table.search().offset(first).limit(number)
            parts = [*parts, _part(search, columns, self._namespace, timeout)]
        held = Held(table, self._namespace, every, parts)
        return held._tidied()

    def _is_of(self, table: Any, every: Any, timeout: timedelta | None) -> bool:
        """Whether it is the same table: one made in its place has the same addresses.

        Ids are drawn at random, so that one of a row that is there still tells them apart.
        """
        import numpy as np

        stayed = np.flatnonzero(self._live & _among(self.addresses, every))[-1:]
        ids = taken(table, self.addresses[stayed], ("id",), timeout)["id"].to_pylist()
        return bool(ids == self.light("id")[stayed].tolist())

    def _tidied(self) -> Held:
        """The same with few parts, of which most rows are there."""
        import numpy as np
        import pyarrow as pa

        live = np.split(self._live, self._starts[1:-1])
        dense = live[0].sum() >= _LEAST_LIVE * len(live[0])
        if dense and len(self._parts) <= _PARTS:
            return self
        kept = [part.only(mask) for part, mask in zip(self._parts, live, strict=True)]
        few = [part for part in kept[1:] if len(part.addresses)]
        if few:
            names = [n for n in few[0].table.column_names if all(_has(p, (n,)) for p in few)]
            table = pa.concat_tables([part.table.select(names) for part in few])
            few = [Part(np.concatenate([part.addresses for part in few]), table)]
        return Held(self._table, self._namespace, self.every, [kept[0], *few])

    def _reread(self, table: Any, every: Any, timeout: timedelta | None) -> Held:
        """All rows by their new addresses; texts and vectors of those that are known are kept."""
        columns = light_columns(table.schema.names)
        part = _part(_own(table, self._namespace), columns, self._namespace, timeout)
        held = Held(table, self._namespace, every, [part])
        for name in table.schema.names:
            if name not in columns and all(_has(one, (name,)) for one in self._parts):
                column = self._carried(held, name, timeout)
                part.table = part.table.append_column(table.schema.field(name), column)
        return held

    def _carried(self, held: Held, name: str, timeout: timedelta | None) -> Any:
        """The column ``name`` for the only part of ``held``, read where it is not known here."""
        import numpy as np
        import pyarrow as pa

        part = held._parts[0]
        mine = self.positions(None, "chunk")
        ids = self.light("id")[mine]
        order = np.argsort(ids)
        wanted = part.table["id"].to_numpy()
        chunks = held.mask(None, "chunk")
        at = _found(ids[order], wanted)
        known = chunks & (at >= 0)
        at = mine[order][at] if len(mine) else at
        if is_vector_column(name) and len(mine):
            # A vector can be put again: the row was written in the same commit, or is another one.
            for mark in ("revision", epoch_column(name.removeprefix("v_"))):
                known &= self.light(mark)[at] == held.light(mark)
        rest = np.flatnonzero(chunks & ~known)
        old = pa.concat_tables([one.table.select([name]) for one in self._parts])[name]
        more = taken(held._table, part.addresses[rest], (name,), timeout)[name]
        at[rest] = len(old) + np.arange(len(rest))
        whole = pa.chunked_array([*old.chunks, *more.chunks], old.type).combine_chunks()
        return whole.take(pa.array(at, mask=~chunks))

    def has(self, names: Collection[str]) -> bool:
        """Whether the columns ``names`` are in memory."""
        return all(_has(part, names) for part in self._parts)

    def load(self, names: Sequence[str], timeout: timedelta | None = None) -> None:
        """Read the columns ``names``, unless they are in memory."""
        with self._lock:
            missing = [name for name in names if not self.has((name,))]
            if not missing:
                return
            search = _own(self._table, self._namespace)
            if len(self.addresses) > len(self.every) / 2:
                # A filter costs more than to read what is of others.
                search = self._table.search().limit(EVERY)
            addresses, table = _read(search, missing, timeout)
            for part in self._parts:
                rows = _rows_at(addresses, table, part.addresses)
                for name in missing:
                    if name not in part.table.column_names:
                        column = rows[name].combine_chunks()
                        part.table = part.table.append_column(rows.schema.field(name), column)

    def light(self, name: str) -> Any:
        """A column of whole numbers as a numpy array over all positions; 0 for null."""
        import numpy as np

        if name not in self._light:
            columns = (part.table[name].fill_null(0).to_numpy() for part in self._parts)
            self._light[name] = np.concatenate(list(columns))
        return self._light[name]

    def mask(self, build: int | None, kind: str) -> Any:
        """Which positions are rows of ``kind`` in ``build``, or in any; a boolean array."""
        import numpy as np
        import pyarrow.compute as pc

        key = build, kind
        if key not in self._of:
            equal = [pc.equal(part.table["kind"], kind).to_numpy() for part in self._parts]
            mask = self._live & np.concatenate(equal)
            self._of[key] = mask if build is None else mask & (self.light("build") == build)
        return self._of[key]

    def positions(self, build: int | None, kind: str, *conditions: Condition) -> Any:
        """The positions of the rows of ``kind`` in ``build`` that pass all ``conditions``."""
        import numpy as np

        mask = self.mask(build, kind)
        for condition in conditions:
            parts = [condition.mask(part.table).to_numpy() for part in self._parts]
            mask = mask & np.concatenate(parts)
        return np.flatnonzero(mask)

    def at(self, addresses: Any) -> Any:
        """The positions of the rows at ``addresses``; those that are not held are left out."""
        import numpy as np

        found = _found(self.addresses, np.asarray(addresses, np.uint64))
        return found[found >= 0]

    def take(self, positions: Any, columns: Sequence[str]) -> pa.Table:
        """The rows at ``positions``, in that order; columns that are not held are read."""
        import numpy as np
        import pyarrow as pa

        if not self.has(columns):
            return taken(self._table, self.addresses[positions], columns, None)
        within = np.searchsorted(self._starts, positions, side="right") - 1
        order = np.argsort(within, kind="stable")
        pieces = [
            part.table.select(list(columns)).take(
                pa.array(positions[order][within[order] == number] - self._starts[number])
            )
            for number, part in enumerate(self._parts)
            if number in within
        ]
        if not pieces:
            return self._parts[0].table.select(list(columns)).slice(0, 0)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(pieces).take(pa.array(back))

    def products(self, column: str, query: Any) -> Any:
        """The inner product of each vector of ``column`` with ``query``; float32."""
        import numpy as np

        found = []
        for part in self._parts:
            for values in part.table[column].chunks:
                # Where there is no vector, there are numbers all the same, which mean nothing.
                flat = values.values.to_numpy(zero_copy_only=False)
                flat = flat[values.offset * len(query) :][: len(values) * len(query)]
                found.append(flat.reshape(len(values), len(query)) @ query)
        return np.concatenate(found)

    def since(self, number: int) -> Any:
        """The positions of chunks among the last ``number`` rows of the table.

        ``None`` where these are not the whole of some files: then nothing is known of them.
        """
        import numpy as np

        if not number:
            return np.empty(0, np.int64)
        first = self.every[-number] if number <= len(self.every) else self.every[0]
        before = self.every[-number - 1 : -number]
        if len(before) and before[0] >> np.uint64(32) == first >> np.uint64(32):
            return None
        return np.flatnonzero(self.mask(None, "chunk") & (self.addresses >= first))


def first_held(table: Any, namespace: str, timeout: timedelta | None = None) -> Held:
    """What is held of a table at first: all columns but the large ones."""
    columns = light_columns(table.schema.names)
    part = _part(_own(table, namespace), columns, namespace, timeout)
    return Held(table, namespace, _addresses(table, timeout), [part])


def light_columns(names: Sequence[str]) -> list[str]:
    """Of the columns ``names`` those that are always held."""
    return [name for name in names if name not in TEXTS and not is_vector_column(name)]


def taken(table: Any, addresses: Any, columns: Sequence[str], timeout: timedelta | None) -> Any:
    """The rows at ``addresses``, in that order, read from the table."""
    import pyarrow as pa

    if not len(addresses):
        fields = [table.schema.field(name) for name in columns]
        return pa.schema(fields).empty_table()
    search = table.take_row_ids([int(one) for one in addresses])
    known, rows = _read(search, columns, timeout)
    return rows.take(pa.array(_found(known, addresses)))


def _own(table: Any, namespace: str) -> Any:
    return table.search().where(f"namespace = {literal(namespace)}").limit(EVERY)


def _part(search: Any, columns: Sequence[str], namespace: str, timeout: timedelta | None) -> Part:
    """What a search gives of the namespace, but for what has been replaced."""
    import pyarrow.compute as pc

    addresses, rows = _read(search, columns, timeout)
    own = pc.and_(pc.equal(rows["namespace"], namespace), pc.not_equal(rows["kind"], "dead"))
    own = own.fill_null(fill_value=False)
    return Part(addresses[own.to_numpy()], rows.filter(own))


def _read(search: Any, columns: Sequence[str], timeout: timedelta | None) -> tuple[Any, pa.Table]:
    """Addresses, ascending, and rows in that order."""
    import numpy as np

    rows = search.select(["_rowid", *columns]).to_arrow(timeout=timeout)
    addresses = rows["_rowid"].to_numpy()
    rows = rows.select(list(columns))
    if len(addresses) > 1 and not (addresses[:-1] < addresses[1:]).all():
        order = np.argsort(addresses)
        addresses, rows = addresses[order], rows.take(order)
    return addresses, rows


def _rows_at(addresses: Any, table: pa.Table, wanted: Any) -> pa.Table:
    """Of ``table``, whose rows are at ``addresses``, those at ``wanted``; null where none is."""
    import numpy as np
    import pyarrow as pa

    if not len(wanted):
        return table.slice(0, 0)
    at = _found(addresses, wanted)
    starts = np.flatnonzero(np.diff(at, prepend=-2) != 1)
    if len(starts) > _RUNS or (at < 0).any():
        # What has been deleted since is not there any more.
        return table.take(pa.array(at, mask=at < 0))
    ends = [*starts[1:], len(at)]
    runs = [table.slice(at[i], j - i) for i, j in zip(starts, ends, strict=True)]
    return pa.concat_tables(runs)


def _addresses(table: Any, timeout: timedelta | None) -> Any:
    """Those of all rows, ascending: Lance knows them without reading a file of rows."""
    import numpy as np

    rows = table.search().select(["_rowid"]).limit(EVERY).to_arrow(timeout=timeout)
    return np.sort(rows["_rowid"].to_numpy())


def _found(ascending: Any, wanted: Any) -> Any:
    """Where each of ``wanted`` stands in ``ascending``; -1 where it does not."""
    import numpy as np

    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[at] == wanted, at, -1)


def _among(wanted: Any, ascending: Any) -> Any:
    return _found(ascending, wanted) >= 0


def _has(part: Part, names: Collection[str]) -> bool:
    return set(names) <= set(part.table.column_names)
