"""What is put together from settings: one backend or a chain, and the classes of sections."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import PluginUnavailableError, ScopeDeniedError
from commonplace.assembly import Assembly
from commonplace.config.defaults import RANKERS
from commonplace.config.load import load_settings, section_class
from commonplace.fallback.backend import Backend
from commonplace.fallback.manager import FallbackMemoryManager
from commonplace.host.answers import make_rankers
from commonplace.host.discovery import EntryPoint, installed
from commonplace.host.host import PluginHost
from commonplace.model.search import KeywordQuery, Query
from commonplace.plugin import RankerContext, hookimpl
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings

    Make = Callable[..., Settings]


@pytest.fixture
def host() -> PluginHost:
    return PluginHost(cache_dir=None, env={})


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(config: dict[str, Any] | None = None) -> Settings:
        env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        return load_settings(
            workspace=str(tmp_path), config=config or {}, env=env, sections=lambda _section: None
        )

    return made


def backends(host: PluginHost, settings: Settings) -> Backend | FallbackMemoryManager:
    return Assembly(host, settings, clock=lambda: 0.0).backends(embedding=lambda: None)


def backend_plugin(store: Callable[[Any], Any], **options: Any) -> ModuleType:
    """A plugin with the backend ``acme``."""

    def commonplace_register_backends(register: Any) -> None:
        register.store("acme", store, summary="keeps notes", **options)

    module = ModuleType("acme")
    vars(module)["commonplace_register_backends"] = hookimpl(commonplace_register_backends)
    return module


def test_one_backend_stands_alone_and_several_are_a_chain(host: PluginHost, make: Make) -> None:
    alone = backends(host, make())
    assert isinstance(alone, Backend)
    assert alone.id == "builtin"
    chain = backends(host, make({"memory": {"backend": ["inmemory", "builtin"]}}))
    assert isinstance(chain, FallbackMemoryManager)
    assert [backend.id for backend in chain.backends] == ["inmemory", "builtin"]


def test_a_backend_that_is_not_installed_fails_when_it_is_asked(
    host: PluginHost, make: Make
) -> None:
    backend = backends(host, make({"memory": {"backend": "nowhere"}}))
    assert isinstance(backend, Backend)
    with pytest.raises(PluginUnavailableError, match="nowhere"):
        backend.manager()
    assert not backend.status().health.available


def test_a_section_that_cannot_be_read_admits_no_chat(host: PluginHost, make: Make) -> None:
    settings = make({"memory": {"backend": "nowhere", "nowhere": {"scope": "x"}}})
    backend = backends(host, settings)
    query = Query("tea", KeywordQuery(("tea",)))
    backend.search_of(query, NEVER)
    with pytest.raises(ScopeDeniedError, match=r"memory\.nowhere cannot be read"):
        backend.search_of(query._replace(session_key="agent:main:x:group:1"), NEVER)


@pytest.mark.parametrize(
    ("section", "known"),
    [("memory.qmd", True), ("memory.nowhere", False), ("plugins.entries.nowhere.config", False)],
)
def test_a_section_is_read_by_its_plugin(host: PluginHost, section: str, known: bool) -> None:
    assert (section_class(host, section) is not None) == known


def clashing(name: str) -> PluginHost:
    """All that is installed, and two more distributions that offer ``name``."""
    rivals = (EntryPoint(name, "acme_clash", f"acme-{of}", "1.0") for of in ("clang", "clash"))
    return PluginHost((*installed(), *rivals), env={})


def test_a_chunker_that_two_plugins_offer_stops_indexing_only_where_it_is_used(
    make: Make,
) -> None:
    used = backends(
        clashing("chunker.pages"),
        make({"memory": {"search": {"chunking": {"strategy": "pages"}}}}),
    )
    assert used.health().available
    with pytest.raises(PluginUnavailableError, match=r"chunker\.pages is offered by") as caught:
        used.maintain(deadline=NEVER)
    assert "COMMONPLACE_DISABLE_PLUGINS=acme-clash" in caught.value.hint
    used.close()
    unused = backends(clashing("chunker.pages"), make())
    unused.maintain(deadline=NEVER)
    unused.close()


def test_a_ranker_that_two_plugins_offer_leaves_the_default_chain() -> None:
    chain = RANKERS["default"]
    assert "mmr" not in chain
    rankers, notes = make_rankers(clashing("ranker.mmr"), chain, chain, lambda _: RankerContext())
    assert [ranker.id for ranker in rankers] == list(chain)
    assert notes == []


def test_without_a_chunker_nothing_can_be_indexed(host: PluginHost, make: Make) -> None:
    """A search needs none."""
    settings = make({"memory": {"search": {"chunking": {"strategy": "nowhere"}}}})
    backend = backends(host, settings)
    assert isinstance(backend, Backend)
    assert backend.health().available
    with pytest.raises(PluginUnavailableError, match="there is no chunker 'nowhere'"):
        backend.maintain(deadline=NEVER)
    backend.close()


def failing(*_: object) -> Any:
    raise ZeroDivisionError("no")


@pytest.mark.parametrize("mounts", [failing, lambda _: None, lambda _: ["qmd/notes"]])
def test_a_backend_that_cannot_say_what_it_mounts_mounts_nothing(
    mounts: Callable[[Any], Any], host: PluginHost, make: Make
) -> None:
    host.register(backend_plugin(failing, mounts=mounts), name="acme")
    settings = make({"memory": {"backend": "acme"}})
    assert Assembly(host, settings).mounts() == ()


def test_no_chat_may_search_where_it_is_not_known_which_may(host: PluginHost, make: Make) -> None:
    host.register(backend_plugin(failing, permits=failing), name="acme")
    backend = backends(host, make({"memory": {"backend": ["acme", "builtin"]}}))
    words = "which chats may search is not known: acme failed: ZeroDivisionError: no"
    with pytest.raises(ScopeDeniedError, match=words):
        backend.search_of(Query("tea", KeywordQuery(("tea",))), NEVER)
