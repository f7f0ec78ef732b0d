from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_qmd.engine.values import QmdError, Row, parse_uri, read_output, read_results

ITEM = {
    "docid": "#6fec68",
    "score": 0.75,
    "file": "qmd://mem/2026-01-12.md",
    "line": 3,
    "title": "2026-01-12",
    "context": "Daily notes",
    "snippet": "@@ -2,4 @@ (1 before, 0 after)\n\n- Configured router.\n- Talked to Ana.\n",
}
ROW = Row(collection="mem", path="2026-01-12.md", score=0.75, line=3)


def output(*items: dict[str, Any]) -> str:
    return json.dumps(list(items), indent=2) + "\n"


def test_a_row_is_read_whole() -> None:
    assert read_output(output(ITEM), "") == [ROW]


def test_order_is_the_ranking_and_is_kept() -> None:
    items = [ITEM | {"score": score} for score in (0, 0.0, 1)]
    assert [row.score for row in read_output(output(*items), "")] == [0, 0, 1]


@pytest.mark.parametrize(
    "noise",
    [
        "ggml_init: found 0 devices\n",
        "[node-llama-cpp] loading [1/3]\n",
        "[1/3] mem\n",
        "\x1b[?25l",
        "  [ 12 ]\n",
        "[truncated\n",
        "[]\n",
    ],
)
def test_a_list_is_found_among_what_libraries_print(noise: str) -> None:
    assert read_output(f"{noise}\n{output(ITEM)}Done [1]\n", "") == [ROW]


def test_nothing_found_is_an_empty_list() -> None:
    assert read_output("[]\n", "") == []


@pytest.mark.parametrize(
    "text", ["No results found.", "qmd: no results found", "warn: qmd: No results found for x"]
)
def test_the_older_words_for_nothing_found_are_understood(text: str) -> None:
    assert read_output(f"{text}\n", "") == []
    assert read_output("", f"Searching...\n{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "null",
        "{}",
        '{"results": []}',
        "Segmentation fault",
        "there were no results",
        output(ITEM)[:-3],
        output(ITEM)[:40],
        "[1, 2]",
        "[[]]",
        "[" * 100_000,
    ],
)
def test_all_else_is_an_error_and_never_nothing(text: str) -> None:
    with pytest.raises(QmdError, match="answered no list of results") as caught:
        read_output(text, "what it said")
    assert caught.value.reason == "bad_json"
    assert caught.value.output == "what it said"


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": None},
        {"file": ["qmd://mem/a.md"]},
        {"file": ""},
        {"file": "qmd://mem"},
        {"file": "qmd:///a.md"},
        {"file": "qmd://mem/"},
        {"file": "qmd://mem/a\0.md"},
        {"file": "qmd://mem/\ud83d.md"},
        {"score": None},
        {"score": "0.5"},
        {"score": True},
        {"score": float("nan")},
        {"score": float("inf")},
        {"score": 10**400},
    ],
)
def test_a_row_without_a_file_or_a_score_spoils_the_answer(wrong: dict[str, Any]) -> None:
    with pytest.raises(QmdError) as caught:
        read_output(output(ITEM, ITEM | wrong), "")
    assert caught.value.reason == "bad_json"


@pytest.mark.parametrize("wrong", [None, {}, "x", [1], [None], [[]]])
def test_results_of_a_server_must_be_a_list_of_rows(wrong: object) -> None:
    with pytest.raises(QmdError):
        read_results(wrong)


@pytest.mark.parametrize("line", [None, 0, -1, True, 1.5, "3"])
def test_a_line_that_is_none_is_not_made_up(line: object) -> None:
    (row,) = read_output(output(ITEM | {"line": line}), "")
    assert row.line is None


def test_what_is_missing_is_empty() -> None:
    (row,) = read_output(output({"file": "qmd://mem/a.md", "score": 1}), "")
    assert row == Row("mem", "a.md", 1.0, None)


@given(st.text())
def test_no_output_makes_it_stumble(text: str) -> None:
    try:
        rows = read_output(text, "")
    except QmdError:
        return
    assert rows == [] or '"file"' in text


@pytest.mark.parametrize(
    ("text", "collection", "path"),
    [
        ("qmd://mem/a b/Mixed Case.md", "mem", "a b/Mixed Case.md"),
        ("qmd://mem/100%25.md", "mem", "100%25.md"),
        ("mem/a b/100%25.md", "mem", "a b/100%25.md"),
        ("mem/a.md", "mem", "a.md"),
        ("qmd://mem/a.md?index=work", "mem", "a.md"),
        ("qmd://mem/what?index=3.md", "mem", "what?index=3.md"),
        ("qmd://mem/cafe\u0301.md", "mem", "cafe\u0301.md"),
    ],
)
def test_every_spelling_of_a_file_is_understood(text: str, collection: str, path: str) -> None:
    assert parse_uri(text) == (collection, path)
