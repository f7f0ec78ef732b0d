"""The reference page of the command line."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from commonplace.cli.parser import BUILTIN

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "cli.md"

reference = runpy.run_path(str(DOCS / "generate" / "cli_page.py"))["reference"]


def test_it_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "write it again: python docs/generate/cli_page.py > docs/cli.md"
    )


def test_it_has_every_command_with_its_options() -> None:
    page = reference()
    for name in (*BUILTIN, "eval"):
        assert f"## commonplace {name}\n" in page
    assert "- `-n N`, `--max-results N`: maximum number of results" in page
    assert "--help" not in page.split("Every command takes:")[1]


def test_it_describes_or_names_every_builtin_command() -> None:
    page = reference()
    project = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
    for name in re.findall(r'^"command\.(.+)" =', project, re.MULTILINE):
        assert f"## commonplace {name}\n" in page or re.search(rf"`{name}`[^\n]*\]\(", page), name


def test_every_command_takes_what_the_page_says() -> None:
    assert "- `--format plain|json`: " in reference().split("Every command takes:")[1]
