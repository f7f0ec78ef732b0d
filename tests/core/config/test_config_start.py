"""Loading settings must be cheap, and the short way must say what the long way does."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings
from commonplace.config.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SLOW = {
    "cattrs",
    "dataclasses",
    "decimal",
    "difflib",
    "inspect",
    "json",
    "pathlib",
    "platformdirs",
    "pyjson5",
    "tempfile",
    "zoneinfo",
}
LOADED = """
import sys
import attrs, pluggy  # what is there anyway
before = set(sys.modules)
from commonplace.config.load import load_settings
load_settings(workspace={workspace!r}, env={env!r})
print(*sorted(set(sys.modules) - before))
"""


def loaded(workspace: str, env: dict[str, str]) -> set[str]:
    code = LOADED.format(workspace=workspace, env=env)
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_without_a_file_nothing_slow_is_imported(env: dict[str, str], workspace: str) -> None:
    modules = loaded(workspace, env)
    assert not modules & SLOW
    assert "commonplace.config.resolve" not in modules
    assert not any(name.startswith("commonplace_") for name in modules)


def test_plain_json_needs_no_parser_of_json5(
    env: dict[str, str], workspace: str, write: Callable[[str, Any], str]
) -> None:
    write("user", {"memory": {"citations": "on"}})
    assert not loaded(workspace, env) & (SLOW - {"json", "dataclasses", "decimal"})
    assert "pyjson5" not in loaded(workspace, env)
    write("user", "{memory: {citations: 'on'}}")
    assert "pyjson5" in loaded(workspace, env)


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"COMMONPLACE_AGENT": "a"},
        {"COMMONPLACE_STATE_DIR": "s", "COMMONPLACE_CACHE_DIR": "~/c"},
        {"XDG_STATE_HOME": "/x", "XDG_CACHE_HOME": "/y", "XDG_CONFIG_HOME": "/z"},
        {"COMMONPLACE_WORKSPACE": "~/w"},
    ],
)
def test_the_short_way_says_what_the_long_way_does(
    installed: bool,
    variables: dict[str, str],
    tmp_path: Path,
    env: dict[str, str],
    workspace: str,
) -> None:
    if installed:
        (tmp_path / "home/.openclaw/workspace").mkdir(parents=True)
    else:
        (tmp_path / "elsewhere/memory").mkdir()
    env |= variables
    for place, agent in ((None, None), (workspace, None), (None, "B")):
        short = load_settings(env=env, workspace=place, agent=agent)
        long = resolve(env=env, workspace=place, agent=agent).settings_or_raise()
        assert short == long


def test_the_package_itself_loads_none_of_its_modules() -> None:
    code = "import sys; import commonplace.config; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    ours = {name for name in done.stdout.split() if name.startswith("commonplace.config")}
    assert ours == {"commonplace.config"}
