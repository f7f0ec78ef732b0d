"""Text for a terminal."""

from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.cli.streams import printable
from commonplace.cli.terminal import (
    Style,
    cells,
    fit,
    highlighted,
    pad,
    style_of,
    wrap,
)

PLAIN = Style(colour=False)
COLOUR = Style(colour=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_wide_characters_take_two_cells_and_marks_none() -> None:
    assert cells("abc") == 3
    assert cells("传感器") == 6
    assert cells("e\u0301") == 1
    assert pad("传", 4) == "传  "
    assert fit("传感器很贵", 7) == "传感器…"
    assert fit("short", 5) == "short"


def test_a_note_cannot_steer_the_terminal() -> None:
    evil = "a\x1b]0;title\x07b\x9bc\r\n\u202etxt"
    shown = printable(evil)
    assert len(shown) == len(evil)
    assert not set(shown) & set("\x1b\x07\x9b\r\u202e")
    assert "\n" in shown


@given(st.text())
@settings(max_examples=60)
def test_printable_keeps_offsets(text: str) -> None:
    assert len(printable(text)) == len(text)


def test_wrap_breaks_at_blanks_and_at_line_ends() -> None:
    text = "one two three\nfour"
    assert [text[start:end] for start, end in wrap(text, 8)] == ["one two", "three", "four"]


def test_wrap_keeps_empty_lines() -> None:
    text = "a\n\nb"
    assert [text[start:end] for start, end in wrap(text, 8)] == ["a", "", "b"]


@given(st.text(alphabet="ab 传器\n\u0301", max_size=60), st.integers(2, 12))
@settings(max_examples=120)
def test_wrap_loses_nothing_but_blanks_and_never_runs_over(text: str, width: int) -> None:
    lines = list(wrap(text, width))
    kept = "".join(text[start:end] for start, end in lines)
    assert [c for c in kept if c not in " \n"] == [c for c in text if c not in " \n"]
    assert all(cells(text[start:end]) <= width for start, end in lines)
    assert all(first[1] <= second[0] for first, second in pairwise(lines))


def test_matches_are_highlighted_also_where_they_run_over_a_line_end() -> None:
    text = "find me here"
    assert highlighted(text, 0, 12, [(5, 7)], COLOUR) == "find \x1b[1;33mme\x1b[0m here"
    assert highlighted(text, 0, 6, [(5, 7)], COLOUR) == "find \x1b[1;33mm\x1b[0m"
    assert highlighted(text, 6, 12, [(5, 7)], COLOUR) == "\x1b[1;33me\x1b[0m here"


@given(
    st.text(max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=5),
)
@settings(max_examples=60)
def test_highlighting_without_colour_changes_nothing(
    text: str, spans: list[tuple[int, int]]
) -> None:
    assert highlighted(text, 0, len(text), spans, PLAIN) == text


def test_colour_only_on_a_terminal_that_wants_it() -> None:
    assert style_of(Terminal(), {}).colour
    assert not style_of(Terminal(), {"NO_COLOR": "1"}).colour
    assert style_of(Terminal(), {"NO_COLOR": ""}).colour
    assert not style_of(Terminal(), {"TERM": "dumb"}).colour
    assert not style_of(io.StringIO(), {}).colour


def test_width_is_taken_from_the_environment_first() -> None:
    assert style_of(Terminal(), {"COLUMNS": "55"}).width == 55
    assert style_of(Terminal(), {"COLUMNS": "1"}).width == 30
    assert style_of(io.StringIO(), {}).width == 80
