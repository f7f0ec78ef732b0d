from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.files.globs import matcher


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "a.md"),
        ("**/*.md", "a.md"),
        ("***/a.md", "a.md"),
        ("**/*.md", "deep/down/a.md"),
        ("**", "deep/a.md"),
        ("docs/**", "docs/deep/a.md"),
        ("docs/**/a.md", "docs/a.md"),
        ("docs/**/a.md", "docs/x/y/a.md"),
        ("docs", "docs/a.md"),
        ("docs/", "docs/deep/a.md"),
        ("./docs", "docs/a.md"),
        ("a.md", "a.md"),
        ("20??-*.md", "2026-x.md"),
        ("[a-c]*.md", "b.md"),
        ("[!a-c]*.md", "d.md"),
        ("[^a-c]*.md", "d.md"),
        ("[]]*.md", "]x.md"),
        ("{a,b}/*.{md,txt}", "b/x.md"),
        ("a**b.md", "axxb.md"),
        ("[a.md", "[a.md"),
        ("{a.md", "{a.md"),
        ("*.md", "two\nlines.md"),
        ("**", "two\nlines.md"),
        ("a+(b).md*", "a+(b).md"),
    ],
)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert matcher(pattern)(path) is True


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "deep/a.md"),
        ("*", "deep/a.md"),
        ("docs/*.md", "docs/deep/a.md"),
        ("docs", "docs.md"),
        ("docs", "other/docs/a.md"),
        ("?.md", "ab.md"),
        ("?.md", "/.md"),
        ("a?b.md", "a/b.md"),
        ("[!x].md", "/.md"),
        ("a[!x]b.md", "a/b.md"),
        ("[!a-c]*.md", "b.md"),
        ("*.md", "a.md.txt"),
        ("**/x.md", "ax.md"),
        ("a**b.md", "a/b.md"),
        ("a.md", "aXmd"),
        ("*.{md,txt}", "a.rst"),
        ("[z-a]*.md", "z.md"),
    ],
)
def test_a_pattern_does_not_match(pattern: str, path: str) -> None:
    assert not matcher(pattern)(path)


@given(st.text(alphabet="ab*?[]{},!^-/\\.\n+", max_size=12), st.text(max_size=12))
def test_no_pattern_is_an_error(pattern: str, path: str) -> None:
    assert matcher(pattern)(path) in (True, False)


@given(st.text(alphabet="abc/.+()|$^\\", min_size=1).filter(lambda text: text.strip("./")))
def test_without_wildcards_a_pattern_is_the_name_itself(text: str) -> None:
    name = text.removeprefix("./").strip("/")
    assert matcher(text)(name)
    assert matcher(text)(name + "/below.md")
