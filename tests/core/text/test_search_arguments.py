"""What a search is given is bounded at the door, and an error names the argument."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace import CallerError, Memory
from commonplace.model.search import Where
from commonplace.text.query import check_numbers, check_search, check_texts, parse_query

nan, inf = float("nan"), float("inf")


def search(**given: Any) -> None:
    fixed: dict[str, Any] = {"limit": None, "min_score": None, "sources": None, "timeout": None}
    check_search(**{**fixed, "query": "words", "session_key": "", **given})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"limit": 1},
        {"limit": 1000},
        {"min_score": 0},
        {"min_score": 1.0},
        {"timeout": 0.1},
        {"timeout": inf},
        {"timeout": 10**300},
        {"sources": ("memory",)},
        {"sources": frozenset({"memory", "sessions"})},
        {"sources": {"memory": 1}.keys()},
    ],
)
def test_what_a_search_may_be_asked(given: dict[str, Any]) -> None:
    search(**given)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        *(({"limit": value}, "max_results") for value in (0, -1, 1001, 10**30, 6.0, True, "6")),
        *(({"min_score": value}, "min_score") for value in (nan, inf, -0.1, 1.1, "0.5", True)),
        *(({"timeout": value}, "timeout") for value in (0, -1, nan, "1", True, 10**400)),
        *(
            ({"sources": value}, "sources")
            for value in ("memory", b"m", 3, [1], iter(["a"]), [], ())
        ),
        *(({"query": value}, "query") for value in (None, b"words", 3, ["words"])),
        ({"session_key": None}, "session_key"),
    ],
)
def test_an_error_names_the_argument_that_is_wrong(given: dict[str, Any], name: str) -> None:
    with pytest.raises(CallerError, match=f"^{name} must be "):
        search(**given)


def test_an_error_quotes_little_of_what_it_was_given() -> None:
    with pytest.raises(CallerError) as caught:
        check_texts(path=["x" * 10_000])
    assert len(str(caught.value)) < 100
    with pytest.raises(CallerError, match=r"max_results must be .*, not that int$"):
        search(limit=10**5000)
    with pytest.raises(CallerError, match="lines must be a whole number of at least 1, not -1"):
        check_numbers(1, start=3, lines=-1)


@pytest.mark.parametrize("given", [{"workspace": 3}, {"agent": 3}, {"config": 3}])
def test_opening_a_memory_names_it_too(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(CallerError, match=f"^{name} must be "):
        Memory.open(**given)


def test_of_a_long_query_the_first_part_counts_and_a_note_says_so() -> None:
    parsed = parse_query("word " * 200_000)
    assert len(parsed.text) == 10_000
    assert sum(map(len, parsed.words)) <= 10_000
    assert parsed.notes == ("the query has 1,000,000 characters; its first 10,000 count",)
    assert parse_query("x" * 10_000).notes == ()


def test_of_many_filters_the_first_hundred_count_and_a_note_says_so() -> None:
    filters = [f"path:memory/{number}" for number in range(99)]
    parsed = parse_query(" ".join(["walrus", *filters, "tag:a", "-tag:b", "-source:c", "seal"]))
    assert parsed.words == ("walrus", "seal")
    assert parsed.where == Where(paths=tuple(f"memory/{n}" for n in range(99)), tags=("a",))
    assert parsed.notes == ("the query has more than 100 filters; the others were left out",)
