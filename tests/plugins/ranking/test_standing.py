"""Standing instructions, on a set of notes, tasks, questions and statements in seven languages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext
from commonplace_ranking.rules import rules_of
from commonplace_ranking.standing import Instructions, Need
from commonplace_ranking.tasks import is_task

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.slow

SET = json.loads((Path(__file__).parent / "data" / "standing.json").read_text(encoding="utf-8"))
"""By language: instructions with a task that shares a word or two, questions and statements.

The latter are neutral: nothing is to be done, though they hold the words of the instructions.
"""

NOTES = {lang: [pair["note"] for pair in one["instructions"]] for lang, one in SET.items()}
TASKS = {lang: [pair["task"] for pair in one["instructions"]] for lang, one in SET.items()}
NEUTRAL = {lang: [*one["questions"], *one["statements"]] for lang, one in SET.items()}
EVERY = 6


def _first_rule(text: str) -> str:
    """The first line of ``text`` that is a standing instruction, or ``""``."""
    return next((rule.text for rule in rules_of(text)), "")


@pytest.mark.parametrize("lang", SET)
def test_instructions_are_recognised(lang: str) -> None:
    assert [_first_rule(f"# Notes\n\n{line}\nMore.") for line in NOTES[lang]] == NOTES[lang]


@pytest.mark.parametrize(
    "line",
    [
        "- Prefers short answers",
        "* **Units:** always metric",
        "- [x] Editor: never wrap lines",
        "> 2. Please never call before nine",
        "Vegetarian, allergic to nuts.",
        "Commits must always be signed",
        "Ich trinke nie Kaffee",
        "- Anrede: immer duzen",
        "Bevorzugt kurze Antworten",
        "Ne réponds jamais en anglais",
        "No tomo café",
        "我从来不喝咖啡",
        "コーヒーは飲まない",
        "커피는 못 마신다",
    ],
)
def test_short_forms_are_recognised(line: str) -> None:
    assert _first_rule(f"Notes\n{line}\nMore.") == line


@pytest.mark.parametrize(
    "text",
    [
        "The commits were discussed on Monday.",
        "It always rains.",
        "The build never ended.",
        "Mia met the preferred bidder.",
        "Neverland is a film.",
        "Die immer gleiche Frage.",
        "We never went to Rome.",
        "Vegan cooking is a fine art.",
        "I never finished the book.",
        "Mia was always late.",
        "Ich war nie dort.",
        "Es regnet immer.",
        "Il pleut toujours ici.",
        "Casi siempre llueve.",
        "他总共去了三次。",
        "",
    ],
)
def test_other_lines_are_not(text: str) -> None:
    assert _first_rule(text) == ""


@pytest.mark.parametrize("lang", SET)
def test_neutral_questions_and_statements_are_no_tasks(lang: str) -> None:
    assert [task for task in TASKS[lang] if not is_task(task)] == []
    assert [query for query in NEUTRAL[lang] if is_task(query)] == []


@pytest.mark.parametrize(
    "query",
    [
        *("Deploy billing-api", "merge PR 285", "order pizza", "book flight to Lisbon"),
        *("should I deploy today?", "can I merge this now?", "is it ok to deploy on Friday?"),
        *("reply to Hannah's email", "email Hannah", "I'd like to push the branch"),
        *("We'd like to book a table", "soll ich heute deployen?", "can we release tomorrow?"),
    ],
)
def test_terse_requests_and_questions_for_leave_are_tasks(query: str) -> None:
    assert is_task(query)


@pytest.mark.parametrize(
    "query",
    [
        *("email address of Hannah", "open questions about CDC", "test coverage of mailer"),
        *("start time of the standup", "pay slip", "order number 4711", "commit a828e60"),
        *("deploy billing-api failed", "deploy of mailer failed", "merge conflict in auth-proxy"),
        *("read replica lag", "can the mailer send attachments", "Can I use Bun?"),
    ],
)
def test_names_of_things_are_no_tasks(query: str) -> None:
    assert not is_task(query)


def test_most_questions_of_others_ask_for_nothing_to_be_done() -> None:
    """Of questions that were written for something else, in English, Chinese and Japanese."""
    sets = ("locomo-notes", "madial-en", "madial-zh", "cmrc2018-zh", "jsquad-ja", "xquad-en")
    root = Path(os.environ.get("COMMONPLACE_EVAL_DIR", "/nowhere")) / "dev"
    files = {name: list((root / name).rglob("queries.jsonl")) for name in sets}
    if not all(files.values()):
        pytest.skip("no evaluation data: COMMONPLACE_EVAL_DIR is not set")
    for name, found in files.items():
        texts = [file.read_text(encoding="utf-8").splitlines() for file in found]
        queries = [json.loads(line)["query"] for lines in texts for line in lines]
        false = [query for query in queries if Need.of(query, ()).kind]
        assert len(false) <= 0.05 * len(queries), (name, false)


def test_one_in_six_and_no_more() -> None:
    texts = [*(["Always knock at the door."] * 3), *(["The door is open."] * 9)]
    hits = [
        Candidate(StoredChunk(at, "memory", f"{at}.md", 1, 1, text), 1 - at / 20, Explanation())
        for at, text in enumerate(texts)
    ]
    context = RankContext(Query("please paint the door", KeywordQuery(("door",))), 0.0, 6)
    ranked = Instructions(6).rank(hits, context)
    assert [one.chunk.id for one in ranked] == [0, 3, 4, 5, 6, 7, 1, 8, 9, 10, 11, 2]
    assert ranked[0].explain.steps[-1].note == "standing instruction, place kept"
    behind = Instructions(6).rank(hits[3:] + hits[:3], context)
    assert [one.chunk.id for one in behind][4:7] == [7, 0, 8]
    assert [one.chunk.id for one in Instructions(3).rank(hits, context)][:4] == [0, 3, 4, 1]
    asked = context._replace(query=Query("all rules for the door", KeywordQuery()))
    assert [one.chunk.id for one in Instructions(6).rank(hits, asked)] == list(range(12))


def test_what_others_wrote_is_not_offered() -> None:
    texts = ["Always knock at the door.", "The door is open.", "The door is red."]
    context = RankContext(Query("please paint the door", KeywordQuery(("door",))), 0.0, 6)
    for trust, notes in (("memory", 1), ("session", 0), ("external", 0)):
        hits = [
            Candidate(StoredChunk(at, "memory", f"{at}.md", 1, 1, text), 0.5, Explanation())
            for at, text in enumerate(texts)
        ]
        hits = [hit._replace(chunk=hit.chunk._replace(trust=trust)) for hit in hits]
        ranked = Instructions(2).rank(hits, context)
        offered = [one for one in ranked if "standing" in one.explain.steps[-1].note]
        assert len(offered) == notes


def test_an_instruction_counts_only_where_the_query_matches_it() -> None:
    text = "- Always knock.\n- The red door sticks in winter."
    chunk = StoredChunk(0, "memory", "a.md", 1, 2, text)
    hits = [
        Candidate(chunk._replace(id=at, path=f"{at}.md"), 1 - at / 10, Explanation())
        for at in range(3)
    ]
    for word, order in (("door", [0, 1, 2]), ("knock", [0, 1, 2])):
        query = Query(f"please {word} twice", KeywordQuery((word,)))
        ranked = Instructions(6).rank(hits, RankContext(query, 0.0, 6))
        notes = [one.explain.steps[-1].note for one in ranked]
        assert [one.chunk.id for one in ranked] == order
        assert notes.count("standing instruction, place kept") == (word == "knock")


def opened(root: Path, notes: Mapping[str, str]) -> Memory:
    """A memory of these notes that ranks with ``standing``."""
    for name, text in notes.items():
        file = root / "notes" / "memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    search = {"ranking": {"chain": ["weighted", "recency", "standing"]}, "provider": "none"}
    return Memory.open(
        workspace=root / "notes",
        config={"agents": {"defaults": {"memorySearch": search}}},
        env={"HOME": str(root), "COMMONPLACE_STATE_DIR": str(root / "state")},
    )


def searched(memory: Memory, query: str) -> tuple[list[str], int]:
    """The instructions that are offered among the first hits, and how many of these are some."""
    hits = memory.search(query, max_results=EVERY).hits
    notes = [
        {step.ranker: step.note for step in hit.explain.steps}.get("standing", "") for hit in hits
    ]
    offered = [
        hit.snippet
        for hit, note in zip(hits, notes, strict=True)
        if note.startswith("standing instruction")
    ]
    return offered, sum(bool(_first_rule(hit.snippet)) for hit in hits)


@pytest.mark.parametrize("lang", SET)
def test_tasks_get_their_instruction_and_nothing_neutral_does(tmp_path: Path, lang: str) -> None:
    lines = (*NOTES[lang], *SET[lang]["statements"])
    with opened(tmp_path, {f"{at:02}.md": line for at, line in enumerate(lines)}) as memory:
        found = [searched(memory, task)[0] for task in TASKS[lang]]
        right = sum([note] == got for note, got in zip(NOTES[lang], found, strict=True))
        assert right >= 0.8 * len(found), found
        assert all(len(got) <= 1 for got in found)
        false = [query for query in NEUTRAL[lang] if searched(memory, query)[0]]
        assert len(false) <= 0.05 * len(NEUTRAL[lang]), false


def test_an_instruction_that_others_crowd_out_is_asked_for(tmp_path: Path) -> None:
    notes = {
        f"log/{at}.md": f"Deploy {at}: deploy of the billing service to staging, then deploy again."
        for at in range(60)
    }
    rule = "Never make deploys on Fridays, nor when Mia, who can help, is on holiday or asleep."
    with opened(tmp_path, {**notes, "rules.md": rule}) as memory:
        hits = memory.search("deploy the billing service to staging", max_results=EVERY).hits
        assert [hit.snippet for hit in hits].index(rule) == EVERY - 1
        assert "asked for, it shares 1 of" in hits[-1].explain.steps[-1].note
        assert 0 < hits[-1].score <= hits[-2].score
        assert searched(memory, "when was the billing service deployed to staging")[0] == []
        for filtered in ("path:memory/log", "-holiday"):
            task = f"deploy the billing service to staging {filtered}"
            assert searched(memory, task)[0] == []
