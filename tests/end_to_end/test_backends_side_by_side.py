"""One workspace through every backend; and QMD killed in the middle of a series of searches."""

from __future__ import annotations

import json
import os
import signal
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Sandbox

pytestmark = pytest.mark.slow

QUERIES = {
    "which port does the staging server listen on?": "MEMORY.md",
    "walrus at the harbour": "memory/2026-10-03.md",
    "otter project": "memory/projects/otter.md",
}
SAME = ("path", "startLine", "endLine", "citation", "source")


class House:
    """A sandbox whose backend is chosen search by search."""

    def __init__(self, sandbox: Sandbox, program: str = "") -> None:
        self.sandbox = sandbox
        self.config = sandbox.root / "config.json5"
        self.program = sandbox.root / "qmd"
        self.real = program
        if program:
            self.repair()
            # Where its Node is: a link to the program leads to QMD alone.
            sandbox.env["PATH"] = os.pathsep.join([os.path.dirname(program), os.environ["PATH"]])

    def repair(self) -> None:
        beside = self.program.with_suffix(".new")
        beside.symlink_to(self.real)
        beside.replace(self.program)

    def break_(self) -> None:
        beside = self.program.with_suffix(".new")
        beside.write_text("#!/bin/sh\nkill -SEGV $$\n")
        beside.chmod(0o700)
        beside.replace(self.program)

    def search(self, query: str, *chain: str) -> Any:
        self.choose(*chain)
        out = self.sandbox.run("search", query, "--json", "--config", str(self.config))
        return json.loads(out.went_well())

    def choose(self, *chain: str) -> None:
        qmd = {"command": str(self.program), "limits": {"timeoutMs": 60_000}}
        memory = {"backend": list(chain), "qmd": qmd}
        self.config.write_text(json.dumps({"memory": memory}))

    def breakers(self) -> list[Path]:
        return sorted((self.sandbox.state / "memory" / "breakers").glob("*.qmd.*"))

    def wait_a_minute(self) -> None:
        """What the breakers remember is a minute older than it was."""
        for path in self.breakers():
            head, mark, numbers, *rest = path.read_text().split("\n")
            since, retry_at, at, *counts = numbers.split(" ")
            earlier = [repr(float(time) - 60) for time in (since, retry_at, at)]
            path.write_text("\n".join([head, mark, " ".join([*earlier, *counts]), *rest]))

    def servers(self) -> set[int]:
        found = set()
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    surroundings = (folder / "environ").read_bytes()
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if b"mcp" in words and str(self.sandbox.state).encode() in surroundings:
                    found.add(int(folder.name))
        return found


@pytest.fixture
def program() -> str:
    """QMD's program, as ``.ci/qmd`` prints it."""
    found = os.environ.get("COMMONPLACE_QMD_COMMAND", "")
    if not found and not os.environ.get("COMMONPLACE_REQUIRE_QMD"):
        pytest.skip("COMMONPLACE_QMD_COMMAND is not set: .ci/qmd installs QMD and prints it")
    assert found
    return found


def first(answer: Any) -> dict[str, Any]:
    return {key: answer["results"][0][key] for key in SAME}


@pytest.mark.skipif(find_spec("lancedb") is None, reason="needs commonplace[lancedb]")
@pytest.mark.parametrize("query", QUERIES)
def test_builtin_and_lancedb_agree(sandbox: Sandbox, query: str) -> None:
    house = House(sandbox)
    builtin, lancedb = house.search(query, "builtin"), house.search(query, "lancedb")
    assert (builtin["backend"], lancedb["backend"]) == ("builtin", "lancedb")
    assert first(builtin) == first(lancedb)
    assert first(builtin)["path"] == QUERIES[query]


@pytest.mark.qmd
@pytest.mark.parametrize("query", QUERIES)
def test_builtin_and_qmd_agree(sandbox: Sandbox, program: str, query: str) -> None:
    house = House(sandbox, program)
    builtin, qmd = house.search(query, "builtin"), house.search(query, "qmd")
    assert (builtin["backend"], qmd["backend"]) == ("builtin", "qmd")
    assert first(builtin) == first(qmd)


@pytest.mark.qmd
def test_qmd_breaks_between_searches_and_comes_back(sandbox: Sandbox, program: str) -> None:
    house = House(sandbox, program)
    query, path = "walrus at the harbour", "memory/2026-10-03.md"
    assert house.search(query, "qmd", "builtin")["backend"] == "qmd"
    house.break_()
    for _ in range(3):
        answer = house.search(query, "qmd", "builtin")
        assert (answer["backend"], first(answer)["path"]) == ("builtin", path)
        assert answer["fallback"]["part"] == "qmd"
        assert answer["fallback"]["reason"]
    house.repair()
    assert house.search(query, "qmd", "builtin")["backend"] == "builtin", "within the cool-down"
    house.wait_a_minute()
    answer = house.search(query, "qmd", "builtin")
    assert (answer["backend"], answer["fallback"]) == ("qmd", None)
    assert house.breakers() == []


@pytest.mark.qmd
def test_qmd_killed_again_and_again_fails_no_search(
    sandbox: Sandbox, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(sandbox, program)
    monkeypatch.setenv("PATH", sandbox.env["PATH"])
    house.choose("qmd", "builtin")
    done = threading.Event()
    killed: set[int] = set()

    def kill() -> None:
        while not done.wait(0.2):
            for pid in house.servers():
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)

    with Memory.open(workspace=sandbox.workspace, config=house.config, env=sandbox.env) as memory:
        memory.sync()
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            asked = 0
            while asked < 10 or (not killed and asked < 500):
                result = memory.search("walrus at the harbour")
                assert [hit.path for hit in result.hits][:1] == ["memory/2026-10-03.md"]
                assert (result.backend == "qmd") == (result.fallback is None)
                asked += 1
        finally:
            done.set()
            killer.join()
    assert killed
    assert house.servers() == set()
