"""The platform's folders are those that platformdirs gives."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import platformdirs
import pytest

from commonplace import ConfigError, Memory
from commonplace.config.paths import state_dir
from commonplace.dirs import (
    expand_user,
    make_private_folder,
    user_cache_dir,
    user_config_dir,
    user_state_dir,
)

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENTS = [
    {},
    {"HOME": "/home/ana"},
    {"HOME": "/home/ana/"},
    {"HOME": "/"},
    {"HOME": ""},
    {"HOME": "relative"},
    {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/k"},
    {"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": " "},
    {"XDG_CONFIG_HOME": "~/c", "XDG_STATE_HOME": "/s/", "XDG_CACHE_HOME": "/k/../l"},
]


@pytest.mark.parametrize("variables", ENVIRONMENTS)
def test_they_are_what_platformdirs_says(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    theirs = platformdirs.PlatformDirs("commonplace", appauthor=False)
    assert user_config_dir(os.environ) == theirs.user_config_dir
    assert user_state_dir(os.environ) == theirs.user_state_dir
    assert user_cache_dir(os.environ) == theirs.user_cache_dir


def test_other_platforms_ask_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    theirs = platformdirs.PlatformDirs("commonplace", appauthor=False)
    assert user_state_dir({"XDG_STATE_HOME": "/elsewhere"}) == theirs.user_state_dir


@pytest.mark.parametrize(
    ("path", "expanded"),
    [
        ("~", "/home/ana"),
        ("~/x", "/home/ana/x"),
        ("a/~", "a/~"),
        ("", ""),
        ("~no-such-user/x", "~no-such-user/x"),
    ],
)
def test_a_home_is_the_environments(path: str, expanded: str) -> None:
    assert expand_user(path, {"HOME": "/home/ana"}) == expanded


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    before = os.umask(0o277)
    try:
        make_private_folder(str(tmp_path / "a" / "b" / "c"))
        make_private_folder(str(tmp_path / "a" / "b" / "c"))
        make_private_folder("")
    finally:
        os.umask(before)
    if os.name == "posix":
        made = [tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c"]
        assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        make_private_folder(str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        make_private_folder(str(tmp_path / "file" / "below"))


@pytest.mark.skipif(sys.platform == "win32", reason="no numbers of users")
def test_a_user_without_a_home_needs_folders_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "MEMORY.md").write_text("An ant.\n")
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state"), "COMMONPLACE_WORKSPACE": str(tmp_path)}
    with pytest.raises(ConfigError, match="HOME is not set") as caught:
        Memory.open(env=env)
    assert "COMMONPLACE_CACHE_DIR" in caught.value.hint
    with Memory.open(env={**env, "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache")}) as memory:
        assert len(memory.search("ant").hits) == 1
    assert not os.path.exists("~")


def test_a_home_that_stands_for_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"/nonexistent/x\S* lies in the home that") as caught:
        state_dir({"HOME": "/nonexistent/x"})
    assert "HOME is not set" not in str(caught.value)
    assert caught.value.hint.startswith("set HOME to a folder of yours")
