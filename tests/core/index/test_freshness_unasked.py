"""Syncs that no caller requested: managers that declare ``eager`` get the argument."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

import pytest

from commonplace import Memory
from commonplace.index.syncing import maintain_unasked
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
