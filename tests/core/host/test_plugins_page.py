"""The page for authors of plugins is run, line by line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace.host.discovery import CALLED, KINDS, installed
from commonplace.host.host import PluginHost
from commonplace.host.switches import DISABLE, ONLY, SAFE, TRACE
from commonplace.model.plugins import Registration
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.protocols.contexts import RankContext, RankerContext

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).resolve().parents[3] / "docs" / "plugins.md"


@pytest.fixture
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def test_the_example_works_as_it_stands(
    page: str,
    site: Path,
    add_module: Callable[[str, str], None],
    add_distribution: Callable[..., Path],
) -> None:
    (packaging,) = blocks(page, "toml")
    module, in_process, *_ = blocks(page, "python")
    project = tomllib.loads(packaging)["project"]
    entries = project["entry-points"]["commonplace"]
    (name,) = set(entries.values())
    assert f"`{name}.py`:" in page
    add_module(name, module)
    add_distribution(project["name"], entries, version=project["version"])

    host = PluginHost(installed(None, [str(site)]), env={})
    assert [i.state for i in host.plugins(load=True)] == ["loaded"]
    ranker = host.ranker("brevity").factory(RankerContext())
    chunk = StoredChunk(1, "memory", "MEMORY.md", 1, 2, "x" * 500)
    context = RankContext(Query("x", KeywordQuery()), now=0.0, limit=5)
    (hit,) = ranker.rank([Candidate(chunk, 0.8, Explanation())], context)
    assert hit.score == pytest.approx(0.8 * 0.95)
    assert hit.explain.steps[-1].ranker == "brevity"

    exec(in_process, {})


def test_every_kind_and_hook_stands_in_the_table(page: str) -> None:
    rows = {row[1]: row[0] for row in re.findall(r"^(\| `(\w+)` \|.*)$", page, re.MULTILINE)}
    for kind, hooks in {**{kind: (hook,) for kind, hook in KINDS.items()}, **CALLED}.items():
        assert all(f"`{hook}`" in rows[kind] for hook in hooks)


def test_every_field_of_a_registration_stands_in_the_table(page: str) -> None:
    table = page.partition("## What a registration holds")[2].partition("\n## ")[0]
    fields = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert fields == list(Registration._fields)


def test_every_variable_stands_in_the_table(page: str) -> None:
    assert re.findall(r"^\| `(COMMONPLACE_\w+)=", page, re.MULTILINE) == [
        ONLY,
        DISABLE,
        SAFE,
        TRACE,
    ]
