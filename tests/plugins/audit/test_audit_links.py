"""What the audit offers for a wiki link whose target has a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_audit.auditing import Audit

NOTES = {
    "memory/projects/ingest.md": "# One\n",
    "memory/projects/omega.md": "# Two\n",
    "memory/people/ingest.md": "# Three\n",
    "memory/people/mia.md": "# Four\n",
}


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        ("[[memory/projects/ingets]]", "[[memory/projects/ingest]]"),
        ("[[projects/ingets.md|it]]", "[[memory/projects/ingest.md|it]]"),
        ("[[/people/Ingets#a]]", "[[memory/people/ingest#a]]"),
        ("[[memory/projects/mia]]", "[[memory/people/mia]]"),
        ("[[memory/projects/alpha]]", ""),  # near by its folders alone
        ("[[memory/other/ingets]]", ""),  # there are two
    ],
)
def test_a_wiki_link_with_a_folder_is_compared_with_the_names_of_files(
    audited: Callable[..., Audit], link: str, meant: str
) -> None:
    found = audited(NOTES | {"MEMORY.md": f"# A\n\nSee {link}.\n"}, "broken-link").findings
    assert len(found) == 1
    assert (f"+See {meant}.\n" in found[0].diff) == bool(meant)
    assert found[0].hint.startswith("perhaps" if meant else "correct")
