"""The store keeps every law of stores, in a file and behind an address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

import pytest
from hypothesis import settings
from milvus_lite.adapter.grpc.server import start_server_in_thread

from commonplace.plugin import StoreContext
from commonplace.testing import StoreConformance
from commonplace_example_milvus.plugin import make_store
from commonplace_example_milvus.settings import MilvusSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.plugin import Store


class TestMilvusStore(StoreConformance):
    # Opening a store takes a tenth of a second.
    settings = settings(max_examples=5, stateful_step_count=12)

    def open_store(self, directory: str) -> Store:
        return make_store(StoreContext(path=f"{directory}/index"))


class TestMilvusServer(StoreConformance):
    settings = settings(max_examples=1, stateful_step_count=12)
    uri: ClassVar[str]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def server(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        folder = str(tmp_path_factory.mktemp("server"))
        server, database, port = start_server_in_thread(folder, host="127.0.0.1", port=0)
        cls.uri = f"http://127.0.0.1:{port}"
        yield
        server.stop(grace=None).wait()
        database.close()

    def open_store(self, directory: str) -> Store:
        # A copy of the folder, which is what the laws make of one, is of the same index.
        name = Path(directory, "name")
        if not name.exists():
            name.write_text(f"test_{uuid4().hex}")
        settings = MilvusSettings(uri=self.uri, collection=name.read_text())
        return make_store(StoreContext(path=f"{directory}/index", config=settings))

    def test_no_file_is_left_open(self) -> None:
        pytest.skip("the server is in this process, and keeps the files of its collections open")
