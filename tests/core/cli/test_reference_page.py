"""The reference page of the command line."""

from __future__ import annotations

from pathlib import Path

from commonplace.cli.dispatch import BUILTIN
from commonplace.cli.reference import reference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "cli.md"


def test_it_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "write it again: python -m commonplace.cli.reference > docs/cli.md"
    )


def test_it_has_every_command_with_its_options() -> None:
    page = reference()
    for name in BUILTIN:
        assert f"## commonplace {name}\n" in page
    assert "- `-n N`, `--max-results N`: how many results at most" in page
    assert "--help" not in page.split("Every command takes:")[1]
