"""The checks of the state folder, and that their fixes change nothing else."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from commonplace.embedding.cache import EmbeddingCache, text_digest
from commonplace.health.state_files import check_state_files
from commonplace.resilience.breaker import BreakerFile, BreakerRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commonplace.model.documents import Finding

NOW = 1_800_000_000.0
DAY = 86_400


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    cache = EmbeddingCache(str(tmp_path / "state/memory/embeddings.sqlite"))
    yield cache
    cache.close()


def look(tmp_path: Path, cache: EmbeddingCache | None = None) -> dict[str, Finding]:
    state, files = str(tmp_path / "state"), str(tmp_path / "cache")
    return {
        finding.name: finding for finding in check_state_files(state, files, cache=cache, now=NOW)
    }


def run(finding: Finding) -> str:
    assert finding.fix is not None
    assert finding.fix.run is not None
    return finding.fix.run()


def breaker(tmp_path: Path, name: str, at: float) -> str:
    path = str(tmp_path / "state/memory/breakers" / name)
    BreakerFile(path, mark="m").save(BreakerRecord("no answer", at, 1, 1, at + 30, at))
    return path


def test_nothing_is_there_and_nothing_is_made(tmp_path: Path, cache: EmbeddingCache) -> None:
    found = look(tmp_path, cache)
    assert {finding.state for finding in found.values()} == {"ok"}
    assert found["cache"].text == "no embeddings yet"
    assert list(tmp_path.iterdir()) == []
    assert "cache" not in look(tmp_path)


def test_the_cache_is_counted_and_weighed(tmp_path: Path, cache: EmbeddingCache) -> None:
    cache.put("f", {text_digest(str(number)): b"1234" for number in range(7)})
    assert look(tmp_path, cache)["cache"].text.startswith("7 embeddings, 0.")


def test_a_cache_that_is_no_database_any_more_begins_again(
    tmp_path: Path, cache: EmbeddingCache
) -> None:
    cache.put("f", {text_digest("a"): b"1234"})
    cache.close()
    path = tmp_path / "state/memory/embeddings.sqlite"
    path.write_bytes(b"no database" * 1000)
    again = EmbeddingCache(str(path))
    assert look(tmp_path, again)["cache"].state in {"ok", "warning"}
    again.put("f", {text_digest("a"): b"1234"})
    assert (again.count(), again.faults()) == (1, ())
    again.close()


def test_a_cache_with_a_fault_is_thrown_away(tmp_path: Path, cache: EmbeddingCache) -> None:
    import apsw

    cache.put("f", {text_digest(str(number)): b"1234" * 64 for number in range(500)})
    cache.close()
    path = str(tmp_path / "state/memory/embeddings.sqlite")
    connection = apsw.Connection(path)
    connection.execute("PRAGMA writable_schema = 1")
    connection.execute("DELETE FROM sqlite_schema WHERE name = 'embedding_by_use'")
    connection.close()
    again = EmbeddingCache(path)
    finding = look(tmp_path, again)["cache"]
    assert finding.state == "problem"
    assert "deleted the embedding cache" in run(finding)
    assert look(tmp_path, again)["cache"].state == "ok"
    again.put("f", {text_digest("a"): b"1234"})
    assert again.count() == 1
    again.close()


def test_a_part_that_fails_is_named_and_what_failed_long_ago_forgotten(tmp_path: Path) -> None:
    recent = breaker(tmp_path, "openai.document", NOW - 60)
    assert look(tmp_path)["breakers"].state == "ok"
    assert look(tmp_path)["breakers"].text.startswith("openai.document since 20")
    for name, at in (("voyage.query", NOW - 8 * DAY), ("main.qmd.search", NOW + 8 * DAY)):
        breaker(tmp_path, name, at)
    (tmp_path / "state/memory/breakers/torn.query").write_text("commonpl")
    draft = ".commonplace-1-0123abcd.tmp"
    (tmp_path / "state/memory/breakers" / draft).write_text("")
    finding = look(tmp_path)["breakers"]
    assert finding.state == "warning"
    assert run(finding) == "deleted 3 records of failures"
    left = {os.path.basename(recent), draft}
    assert set(os.listdir(tmp_path / "state/memory/breakers")) == left


def test_leftovers_are_named_and_deleted(tmp_path: Path) -> None:
    memory = tmp_path / "state/memory"
    memory.mkdir(parents=True, mode=0o700)
    left = memory / "batches/.commonplace-999999999-0123abcd.tmp"
    left.parent.mkdir(mode=0o700)
    left.write_text("half")
    os.utime(left, (NOW - DAY, NOW - DAY))
    finding = look(tmp_path)["leftovers"]
    assert (finding.state, str(left) in finding.text) == ("warning", True)
    assert run(finding) == "deleted 1 temporary files"
    assert look(tmp_path)["leftovers"].state == "ok"


@pytest.mark.skipif(os.name != "posix", reason="needs rights of the POSIX kind")
def test_what_others_may_is_taken_from_them(tmp_path: Path) -> None:
    memory = tmp_path / "state/memory"
    memory.mkdir(parents=True)
    memory.chmod(0o755)
    spaces = memory / "spaces.json"
    spaces.write_text("{}")
    spaces.chmod(0o644)
    (memory / "mine.txt").write_text("a file of the user")
    (memory / "mine.txt").chmod(0o644)
    finding = look(tmp_path)["folder"]
    assert finding.state == "warning"
    assert run(finding) == "removed the access of other users to 2 paths"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (memory, *memory.iterdir())}
    assert modes == {"memory": 0o700, "spaces.json": 0o600, "mine.txt": 0o644}
    assert look(tmp_path)["folder"].state == "ok"
