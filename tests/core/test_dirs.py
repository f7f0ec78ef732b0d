"""The platform's folders are those that platformdirs gives."""

from __future__ import annotations

import os
import sys

import platformdirs
import pytest

from commonplace.dirs import expand_user, user_cache_dir, user_config_dir, user_state_dir

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
