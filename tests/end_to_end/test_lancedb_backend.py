"""The command line with the index in a LanceDB table."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import how_to_install

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Sandbox

pytestmark = [
    pytest.mark.slow,  # every process imports LanceDB, which takes a second or more
    pytest.mark.skipif(
        find_spec("lancedb") is None,
        reason="lancedb is not installed: pip install 'commonplace[lancedb]'",
    ),
]


def test_a_workspace_is_indexed_searched_and_reported(sandbox: Sandbox) -> None:
    config = sandbox.root / "config.json5"
    config.write_text(json.dumps({"memory": {"backend": "lancedb"}}))
    sandbox.env["COMMONPLACE_CONFIG"] = str(config)

    first = sandbox.run("index", "--json")
    assert json.loads(first.went_well())["added"] == 3
    again = json.loads(sandbox.run("index", "--json").went_well())
    assert (again["added"], again["updated"], again["unchanged"]) == (0, 0, 3)

    found = json.loads(sandbox.run("search", "walrus harbour", "--json").went_well())
    assert found["results"][0]["path"] == "memory/2026-10-03.md"
    assert found["backend"] == "lancedb"

    sandbox.write("memory/new.md", "# Seal\n\nA seal slept on the quay.\n")
    assert json.loads(sandbox.run("index", "--json").went_well())["added"] == 1
    fresh = json.loads(sandbox.run("search", "seal quay", "--json").went_well())
    assert fresh["results"][0]["path"] == "memory/new.md"

    status = sandbox.run("status").went_well()
    assert "lancedb" in status
    assert ".lance" in status
    assert not list(sandbox.state.rglob("*.sqlite")), "nothing is kept in SQLite"
    assert list((sandbox.state / "memory").glob("*.lance"))


@pytest.mark.parametrize("command", [("search", "walrus"), ("index",), ("index", "--force")])
def test_a_truncated_table_heals_with_any_command_and_lance_writes_no_log(
    sandbox: Sandbox, command: tuple[str, ...]
) -> None:
    config = sandbox.root / "config.json5"
    config.write_text(json.dumps({"memory": {"backend": "lancedb"}}))
    sandbox.env["COMMONPLACE_CONFIG"] = str(config)
    sandbox.run("index").went_well()
    for name in ("_versions", "_indices"):
        for file in (sandbox.state / "memory").rglob(f"{name}/**/*.*"):
            os.truncate(file, 0 if name == "_versions" else file.stat().st_size // 3)
    ran = sandbox.run(*command)
    ran.went_well()
    assert all(line.startswith("note: ") for line in ran.err.splitlines()), ran.err
    assert "a damaged index is kept at" in sandbox.run("status").went_well()
    assert "2026-10-03.md" in sandbox.run("search", "walrus").went_well()


def test_without_the_library_the_error_names_what_to_install(sandbox: Sandbox) -> None:
    config = sandbox.root / "config.json5"
    config.write_text(json.dumps({"memory": {"backend": ["lancedb"]}}))
    sandbox.env["COMMONPLACE_CONFIG"] = str(config)
    # A finder that knows of no LanceDB, as where the extra was never installed.
    (sandbox.root / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "found = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'lancedb' else found(name, *a)\n"
    )
    sandbox.env["PYTHONPATH"] = str(sandbox.root)
    said = sandbox.run("search", "walrus").failed_well()
    assert "lancedb is not installed" in said
    assert how_to_install("commonplace[lancedb]") in said


def test_a_workspaces_own_file_names_no_place(sandbox: Sandbox) -> None:
    sandbox.write(
        "commonplace.json5", json.dumps({"memory": {"lancedb": {"uri": "s3://elsewhere/x"}}})
    )
    said = sandbox.run("config", "check")
    assert said.code != 0
    assert "memory.lancedb: a workspace's own file may hold only" in said.out
