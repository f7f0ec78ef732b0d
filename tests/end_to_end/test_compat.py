"""The profile `compat` on every store, beside the original's own queries and formulas.

The oracle keeps the notes in a table of FTS5, as the original does, and asks what it asks.
"""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., Memory]

NOTES = {
    "MEMORY.md": "The staging server listens on port 8443, and the walrus feeds on it.",
    "memory/2026-01-01.md": "Deployed the server to staging; port 9000 was closed before.",
    "memory/otter.md": "The otter project starts in May: otter, otter, and no server.",
    "memory/max_retries.md": "Set max_retries to 5 in config_file when the café is closed.",
    "memory/zh.md": "今天天气很好, 我们讨论了部署方案。 端口是 8443",
    "memory/ko.md": "서버에서 배포를 했다. 설정 파일은 그대로 둔다",
    "memory/long.md": "Notes on herons. " * 12 + "One of them nests at the staging server.",
}
TOKENIZERS = pytest.mark.parametrize("tokenizer", ["unicode61", "trigram"])
needs_lancedb = pytest.mark.skipif(
    importlib.util.find_spec("lancedb") is None, reason="the extra lancedb is not installed"
)
BACKENDS = pytest.mark.parametrize(
    "backend", ["builtin", "inmemory", pytest.param("lancedb", marks=needs_lancedb)]
)


@pytest.fixture
def open_(tmp_path: Path) -> Iterator[Open]:
    """Open a memory of the notes under ``compat``."""
    opened: list[Memory] = []
    for path, text in NOTES.items():
        target = tmp_path / "workspace" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    env["COMMONPLACE_CACHE_DIR"] = str(tmp_path / "cache")

    def open__(backend: str = "builtin", tokenizer: str = "unicode61", **search: Any) -> Memory:
        settings: dict[str, Any] = {
            "provider": "none",
            "ranking": {"profile": "compat"},
            "store": {"fts": {"tokenizer": tokenizer}},
            "chunking": {"strategy": "lines"},
            **search,
        }
        memory = Memory.open(
            workspace=tmp_path / "workspace",
            config={"memory": {"backend": backend, "search": settings}},
            env=env,
        )
        opened.append(memory)
        return memory

    yield open__
    for memory in opened:
        memory.close()


class Original:
    """The search without a provider, as behaviour and formulas of the original are described."""

    def __init__(self, tokenizer: str, notes: dict[str, str] = NOTES) -> None:
        self.trigram = tokenizer == "trigram"
        self.table = apsw.Connection(":memory:")
        wanted = "trigram case_sensitive 0" if self.trigram else tokenizer
        self.table.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(text, path UNINDEXED, tokenize='{wanted}')"
        )
        self.table.executemany("INSERT INTO t VALUES (?, ?)", [(t, p) for p, t in notes.items()])

    def asked(self, query: str) -> dict[str, float]:
        """The boosted score of every note that has all tokens, by path."""
        tokens = re.findall(r"\w+", query)
        short = [
            t for t in tokens if self.trigram and len(t) < 3 and re.search(r"[一-鿿가-힣ぁ-ヿ]", t)
        ]
        match = " AND ".join(f'"{token}"' for token in tokens if token not in short)
        where = ["text LIKE ?"] * len(short) + (["t MATCH ?"] if match else [])
        rank = "bm25(t)" if match else "0"
        sql = f"SELECT path, text, {rank} FROM t WHERE {' AND '.join(where)}"
        values = [*(f"%{token}%" for token in short), *([match] if match else [])]
        found: Any = self.table.execute(sql, values)
        return {path: self.boosted(rank, query, text, path) for path, text, rank in found}

    @staticmethod
    def boosted(rank: float, query: str, text: str, path: str) -> float:
        score = -rank / (1 - rank) if rank < 0 else 1 / (1 + rank)
        asked, held = (set(re.findall(r"\w+", one.lower())) for one in (query, text))
        score += 0.45 * len(asked & held) / len(asked) + 0.2 * len(asked & held) / len(held)
        score += 0.18 * sum(token in path.lower() for token in asked)
        return min(1.0, score + min(len(text) / 160, 0.18))

    def search(self, query: str, keywords: list[str]) -> dict[str, float]:
        found = self.asked(query)
        for keyword in [] if found else keywords:
            for path, score in self.asked(keyword).items():
                found[path] = max(score, found.get(path, 0.0))
        strict = {path: score for path, score in found.items() if score >= 0.35}
        return strict or found


