"""The page on conformance: its code runs, and its tables name every law and every broken part."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

MINE = """
from hashlib import shake_128
from commonplace.errors import ProviderError
from commonplace.index.manager import IndexedMemoryManager
from commonplace.protocols.providers import Limits
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore
from commonplace_notes.source import NotesSource
from commonplace_ranking.fusion import ReciprocalRank


def MyStore(directory):
    return InMemoryStore()


def MyManager(context):
    return IndexedMemoryManager(
        store=InMemoryStore(), sources=context.sources, chunker=LinesChunker(1600, 100),
        analyser=make_analyser(), workspace=context.workspace,
    )


def MyRanker(context):
    return ReciprocalRank()


def MySource(context):
    return NotesSource(context.workspace)


def MyChunker(context):
    return LinesChunker(context.size, context.overlap)


class MyProvider:
    model = "mine"
    limits = Limits()
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self, context):
        self.context = context

    def fingerprint(self):
        return f"mine {self.context.query_prefix!r} {self.context.document_prefix!r}"

    def embed(self, texts, *, purpose, deadline):
        if deadline.expired or self.context.base_url:
            kind = "timeout" if deadline.expired else "unavailable"
            raise ProviderError("no answer", provider="mine", kind=kind)
        prefix = getattr(self.context, f"{purpose}_prefix") or ""
        raws = [(prefix + text).encode("utf-8", "replace") for text in texts]
        return [[byte - 127.5 for byte in shake_128(raw).digest(8)] for raw in raws]

    def close(self):
        pass
"""


@pytest.fixture(scope="module")
def page() -> Any:
    spec = importlib.util.spec_from_file_location("conformance_page", HERE / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_strangers_few_lines_are_enough(tmp_path: Path, page: Any) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page.PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "test_mine.py").write_text(code)
    laws = (
        "what_it_is or nothing or blank or closing_twice or alone or known_words or its_end"
        " or vector_for_each or fails_says_so or deleted or line_map or undeclared"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-k", laws, "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("Store", "Manager", "Provider", "Ranker", "Source", "Chunker"):
        assert f"class TestMy{name}(" in code


def test_the_page_names_every_law(page: Any) -> None:
    text = page.PAGE.read_text("utf-8")
    laws = [law for suite in page.suites() for law in page.laws_of(suite)]
    assert len(laws) > 150
    assert [law for law in laws if f"| {page.words_of(law)} |" not in text] == []
    assert "| failed |" not in text


def test_the_page_names_everything_broken(page: Any) -> None:
    text = page.PAGE.read_text("utf-8")
    broken = {name for file in HERE.glob("test_broken_*.py") for name, _ in page.broken_in(file)}
    assert len(broken) > 100
    assert [name for name in sorted(broken) if f"| `{name}` |" not in text] == []


def test_no_law_knows_what_is_broken(page: Any) -> None:
    package = ROOT / "core" / "commonplace" / "testing"
    laws = "\n".join(file.read_text("utf-8") for file in package.rglob("*.py"))
    broken = {name for file in HERE.glob("test_broken_*.py") for name, _ in page.broken_in(file)}
    assert [name for name in broken if name in laws] == []


def test_whatever_is_offered_is_held_to_the_laws(page: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    offered = project["project"]["entry-points"]["commonplace"]
    kinds = {"backend", "provider", "ranker", "source", "chunker"}
    held = {id_ for id_ in offered if id_.partition(".")[0] in kinds}
    columns = set(page.COLUMNS.values())
    unheld = {id_ for id_ in held if id_.partition(".")[2] not in columns}
    assert unheld == set(page.ELSEWHERE)
