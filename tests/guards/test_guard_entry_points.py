"""Builtins come in by the same door as strangers: entry points."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.host.discovery import installed
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from pathlib import Path


LIBRARIES = {"commonplace_adapters"}
"""Packages that programs import, and no host finds."""


def declared(project: dict[str, Any]) -> dict[str, str]:
    """Module by name, of our own entry points."""
    entries: dict[str, str] = project["project"]["entry-points"]["commonplace"]
    return entries


def test_every_plugin_package_has_an_entry_point(
    project: dict[str, Any], plugins: dict[str, Path]
) -> None:
    named = {module.partition(".")[0] for module in declared(project).values()}
    assert set(plugins) - LIBRARIES == named


def test_every_entry_point_names_a_module_that_is_there(
    project: dict[str, Any], plugins: dict[str, Path]
) -> None:
    for name, module in declared(project).items():
        folder = plugins[module.partition(".")[0]].parent
        file = folder / (module.replace(".", "/") + ".py")
        assert file.is_file(), f"{name} names {module}, and {file} is not there"


def test_our_entry_points_are_well_formed_and_load(project: dict[str, Any], tmp_path: Path) -> None:
    """From the checkout's own table, so that an old installation does not decide."""
    info = tmp_path / "commonplace-0.dist-info"
    info.mkdir()
    lines = [f"{name} = {module}" for name, module in declared(project).items()]
    (info / "entry_points.txt").write_text("\n".join(["[commonplace]", *lines]))
    entries = installed(None, [str(tmp_path)])
    assert {entry.name for entry in entries} == set(declared(project))
    infos = PluginHost(entries, env={}).plugins(load=True)
    # A missing extra is reported, and is no failure of the entry point.
    wrong = [note for i in infos for note in i.notices if not note.startswith("cannot work here")]
    assert wrong == []
    assert [(i.name, i.error) for i in infos if i.state != "loaded"] == []
    assert all(info.summary for info in infos)


def test_what_is_installed_is_what_is_declared(project: dict[str, Any], root: Path) -> None:
    try:
        origin = json.loads(distribution("commonplace").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    if origin.get("dir_info", {}).get("editable") and origin["url"] != root.as_uri():
        pytest.skip("the installation is that of another checkout")
    ours = {e.name: e.module for e in installed() if e.distribution == "commonplace"}
    if not ours:
        pytest.skip("commonplace is not installed here")
    assert ours == declared(project), "the installation is older: pip install -e ."
