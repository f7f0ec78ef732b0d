from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import how_to_install
from commonplace.host.host import PluginHost
from commonplace_lancedb import plugin

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_found_by_its_name_and_never_chosen_without() -> None:
    registration = PluginHost().backend("lancedb").registration
    assert registration.priority is None
    others = {"counts", "term_counts", "lookup", "days", "vocabulary"}
    assert registration.capabilities == {"keyword", "phrases", "vectors", "persistent", *others}


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        ({"lancedb"}, "lancedb is not installed"),
        ({"lancedb", "pyarrow"}, "lancedb and pyarrow are not installed"),
    ],
)
def test_what_is_missing_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, gone: set[str], reason: str
) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *_: None if name in gone else object()
    )
    probe = plugin._probe()
    assert (probe.available, probe.reason) == (False, reason)
    assert probe.hint == how_to_install("commonplace[lancedb]")


def test_what_is_installed_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: object())
    assert plugin._probe().available


def test_where_there_is_no_table_the_library_is_not_imported(tmp_path: Path) -> None:
    program = """
import sys
from commonplace.model.search import KeywordQuery, Where
from commonplace.protocols.contexts import StoreContext
from commonplace.resilience.deadline import NEVER
from commonplace_lancedb.plugin import make_store
store = make_store(StoreContext(path=sys.argv[1]))
assert store.builds() == ()
assert list(store.documents()) == []
found = store.keyword(KeywordQuery(("ant",)), where=Where(), limit=5, deadline=NEVER).found
assert found == ()
assert store.health().location.endswith("index.lance")
assert not {"lancedb", "pyarrow", "numpy"} & set(sys.modules)
"""
    path = str(tmp_path / "index.sqlite")
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert not list(tmp_path.iterdir()), "to look leaves nothing behind"


@pytest.mark.slow
def test_pydantic_is_unchanged_once_the_library_is_imported(lancedb_installed: None) -> None:
    program = """
import pydantic
from commonplace_lancedb.database import _lancedb
before = pydantic.validate_call
assert _lancedb().connect
assert pydantic.validate_call is before
from lance_namespace_urllib3_client.api.tag_api import TagApi
try:
    TagApi.list_table_tags(TagApi(), id=object())
except pydantic.ValidationError:
    print("checked")
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout == b"checked\n", "what is checked late is checked all the same"
