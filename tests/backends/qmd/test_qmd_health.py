"""What is said of a QMD home: without running QMD, and never by raising."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from commonplace.cli.parser import dispatch
from commonplace.model.plugins import Probe
from commonplace.resilience.deadline import NEVER
from commonplace_qmd.engine.values import QmdError
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Desk


def test_before_anything_is_indexed(desk: Desk) -> None:
    health = desk.make().health()
    assert health.available
    assert health.store is not None
    assert (health.store.documents, health.store.size) == (0, 0)
    assert health.information == ("QMD has not indexed anything yet",)
    assert desk.qmd.updates == 0
    assert not (desk.root / "state").exists()


def test_a_plain_status_runs_nothing(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.qmd.fails["status"] = [QmdError("must not be run", reason="crash")]
    health = manager.health()
    assert health.store is not None
    assert health.store.documents == 3
    assert health.store.location == desk.home().qmd.index_path
    assert health.store.documents_by_source == (("memory", 3),)
    assert health.notices == ()
    (notice,) = health.information
    assert notice == "QMD has 3 documents, updated 2027-01-15 08:00 UTC"


def test_a_deep_one_asks_qmd(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    health = manager.health(deep=True)
    assert health.information[0].startswith("QMD 2.8.3 has 3 documents and 0 vectors")
    desk.qmd.fails["status"] = [QmdError("ended with status 1", reason="crash", hint="fix it")]
    health = manager.health(deep=True)
    assert health.available
    assert health.store is not None
    assert health.store.problems == ("qmd: ended with status 1 (fix it)",)


def test_a_program_that_has_gone_is_reported(desk: Desk) -> None:
    manager = desk.make()
    desk.qmd.available = Probe(available=False, reason="qmd is not installed", hint="install it")
    health = manager.health()
    assert not health.available
    assert health.reason == "qmd is not installed (install it)"


def test_folders_that_qmd_never_indexes_are_reported(desk: Desk) -> None:
    desk.write("memory/build/plan.md", "x")
    desk.write("memory/node_modules/readme.txt", "x")
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    (notice,) = [notice for notice in manager.health().notices if "indexes no folder" in notice]
    assert notice.startswith("memory/build:")


@pytest.mark.parametrize(
    ("mode", "installed", "notice"),
    [
        ("search", set(), ""),
        ("vsearch", set(), "models for embed are"),
        ("vsearch", {"embed"}, "texts without vectors"),
        ("query", {"embed"}, "models for generate, rerank are"),
    ],
)
def test_what_a_mode_lacks_is_reported(
    desk: Desk, mode: str, installed: set[str], notice: str
) -> None:
    desk.qmd.installed = installed
    manager = desk.make(QmdSettings(search_mode=mode))  # type: ignore[arg-type]  # a literal
    manager.maintain(deadline=NEVER, embed=False)
    notices = manager.health().notices
    assert len(notices) == bool(notice)
    assert all(notice in line for line in notices)


class TestCommand:
    """``commonplace qmd env``, which runs nothing and makes nothing."""

    def run(self, desk: Desk, capsys: pytest.CaptureFixture[str], *words: str) -> str:
        config = desk.root / "config.json5"
        config.write_text(json.dumps({"memory": {"qmd": {"command": "'/opt/q m d/qmd' x"}}}))
        where = ["--workspace", str(desk.workspace), "--config", str(config)]
        assert dispatch(["qmd", "env", *words, *where]) == 0
        return capsys.readouterr().out

    @pytest.fixture(autouse=True)
    def state(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(desk.root / "it's state"))
        monkeypatch.setenv("COMMONPLACE_CACHE_DIR", str(desk.root / "cache"))

    def test_exports_are_for_a_shell(self, desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
        lines = self.run(desk, capsys).splitlines()
        exports = dict(
            shlex.split(line)[1].split("=", 1) for line in lines if line.startswith("export ")
        )
        assert exports["INDEX_PATH"].startswith(str(desk.root / "it's state" / "agents/main/qmd"))
        assert exports["QMD_CONFIG_DIR"].endswith("/xdg-config/qmd")
        assert "XDG_CONFIG_HOME" not in exports, "commonplace reads it as well"
        assert exports["INDEX_PATH"].startswith(exports["XDG_CACHE_HOME"])
        assert all(line.startswith(("export ", "#")) for line in lines)
        assert not (desk.root / "it's state").exists()

    def test_json_has_the_same_for_each_agent(
        self, desk: Desk, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shown = [
            json.loads(self.run(desk, capsys, "--json", *words))
            for words in ((), ("--agent", "work"))
        ]
        assert [each["agent"] for each in shown] == ["main", "work"]
        assert shown[0]["env"]["INDEX_PATH"] != shown[1]["env"]["INDEX_PATH"]
        assert shown[0]["prewarm"] == [
            "commonplace index",
            "'/opt/q m d/qmd' pull",
            "'/opt/q m d/qmd' embed",
            "'/opt/q m d/qmd' query 'is it warm?' --json",
        ]
