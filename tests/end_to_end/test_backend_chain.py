"""A memory over a chain of backends whose first link comes and goes."""

from __future__ import annotations

import json
import shutil
import threading
from typing import TYPE_CHECKING, Any

import pytest

import commonplace_chunkers.plugin
import commonplace_inmemory.plugin
import commonplace_notes.plugin
import commonplace_ranking.plugin
from commonplace.errors import (
    DeclinedError,
    NoteNotFoundError,
    PathNotAllowedError,
    ScopeDeniedError,
    UnavailableError,
)
from commonplace.host.host import PluginHost
from commonplace.memory import Memory
from commonplace.model.plugins import Mount, Probe
from commonplace.model.reports import SyncReport
from commonplace.model.search import Arm, Found, StoredChunk
from commonplace.plugin import ManagerHealth, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace.model.search import Query
    from commonplace.plugin import BackendRegistrar, ManagerContext

OURS = (
    commonplace_chunkers.plugin,
    commonplace_inmemory.plugin,
    commonplace_notes.plugin,
    commonplace_ranking.plugin,
)


class Shaky:
    """An engine, and the plugin that offers it; ``failure`` is what its search raises."""

    capabilities = frozenset({"eager"})

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failure: Exception | None = None
        self.installed = True
        self.events: list[tuple[str, ...]] = []
        self.hearing = threading.Condition()
        self.asked: list[str] = []

    @hookimpl
    def commonplace_register_backends(self, register: BackendRegistrar) -> None:
        register.manager(
            "shaky",
            lambda _context: self,
            summary="comes and goes",
            probe=self.probe,
            permits=self.permits,
            mounts=self.mounts,
        )

    @hookimpl
    def commonplace_degraded(self, part: str, reason: str) -> None:
        self.hear(("degraded", part, reason))

    @hookimpl
    def commonplace_recovered(self, part: str) -> None:
        self.hear(("recovered", part))

    def hear(self, event: tuple[str, ...]) -> None:
        with self.hearing:
            self.events.append(event)
            self.hearing.notify_all()

    def probe(self) -> Probe:
        return Probe(self.installed, *(() if self.installed else ("it is gone", "bring it back")))

    def permits(self, config: object, query: Query) -> None:
        assert config is None
        if ":group:" in query.session_key:
            raise ScopeDeniedError("memory is not searched in groups")

    def mounts(self, context: ManagerContext) -> tuple[Mount, ...]:
        assert context.workspace
        return (Mount("shaky/more", str(self.folder), "kept/*.md"),)

    def search(self, query: Query, **_: object) -> tuple[Arm, ...]:
        self.asked.append(query.text)
        if self.failure is not None:
            raise self.failure
        chunk = StoredChunk(1, "memory", "shaky/more/kept/a.md", 1, 1, "what shaky knows")
        return (Arm("shaky", "opaque", (Found(chunk, 1.0),)),)

    def maintain(self, **_: object) -> SyncReport:
        return SyncReport(unchanged=1, known=1)

    def pending(self) -> SyncReport:
        return SyncReport(unchanged=1, known=1)

    def health(self, *, deep: bool = False) -> ManagerHealth:
        return ManagerHealth(available=True)

    def close(self) -> None:
        pass


class Place:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes = root / "notes"
        self.notes.mkdir()
        (self.notes / "MEMORY.md").write_text("The walrus is at the harbour.\n")
        kept = root / "more" / "kept"
        kept.mkdir(parents=True)
        (kept / "a.md").write_text("first\nsecond\n")
        (root / "more" / "hidden.md").write_text("not wanted by the pattern\n")
        (root / "more" / "MEMORY.md").write_text("nor is this\n")
        self.shaky = Shaky(root / "more")
        self.memories: list[Memory] = []
        self.sections: dict[str, object] = {}

    def open(self, *chain: str, **fallback: object) -> Memory:
        host = PluginHost(entry_points=[])
        for module in OURS:
            host.register(module, name=module.__name__)
        host.register(self.shaky, name="shaky")
        memory = Memory.open(
            workspace=self.notes,
            config={
                "memory": {
                    "backend": list(chain or ("shaky", "inmemory")),
                    "fallback": fallback,
                    **self.sections,
                },
                "agents": {"defaults": {"memorySearch": {"provider": "none"}}},
            },
            env={"COMMONPLACE_STATE_DIR": str(self.root / "state"), "HOME": str(self.root)},
            host=host,
        )
        self.memories.append(memory)
        return memory


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for memory in place.memories:
        memory.close()
        memory.host.close()


