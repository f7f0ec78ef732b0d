"""The tools' schemas, and what they let through."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CallerError
from commonplace.tools.definitions import checked, memory_get_tool, memory_search_tool

SEARCH = memory_search_tool(["memory", "sessions"])
GET = memory_get_tool()

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


def test_each_form_carries_the_same_schema() -> None:
    for tool in (SEARCH, GET):
        chat, new = tool.function()["function"], tool.function(nested=False)
        schemas = (
            chat["parameters"],
            new["parameters"],
            tool.anthropic()["input_schema"],
            tool.mcp()["inputSchema"],
        )
        assert all(schema == tool.parameters for schema in schemas)
        names = {chat["name"], new["name"], tool.anthropic()["name"], tool.mcp()["name"]}
        assert names == {tool.name}


def test_an_mcp_tool_says_that_it_only_reads_and_has_no_structured_output() -> None:
    tool = SEARCH.mcp()
    assert tool["annotations"]["readOnlyHint"] is True
    assert tool["annotations"]["destructiveHint"] is False
    assert tool["_meta"] == {"anthropic/alwaysLoad": True}
    assert "outputSchema" not in tool


def test_a_corpus_is_chosen_only_where_there_are_several() -> None:
    assert SEARCH.parameters["properties"]["corpus"]["enum"] == ["memory", "sessions", "all"]
    assert "corpus" not in memory_search_tool(["memory"]).parameters["properties"]


def test_an_agent_is_named_only_where_there_are_several() -> None:
    agents = memory_get_tool(["main", "work"]).parameters["properties"]["agent"]
    assert agents["enum"] == ["main", "work"]
    assert "agent" not in memory_get_tool(["main"]).parameters["properties"]


def test_null_is_as_good_as_nothing_and_a_whole_float_as_a_number() -> None:
    given = {"query": "key", "maxResults": 3.0, "minScore": None}
    assert checked(SEARCH, given) == {"query": "key", "maxResults": 3}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "needs the argument query"),
        ({"query": ""}, "query is empty"),
        ({"query": "   "}, "query is empty"),
        ({"query": 7}, "query is not a text: 7"),
        ({"query": "x" * 2001}, "2001 characters"),
        ({"query": "x", "maxResults": 0}, "maxResults is 0"),
        ({"query": "x", "maxResults": True}, "maxResults is not a whole number: True"),
        ({"query": "x", "maxResults": 2.5}, "maxResults is not a whole number: 2.5"),
        ({"query": "x", "maxResults": 10**6}, "maxResults is 1000000"),
        ({"query": "x", "minScore": math.nan}, "minScore is nan"),
        ({"query": "x", "minScore": 2}, "minScore is 2"),
        ({"query": "x", "corpus": "wiki"}, "corpus is 'wiki'"),
        ({"query": "x", "max_results": 3}, "no argument 'max_results'"),
        (["x"], "no JSON object"),
        (None, "no JSON object"),
    ],
)
def test_a_wrong_argument_is_named(arguments: object, words: str) -> None:
    with pytest.raises(CallerError) as raised:
        checked(SEARCH, arguments)
    assert words in str(raised.value)


def test_a_mistyped_name_is_suggested() -> None:
    with pytest.raises(CallerError) as raised:
        checked(SEARCH, {"query": "x", "max_results": 3})
    assert raised.value.hint == "did you mean maxResults?"


@given(JSON)
def test_anything_is_checked_or_refused(arguments: object) -> None:
    for tool in (SEARCH, GET):
        try:
            taken = checked(tool, arguments)
        except CallerError:
            continue
        assert set(taken) <= set(tool.parameters["properties"])
