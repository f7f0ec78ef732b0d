"""Standing instructions, on a small set of notes, tasks and questions in seven languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext
from commonplace_ranking.standing import Instructions, instruction_of, is_task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# An instruction, and a task it is for, which shares a word or two with it.
INSTRUCTIONS = {
    "- Always sign commits with the work key.": "squash the last commits and push them",
    "Never send e-mail to clients before noon.": "send the March summary to the clients",
    "I prefer window seats on long flights.": "book flights to Oslo for Friday",
    "Immer metrische Einheiten in Rezepten verwenden.": "schreib mir Rezepte für Brot auf",
    "Nie Dateien ohne Sicherung löschen.": "räum die Dateien im alten Ordner auf",
    "Prefiero reuniones por la tarde.": "organiza las reuniones de la semana",
    "Nunca uses jerga en los informes.": "redacta los informes del trimestre",
    "Je préfère les trains de nuit.": "réserve des trains pour Lyon",
    "Toujours relire les factures deux fois.": "prépare les factures de mars",
    "写周报时总是用中文。": "帮我写周报",
    "部署之前务必先备份数据库。": "请把新版本部署到数据库服务器",
    "会議の資料は必ずPDFで送る。": "会議の資料を作成してください",
    "출장 숙소는 항상 역 근처로 예약.": "출장 숙소 예약해 줘",
    "절대 금요일에는 배포하지 않는다.": "금요일 배포 준비해 줘",
}
NEUTRAL = [
    f"The {thing} {verb} on {day}."
    for thing in ("commits", "clients", "flights", "server", "router", "invoices")
    for verb in ("were discussed", "went wrong", "got better")
    for day in ("Monday", "Thursday")
]
QUESTIONS = [
    *(f"when did the {thing} go wrong" for thing in ("commits", "clients", "flights", "server")),
    *(f"what about the {thing} on Monday?" for thing in ("router", "invoices", "commits")),
    *(f"who sent {thing} to the clients" for thing in ("flights", "e-mail", "the summary")),
    *(f"which {thing} got better" for thing in ("flights", "commits", "clients", "servers")),
    *(f"where is the {thing}" for thing in ("work key", "backup", "window seat", "router")),
    "commits Monday",
    "clients",
    "flights got better",
    "server Thursday discussed",
    "e-mail clients",
    "how many commits were discussed",
    "why did the clients call before noon",
    "is the server down?",
    "Welche Rezepte haben wir?",
    "Wo liegen die Dateien?",
    "wann war die letzte Sicherung",
    "¿Cuándo son las reuniones?",
    "dónde están los informes",
    "Quand part le train ?",
    "où sont les factures",
    "上次周报是什么时候写的",
    "数据库在哪台服务器上？",
    "会議はいつですか",
    "資料はどこにありますか",
    "출장은 언제였지?",
    "숙소가 어디였지",
]


@pytest.mark.parametrize("line", INSTRUCTIONS, ids=range(len(INSTRUCTIONS)))
def test_instructions_are_recognised(line: str) -> None:
    assert instruction_of(f"# Notes\n\n{line}\nMore.") == line


@pytest.mark.parametrize(
    "text",
    [
        *NEUTRAL[:3],
        "It always rains.",
        "The build never ended.",
        "Mia met the preferred bidder.",
        "Neverland is a film.",
        "Die immer gleiche Frage.",
        "他总共去了三次。",
        "",
    ],
)
def test_other_lines_are_not(text: str) -> None:
    assert instruction_of(text) == ""


def test_a_question_is_no_task() -> None:
    assert [query for query in QUESTIONS if is_task(query)] == []
    assert [task for task in INSTRUCTIONS.values() if not is_task(task)] == []


def test_one_in_six_and_no_more() -> None:
    texts = [*(["Always knock."] * 3), *(["The door is open."] * 9)]
    hits = [
        Candidate(StoredChunk(at, "memory", f"{at}.md", 1, 1, text), 1 - at / 20, Explanation())
        for at, text in enumerate(texts)
    ]
    context = RankContext(Query("please paint the door", KeywordQuery()), 0.0, 6)
    ranked = Instructions(6).rank(hits, context)
    assert [one.chunk.id for one in ranked] == [0, 3, 4, 5, 6, 7, 1, 8, 9, 10, 11, 2]
    assert ranked[0].explain.steps[-1].note == "standing instruction, place kept"
    behind = Instructions(6).rank(hits[3:] + hits[:3], context)
    assert [one.chunk.id for one in behind][4:7] == [7, 0, 8]
    assert [one.chunk.id for one in Instructions(3).rank(hits, context)][:4] == [0, 3, 4, 1]
    asked = context._replace(query=Query("all rules for the door", KeywordQuery()))
    assert [one.chunk.id for one in Instructions(6).rank(hits, asked)] == list(range(12))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root: Path = tmp_path_factory.mktemp("standing")
    notes = root / "notes" / "memory"
    notes.mkdir(parents=True)
    for at, line in enumerate((*INSTRUCTIONS, *NEUTRAL)):
        (notes / f"{at:02}.md").write_text(f"{line}\n", encoding="utf-8")
    search = {"ranking": {"chain": ["weighted", "recency", "standing"]}, "provider": "none"}
    with Memory.open(
        workspace=root / "notes",
        config={"agents": {"defaults": {"memorySearch": search}}},
        env={"HOME": str(root), "COMMONPLACE_STATE_DIR": str(root / "state")},
    ) as opened:
        yield opened


def offered(memory: Memory, query: str) -> list[str]:
    return [
        hit.snippet
        for hit in memory.search(query, max_results=6).hits
        if hit.explain.steps[-1 - (hit.explain.steps[-1].ranker == "fold")].note.startswith(
            "standing instruction"
        )
    ]


def test_tasks_get_their_instruction_and_questions_get_none(memory: Memory) -> None:
    found = [offered(memory, task) for task in INSTRUCTIONS.values()]
    hits = sum([line] == got for line, got in zip(INSTRUCTIONS, found, strict=True))
    assert hits >= 0.9 * len(INSTRUCTIONS), found
    assert all(len(got) <= 1 for got in found)
    false = [query for query in QUESTIONS if offered(memory, query)]
    assert len(false) <= 0.05 * len(QUESTIONS), false
