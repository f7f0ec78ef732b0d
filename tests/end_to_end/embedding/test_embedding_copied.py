"""An index is copied to another backend with its vectors: no text is sent for it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import CallerError, DeclinedError, PluginHost, PluginUnavailableError
from commonplace.cli import main
from commonplace.copying import copy_index
from commonplace.plugin import hookimpl
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.embedding.conftest import World

    from commonplace.plugin import Progress, StoreContext

NEEDS_LANCEDB = pytest.mark.skipif(
    find_spec("lancedb") is None,
    reason="lancedb is not installed: pip install 'commonplace[lancedb]'",
)


class Plugin:
    """A backend ``other``, and an engine that indexes by itself."""

    @hookimpl
    def commonplace_register_backends(self, register: Any) -> None:
        def make(context: StoreContext) -> SqliteStore:
            return SqliteStore(f"{context.path}.other")

        def keyword_only(context: StoreContext) -> SqliteStore:
            store = SqliteStore(f"{context.path}.words")
            store.capabilities = store.capabilities - {"vectors"}
            return store

        register.store("other", make, summary="another file")
        register.store("words", keyword_only, summary="no vectors")
        register.manager("engine", lambda _: object(), summary="an engine")


@pytest.fixture
def registered(world: World) -> World:
    world.host = PluginHost(env=world.env)
    world.host.register(Plugin(), name="plugin")
    return world


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    ("of", "to"),
    [
        ("builtin", "other"),
        pytest.param("builtin", "lancedb", marks=[pytest.mark.slow, NEEDS_LANCEDB]),
        pytest.param("lancedb", "builtin", marks=[pytest.mark.slow, NEEDS_LANCEDB]),
    ],
)
def test_all_vectors_are_there_and_no_text_was_sent(
    registered: World, of: str, to: str, *, cache: bool
) -> None:
    world = registered
    world.write("memory/copy.md", "# Otter\n\nThe otter project starts in May.\n")  # a text twice
    before = world.open(backend=of, cache={"enabled": cache})
    before.sync()
    found = before.search("walrus at the harbour")
    asked, texts = world.asked(), len(world.texts())

    copied = copy_index(before.host, before.settings, to)
    assert (copied.of, copied.to, copied.report.added) == (of, to, 4)
    assert [(space.copied, space.missing) for space in copied.spaces] == [(3, 0)]
    assert world.asked() == asked
    again = copy_index(before.host, before.settings, to)
    assert [(space.copied, space.missing) for space in again.spaces] == [(0, 0)]

    after = world.open(backend=to, cache={"enabled": False})
    report = after.sync().embedding
    assert report is not None
    assert (report.embedded, report.requests, report.missing) == (0, 0, 0)
    same = after.search("walrus at the harbour")
    assert [hit.citation for hit in same.hits] == [hit.citation for hit in found.hits]
    assert {arm.name for arm in same.arms} == {"keyword", "vector"}
    assert len(world.texts()) == texts + 1  # the question
    assert before.search("walrus").backend == of, "the old index still answers"


def test_what_has_no_vector_is_counted_and_left(registered: World) -> None:
    memory = registered.open()
    memory.sync()
    asked = registered.asked()
    registered.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    copied = copy_index(memory.host, memory.settings, "other")
    assert copied.report.added == 4
    assert [(space.copied, space.missing) for space in copied.spaces] == [(3, 1)]
    assert registered.asked() == asked


def test_an_index_of_many_documents_is_read_in_parts(
    registered: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.copying._CHUNKS", 2)
    monkeypatch.setattr("commonplace.copying._DOCUMENTS", 2)
    registered.write("memory/a [b]*c?.md", "# Seal\n\nA seal slept on the quay.\n")
    registered.write("memory/copy.md", "# Otter\n\nThe otter project starts in May.\n")
    memory = registered.open()
    memory.sync()
    copied = copy_index(memory.host, memory.settings, "other")
    assert [(space.copied, space.missing) for space in copied.spaces] == [(4, 0)]


def test_without_vectors_the_notes_are_indexed_and_it_is_said(registered: World) -> None:
    memory = registered.open(provider="none")
    memory.sync()
    copied = copy_index(memory.host, memory.settings, "other")
    assert copied.report.added == 3
    assert (copied.spaces, copied.note) == ((), "builtin holds no vectors to copy")


def test_where_it_cannot_be_copied_to(registered: World) -> None:
    memory = registered.open()
    for to, kind, reason in (
        ("builtin", CallerError, "already"),
        ("inmemory", CallerError, "in memory alone"),
        ("engine", DeclinedError, "an index of its own"),
        ("nowhere", PluginUnavailableError, "no backend 'nowhere'"),
    ):
        with pytest.raises(kind, match=reason):
            copy_index(memory.host, memory.settings, to)


def test_a_backend_that_keeps_no_vectors_gets_the_notes(registered: World) -> None:
    memory = registered.open()
    memory.sync()
    copied = copy_index(memory.host, memory.settings, "words")
    assert (copied.report.added, copied.spaces) == (3, ())
    assert copied.note == "words keeps no vectors"


def test_what_was_interrupted_continues_with_the_next_call(
    registered: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.copying._CHUNKS", 1)
    monkeypatch.setattr("commonplace.copying._DOCUMENTS", 1)
    memory = registered.open()
    memory.sync()
    asked = registered.asked()

    def interrupt(done: Progress) -> None:
        if done.label == "Copying vectors" and done.completed == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_index(memory.host, memory.settings, "other", progress=interrupt)
    assert memory.search("walrus").hits, "the old index still answers"
    copied = copy_index(memory.host, memory.settings, "other")
    assert (copied.report.added, copied.report.unchanged) == (0, 3)
    assert [(space.copied, space.missing) for space in copied.spaces] == [(1, 0)]
    assert registered.asked() == asked + 1  # the question


def test_the_command_says_what_to_install_where_the_backend_lacks_it(
    registered: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = registered.open()
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    with pytest.raises(PluginUnavailableError, match="lancedb") as raised:
        copy_index(memory.host, memory.settings, "lancedb")
    assert "commonplace[lancedb]" in raised.value.hint


@pytest.mark.slow
@NEEDS_LANCEDB
def test_the_command_copies_and_names_the_setting(
    world: World,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    remote = {"baseUrl": f"{world.vendor.url}/v1", "apiKey": "sekrit-0123456789-abcdef"}
    config = tmp_path / "config.json5"
    search = {"provider": "openai", "remote": remote}
    config.write_text(json.dumps({"memory": {"search": search}}), encoding="utf-8")
    place = ["--workspace", str(world.workspace), "--config", str(config)]
    assert main(["index", "--yes", *place]) == 0
    asked = world.asked()
    capsys.readouterr()
    assert main(["index", "--to", "lancedb", *place]) == 0
    said = capsys.readouterr()
    assert "copied from builtin to lancedb" in said.out
    assert "3 copied, none embedded" in said.out
    assert main(["config", "set", "memory.backend", "lancedb", *place[2:]]) == 0
    capsys.readouterr()
    assert main(["index", "--json", *place]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["embedding"]["embedded"], facts["embedding"]["requests"]) == (0, 0)
    assert world.asked() == asked
    assert main(["index", "--to", "builtin", "--json", *place]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["from"], facts["to"]) == ("lancedb", "builtin")
    assert [one["missing"] for one in facts["copied"]] == [0]
