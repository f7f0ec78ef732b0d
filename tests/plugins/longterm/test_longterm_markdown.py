"""Export to Markdown and back is a fixed point, and what cannot be read is named with its line."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.errors import CallerError
from commonplace_longterm.entries import CATEGORIES, ORIGINS, Entry, cleaned
from commonplace_longterm.markdown import read, written

LAST_MS = 253_402_300_799_999  # the end of the year 9999
PIECES = st.sampled_from(
    ["- ", "  ", "## fact", "# x", "\n", "\n\n", "<!-- ltm id=1 -->", "\t", "\r\n", "\ufeff"]
)
TEXTS = (
    st.lists(PIECES | st.text(max_size=12), min_size=1, max_size=8)
    .map("".join)
    .filter(lambda text: any(not c.isspace() and c.isprintable() for c in text))
    .map(lambda text: cleaned(f"{text}."))
)
ENTRIES = st.builds(
    Entry,
    id=st.uuids().map(str),
    text=TEXTS,
    category=st.sampled_from(CATEGORIES),
    importance=st.floats(0, 1),
    created=st.integers(0, LAST_MS),
    origin=st.sampled_from(ORIGINS),
)


MANY = st.lists(ENTRIES, max_size=6, unique_by=lambda entry: entry.id)


def fixed_point(entries: list[Entry]) -> None:
    text = written(entries, "main")
    found = read(text, now=1)
    assert sorted(found) == sorted(entries)
    assert written(found, "main") == text
    assert read(text.replace("\n", "\r\n"), now=1) == found


@settings(max_examples=30)
@given(MANY)
@example([Entry(str(uuid.UUID(int=1)), "a\n  \n\n- b\n  <!-- ltm id=1 -->")])
@example(
    [Entry(str(uuid.UUID(int=1)), "year one", created=0), Entry(str(uuid.UUID(int=2)), "1" * 3)]
)
def test_what_is_written_is_read_again_without_loss(entries: list[Entry]) -> None:
    fixed_point(entries)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None)
@given(MANY)
def test_what_is_written_is_read_again_without_loss_a_thousand_times(
    entries: list[Entry],
) -> None:
    fixed_point(entries)


def test_a_file_says_what_it_holds() -> None:
    entry = Entry(
        str(uuid.UUID(int=7)), "I prefer tabs.\nAlways.", "preference", 0.9, 1_000, "agent"
    )
    assert written([entry], "main") == (
        "# Long-term memory of main\n"
        "\n"
        "## preference\n"
        "\n"
        "- I prefer tabs.\n"
        "  Always.\n"
        "  <!-- ltm id=00000000-0000-0000-0000-000000000007 importance=0.9"
        " created=1970-01-01T00:00:01.000Z origin=agent -->\n"
    )


def test_a_person_adds_and_moves_lines() -> None:
    text = (
        "# Mine\n<!-- a comment -->\n\n- Anywhere.\n\n## decision\n- We use Helix.\n  For all.\n\n"
        "  Really.\n\n## fact\n\n- The key is under the mat.\n"
    )
    first, second, third = read(text, now=5)
    assert (first.text, first.category, first.created) == ("Anywhere.", "other", 5)
    assert (second.text, second.category) == ("We use Helix.\nFor all.\n\nReally.", "decision")
    assert (third.origin, third.importance) == ("owner", 0.7)
    assert read(text, now=6)[0].id == first.id, "the same text has the same id"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("I am no item", "line 3 is neither an item"),
        ("## likes", "line 3 names no category: 'likes'"),
        ("-", "line 3 is neither"),
        ("-  ", "line 3 cannot be taken: the memory is empty"),
        ("- a\n  <!-- ltm id=x -->", "line 3 cannot be taken"),
        ("- a\n  <!-- ltm importance=2 -->", "line 3 cannot be taken: an importance of 2"),
        ("- a\n  <!-- ltm importance=nan -->", "importance of nan"),
        ("- a\n  <!-- ltm created=yesterday -->", "line 3 cannot be taken"),
        ("- a\n  <!-- ltm origin=god -->", "an origin is one of"),
        ("- a\n- A!", "line 4 has the memory of line 3 again"),
        ("- " + "x" * 10_001, "line 3 cannot be taken: the memory has 10001 characters"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(line: str, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        read(f"# Mine\n\n{line}\n", now=1)
