"""A part of an installed plugin that breaks costs its own share of an answer, and is named."""

from __future__ import annotations

import sys
from threading import Event
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, PluginUnavailableError, UnavailableError
from commonplace.cli.checks import _index
from commonplace.cli.commands.index import warnings_of
from commonplace.cli.commands.status import _facts
from commonplace.host.host import PluginHost
from commonplace.plugin import hookimpl
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., Memory]

CHUNKER = """
from commonplace.plugin import Chunk, hookimpl

class Whole:
    fingerprint = "whole-1"

    def chunk(self, document):
        return [Chunk(1, len(document.text.splitlines()) or 1, document.text)]

@hookimpl
def commonplace_register_chunkers(register):
    register.chunker("whole", lambda context: Whole(), summary="one chunk of each document")
"""


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Open]:
    """Opens a memory of one note with the plugins that are installed now, in a new host."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("The staging server listens on port 8443.\n")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    opened: list[Memory] = []

    def make(config: dict[str, Any]) -> Memory:
        host = PluginHost(cache_dir=None, env=env)
        memory = Memory.open(workspace=str(folder), config=config, env=env, host=host)
        opened.append(memory)
        return memory

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def whole(
    add_module: Callable[[str, str], None], add_distribution: Callable[..., Path]
) -> Iterator[Callable[[str], None]]:
    """Installs the chunker ``whole`` of acme-chunks, with the source text that is given."""
    add_distribution("acme-chunks", {"chunker.whole": "acme_whole"})

    def install(source: str) -> None:
        sys.modules.pop("acme_whole", None)
        add_module("acme_whole", source)

    yield install
    sys.modules.pop("acme_whole", None)


WHOLE = {"memory": {"search": {"chunking": {"strategy": "whole"}}}}
BROKEN = "raise RuntimeError('it is broken today')\n"


def test_a_chunker_that_does_not_load_lets_the_index_answer(
    open_memory: Open, whole: Callable[[str], None]
) -> None:
    whole(CHUNKER)
    open_memory(WHOLE).sync()
    whole(BROKEN + CHUNKER)
    memory = open_memory(WHOLE)
    result = memory.search("staging server")
    assert [hit.path for hit in result.hits] == ["MEMORY.md"]
    (note,) = result.notes
    assert "could not be updated: chunker 'whole' of acme-chunks 1.0 failed to load: Ru" in note
    status = memory.status(deep=True)
    assert (status.available, status.files, status.chunks) == (True, 1, 1)
    (finding,) = [one for one in status.findings if one.name == "fingerprints"]
    assert finding.state == "problem"
    assert "chunker 'whole' of acme-chunks 1.0 failed to load" in finding.text
    with pytest.raises(PluginUnavailableError, match=r"of acme-chunks 1\.0 failed to load"):
        memory.sync()


def test_without_an_index_the_chunker_that_does_not_load_is_the_error(
    open_memory: Open, whole: Callable[[str], None]
) -> None:
    whole(BROKEN)
    with pytest.raises(PluginUnavailableError, match=r"of acme-chunks 1\.0 failed to load"):
        open_memory(WHOLE).search("staging server")


OTHERS = """
from commonplace.plugin import DocumentRef, Limits, SimpleStore, hookimpl

class Letters:
    id, version, capabilities = "letters", "1", frozenset()

    def __init__(self, context):
        pass

    def scan(self):
        raise RuntimeError("no post today")

    def read(self, ref):
        return None

class Provider:
    model, limits, capabilities, concurrency = "m", Limits(), frozenset(), 1

    def __init__(self, context):
        pass

    def fingerprint(self):
        return "m-1"

    def embed(self, texts, *, purpose, deadline):
        raise RuntimeError("a secret")

    def close(self):
        pass

class Cellar(SimpleStore):
    def __init__(self, context):
        super().__init__()

    def load(self):
        raise RuntimeError("it is flooded")

    def save(self, builds):
        self.load()

@hookimpl
def commonplace_register_sources(register):
    register.source("letters", Letters, summary="letters")

@hookimpl
def commonplace_register_providers(register):
    register.provider("dull", Provider, summary="a provider")

@hookimpl
def commonplace_register_backends(register):
    register.store("cellar", Cellar, summary="a store")
