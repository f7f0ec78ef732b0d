"""Switches and conflicts, decided from names alone."""

from __future__ import annotations

import pytest

from commonplace.errors import PluginConflictError, PluginUnavailableError
from commonplace.host.discovery import Catalogue, EntryPoint

A = EntryPoint("ranker.a", "a.plugin", "dist-a", "1")
B = EntryPoint("ranker.b", "b.plugin", "dist-b", "2")
C = EntryPoint("backend.b", "b.plugin", "dist-b", "2")
ENTRIES = (A, B, C)


def names(env: dict[str, str]) -> set[str]:
    catalogue = Catalogue(ENTRIES, env)
    return {entry.name for kind in ("ranker", "backend") for entry in catalogue.of_kind(kind)}


@pytest.mark.parametrize(
    ("env", "on"),
    [
        ({}, {"ranker.a", "ranker.b", "backend.b"}),
        ({"COMMONPLACE_PLUGINS": ""}, {"ranker.a", "ranker.b", "backend.b"}),
        ({"COMMONPLACE_PLUGINS": " , "}, {"ranker.a", "ranker.b", "backend.b"}),
        ({"COMMONPLACE_PLUGINS": "ranker.a, backend.b"}, {"ranker.a", "backend.b"}),
        ({"COMMONPLACE_PLUGINS": "Dist_B"}, {"ranker.b", "backend.b"}),
        ({"COMMONPLACE_PLUGINS": "unknown"}, set()),
        ({"COMMONPLACE_DISABLE_PLUGINS": "ranker.a"}, {"ranker.b", "backend.b"}),
        ({"COMMONPLACE_DISABLE_PLUGINS": "dist-b"}, {"ranker.a"}),
        (
            {"COMMONPLACE_PLUGINS": "dist-b", "COMMONPLACE_DISABLE_PLUGINS": "ranker.b"},
            {"backend.b"},
        ),
    ],
)
def test_switches_name_entry_points_or_distributions(env: dict[str, str], on: set[str]) -> None:
    assert names(env) == on


@pytest.mark.parametrize(
    ("variable", "value"),
    [("COMMONPLACE_DISABLE_PLUGINS", "ranker.a"), ("COMMONPLACE_PLUGINS", "ranker.b")],
)
def test_what_is_off_is_said_to_be_off(variable: str, value: str) -> None:
    catalogue = Catalogue(ENTRIES, {variable: value})
    with pytest.raises(
        PluginUnavailableError, match=f"ranker 'a' is switched off by {variable}"
    ) as e:
        catalogue.find("ranker", "a")
    assert variable in e.value.hint


def test_an_unknown_id_is_answered_with_the_one_probably_meant() -> None:
    known = EntryPoint("backend.builtin", "m", "d")
    with pytest.raises(PluginUnavailableError, match="there is no backend 'bultin'") as caught:
        Catalogue([known, C], {}).find("backend", "bultin", ["special"])
    assert caught.value.hint == "did you mean 'builtin'? there is b, builtin, special"


def test_an_id_of_a_kind_that_no_plugin_offers_asks_for_a_plugin() -> None:
    with pytest.raises(PluginUnavailableError) as caught:
        Catalogue(ENTRIES, {}).find("provider", "openai")
    assert caught.value.hint == "install a plugin that offers a provider"


RIVAL = EntryPoint("ranker.a", "other.plugin", "dist-z", "9")


def test_a_name_of_two_distributions_names_both_when_asked_for() -> None:
    catalogue = Catalogue([*ENTRIES, RIVAL], {})
    with pytest.raises(PluginConflictError, match=r"dist-a 1 and dist-z 9") as caught:
        catalogue.find("ranker", "a")
    assert "COMMONPLACE_DISABLE_PLUGINS=dist-z" in caught.value.hint
    assert catalogue.ids("ranker") == ("b",)
    assert catalogue.find("ranker", "b") == B


OURS = EntryPoint("ranker.a", "ours.plugin", "commonplace", "1")
STRANGER = EntryPoint("ranker.a", "other.plugin", "a-stranger", "9")


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_built_in_works_whatever_is_installed_under_its_name(order: int) -> None:
    catalogue = Catalogue([STRANGER, OURS][::order], {})
    assert catalogue.find("ranker", "a") == OURS
    assert catalogue.ids("ranker") == ("a",)
    (problem,) = (entry.problem for entry in catalogue.entries if entry.module == "other.plugin")
    assert problem == "ranker.a is built in, and its id cannot be taken: choose another one"


def test_the_id_of_a_builtin_plugin_that_is_off_may_be_taken() -> None:
    switched = {"COMMONPLACE_DISABLE_PLUGINS": "commonplace"}
    assert Catalogue([STRANGER, OURS], switched).find("ranker", "a") == STRANGER


def test_switching_one_side_off_ends_the_conflict() -> None:
    catalogue = Catalogue([*ENTRIES, RIVAL], {"COMMONPLACE_DISABLE_PLUGINS": "dist-a"})
    assert catalogue.find("ranker", "a") == RIVAL


def test_ids_leave_out_what_is_malformed() -> None:
    bad = EntryPoint("ranker.z", "z:y", "d", problem="no")
    assert Catalogue([*ENTRIES, bad], {}).ids("ranker") == ("a", "b")


@pytest.mark.parametrize("order", [1, -1])
def test_a_malformed_entry_point_stands_in_nobodys_way(order: int) -> None:
    bad = EntryPoint("ranker.a", "a:b", "dist-z", problem="names something inside a module")
    catalogue = Catalogue([bad, A][::order], {})
    assert catalogue.find("ranker", "a") == A
    assert catalogue.ids("ranker") == ("a",)
    alone = Catalogue([bad], {})
    assert alone.find("ranker", "a") == bad
    assert alone.ids("ranker") == ()
