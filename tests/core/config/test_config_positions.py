"""Positions in JSON5 texts: the scanner and the parser of values see the same keys."""

from __future__ import annotations

import json
import re
from typing import Any

import pyjson5
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from commonplace.config.json5 import MalformedError, Position, is_blank, locate

NAMES = st.one_of(
    st.sampled_from(["a", "agents", "$include", "_x", "true", "null", "b1"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9999, 9999),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=3),
    max_leaves=12,
)
BETWEEN = st.lists(
    st.sampled_from([" ", "\n", "\t", "\r\n", "// x: {\n", "/* [1,\n'2' */", "\ufeff", "\u2028"]),
    max_size=2,
).map("".join)


def is_pairs(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, tuple) for v in value)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A JSON5 text with comments, trailing commas, and keys with and without quotes."""

    def text(string: str) -> str:
        quoted = json.dumps(string, ensure_ascii=draw(st.booleans()))
        if draw(st.booleans()) and "'" not in string:
            return "'" + quoted[1:-1].replace('\\"', '"') + "'"
        return quoted

    def key(name: str) -> str:
        plain = name.replace("$", "_").isidentifier() and name.isascii()
        return name if plain and draw(st.booleans()) else text(name)

    def written(value: Any) -> str:
        before, after = draw(BETWEEN), draw(BETWEEN)
        if is_pairs(value):
            parts = [
                f"{draw(BETWEEN)}{key(name)}{draw(BETWEEN)}:{written(item)}" for name, item in value
            ]
            body = "{" + ",".join(parts) + draw(st.sampled_from(["", ","])) + draw(BETWEEN) + "}"
        elif isinstance(value, list):
            comma = draw(st.sampled_from(["", ","])) if value else ""
            body = "[" + ",".join(map(written, value)) + comma + draw(BETWEEN) + "]"
        elif isinstance(value, str):
            body = text(value)
        elif isinstance(value, int) and not isinstance(value, bool) and draw(st.booleans()):
            body = ("-" if value < 0 else "+") + hex(abs(value))
        else:
            body = json.dumps(value)
        return before + body + after

    return written(draw(VALUES))


def keys_of(value: object) -> Any:
    if isinstance(value, dict):
        return {key: keys_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return {index: keys_of(item) for index, item in enumerate(value)}
    return {}


def keys_found(position: Position) -> Any:
    return {key: keys_found(inner) for key, inner in position.below.items()}


@settings(max_examples=100, deadline=None)
@given(documents())
def test_it_finds_the_keys_that_the_parser_finds(text: str) -> None:
    assert keys_found(locate(text)) == keys_of(pyjson5.decode(text))


@settings(max_examples=100, deadline=None)
@given(documents(), st.data())
def test_it_takes_and_refuses_what_the_parser_does(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from(["", ",", "}", "]", ":", '"', "x", "/*"]))
    broken += text[at + data.draw(st.integers(0, 2)) :]
    # Half of a character is well placed, and only no value.
    assume("\\ud" not in broken.lower())
    # The parser takes an octal escape that JSON5 does not have.
    assume(not re.search(r"\\0\d", broken))
    try:
        pyjson5.decode(broken)
        taken = True
    except pyjson5.Json5Exception:
        taken = False
    if taken:
        locate(broken)
    else:
        with pytest.raises(MalformedError):
            locate(broken)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    try:
        locate(text)
        line, column = 1, 1
    except MalformedError as malformed:
        line, column = malformed.line, malformed.column
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert 1 <= line <= len(lines)
    assert column >= 1


def test_lines_are_those_of_the_keys() -> None:
    root = locate(
        "// first\n"
        "{\n"
        "  agents: {\n"
        "    /* here\n"
        "    and here */ list: [\n"
        "      { id:\n"
        "          'main' }, {}\n"
        "    ],\r\n"
        '  }, "memory"\n'
        "  : 1,\n"
        "}\n"
    )
    assert root.line_of(()) == 2
    assert root.line_of(("agents",)) == 3
    assert root.line_of(("agents", "list")) == 5
    assert root.line_of(("agents", "list", 0)) == 6
    assert root.line_of(("agents", "list", 0, "id")) == 6
    assert root.line_of(("agents", "list", 1)) == 7
    assert root.line_of(("agents", "list", 1, "id")) == 7, "the innermost there is"
    assert root.line_of(("memory",)) == 9
    assert root.line_of(("nothing",)) == 2


def test_a_key_that_stands_twice_is_known_by_its_last_place() -> None:
    root = locate("{a: {b: 1},\n a: {c: 1},\n a:\n 3}")
    assert root.below["a"].line == 3
    assert root.below["a"].doubled == (1, 2)
    assert root.below["a"].below == {}


@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 2, 9, "comma is missing"),
        ("{a: 1,\n b: }", 2, 5, "value is missing"),
        ("{a: 1,\n b}", 2, 3, "colon is missing"),
        ("{a: [1, 2}", 1, 10, "where ']' belongs"),
        ("{a: {b: 1}", 1, 11, "missing '}'"),
        ("{a: 'x\n'}", 1, 5, "closing quote"),
        ("{a: 1} 2", 1, 8, "remove it"),
        ("{a: 1,,}", 1, 7, "key is missing"),
        ("{a-b: 1}", 1, 2, "quotes"),
        ("{a: yes}", 1, 5, "quotes"),
        ("{a: 012}", 1, 5, "no number"),
        ("{ /* a: 1}", 1, 3, "not closed"),
        ("", 1, 1, "too early"),
    ],
)
def test_an_error_is_reported_with_its_position(
    text: str, line: int, column: int, hint: str
) -> None:
    with pytest.raises(MalformedError, match=hint) as caught:
        locate(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_it_needs_no_recursion() -> None:
    deep = 50_000
    assert locate("[" * deep + "]" * deep).below.keys() == {0}


@pytest.mark.parametrize(
    ("text", "blank"),
    [("", True), (" \n\t", True), ("// x\n/* y */", True), ("{}", False), ("/* x", False)],
)
def test_blank_texts(text: str, blank: bool) -> None:
    assert is_blank(text) is blank
