"""Changing one value in a JSON5 file leaves every other character where it is."""

from __future__ import annotations

import json
from typing import Any

import pyjson5
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from commonplace.config.json5 import is_blank, parse_json5
from commonplace.config.splice import (
    NotAnObjectError,
    with_item,
    with_value,
    without,
    without_item,
)

NAMES = ("a", "memory", "search", "query", "maxResults", "a b", "é", "$x")
VALUES = ('"x"', "'it''s'".replace("''", "\\'"), "1", "-.5", "true", "null", "[]", "[1, 2]", "0x1F")
COMMENTS = ("// note\n", "/* x */", "/* x\n y: 1, */", "// {\n", '/* " */')


@st.composite
def gaps(draw: st.DrawFn, *, lines: bool) -> str:
    """White space and comments between two tokens."""
    parts = draw(st.lists(st.sampled_from([" ", "\t", *COMMENTS]), max_size=2))
    end = draw(st.sampled_from(["\n", "\n\n", "\n  ", "\n\t"])) if lines else ""
    return "".join(parts) + end


@st.composite
def objects(draw: st.DrawFn, depth: int = 3) -> str:
    """The text of an object, in any layout."""
    names = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=draw(st.booleans())))
    lines, style = draw(st.booleans()), draw(st.sampled_from(["bare", "double", "single"]))
    text = "{"
    for place, name in enumerate(names):
        text += draw(gaps(lines=lines))
        if style == "double" or " " in name:
            text += json.dumps(name, ensure_ascii=draw(st.booleans()))
        else:
            text += f"'{name}'" if style == "single" else name
        text += draw(gaps(lines=False)) + ":" + draw(gaps(lines=False))
        nested = depth and draw(st.booleans())
        text += draw(objects(depth - 1)) if nested else draw(st.sampled_from(VALUES))
        if place < len(names) - 1 or draw(st.booleans()):
            text += draw(gaps(lines=False)) + ","
    return text + draw(gaps(lines=lines)) + "}"


@st.composite
def files(draw: st.DrawFn) -> str:
    """The text of a file: an object with anything around it, with one kind of line end."""
    text = draw(gaps(lines=draw(st.booleans()))) + draw(objects())
    text += draw(gaps(lines=draw(st.booleans())))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)


def all_paths(data: Any) -> list[list[str]]:
    """The keys that lead to anything in ``data``."""
    return [
        [key, *rest]
        for key, value in data.items()
        for rest in ([], *(all_paths(value) if isinstance(value, dict) else ()))
    ]