"""


@pytest.fixture
def others(
    add_module: Callable[[str, str], None], add_distribution: Callable[..., Path]
) -> Iterator[None]:
    """Installs a source, a provider and a store of acme-parts, which fail."""
    kinds = ("source.letters", "provider.dull", "backend.cellar")
    add_distribution("acme-parts", dict.fromkeys(kinds, "acme_others"))
    add_module("acme_others", OTHERS)
    yield
    sys.modules.pop("acme_others", None)


@pytest.mark.usefixtures("others")
def test_a_store_that_fails_is_named_with_its_distribution(open_memory: Open) -> None:
    memory = open_memory({"memory": {"backend": "cellar"}})
    with pytest.raises(UnavailableError) as caught:
        memory.search("staging server")
    label = "the backend 'cellar' of acme_others (acme-parts 1.0)"
    assert str(caught.value) == f"{label} failed: RuntimeError: it is flooded"
    assert caught.value.hint == "update its plugin, or choose another backend"


@pytest.mark.usefixtures("others")
def test_a_source_that_fails_is_named_with_its_distribution_and_not_the_notes(
    open_memory: Open,
) -> None:
    memory = open_memory({"memory": {"search": {"sources": ["memory", "letters"]}}})
    label = "the source 'letters' of acme_others (acme-parts 1.0)"
    result = memory.search("staging server")
    assert len(result.hits) == 1
    failed = f"{label} failed: RuntimeError: no post today"
    assert result.notes == (f"{failed}; what is indexed of it is not shown",)
    facts = _facts(memory.status())
    assert ("Not scanned", failed) in facts
    warnings = warnings_of(memory.sync())
    assert warnings == [failed]


@pytest.mark.usefixtures("others")
def test_a_provider_that_fails_is_named_with_its_distribution_without_its_message(
    open_memory: Open,
) -> None:
    memory = open_memory({"memory": {"search": {"provider": "dull"}}})
    label = "provider 'dull' of acme_others (acme-parts 1.0)"
    embedding = memory.sync().embedding
    assert embedding is not None
    debug = "Fix: run it with COMMONPLACE_DEBUG=1 to see its traceback"
    assert embedding.reason == f"dull: {label} failed with RuntimeError. {debug}"


@pytest.mark.usefixtures("others")
def test_doctor_gives_as_the_reason_of_the_backend_no_failure_of_another_plugin(
    open_memory: Open, whole: Callable[[str], None]
) -> None:
    whole(BROKEN)
    memory = open_memory({"memory": {"backend": "cellar"}})
    memory.host.load_all()
    status = memory.status(deep=True)
    assert any("plugin chunker.whole of acme-chunks 1.0 failed" in one for one in status.notices)
    (finding,) = [one for one in _index(status, memory) if one.name == "index"]
    label = "the backend 'cellar' of acme_others (acme-parts 1.0)"
    hint = "(update its plugin, or choose another backend)"
    expected = f"{status.db_path}: {label} failed: RuntimeError: it is flooded {hint}"
    assert (finding.state, finding.text) == ("problem", expected)


@pytest.fixture
def released() -> Iterator[Event]:
    """What a backend that hangs waits for; set at the end."""
    event = Event()
    yield event
    event.set()


def hanging_backend(memory: Memory, factory: Callable[[Any], Any]) -> None:
    """Adds the backend ``cellar`` of the plugin acme to the host of ``memory``."""

    def commonplace_register_backends(register: Any) -> None:
        register.store("cellar", factory, summary="a store")

    module = ModuleType("acme")
    vars(module)["commonplace_register_backends"] = hookimpl(commonplace_register_backends)
    memory.host.register(module, name="acme")


def test_a_store_that_hangs_while_it_is_made_is_given_up(
    open_memory: Open, released: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.host.failures.FACTORY_SECONDS", 0.05)
    memory = open_memory({"memory": {"backend": "cellar"}})
    hanging_backend(memory, lambda _: released.wait(30))
    with pytest.raises(UnavailableError, match="the factory of backend 'cellar' of acme"):
        memory.search("staging server")
    status = memory.status(deep=True)
    assert not status.available
    assert "has not come back" in status.links[0].reason


def test_a_store_that_hangs_while_it_is_closed_is_given_up(
    open_memory: Open,
    released: Event,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("commonplace.fallback.backend.CLOSE_SECONDS", 0.05)

    class Cellar(InMemoryStore):
        def close(self) -> None:
            released.wait(30)

    memory = open_memory({"memory": {"backend": "cellar"}})
    hanging_backend(memory, lambda _: Cellar())
    assert memory.search("staging server").hits
    memory.close()
    assert not released.is_set()
    assert "the backend 'cellar' of acme could not be closed: Deadline" in caplog.text
