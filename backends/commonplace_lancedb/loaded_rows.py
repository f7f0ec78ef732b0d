"""The rows of a namespace in memory: of a newer version only what is new is read.

A row never changes where it lies: a file of the table is written once, and what is deleted is only
marked. So rows are known by their address (Lance's row id). Columns are read as a whole when they
are first asked for, which takes fewer requests than the rows of one search would; after that a
version costs one request for each file that it added. Where files were merged, all addresses are
new: then rows are taken over by their id and revision, which say what is in them.

This module imports numpy and pyarrow, so it is imported where rows are loaded, not before.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commonplace_lancedb.head import EVERY
from commonplace_lancedb.rows import (
    Part,
    addresses_of,
    file_of,
    gather,
    is_in,
    own,
    part_of,
    positions_in,
    read,
    read_at,
    rows_at,
    small_columns,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta

    from numpy.typing import NDArray

    from commonplace_lancedb.conditions import Condition
    from commonplace_lancedb.rows import Addresses, Mask, Positions

_TAIL = 5_000
"""So many new rows are read with all loaded columns; of more rows only what is not known."""

_PARTS = 24
"""Where there are more parts than that, all but the first become one."""

_LEAST_LIVE = 0.8
"""Share of the first part's rows that are still there; below it deleted rows are removed."""

_LAST = 50
"""So many rows at the end of the table are searched for a witness that will stay."""


class Witness(NamedTuple):
    """A row of the table, of any namespace, by which it is known that a table is still the same.

    Ids are drawn at random, and so are revisions: a table made in the place of another, or one that
    was set back and written to since, has the same addresses, and other rows.
    """

    address: int
    id: int
    revision: int


