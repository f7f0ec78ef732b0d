"""Which words of a question a hit has, and why a passage stands where it does or is not found."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.cli import main
from commonplace.model.search import Step
from commonplace.plugin import ArmScore, Explanation
from commonplace_why.placing import (
    _at,
    best_line,
    compared,
    parts_by_word,
    placed,
    typed_words,
    words_in,
)
from commonplace_why.replaying import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace_why.placing import Placing

QUESTION = "which port does staging use"
CAUSES = ("storm", "fire", "frost", "flood", "theft", "quake", "crash", "leak", "riot")
NOTES = {
    "MEMORY.md": "# Memory\n\n- Mia drinks tea.\n- The staging port is 8444.\n",
    "memory/walnut.md": "# Walnut\n\nThe walnut tree fell over in the storm.\n",
    "memory/long.md": "# Machines\n\n"
    + "".join(f"- The machine {name} stands beside the lake.\n" for name in "abcdefgh")
    + "- The staging machine is new.\n",
    **{
        f"memory/2026-09-{day:02}.md": f"# Log\n\n- The staging port closed after a {why}.\n"
        for day, why in enumerate(CAUSES, 1)
    },
}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    for path, text in NOTES.items():
        file = tmp_path / "ws" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "ws"))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    with Memory.open(workspace=tmp_path / "ws") as opened:
        yield opened


@pytest.fixture
def place(memory: Memory) -> Callable[[str, str], Placing]:
    def run(question: str, citation: str) -> Placing:
        return placed(memory, question, citation, ask(memory, question))

    return run


def test_the_words_of_a_hit_are_named_with_what_each_gave(memory: Memory) -> None:
    typed = typed_words(QUESTION)
    hits = {hit.path: hit for hit in ask(memory, QUESTION, max_results=50).hits}
    both = words_in(hits["MEMORY.md"].explain, typed)
    assert {word for word, _ in both.had} == {"port", "staging"}
    assert [amount for _, amount in both.had] == sorted((n for _, n in both.had), reverse=True)
    one = words_in(hits["memory/long.md"].explain, typed)
    assert [word for word, _ in one.had] == ["staging"]
    assert "port" in one.lacked


def test_the_parts_by_word_sum_to_the_score_of_a_search(memory: Memory) -> None:
    for hit in ask(memory, QUESTION, max_results=50).hits:
        parts = parts_by_word(hit.explain, typed_words(QUESTION))
        assert sum(amount for _, amount in parts) == pytest.approx(hit.score)


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0, 20), max_size=4),
    st.floats(0, 1),
    st.floats(0, 1),
)
@example({"a": 5e-324}, 0.5, 0.0)  # times a half it is 0
def test_parts_by_word_sum_to_any_score(words: dict[str, float], first: float, then: float) -> None:
    arm = ArmScore(arm="keyword", kind="bm25", raw=1.0, rank=1, words=tuple(words.items()))
    steps = (
        Step(ranker="evidence", before=0.0, after=first, parts=(("keyword", first),)),
        Step(ranker="recency", before=first, after=then),
    )
    explanation = Explanation(arms=(arm,), steps=steps)
    assert sum(n for _, n in parts_by_word(explanation)) == pytest.approx(then, abs=1e-9)


def test_a_passage_that_is_shown_is_compared_with_the_one_above(
    place: Callable[[str, str], Placing], memory: Memory
) -> None:
    result = ask(memory, QUESTION)
    at = place(QUESTION, result.hits[2].citation)
    assert (at.state, at.rank, at.above_rank, at.above) == ("shown", 3, 2, result.hits[1])
    assert at.hit is not None
    assert at.above is not None
    more = compared(at.hit, at.above, typed_words(QUESTION))
    assert sum(n for _, n in more) == pytest.approx(at.above.score - at.hit.score, abs=6e-4)
    first = place(QUESTION, result.hits[0].citation)
    assert (first.rank, first.above) == (1, None)


def test_a_passage_below_the_shown_ones_is_found(place: Callable[[str, str], Placing]) -> None:
    at = place(QUESTION, "memory/long.md#L11")
    assert at.state == "below"
    assert at.rank is not None
    assert at.rank > at.shown
    assert at.above_rank == at.shown
    assert at.reasons == (
        f"a search shows the first {at.shown}; for more: commonplace search -n N",
    )
    assert at.longer.startswith("a word counts less in a longer passage: 11 lines here, ")


@pytest.mark.parametrize(
    ("question", "citation", "reason"),
    [
        ("port path:memory", "MEMORY.md#L4", "the filter path:memory leaves it out"),
        ("port after:2026-09-05", "memory/2026-09-01.md", "the filter after:2026-09-05 leaves"),
        ("staging -lake", "memory/long.md", "it has 'lake', which the question excludes"),
        ('"port closed" staging', "MEMORY.md", "it does not have 'port closed' side by side"),
    ],
)
def test_what_leaves_a_passage_out_is_named(
    question: str, citation: str, reason: str, place: Callable[[str, str], Placing]
) -> None:
    at = place(question, citation)
    assert (at.state, at.hit, at.rank) == ("filtered", None, None)
    assert len(at.reasons) == 1
    assert at.reasons[0].startswith(reason)


@pytest.mark.parametrize("question", ["staging port", "what is the staging port of ours"])
def test_a_passage_without_the_words_that_are_searched_for_is_not_found(
    question: str, place: Callable[[str, str], Placing]
) -> None:
    at = place(question, "memory/walnut.md")
    assert (at.state, at.reasons) == (
        "unmatched",
        ("it has none of the words of the question: 'staging', 'port'",),
    )


def test_a_passage_that_was_folded_is_found_in_the_other(
    memory: Memory, place: Callable[[str, str], Placing], tmp_path: Path
) -> None:
    for day, port in ((11, 8401), (12, 8402)):
        note = tmp_path / f"ws/memory/2026-09-{day}.md"
        note.write_text(f"# Log\n\n- The gateway quota is {port}.\n")
    memory.sync()
    at = place("gateway quota", "memory/2026-09-11.md#L3")
    assert at.state == "folded"
    assert at.hit is not None
    assert at.hit.path == "memory/2026-09-12.md"
    assert "it says the same as memory/2026-09-12.md" in at.reasons[0]


def test_the_best_line_is_one_with_matches(memory: Memory) -> None:
    (hit,) = [one for one in ask(memory, QUESTION).hits if one.path == "MEMORY.md"]
    assert best_line(hit) == "- The staging port is 8444."
    assert best_line(hit.replace(highlights=())) == "# Memory"
    assert len(best_line(hit.replace(snippet="x" * 900))) == 160


@pytest.mark.usefixtures("memory")
def test_the_command_takes_a_question_and_a_citation(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*words: str) -> str:
        assert main(["why", *words]) == 0
        return capsys.readouterr().out

    out = shown(QUESTION, "MEMORY:4")
    assert out.startswith("MEMORY.md#L4 is hit ")
    assert "\n   | - The staging port is 8444.\n   words: has " in out
    assert shown(*QUESTION.split(), "MEMORY.md#L4") == shown(QUESTION, "MEMORY.md#L4") == out
    facts: dict[str, Any] = json.loads(shown(QUESTION, "memory/walnut.md", "--json"))
    assert (facts["state"], facts["hit"], facts["above"]) == ("unmatched", None, None)
    assert "is not among" not in shown("what", "is", "in", "MEMORY.md")
    assert main(["why", QUESTION, "nosuch.md#L3"]) == 1


@pytest.mark.parametrize(
    ("shown", "said"), [(6, ["hit 3", "in its place"]), (2, ["hit 3", "the first 2"])]
)
def test_a_passage_folded_into_a_hit_that_is_not_shown_is_not_said_to_be(
    shown: int, said: list[str]
) -> None:
    hits: Any = [
        SimpleNamespace(citation=f"a.md#L{line}", similar=(f"b.md#L{line}",), score=0.5)
        for line in range(1, 5)
    ]
    placing = _at("b.md#L3", (2, True), hits, shown)
    reasons = "; ".join(placing.reasons)
    assert (said[0] in reasons) is (shown == 2)
    assert said[1] in reasons
    assert (placing.state, placing.rank, placing.total) == ("folded", 3, 4)
