"""Search results for scripts, pipes and people."""

from __future__ import annotations

import json

import pytest

from commonplace.cli.commands.search import explained, notes_on, plain_hits, pretty_hits
from commonplace.cli.jsonify import dumps, result_json
from commonplace.cli.terminal import Style
from commonplace.model.search import (
    ArmScore,
    Explanation,
    Fallback,
    Hit,
    SearchResult,
    Step,
)

HIT = Hit(
    path="memory/2026-10-07.md",
    start_line=5,
    end_line=9,
    score=0.87654,
    snippet="The error was\nERR_STALE here.",
    source="memory",
    heading=("Wednesday", "Incident"),
    highlights=((14, 23),),
    explain=Explanation(
        arms=(ArmScore(arm="keyword", kind="bm25", raw=12.3456, rank=1),),
        steps=(
            Step(ranker="single", before=0.0, after=0.87654),
            Step(ranker="mmr", before=0.87654, after=0.87654, note="no vectors"),
        ),
    ),
)
RESULT = SearchResult(hits=(HIT,), backend="builtin")


def test_json_has_the_names_of_the_original() -> None:
    facts = json.loads(dumps(result_json(RESULT, explain=False), "utf-8"))
    hit = facts["results"][0]
    for name, value in {
        "path": "memory/2026-10-07.md",
        "startLine": 5,
        "endLine": 9,
        "score": 0.87654,
        "snippet": HIT.snippet,
        "source": "memory",
        "citation": "memory/2026-10-07.md#L5-L9",
    }.items():
        assert hit[name] == value
    assert "explain" not in hit
    assert facts["backend"] == "builtin"


def test_json_explains_where_asked() -> None:
    facts = json.loads(dumps(result_json(RESULT, explain=True), "utf-8"))
    explain = facts["results"][0]["explain"]
    (arm,) = explain["arms"]
    shown = {"arm": "keyword", "kind": "bm25", "raw": 12.3456, "rank": 1}
    assert arm == {**shown, "evidence": None, "note": "", "coverage": None, "words": []}
    assert explain["steps"][-1] == {
        "ranker": "mmr",
        "before": 0.87654,
        "after": 0.87654,
        "note": "no vectors",
    }
    assert explain["parts"] == [{"name": "single", "amount": 0.87654}]
    assert explain["filters"] == []


def test_what_was_added_and_passed_is_summed_up() -> None:
    steps = (
        Step(
            ranker="weighted",
            before=0.0,
            after=0.78,
            parts=(("vector", 0.63), ("keyword", 0.15)),
        ),
        Step(ranker="recency", before=0.78, after=0.7),
    )
    explanation = Explanation(steps=steps, filters=("path:memory", "after:2026-10-01"))
    assert list(explained(explanation))[-2:] == [
        "score: 0.7000 = 0.6300 vector +0.1500 keyword -0.0800 recency",
        "passed: path:memory after:2026-10-01",
    ]


def test_json_can_be_written_to_any_stream_and_read_back() -> None:
    awkward = {"a": "传感器 \U0001f600"}
    for encoding in ("utf-8", "ascii", "latin-1", None):
        written = dumps(awkward, encoding).encode(encoding or "ascii", "backslashreplace")
        assert json.loads(written.decode(encoding or "ascii")) == awkward


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_has_no_half_of_a_character(encoding: str) -> None:
    written = dumps({"\udc80": ["gr\udcfcn \ud83d\ude00"]}, encoding)
    assert json.loads(written) == {"\ufffd": ["gr\ufffdn \U0001f600"]}
    assert "\\udc" not in written


def test_plain_is_score_path_lines_and_snippet() -> None:
    assert plain_hits(RESULT, explain=False) == (
        "0.877 memory/2026-10-07.md#L5-L9\n  The error was\n  ERR_STALE here.\n\n"
    )


def test_plain_explains_where_asked() -> None:
    lines = plain_hits(RESULT, explain=True).splitlines()
    assert lines[1:4] == [
        "  keyword: bm25 12.35, rank 1",
        "  single: 0.0000 -> 0.8765",
        "  mmr: 0.8765 -> 0.8765 (no vectors)",
    ]


def test_pretty_shows_place_heading_and_the_match() -> None:
    shown = pretty_hits(RESULT, Style(colour=True, width=60))
    assert "\x1b[36mmemory/2026-10-07.md\x1b[0m#L5-L9" in shown
    assert "Wednesday › Incident" in shown
    assert "\x1b[1;33mERR_STALE\x1b[0m here." in shown


def test_pretty_without_colour_has_no_escape_at_all() -> None:
    shown = pretty_hits(RESULT, Style(colour=False, width=60), explain=True)
    assert "\x1b" not in shown
    assert shown.startswith("1. memory/2026-10-07.md#L5-L9  0.88\n   Wednesday › Incident\n")


def test_pretty_says_whose_text_it_is_unless_it_is_the_agents_own() -> None:
    theirs = SearchResult(hits=(HIT.replace(trust="external"),), backend="builtin")
    assert "[external]" in pretty_hits(theirs, Style(colour=False))
    assert "[" not in pretty_hits(RESULT, Style(colour=False)).splitlines()[0]


def test_pretty_disarms_what_a_note_might_send_to_the_terminal() -> None:
    evil = HIT.replace(snippet="a\x1b[2Jb", path="x\x1b[1m.md", heading=("\x07",), highlights=())
    shown = pretty_hits(SearchResult(hits=(evil,), backend="b"), Style(colour=False))
    assert not set(shown) & {"\x1b", "\x07"}


def test_notes_speak_of_what_the_answer_lacks() -> None:
    result = SearchResult(
        hits=(),
        backend="builtin",
        fallback=Fallback(part="qmd", reason="not installed", since=0.0),
        notes=("the query has no words to search for",),
    )
    assert list(notes_on(result)) == [
        "no matches",
        "results come from builtin, not from qmd: not installed",
        "the query has no words to search for",
    ]
    assert list(notes_on(RESULT)) == []
    former = Fallback(part="openai", reason="0 of 9 chunks are with m2", since=0.0, by="openai")
    result = SearchResult(hits=(HIT,), backend="builtin", model="m1", fallback=former)
    (note,) = notes_on(result)
    assert note == "results come from openai with m1: 0 of 9 chunks are with m2"
