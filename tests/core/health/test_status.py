"""The status of a memory is collected from its parts; one that fails is described."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli.commands.status import _facts
from commonplace.cli.jsonify import status_json
from commonplace.config.load import load_settings
from commonplace.embedding.choice import Choice
from commonplace.errors import CommonplaceError, IndexCorruptError, UnavailableError
from commonplace.fallback.backend import BackendsStatus
from commonplace.health.status import status_of
from commonplace.host.reports import PluginInfo
from commonplace.model.documents import Finding, RootFailure, StoreHealth
from commonplace.model.reports import BackendState, Status, SyncReport
from commonplace.protocols.contexts import ManagerHealth

if TYPE_CHECKING:
    from pathlib import Path

AT = 1_700_000_000.0
STORE = StoreHealth(
    "/index.sqlite",
    documents=3,
    chunks=5,
    size=4096,
    documents_by_source=(("memory", 2), ("sessions", 1)),
    chunks_by_source=(("memory", 5),),
    notices=("the store is read-only",),
    problems=("a row is missing",),
)
SERVING = BackendState(id="builtin", state="serving")


class Active:
    def __init__(self, pending: SyncReport | Exception, id_: str = "builtin") -> None:
        self.id = id_
        self._pending = pending

    def pending(self, *, look: bool = False) -> SyncReport:
        assert look
        if isinstance(self._pending, Exception):
            raise self._pending
        return self._pending


@pytest.fixture
def settings(tmp_path: Path) -> Any:
    folder = tmp_path / "notes"
    folder.mkdir()
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    return load_settings(workspace=str(folder), env=env)


def status(settings: Any, backends: Any, *, deep: bool = False, **more: Any) -> Status:
    def opened() -> Any:
        if isinstance(backends, CommonplaceError):
            raise backends
        return backends

    facts = {"choice": lambda: Choice(None), "notices": (), "plugins": (), **more}
    return status_of(settings, opened, deep=deep, clock=lambda: AT, **facts)


def backends(
    health: ManagerHealth,
    *states: BackendState,
    pending: SyncReport | Exception = SyncReport(),  # noqa: B008
    active: str | None = "builtin",
    failures: tuple[str, ...] = (),
) -> Any:
    found = BackendsStatus(
        states or (SERVING,),
        health,
        Active(pending, active) if active else None,  # type: ignore[arg-type]
        failures,
    )
    return SimpleNamespace(status=lambda **_: found)


def test_backends_that_cannot_be_opened_are_described(settings: Any) -> None:
    got = status(settings, UnavailableError("no backend can be opened"), notices=("a key",))
    assert (got.available, got.backend, got.stale) == (False, "builtin", -1)
    assert got.notices == ("a key", "no backend can be opened")
    assert (got.search_mode, got.db_path) == ("keyword", settings.index_path)


def test_an_index_that_cannot_be_looked_at_has_no_figures(settings: Any) -> None:
    health = ManagerHealth(available=False, reason="it is locked")
    for got in (
        status(settings, UnavailableError("no backend can be opened")),
        status(settings, backends(health, active=None)),
    ):
        assert (got.files, got.chunks, got.db_bytes, got.writable) == (None, None, None, None)
        facts = dict(_facts(got))
        assert (facts["Indexed"], facts["Index"]) == (
            "unknown",
            f"{settings.index_path} (size unknown)",
        )
        shown = status_json(got)
        assert [shown[key] for key in ("files", "chunks", "dbBytes", "writable")] == [None] * 4


@pytest.mark.parametrize(
    ("name", "size", "shown"),
    [("index.db", 0, "3 B"), ("index.db", 5, "5 B"), ("none.db", 0, "size unknown")],
)
def test_the_size_of_an_index_is_that_of_its_file_where_the_store_says_none(
    settings: Any, tmp_path: Path, name: str, size: int, shown: str
) -> None:
    (tmp_path / "index.db").write_bytes(b"abc")
    store = STORE._replace(location=str(tmp_path / name), size=size)
    got = status(settings, backends(ManagerHealth(available=True, store=store)))
    assert dict(_facts(got))["Index"].startswith(f"{tmp_path / name} ({shown})")


def test_a_healthy_store_is_counted_by_source(settings: Any) -> None:
    got = status(settings, backends(ManagerHealth(available=True, store=STORE)))
    assert (got.available, got.files, got.chunks, got.db_bytes) == (True, 3, 5, 4096)
    assert got.source_counts == (("memory", 2, 5), ("sessions", 1, 0))
    assert (got.notices, got.problems) == (("the store is read-only",), ("a row is missing",))
    assert (got.fallback, got.findings) == (None, ())


def test_what_is_not_indexed_yet_is_counted_and_explained(settings: Any) -> None:
    absent = RootFailure("/letters", "the folder does not exist")
    pending = SyncReport(remaining=4, deferred=2, rebuilding=(3, 9), absent_roots=(absent,))
    got = status(settings, backends(ManagerHealth(available=True), pending=pending))
    assert (got.stale, got.deferred) == (4, 2)
    assert got.notices[0].startswith("rebuilding the index (3 of 9 notes); ")
    assert got.notices[1] == "/letters: the folder does not exist"


def test_a_comparison_that_fails_leaves_the_number_unknown(settings: Any) -> None:
    health = ManagerHealth(available=True, store=STORE)
    got = status(settings, backends(health, pending=IndexCorruptError("a damaged page")))
    assert got.stale == -1
    assert "the notes could not be compared with the index: a damaged page" in got.notices
    assert got.files == 3


def test_a_backend_that_replaces_another_is_a_fallback_with_the_reason(settings: Any) -> None:
    states = (BackendState(id="qmd", state="failing", reason="not installed", since=AT), SERVING)
    got = status(settings, backends(ManagerHealth(available=True), *states))
    assert got.backend == "builtin"
    assert got.fallback is not None
    assert (got.fallback.part, got.fallback.reason, got.fallback.since) == (
        "qmd",
        "not installed",
        AT,
    )


def test_no_active_backend_is_described(settings: Any) -> None:
    health = ManagerHealth(available=False, reason="it is locked")
    got = status(settings, backends(health, active=None, failures=("a sync failed",)))
    assert (got.available, got.stale) == (False, -1)
    assert got.notices == ("it is locked", "a sync failed")


def test_a_plugin_that_failed_is_named_and_each_warning_stands_once(settings: Any) -> None:
    info = PluginInfo("ranker.x", "x", "dist", "1.0", "failed", error="no module")
    health = ManagerHealth(available=True, notices=("twice", "twice"))
    got = status(settings, backends(health), plugins=(info,))
    assert got.notices == ("plugin ranker.x of dist 1.0 failed: no module", "twice")


def test_a_deep_status_adds_the_findings_on_the_state_folder(settings: Any) -> None:
    finding = Finding("ok", "check", "no problems found")
    health = ManagerHealth(available=True, findings=(finding,))
    names = [found.name for found in status(settings, backends(health), deep=True).findings]
    assert names == ["check", "breakers", "leftovers", "folder"]
    assert status(settings, backends(health)).findings == (finding,)
