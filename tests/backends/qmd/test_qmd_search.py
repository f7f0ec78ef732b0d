"""From a question to lines that QMD's keyword search can answer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import DeclinedError
from commonplace.model.search import Query
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_qmd.search import lines_of

ANALYSER = make_analyser()


def lines(text: str, *, relaxed: bool = False) -> list[str]:
    keyword = ANALYSER.query(parse_query(text))
    if relaxed:
        keyword = keyword._replace(must=())
    found = lines_of(Query(text, keyword))
    assert {line.kind for line in found} == {"lex"}
    return [line.text for line in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("staging", ["staging"]),
        ("staging port", ["staging port", "staging", "port"]),
        (
            "what's the port of the staging server?",
            [
                "port staging server",
                "port staging",
                "staging server",
                "port",
                "staging",
                "server",
            ],
        ),
        # With nothing else to go by, words that say little are words after all.
        ("to be", ['"to" "be"', '"to"', '"be"']),
        ("the walrus", ["the walrus", "the", "walrus"]),
        # QMD would make one word of what punctuation joins, or AND its parts wherever they are.
        ("192.168.10.2", ['"192 168 10 2"']),
        ("memory/foo_bar.md", ['"memory foo_bar md"']),
        ("--dry-run", ['"dry run"']),
        ("C", ['"C"']),
        ("red,green", ["red green", "red", "green"]),
        # QMD's index knows Han by single letters.
        ("备份", ["备份"]),
        ("路由器", ["路由 由器", "路由", "由器"]),
        ("API密钥", ["API 密钥", "API", "密钥"]),
        ("re\u0301sume\u0301", ["résumé"]),
    ],
)
def test_lines(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


def test_phrases_are_required_in_every_line() -> None:
    assert lines('"connection refused" router reboot') == [
        '"connection refused" router reboot',
        '"connection refused" router',
        '"connection refused" reboot',
    ]
    assert lines('"connection refused"') == ['"connection refused"']


def test_phrases_that_the_host_gave_up_are_words() -> None:
    assert lines('"connection refused"', relaxed=True) == [
        "connection refused",
        "connection",
        "refused",
    ]


def test_filters_and_exclusions_are_no_words() -> None:
    assert lines("walrus -harbour path:memory after:2026-01-01") == ["walrus"]


@pytest.mark.parametrize("text", ["ประชุม", "ປະຊຸມ", "អង្គការ", "မြန်မာ", "router ประชุม"])
def test_scripts_that_qmd_cannot_take_apart_are_declined(text: str) -> None:
    with pytest.raises(DeclinedError) as caught:
        lines(text)
    assert "builtin" in caught.value.hint


@pytest.mark.parametrize("text", ["???", "", '"..."', "🦭"])
def test_no_words_are_declined(text: str) -> None:
    with pytest.raises(DeclinedError):
        lines(text)


def test_the_server_can_take_all_lines_of_a_long_question_but_for_han() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    assert len(lines(words)) == 10
    assert len(lines("".join(chr(0x4E00 + 7 * number) for number in range(60)))) == 48


@given(st.text(max_size=60))
def test_no_text_makes_a_line_that_means_more_than_words(text: str) -> None:
    try:
        found = lines(text)
    except DeclinedError:
        return
    for line in found:
        assert line
        assert line.count('"') % 2 == 0
        assert not re.search(r"[\r\n\x00]", line)
        assert not re.search(r"(^|\s)-", line), "QMD would exclude it"
