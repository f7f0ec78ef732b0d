"""What a question for a time finds: notes of its days, and notes that name coming days."""

from __future__ import annotations

import calendar
from datetime import date
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory, PluginHost
from commonplace.config.load import load_settings, section_class

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
    memories = []

    def open_(backend: str = "builtin") -> Memory:
        host = PluginHost(env=env)
        settings = load_settings(
            workspace=str(root),
            config={"memory": {"backend": [backend]}},
            env=env,
            sections=partial(section_class, host),
        )
        now = calendar.timegm((*TODAY.timetuple()[:3], 12, 0, 0))
        memories.append(Memory(settings, host, env=env, clock=lambda: float(now), one_shot=True))
        return memories[-1]

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

    assert past.score < coming.score - 0.1


def test_the_logs_of_a_month_are_listed_where_words_find_none_of_it(
    opened: Callable[[str], Memory],
) -> None:
    hits = opened("builtin").search("what did the electrician do in October").hits
    assert [hit.path for hit in hits[:2]] == ["MEMORY.md", "memory/2026-10-12.md"]
    # A log of the month that has a word is enough.
    hits = opened("builtin").search("what was stuck in October").hits
    assert hits[0].day == "2026-10-12"


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
