"""Syncs that no caller requested: managers that declare ``eager`` get the argument."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace import Memory
from commonplace.errors import IndexBusyError
from commonplace.index.syncing import freshen, maintain_unasked
from commonplace.model.reports import SyncReport
from commonplace.resilience.deadline import NEVER
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.documents import Build, StoredDocument
    from commonplace.protocols.managers import MemoryManager
    from commonplace.resilience.deadline import Deadline


class Declares:
    capabilities = frozenset({"eager"})

    def maintain(self, *, eager: bool = True, embed: bool = True, deadline: Deadline) -> SyncReport:
        assert not embed
        assert deadline is NEVER
        return SyncReport(added=1 if eager else 2)


class DeclaresNothing:
    capabilities: frozenset[str] = frozenset()

    def maintain(self, *, embed: bool = True, deadline: Deadline) -> SyncReport:
        return Declares().maintain(eager=True, embed=embed, deadline=deadline)


@pytest.mark.parametrize(("engine", "added"), [(Declares(), 2), (DeclaresNothing(), 1)])
def test_only_managers_that_declare_eager_get_the_argument(engine: object, added: int) -> None:
    manager = cast("MemoryManager", engine)
    assert maintain_unasked(manager, embed=False, deadline=NEVER).added == added


class Empty:
    """An index that holds nothing, and that another process may be building."""

    capabilities: frozenset[str] = frozenset()

    def __init__(self, *, held: bool) -> None:
        self.held = held
        self.embedded: list[bool] = []

    def maintain(self, *, embed: bool = True, at_most: int | None = None, **_: Any) -> SyncReport:
        self.embedded.append(embed)
        if at_most is not None and self.held:
            raise IndexBusyError("another process is writing the index")
        return SyncReport(remaining=30) if at_most is not None else SyncReport(added=30)

    def pending(self) -> SyncReport:
        return SyncReport(remaining=30)


@pytest.mark.parametrize("held", [False, True])
def test_a_search_that_builds_the_first_index_pays_for_no_vectors(held: bool) -> None:
    engine = Empty(held=held)
    assert freshen(cast("MemoryManager", engine)).stale == 0
    assert engine.embedded == [False, False]


def test_a_search_that_finds_nothing_new_reads_no_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "notes" / "memory" / "a.md"
    note.parent.mkdir(parents=True)
    note.write_text("The walrus lives in the Arctic.\n", encoding="utf-8")
    os.utime(note, (1_700_000_000, 1_700_000_000))
    reads: list[str] = []
    whole = SqliteStore.documents

    def counting(store: SqliteStore, build: Build | None = None) -> list[StoredDocument]:
        reads.append(store.__class__.__name__)
        return whole(store, build)

    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=tmp_path / "notes", env=env) as memory:
        memory.sync()
        monkeypatch.setattr(SqliteStore, "documents", counting)
        assert memory.search("walrus").hits
        assert reads == []
        note.write_text("The otter lives in the harbour.\n", encoding="utf-8")
        assert memory.search("otter").hits
        assert reads
