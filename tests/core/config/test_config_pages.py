"""What is derived from the descriptions: the reference page, the JSON Schema, the explanation."""

from __future__ import annotations

import json
import os
import runpy
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.defaults import SEARCH_KEYS
from commonplace.config.paths import config_paths
from commonplace.config.reports import explain, json_schema
from commonplace.config.search import SearchSettings
from commonplace.config.settings import FlushSettings, MemorySettings
from commonplace.config.shape import Shape
from commonplace_lancedb.settings import LanceSettings
from commonplace_local.cross_encoder import CrossEncoderSettings
from commonplace_local.plugin import LocalSettings
from commonplace_longterm.settings import LongTermSettings
from commonplace_qmd.settings import QmdSettings
from commonplace_ranking.optional import (
    ExactPathSettings,
    ImportanceSettings,
    InstructionSettings,
    RerankSettings,
    SourceBalanceSettings,
    SpreadSettings,
    TimeWordsSettings,
)
from commonplace_ranking.plugin import (
    EvidenceSettings,
    MmrSettings,
    RecencySettings,
    TemporalDecaySettings,
    ValiditySettings,
)
from commonplace_sessions.plugin import TranscriptSettings
from commonplace_sqlite.plugin import SqliteSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROOT = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)
PAGE = os.path.join(ROOT, "docs", "configuration.md")
_GENERATOR = runpy.run_path(os.path.join(ROOT, "docs", "generate", "configuration_page.py"))
main, renewed = _GENERATOR["main"], _GENERATOR["renewed"]
SECTIONS = {
    "memory.qmd": QmdSettings,
    "memory.lancedb": LanceSettings,
    "memory.builtin": SqliteSettings,
    "plugins.entries.sessions.config": TranscriptSettings,
    "plugins.entries.local.config": LocalSettings,
    "plugins.entries.memory-lancedb.config": LongTermSettings,
    "plugins.entries.evidence.config": EvidenceSettings,
    "plugins.entries.mmr.config": MmrSettings,
    "plugins.entries.recency.config": RecencySettings,
    "plugins.entries.validity.config": ValiditySettings,
    "plugins.entries.temporal_decay.config": TemporalDecaySettings,
    "plugins.entries.source_balance.config": SourceBalanceSettings,
    "plugins.entries.exact_path.config": ExactPathSettings,
    "plugins.entries.importance.config": ImportanceSettings,
    "plugins.entries.spread.config": SpreadSettings,
    "plugins.entries.rerank.config": RerankSettings,
    "plugins.entries.cross_encoder.config": CrossEncoderSettings,
    "plugins.entries.time_words.config": TimeWordsSettings,
    "plugins.entries.standing.config": InstructionSettings,
}
RENEW = (
    "python docs/generate/configuration_page.py docs/configuration.md "
    "memory.qmd=commonplace_qmd.settings:QmdSettings "
    "memory.lancedb=commonplace_lancedb.settings:LanceSettings "
    "memory.builtin=commonplace_sqlite.plugin:SqliteSettings "
    "plugins.entries.sessions.config=commonplace_sessions.plugin:TranscriptSettings "
    "plugins.entries.local.config=commonplace_local.plugin:LocalSettings "
    "plugins.entries.memory-lancedb.config=commonplace_longterm.settings:LongTermSettings "
    "plugins.entries.evidence.config=commonplace_ranking.plugin:EvidenceSettings "
    "plugins.entries.mmr.config=commonplace_ranking.plugin:MmrSettings "
    "plugins.entries.recency.config=commonplace_ranking.plugin:RecencySettings "
    "plugins.entries.validity.config=commonplace_ranking.plugin:ValiditySettings "
    "plugins.entries.temporal_decay.config=commonplace_ranking.plugin:TemporalDecaySettings "
    "plugins.entries.source_balance.config=commonplace_ranking.optional:SourceBalanceSettings "
    "plugins.entries.exact_path.config=commonplace_ranking.optional:ExactPathSettings "
    "plugins.entries.importance.config=commonplace_ranking.optional:ImportanceSettings "
    "plugins.entries.spread.config=commonplace_ranking.optional:SpreadSettings "
    "plugins.entries.rerank.config=commonplace_ranking.optional:RerankSettings "
    "plugins.entries.cross_encoder.config=commonplace_local.cross_encoder:CrossEncoderSettings "
    "plugins.entries.time_words.config=commonplace_ranking.optional:TimeWordsSettings "
    "plugins.entries.standing.config=commonplace_ranking.optional:InstructionSettings"
)
SEARCH = Shape(SearchSettings, SEARCH_KEYS, SECTIONS.get).complete()
SHAPES = [SEARCH, *map(Shape, (FlushSettings, MemorySettings, QmdSettings, LanceSettings))]


