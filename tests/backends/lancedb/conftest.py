"""Fixtures for the tests of the LanceDB store."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.secret import Secret
from commonplace.protocols.contexts import StoreContext
from commonplace_lancedb.plugin import make_store
from commonplace_lancedb.settings import LanceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from commonplace_lancedb.store import LanceStore


@pytest.fixture(scope="session")
def lancedb_installed() -> None:
    """Skips where the extra is not installed."""
    for library in ("lancedb", "pyarrow"):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed: pip install 'commonplace[lancedb]'")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Where a table may be made; it does not exist yet."""
    return str(tmp_path / "state" / "shared.lance")


@pytest.fixture
def open_store(lancedb_installed: None, folder: str) -> Iterator[Callable[..., LanceStore]]:
    """Opens stores in ``folder``, or elsewhere, by settings; and closes them after the test."""
    opened: list[Any] = []

    def make(name: str = "main", **settings: Any) -> LanceStore:
        config = LanceSettings(**{"uri": folder, **settings})
        store: Any = make_store(StoreContext(path=f"{folder}/{name}.sqlite", config=config))
        opened.append(store)
        return store  # type: ignore[no-any-return]  # the factory's own type is the protocol

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., LanceStore]) -> LanceStore:
    """A store in ``folder``."""
    return open_store()


@pytest.fixture
def secrets() -> Callable[[Mapping[str, str]], dict[str, Secret]]:
    """Makes of plain values what the configuration makes of them."""
    return lambda options: {name: Secret(value) for name, value in options.items()}


@pytest.fixture(scope="session")
def s3(lancedb_installed: None) -> Iterator[dict[str, str]]:
    """An S3 server on loopback with a bucket ``memory``: what ``storageOptions`` names of it."""
    for library in ("moto", "boto3", "flask"):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed: pip install 'commonplace[s3tests]'")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {
        "aws_access_key_id": "AKIAEXAMPLE",
        "aws_secret_access_key": "not-a-real-secret",
        "aws_region": "us-east-1",
        "aws_endpoint": f"http://{host}:{port}",
        "allow_http": "true",
    }
    client = boto3.client(
        "s3",
        endpoint_url=options["aws_endpoint"],
        aws_access_key_id=options["aws_access_key_id"],
        aws_secret_access_key=options["aws_secret_access_key"],
        region_name=options["aws_region"],
    )
    client.create_bucket(Bucket="memory")
    client.close()
    yield options
    server.stop()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, tuple[str, ...]]]:
    """How many rows were read from a table into memory, and which columns, by each read."""
    from commonplace_lancedb import loaded_rows, rows

    reads: list[tuple[int, tuple[str, ...]]] = []
    whole = rows.read

    def counting(search: Any, columns: Any, timeout: Any) -> Any:
        addresses, found = whole(search, columns, timeout)
        reads.append((found.num_rows, tuple(columns)))
        return addresses, found

    for module in (rows, loaded_rows):
        monkeypatch.setattr(module, "read", counting)
    return reads
