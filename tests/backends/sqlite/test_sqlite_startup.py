from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from commonplace.testing import make_put, publish

if TYPE_CHECKING:
    from commonplace_sqlite.store import SqliteStore

SCRIPT = """
import sys
import apsw, attrs, pluggy
before = set(sys.modules)
from commonplace.resilience.deadline import NEVER
from commonplace.model.search import KeywordQuery, Where
from commonplace.protocols.contexts import StoreContext
from commonplace_sqlite.plugin import make_store
store = make_store(StoreContext(path=sys.argv[1]))
assert len(list(store.documents())) == 1
found = store.keyword(KeywordQuery(("ant",)), where=Where(), limit=5, deadline=NEVER).found
assert [hit.chunk.path for hit in found] == ["a.md"]
store.close()
print("\\n".join(sorted(set(sys.modules) - before)))
"""

UNWANTED = {
    "asyncio",
    "cattrs",
    "concurrent.futures",
    "dataclasses",
    "datetime",
    "decimal",
    "filelock",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
    "numpy",
    "pathlib",
    "shutil",
    "sqlite3",
    "subprocess",
    "tempfile",
}
NOT_FOR_READING = {"checking", "maintenance", "vectors", "writing"}


def test_a_search_imports_nothing_it_does_not_need(store: SqliteStore, path: str) -> None:
    publish(store, make_put("a.md", "ant"))
    store.close()
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, path], capture_output=True, text=True, check=True
    )
    imported = set(ran.stdout.split())
    assert "commonplace_sqlite.keyword" in imported
    assert imported & UNWANTED == set()
    assert {f"commonplace_sqlite.{name}" for name in NOT_FOR_READING} & imported == set()
