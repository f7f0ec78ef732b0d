"""Core goes by what a store declares, not by what its answers happen to have."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.errors import PluginUnavailableError, UnavailableError
from commonplace.host import failures
from commonplace.host.host import PluginHost
from commonplace.plugin import SimpleStore, hookimpl
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.search import SearchResult
    from commonplace.plugin import BackendRegistrar, Store


class Plain:
    """A store that declares ``capabilities``, and is ``InMemoryStore`` but for its look-ups."""

    def __init__(self, *capabilities: str) -> None:
        self.capabilities = frozenset(capabilities)
        self._store = InMemoryStore()

    def __getattr__(self, name: str) -> Any:
        if name in ("holders", "tokens_beginning"):
            raise AttributeError(name)
        return getattr(self._store, name)


class Plugin:
    """A plugin with one store, and what it registers of it."""

    def __init__(self, store: Any, registered: frozenset[str]) -> None:
        self._store: Store = store
        self._registered = registered

    @hookimpl
    def commonplace_register_backends(self, register: BackendRegistrar) -> None:
        register.store("mine", lambda _: self._store, summary="x", capabilities=self._registered)


def searched(folder: Path, store: Any, registered: frozenset[str] = frozenset()) -> SearchResult:
    (folder / "MEMORY.md").write_text("# Ports\n\nThe deploy port of staging is 8080.\n")
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "kube.md").write_text("# K\n\nThe port for deploys: port 7.\n")
    host = PluginHost()
    host.register(Plugin(store, registered), name="mine")
    config = {"memory": {"backend": "mine"}}
    env = {"HOME": str(folder / "home"), "PATH": ""}
    with Memory.open(workspace=folder, config=config, env=env, host=host, one_shot=True) as memory:
        return memory.search("deploy port")


def test_what_a_store_gives_and_does_not_declare_is_not_used(tmp_path: Path) -> None:
    result = searched(tmp_path, Plain("keyword", "phrases"))
    assert len(result.hits) == 2
    (arm,) = result.hits[0].explain.arms
    assert arm.evidence is None


def test_hits_in_a_list_are_scored_as_those_in_a_tuple(tmp_path: Path) -> None:
    class Lists(InMemoryStore):
        def keyword(self, *given: Any, **options: Any) -> Any:
            matches: Any = super().keyword(*given, **options)
            return matches._replace(found=list(matches.found))

    usual, as_list = (searched(tmp_path, store()) for store in (InMemoryStore, Lists))
    assert [hit.score for hit in as_list.hits] == [hit.score for hit in usual.hits]
    assert as_list.hits[0].explain.arms == usual.hits[0].explain.arms


def test_a_simple_store_declares_what_it_does() -> None:
    assert {"counts", "term_counts"} <= SimpleStore.capabilities


@pytest.mark.parametrize("given", [["keyword"], ValueError("no list")])
def test_a_store_whose_declaration_is_odd_is_closed(tmp_path: Path, given: Any) -> None:
    closed: list[object] = []

    class Odd(InMemoryStore):
        @property
        def capabilities(self) -> Any:  # type: ignore[override]
            if isinstance(given, ValueError):
                raise given
            return given

        def close(self) -> None:
            closed.append(self)
            super().close()

    if isinstance(given, ValueError):
        with pytest.raises(UnavailableError, match="ValueError: no list"):
            searched(tmp_path, Odd())
    else:
        assert searched(tmp_path, Odd()).hits
    assert closed


def test_a_capability_that_no_store_has_cannot_be_registered(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailableError, match="no store has the capability 'look-up'"):
        searched(tmp_path, Plain("keyword"), frozenset({"keyword", "look-up"}))


def test_what_a_store_declares_wrongly_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "_LOGGED", set())
    with caplog.at_level(logging.WARNING, "commonplace"):
        searched(tmp_path, Plain("keyword", "look-up"), frozenset({"keyword", "counts"}))
    assert [record.getMessage() for record in caplog.records] == [
        "store 'mine': the capability look-up is unknown",
        "store 'mine': the capability counts, look-up is not registered as declared",
    ]
