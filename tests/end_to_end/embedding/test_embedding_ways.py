"""Text is searchable at once, vectors attach later, and nothing is ever asked for twice."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World

    from commonplace import Memory


def test_vectors_attach_and_every_result_says_who_made_them(world: World) -> None:
    memory = world.open()
    report = memory.sync()
    assert report.embedding is not None
    assert report.embedding.provider == "openai"
    assert (report.embedding.embedded, report.embedding.requests) == (3, 1)
    assert (report.embedding.missing, report.embedding.reason) == (0, "")
    result = memory.search("walrus")
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert {arm.arm for arm in result.hits[0].explain.arms} == {"keyword", "vector"}
    assert (result.provider, result.model) == ("openai", "text-embedding-3-small")
    assert (result.fallback, result.notes) == (None, ())
    assert [arm.name for arm in result.arms] == ["keyword", "vector"]
    assert result.arms[1].exact


def test_status_shows_who_embeds_and_the_coverage_of_each_space(world: World) -> None:
    memory = world.open()
    before = memory.status()
    assert (before.provider, before.search_mode, before.spaces) == ("openai", "keyword", ())
    memory.sync()
    status = memory.status()
    assert (status.provider, status.model) == ("openai", "text-embedding-3-small")
    assert (status.search_mode, status.fallback) == ("hybrid", None)
    (space,) = status.spaces
    assert (space.dims, space.covered, space.chunks) == (64, 3, 3)
    (provider,) = status.providers
    assert (provider.id, provider.role, provider.state) == ("openai", "primary", "ready")
    assert (provider.covered, provider.chunks, provider.since) == (3, 3, None)
    assert provider.space == space.space
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    memory.search("heron")
    assert memory.status().providers[0].covered == 3
    assert memory.status().providers[0].chunks == 4


def test_a_changed_note_is_found_by_keyword_before_it_has_a_vector(world: World) -> None:
    memory = world.open(sync={"embedUnasked": 0})
    memory.sync()
    asked = world.asked()
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    result = memory.search("heron roof")
    assert result.hits[0].path == "memory/new.md"
    assert world.asked() == asked + 1  # the query's
    report = memory.sync()
    assert report.embedding is not None
    assert report.embedding.embedded == 1
    assert memory.status().spaces[0].covered == 4


def test_text_is_searchable_while_it_is_embedded(world: World) -> None:
    memory = world.open()
    seen: list[list[str]] = []

    def look(body: Any) -> Any:
        with_keywords = world.open(provider="none")
        seen.append([hit.path for hit in with_keywords.search("otter").hits])
        return body

    world.vendor.twist = look
    memory.sync()
    assert seen[0] == ["memory/projects/otter.md"]


def test_a_query_is_embedded_once(world: World) -> None:
    memory = world.open()
    memory.sync()
    first = memory.search("who saw what at the harbour")
    asked = world.asked()
    assert memory.search("who saw what at the harbour").hits == first.hits
    again = world.open()  # as another process would
    assert again.search("who saw what at the harbour").provider == "openai"
    assert world.asked() == asked


def test_texts_of_many_notes_share_requests(world: World) -> None:
    for number in range(200):
        world.write(f"memory/n{number}.md", f"# Note {number}\n\nThe walrus met seal {number}.\n")
    report = world.open().sync()
    assert report.embedding is not None
    assert report.embedding.embedded == 203
    assert world.asked() == report.embedding.requests <= 6


@pytest.mark.parametrize("cached", [True, False])
def test_a_renamed_folder_costs_no_request(world: World, cached: bool) -> None:
    memory = world.open(cache={"enabled": cached})
    memory.sync()
    asked = world.asked()
    (world.workspace / "memory/projects").rename(world.workspace / "memory/work")
    report = memory.sync()
    assert (report.added, report.removed) == (1, 1)
    assert world.asked() == asked
    assert memory.status().spaces[0].covered == 3


@pytest.mark.parametrize("cached", [True, False])
def test_a_rebuild_embeds_nothing_again(world: World, cached: bool) -> None:
    memory = world.open(cache={"enabled": cached})
    memory.sync()
    asked = world.asked()
    report = memory.sync(force=True)
    assert report.rebuilt
    assert world.asked() == asked
    assert memory.status().spaces[0].covered == 3


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("search", [{"ranking": {"profile": "compat"}}, {}], ids=["other", "same"])
def test_another_tokenizer_or_make_embeds_nothing_again(
    world: World, cached: bool, search: dict[str, Any]
) -> None:
    """The texts are the same, and so are their spaces."""
    lines = {"cache": {"enabled": cached}, "chunking": {"strategy": "lines"}}
    with world.open(**lines) as memory:
        memory.sync()
        path = str(world.root / memory.status().db_path)
    if not search:
        connection = apsw.Connection(path, vfs=checked_vfs(""))
        connection.execute("UPDATE build SET identity = replace(identity, 'word-', 'word-0.')")
        connection.close()
    asked = world.asked()
    again = world.open(**lines, **search)
    report = again.sync()
    assert report.rebuilt
    assert world.asked() == asked
    assert again.status().spaces[0].covered == 3


def test_no_note_says_that_hits_were_left_out_which_the_profile_compat_shows(world: World) -> None:
    memory = world.open(ranking={"profile": "compat"})
    memory.sync()
    result = memory.search("walrus", min_score=1.0)
    assert 0 < len(result.hits) < len(memory.search("walrus", min_score=0.0).hits)
    assert all(hit.score < 1 for hit in result.hits)
    assert result.notes == ()


@pytest.mark.parametrize("cached", [True, False])
def test_another_fingerprint_embeds_only_what_it_cuts_otherwise(world: World, cached: bool) -> None:
    world.open(cache={"enabled": cached}).sync()
    asked = world.asked()
    again = world.open(cache={"enabled": cached}, chunking={"tokens": 300})
    report = again.sync()
    assert (report.updated, report.rebuilt) == (3, False)
    assert world.asked() == asked
    assert again.status().spaces[0].covered == 3


def test_an_index_that_was_lost_is_filled_from_the_cache(world: World) -> None:
    with world.open() as memory:
        memory.sync()
        path = memory.status().db_path
    for suffix in ("", "-wal", "-shm"):
        (world.root / (path + suffix)).unlink(missing_ok=True)
    asked = world.asked()
    report = world.open().sync()
    assert report.embedding is not None
    assert (report.embedding.cached, report.embedding.embedded) == (3, 0)
    assert world.asked() == asked


def test_only_what_is_new_is_embedded(world: World) -> None:
    memory = world.open()
    memory.sync()
    world.vendor.requests.clear()
    world.write("MEMORY.md", "# Team\n\nThe staging server listens on port 9999.\n")
    memory.sync()
    assert world.texts() == ["Team\n\n# Team\n\nThe staging server listens on port 9999."]


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"provider": "opnai"}, ["opnai", "openai"]),
        ({"provider": "openai", "remote": {}}, ["openai: no API key found", "OPENAI_API_KEY"]),
        (
            {
                "provider": "openai",
                "remote": {"apiKey": "k"},
                "outputDimensionality": 4000,
            },
            ["at most 1536 dimensions", "4000", "outputDimensionality"],
        ),
        pytest.param(
            {"provider": "local", "remote": {}, "local": {"modelPath": "/"}},
            ["folder", "modelPath"],
            marks=pytest.mark.skipif(
                find_spec("xllamacpp") is None, reason="the extra local is not installed"
            ),
        ),
    ],
)
def test_a_bad_setting_is_one_line_with_its_hint(
    world: World, search: dict[str, Any], words: list[str]
) -> None:
    memory = world.open(**search)
    report = memory.sync()
    assert report.embedding is not None
    assert report.embedding.missing == 3
    status = memory.status()
    (provider,) = status.providers
    assert (provider.id, provider.state) == (search["provider"], "unusable")
    for word in words:
        assert word in provider.reason
        assert word in report.embedding.reason
    assert provider.reason in status.notices
    assert "\n" not in provider.reason
    assert "Fix: " in provider.reason
    assert status.fallback is not None
    assert (status.provider, status.fallback.part) == (None, search["provider"])
    assert status.search_mode == "keyword"
    result = memory.search("walrus")
    assert result.hits
    assert result.fallback == status.fallback
    (note,) = result.notes
    assert note == f"searched by keywords alone: {provider.reason}"


def vectors_of(memory: Memory) -> list[int]:
    return [space.covered for space in memory.status().spaces]


def test_without_any_provider_search_is_by_keyword_and_nothing_is_wrong(world: World) -> None:
    memory = world.open(provider="auto", remote={})
    assert memory.sync().embedding is None
    status = memory.status()
    assert (status.provider, status.search_mode, status.fallback) == (None, "keyword", None)
    assert status.providers == ()
    result = memory.search("walrus")
    assert (result.provider, result.fallback, result.notes) == (None, None, ())


def test_quoted_and_excluded_words_hold_for_vectors_too(world: World) -> None:
    memory = world.open()
    memory.sync()
    walrus = "memory/2026-10-03.md"
    assert walrus in {hit.path for hit in memory.search("project harbour").hits}
    without = {hit.path for hit in memory.search("project harbour -walrus").hits}
    assert "memory/projects/otter.md" in without
    assert walrus not in without
    assert [hit.path for hit in memory.search('"walrus at the harbour" project').hits] == [walrus]


def test_prefixes_are_sent_and_make_a_space_of_their_own(world: World) -> None:
    memory = world.open(queryPrefix="query: ", documentPrefix="passage: ")
    memory.sync()
    memory.search("walrus")
    assert all(text.startswith("passage: ") for text in world.texts()[:3])
    assert world.texts()[-1] == "query: walrus"
    plain = world.open()
    plain.sync()
    assert vectors_of(plain) == [3, 3]


def test_headings_and_paths_are_searched_for_what_a_query_quotes_or_excludes(world: World) -> None:
    memory = world.open()
    world.write("memory/herring/crew.md", "# Blue boats\n\nMila rows at dawn.\n")
    memory.sync()

    def found_by_vectors(query: str) -> list[str]:
        hits = memory.search(query, min_score=0).hits
        return [hit.path for hit in hits if "vector" in {arm.arm for arm in hit.explain.arms}]

    assert "memory/herring/crew.md" in found_by_vectors("who rows at dawn")
    assert found_by_vectors('who rows at dawn "blue boats"') == ["memory/herring/crew.md"]
    assert "memory/herring/crew.md" not in found_by_vectors("who rows at dawn -boats")
    assert "memory/herring/crew.md" not in found_by_vectors("who rows at dawn -herring")
