"""The border to pymilvus: collections and rows, and its failures as errors of ours."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
from pymilvus import DataType, MilvusClient
from pymilvus.exceptions import ConnectionConfigException, MilvusException

from commonplace.plugin import (
    NEVER,
    DeadlineExceededError,
    IndexBusyError,
    IndexUnavailableError,
)
from commonplace_example_milvus import lite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.plugin import Deadline


Row = dict[str, Any]

MOST_RANKED = 16_384
"""The most that Milvus gives back for one search."""

_PAGE = 4_096
_BATCH = 500
"""Rows in one request: a few megabytes at the most, where 64 are allowed."""


class Fields(NamedTuple):
    """What the rows of a collection hold; a vector of ``dims``, too, or a stand-in for one.

    ``key`` is the primary key, a number as ``numbers`` are. Texts are up to 65,535 bytes long.
    ``sets`` are of up to 4,096 numbers.
    """

    key: str
    numbers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    dims: int | None = None


class Database:
    """The collections whose names begin with ``prefix``, behind one client.

    Every method raises :class:`~commonplace.errors.IndexUnavailableError` where Milvus does not do
    its part. Filters are expressions of Milvus.
    """

    def __init__(self, uri: str, *, token: str, prefix: str, timeout: float) -> None:
        # What pymilvus logs it also raises, and a command line shows an error once.
        for library in ("pymilvus", "milvus_lite"):
            logging.getLogger(library).setLevel(logging.CRITICAL)
        self._file = uri if lite.is_file(uri) else None
        self._prefix = prefix
        self._timeout = timeout
        self._client = self._connected(uri, token)
        try:
            for name in self.names():
                self._load(name)
        except BaseException:
            self.close()
            raise

    def size(self) -> int:
        """Bytes of the file, which is a folder; 0 for a server, which does not tell."""
        if self._file is None:
            return 0
        return sum(
            os.path.getsize(os.path.join(folder, name))
            for folder, _, names in os.walk(self._file)
            for name in names
        )

    def close(self) -> None:
        """Let go of the client, and of the file."""
        with suppress(MilvusException, grpc.RpcError):
            self._client.close()
        if self._file is not None:
            lite.let_go(self._file)

    def names(self) -> list[str]:
        """The collections there are, without the prefix."""
        with self._translated():
            names = self._client.list_collections(timeout=self._timeout)
        return [n.removeprefix(self._prefix) for n in names if n.startswith(self._prefix)]

    def create(self, name: str, fields: Fields) -> None:
        """Make a collection, unless it is there, and have it ready to be searched."""
        full = self._prefix + name
        with self._translated():
            if not self._client.has_collection(full, timeout=self._timeout):
                # Strong: what one client has written, the next one reads.
                self._client.create_collection(
                    full, schema=_schema(fields), consistency_level="Strong"
                )
                index = self._client.prepare_index_params()
                index.add_index("vector", index_type="FLAT", metric_type="COSINE")
                # pymilvus would sleep for half a second; that it is loaded says that it is done.
                self._client.create_index(full, index, sync=False)
        self._load(name)

    def drop(self, name: str) -> None:
        """Delete a collection; one that is gone stays gone."""
        with self._translated():
            self._client.drop_collection(self._prefix + name, timeout=self._timeout)

    def insert(self, name: str, rows: Sequence[Row]) -> None:
        """Add rows; they may be seen one batch after the other."""
        for start in range(0, len(rows), _BATCH):
            batch = [{"vector": [1.0, 0.0], **row} for row in rows[start : start + _BATCH]]
            with self._translated():
                self._client.insert(self._prefix + name, batch, timeout=self._timeout)

    def upsert(self, name: str, rows: Sequence[Row]) -> None:
        """Add rows or replace those of the same key, all in one request."""
        with self._translated():
            self._client.upsert(self._prefix + name, list(rows), timeout=self._timeout)

    def delete(self, name: str, where: str) -> None:
        """Delete the rows that pass a filter."""
        with self._translated():
            self._client.delete(self._prefix + name, filter=where, timeout=self._timeout)

    def rows(
        self, name: str, where: str, fields: Sequence[str], deadline: Deadline = NEVER
    ) -> Iterator[Row]:
        """All rows that pass a filter, in any order, page by page."""
        with self._translated(deadline):
            found = self._client.query(
                self._prefix + name,
                filter=where,
                output_fields=list(fields),
                limit=_PAGE,
                timeout=self._wait(deadline),
            )
        if len(found) < _PAGE:
            yield from found
            return
        # An iterator looks twice at everything, which is for those who need it.
        with self._translated(deadline):
            pages = self._client.query_iterator(
                self._prefix + name,
                batch_size=_PAGE,
                filter=where,
                output_fields=list(fields),
                timeout=self._wait(deadline),
            )
        try:
            while True:
                deadline.check("the search in Milvus")
                with self._translated(deadline):
                    page = pages.next()
                if not page:
                    return
                yield from page
        finally:
            pages.close()

    def few(self, name: str, where: str, fields: Sequence[str]) -> list[Row]:
        """As :meth:`rows`, in one request, for filters that few rows pass."""
        with self._translated():
            found = self._client.query(
                self._prefix + name,
                filter=where,
                output_fields=list(fields),
                timeout=self._timeout,
            )
        return list(found)

    def count(self, name: str, where: str) -> int:
        """How many rows pass a filter."""
        (row,) = self.few(name, where, ["count(*)"])
        return int(row["count(*)"])

    def nearest(
        self, name: str, vector: Sequence[float], where: str, limit: int, deadline: Deadline
    ) -> list[Row]:
        """The keys and vectors of the ``limit`` rows nearest by cosine, best first."""
        with self._translated(deadline):
            (found,) = self._client.search(
                self._prefix + name,
                data=[list(vector)],
                anns_field="vector",
                filter=where,
                limit=limit,
                output_fields=["vector"],
                timeout=self._wait(deadline),
            )
        return [dict(hit["entity"], id=hit["id"]) for hit in found]

    def _load(self, name: str) -> None:
        with self._translated():
            self._client.load_collection(self._prefix + name, timeout=self._timeout)

    def _connected(self, uri: str, token: str) -> MilvusClient:
        if self._file is None:
            with self._translated():
                return MilvusClient(uri=uri, token=token, timeout=self._timeout)
        os.makedirs(os.path.dirname(os.path.abspath(self._file)), exist_ok=True)
        lite.take(self._file)
        try:
            return MilvusClient(uri=uri)
        except ConnectionConfigException as error:
            lite.let_go(self._file)
            raise IndexBusyError(
                f"{self._file} cannot be opened: another process has it open, or it is damaged",
                hint="end the other program, or let both use a server: milvus-lite server",
            ) from error
        except MilvusException as error:
            lite.let_go(self._file)
            raise IndexUnavailableError(f"Milvus Lite does not answer: {error.message}") from error

    def _wait(self, deadline: Deadline) -> float:
        left = deadline.remaining()
        return self._timeout if left == inf else max(left, 0.001)

    @contextmanager
    def _translated(self, deadline: Deadline = NEVER) -> Iterator[None]:
        try:
            yield
        except (MilvusException, grpc.RpcError) as error:
            if deadline.expired:
                raise DeadlineExceededError("Milvus took longer than it was given") from error
            said = error.message if isinstance(error, MilvusException) else str(error)
            raise IndexUnavailableError(
                f"Milvus refused: {' '.join(str(said).split())}",
                hint="see that memory.milvus.uri and token are right, and the server is up",
            ) from error


def _schema(fields: Fields) -> Any:
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(fields.key, DataType.INT64, is_primary=True)
    for name in fields.numbers:
        schema.add_field(name, DataType.INT64)
    for name in fields.flags:
        schema.add_field(name, DataType.BOOL)
    for name in fields.texts:
        schema.add_field(name, DataType.VARCHAR, max_length=65_535)
    for name in fields.sets:
        schema.add_field(name, DataType.ARRAY, element_type=DataType.INT64, max_capacity=4_096)
    # Milvus keeps no collection without a vector.
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=fields.dims or 2)
    return schema