def page() -> str:
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def test_the_reference_page_is_up_to_date() -> None:
    assert renewed(page(), SECTIONS) == page(), f"run: {RENEW}"


@pytest.mark.parametrize("shape", SHAPES)
def test_every_key_is_on_the_page_and_says_what_it_does(shape: Shape) -> None:
    text = page()
    for leaf in shape.leaves.values():
        assert leaf.setting.about, leaf.key
        assert leaf.setting.about.endswith("."), leaf.key
        assert f"| `{leaf.key}` |" in text
    for key in shape.unsupported:
        assert f"| `{key}` |" in text


def test_the_page_is_renewed_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("before\n<!-- begin memory -->\nold\n<!-- end memory -->\nafter\n")
    main(str(path), ["memory.qmd=commonplace_qmd.settings:QmdSettings"])
    text = path.read_text()
    assert text.startswith("before\n<!-- begin memory -->\n| key |")
    assert text.endswith("<!-- end memory -->\nafter\n")
    assert "old" not in text
    main(str(path), [])
    assert path.read_text() == text


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(KeyError):
        renewed("<!-- begin nothing -->\n<!-- end nothing -->", {})


# --- the JSON Schema ----------------------------------------------------------------------------


def below(schema: Any, key: str) -> Any:
    return reduce(lambda part, name: part["properties"][name], key.split("."), schema)


def test_the_schema_has_every_key_of_ours() -> None:
    schema = json_schema(SECTIONS)
    json.dumps(schema)
    for place, shape in (
        ("agents.defaults.memorySearch", SEARCH),
        ("memory.search", SEARCH),
        ("agents.defaults.compaction", Shape(FlushSettings)),
        ("memory", Shape(MemorySettings)),
        ("memory.qmd", Shape(QmdSettings)),
        ("memory.lancedb", Shape(LanceSettings)),
    ):
        section = below(schema, place)
        for leaf in shape.leaves.values():
            assert leaf.setting.about.rstrip(".") in below(section, leaf.key)["description"]


def test_the_schema_is_strict_about_ours_and_not_about_others() -> None:
    schema = json_schema(SECTIONS)
    assert below(schema, "memory.search")["additionalProperties"] is False
    assert below(schema, "memory.search.query.hybrid.mmr")["additionalProperties"] is False
    for place in ("agents", "agents.defaults", "plugins", "plugins.slots"):
        assert "additionalProperties" not in below(schema, place)
    assert below(schema, "agents.defaults.compaction")["additionalProperties"] is True


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("query.maxResults", {"type": "integer", "minimum": 1, "default": 6}),
        ("query.minScore", {"type": "number", "minimum": 0, "maximum": 1}),
        ("store.fts.tokenizer", {"enum": ["unicode61", "trigram"], "default": "unicode61"}),
        ("sync.watch", {"type": "boolean", "default": True}),
        ("ranking.chain", {"type": "array", "items": {"type": "string"}}),
        ("multimodal", {"deprecated": True}),
    ],
)
def test_what_the_schema_says_of_a_key(key: str, part: dict[str, Any]) -> None:
    assert part.items() <= below(json_schema(), f"memory.search.{key}").items()


