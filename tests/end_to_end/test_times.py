"""What a question for a time finds: notes of its days, and notes that name coming days."""

from __future__ import annotations

import calendar
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TODAY = date(2026, 11, 27)  # a Friday
BACKENDS = ["builtin", "inmemory", *(["lancedb"] if find_spec("lancedb") else [])]
LOGS = {
    "2025-11-26": "- Deployed v17 to production, deploy day is Thursday.",
    "2026-03-09": "- Deployed v24, the deploy took an hour. Deploys are slow.",
    "2026-10-12": "- The queue was stuck for two hours.",
    "2026-11-16": "- My turn with the pager until next Monday.",
    "2026-11-22": "- The plumber comes on Saturday, 28 November, between 8 and 10.\n- Ran 14 km.",
    "2026-11-24": "- Deployed a hotfix.\n- 下周三 12月2日 体检。",
    "2026-11-25": "- Wei takes the pager on the 30th of November.",
    "2026-11-26": "- Shipped v40 to all tenants.\n- The demo is next Thursday.",
    "2026-11-27": "- Tomorrow Brandt at nine.\n- Sunday: Christmas market.",
}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Memory]]:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    for day, text in LOGS.items():
        (root / f"memory/{day}.md").write_text(f"# {day}\n\n{text}\n", encoding="utf-8")
    memory = "# Facts\n\n- We deploy on Thursdays.\n- The electrician is Okafor.\n"
    (root / "MEMORY.md").write_text(memory, encoding="utf-8")
    health = "# Health\n\n- Dentist for Leo on Dec 2 at 14:00.\n- Dentist for Mila on May 12.\n"
    (root / "memory/health.md").write_text(health, encoding="utf-8")
    env = {f"COMMONPLACE_{one}_DIR": str(tmp_path / one) for one in ("STATE", "CACHE")}
    env |= {"HOME": str(tmp_path), "TZ": "UTC"}
    memories: list[Memory] = []

    def open_(backend: str = "builtin") -> Memory:
        now = calendar.timegm((*TODAY.timetuple()[:3], 12, 0, 0))
        memory = Memory.open(
            workspace=root,
            config={"memory": {"backend": [backend]}},
            env=env,
            one_shot=True,
            clock=lambda: float(now),
        )
        memories.append(memory)
        return memory

    yield open_
    for one in memories:
        one.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_log_of_the_named_day_is_shown_without_the_words(
    opened: Callable[[str], Memory], backend: str
) -> None:
    hits = opened(backend).search("what did we deploy yesterday?").hits
    assert hits[0].day == "2026-11-26"
    assert hits[0].score == pytest.approx(0.5)
    assert "of a day that the query names" in hits[0].explain.arms[0].note
    others = [hit for hit in hits if hit.day != "2026-11-26"]
    assert others  # what has the word is still found
    assert all(hit.score < 0.5 for hit in others)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("who comes to the house tomorrow?", {"memory/2026-11-27.md", "memory/2026-11-22.md"}),
        ("what is on tomorrow?", {"memory/2026-11-27.md", "memory/2026-11-22.md"}),
        ("what are we doing this weekend", {"memory/2026-11-27.md", "memory/2026-11-22.md"}),
        (
            "any appointments next week?",
            {"memory/health.md", "memory/2026-11-24.md", "memory/2026-11-26.md"},
        ),
        ("下周有什么安排", {"memory/health.md", "memory/2026-11-24.md", "memory/2026-11-26.md"}),
        ("upcoming dates of the dentist", {"memory/health.md"}),
    ],
)
def test_notes_that_name_coming_days_are_found(
    opened: Callable[[str], Memory], backend: str, query: str, paths: set[str]
) -> None:
    hits = opened(backend).search(query, max_results=10).hits
    first = {hit.path for hit in hits[: len(paths) + 1]}
    assert first >= paths
    assert all(hit.score >= 0.2 for hit in hits if hit.path in paths)


def test_a_weekday_is_the_next_one_where_nothing_asks_for_what_was(
    opened: Callable[[str], Memory],
) -> None:
    memory = opened("builtin")
    coming = memory.search("who takes the pager on Monday").hits[0]
    past = memory.search("who took the pager, and was it on Monday").hits[0]
    assert coming.day == "2026-11-25"
    assert past.day == "2026-11-16"  # it names a Monday, too


