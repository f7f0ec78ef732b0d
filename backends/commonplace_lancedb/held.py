"""The rows of a namespace in memory: of a newer version only what is new is read.

A row never changes where it lies: a file of the table is written once, and what is deleted is only
marked. So rows are known by their address (Lance's row id). Columns are read as a whole when they
are first asked for, which takes fewer requests than the rows of one search would; after that a
version costs one request for each file that it added. Where files were merged, all addresses are
new: then rows are taken over by their id and revision, which say what is in them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace_lancedb.head import EVERY
from commonplace_lancedb.rows import (
    Part,
    addresses_of,
    among,
    file_of,
    gathered,
    light_columns,
    own,
    part_of,
    places,
    read,
    rows_at,
    taken,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta

    import pyarrow as pa

    from commonplace_lancedb.conditions import Condition

_TAIL = 5_000
"""So many new rows are read with all that is held of others; of more only what is not known."""

_PARTS = 24
"""More lists of rows than that are made one, but for the first."""

_LEAST_LIVE = 0.8
"""Share of the rows of a part that are still there; below it the others are let go."""

_LAST = 50
"""So many rows at the end of the table are looked at for one that will stay."""


class Witness(NamedTuple):
    """A row of the table, of any namespace, by which it is known that a table is still the same.

    Ids are drawn at random, and so are revisions: a table made in the place of another, or one that
    was set back and written to since, has the same addresses, and other rows.
    """

    address: int
    id: int
    revision: int


class Held:
    """What is in memory of one version; a later one shares its parts.

    Rows are named by their position: that in the parts, one after the other. ``every`` are the
    addresses of all rows of the table, whosever they are.
    """

    def __init__(
        self,
        table: Any,
        namespace: str,
        every: Any,
        parts: list[Part],
        witness: Witness | None = None,
    ) -> None:
        import numpy as np

        self.version: int = table.version
        self.every = every
        self.witness = witness
        self.table, self.schema = table, table.schema
        self._namespace, self._parts = namespace, parts
        self._lock = threading.RLock()
        self.addresses = np.concatenate([part.addresses for part in parts])
        self._live = among(self.addresses, every)
        self._starts = np.cumsum([0, *(len(part.addresses) for part in parts)])
        self._light: dict[str, Any] = {}
        self._of: dict[tuple[int | None, str], Any] = {}

    def newer(self, table: Any, timeout: timedelta | None = None) -> Held:
        """The same of a later version, for which as little as possible is read."""
        later = self.continued(table, timeout)
        return first_held(table, self._namespace, timeout) if later is None else later

    def continued(self, table: Any, timeout: timedelta | None = None) -> Held | None:
        """As :meth:`newer`; ``None`` where another table is in the place of this one."""
        import numpy as np

        every = addresses_of(table, timeout)
        known = self._confirmed(table, every, timeout)
        if known is None:
            return None
        new = ~among(every, known)
        number = int(np.count_nonzero(new))
        first = len(every) - number
        if number > _TAIL or not new[first:].all():
            return self._reread(table, every, timeout)
        if number and len(self.addresses) and every[first] <= self.addresses[-1]:
            return self._reread(table, every, timeout)
        names = table.schema.names
        light = light_columns(names)
        parts = [part.widened(table.schema, light) for part in self._parts]
        witness = self.witness
        if number:
            loaded = {name for part in parts for name in part.table.column_names}
            columns = [name for name in names if name in loaded]
            addresses, rows = read(table.search().offset(first).limit(number), columns, timeout)
            parts = [*parts, part_of(addresses, rows, self._namespace)]
            witness = _last_of(addresses, rows)
        held = Held(table, self._namespace, every, parts, witness)
        return held._tidied()

    def _confirmed(self, table: Any, every: Any, timeout: timedelta | None) -> Any:
        """Which of the addresses of before are certain to be of the same rows.

        Files are numbered in the order in which they are written: where a row is the same, all are
        up to the end of its file. ``None`` where it is another row.
        """
        import numpy as np

        known = [self.witness] if self.witness is not None else []
        for at in np.flatnonzero(self._live & among(self.addresses, every))[-1:]:
            row = (self.addresses[at], self.light("id")[at], self.light("revision")[at])
            known.append(Witness(*map(int, row)))
        there = among(np.array([one.address for one in known], np.uint64), every)
        last = max(
            (one for one, is_there in zip(known, there, strict=True) if is_there), default=None
        )
        if last is None:
            return self.every[:0]
        address = np.array([last.address], np.uint64)
        (row,) = taken(table, address, ("id", "revision"), timeout).to_pylist()
        if (row["id"], row["revision"] or 0) != (last.id, last.revision):
            return None
        return self.every[file_of(self.every) <= file_of(address)[0]]

    def _tidied(self) -> Held:
        """The same with few parts, of which most rows are there."""
        import numpy as np
        import pyarrow as pa

        live = np.split(self._live, self._starts[1:-1])
        dense = live[0].sum() >= _LEAST_LIVE * len(live[0])
        if dense and len(self._parts) <= _PARTS:
            return self
        # The first is large, and may be the pages of a file.
        base = self.base if dense else self.base.only(live[0])
        few = [part.only(mask) for part, mask in zip(self._parts[1:], live[1:], strict=True)]
        few = [part for part in few if len(part.addresses)]
        if few:
            names = [n for n in few[0].table.column_names if all(p.has((n,)) for p in few)]
            table = pa.concat_tables([part.table.select(names) for part in few])
            few = [Part(np.concatenate([part.addresses for part in few]), table)]
        return Held(self.table, self._namespace, self.every, [base, *few], self.witness)

    def _reread(self, table: Any, every: Any, timeout: timedelta | None) -> Held:
        """All rows by their new addresses; what is in a row is read where it is not known."""
        import numpy as np
        import pyarrow as pa

        addresses, keys = read(own(table, self._namespace), ("id", "revision"), timeout)
        at = self._same_as(keys)
        light = light_columns(table.schema.names)
        parts = [part.widened(table.schema, light) for part in self._parts]
        names = [n for n in table.schema.names if all(part.has((n,)) for part in parts)]
        unknown = addresses[at < 0]
        if len(unknown) <= _TAIL:
            rows = taken(table, unknown, names, timeout)
        else:
            rows = rows_at(*read(own(table, self._namespace), names, timeout), unknown)
        new = part_of(unknown, rows, self._namespace)
        whole = pa.concat_tables([*(part.table.select(names) for part in parts), new.table])
        places_of_new = np.arange(len(self.addresses), whole.num_rows)
        addresses = np.concatenate([addresses[at >= 0], new.addresses])
        order = np.argsort(addresses)
        at = np.concatenate([at[at >= 0], places_of_new])[order]
        part = Part(addresses[order], gathered(whole, at))
        return Held(table, self._namespace, every, [part], _witness(table, every, timeout))

    def _same_as(self, keys: pa.Table) -> Any:
        """The positions of the rows with these ids and revisions; -1 where there is none.

        What is in a row is written in the commit of its revision. Earlier versions wrote none.
        """
        import numpy as np

        mine = np.flatnonzero(self._live)
        ids = self.light("id")[mine]
        order = np.argsort(ids)
        at = places(ids[order], keys["id"].to_numpy())
        if not len(mine):
            return at
        found = mine[order][at]
        revisions = keys["revision"].fill_null(0).to_numpy()
        same = (at >= 0) & (revisions != 0) & (self.light("revision")[found] == revisions)
        return np.where(same, found, -1)

    def has(self, names: Collection[str]) -> bool:
        """Whether the columns ``names`` are in memory."""
        return all(part.has(names) for part in self._parts)

    def load(self, names: Sequence[str], timeout: timedelta | None = None) -> None:
        """Read the columns ``names``, unless they are in memory."""
        import numpy as np

        with self._lock:
            missing = [name for name in names if not self.has((name,))]
            if not missing:
                return
            live = np.split(self._live, self._starts[1:-1])
            lacking = [not part.has(missing) for part in self._parts]
            few = [
                part.addresses[mask]
                for part, mask, lacks in zip(self._parts, live, lacking, strict=True)
                if lacks
            ]
            if sum(map(len, few)) <= _TAIL and not all(lacking):
                addresses = np.concatenate(few)
                table = taken(self.table, addresses, missing, timeout)
            else:
                search = own(self.table, self._namespace)
                if len(self.addresses) > len(self.every) / 2:
                    # A filter costs more than to read what is of others.
                    search = self.table.search().limit(EVERY)
                addresses, table = read(search, missing, timeout)
            for part, lacks in zip(self._parts, lacking, strict=True):
                if lacks:
                    part.add(rows_at(addresses, table, part.addresses))

    @property
    def base(self) -> Part:
        """The first rows, most of all as a rule."""
        return self._parts[0]

    def based_on(self, base: Part) -> Held:
        """The same with ``base`` in the place of the first rows, which has the same ones."""
        parts = [base, *self._parts[1:]]
        return Held(self.table, self._namespace, self.every, parts, self.witness)

    def base_is_live(self) -> bool:
        """Whether all rows of the base are still there."""
        return bool(self._live[: len(self.base.addresses)].all())

    def beyond_base(self) -> int:
        """How many rows there are beside the base, deleted ones not counted."""
        return int(self._live[len(self.base.addresses) :].sum())

    def merged(self) -> Held:
        """The same with one list of rows that are there, and the columns that all have."""
        import pyarrow as pa

        if len(self._parts) == 1 and self._live.all():
            return self
        names = [n for n in self.base.table.column_names if self.has((n,))]
        table = pa.concat_tables([part.table.select(names) for part in self._parts])
        part = Part(self.addresses[self._live], table.filter(pa.array(self._live)))
        return Held(self.table, self._namespace, self.every, [part], self.witness)

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

        found = places(self.addresses, np.asarray(addresses, np.uint64))
        return found[found >= 0]

    def take(self, positions: Any, columns: Sequence[str]) -> pa.Table:
        """The rows at ``positions``, in that order; columns that are not held are read."""
        import numpy as np
        import pyarrow as pa

        if not self.has(columns):
            return taken(self.table, self.addresses[positions], columns, None)
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
        if len(before) and file_of(before[0]) == file_of(first):
            return None
        return np.flatnonzero(self.mask(None, "chunk") & (self.addresses >= first))


def first_held(table: Any, namespace: str, timeout: timedelta | None = None) -> Held:
    """What is held of a table at first: all columns but the large ones."""
    addresses, rows = read(own(table, namespace), light_columns(table.schema.names), timeout)
    part, every = part_of(addresses, rows, namespace), addresses_of(table, timeout)
    return Held(table, namespace, every, [part], _witness(table, every, timeout))


def _witness(table: Any, every: Any, timeout: timedelta | None) -> Witness | None:
    """One of the last rows of the table."""
    search = table.search().offset(max(0, len(every) - _LAST)).limit(_LAST)
    return _last_of(*read(search, ("id", "revision", "kind"), timeout))


def _last_of(addresses: Any, rows: pa.Table) -> Witness | None:
    """The last of ``rows`` that is of a document: heads are written again with each commit."""
    kinds = rows["kind"].to_pylist()
    at = max((n for n, kind in enumerate(kinds) if kind in {"doc", "chunk"}), default=-1)
    if at < 0:
        return None
    row = (rows[name][at].as_py() or 0 for name in ("id", "revision"))
    return Witness(int(addresses[at]), *row)
