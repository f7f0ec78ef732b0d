from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.files.roots import glob_regex


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