def test_the_first_link_answers(place: Place) -> None:
    result = place.open().search("walrus")
    assert (result.backend, result.fallback) == ("shaky", None)
    assert [hit.snippet for hit in result.hits] == ["what shaky knows"]


def test_the_switch_is_visible_in_results_status_and_events(place: Place) -> None:
    memory = place.open()
    memory.search("walrus")
    place.shaky.failure = UnavailableError("it fell over", hint="pick it up")
    for _ in range(3):
        result = memory.search("walrus")
        assert result.backend == "inmemory"
        assert result.hits[0].path == "MEMORY.md"
        assert result.fallback is not None
        assert result.fallback.part == "shaky"
        assert result.fallback.reason == "it fell over (pick it up)"
    assert len(place.shaky.asked) == 2, "left alone after the first failure"
    status = memory.status()
    assert (status.backend, status.fallback) == ("inmemory", result.fallback)
    assert [(link.id, link.state) for link in status.links] == [
        ("shaky", "failing"),
        ("inmemory", "serving"),
    ]
    with place.shaky.hearing:
        assert place.shaky.hearing.wait_for(lambda: place.shaky.events, 30)
    assert place.shaky.events == [("degraded", "shaky", "it fell over (pick it up)")]


def test_the_next_process_knows_who_fails(place: Place) -> None:
    place.shaky.failure = UnavailableError("it fell over")
    first = place.open().search("walrus")
    place.shaky.failure = None
    again = place.open()
    second = again.search("walrus")
    assert len(place.shaky.asked) == 1
    assert first.fallback is not None
    assert second.fallback is not None
    assert second.fallback.since == pytest.approx(first.fallback.since)
    assert again.status().fallback == second.fallback


@pytest.mark.parametrize("failure", [DeclinedError("not in Thai"), ZeroDivisionError("a mistake")])
def test_whatever_the_first_link_raises_another_answers(place: Place, failure: Exception) -> None:
    place.shaky.failure = failure
    result = place.open().search("walrus")
    assert result.backend == "inmemory"
    assert result.fallback is not None
    assert str(failure) in result.fallback.reason


def test_one_that_is_not_installed_is_passed_over(place: Place) -> None:
    place.shaky.installed = False
    memory = place.open("shaky", "unheard_of", "inmemory")
    result = memory.search("walrus")
    assert result.backend == "inmemory"
    assert result.fallback is not None
    assert result.fallback.reason == "it is gone (bring it back)"
    states = {link.id: link.state for link in memory.status().links}
    assert states == {"shaky": "failing", "unheard_of": "failing", "inmemory": "serving"}


def test_alone_its_error_is_raised(place: Place) -> None:
    place.shaky.failure = UnavailableError("it fell over")
    memory = place.open("shaky")
    for _ in range(2):
        with pytest.raises(UnavailableError, match="it fell over"):
            memory.search("walrus")
    assert len(place.shaky.asked) == 2, "it is called where no other backend could answer"
    place.shaky.failure = None
    assert memory.search("walrus").backend == "shaky"


def test_a_chat_that_may_not_search_is_refused_by_every_link(place: Place) -> None:
    place.shaky.failure = UnavailableError("it fell over")
    memory = place.open()
    with pytest.raises(ScopeDeniedError, match="not searched in groups"):
        memory.search("walrus", session_key="agent:main:telegram:group:7")
    assert memory.search("walrus", session_key="agent:main:telegram:direct:7").hits