def test_the_schema_of_a_plugins_section() -> None:
    schema = json_schema({"plugins.entries.mine.config": QmdSettings})
    assert "command" in below(schema, "plugins.entries.mine.config")["properties"]


# --- config show and config path ----------------------------------------------------------------


def test_every_setting_is_explained_with_where_it_came_from(
    write: Callable[[str, Any], str], env: dict[str, str], workspace: str
) -> None:
    user = write(
        "user", "{\n memory: {\n  citations: 'on',\n  search: { query: {\n maxResults: 2}}}}"
    )
    own = write("workspace", "// mine\n{memory: {search: {query: {minScore: 0.2}}}}")
    env["COMMONPLACE_AGENT"] = "a"
    rows = explain(
        workspace=workspace,
        env=env,
        sections=SECTIONS.get,
        config={"agents": {"defaults": {"compaction": {"reserveTokensFloor": 5}}}},
    )
    found = {row.key: (row.value, row.origin) for row in rows}
    search = "agents.defaults.memorySearch"
    assert found["agent"] == ("a", "environment variable COMMONPLACE_AGENT")
    assert found["workspace"] == (workspace, "argument")
    assert found["memory.citations"] == ("on", f"{user}:3")
    assert found[f"{search}.query.maxResults"] == (2, f"{user}:5")
    assert found[f"{search}.query.minScore"] == (0.2, f"{own}:2")
    assert found[f"{search}.cache.enabled"] == (True, "default")
    assert found["agents.defaults.compaction.reserveTokensFloor"] == (5, "config argument")
    for shape, prefix in (
        (SEARCH, search),
        (Shape(FlushSettings), "agents.defaults.compaction"),
        (Shape(MemorySettings), "memory"),
    ):
        assert {f"{prefix}.{key}" for key in shape.leaves} <= found.keys()
    json.dumps([row.value for row in rows])


def test_sections_of_plugins_are_shown_setting_by_setting_once_they_are_read(
    write: Callable[[str, Any], str], env: dict[str, str], workspace: str
) -> None:
    user = write("user", '{\nmemory: {\nbackend: "qmd", qmd: {\ncommand: "q"}}}')
    found = {row.key: row for row in explain(workspace=workspace, env=env, sections=SECTIONS.get)}
    assert (found["memory.qmd.command"].value, found["memory.qmd.command"].origin) == (
        "q",
        f"{user}:4",
    )
    assert {row.origin for key, row in found.items() if key.startswith("memory.qmd.")} == {
        f"{user}:4",
        "default",
    }
    assert all(row.about for key, row in found.items() if key.startswith("memory.qmd."))
    json.dumps([row.value for row in found.values()])


def test_sections_of_plugins_are_not_shown_while_no_plugin_reads_them(
    env: dict[str, str], workspace: str
) -> None:
    config = {"memory": {"backend": "qmd", "qmd": {"command": "q"}}}
    unread = {row.key: row for row in explain(workspace=workspace, env=env, config=config)}
    assert unread["memory.qmd"].origin == "not read"
    assert "q" not in str(unread["memory.qmd"].value).replace("keys, not shown", "")


def test_the_places_that_are_looked_at_nearest_first(
    write: Callable[[str, Any], str], env: dict[str, str], workspace: str
) -> None:
    user = write("user", "{}")
    found = config_paths(workspace=workspace, env=env)
    assert [(place.role, place.exists) for place in found] == [
        ("user", True),
        ("original", False),
        ("workspace", False),
    ]
    assert found[0].path == user
    env["COMMONPLACE_CONFIG"] = "named.json5"
    named = config_paths(env=env)
    assert [(place.role, place.path) for place in named] == [
        ("named", os.path.abspath("named.json5"))
    ]
    assert [place.role for place in config_paths(workspace=workspace, config="x", env=env)] == [
        "named",
        "workspace",
    ]
