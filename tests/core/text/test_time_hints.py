"""What a pattern needs is a part of all that it matches, and of little else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.dates import QUERY_ONLY, RELATIVE
from commonplace.text.time_hints import may_have

PATTERNS = (*RELATIVE, *QUERY_ONLY)


@given(example=st.data())
def test_all_that_a_pattern_matches_may_have_it(example: st.DataObject) -> None:
    pattern = example.draw(st.sampled_from(PATTERNS))
    text = example.draw(st.from_regex(re.compile(pattern), fullmatch=True))
    assert may_have(pattern, f"when was {text}".lower())


@pytest.mark.parametrize(
    ("pattern", "none"),
    [
        ("last-(?:week|month)", ["last day", "a week"]),
        ("(?:last|past)-weeks?", ["last wee", "a week"]),
        ("(?:in-)?(?:den-)?letzten-tagen?", ["in den tagen", "letzten tag"]),
        ("上[周週]", ["上月", "周"]),
        ("a(?:bc|d?)e|xyz", ["b", "xy"]),
        (r"(?<!no )week(?! end)", ["no end"]),
    ],
)
def test_what_has_not_all_of_it_has_it_not(pattern: str, none: list[str]) -> None:
    assert not any(may_have(pattern, text) for text in none)
