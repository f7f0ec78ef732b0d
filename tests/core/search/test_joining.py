"""Neighbouring hits that are one passage are shown as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, StoredChunk
from commonplace.search.choosing import neighbours
from commonplace.search.joining import MOST_OF_A_PASSAGE, joined, one_passage
from commonplace.search.presenting import LIMIT

if TYPE_CHECKING:
    from pathlib import Path

LINES = tuple(f"line {number} of the harbour log" for number in range(1, 40))


def chunk(start: int, end: int, *, id_: int = 0, path: str = "memory/log.md") -> StoredChunk:
    text = "\n".join(LINES[start - 1 : end])
    return StoredChunk(id_ or start, "memory", path, start, end, text, heading=("Harbour",))


def hit(score: float, one: StoredChunk) -> Candidate:
    return Candidate(one, score, Explanation())


def test_the_better_one_is_shown_with_the_lines_of_both() -> None:
    ranked = [hit(0.9, chunk(5, 9)), hit(0.7, chunk(30, 33)), hit(0.5, chunk(8, 12))]
    assert neighbours(ranked) == 1
    first, second = joined(ranked, limit=6)
    assert (first.chunk.start_line, first.chunk.end_line, first.score) == (5, 12, 0.9)
    assert first.chunk.text == "\n".join(LINES[4:12])
    assert first.chunk.id == 5
    assert first.best == (5, 9)
    step = first.explain.steps[-1]
    assert (step.ranker, step.before, step.after) == ("join", 0.9, 0.9)
    assert step.note == "one passage with L8-L12, which scored 0.5000"
    assert second == ranked[1]


@pytest.mark.parametrize("between", [(10, 20), (9, 22)])
def test_a_chunk_between_two_makes_one_passage_of_all(between: tuple[int, int]) -> None:
    ranked = [hit(0.9, chunk(1, 9)), hit(0.8, chunk(21, 25)), hit(0.7, chunk(*between))]
    (whole,) = joined(ranked, limit=6)
    assert (whole.chunk.start_line, whole.chunk.end_line, whole.score) == (1, 25, 0.9)
    assert whole.best == (1, 9)
    later = [hit(0.9, chunk(30, 32)), hit(0.8, chunk(21, 25)), hit(0.7, chunk(1, 9))]
    shown = joined([*later, hit(0.6, chunk(*between))], limit=6)
    assert [(one.chunk.start_line, one.score) for one in shown] == [(30, 0.9), (1, 0.8)]
    assert [one.best for one in shown] == [None, (21, 25)]


def test_others_take_the_places_that_are_saved() -> None:
    ranked = [
        *(hit(1 - at / 10, chunk(at * 4 + 1, at * 4 + 4)) for at in range(3)),
        hit(0.2, chunk(1, 3, path="b.md")),
        hit(0.1, chunk(1, 3, path="c.md")),
        hit(0.05, chunk(4, 5, path="b.md")),
    ]
    shown = joined(ranked, limit=2)
    assert [(one.chunk.path, one.chunk.start_line, one.chunk.end_line) for one in shown] == [
        ("memory/log.md", 1, 12),
        ("b.md", 1, 3),  # what stands behind the last place is not looked at
    ]


@pytest.mark.parametrize(
    "other",
    [
        chunk(11, 12),  # a line lies between
        chunk(10, 12, path="memory/other.md"),
        chunk(10, 12)._replace(source="sessions"),
        chunk(10, 12)._replace(heading=("Town",)),
        chunk(9, 12)._replace(text=chunk(20, 23).text),  # the shared line is not the same
        chunk(9, 9)._replace(text="a piece of a long line\nof another"),
        chunk(10, 10)._replace(text="x" * MOST_OF_A_PASSAGE),
    ],
    ids=["gap", "document", "source", "heading", "text", "piece", "long"],
)
def test_what_is_not_one_passage_stays_apart(other: StoredChunk) -> None:
    assert one_passage(chunk(5, 9), other) is None
    assert one_passage(other, chunk(5, 9)) is None
    assert len(joined([hit(0.9, chunk(5, 9)), hit(0.5, other)], limit=6)) == 2


@given(st.tuples(*[st.integers(1, 20)] * 4))
@settings(max_examples=25, deadline=None)
def test_a_joined_text_is_that_of_its_lines(ends: tuple[int, int, int, int]) -> None:
    one, two = (chunk(min(pair), max(pair)) for pair in (ends[:2], ends[2:]))
    whole = one_passage(one, two)
    touching = one.start_line <= two.end_line + 1 and two.start_line <= one.end_line + 1
    assert (whole is not None) == touching
    if whole is not None:
        lines = min(one.start_line, two.start_line), max(one.end_line, two.end_line)
        assert whole == chunk(*lines, id_=one.start_line)


def test_a_search_joins_unless_it_is_switched_off(tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    paragraphs = [f"Berth {at}: the ferry *{at}* ties up, {'and waits ' * 3}." for at in range(14)]
    (notes / "harbour.md").write_text("# Harbour\n\n" + "\n".join(paragraphs) + "\n", "utf-8")
    for at in range(8):
        (notes / f"{at}.md").write_text(f"# Note {at}\n\nA ferry to island {at}.\n", "utf-8")
    found = {}
    for join in (True, False):
        with Memory.open(
            workspace=tmp_path / "notes",
            config={"agents": {"defaults": {"memorySearch": {"query": {"join": join}}}}},
            env={"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")},
        ) as memory:
            found[join] = memory.search("ferry berth", max_results=4).hits
    lines = {
        join: [(one.start_line, one.end_line) for one in hits if one.path == "memory/harbour.md"]
        for join, hits in found.items()
    }
    assert len(lines[False]) == 2
    assert lines[True] == [(min(lines[False])[0], max(lines[False])[1])]
    assert found[True][0].score == found[False][0].score
    assert all(len(hits) == 4 for hits in found.values())
    first = found[True][0]
    assert "one passage with" in first.explain.steps[-1].note
    assert len(first.snippet) <= LIMIT
    assert sum(part for _, part in first.explain.parts) == pytest.approx(first.score)


def test_the_snippet_of_a_passage_has_what_scored_best(tmp_path: Path) -> None:
    """Not the heading, which has more words of the query than the answer."""
    items = "\n".join(f"- Read draft {at} of the template for the postmortem." for at in range(13))
    answer = "Result: new root token holder is Priya."
    (tmp_path / "memory").mkdir()
    about = "Notes on the vault migration, who did what and why. The vault migration took weeks."
    text = f"# Vault migration\n\n{about}\n{items}\n{answer}\n"
    (tmp_path / "memory" / "vault.md").write_text(text, "utf-8")
    with Memory.open(workspace=tmp_path, env={"HOME": str(tmp_path)}) as memory:
        (hit,) = memory.search("vault migration: who holds the root token now").hits
    assert LIMIT < len(text) <= MOST_OF_A_PASSAGE
    assert hit.citation == "memory/vault.md#L1-L17"
    assert hit.snippet.endswith(answer)
    assert LIMIT - 100 < len(hit.snippet) <= LIMIT
    lines = text.split("\n")
    assert set(hit.snippet.split("\n")) <= set(lines[hit.start_line - 1 : hit.end_line])