_OF_SUNDAYS = {
    "2026-11-15": "# Sunday\n- Ran 10 km.\n",
    "2026-11-22": "# Sunday\n- Sunday: ran 14 km.\n- Boxes for the move are due.\n",
    "2026-11-25": "# Wednesday\n- Sunday: Christmas market.\n",
    "2026-11-27": "# 2026-11-27\n- Rain.\n",
    "family": "# Family\n- 29.11. lunch at Carmen's, the pie is due.\n",
    "club": "# Club\n- Match on 2026-11-29.\n- Match on 2026-11-15.\n",
}
_COMING = {"memory/2026-11-25.md", "memory/family.md", "memory/club.md"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "query", ["what are we doing on Sunday?", "was machen wir am Sonntag", "日曜日の予定は"]
)
def test_what_names_the_coming_day_comes_before_logs_of_the_last_one(
    opened: Callable[[str], Memory], tmp_path: Path, backend: str, query: str
) -> None:
    replace_logs(tmp_path, _OF_SUNDAYS)
    hits = opened(backend).search(query).hits
    assert {hit.path for hit in hits[:3]} == _COMING
    assert hits[3].day == "2026-11-22"
    assert hits[0].explain.arms[0].note == "names a coming day of the query"
    assert "x 0.8: what will be is asked for" in hits[3].explain.arms[0].note


@pytest.mark.parametrize("query", ["what did we do on Sunday?", "Sunday's log", "notes of Sunday"])
def test_the_log_of_the_last_day_comes_first_where_nothing_asks_for_the_coming_one(
    opened: Callable[[str], Memory], tmp_path: Path, query: str
) -> None:
    replace_logs(tmp_path, _OF_SUNDAYS)
    assert opened("builtin").search(query).hits[0].day == "2026-11-22"


