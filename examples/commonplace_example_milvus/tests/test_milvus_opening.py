"""Where a store is, and what is said where it cannot be opened."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import (
    IndexBusyError,
    IndexUnavailableError,
    Reading,
    Secret,
    StoreContext,
    WrongValueError,
)
from commonplace.testing import held, make_put, publish
from commonplace_example_milvus.opening import _shown
from commonplace_example_milvus.plugin import make_store
from commonplace_example_milvus.settings import MilvusSettings, _address

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace_example_milvus.store import MilvusStore

_OPEN = """
import sys
from commonplace.plugin import IndexBusyError
from commonplace.plugin import StoreContext
from commonplace_example_milvus.opening import open_store
try:
    open_store(StoreContext(path=sys.argv[1]))
except IndexBusyError as error:
    print("busy:", error.hint)
else:
    print("opened")
"""


def test_a_file_is_of_one_process_at_a_time(
    opened: Callable[..., MilvusStore], tmp_path: Path
) -> None:
    def other() -> str:
        command = [sys.executable, "-c", _OPEN, str(tmp_path / "index")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    one, two = opened(), opened()
    assert "milvus-lite server" in other()
    one.close()
    assert other().startswith("busy")
    two.close()
    assert other() == "opened\n"


def test_two_agents_share_a_file(tmp_path: Path) -> None:
    settings = MilvusSettings(uri=str(tmp_path / "both.db"))
    mine = make_store(StoreContext(path=str(tmp_path / "mine"), config=settings))
    yours = make_store(StoreContext(path=str(tmp_path / "yours"), config=settings))
    publish(mine, make_put("a.md", "ant"))
    assert held(yours) == {}
    publish(yours, make_put("b.md", "bee"))
    assert set(held(mine)) == {("memory", "a.md")}
    mine.close()
    assert set(held(yours)) == {("memory", "b.md")}
    yours.close()


def test_an_address_where_no_server_answers_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{taken.getsockname()[1]}"
        settings = MilvusSettings(uri=uri, timeout_seconds=0.3)
        with pytest.raises(IndexUnavailableError) as caught:
            make_store(StoreContext(path=str(tmp_path / "index"), config=settings))
    assert not isinstance(caught.value, IndexBusyError)
    assert "uri" in caught.value.hint


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.milvus.db").write_text("not a database")
    with pytest.raises(IndexUnavailableError):
        make_store(StoreContext(path=str(tmp_path / "index")))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://host:19530", "http://host:19530"),
        ("/var/milvus.db", "/var/milvus.db"),
        ("~/milvus.db", "/home/me/milvus.db"),
        ("here.db", "/etc/here.db"),
    ],
)
def test_a_file_is_where_the_configuration_says(written: str, read: str) -> None:
    assert _address(written, Reading(env={"HOME": "/home/me"}, base="/etc")) == read


def test_what_is_neither_file_nor_address_is_refused() -> None:
    with pytest.raises(WrongValueError):
        _address("milvus", Reading(env={}, base="/etc"))


def test_no_password_is_shown() -> None:
    assert _shown("https://me:secret@host:19530/db") == "https://host:19530/db"
    assert "secret" not in repr(MilvusSettings(token=Secret("me:secret")))
