from __future__ import annotations

import re
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.files.globs import glob_regex


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("memory/a.md", "memory/a.md"),
        ("memory", "memory/a.md"),
        ("memory", "memory/deep/er/a.md"),
        ("memory/", "memory/a.md"),
        ("memory/*.md", "memory/a.md"),
        ("memory/*", "memory/.md"),
        ("*/a.md", "memory/a.md"),
        ("memory/**", "memory/deep/er/a.md"),
        ("memory/**/a.md", "memory/a.md"),
        ("memory/**/a.md", "memory/deep/er/a.md"),
        ("**/a.md", "a.md"),
        ("**/a.md", "memory/deep/a.md"),
        ("**", "memory/deep/a.md"),
        ("memory/2026-01-3?.md", "memory/2026-01-31.md"),
        ("mem**.md", "memory/deep/a.md"),
        ("notes/[x]", "notes/[x]"),
        ("notes/[x]*", "notes/[x].md"),
        ("a\nb/*", "a\nb/c\nd.md"),
        ("**/**/a.md", "a.md"),
        ("***/a.md", "a.md"),
    ],
)
def test_it_matches(pattern: str, path: str) -> None:
    assert re.fullmatch(glob_regex(pattern), path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("memory", "memory.md"),
        ("memory", "memory2/a.md"),
        ("memory", "deep/memory"),
        ("memory/*", "memory/deep/a.md"),
        ("*.md", "memory/a.md"),
        ("memory/**", "memory"),
        ("memory/**/a.md", "memory/ba.md"),
        ("memory/**/a.md", "memorya.md"),
        ("a?b", "a/b"),
        ("a.md", "axmd"),
        ("[ab].md", "a.md"),
        ("MEMORY.md", "memory.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("a.md", "a.md\n"),
        ("*.md", "a.md\n"),
    ],
)
def test_it_does_not_match(pattern: str, path: str) -> None:
    assert not re.fullmatch(glob_regex(pattern), path)


@given(st.text())
def test_a_path_without_wildcards_matches_itself_and_what_is_under_it(path: str) -> None:
    path = path.replace("*", "").replace("?", "").rstrip("/")
    assert re.fullmatch(glob_regex(path), path)
    assert re.fullmatch(glob_regex(path), f"{path}/under")


@given(st.text(alphabet="*?/ab", max_size=8))
def test_every_pattern_is_a_regular_expression(pattern: str) -> None:
    re.compile(glob_regex(pattern))


@given(st.lists(st.sampled_from(["a", "b.md", "c d"]), min_size=1).map("/".join))
def test_two_stars_match_every_path(path: str) -> None:
    assert re.fullmatch(glob_regex("**"), path)
    assert re.fullmatch(glob_regex("**/*"), path)


def by_definition(pattern: str, path: str) -> bool:
    """Whether a pattern with wildcards matches, tried in every way."""

    @cache
    def matches(at: int, below: int) -> bool:
        rest = pattern[at:]
        if not rest:
            return below == len(path)
        if rest.startswith("**/") and (at == 0 or pattern[at - 1] == "/"):
            ends = [below, *(i + 1 for i in range(below, len(path)) if path[i] == "/")]
            return any(matches(at + 3, end) for end in ends)
        if rest.startswith("**"):
            return any(matches(at + 2, end) for end in range(below, len(path) + 1))
        if rest[0] == "*":
            reach = len(path[below:].partition("/")[0])
            return any(matches(at + 1, below + i) for i in range(reach + 1))
        same = path[below : below + 1] == rest[0] or (rest[0] == "?" and path[below : below + 1])
        return bool(same and (rest[0] != "?" or path[below] != "/")) and matches(at + 1, below + 1)

    return matches(0, 0)


PARTS = st.sampled_from(["*", "**", "**/", "?", "a", "b", "/", "a/", "*a", "/*"])
PATHS = st.text("ab/", min_size=1, max_size=9).filter(lambda path: "//" not in path + "/")


@pytest.mark.slow
@given(
    st.lists(PARTS, min_size=1, max_size=7).map("".join).filter(re.compile(r"[*?]").search), PATHS
)
@settings(max_examples=300)
def test_a_wildcard_that_is_tried_once_matches_what_it_always_did(pattern: str, path: str) -> None:
    assert bool(re.fullmatch(glob_regex(pattern), path)) == by_definition(
        re.sub(r"\*{3,}", "**", pattern), path
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 30 + "b",
        "**/" * 12 + "x",
        "**/*a" * 12 + "z",
        "{*a,a*}" * 6 + "z",
        "[!x]*" * 20 + "q",
    ],
)
@pytest.mark.parametrize("extended", [False, True])
def test_no_pattern_takes_long_where_it_matches_nothing(pattern: str, *, extended: bool) -> None:
    expression = re.compile(glob_regex(pattern, extended=extended))
    began = time.process_time()
    for path in ("a/" * 60 + "y", "a" * 250 + ".md", "aaaaaaaaa/" * 25 + "c.md"):
        assert not expression.fullmatch(path)
    assert time.process_time() - began < 1