@st.composite
def files_with_paths(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A file, and keys that lead to something in it."""
    text = draw(files().filter(pyjson5.decode))
    return text, draw(st.sampled_from(all_paths(pyjson5.decode(text))))


def at(data: Any, keys: list[str]) -> Any:
    """What ``keys`` lead to; ``...`` if that is nothing."""
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return ...
        data = data[key]
    return data


def changed(data: Any, keys: list[str], value: object) -> Any:
    data = dict(data)
    data[keys[0]] = changed(data.get(keys[0], {}), keys[1:], value) if keys[1:] else value
    return data


@given(text=files(), keys=paths)
@example(text="{}", keys=["a", "search"])
@example(text="{\n}\n", keys=["a", "search"])
@example(text="{ }", keys=["a"])
@example(text="{ memory: {} }", keys=["memory", "a"])
@example(text="{\n  memory: {\n  },\n}", keys=["memory", "a", "query"])
@example(text="{\n  // nothing yet\n}\n", keys=["a", "search"])
@example(text="{\n  memory: 1, // why\n}", keys=["a"])
@example(text="{\n  memory: 1 /* x\n */ }", keys=["a"])
def test_what_is_set_and_unset_leaves_the_same_text(text: str, keys: list[str]) -> None:
    data = pyjson5.decode(text)
    assume(at(data, keys) is ...)
    above = [at(data, keys[:depth]) for depth in range(len(keys))]
    if not all(isinstance(value, dict) or value is ... for value in above):
        with pytest.raises(NotAnObjectError):
            with_value(text, keys, '"new"')
        return
    added = with_value(text, keys, '"new"')
    assert pyjson5.decode(added) == changed(data, keys, "new")
    assert without(added, keys) == text


@given(case=files_with_paths())
def test_a_value_that_is_there_is_changed_in_its_place(case: tuple[str, list[str]]) -> None:
    text, keys = case
    data = pyjson5.decode(text)
    new = with_value(text, keys, '"new"')
    assert pyjson5.decode(new) == changed(data, keys, "new")
    place = new.rindex('"new"')
    assert text.startswith(new[:place])
    assert text.endswith(new[place + 5 :])


def removed(data: Any, keys: list[str]) -> Any:
    return {
        key: removed(value, keys[1:]) if key == keys[0] and keys[1:] else value
        for key, value in data.items()
        if key != keys[0] or keys[1:]
    }


@given(case=files_with_paths())
@example(case=("{\n  a: 1, // c\n  memory: 2 }", ["memory"]))
@example(case=("{ a: 1, memory: 2, a: 3 }", ["a"]))
@example(case=('{\na: "x",\nmemory: 2,\na: { b: 1 }\n}', ["a", "b"]))
def test_a_value_that_is_unset_is_gone_and_nothing_else(case: tuple[str, list[str]]) -> None:
    text, keys = case
    data = pyjson5.decode(text)
    new = without(text, keys)
    found = parse_json5(new)
    assert at(found, keys) is ...
    # Objects that hold nothing else, not even a comment, go with it.
    wanted = removed(data, keys)
    for depth in range(len(keys) - 1, 0, -1):
        if at(found, keys[:depth]) is ... and at(wanted, keys[:depth]) == {}:
            wanted = removed(wanted, keys[:depth])
    assert found == wanted


@pytest.mark.parametrize("text", ["", "\n", "// mine\n", "// mine", "/* x */\r\n"])
def test_a_file_of_comments_gets_an_object_below_them(text: str) -> None:
    assert is_blank(text)
    new = with_value(text, ["memory", "backend"], '"x"')
    assert new.startswith(text)
    assert parse_json5(new) == {"memory": {"backend": "x"}}
    assert parse_json5(without(new, ["memory", "backend"])) == {}


CASES = [
    (
        '// my notes\n{\n  memory: {\n    backend: "builtin", // the default\n  },\n}\n',
        ["memory", "citations"],
        (
            '// my notes\n{\n  memory: {\n    backend: "builtin", // the default\n'
            '    citations: "x",\n  },\n}\n'
        ),
    ),
    (
        '{\n    "agents": {\n        "defaults": {}\n    }\n}\n',
        ["memory", "citations"],
        (
            '{\n    "agents": {\n        "defaults": {}\n    },\n'
            '    "memory": {\n        "citations": "x"\n    }\n}\n'
        ),
    ),
    (
        '{\n  "agents": {\n    "defaults": {}\n  }\n}\n',
        ["agents", "defaults", "workspace"],
        '{\n  "agents": {\n    "defaults": {"workspace": "x"}\n  }\n}\n',
    ),
    (
        "{ memory: { backend: 1 } }",
        ["memory", "fallback", "standby"],
        '{ memory: { backend: 1, fallback: { standby: "x" } } }',
    ),
    (
        "{\n\tmemory: {\n\t\tbackend: 1 // why\n\t}\n}",
        ["memory", "citations"],
        '{\n\tmemory: {\n\t\tbackend: 1, // why\n\t\tcitations: "x"\n\t}\n}',
    ),
    (
        "{\r\n  // nothing\r\n}\r\n",
        ["memory", "backend"],
        '{\r\n  // nothing\r\n  memory: {\r\n    backend: "x",\r\n  },\r\n}\r\n',
    ),
    ("{}", ["memory", "backend"], '{\n  memory: {\n    backend: "x"\n  }\n}'),
    (
        '{ agents: { list: [ { id: "a" }, { id: "b" } ] } }',
        ["agents", "list", 1, "workspace"],
        '{ agents: { list: [ { id: "a" }, { id: "b", workspace: "x" } ] } }',
    ),
]


@pytest.mark.parametrize(("text", "keys", "wanted"), CASES)
def test_what_is_added_has_the_style_of_the_file(
    text: str, keys: list[str | int], wanted: str
) -> None:
    assert with_value(text, keys, '"x"') == wanted
    assert without(wanted, keys) == text


def test_a_strict_file_stays_plain_json() -> None:
    for text in ("", "{}", "{\n}", '{"a": 1}', '{\n  "a": 1\n}\n'):
        new = with_value(text, ["memory", "backend"], '"x"', strict=True)
        assert json.loads(new)["memory"] == {"backend": "x"}


def test_an_item_that_a_list_does_not_have_is_not_added() -> None:
    with pytest.raises(NotAnObjectError):
        with_value("{ a: [1] }", ["a", 1], "2")
    with pytest.raises(NotAnObjectError):
        with_value("{ a: [1] }", ["a", "b"], "2")
    assert with_value("{ a: [1] }", ["a", 0], "2") == "{ a: [2] }"
    assert without("{ a: [{ b: 1 }] }", ["a", 0, "b"]) == "{ a: [{  }] }"


@given(text=files(), keys=paths)
@example(text="{ a: [ ] }", keys=["a"])
@example(text="{\n  a: [\n    1, // one\n  ],\n}", keys=["a"])
@example(text="{\n  a: [\n    // none\n  ],\n}", keys=["a"])
@example(text='{\n  "a": [\n    {"b": 1}\n  ]\n}', keys=["a"])
def test_an_item_that_is_added_and_removed_leaves_the_same_text(text: str, keys: list[str]) -> None:
    data = pyjson5.decode(text)
    above = [at(data, keys[:depth]) for depth in range(len(keys))]
    assume(all(isinstance(value, dict) or value is ... for value in above))
    if at(data, keys) is ...:
        data = changed(data, keys, [])
    elif not isinstance(at(data, keys), list):
        if not isinstance(at(data, keys), list | dict):
            with pytest.raises(NotAnObjectError):
                with_item(text, keys, '"new"')
        return
    before = at(data, keys)
    once = with_item(text, keys, '"new"')
    assert pyjson5.decode(once) == changed(data, keys, [*before, "new"])
    twice = with_item(once, keys, '"newer"')
    assert pyjson5.decode(twice) == changed(data, keys, [*before, "new", "newer"])
    assert without_item(twice, keys, len(before) + 1) == once
    assert without_item(once, keys, len(before)) == text
