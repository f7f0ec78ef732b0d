"""The backend ``qmd`` over QMD itself, from the command line and from Python; no models."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.errors import DeclinedError, PathNotAllowedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.end_to_end.conftest import Sandbox

    Run = Callable[..., Any]

pytestmark = pytest.mark.qmd


@pytest.fixture(scope="module")
def command() -> str:
    """The program, as ``.ci/qmd`` prints it."""
    found = os.environ.get("COMMONPLACE_QMD_COMMAND", "")
    if not found and not os.environ.get("COMMONPLACE_REQUIRE_QMD"):
        pytest.skip("COMMONPLACE_QMD_COMMAND is not set: .ci/qmd installs QMD and prints it")
    assert found
    return found


class House:
    """A sandbox whose memory is searched by QMD alone."""

    def __init__(self, sandbox: Sandbox, command: str) -> None:
        self.sandbox = sandbox
        self.command = command
        self.configure()
        self._opened: list[Memory] = []

    def configure(self, *chain: str, **qmd: object) -> None:
        limits = {"timeoutMs": 60_000}  # the machine of a test may be slow
        section = {"command": self.command, "limits": limits, **qmd}
        memory = {"backend": list(chain or ("qmd",)), "qmd": section}
        self.config = self.sandbox.root / "config.json5"
        self.config.write_text(json.dumps({"memory": memory}))

    def run(self, *arguments: str, openclaw: str = "") -> str:
        where = ("--config", str(self.config))
        ran = self.sandbox.run(*arguments, *where, OPENCLAW_STATE_DIR=openclaw)
        return ran.went_well()

    def search(self, query: str, *more: str) -> Any:
        return json.loads(self.run("search", query, "--json", *more))

    def paths(self, query: str, *more: str) -> list[str]:
        return [hit["path"] for hit in self.search(query, *more)["results"]]

    def open(self, agent: str = "main") -> Memory:
        memory = Memory.open(
            workspace=self.sandbox.workspace,
            agent=agent,
            config=self.config,
            env={**self.sandbox.env, "PATH": os.environ["PATH"]},
        )
        self._opened.append(memory)
        return memory

    def close(self) -> None:
        for memory in self._opened:
            memory.close()


@pytest.fixture
def house(sandbox: Sandbox, command: str) -> Iterator[House]:
    house = House(sandbox, command)
    yield house
    house.close()


def test_a_search_from_nothing(house: House) -> None:
    found = house.search("which port does the staging server listen on?")
    assert (found["backend"], found["fallback"], found["stale"]) == ("qmd", None, 0)
    (hit,) = found["results"]
    assert (hit["path"], hit["startLine"], hit["endLine"]) == ("MEMORY.md", 1, 3)
    assert "8443" in hit["snippet"]
    assert hit["citation"] == "MEMORY.md#L1-L3"
    # By the second time there is nothing to index.
    assert house.paths("walrus at the harbour") == ["memory/2026-10-03.md"]


def test_the_operators_hold(house: House) -> None:
    house.run("index")
    assert house.paths('"a walrus at"') == ["memory/2026-10-03.md"]
    assert house.paths("walrus -harbour") == []
    assert house.paths("walrus after:2026-10-01 before:2026-10-31") == ["memory/2026-10-03.md"]
    assert house.paths("walrus after:2026-11-01") == []
    assert house.paths("otter path:memory/projects") == ["memory/projects/otter.md"]
    assert house.paths("walrus source:elsewhere") == []


def test_chinese_is_found_and_thai_is_left_to_who_can(house: House) -> None:
    house.sandbox.write("memory/网络.md", "# 网络\n\n路由器配置了三个 VLAN，备份每天凌晨运行。\n")
    house.sandbox.write("memory/thai.md", "# ทริป\n\nวันนี้มีประชุมที่กรุงเทพ\n")
    house.run("index")
    assert house.paths("备份什么时候运行？")[0] == "memory/网络.md"
    ran = house.sandbox.run("search", "ประชุมที่กรุงเทพ", "--config", str(house.config))
    assert "Thai" in ran.failed_well()
    house.configure("qmd", "builtin")
    found = house.search("ประชุมที่กรุงเทพ")
    assert found["results"][0]["path"] == "memory/thai.md"
    assert found["backend"] == "builtin"


HOSTILE = [
    "Mixed Case Name.md",
    "under_score.md",
    "v1.2.3-notes.md",
    "a&b (copy) [x].md",
    "100%25.md",
    "emoji-\N{ZEBRA FACE}.md",
    "-rf.md",
    'quote\'d "twice".md',
    "sub folder/deep.md",
    "日本語.md",
    "e\u0301.md",
]


def test_names_come_back_as_they_are_on_disk(house: House) -> None:
    for name in HOSTILE:
        house.sandbox.write(f"memory/names/{name}", f"The zebrafish of {name.encode().hex()}.\n")
    os.symlink("/etc/hosts", house.sandbox.workspace / "memory/names/link.md")
    house.configure(limits={"maxResults": 30, "maxInjectedChars": 100_000, "timeoutMs": 60_000})
    house.run("index")
    found = house.paths("zebrafish", "-n", "30")
    assert sorted(found) == sorted(f"memory/names/{name}" for name in HOSTILE)
    for path in found:
        assert "zebrafish" in house.run("get", path)


def test_a_collection_outside_is_searched_and_read(house: House) -> None:
    outside = house.sandbox.root / "outside"
    outside.mkdir()
    (outside / "fjord.md").write_text("# Fjord\n\nThe narwhal lives in the fjord.\n")
    (outside / "secret.txt").write_text("narwhal")
    house.configure(paths=[{"path": str(outside), "name": "Sea"}])
    assert house.paths("narwhal") == ["qmd/sea/fjord.md"]
    assert "narwhal" in house.run("get", "qmd/sea/fjord.md")
    (house.sandbox.workspace / "memory/shore.md").write_text("The walrus lies on the shore.\n")
    assert house.run("get", "qmd/memory-dir-main/shore:1") == "The walrus lies on the shore.\n"
    memory = house.open()
    for path in ("qmd/sea/../secret.txt", "qmd/sea/secret.txt", "qmd/other/fjord.md"):
        with pytest.raises(PathNotAllowedError):
            memory.get(path)


def test_conversations_are_exported_searched_and_read(house: House) -> None:
    originals = house.sandbox.root / "openclaw"
    folder = originals / "agents/main/sessions"
    folder.mkdir(parents=True)
    said = "The narwhal key is sk-abcdefghijklmnopqrstuvwxyz"
    record = {"type": "message", "message": {"role": "user", "content": said}}
    (folder / "talk.jsonl").write_text(json.dumps(record) + "\n")
    where = str(originals)
    house.configure(sessions={"enabled": True})
    house.run("index", openclaw=where)
    (hit,) = json.loads(house.run("search", "narwhal key", "--json", openclaw=where))["results"]
    assert (hit["path"], hit["source"], hit["trust"]) == (
        "qmd/sessions-main/talk.md",
        "sessions",
        "session",
    )
    assert "narwhal" in hit["snippet"]
    assert "ghijklmnop" not in hit["snippet"], "secrets are masked"
    assert "narwhal" in house.run("get", hit["path"], openclaw=where)
    assert (
        json.loads(house.run("search", "narwhal source:memory", "--json", openclaw=where))[
            "results"
        ]
        == []
    )


def test_what_is_deleted_is_gone_before_qmd_knows(house: House) -> None:
    house.run("index")
    (house.sandbox.workspace / "memory/2026-10-03.md").unlink()
    assert house.paths("walrus") == []


def test_an_unmounted_disk_comes_back_without_an_update(house: House) -> None:
    disk = house.sandbox.root / "disk"
    disk.mkdir()
    (disk / "a.md").write_text("The narwhal.\n")
    house.configure(paths=[{"path": str(disk), "name": "disk"}])
    house.run("index")
    away = disk.rename(house.sandbox.root / "away")
    ran = house.sandbox.run("index", "--config", str(house.config))
    assert "qmd/disk" in ran.err
    assert house.paths("narwhal") == []
    away.rename(disk)
    assert house.paths("narwhal") == ["qmd/disk/a.md"]


def test_a_folder_that_is_no_longer_configured_is_forgotten(house: House) -> None:
    extra = house.sandbox.root / "extra"
    extra.mkdir()
    for number in range(30):
        (extra / f"{number}.md").write_text("walrus walrus walrus\n")
    house.configure(paths=[{"path": str(extra), "name": "extra"}])
    house.run("index")
    assert "qmd/extra/0.md" in house.paths("walrus", "-n", "6") or house.paths("walrus")
    house.configure()
    house.run("index")
    assert house.paths("walrus") == ["memory/2026-10-03.md"]


def test_two_agents_share_nothing(house: House) -> None:
    other = house.sandbox.root / "other"
    (other / "memory").mkdir(parents=True)
    (other / "MEMORY.md").write_text("The other agent's narwhal.\n")
    one = house.open("one")
    two = Memory.open(workspace=other, agent="two", config=house.config, env=house.sandbox.env)
    try:
        assert [hit.path for hit in one.search("walrus").hits] == ["memory/2026-10-03.md"]
        assert [hit.path for hit in two.search("narwhal").hits] == ["MEMORY.md"]
        assert one.search("narwhal").hits == ()
        assert two.search("walrus").hits == ()
    finally:
        two.close()


def test_an_update_while_others_search(house: House) -> None:
    house.sandbox.write_many(60)
    memory = house.open()
    memory.sync()
    failures: list[BaseException] = []
    stop = threading.Event()

    def update() -> None:
        try:
            for number in range(3):
                house.sandbox.write(f"memory/new{number}.md", f"narwhal {number}\n")
                memory.sync()
        except BaseException as error:  # noqa: BLE001 - reported below, on the test's own thread
            failures.append(error)
        finally:
            stop.set()

    thread = threading.Thread(target=update)
    thread.start()
    asked = 0
    while not stop.is_set():
        assert memory.search("walrus met seal").hits
        asked += 1
    thread.join()
    assert failures == []
    assert asked
    assert len(memory.search("narwhal").hits) == 3


def test_a_killed_server_is_replaced(house: House) -> None:
    memory = house.open()
    pids: set[int] = set()
    for _ in range(40):  # the second search starts it, and no search waits for it
        assert memory.search("walrus").hits
        pids = servers_of(house)
        if pids:
            break
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for _ in range(3):
        assert [hit.path for hit in memory.search("walrus").hits] == ["memory/2026-10-03.md"]
    memory.close()
    assert servers_of(house) == set()


def servers_of(house: House) -> set[int]:
    """The processes that serve this house, which its folder tells from others'."""
    found = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"mcp" in words and str(house.sandbox.state).encode() in environment:
            found.add(int(folder.name))
    return found


def test_status_and_environment(house: House) -> None:
    house.run("index")
    status = json.loads(house.run("status", "--json", "--deep"))
    text = json.dumps(status)
    assert "2.8.3" in text
    assert "3 documents and 0 vectors" in text
    printed = json.loads(house.run("qmd", "env", "--json"))
    assert printed["command"] == house.command
    folder = os.path.dirname(house.command)
    listed = subprocess.run(
        [house.command, "collection", "list"],
        # Its Node stands beside it.
        env={**os.environ, **printed["env"], "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        cwd=house.sandbox.root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "memory-dir-main" in listed
    exports = house.run("qmd", "env")
    shown = subprocess.run(
        ["sh", "-c", f'{exports}\nprintf %s "$INDEX_PATH"'],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert shown == printed["env"]["INDEX_PATH"]
    assert Path(shown).exists()


def test_ways_that_need_models_say_so(house: House) -> None:
    for mode in ("vsearch", "query"):
        house.configure(searchMode=mode)
        house.run("index")
        with pytest.raises((DeclinedError, UnavailableError)):
            house.open().search("walrus")
        house.configure("qmd", "builtin", searchMode=mode)
        found = house.search("walrus")
        assert found["backend"] == "builtin"
        assert found["results"]
