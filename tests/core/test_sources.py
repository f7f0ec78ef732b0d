"""The configured sources of documents: which of them there are, and what is said of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace import ConfigError
from commonplace.assembly import Assembly
from commonplace.config.load import load_settings
from commonplace.host.discovery import EntryPoint, installed
from commonplace.host.host import PluginHost
from commonplace.sources import make_sources

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings

    Make = Callable[..., Settings]


@pytest.fixture
def host() -> PluginHost:
    return PluginHost(cache_dir=None, env={})


@pytest.fixture
def searching(tmp_path: Path) -> Make:
    """Settings that search the sources of these names."""

    def made(*sources: str) -> Settings:
        env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        config = {"memory": {"search": {"sources": list(sources)}}}
        return load_settings(
            workspace=str(tmp_path), config=config, env=env, sections=lambda _section: None
        )

    return made


def test_a_source_that_is_not_installed_is_a_notice(host: PluginHost, searching: Make) -> None:
    settings = searching("memory", "nowhere")
    sources, notices = make_sources(host, settings)
    assert [source.id for source in sources] == ["memory"]
    assert len(notices) == 1
    assert notices[0].startswith("source 'nowhere' is not searched: ")
    assert Assembly(host, settings).mounts() == ()


def test_sources_that_no_plugin_has_ever_had_are_an_error(
    host: PluginHost, searching: Make
) -> None:
    """With none of them there would be no documents: all that is indexed would be removed."""
    with pytest.raises(
        ConfigError, match="no source 'memroy'; there is no source 'codx'"
    ) as caught:
        make_sources(host, searching("memroy", "codx"))
    assert "did you mean 'memory'?" in caught.value.hint
    assert "did you mean 'codex'?" in caught.value.hint


@pytest.mark.parametrize("source", ["memory", "codex"])
def test_sources_that_are_switched_off_are_no_slip(source: str, searching: Make) -> None:
    host = PluginHost(env={"COMMONPLACE_DISABLE_PLUGINS": f"source.{source}"})
    sources, (notice,) = make_sources(host, searching(source))
    assert sources == ()
    assert "is switched off by COMMONPLACE_DISABLE_PLUGINS" in notice


def test_a_source_that_two_plugins_offer_costs_the_others_nothing(searching: Make) -> None:
    rivals = (EntryPoint("source.crm", "acme", f"acme-{of}", "1.0") for of in ("clang", "clash"))
    host = PluginHost((*installed(), *rivals), env={})
    sources, (notice,) = make_sources(host, searching("memory", "crm", "claude-code"))
    assert [source.id for source in sources] == ["memory", "claude-code"]
    assert "source 'crm' is not searched: source.crm is offered by " in notice
    assert "COMMONPLACE_DISABLE_PLUGINS=acme-clash" in notice
