from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.notes import NoteFacts, expanded, folded_tag, note_facts

NOTE = """\
---
title: "Door: codes"   # a comment
aliases: [keypad, 'the "pin"', front door]
tags:
  - home/keys
  - "#Work"
created: 2026-11-03T10:00
nested:
  title: not this
---
# Heading and #inline-tag, then (#paren) but a#not, #123, C#, `#code` and [x](#anchor)
[[Note#Heading|alias]] <https://example.org/#frag>
```
#include <x>
```
#end/deep/er. #日本語
"""


def test_what_a_note_says_of_itself() -> None:
    facts = note_facts(NOTE)
    assert facts.title == "Door: codes"
    assert facts.names == ("keypad", 'the "pin"', "front door")
    assert facts.day == date(2026, 11, 3)
    assert facts.tags == (
        *("home", "home/keys", "work", "inline-tag", "paren"),
        *("end", "end/deep", "end/deep/er", "日本語"),
    )


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("tags: a b", {"a", "b"}),
        ("tags: a, b c", {"a", "b-c"}),
        ("tags: [a, b]", {"a", "b"}),
        ("tags: [a,\n  b]", {"a", "b"}),
        ("tags: [ 'a', \"b\" ] # both", {"a", "b"}),
        ("tags:\n- a\n- b", {"a", "b"}),
        ("tag: '#a'", {"a"}),
        ("Tags: A", {"a"}),
        ("keywords: a", {"a"}),
        ("tags: []", set()),
        ("tags:", set()),
        ("tags: 2026", {"2026"}),
    ],
)
def test_ways_to_write_tags(front: str, tags: set[str]) -> None:
    assert set(note_facts(f"---\n{front}\n---\ntext").tags) == tags
    assert set(note_facts(f"---\r\n{front}\r\n---\r\ntext".replace("\n", "\r\n")).tags) == tags


@pytest.mark.parametrize(
    ("front", "day"),
    [
        ("date: 2026-01-31", date(2026, 1, 31)),
        ("date: '2026-01-31 10:00'", date(2026, 1, 31)),
        ("created: 2026-1-3", date(2026, 1, 3)),
        ("created: 2025-01-01\ndate: 2026-01-31", date(2026, 1, 31)),
        ("date: 31.01.2026", None),
        ("date: 2026-02-30", None),
        ("updated: 2026-01-31", None),
        ("title: 2026-01-31", None),
    ],
)
def test_ways_to_write_a_day(front: str, day: date | None) -> None:
    assert note_facts(f"---\n{front}\n---\n").day == day


def test_toml() -> None:
    facts = note_facts('+++\ntitle = "T"\ndate = 2026-11-03\ntags = ["x/y"]\n+++\nbody')
    assert (facts.title, facts.day, facts.tags) == ("T", date(2026, 11, 3), ("x", "x/y"))
    assert note_facts("+++\nnot toml\n+++\n").title == ""


@pytest.mark.parametrize(
    "line",
    [
        'taxonomies = ["a"]',
        'taxonomies = "a"',
        f"x = {'1' * 5_000}",
        f"x = {'[' * 3_000}{']' * 3_000}",
        f"title = 0x{'f' * 5_000}",
    ],
    ids=["a list", "a text", "a long number", "deep", "a long title"],
)
def test_toml_that_no_note_uses_is_left_alone(line: str) -> None:
    assert note_facts(f"+++\n{line}\n+++\na #tag") == NoteFacts(tags=("tag",))


@pytest.mark.parametrize("text", ["", "---", "---\n", "---\ntitle: x\n", "x\n---\ntitle: x\n---"])
def test_what_is_no_front_matter_says_nothing(text: str) -> None:
    assert note_facts(text).title == ""


def test_what_links_name_is_no_tag() -> None:
    links = "[top]: #start\n  [end]: #finish 'the end'\n[here](#place)"
    assert note_facts(f"{links} and #real [x] : #own\n[^1]: #note\n").tags == (
        "real",
        "own",
        "note",
    )


def test_tags_are_compared_folded_and_with_those_around_them() -> None:
    assert folded_tag(" #Work/Port/ ") == "work/port"
    assert expanded(["#Work/Port", "work", "", "#"]) == ("work", "work/port")


@given(st.text())
def test_no_text_is_an_error_and_no_tag_has_white_space(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n{text}", f"+++\n{text}\n+++\n"):
        for tag in note_facts(whole).tags:
            assert tag
            assert not any(map(str.isspace, tag))