QUERIES: dict[str, list[str]] = {
    "staging server": [],
    "otter": [],
    "SERVER port": [],
    "max_retries": [],
    "what was the walrus decision about the otter?": ["walrus", "decision", "otter"],
    "when did the heron nest": ["heron", "nest"],
    "the of": [],
    "zebra": ["zebra"],
    "배포는": ["배포는", "배포"],
    "서버 설정을": ["서버", "설정을", "설정"],
}


@BACKENDS
@TOKENIZERS
@pytest.mark.slow
def test_keywords_alone_find_and_score_as_the_original(
    open_: Open, backend: str, tokenizer: str
) -> None:
    memory, original = open_(backend, tokenizer), Original(tokenizer)
    for query, keywords in QUERIES.items():
        assert scores(memory, query) == near(original.search(query, keywords), tokenizer), query


@BACKENDS
def test_pieces_of_words_score_as_the_original(open_: Open, backend: str) -> None:
    memory, original = open_(backend, "trigram"), Original("trigram")
    for query in ("stagin", "erver", "天气", "方案 端口", "AI", "8443 端口", "서버에서 배포"):
        assert scores(memory, query) == near(original.search(query, []), "trigram"), query
    assert scores(memory, "天气") == {"memory/zh.md": 1.0}


def test_without_chinese_pieces_of_words_score_the_same(open_: Open, tmp_path: Path) -> None:
    for name in ("zh", "ko"):
        (tmp_path / "workspace" / "memory" / f"{name}.md").unlink()
    notes = {path: text for path, text in NOTES.items() if text.isascii() or "café" in text}
    memory, original = open_(tokenizer="trigram"), Original("trigram", notes)
    for query in ("stagin", "erver port", "otte"):
        assert scores(memory, query) == pytest.approx(original.search(query, [])), query


def scores(memory: Memory, query: str) -> dict[str, float]:
    return {hit.path: hit.score for hit in memory.search(query, max_results=20).hits}


def near(expected: dict[str, float], tokenizer: str) -> Any:
    """For trigrams the lengths of Chinese and Korean texts are counted otherwise."""
    return pytest.approx(expected, rel=1e-6 if tokenizer == "unicode61" else 0.06)


def test_a_note_of_a_folder_below_has_its_day(open_: Open, tmp_path: Path) -> None:
    extra = tmp_path / "workspace" / "x" / "memory" / "2026-01-01.md"
    extra.parent.mkdir(parents=True)
    extra.write_text("A walrus in the harbour.", encoding="utf-8")
    decay = {"query": {"hybrid": {"temporalDecay": {"enabled": True}}, "minScore": 0}}
    memory = open_(extraPaths=["x"], **decay)
    (hit,) = memory.search("walrus harbour after:2026-01-01 before:2026-01-01").hits
    assert (hit.path, hit.day) == ("x/memory/2026-01-01.md", "2026-01-01")
    assert hit.explain.steps[-1].ranker == "temporal_decay"
    assert hit.score < hit.explain.steps[-1].before


def test_the_index_of_the_other_profile_is_rebuilt(open_: Open) -> None:
    memory = open_()
    memory.sync()
    assert open_(ranking={"profile": "default"}).sync().rebuilt
    assert open_(tokenizer="trigram").sync().rebuilt


def test_keywords_answer_where_hybrid_is_off(open_: Open) -> None:
    memory = open_(query={"hybrid": {"enabled": False}})
    assert scores(memory, "otter") == pytest.approx(Original("unicode61").search("otter", []))


def test_what_has_no_date_does_not_decay(open_: Open) -> None:
    memory = open_(query={"hybrid": {"temporalDecay": {"enabled": True}}})
    (hit, *_) = memory.search("otter").hits
    assert hit.path == "memory/otter.md"
    assert (hit.explain.steps[-1].ranker, hit.explain.steps[-1].note) == (
        "temporal_decay",
        "no date",
    )
