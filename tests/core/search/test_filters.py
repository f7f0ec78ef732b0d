"""The filters of a query: what is said where they are all of it."""

from __future__ import annotations

import pytest

from commonplace.model.search import KeywordQuery, Where
from commonplace.text.query import nothing_to_search_for


@pytest.mark.parametrize(
    ("where", "command"),
    [
        (Where(tags=("bomtag",)), "commonplace list --tag bomtag"),
        (Where(tags=("two words",)), "commonplace list --tag 'two words'"),
        (
            Where(sources=frozenset({"memory"}), after="2026-01-01", before="2026-02-01"),
            "commonplace list --source memory --after 2026-01-01 --before 2026-02-01",
        ),
        (Where(tags=("a", "b")), ""),
        (Where(paths=("memory",)), ""),
        (Where(tags=("a",), not_tags=("b",)), ""),
        (Where(sources=frozenset({"memory", "sessions"})), ""),
        (Where(sources=frozenset(), tags=("a",)), ""),
    ],
)
def test_filters_alone_name_the_command_that_lists(where: Where, command: str) -> None:
    words = nothing_to_search_for("", KeywordQuery(()), where)
    assert words.startswith("the query has filters and no words: add a word to search for")
    assert words.endswith(f"list the notes: `{command}`" if command else "search for")
