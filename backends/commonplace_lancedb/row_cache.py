"""A cache of the rows of a bucket on this machine's disk, for the processes that start later.

The files are the base of ``LoadedRows``: one of small columns, and one for the texts and for each
column of vectors. Files whose names begin alike hold the same rows, in the same order; they are
never changed, and the one of small columns is written last. A process that starts with them asks
the bucket what is new, and whether the rows are those of the table: so files may be old, but never
wrong. Without files one process reads for all.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    IndexBusyError,
    IndexReadOnlyError,
    Lease,
    UnavailableError,
    make_private_folder,
)
from commonplace_lancedb import sealed
from commonplace_lancedb.head import is_vector_column
from commonplace_lancedb.rows import TEXTS, Part, small_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import timedelta

    import pyarrow as pa

    from commonplace_lancedb.loaded_rows import LoadedRows
    from commonplace_lancedb.settings import Location

_WAIT = 30.0
"""Seconds to wait for another process of this machine that reads the same."""

_LONG_TAIL = 2_000
"""Rows beside those on disk from which all are written again, and what is read at a start."""

_AGE = 600.0
"""Seconds for which what is on disk is good enough, however much is new: it is large."""

_LEFT = 3_600.0
"""Age in seconds of files that no process can be about to finish."""

_SMALL, _TEXTS = "rows", "texts"
_ADDRESS = "_rowid"


class RowCache:
    """The files of one namespace in ``folder``, which may hold ``most_bytes`` in all.

    ``clock`` gives the time in epoch seconds. No failure to read or write a file is ever raised.
    """

    def __init__(
        self,
        location: Location,
        folder: str,
        most_bytes: int,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._namespace = location.namespace
        self._most_bytes = most_bytes
        self._clock = clock
        self._key = _key_of(location)
        self._lease = Lease(os.path.join(folder, f"{self._key}.lock"), what="the rows of a bucket")
        # The files with this beginning hold the rows at these addresses, which are in memory.
        self._stem = ""
        self._addresses: Any = None

    def has_rows(self) -> bool:
        """Whether there are rows on disk, which may turn out to be of no use."""
        return bool(self._stems())

    def resumed(self, table: Any, timeout: timedelta | None = None) -> LoadedRows | None:
        """The rows on disk, with what is new in ``table``; ``None`` where no file can be used."""
        for version, stem in self._stems():
            if version > table.version:
                continue
            loaded = self._read(table, stem)
            later = None if loaded is None else loaded.continued(table, timeout)
            if later is not None:
                with suppress(OSError):  # so that others are deleted first
                    os.utime(self._path(self._key, "lock"))
                return later
            self._forget(stem)
        return None

    def load(self, table: Any, timeout: timedelta | None = None) -> LoadedRows:
        """The rows with which a process starts: from disk, else read by one process at a time."""
        from commonplace_lancedb.loaded_rows import load_rows  # numpy: only where rows are loaded

        loaded = self.resumed(table, timeout)
        if loaded is not None:
            return loaded
        with self._exclusively(_WAIT) as mine:
            loaded = self.resumed(table, timeout)
            if loaded is None:
                loaded = load_rows(table, self._namespace, timeout)
                loaded = self._written(loaded) if mine else loaded
        return loaded

    def with_columns(
        self, loaded: LoadedRows, names: Sequence[str], timeout: timedelta | None = None
    ) -> LoadedRows:
        """``loaded`` with the columns ``names``: from disk, else from the bucket."""
        groups = _groups(names)
        if self._is_base_of(loaded) and not self._attached(loaded, groups):
            with self._exclusively(_WAIT) as mine:
                if not self._attached(loaded, groups):
                    new = {name: of for name, of in groups.items() if not loaded.base.has(of)}
                    loaded.load(names, timeout)
                    if mine and not loaded.base_is_live():
                        # Of what was deleted meanwhile nothing is known, and it may come back.
                        loaded = self._written(loaded)
                    elif mine and self._write_groups(loaded.base, new):
                        self._attach(loaded, new)
        loaded.load(names, timeout)
        return loaded

    def saved(self, loaded: LoadedRows) -> LoadedRows:
        """``loaded``, written to disk if a process that starts would have to read much beside."""
        if self._is_base_of(loaded) and loaded.beyond_base() < _LONG_TAIL:
            return loaded
        young = self._clock() - _AGE
        if any(self._written_at(stem) > young for _, stem in self._stems()):
            return loaded
        with self._exclusively(0) as mine:
            return self._written(loaded) if mine else loaded

    def _is_base_of(self, loaded: LoadedRows) -> bool:
        return loaded.base.addresses is self._addresses

    @contextmanager
    def _exclusively(self, wait: float) -> Iterator[bool]:
        """Keep other processes from reading the same; yields whether this one may write."""
        lease = self._lease.held(wait)
        try:
            lease.__enter__()
        except (IndexBusyError, IndexReadOnlyError):
            yield False
            return
        try:
            yield True
        finally:
            lease.__exit__(None, None, None)

    def _read(self, table: Any, stem: str) -> LoadedRows | None:
        """The rows of ``stem`` with all columns that are there, if they can be of ``table``."""
        import pyarrow as pa

        from commonplace_lancedb.loaded_rows import LoadedRows, Witness

        try:
            rows, notes = sealed.read(self._path(stem, _SMALL))
            addresses = rows[_ADDRESS].combine_chunks().to_numpy()
            rows = rows.drop_columns([_ADDRESS])
            witness = Witness(*map(int, notes["witness"].split())) if notes["witness"] else None
            all_addresses = _expanded(notes["every"])
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None
        if notes.get("namespace") != self._namespace.encode() or not _fits(rows, table.schema):
            return None
        names = table.schema.names
        part = Part(addresses, rows).widened(table.schema, small_columns(names))
        loaded = LoadedRows(table, self._namespace, all_addresses, [part], witness)
        self._stem, self._addresses = stem, addresses
        self._attach(loaded, [_TEXTS, *filter(is_vector_column, names)])
        return loaded

    def _attached(self, loaded: LoadedRows, groups: Mapping[str, Sequence[str]]) -> bool:
        """Whether the first rows have the columns ``groups``, once what is on disk was taken."""
        missing = {group: names for group, names in groups.items() if not loaded.base.has(names)}
        self._attach(loaded, missing)
        return all(loaded.base.has(names) for names in missing.values())

    def _attach(self, loaded: LoadedRows, groups: Iterable[str]) -> None:
        """Let the first rows have the columns of ``groups`` that are on disk."""
        import pyarrow as pa

        for group in groups:
            with suppress(OSError, ValueError, pa.ArrowException):
                rows, notes = sealed.read(self._path(self._stem, group))
                same = notes.get("stem") == self._stem.encode()
                base = loaded.base
                if same and rows.num_rows == len(base.addresses) and _fits(rows, loaded.schema):
                    base.put(rows)

    def _written(self, loaded: LoadedRows) -> LoadedRows:
        """The same with its rows on disk, and in memory as the pages of those files."""
        import pyarrow as pa

        loaded = loaded.merged()
        part = loaded.base
        small = small_columns(part.table.column_names)
        rows = part.table.select(small).append_column(_ADDRESS, pa.array(part.addresses))
        if not self._make_room(part.table.nbytes, beside_own=False):
            return loaded
        notes = {
            "namespace": self._namespace.encode(),
            "witness": " ".join(map(str, loaded.witness or ())).encode(),
            "every": _shortened(loaded.all_addresses),
        }
        before = [stem for _, stem in self._stems()]
        stem = self._stem = f"{self._key}-{loaded.version}-{secrets.token_hex(4)}"
        self._write_groups(part, _groups(part.table.column_names))
        try:
            sealed.write(self._path(stem, _SMALL), rows, notes)
        except (OSError, pa.ArrowException):
            self._forget(stem)
            return loaded
        for earlier in before:
            self._forget(earlier)
        mapped = self._read(loaded.table, stem)
        return loaded if mapped is None else loaded.based_on(mapped.base)

    def _write_groups(self, part: Part, groups: Mapping[str, Sequence[str]]) -> bool:
        """Write the columns ``groups`` of the rows that are on disk; whether that was done."""
        import pyarrow as pa

        try:
            for group, names in groups.items():
                rows = part.table.select(list(names))
                if not self._make_room(rows.nbytes):
                    return False
                notes = {"stem": self._stem.encode()}
                sealed.write(self._path(self._stem, group), rows, notes)
        except (OSError, pa.ArrowException):
            return False
        return True

    def _make_room(self, size: int, *, beside_own: bool = True) -> bool:
        """Whether ``size`` bytes may be written; rows of other tables are deleted where need be.

        Without ``beside_own`` what is there of the same table does not count: it is replaced.
        """
        try:
            make_private_folder(self._folder)
            found = [(one.name, one.stat()) for one in os.scandir(self._folder)]
        except OSError:
            return False
        whole = {name.partition(".")[0] for name, _ in found if name.endswith(f".{_SMALL}")}
        sizes: Counter[str] = Counter()
        used = dict.fromkeys((name.partition("-")[0] for name, _ in found), 0.0)
        for name, status in found:
            stem, _, ending = name.partition(".")
            key = stem.partition("-")[0]
            if ending.startswith("lock"):
                used[key] = status.st_mtime
            elif stem not in whole and self._clock() - status.st_mtime > _LEFT:
                _delete(os.path.join(self._folder, name))
            else:
                sizes[key] += status.st_size
        if not beside_own:
            del sizes[self._key]
        for key in sorted(sizes.keys() - {self._key}, key=lambda one: used[one]):
            if sizes.total() + size > self._most_bytes:
                del sizes[key]
                for name, _ in found:
                    if name.startswith(f"{key}-"):
                        _delete(os.path.join(self._folder, name))
        return sizes.total() + size <= self._most_bytes

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if name.startswith(f"{self._key}-")]
        except OSError:
            return []

    def _stems(self) -> list[tuple[int, str]]:
        """Versions and beginnings of what is whole, the latest first."""
        found = []
        for name in self._names():
            stem, _, ending = name.partition(".")
            version = stem.split("-")[1]
            if ending == _SMALL and version.isdecimal():
                found.append((int(version), stem))
        return sorted(found, reverse=True)

    def _written_at(self, stem: str) -> float:
        try:
            return os.stat(self._path(stem, _SMALL)).st_mtime
        except OSError:
            return 0.0

    def _path(self, stem: str, group: str) -> str:
        return os.path.join(self._folder, f"{stem}.{group}")

    def _forget(self, stem: str) -> None:
        for name in [f"{stem}.{_SMALL}", *self._names()]:  # first that by which it is found
            if name.startswith(f"{stem}."):
                _delete(os.path.join(self._folder, name))


def _key_of(location: Location) -> str:
    """What tells one namespace of one table from all others, as far as settings tell."""
    settings = location.settings
    parts = [location.shown, location.table, location.namespace, str(settings.held_megabytes)]
    for name, secret in sorted(settings.storage_options.items()):
        if "endpoint" in name.lower() or "account_name" in name.lower():
            with suppress(UnavailableError):
                parts.append(secret.reveal())
    return blake2b("\n".join(parts).encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _groups(names: Iterable[str]) -> dict[str, list[str]]:
    """Of the columns ``names`` the large ones, by the file that they are in."""
    groups = {name: [name] for name in names if is_vector_column(name)}
    if set(TEXTS) <= set(names):
        groups[_TEXTS] = list(TEXTS)
    return groups


def _fits(rows: pa.Table, schema: pa.Schema) -> bool:
    """Whether all columns of ``rows`` are such columns of the table."""
    kinds = {field.name: field.type for field in schema}
    return all(kinds.get(field.name) == field.type for field in rows.schema)


def _shortened(ascending: Any) -> bytes:
    """Addresses as runs: where one begins, and how long it is."""
    import numpy as np

    starts = np.flatnonzero(np.diff(ascending, prepend=np.uint64(2**64 - 1)) != 1)
    lengths = np.diff(starts, append=len(ascending)).astype(np.uint64)
    return np.stack([ascending[starts], lengths]).astype("<u8").tobytes()


def _expanded(runs: bytes) -> Any:
    """The inverse of :func:`_shortened`."""
    import numpy as np

    first, lengths = np.frombuffer(runs, "<u8").reshape(2, -1).astype(np.uint64)
    ends = np.cumsum(lengths, dtype=np.uint64)
    shift = np.repeat(first - (ends - lengths), lengths.astype(np.int64))
    return shift + np.arange(len(shift), dtype=np.uint64)


def _delete(path: str) -> None:
    with suppress(OSError):  # another process was faster, or has it open where that counts
        os.unlink(path)