def test_of_what_names_coming_days_what_has_the_word_for_it_comes_first(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    replace_logs(tmp_path, _OF_SUNDAYS)
    memory = opened("builtin")
    for query in ("anything due this month?", "what's due on Sunday"):
        hits = memory.search(query).hits
        assert hits[0].path == "memory/family.md"
        assert {hit.path for hit in hits[:3]} == _COMING, "the log of today names no coming day"


def test_a_log_of_another_friday_says_friday_of_its_own_day(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    logs = {
        "2026-11-06": "# Log\n- Friday. Decided on the name.\n",
        "2026-11-13": "# Log\n- Friday. Decided on the colour.\n",
        "2026-11-20": "# Log\n- Long talk. Lunch with Sam, then paid the plumber and the rent.\n"
        "- Decided to hire Lena.\n",
    }
    replace_logs(tmp_path, logs)
    query = "what was decided last Friday"
    assert opened("builtin").search(query).hits[0].day == "2026-11-20"
    hits = opened("builtin").search("what was decided on Friday the week before this").hits
    assert hits[0].day == "2026-11-20"


def test_the_logs_of_a_month_are_listed_where_words_find_none_of_it(
    opened: Callable[[str], Memory],
) -> None:
    hits = opened("builtin").search("what did the electrician do in October").hits
    assert [hit.path for hit in hits[:2]] == ["MEMORY.md", "memory/2026-10-12.md"]
    # A log of the month that has a word is enough.
    hits = opened("builtin").search("what was stuck in October").hits
    assert hits[0].day == "2026-10-12"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("query", ["December", "what is planned for December"])
def test_a_month_a_few_days_ahead_is_the_next_one_as_much_as_the_last(
    opened: Callable[[str], Memory], tmp_path: Path, backend: str, query: str
) -> None:
    notes = tmp_path / "workspace" / "memory"
    for day in range(1, 9):
        log = notes / f"2025-12-{day:02}.md"
        log.write_text(f"# 2025-12-{day:02}\n\n- Tidied drawer {day}.\n", encoding="utf-8")
    old = "# 2025-11-28\n\n- The chimney sweep comes on 4 December.\n"
    (notes / "2025-11-28.md").write_text(old, encoding="utf-8")
    memory = opened(backend)
    hits = memory.search(query, max_results=6).hits
    coming = {"memory/health.md", "memory/2026-11-24.md", "memory/2026-11-26.md"}
    assert {hit.path for hit in hits[:3]} == coming
    assert hits[3].day == "2025-12-08", "a plan of last year is no coming day"
    past = memory.search("what happened in December", max_results=6).hits
    assert not coming & {hit.path for hit in past}


def test_a_named_day_counts_beside_vectors_too(opened: Callable[[str], Memory]) -> None:
    hits = opened("builtin").search("what did we deploy on 24 November?").hits
    covered = {hit.day: hit.explain.arms[0].coverage or 0.0 for hit in hits}
    assert covered["2026-11-24"] > 0.5 > covered["2026-03-09"]
    (arm,) = opened("builtin").search("what did we deploy yesterday?").hits[0].explain.arms
    assert arm.coverage == arm.evidence == pytest.approx(0.5)


def test_a_day_weighs_as_much_as_three_words(opened: Callable[[str], Memory]) -> None:
    hits = opened("builtin").search("deployed hotfix on 24 November").hits
    assert hits[0].day == "2026-11-24"
    assert hits[0].score > 0.9
    other = opened("builtin").search("deployed hotfix on 9 March").hits
    assert [hit.day for hit in other[:2]] == ["2026-03-09", "2026-11-24"]
    assert other[1].score < 0.6


def replace_logs(tmp_path: Path, logs: dict[str, str], memory: str = "# Facts\n") -> None:
    for path in (tmp_path / "workspace/memory").iterdir():
        path.unlink()
    for day, text in logs.items():
        (tmp_path / f"workspace/memory/{day}.md").write_text(text, encoding="utf-8")
    (tmp_path / "workspace/MEMORY.md").write_text(memory, encoding="utf-8")


@pytest.mark.parametrize(
    ("query", "answer", "others"),
    [
        ("sales in October", "Sales in October: 41,300", "# October {}, 2026"),
        ("ventas de octubre", "Ventas octubre 41.300", "# {} de octubre"),
        ("выручка за октябрь", "Выручка за октябрь 388 000", "# {} октября"),
    ],
)
def test_a_month_that_is_named_counts_no_more_than_what_is_asked_about_it(
    opened: Callable[[str], Memory], tmp_path: Path, query: str, answer: str, others: str
) -> None:
    notes = {"2026-11-02": f"# 2026-11-02\n\n- {answer}\n- Bread, apples\n"}
    for day in range(5, 12):
        notes[f"2026-10-{day:02}"] = f"{others.format(day)}\n\n- Dinner at the harbour\n"
    replace_logs(tmp_path, notes)
    hits = opened("builtin").search(query).hits
    assert hits[0].path == "memory/2026-11-02.md"


def test_a_rule_that_names_a_weekday_comes_before_the_log_of_one(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    notes = {
        "2026-11-20": "# 2026-11-20\n\n- Bought apples\n",
        "2026-11-19": "# 2026-11-19\n\n- Deployed the hotfix\n",
    }
    replace_logs(tmp_path, notes, "- Never deploy on Friday afternoons\n- Bread, apples\n")
    hits = opened("builtin").search("can we deploy on Friday?").hits
    assert hits[0].path == "MEMORY.md"


@pytest.mark.parametrize(
    ("query", "of_the_week", "other"),
    [
        (
            "what was decided about the tourist leaflet last week?",
            "The tourist board pays the extra cost",
            "Submitted the bid for the tourist leaflet",
        ),
        (
            "先週、観光パンフについて何が決まった?",
            "追加費用は観光協会が負担",
            "観光パンフの入札書類を提出",
        ),
        ("上周旅游手册的事情定了什么?", "追加费用由旅游局承担", "提交旅游手册投标书"),
    ],
)
def test_a_week_that_is_named_counts_alike_in_scripts_without_spaces(
    opened: Callable[[str], Memory], tmp_path: Path, query: str, of_the_week: str, other: str
) -> None:
    notes = {
        "2026-11-18": f"# 2026-11-18\n\n- {of_the_week}\n",
        "2026-10-02": f"# 2026-10-02\n\n- {other}\n",
    }
    replace_logs(tmp_path, notes)
    hits = opened("builtin").search(query).hits
    assert hits[0].path == "memory/2026-11-18.md"


def test_a_date_in_numbers_is_no_set_of_words(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    notes = {
        "2026-03-05": "# 2026-03-05\n\n- Rain\n",
        "2026-05-03": "# 2026-05-03\n\n- The budget is 700 euros.\n",
    }
    replace_logs(tmp_path, notes, "- The budget of 2026-03-05 was 500 euros.\n")
    hits = opened("builtin").search("budget 2026-05-03").hits
    assert hits[0].day == "2026-05-03"
    assert hits[1].score < 0.5


def test_a_month_counts_as_a_word_where_no_note_has_the_others(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    notes = {"2026-10-05": "# 5 October\n\n- Rain\n", "2026-03-05": "# 5 March\n\n- Rain\n"}
    replace_logs(tmp_path, notes, "- Plans for October\n")
    hits = opened("builtin").search("October zylophone").hits
    assert hits[0].day == "2026-10-05"
    assert hits[0].score > hits[-1].score


def _month_with_a_topic(tmp_path: Path) -> None:
    notes = {
        "2026-03-06": "# 2026-03-06\n\n- Disk full, shop down.\n",
        "2026-03-12": "# 2026-03-12\n\n- Tomasz on vacation until 20 March.\n",
        "2026-08-03": "# 2026-08-03\n\n- The export broke.\n",
        "2026-09-03": "# 2026-09-03\n\n- The login broke.\n",
        "2026-09-10": "# 2026-09-10\n\n- The cart broke, and the till broke.\n",
    }
    replace_logs(tmp_path, notes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_notes_of_a_month_are_shown_where_one_of_them_says_its_name(
    opened: Callable[[str], Memory], tmp_path: Path, backend: str
) -> None:
    _month_with_a_topic(tmp_path)
    memory = opened(backend)
    result = memory.search("what broke in March?", max_results=4)
    days = [hit.day for hit in result.hits]
    assert {"2026-03-06", "2026-03-12"} < set(days)
    assert days[0] not in {"2026-03-06", "2026-03-12"}  # a note that has the word
    assert [note for note in result.notes if "03-01 to 03-31 has another word" in note]
    # Where one of them has the word it comes first, and nothing is said of the others.
    result = memory.search("shop in March")
    assert result.hits[0].day == "2026-03-06"
    assert not [note for note in result.notes if "another word" in note]


def test_what_is_since_a_time_runs_to_today(opened: Callable[[str], Memory]) -> None:
    memory = opened("builtin")
    hits = memory.search("what happened since 16 November?").hits
    days = [hit.day for hit in hits]
    assert days == [f"2026-11-{day}" for day in (27, 26, 25, 24, 22, 16)]
    hits = memory.search("what happened before November?").hits
    assert [hit.day for hit in hits] == ["2026-10-12", "2026-03-09", "2025-11-26"]


def test_a_span_is_no_filter_and_its_numbers_are_no_words(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    notes = {
        "2026-08-20": "# 2026-08-20\n\n- Rain, 1 and 20.\n",
        "2026-08-10": "# 2026-08-10\n\n- A bug in the cart.\n",
        "2026-10-20": "# 2026-10-20\n\n- A bug in the export.\n",
    }
    replace_logs(tmp_path, notes)
    memory = opened("builtin")
    hits = memory.search("bug between 1 and 20 August").hits
    assert [hit.day for hit in hits] == ["2026-08-10", "2026-10-20"]
    hits = memory.search("bug after September").hits
    assert [hit.day for hit in hits] == ["2026-10-20", "2026-08-10"]


def test_where_the_first_is_asked_for_the_oldest_comes_first(
    opened: Callable[[str], Memory], tmp_path: Path
) -> None:
    notes = {
        f"2026-{month}-05": f"# 2026-{month}-05\n\n- Load test: {month}0 checkouts.\n"
        for month in ("09", "10", "11")
    }
    replace_logs(tmp_path, notes)
    memory = opened("builtin")
    for query in ("oldest load test", "load test originally", "ältester load test"):
        assert memory.search(query).hits[0].day == "2026-09-05", query
    for query in ("latest load test", "load test"):
        assert memory.search(query).hits[0].day == "2026-11-05"


def _in_place_of_a_word(tmp_path: Path, **more: str) -> None:
    exploded = {f"2026-0{month}-03": "- The login exploded.\n" for month in (7, 8, 9)}
    notes = {
        "2026-03-06": "- The colour of the door.\n",
        "2026-03-12": "- It is defective. Never force a push.",
    }
    replace_logs(tmp_path, {day: f"# {day}\n\n{text}" for day, text in (exploded | notes).items()})
    for name, text in more.items():
        (tmp_path / f"workspace/memory/{name[1:].replace('_', '-')}.md").write_text(text, "utf-8")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("what exploded in March?", True),
        ("exploaded in March", True),  # meant: exploded
        ("which was faulty in March", False),  # a note has "defective"
        ("exploded faulty in March 2026", False),
        ("forcepush in March", False),  # a note has both words
        ("color in March", False),  # it has another spelling
        ("what did the walrus eat in March", False),  # it is in the name of a note
        ("which otter was seen in March", False),  # and in the title of one
    ],
)
def test_no_note_of_a_time_has_another_word_only_where_that_is_so(
    opened: Callable[[str], Memory], tmp_path: Path, backend: str, query: str, said: bool
) -> None:
    title = "---\ntitle: The otter\n---\n\nIt ran away.\n"
    _in_place_of_a_word(tmp_path, _2026_03_13_walrus="- Nothing.\n", _2026_03_14=title)
    result = opened(backend).search(query)
    assert any("has another word" in note for note in result.notes) is said
