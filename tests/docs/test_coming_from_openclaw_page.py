"""The page on what differs from OpenClaw: every row names a test that there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coming-from-openclaw.md").read_text(encoding="utf-8")


def test_every_row_names_a_test_that_exists() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")][1:]
    named = [re.search(r"\| `([\w/.]+\.py)(?:::(\w+))?` \|$", row) for row in rows]
    areas = [row for row, found in zip(rows, named, strict=True) if found is None]
    assert len(rows) > 60
    assert all(re.fullmatch(r"\| \*\*[^|]+\*\*(?: \|){4}", row) for row in areas), areas
    for found in filter(None, named):
        text = (ROOT / found[1]).read_text(encoding="utf-8")
        assert f"def {found[2] or 'test_'}" in text, found[0]


def test_the_table_stands_once_and_other_pages_link_to_it() -> None:
    for page in ("README.md", "docs/configuration.md", "docs/qmd.md", "docs/long-term.md"):
        assert "coming-from-openclaw.md" in (ROOT / page).read_text(encoding="utf-8"), page
