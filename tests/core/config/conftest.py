"""Fixtures of the configuration's tests: a home and a workspace of each test's own."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings, section_class
from commonplace.config.resolve import resolve
from commonplace.errors import ConfigError
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment that knows a home, and nothing else; the current folder is empty."""
    for name in ("home", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    """An empty workspace."""
    path = tmp_path / "workspace"
    path.mkdir()
    return str(path)


@pytest.fixture
def write(tmp_path: Path, env: dict[str, str], workspace: str) -> Callable[[str, Any], str]:
    """Writes a configuration file by its role, from text or from values; gives its path."""
    places = {
        "user": tmp_path / "home/.config/commonplace/config.json5",
        "original": tmp_path / "home/.openclaw/openclaw.json",
        "workspace": tmp_path / "workspace/commonplace.json5",
        "named": tmp_path / "elsewhere/named.json5",
    }

    def write(role: str, content: Any) -> str:
        path = places[role]
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="session")
def sections() -> Callable[[str], type | None]:
    """The settings that the installed plugins declare."""
    return partial(section_class, PluginHost(env={}))


@pytest.fixture
def load(
    env: dict[str, str], workspace: str, sections: Callable[[str], type | None]
) -> Callable[..., Settings]:
    """Loads settings of the test's workspace."""

    def load(**arguments: Any) -> Settings:
        given = {"workspace": workspace, "env": env, "sections": sections, **arguments}
        return load_settings(**given)

    return load


@pytest.fixture
def refused(
    env: dict[str, str], workspace: str, sections: Callable[[str], type | None]
) -> Callable[[], list[ConfigProblem]]:
    """What keeps a workspace's own file from having an effect."""

    def refused() -> list[ConfigProblem]:
        found = resolve(workspace=workspace, env=env, sections=sections)
        assert found.settings is not None
        assert found.problems == []
        assert found.settings.ignored.startswith(str(found.refused[0]))
        assert found.settings.ignored in found.warnings
        return found.refused

    return refused


@pytest.fixture
def problems(load: Callable[..., Settings]) -> Callable[..., list[ConfigProblem]]:
    """The problems that loading reports; none if it does not fail."""

    def problems(**arguments: Any) -> list[ConfigProblem]:
        try:
            load(**arguments)
        except ConfigError as error:
            return list(error.problems)
        return []

    return problems
