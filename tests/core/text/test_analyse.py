from __future__ import annotations

import pytest

from commonplace.errors import ConfigError
from commonplace.index.documents import title_of
from commonplace.text.analyse import make_analyser


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("memory/eslint/layout-01.md", "eslint layout-01"),
        ("memory/2026-01-31.md", ""),
        ("memory/2026-01-31-deploy-notes.md", "deploy-notes"),
        ("memory/2026-01/retro.md", "retro"),
        ("memory/2026-01-31st.md", "2026-01-31st"),
        ("MEMORY.md", ""),
        ("memory/docs/memory/search.md", "docs memory search"),
        ("extra/My Notes.md", "extra My Notes"),
        ("README", "README"),
        ("memory/.hidden", ".hidden"),
        ("/abs/notes.md", "abs notes"),
        ("", ""),
    ],
)
def test_titles(path: str, title: str) -> None:
    assert title_of(path) == title


def test_analysers_differ_by_their_ids() -> None:
    made = [make_analyser(name) for name in ("standard", "unicode61", "trigram")]
    assert len({analyser.id for analyser in made}) == 3
    assert len({analyser.terms for analyser in made}) == 3


def test_an_unknown_analyser_is_a_fault_of_the_configuration() -> None:
    with pytest.raises(ConfigError, match="porter"):
        make_analyser("porter")
