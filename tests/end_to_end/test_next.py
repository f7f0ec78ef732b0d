"""What "when is the next …" and "what do I usually do on Monday" find: not the logs of the past."""

from __future__ import annotations

import calendar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = calendar.timegm((2026, 12, 2, 12, 0, 0))  # a Wednesday
BACKENDS = ["builtin", "inmemory", *(["lancedb"] if find_spec("lancedb") else [])]
NOTES = {
    "memory/2026-09-14.md": "Dentist appointment went fine. Dr. Hahn wants to see me again.",
    "memory/2026-10-05.md": "Dentist appointment for Greta. The dentist appointment took an hour.",
    "memory/2026-11-16.md": "Elternabend: Wahl der Sprecher. Elternabend dauerte zwei Stunden.",
    "memory/2026-11-17.md": "董事会会议讨论了预算。",
    "memory/2026-11-30.md": "Monday. Choir was loud. Choir again on Saturday.",
    "memory/2026-11-23.md": "Choir rehearsal: we sang the Bach. Choir choir choir.",
    "memory/2026-11-24.md": "Release 3.2 went out; release party was short.",
    "memory/calendar.md": "- Dentist, Dr. Hahn: 14 January, 8:15\n- Rent: 5 December",
    "memory/haus.md": "Elternabend: 21. Januar 2027, Aula.",
    "memory/会议.md": "董事会会议: 12月9日上午十点。",
    "memory/week.md": "Every Monday I run.\n\nFreitags bestellen wir Pizza.\n\n每周六去菜市场。",
    "memory/2026-11-27.md": "Freitag. Mit Wei gegessen.",
    "memory/2026-11-28.md": "周六在家看书。",
    "memory/2026-10-06.md": "Vet visit: the vet visit was quick. ไปหาหมอฟัน หมอฟันบอกว่าฟันดี หมอฟัน",
    "memory/vet.md": "Vet (Dr. Brandt): 14/01/2027, 8:15",
    "memory/ฟัน.md": "พาแม่ไปหาหมอฟัน 14 มกราคม 2570 เก้าโมง",
    "memory/plans.md": "The release after this one has dark mode.",
}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    root = tmp_path / "workspace"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"# {path.split('/')[-1][:-3]}\n\n{text}\n", encoding="utf-8")
    env = {f"COMMONPLACE_{one}_DIR": str(tmp_path / one) for one in ("STATE", "CACHE")}
    env |= {"HOME": str(tmp_path), "TZ": "UTC"}
    memories: list[Memory] = []

    def open_(backend: str = "builtin", **settings: Any) -> Memory:
        memory = Memory.open(
            workspace=root,
            config={"memory": {"backend": [backend], **settings}},
            env=env,
            one_shot=True,
            clock=lambda: float(NOW),
        )
        memories.append(memory)
        return memory

    yield open_
    for one in memories:
        one.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("when is the next dentist appointment?", "memory/calendar.md"),
        ("When's my next dentist appointment", "memory/calendar.md"),
        ("wann ist der nächste Elternabend", "memory/haus.md"),
        ("下次董事会会议是什么时候", "memory/会议.md"),
        ("when is the next choir", "memory/2026-11-30.md"),
        ("when is the next vet visit", "memory/vet.md"),
        ("ไปหาหมอฟันครั้งหน้าเมื่อไหร่", "memory/ฟัน.md"),
    ],
)
def test_a_note_that_says_when_comes_before_logs_of_past_ones(
    opened: Callable[..., Memory], backend: str, query: str, path: str
) -> None:
    assert opened(backend).search(query).hits[0].path == path


def test_the_explanation_says_what_was_raised_and_what_lowered(
    opened: Callable[..., Memory],
) -> None:
    hits = opened().search("when is the next dentist appointment?").hits
    notes = {hit.path: hit.explain.arms[0].note for hit in hits}
    assert notes["memory/calendar.md"].endswith("; says when: what is next is asked for")
    lowered = "; evidence x 0.8: what is next is asked for"
    assert notes["memory/2026-10-05.md"].endswith(lowered)
    assert notes["memory/2026-09-14.md"].endswith(lowered)


@pytest.mark.parametrize(
    "query",
    [
        "when was the next dentist appointment made",
        "dentist appointment",
        "when is the next release",  # no note says
    ],
)
def test_other_questions_and_those_that_no_note_answers_are_as_before(
    opened: Callable[..., Memory], query: str
) -> None:
    hits = opened().search(query).hits
    assert hits
    assert not any("is asked for" in hit.explain.arms[0].note for hit in hits)


def test_it_is_off_with_the_plain_profile(opened: Callable[..., Memory]) -> None:
    memory = opened(search={"ranking": {"profile": "plain"}})
    hits = memory.search("when is the next dentist appointment?").hits
    assert hits[0].path == "memory/2026-10-05.md"
    assert not any("is asked for" in hit.explain.arms[0].note for hit in hits)


@pytest.mark.parametrize(
    ("query", "lacking"),
    [
        ("when is the next xylophone lesson", ["xylophone", "lesson"]),
        ("wann ist die nächste Impfung", ["Impfung"]),
        ("what do I usually paint on Mondays", ["paint"]),
        ("what is the next xylophone", ["next", "xylophone"]),  # no time is asked for
    ],
)
def test_no_note_need_have_the_word_that_asks_for_it(
    opened: Callable[..., Memory], query: str, lacking: list[str]
) -> None:
    assert [word.word for word in opened().search(query).unknown] == lacking


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "query",
    [
        "what do I usually do on Monday?",
        "what do I do on Mondays",
        "was machen wir freitags",
        "was essen wir normalerweise am Freitag",
        "周六通常做什么",
    ],
)
def test_a_habit_is_of_no_day(opened: Callable[..., Memory], backend: str, query: str) -> None:
    first = opened(backend).search(query).hits[0]
    assert first.path == "memory/week.md"
    assert first.explain.arms[0].note.endswith("what is again and again is asked for")


@pytest.mark.parametrize("query", ["what did I do on Monday", "what did every choir do on Monday"])
def test_what_was_on_a_day_is_as_before(opened: Callable[..., Memory], query: str) -> None:
    assert opened().search(query).hits[0].path == "memory/2026-11-30.md"