class LoadedRows:
    """The rows of one version in memory; a later version shares its parts.

    Rows are named by their position: that in the parts, one after the other. ``all_addresses``
    are those of all rows of the table, also of other namespaces.
    """

    def __init__(
        self,
        table: Any,
        namespace: str,
        all_addresses: Addresses,
        parts: list[Part],
        witness: Witness | None = None,
    ) -> None:
        self.version: int = table.version
        self.all_addresses = all_addresses
        self.witness = witness
        self.table, self.schema = table, table.schema
        self._namespace, self._parts = namespace, parts
        self._lock = threading.RLock()
        self.addresses: Addresses = np.concatenate([part.addresses for part in parts])
        self._live: Mask = is_in(self.addresses, all_addresses)  # the others have been deleted
        self._starts = np.cumsum([0, *(len(part.addresses) for part in parts)])
        self._int_columns: dict[str, NDArray[Any]] = {}
        self._masks: dict[tuple[int | None, str], Mask] = {}  # by build and kind

    def newer(self, table: Any, timeout: timedelta | None = None) -> LoadedRows:
        """The same of a later version, for which as little as possible is read."""
        later = self.continued(table, timeout)
        return load_rows(table, self._namespace, timeout) if later is None else later

    def continued(self, table: Any, timeout: timedelta | None = None) -> LoadedRows | None:
        """As :meth:`newer`; ``None`` where another table is in the place of this one."""
        all_addresses = addresses_of(table, timeout)
        known = self._confirmed(table, all_addresses, timeout)
        if known is None:
            return None
        new = ~is_in(all_addresses, known)
        number = int(np.count_nonzero(new))
        first = len(all_addresses) - number
        if number > _TAIL or not new[first:].all():
            return self._reread(table, all_addresses, timeout)
        if number and len(self.addresses) and all_addresses[first] <= self.addresses[-1]:
            return self._reread(table, all_addresses, timeout)
        names = table.schema.names
        small = small_columns(names)
        parts = [part.widened(table.schema, small) for part in self._parts]
        witness = self.witness
        if number:
            known_names = {name for part in parts for name in part.table.column_names}
            columns = [name for name in names if name in known_names]
            addresses, rows = read(table.search().offset(first).limit(number), columns, timeout)
            parts = [*parts, part_of(addresses, rows, self._namespace)]
            witness = _last_of(addresses, rows)
        loaded = LoadedRows(table, self._namespace, all_addresses, parts, witness)
        return loaded._tidied()

    def _confirmed(
        self, table: Any, all_addresses: Addresses, timeout: timedelta | None
    ) -> Addresses | None:
        """Which of the addresses of before are certain to be of the same rows.

        Files are numbered in the order in which they are written: where a row is the same, all are
        up to the end of its file. ``None`` where it is another row.
        """
        witnesses = [self.witness] if self.witness is not None else []
        for at in np.flatnonzero(self._live & is_in(self.addresses, all_addresses))[-1:]:
            values = self.addresses[at], self.int_column("id")[at], self.int_column("revision")[at]
            witnesses.append(Witness(*map(int, values)))
        addresses = np.array([witness.address for witness in witnesses], np.uint64)
        there = is_in(addresses, all_addresses)
        last = max(
            (witness for witness, is_there in zip(witnesses, there, strict=True) if is_there),
            default=None,
        )
        if last is None:
            return self.all_addresses[:0]
        address = np.array([last.address], np.uint64)
        (row,) = read_at(table, address, ("id", "revision"), timeout).to_pylist()
        if (row["id"], row["revision"] or 0) != (last.id, last.revision):
            return None
        up_to_its_file: Mask = file_of(self.all_addresses) <= file_of(address)[0]
        return self.all_addresses[up_to_its_file]

    def _tidied(self) -> LoadedRows:
        """The same rows in few parts, without most of those that were deleted."""
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
        return LoadedRows(
            self.table, self._namespace, self.all_addresses, [base, *few], self.witness
        )

    def _reread(
        self, table: Any, all_addresses: Addresses, timeout: timedelta | None
    ) -> LoadedRows:
        """All rows by their new addresses; only unknown rows are read."""
        addresses, keys = read(own(table, self._namespace), ("id", "revision"), timeout)
        known_at = self._same_as(keys)
        small = small_columns(table.schema.names)
        parts = [part.widened(table.schema, small) for part in self._parts]
        names = [n for n in table.schema.names if all(part.has((n,)) for part in parts)]
        unknown = addresses[known_at < 0]
        if len(unknown) <= _TAIL:
            rows = read_at(table, unknown, names, timeout)
        else:
            rows = rows_at(*read(own(table, self._namespace), names, timeout), unknown)
        new = part_of(unknown, rows, self._namespace)
        whole = pa.concat_tables([*(part.table.select(names) for part in parts), new.table])
        new_at = np.arange(len(self.addresses), whole.num_rows)
        addresses = np.concatenate([addresses[known_at >= 0], new.addresses])
        order = np.argsort(addresses)
        positions = np.concatenate([known_at[known_at >= 0], new_at])[order]
        part = Part(addresses[order], gather(whole, positions))
        witness = _witness(table, all_addresses, timeout)
        return LoadedRows(table, self._namespace, all_addresses, [part], witness)

    def _same_as(self, keys: pa.Table) -> Positions:
        """The positions of the rows with these ids and revisions; -1 where there is none.

        A revision identifies the commit that wrote a row. Earlier versions wrote none.
        """
        live = np.flatnonzero(self._live)
        ids = self.int_column("id")[live]
        order = np.argsort(ids)
        in_order = positions_in(ids[order], keys["id"].to_numpy())
        if not len(live):
            return in_order
        positions = live[order][in_order]
        revisions = keys["revision"].fill_null(0).to_numpy()
        same = self.int_column("revision")[positions] == revisions
        return np.where((in_order >= 0) & (revisions != 0) & same, positions, -1)

    def has(self, names: Collection[str]) -> bool:
        """Whether the columns ``names`` are in memory."""
        return all(part.has(names) for part in self._parts)

    def load(self, names: Sequence[str], timeout: timedelta | None = None) -> None:
        """Read the columns ``names``, unless they are in memory."""
        with self._lock:
            missing = [name for name in names if not self.has((name,))]
            if not missing:
                return
            live = np.split(self._live, self._starts[1:-1])
            lacking = [not part.has(missing) for part in self._parts]
            wanted = [
                part.addresses[mask]
                for part, mask, lacks in zip(self._parts, live, lacking, strict=True)
                if lacks
            ]
            if sum(map(len, wanted)) <= _TAIL and not all(lacking):
                addresses = np.concatenate(wanted)
                table = read_at(self.table, addresses, missing, timeout)
            else:
                search = own(self.table, self._namespace)
                if len(self.addresses) > len(self.all_addresses) / 2:
                    # A filter costs more than reading the rows of other namespaces.
                    search = self.table.search().limit(EVERY)
                addresses, table = read(search, missing, timeout)
            for part, lacks in zip(self._parts, lacking, strict=True):
                if lacks:
                    part.add(rows_at(addresses, table, part.addresses))

    @property
    def base(self) -> Part:
        """The first part, which as a rule has most of the rows."""
        return self._parts[0]

    def based_on(self, base: Part) -> LoadedRows:
        """The same with ``base``, which has the same rows, as the first part."""
        parts = [base, *self._parts[1:]]
        return LoadedRows(self.table, self._namespace, self.all_addresses, parts, self.witness)

    def base_is_live(self) -> bool:
        """Whether no row of the base was deleted."""
        return bool(self._live[: len(self.base.addresses)].all())

    def beyond_base(self) -> int:
        """How many rows there are beside the base, deleted ones not counted."""
        return int(self._live[len(self.base.addresses) :].sum())

    def merged(self) -> LoadedRows:
        """The same in one part, without deleted rows, with the columns that all parts have."""
        if len(self._parts) == 1 and self._live.all():
            return self
        names = [n for n in self.base.table.column_names if self.has((n,))]
        table = pa.concat_tables([part.table.select(names) for part in self._parts])
        part = Part(self.addresses[self._live], table.filter(pa.array(self._live)))
        return LoadedRows(self.table, self._namespace, self.all_addresses, [part], self.witness)

    def int_column(self, name: str) -> NDArray[Any]:
        """A column of whole numbers as a numpy array over all positions; 0 for null."""
        if name not in self._int_columns:
            columns = (part.table[name].fill_null(0).to_numpy() for part in self._parts)
            self._int_columns[name] = np.concatenate(list(columns))
        return self._int_columns[name]

    def mask(self, build: int | None, kind: str) -> Mask:
        """Which positions are rows of ``kind`` in ``build``, or in any; a boolean array."""
        key = build, kind
        if key not in self._masks:
            equal = [pc.equal(part.table["kind"], kind).to_numpy() for part in self._parts]
            mask = self._live & np.concatenate(equal)
            self._masks[key] = mask if build is None else mask & (self.int_column("build") == build)
        return self._masks[key]

    def positions(self, build: int | None, kind: str, *conditions: Condition) -> Positions:
        """The positions of the rows of ``kind`` in ``build`` that pass all ``conditions``."""
        mask = self.mask(build, kind)
        for condition in conditions:
            parts = [condition.mask(part.table).to_numpy() for part in self._parts]
            mask = mask & np.concatenate(parts)
        return np.flatnonzero(mask)

    def positions_at(self, addresses: Any) -> Positions:
        """The positions of the rows at ``addresses``; those that are not loaded are left out."""
        positions = positions_in(self.addresses, np.asarray(addresses, np.uint64))
        return positions[positions >= 0]

    def take(self, positions: Positions, columns: Sequence[str]) -> pa.Table:
        """The rows at ``positions``, in that order; columns that are not loaded are read."""
        if not self.has(columns):
            return read_at(self.table, self.addresses[positions], columns, None)
        part_of_each = np.searchsorted(self._starts, positions, side="right") - 1
        order = np.argsort(part_of_each, kind="stable")
        pieces = [
            part.table.select(list(columns)).take(
                pa.array(positions[order][part_of_each[order] == number] - self._starts[number])
            )
            for number, part in enumerate(self._parts)
            if number in part_of_each
        ]
        if not pieces:
            return self._parts[0].table.select(list(columns)).slice(0, 0)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(pieces).take(pa.array(back))

    def products(self, column: str, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of each vector of ``column`` with ``query``."""
        products = []
        for part in self._parts:
            for values in part.table[column].chunks:
                # Rows without a vector have numbers too, which mean nothing.
                flat = values.values.to_numpy(zero_copy_only=False)
                flat = flat[values.offset * len(query) :][: len(values) * len(query)]
                products.append(flat.reshape(len(values), len(query)) @ query)
        return np.concatenate(products)

    def chunks_among_last(self, number: int) -> Positions | None:
        """The positions of chunks among the last ``number`` rows of the table.

        ``None`` where the last rows are not whole files: then it is unknown which rows they are.
        """
        if not number:
            return np.empty(0, np.int64)
        first = self.all_addresses[-min(number, len(self.all_addresses))]
        before = self.all_addresses[-number - 1 : -number]
        if len(before) and file_of(before[0]) == file_of(first):
            return None
        return np.flatnonzero(self.mask(None, "chunk") & (self.addresses >= first))


def load_rows(table: Any, namespace: str, timeout: timedelta | None = None) -> LoadedRows:
    """Load the rows of ``namespace`` with all columns but the large ones."""
    addresses, rows = read(own(table, namespace), small_columns(table.schema.names), timeout)
    part, all_addresses = part_of(addresses, rows, namespace), addresses_of(table, timeout)
    witness = _witness(table, all_addresses, timeout)
    return LoadedRows(table, namespace, all_addresses, [part], witness)


def _witness(table: Any, all_addresses: Addresses, timeout: timedelta | None) -> Witness | None:
    """One of the last rows of the table."""
    search = table.search().offset(max(0, len(all_addresses) - _LAST)).limit(_LAST)
    return _last_of(*read(search, ("id", "revision", "kind"), timeout))


def _last_of(addresses: Any, rows: pa.Table) -> Witness | None:
    """The last of ``rows`` that is of a document: heads are written again with each commit."""
    kinds = rows["kind"].to_pylist()
    at = max((n for n, kind in enumerate(kinds) if kind in {"doc", "chunk"}), default=-1)
    if at < 0:
        return None
    row = (rows[name][at].as_py() or 0 for name in ("id", "revision"))
    return Witness(int(addresses[at]), *row)
