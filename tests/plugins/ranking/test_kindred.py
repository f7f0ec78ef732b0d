"""Instructions for kindred tasks that share few words with them, or none, in seven languages.

The set has two halves: ``kindred-dev`` was looked at while the table of topics was written;
``kindred-held-out``, of other topics and wordings, was scored when that was done. Neutral are
questions on facts, statements, and tasks that no instruction is about.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk, Where
from commonplace.plugin import RankContext, make_analyser
from commonplace.protocols.contexts import FurtherHits
from commonplace_ranking.rules import rules_of
from commonplace_ranking.standing import Instructions
from commonplace_ranking.tasks import kind_of
from commonplace_ranking.topics import AMOUNTS, BROAD, TABLE, topics_of_rule, topics_of_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonplace import Hit
    from commonplace.model.search import Arm

pytestmark = pytest.mark.slow

LANGUAGES = ("en", "de", "es", "fr", "zh", "ja", "ko")
LEAST = {"kindred-dev": 0.9, "kindred-held-out": 0.75}
"""The halves, and which share of the tasks must get their own instruction."""
FALSE = 0.05
"""The most neutral queries that may be offered one, as a share."""
EVERY = 6


@cache
def rows(half: str) -> list[dict[str, str | list[str]]]:
    text = (Path(__file__).parent / "data" / f"{half}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def pairs(half: str, *langs: str) -> list[tuple[str, str]]:
    """The instructions with each of their tasks."""
    return [
        (str(row["note"]), task)
        for row in rows(half)
        if row["lang"] in (langs or LANGUAGES) and "note" in row
        for task in row["tasks"]
    ]


def neutral(half: str, *langs: str) -> list[str]:
    chosen = [row for row in rows(half) if row["lang"] in (langs or LANGUAGES)]
    return [str(row["neutral"]) for row in chosen if "neutral" in row]


def opened(root: Path, notes: Iterable[str], *rankers: str) -> Memory:
    """A memory with a note for each of these texts."""
    for at, text in enumerate(dict.fromkeys(notes)):
        file = root / "notes" / "memory" / f"{at:02}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    search = {
        "ranking": {"chain": ["evidence", "recency", *(rankers or ["standing"])]},
        "provider": "none",
    }
    return Memory.open(
        workspace=root / "notes",
        config={"agents": {"defaults": {"memorySearch": search}}},
        env={"HOME": str(root), "COMMONPLACE_STATE_DIR": str(root / "state")},
    )


def reason(hit: Hit) -> str:
    """Why the ranker offered this hit, or ``""``."""
    notes = [step.note for step in hit.explain.steps if step.ranker == "standing"]
    return notes[-1] if notes and notes[-1].startswith("standing instruction") else ""


def offered(memory: Memory, query: str, limit: int = EVERY) -> list[str]:
    """The instructions that are offered among the first hits."""
    hits = memory.search(query, max_results=limit).hits
    return [hit.snippet for hit in hits if reason(hit)]


def test_the_set_is_as_large_and_as_hard_as_it_says() -> None:
    every = [pair for half in LEAST for pair in pairs(half)]
    body = make_analyser().chunk
    apart = [
        pair for pair in every if not set.intersection(*(set(body(x).body.split()) for x in pair))
    ]
    assert len({note for note, _ in every}) >= 60
    assert len(every) >= 100
    assert len(apart) >= len(every) / 2
    assert sum(len(neutral(half)) for half in LEAST) >= 200


@pytest.mark.parametrize("half", LEAST)
def test_kindred_tasks_get_their_instruction_and_neutral_ones_none(
    tmp_path: Path, half: str
) -> None:
    found, false = [], []
    for lang in LANGUAGES:
        with opened(tmp_path / lang, (note for note, _ in pairs(half, lang))) as memory:
            found += [task for note, task in pairs(half, lang) if offered(memory, task) == [note]]
            false += [query for query in neutral(half, lang) if offered(memory, query)]
    assert len(found) >= LEAST[half] * len(pairs(half)), (len(found), len(pairs(half)))
    assert len(false) <= FALSE * len(neutral(half)), false


@pytest.mark.parametrize("half", LEAST)
def test_the_same_with_the_instructions_of_all_languages_at_once(tmp_path: Path, half: str) -> None:
    with opened(tmp_path, (note for note, _ in pairs(half))) as memory:
        assert all(len(offered(memory, task)) <= 1 for _, task in pairs(half))
        false = [query for query in neutral(half) if offered(memory, query)]
        assert len(false) <= FALSE * len(neutral(half)), false


FOOD = ("I'm vegetarian.", "I never eat nuts.", "We avoid dairy.", "I prefer spicy food.")


def test_there_is_one_among_six_unless_rules_are_asked_for(tmp_path: Path) -> None:
    others = [f"The restaurant at stop {at} opens at noon." for at in range(12)]
    with opened(tmp_path, [*FOOD, *others]) as memory:
        for limit in (1, 5, 6, 12, 13):
            assert len(offered(memory, "suggest a restaurant", limit)) <= -(-limit // EVERY)
        assert len(offered(memory, "suggest a restaurant", 12)) == 2
        hits = memory.search("which rules or preferences for food have I got").hits
        assert not any(map(reason, hits))


def test_an_offer_is_the_line_alone_and_its_explanation_sums_to_its_score(tmp_path: Path) -> None:
    lines = [f"- The parcel of week {at} weighed little." for at in range(12)]
    text = "\n".join(("# Rules", "", *lines[:6], "- Always use metric units.", *lines[6:]))
    with opened(tmp_path, [text, "Berlin is large."]) as memory:
        hits = memory.search("how far is it from Berlin to Munich").hits
        (hit,) = (hit for hit in hits if reason(hit))
        assert hit.snippet == "- Always use metric units."
        assert hit.citation == "memory/00.md#L9"
        assert "it shares the topic units" in reason(hit)
        assert sum(part for _, part in hit.explain.parts) == pytest.approx(hit.score)
        assert 0 < hit.score <= min(one.score for one in hits)
        assert not offered(memory, "how far is it from Berlin to Munich -metric")
        assert not offered(memory, "how far is it from Berlin to Munich path:memory/01.md")
        assert not offered(memory, "how far did we get with the parcels")


@pytest.mark.parametrize("ranker", ["spread", "mmr", "source_balance", "exact_path"])
def test_rankers_behind_it_keep_what_it_offers(tmp_path: Path, ranker: str) -> None:
    text = "# Rules\n\n- I'm vegetarian.\n- Always use metric units."
    with opened(tmp_path, [text, "Berlin is large."], "standing", ranker) as memory:
        result = memory.search("how far is it from Berlin to Munich")
        (hit,) = (hit for hit in result.hits if reason(hit))
        assert (hit.snippet, hit.start_line) == ("- Always use metric units.", 4)
        assert not any("skipped" in note for note in result.notes)


def test_another_chain_offers_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, FOOD, "spread") as memory:
        assert memory.search("suggest a restaurant").hits == ()


def test_the_backend_is_asked_only_where_an_instruction_may_apply() -> None:
    asked = []

    def ask(query: Query, *, where: Where) -> Sequence[Arm]:
        asked.append(query.text)
        return []

    for text in (
        "book a flight",
        "what should I cook",
        "when did we cook",
        "who paid",
        "the rules",
    ):
        query = Query(text, KeywordQuery(("cook",)), text)
        further = FurtherHits(query, Where(), ask, lambda _: [], [])
        Instructions().rank([], RankContext(query, 0.0, EVERY, further=further))
    assert asked == ["book a flight", "what should I cook"]


def test_of_those_that_are_as_close_what_is_kept_up_comes_first_then_the_newest() -> None:
    days = {0: "2026-01-01", 1: "2026-03-01", 2: None, 3: "2026-02-01"}
    chunks = [
        StoredChunk(at, "memory", f"{at}.md", 1, 1, "I prefer trains.", day=day)
        for at, day in days.items()
    ]
    query = Query("book a hotel", KeywordQuery(("book", "hotel")))
    found = [Candidate(chunk, 0.0, Explanation()) for chunk in chunks]
    further = FurtherHits(query, Where(), lambda *_, **__: [], lambda _: found, [])
    context = RankContext(query, 0.0, 4, further=further)
    assert [hit.chunk.id for hit in Instructions(1).rank([], context)] == [2, 1, 3, 0]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("push the release", "task"),
        ("what should I wear", "advice"),
        ("wo können wir heute essen", "advice"),
        ("how far is it to Munich", "amount"),
        ("combien coûte un vélo", "amount"),
        ("how far did we get", ""),
        ("what did it cost", ""),
        ("wie weit sind wir gekommen", ""),
        ("cuánto pagamos", ""),
        ("上次花了多少钱", ""),
        ("いくらかかりましたか", ""),
        ("얼마나 걸렸어", ""),
        ("the garden is green", ""),
    ],
)
def test_facts_differ_from_what_is_to_be_done(query: str, kind: str) -> None:
    assert kind_of(query) == kind


def test_topics_are_those_of_the_words_longest_first() -> None:
    assert topics_of_rule("I'm allergic to peanuts") == {"food"}
    assert topics_of_task("merge the branch and push it") == {"releases": 3}
    assert "food" in topics_of_task("ein Wohltätigkeitsabendessen planen")  # ends with Abendessen
    assert "mail" not in topics_of_task("请更新信息")
    assert "money" not in topics_of_task("얼마나 멀어")
    assert topics_of_task("paint the fence") == {}
    assert topics_of_rule("") == frozenset()


def test_each_topic_has_words_of_rules_and_of_tasks_in_every_script() -> None:
    topics: dict[str, list[tuple[str, str]]] = {}
    for line in filter(None, TABLE.splitlines()):
        side, *words = line.split()
        if not words:
            last = topics.setdefault(side, [])
        last += [(side, word) for word in words]
    assert set(topics) >= BROAD | AMOUNTS
    for topic, listed in topics.items():
        words = [word for _, word in listed]
        assert all(word == word.lower() for word in words)
        assert not any("*" in word[:-1] or (word[-1] == "*" and len(word) < 4) for word in words)
        for side in {"rule", "task"} if topic != "-" else ():
            held = "".join(word for said, word in listed if said in (side, "both"))
            for low, high in (("a", "z"), ("\u4e00", "\u9fff"), ("\u3041", "\u30ff"), ("가", "힣")):
                assert any(low <= one <= high for one in held), (topic, side, low)


@pytest.mark.parametrize("half", LEAST)
def test_every_instruction_of_the_set_is_recognised_and_no_statement(half: str) -> None:
    assert [note for note, _ in pairs(half) if not rules_of(note)] == []
    assert [text for text in neutral(half) if rules_of(text)] == []
