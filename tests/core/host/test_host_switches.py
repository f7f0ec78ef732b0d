"""Plugins that the configuration or safe mode switches off are not even imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.config.load import load_switches
from commonplace.errors import PluginUnavailableError
from commonplace.host.discovery import CALLED, KINDS, scan
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from pathlib import Path

ALL = (*KINDS, *CALLED)
OFF = [
    ({"deny": ["stranger"]}, {}, "plugins.deny in config argument"),
    ({"deny": ["a-stranger"]}, {}, "plugins.deny in config argument"),
    ({"deny": [f"{kind}.stranger" for kind in ALL]}, {}, "plugins.deny in config argument"),
    ({"allow": ["another"]}, {}, "plugins.allow in config argument"),
    ({"enabled": False}, {}, "plugins.enabled in config argument"),
    (
        {"entries": {"stranger": {"enabled": False}}},
        {},
        "plugins.entries.stranger.enabled in config argument",
    ),
    ({"allow": ["stranger"]}, {"COMMONPLACE_SAFE": "1"}, "COMMONPLACE_SAFE"),
]


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution of a third party with a plugin of each kind, a module each."""
    info = tmp_path / "site" / "a_stranger-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: a-stranger\nVersion: 1.0\n")
    lines = [f"{kind}.stranger = stranger_{kind}" for kind in ALL]
    (info / "entry_points.txt").write_text("\n".join(["[commonplace]", *lines, ""]))
    for kind in ALL:
        (tmp_path / "site" / f"stranger_{kind}.py").write_text("")
        monkeypatch.delitem(sys.modules, f"stranger_{kind}", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


def imported() -> list[str]:
    """The kinds whose module has been imported."""
    return [kind for kind in ALL if f"stranger_{kind}" in sys.modules]


@pytest.mark.parametrize(("plugins", "env", "by"), OFF)
def test_no_plugin_of_any_kind_is_imported_once_it_is_off(
    plugins: dict[str, object], env: dict[str, str], by: str, stranger: Path
) -> None:
    rules = load_switches({"plugins": plugins}, env)
    host = PluginHost(scan([str(stranger)]), env=env, rules=rules)
    infos = host.plugins(load=True)
    assert {info.kind: info.state for info in infos} == dict.fromkeys(ALL, "disabled")
    assert {info.notices for info in infos} == {(f"switched off by {by}",)}
    host.rewrite_query("herons")
    assert host.events is None
    for kind in KINDS:
        with pytest.raises(PluginUnavailableError, match=f"switched off by {by}"):
            host.get(kind, "stranger")  # type: ignore[arg-type]
    assert imported() == []

    PluginHost(scan([str(stranger)]), env={}).load_all()
    assert imported() == list(ALL), "those that are on are imported"
    for kind in ALL:
        sys.modules.pop(f"stranger_{kind}", None)


@pytest.mark.parametrize(
    "plugins",
    [
        {"allow": ["stranger"]},
        {"allow": ["A_Stranger"], "deny": []},
        {"allow": []},
        {"enabled": True, "entries": {"stranger": {"enabled": True}}},
        {"deny": ["another"]},
    ],
)
def test_what_is_allowed_or_not_named_is_on(plugins: dict[str, object], stranger: Path) -> None:
    rules = load_switches({"plugins": plugins}, {})
    host = PluginHost(scan([str(stranger)]), env={}, rules=rules)
    assert {info.state for info in host.plugins()} == {"available"}


def test_builtins_are_off_only_by_name() -> None:
    """Neither an allow-list, nor safe mode, nor the name of commonplace itself concerns them."""
    everything = set(PluginHost(env={}).ids("ranker"))
    plugins = {"allow": ["another"], "enabled": False, "deny": ["commonplace", "mmr"]}
    rules = load_switches({"plugins": plugins}, {})
    host = PluginHost(env={"COMMONPLACE_SAFE": "1"}, rules=rules)
    assert {"mmr", *host.ids("ranker")} >= everything - set(strangers("ranker"))
    assert "mmr" not in host.ids("ranker")


def strangers(kind: str) -> list[str]:
    """The ids of installed plugins that are not of commonplace."""
    infos = PluginHost(env={}).plugins()
    return [i.id for i in infos if i.kind == kind and i.distribution != "commonplace"]


def test_the_nearest_document_counts(tmp_path: Path) -> None:
    file = tmp_path / "user.json5"
    file.write_text('{plugins: {deny: ["a"], entries: {b: {enabled: false}}}}')
    env = {"COMMONPLACE_CONFIG": str(file)}
    near = {"plugins": {"deny": ["c"], "entries": {"b": {"enabled": True}}}}
    assert [rule.names for rule in load_switches(None, env)] == [("a",), ("b",)]
    assert [rule.names for rule in load_switches(near, env)] == [("c",)]


def test_a_slip_in_a_switch_is_reported_with_what_was_meant(tmp_path: Path) -> None:
    with Memory.open(
        workspace=tmp_path, env={}, config={"plugins": {"deny": ["rankr.mmr"], "allow": ["zzz"]}}
    ) as memory:
        notices = memory.status().notices
    assert any("no plugin is named 'rankr.mmr'; did you mean 'ranker.mmr'?" in n for n in notices)
    assert any("no plugin is named 'zzz'" in n for n in notices)


def test_the_chain_goes_on_behind_a_backend_that_is_off(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("A note about herons.\n")
    config = {
        "memory": {"backend": "inmemory"},
        "plugins": {"deny": ["inmemory"]},
    }
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=tmp_path, env=env, config=config) as memory:
        result = memory.search("herons")
        status = memory.status()
    assert [hit.path for hit in result.hits] == ["MEMORY.md"]
    assert result.fallback is not None
    assert "switched off by plugins.deny" in result.fallback.reason
    assert status.fallback is not None
    assert "switched off by plugins.deny" in status.fallback.reason


def test_switches_that_a_shared_host_cannot_apply_are_said_in_the_status(tmp_path: Path) -> None:
    host = PluginHost(env={})
    first, then = {"plugins": {"deny": ["mmr"]}}, {"plugins": {"allow": ["mine"]}}
    with (
        Memory.open(workspace=tmp_path, env={}, host=host, config=first) as one,
        Memory.open(workspace=tmp_path, env={}, host=host, config=first) as same,
        Memory.open(workspace=tmp_path, env={}, host=host, config=then) as other,
    ):
        assert (one.settings.warnings, same.settings.warnings) == ((), ())
        lines = [line for line in other.status().notices if "a host of its own" in line]
    assert [line.partition(":")[0] for line in lines] == [
        "plugins.allow in config argument has no effect",
        "plugins.deny in config argument holds here too",
    ]


def test_safe_mode_is_said_in_the_status(tmp_path: Path) -> None:
    with Memory.open(workspace=tmp_path, env={"COMMONPLACE_SAFE": "1"}) as memory:
        assert any(notice.startswith("safe mode") for notice in memory.status().notices)


def test_a_slot_that_is_denied_names_the_setting(tmp_path: Path) -> None:
    plugins = {"slots": {"memory": "memory-lancedb"}, "deny": ["memory-lancedb"]}
    with Memory.open(workspace=tmp_path, env={}, config={"plugins": plugins}) as memory:
        notices = memory.status().notices
    assert any(
        "'memory-lancedb' is switched off by plugins.deny in config argument" in notice
        for notice in notices
    )


@pytest.mark.parametrize(
    ("denied", "listed"),
    [
        (["a-stranger"], "a-stranger"),
        (["ranker.stranger", "other"], "ranker.stranger"),
        (["A_Stranger", "stranger"], "A_Stranger and stranger"),
    ],
)
def test_what_to_remove_from_a_list_is_what_stands_there(
    denied: list[str], listed: str, stranger: Path
) -> None:
    rules = load_switches({"plugins": {"deny": denied}}, {})
    host = PluginHost(scan([str(stranger)]), env={}, rules=rules)
    with pytest.raises(PluginUnavailableError) as caught:
        host.ranker("stranger")
    assert caught.value.hint == f"remove {listed} from that list"
    (info,) = (info for info in host.plugins() if info.name == "ranker.stranger")
    assert info.hint == caught.value.hint
