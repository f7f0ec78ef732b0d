"""Plugins that need another version of the plugin API, or know hooks that are not there yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace._version import __version__
from commonplace.errors import PluginUnavailableError
from commonplace.host.discovery import installed
from commonplace.host.host import PluginHost
from commonplace.host.switches import api_hint, api_problem
from commonplace.plugin import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RANKER = """
from commonplace.plugin import hookimpl

@hookimpl
def commonplace_register_rankers(register):
    register.ranker("NAME", dict, summary="ranks")
"""
NEWER = "\nfrom commonplace.plugin import NotYetInvented\n" + RANKER
MAJOR, MINOR = map(int, API_VERSION.split("."))


def test_one_that_is_too_new_is_set_aside_and_the_others_work(
    add_module: Callable[[str, str], None],
    add_distribution: Callable[..., Path],
    site: Path,
    tmp_path: Path,
) -> None:
    add_module("hv_newer", NEWER)
    add_module("hv_good", RANKER.replace("NAME", "good"))
    needed = f"{MAJOR}.{MINOR + 1}"
    add_distribution("dist-newer", {f"api.{needed}": "hv_newer", "ranker.newer": "hv_newer"})
    add_distribution("dist-good", {f"api.{API_VERSION}": "hv_good", "ranker.good": "hv_good"})
    cache = str(tmp_path / "cache")
    for _ in range(2):  # by a scan, and as it is remembered
        host = PluginHost(installed(cache, [str(site)]), env={})
        with pytest.raises(PluginUnavailableError) as caught:
            host.ranker("newer")
        assert str(caught.value) == (
            f"ranker 'newer' of dist-newer 1.0 failed to load: it needs version {needed} of the"
            f" plugin API, and commonplace {__version__} offers {API_VERSION}"
        )
        assert caught.value.hint == "update commonplace, or install an older dist-newer"
        assert host.ranker("good").id == "good"
        good, newer = host.plugins(load=True)
        assert (good.state, newer.state) == ("loaded", "failed")
        assert newer.error in str(caught.value)
        assert newer.hint == caught.value.hint


@pytest.mark.parametrize(
    ("api", "words", "hint"),
    [
        ("", "", ""),
        ("2.0", "", ""),
        ("2.3", "", ""),
        ("2.4", "needs version 2.4 of the plugin API", "older"),
        ("3.0", "offers 2.3", "older"),
        ("1.9", "needs version 1.9 of the plugin API", "update"),
        ("1.9,2.1", "", ""),
        ("3.0,1.2", "needs version 3.0 or 1.2 of", "update"),
        ("two", "'two' is not two numbers such as 2.3", "update"),
        ("2", "'2' is not two numbers", "update"),
        ("2.-1", "'2.-1' is not two numbers", "update"),
    ],
    ids=lambda value: value or "none",
)
def test_a_version_is_served_by_a_later_one_of_its_series(api: str, words: str, hint: str) -> None:
    problem, newer = api_problem(api, offered="2.3")
    assert words in problem
    assert bool(problem) is bool(words)
    assert newer is (hint == "older")


def test_who_needs_an_older_api_is_to_be_updated() -> None:
    assert api_hint("0.9", "dist-old") == "update dist-old"
    assert api_hint(API_VERSION, "dist-new") == ""


@settings(max_examples=30)
@given(st.tuples(st.integers(0, 4), st.integers(0, 30)), st.integers(0, 4), st.integers(0, 30))
def test_of_any_two_versions_one_serves_the_other_by_number(
    needed: tuple[int, int], major: int, minor: int
) -> None:
    problem, _ = api_problem(f"{needed[0]}.{needed[1]}", offered=f"{major}.{minor}")
    assert (problem == "") is (needed[0] == major and needed[1] <= minor)


def test_a_hook_of_a_later_version_does_no_harm(
    add_module: Callable[[str, str], None], add_distribution: Callable[..., Path], site: Path
) -> None:
    add_module(
        "hv_hook",
        RANKER.replace("NAME", "hook")
        + "@hookimpl(optionalhook=True)\ndef commonplace_tidied_up(report): pass\n",
    )
    add_distribution("dist-hook", {"ranker.hook": "hv_hook"})
    host = PluginHost(installed(None, [str(site)]), env={})
    assert host.ranker("hook").id == "hook"
    (info,) = host.plugins(load=True)
    assert (info.state, info.error) == ("loaded", "")
    assert info.notices[0] == "hv_hook has commonplace_tidied_up, which is not called here"
