"""What the laws do not ask: another process, and a file that is no database."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import IndexUnavailableError, PluginHost, StoreContext
from commonplace_example_duckdb.plugin import make_store

if TYPE_CHECKING:
    from pathlib import Path

_OPEN = """
import sys
from commonplace.plugin import StoreContext, UnavailableError
from commonplace_example_duckdb.plugin import make_store
try:
    make_store(StoreContext(path=sys.argv[1])).close()
except UnavailableError as error:
    print("not available:", error.hint)
else:
    print("available")
"""


def test_the_host_finds_it() -> None:
    host = PluginHost()
    assert host.backend("duckdb").registration.probe().available


def test_for_another_process_it_is_not_available_meanwhile(tmp_path: Path) -> None:
    path = str(tmp_path / "index")
    command = [sys.executable, "-c", _OPEN, path]

    def ask() -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    with closing(make_store(StoreContext(path=path))):
        assert ask().startswith("not available: one process at a time")
    assert ask() == "available"


def test_a_file_that_is_no_database_is_not_available(tmp_path: Path) -> None:
    (tmp_path / "index.duckdb").write_text("no database " * 1_000)
    with pytest.raises(IndexUnavailableError, match="DuckDB failed"):
        make_store(StoreContext(path=str(tmp_path / "index")))
