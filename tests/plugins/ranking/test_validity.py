"""What says of itself that it is superseded ranks below what holds, and is never hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext, make_analyser
from commonplace.text.query import parse_query
from commonplace.writing.entries import superseded
from commonplace_ranking.validity import Validity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = 1_793_491_200.0  # 2026-11-01T00:00:00Z
PORT = "staging port"


def chunk(text: str, *, line: int = 1, path: str = "a.md", heading: tuple[str, ...] = ()) -> Any:
    end = line + text.count("\n")
    return StoredChunk(f"{path}:{line}", "memory", path, line, end, text, heading)


def factors(query: str, *chunks: StoredChunk, weight: float = 0.3, **more: Any) -> list[float]:
    """What each chunk keeps of its score."""
    parsed = parse_query(query)
    keyword = make_analyser().query(parsed)._replace(**more)
    context = RankContext(Query(query, keyword, " ".join(parsed.words)), NOW, 10)
    hits = [Candidate(one, 0.5, Explanation()) for one in chunks]
    return [round(hit.score / 0.5, 6) for hit in Validity(weight).rank(hits, context)]


@pytest.mark.parametrize(
    "line",
    [
        "~~The staging port is 8080~~ (superseded 2026-11-01 by: 9090)",
        "- ~~The staging port is 8080.~~",
        "  3. ~~The staging port~~ ~~is 8080~~.",
        "- [x] ~~The staging port is 8080~~ (it moved)",
        "> * ~~The **staging** port is `8080`~~ <!-- id: 4 -->\r",
    ],
)
def test_a_line_that_is_struck_out_is_lowered(line: str) -> None:
    assert factors(PORT, chunk(f"# Ports\n\n{line}\n- The gateway listens on 80.")) == [0.7]


@pytest.mark.parametrize(
    "text",
    [
        "The staging port is ~~8080~~ 9090",
        "~~8080~~ 9090 is the staging port",
        "~~The staging port is 8080~~ The staging port is 9090",
        "We strike out a staging port that is superseded: `~~8080~~`",
        "```\n~~The staging port is 8080~~\n```",
        "~~~\n~~The staging port is 8080~~\n~~~",
        "- ~~The gateway listens on 80~~\n- The staging port is 9090",
        "- ~~The staging port is 8080~~ (superseded 2026-11-01 by: 9090)\n- 9090",
        "- ~~The staging port is 8080~~\n- The staging port is 9090",
    ],
)
def test_what_holds_or_shows_code_is_not_lowered(text: str) -> None:
    assert factors(PORT, chunk(f"# Staging port\n\n{text}")) == [1]


def test_the_successor_must_be_that_of_the_line_that_matches() -> None:
    gateway = "- ~~The gateway is Kong~~ (superseded 2026-10-01 by: Envoy)\n- Envoy"
    port = "- ~~The staging port\n- is 8080~~ (superseded 2026-11-01 by: 9090)"
    port = port.replace("port\n- is", "port~~\n- ~~is")
    assert factors(PORT, chunk(f"{gateway}\n{port}")) == [0.7]
    assert factors(PORT, chunk(f"{gateway}\n{port}\n- 9090")) == [1]


def test_of_what_meaning_found_all_lines_must_be_struck_out() -> None:
    struck = "# Ports\n\n- ~~8080~~\n- ~~8081~~"
    assert factors("harbour", chunk(struck), chunk(f"{struck}\n- 8082", path="b.md")) == [0.7, 1]


@pytest.mark.parametrize(
    "status",
    [
        "Status: superseded by ADR 7",
        "**Status:** Deprecated",
        "* Status: superseded by [ADR-7](7.md)",
        "> **Status**: obsolete since May",
        "Date: 2025-11-25. Status: outdated.",
        "Status: accepted, superseded by ADR 7",
        "Status: ~~accepted~~ outdated",
        "Status: veraltet",
        "Status: Überholt durch ADR 7",
        "Statut : remplacé par ADR 7",
        "Estado: obsoleto",
        "Stato: superato",
        "状态：已废弃",
        "狀態: 已被取代",
        "ステータス: 廃止",
        "상태: 폐기됨",
    ],
)
def test_a_document_that_says_so_in_its_first_lines_is_lowered(status: str) -> None:
    first = chunk(f"# Flags\n\n{status}\n\nWe use LaunchDarkly.", heading=("Flags",))
    below = chunk("## Why\n\nCheap.", line=9, heading=("Flags", "Why"))
    other = chunk("We use Unleash.", path="b.md")
    assert factors("which flags do we use", first, below, other) == [0.7, 0.7, 1]


@pytest.mark.parametrize(
    "text",
    [
        "Status: accepted, supersedes ADR 1 (LaunchDarkly).",
        "Status: not deprecated",
        "Status: accepted",
        "The old status: superseded by ADR 7",
        "ADR 1 status: superseded",
        "Superseding a line keeps it: its status is superseded then.",
        "```yaml\nstatus: deprecated\n```",
        "- Flags: asked the bank. Status: obsolete.",
        "Status: accepted, not superseded by anything",
        "Status: deprecated endpoints removed, v2 is live",
        "Status: no longer in beta",
        "Status: rejected",
        "- Name: v1\n- Status: deprecated\n- Name: v2\n- Status: active",
        "1\n2\n3\n4\n5\n6\n7\n8\nStatus: deprecated",
    ],
)
def test_what_discusses_or_lists_is_not_lowered(text: str) -> None:
    assert factors("flags", chunk(f"# Flags\n\n{text}", heading=("Flags",))) == [1]


@pytest.mark.parametrize(
    ("front", "factor"),
    [
        ("---\nstatus: superseded\ntitle: Flags\n---", 0.7),
        ("---\ntitle: Flags\nStatus: 'deprecated'\n---\n\n# Flags", 0.7),
        ('+++\nstatus = "obsolete"\n+++', 0.7),
        ("---\nsuperseded_by: ADR-7\n---", 0.7),
        ("---\nsuperseded_by:\nstatus: accepted\n---", 1),
        ("---\nsuperseded_by: null\n---", 1),
        ("---\nparts:\n  status: superseded\n---", 1),
        ("---\nstatus: accepted\n---\n\nThe field is `status: superseded` where it is not.", 1),
    ],
)
def test_front_matter_is_of_the_whole_document(front: str, factor: float) -> None:
    below = chunk("# Flags\n\nWe use LaunchDarkly.", line=7, heading=("Flags",))
    assert factors("flags", chunk(front), below) == [factor, factor]


def test_a_status_below_a_heading_is_of_what_stands_around_it() -> None:
    heading = ("1. Flags",)
    top = chunk("# 1. Flags\n\nDate: 2025-11-25", heading=heading)
    status = "## Status\n\nAccepted\n\nSuperceded by [7. Unleash](7.md)"
    said = chunk(status, line=5, heading=(*heading, "Status"))
    decision = chunk("## Decision\n\nLaunchDarkly", line=11, heading=(*heading, "Decision"))
    assert factors("flags", top, said, decision) == [0.7, 0.7, 0.7]
    # Where its chunk is no hit, the status is not known.
    assert factors("flags", top, decision) == [1, 1]


def test_a_section_has_a_status_of_its_own() -> None:
    old = chunk("## ADR 1\nStatus: superseded\nLaunchDarkly", line=3, heading=("ADRs", "ADR 1"))
    why = chunk("### Why\nCheap", line=9, heading=("ADRs", "ADR 1", "Why"))
    new = chunk("## ADR 7\nStatus: accepted\nUnleash", line=12, heading=("ADRs", "ADR 7"))
    code = chunk("# a script\nstatus: superseded", line=20, heading=("ADRs", "ADR 8"))
    assert factors("ADR flags", old, why, new, code) == [0.7, 0.7, 1, 1]


@pytest.mark.parametrize(
    "query",
    [
        "why was the staging port superseded",
        "old staging port",
        "the previous port of staging",
        "staging port before the move",
        "history of the staging port",
        "which port did staging used to have",
        "deprecated staging ports",
        '"staging port"',
        "„staging port“",
        "alter staging port",
        "was war früher der staging port",
        "antiguo puerto staging port",
        "以前的 staging port",
        "以前の staging port",
        "예전 staging port",
    ],
)
def test_a_query_for_what_held_before_lowers_nothing(query: str) -> None:
    assert factors(query, chunk("~~The staging port is 8080~~")) == [1]


@pytest.mark.parametrize(
    ("days", "factor"),
    [
        ((("2026-09-01", "2026-09-30"),), 1),
        ((("-05-07", "-05-07"),), 1),
        ((("-12-05", "-12-05"),), 0.7),
        ((("2026-11-01", "2026-11-01"),), 0.7),
    ],
)
def test_a_time_that_is_over_lowers_nothing(days: Any, factor: float) -> None:
    assert factors(PORT, chunk("~~The staging port is 8080~~"), days=days) == [factor]


def test_the_log_of_a_day_is_not_lowered_by_an_item_of_it() -> None:
    text = "# 2026-11-25\n\n- Status: superseded by QA, retry tomorrow\n- the flags are deployed"
    assert factors("flags deployed", chunk(text)._replace(day="2026-11-25")) == [1]


def test_the_steps_say_why() -> None:
    def notes(query: str, *chunks: StoredChunk) -> list[str]:
        context = RankContext(Query(query, KeywordQuery(("port",)), query), NOW, 10)
        hits = [Candidate(one, 0.5, Explanation()) for one in chunks]
        return [hit.explain.steps[-1].note for hit in Validity().rank(hits, context)]

    struck, said = chunk("~~port 1~~"), chunk("# Port\n\nStatus: obsolete", path="b.md")
    assert notes("port", struck, said, chunk("port", path="c.md")) == [
        "x 0.700, what matches is struck out",
        "x 0.700, line 3 says that it is superseded",
        "not superseded",
    ]
    asked = "no change: the query asks for what held before"
    assert notes("old port", struck) == [asked]
    assert notes('"port"', struck) == ["no change: the query quotes"]


def test_the_weight_is_a_share() -> None:
    assert factors(PORT, chunk("~~The staging port is 8080~~"), weight=0) == [1]
    assert factors(PORT, chunk("~~The staging port is 8080~~"), weight=1) == [0]
    for weight in (-0.1, 1.1):
        with pytest.raises(ValueError, match="0 to 1"):
            Validity(weight)


@pytest.fixture
def searched(tmp_path: Path) -> Callable[..., list[str]]:
    """The paths and lines of the hits for a query, by the default configuration and ``query``."""
    adrs = tmp_path / "memory" / "decisions"
    adrs.mkdir(parents=True)
    (adrs / "1.md").write_text(
        "# ADR 1: feature flags\n\nStatus: superseded by ADR 7\n\n"
        "We use LaunchDarkly for feature flags, as the SDK is good.\n"
    )
    (adrs / "7.md").write_text(
        "# ADR 7: Unleash\n\nStatus: accepted\n\n"
        "It is self-hosted, the licence costs nothing, and toggles are kept in our database.\n"
        "Feature flags are in Unleash.\n"
    )
    (tmp_path / "MEMORY.md").write_text(
        "# Facts\n\n- The staging port is 8080\n\n"
        "## Hosts\n\nstaging uses 9090 as its port for all\n"
    )

    def search(words: str, **query: Any) -> list[str]:
        config = {"memory": {"search": {"query": query}}}
        with Memory.open(workspace=tmp_path, config=config, env={"HOME": str(tmp_path)}) as memory:
            memory.sync()
            return [hit.citation for hit in memory.search(words).hits]

    return search


def test_the_accepted_decision_comes_before_the_superseded_one(
    searched: Callable[..., list[str]],
) -> None:
    words = "what do we use for feature flags?"
    old, new = "memory/decisions/1.md", "memory/decisions/7.md"
    off = {"validity": {"weight": 0}}
    assert [one.partition("#")[0] for one in searched(words)][:2] == [new, old]
    assert [one.partition("#")[0] for one in searched(words, hybrid=off)][:2] == [old, new]


def test_a_line_that_correct_has_struck_out_comes_behind(
    searched: Callable[..., list[str]], tmp_path: Path
) -> None:
    note = tmp_path / "MEMORY.md"
    lines = note.read_text().splitlines(keepends=True)
    changed = superseded(lines, 2, 3, "See hosts", day="2026-11-01", end="\n")
    assert changed.pop(3) == "- See hosts\n"
    assert searched("staging port")[0] == "MEMORY.md#L1-L3"
    note.write_text("".join(changed))
    assert searched("staging port") == ["MEMORY.md#L5-L7", "MEMORY.md#L1-L3"]
    assert searched("old staging port")[0] == "MEMORY.md#L1-L3"
