"""A configuration that is set apart for a measurement writes to no place that the user named."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from commonplace.config.load import load_settings, section_class, set_apart
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.config.settings import Settings


def _configured(tmp_path: Path) -> Settings:
    config = {
        "agents": {
            "defaults": {
                "workspace": str(tmp_path / "workspace"),
                "memorySearch": {
                    "store": {"path": str(tmp_path / "mine.sqlite")},
                    "cache": {"maxEntries": 5},
                    "sources": ["memory", "sessions"],
                    "experimental": {"sessionMemory": True},
                    "extraPaths": [str(tmp_path / "more"), "docs", {"path": "../beside"}],
                },
            }
        },
        "memory": {
            "backend": ["lancedb", "qmd"],
            "lancedb": {"uri": "s3://mine/here", "namespace": "shared", "vectorIndexRows": 2000},
            "qmd": {
                "paths": [{"path": str(tmp_path / "more")}],
                "sessions": {"enabled": True, "exportDir": str(tmp_path / "out")},
                "searchMode": "query",
            },
        },
    }
    file = tmp_path / "config.json5"
    file.write_text(json.dumps(config), encoding="utf-8")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    host = PluginHost(cache_dir=str(tmp_path / "cache"), env=env)
    return load_settings(config=str(file), env=env, sections=partial(section_class, host))


def test_an_index_of_its_own_wherever_it_is_configured(tmp_path: Path) -> None:
    settings = _configured(tmp_path)
    apart = set_apart(settings)
    assert apart.index_path.startswith(str(tmp_path / "state"))
    assert apart.search.store.path is None
    lancedb, qmd = apart.section_values["memory.lancedb"], apart.section_values["memory.qmd"]
    assert (lancedb.uri, lancedb.namespace) == (None, None)
    assert qmd.sessions.export_dir is None
    # Everything else is measured as it is configured.
    assert lancedb.vector_index_rows == 2000
    assert qmd.search_mode == "query"
    assert qmd.sessions.enabled
    assert qmd.paths
    assert apart.search.sources == ("memory", "sessions")
    assert apart.search.extra_paths == settings.search.extra_paths
    assert settings.index_path == str(tmp_path / "mine.sqlite")
    assert settings.section_values["memory.lancedb"].namespace == "shared"


def test_alone_it_has_the_notes_of_the_workspace(tmp_path: Path) -> None:
    apart = set_apart(_configured(tmp_path), alone=True)
    assert apart.search.sources == ("memory", "sessions")
    assert apart.alone  # so that these are transcripts in the workspace
    assert [extra.path for extra in apart.search.extra_paths] == ["docs"]
    qmd = apart.section_values["memory.qmd"]
    assert not qmd.sessions.enabled
    assert qmd.paths == ()
    assert qmd.search_mode == "query"


def test_a_bounded_cache_of_embeddings_is_left_alone(tmp_path: Path) -> None:
    settings = _configured(tmp_path)
    assert not set_apart(settings).search.cache.enabled
    unbounded = settings.search.evolve(cache=settings.search.cache.evolve(max_entries=None))
    assert set_apart(settings.evolve(search=unbounded)).search.cache.enabled
