"""The pages on the architecture name modules that are there, and every floor of core."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import commonplace
import commonplace_ranking
import commonplace_sqlite

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ON_SEARCH = (ROOT / "docs" / "decisions-search.md").read_text(encoding="utf-8")
# The packages as they are installed: this suite also runs against the wheel, without the checkout.
PARTS = (commonplace, commonplace_ranking, commonplace_sqlite)
PACKAGES = [Path(folder) for package in PARTS for folder in package.__path__]


def test_every_module_that_the_pages_name_is_there() -> None:
    named = set(re.findall(r"`([a-z_/]+\.py)`", PAGE + ON_SEARCH))
    assert len(named) > 15
    gone = {name for name in named if not any((f / name).is_file() for f in (*PACKAGES, ROOT))}
    assert gone == set()


def test_the_picture_has_every_room_of_core() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (floors,) = [c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    rooms = {room for floor in floors["layers"] for room in floor.split(" | ")}
    picture = PAGE[PAGE.index("## The picture") : PAGE.index("## The two roads")]
    aside = {"__main__", "_version", "lazy", "sample", "testing", "dirs", "assembly", "plugin"}
    missing = {room for room in rooms - aside if not re.search(rf"\b{room}\b", picture)}
    assert missing == set()