def test_no_chat_searches_where_a_section_that_may_restrict_it_cannot_be_read(
    place: Place,
) -> None:
    place.sections = {"unheard_of": {"scope": {"default": "deny"}}}
    memory = place.open("unheard_of", "inmemory")
    for chat in ("agent:main:telegram:group:7", "agent:main:telegram:direct:7"):
        with pytest.raises(ScopeDeniedError, match=r"memory\.unheard_of cannot be read") as caught:
            memory.search("walrus", session_key=chat)
        assert "remove memory.unheard_of" in caught.value.hint
    assert memory.search("walrus").backend == "inmemory", "its owner names no chat"


@pytest.mark.parametrize("sections", [{}, {"unheard_of": {}}, {"another": {"scope": "deny"}}])
def test_a_scope_that_is_not_set_restricts_no_chat(
    place: Place, sections: dict[str, object]
) -> None:
    place.sections = sections
    (place.notes / "memory").mkdir()
    (place.notes / "memory" / "harbour.md").write_text("The walrus is at the harbour.\n")
    memory = place.open("unheard_of", "inmemory")
    assert memory.search("walrus", session_key="agent:main:telegram:group:7").hits


@pytest.mark.parametrize("installed", [True, False])
def test_what_a_backend_names_can_be_read_with_any_active_backend(
    place: Place, installed: bool
) -> None:
    place.shaky.installed = installed
    memory = place.open()
    note = memory.get("shaky/more/kept/a.md", start=2)
    assert (note.path, note.text, note.start_line) == ("shaky/more/kept/a.md", "second", 2)
    assert memory.get("shaky/more/kept/a.md#L1").text == "first"
    with pytest.raises(NoteNotFoundError, match=r"no note shaky/more/kept/none\.md$"):
        memory.get("shaky/more/kept/none.md")
    for path in (
        "shaky/more/hidden.md",
        "shaky/more/MEMORY.md",
        "shaky/more/../more/hidden.md",
        "shaky/more/kept/../../notes/MEMORY.md",
        "shaky/kept/a.md",
        "shaky/more",
    ):
        with pytest.raises(PathNotAllowedError):
            memory.get(path)


def test_where_the_folder_has_gone_there_is_no_note_of_it(place: Place) -> None:
    memory = place.open()
    shutil.rmtree(place.root / "more")
    with pytest.raises(NoteNotFoundError, match=r"no note shaky/more/kept/a\.md$"):
        memory.get("shaky/more/kept/a.md")


@pytest.mark.parametrize(("standby", "files"), [("lazy", 0), ("warm", 1)])
def test_who_stands_by_is_kept_as_configured(place: Place, standby: str, files: int) -> None:
    memory = place.open(standby=standby)
    memory.sync()
    place.shaky.installed = False
    (place.notes / "memory").mkdir()
    chain: Any = memory._backends()
    standing = chain.backends[1].manager().health().store
    assert standing is not None
    assert standing.documents == files


@pytest.mark.slow
def test_the_command_line_shows_the_chain(
    sandbox_run: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"memory": {"backend": ["unheard_of", "builtin"]}}))
    out, err = sandbox_run("search", "walrus", "--json", "--config", str(config))
    found: dict[str, Any] = json.loads(out)
    assert found["backend"] == "builtin"
    assert found["fallback"]["part"] == "unheard_of"
    out, err = sandbox_run("search", "walrus", "--config", str(config))
    assert "results come from builtin, not from unheard_of: " in err
    out, _ = sandbox_run("status", "--config", str(config))
    assert "builtin" in out
    assert "unheard_of" in out
    assert "failing since" in out
    shown = json.loads(sandbox_run("status", "--json", "--config", str(config))[0])
    assert [backend["state"] for backend in shown["backends"]] == ["failing", "serving"]


@pytest.fixture
def sandbox_run(sandbox: Any) -> Callable[..., tuple[str, str]]:
    def run(*arguments: str) -> tuple[str, str]:
        ran = sandbox.run(*arguments)
        return ran.went_well(), ran.err

    return run
