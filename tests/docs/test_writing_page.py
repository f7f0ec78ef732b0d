"""The page on writing: its commands and its Python run, and it has every key and every refusal."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest

from commonplace import WriteRefusedKind
from commonplace.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "writing.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, folder in {"STATE_DIR": "state", "CACHE_DIR": "cache", "WORKSPACE": "notes"}.items():
        monkeypatch.setenv(f"COMMONPLACE_{name}", str(tmp_path / folder))
    return tmp_path


def test_its_commands_run_and_the_journal_has_its_keys(home: Path) -> None:
    for line in block("sh").splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    text = (home / "notes" / "MEMORY.md").read_text(encoding="utf-8")
    assert "~~Mia drinks no coffee~~ (superseded " in text
    exec(compile(block("python"), "writing.md", "exec"), {})
    (journal,) = (home / "state" / "memory" / "journals").glob("*.jsonl")
    head, *records = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    assert head["journal"] == 1
    section = PAGE[PAGE.index("## The journal") :]
    documented = {
        key
        for cell in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for key in re.findall("`([a-z]+)`", cell)
    }
    assert [set(one) for one in records if "id" in one] == [documented] * 7
    assert [set(one) for one in records if "id" not in one] == [{"done"}] * 7


def test_every_kind_of_refusal_has_a_row() -> None:
    section = PAGE[PAGE.index("## What is refused") : PAGE.index("## On whose word")]
    kinds = [kind for kind in re.findall(r"\| `(\w+)` \|", section) if kind != "kind"]
    assert sorted(kinds) == sorted(get_args(WriteRefusedKind))
