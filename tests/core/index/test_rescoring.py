from __future__ import annotations

from datetime import date
from math import isfinite, log
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.index.dated import nearness
from commonplace.index.rescoring import (
    LEAST_CANDIDATES,
    Information,
    rescored,
    weighing,
    weights_of,
)
from commonplace.model.search import Found, KeywordMatches, KeywordQuery, StoredChunk, TermCounts
from commonplace.text.languages import rarity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = ("ferry", "anchor", "gearbox", "\u4f1a\u8bae", "\u306e\u4f1a")
DAYS = ("2026-05-01", "2026-05-02", "2026-05-20", "2025-11-30")


def made(
    counts: Sequence[dict[str, float]],
    *,
    days: Sequence[str | None] = (),
    paths: Sequence[str] = (),
    holders: dict[str, int] | None = None,
    chunks: int = 50,
) -> KeywordMatches:
    """Matches with these counts, ten lines apart where they share a path."""
    found = tuple(
        Found(
            StoredChunk(
                number,
                "memory",
                paths[number] if paths else f"memory/{number}.md",
                number * 10 + 1,
                number * 10 + 3,
                "text",
                day=days[number] if days else None,
            ),
            1.0,
        )
        for number in range(len(counts))
    )
    held = holders or {word: sum(word in one for one in counts) for word in WORDS}
    terms = tuple(TermCounts(one, 20) for one in counts)
    return KeywordMatches(found, chunks, held, terms, 20.0)


def order(matches: KeywordMatches, query: KeywordQuery) -> list[object]:
    return [item.chunk.id for item in rescored(matches, query, LEAST_CANDIDATES)]


COUNTS = st.lists(
    st.dictionaries(st.sampled_from(WORDS), st.floats(0.4, 9), min_size=1), min_size=1, max_size=9
)
QUERY = KeywordQuery(should=WORDS[:3])


@given(COUNTS, st.data())
@settings(max_examples=50)
def test_days_change_nothing_for_a_query_that_names_none(
    counts: list[dict[str, float]], data: st.DataObject
) -> None:
    days = data.draw(st.lists(st.sampled_from(DAYS), min_size=len(counts), max_size=len(counts)))
    same = made(counts, days=[DAYS[0]] * len(counts))
    assert order(made(counts, days=days), QUERY) == order(same, QUERY)


@given(COUNTS)
@settings(max_examples=50)
def test_passages_of_one_document_are_ordered_by_their_words_alone(
    counts: list[dict[str, float]],
) -> None:
    matches = made(counts, paths=["memory/one.md"] * len(counts))
    scores = [item.score for item in rescored(matches, QUERY, LEAST_CANDIDATES)]
    weights = weights_of(QUERY, matches.chunks, matches.holders or {})
    by_words = sorted(
        (
            sum(weights.get(word, 0) * count * 2.2 / (count + 1.2) for word, count in one.items())
            for one in counts
        ),
        reverse=True,
    )
    assert scores == pytest.approx(by_words)


@given(COUNTS, st.lists(st.sampled_from([*DAYS, None]), min_size=9, max_size=9))
@settings(max_examples=50)
def test_all_candidates_stay_with_finite_scores_and_an_evidence(
    counts: list[dict[str, float]], days: list[str | None]
) -> None:
    query = QUERY._replace(days=(("2026-05-01", "2026-05-01"), ("-11-01", "-11-30")))
    matches = made(counts, days=days)
    found = rescored(matches, query, LEAST_CANDIDATES)
    assert sorted(item.chunk.id for item in found) == list(range(len(counts)))
    assert all(isfinite(item.score) and 0 <= (item.evidence or 0) <= 1 for item in found)
    assert [item.score for item in found] == sorted((i.score for i in found), reverse=True)
    assert found == rescored(matches, query, LEAST_CANDIDATES)


@pytest.mark.parametrize("held", [0, 1, 3, 4, 9])
def test_the_evidence_is_a_share_also_where_a_store_counts_more_holders_than_chunks(
    held: int,
) -> None:
    evidence = Information(KeywordQuery(should=("ferry",)), 3, {"ferry": held})
    assert 0 <= evidence.of(2.0) <= 1


def test_a_day_that_is_named_comes_first_and_near_ones_follow() -> None:
    counts = [{"ferry": 1.0}] * 4
    days = ["2026-05-20", "2026-05-02", "2026-05-01", None]
    query = KeywordQuery(should=("ferry",), days=(("2026-05-01", "2026-05-01"),))
    assert order(made(counts, days=days), query) == [2, 1, 0, 3]
    every_year = query._replace(days=(("-05-01", "-05-01"),))
    assert order(made(counts, days=days), every_year) == [2, 1, 0, 3]
    found = rescored(made(counts, days=days), query, LEAST_CANDIDATES)
    assert found[0].score == pytest.approx(2.5 * found[3].score)
    assert "1 x 1.50 date" in found[0].note
    near = {"2026-05-01": 1.5, "2026-05-02": 0.75, "2026-05-03": 0.65, "2026-05-07": 0.375}
    for day, expected in near.items():
        assert nearness(query.days, day) == pytest.approx(expected, rel=0.01)
    week = (("2026-05-01", "2026-05-07"),)
    beside = [nearness(week, f"2026-05-{day}") for day in ("01", "07", "08", "13")]
    assert beside == [1, 1, 0.75, 0.375]


@given(st.dates(), st.dates())
@example(date.min, date(2026, 5, 1))
@example(date.max, date(2026, 5, 1))
def test_a_day_of_any_year_is_near_to_the_same_day_without_a_year(day: date, named: date) -> None:
    query = KeywordQuery(should=("ferry",), days=((f"-{named:%m-%d}", f"-{named:%m-%d}"),))
    (found,) = rescored(made([{"ferry": 1.0}], days=[day.isoformat()]), query, LEAST_CANDIDATES)
    same = (day.month, day.day) == (named.month, named.day)
    assert ("1 x 1.50 date" in found.note) or not same


def test_a_document_about_the_query_raises_its_passages() -> None:
    counts = [{"ferry": 1.0}, {"ferry": 1.0}, {"anchor": 3.0}]
    paths = ["memory/a.md", "memory/b.md", "memory/b.md"]
    held = {"ferry": 2, "anchor": 1}
    query = KeywordQuery(should=("ferry", "anchor"))
    assert order(made(counts, paths=paths, holders=held), query) == [2, 1, 0]
    dated = made(counts, paths=paths, holders=held, days=[DAYS[0]] * 3)
    assert order(dated, query) == [2, 0, 1]


def test_documents_of_two_sources_with_one_path_are_two() -> None:
    counts = [{"ferry": 1.0}, {"ferry": 1.0}, {"anchor": 3.0}]
    query = KeywordQuery(should=("ferry", "anchor"))
    matches = made(counts, paths=["a.md", "b.md", "b.md"], holders={"ferry": 2, "anchor": 1})
    *others, last = matches.found
    moved = last._replace(chunk=last.chunk._replace(source="mails"))
    assert order(matches._replace(found=(*others, moved)), query) == [2, 0, 1]


def test_passages_of_one_document_do_not_fill_the_list() -> None:
    counts = [{"ferry": 1.0, "anchor": 1.0}] * 3 + [{"ferry": 1.0, "anchor": 0.95}]
    paths = ["memory/a.md"] * 3 + ["memory/b.md"]
    days = [DAYS[0]] * 4
    query = KeywordQuery(should=("ferry", "anchor"))
    held = {"ferry": 4, "anchor": 4}
    assert order(made(counts, paths=paths, days=days, holders=held), query)[:2] == [0, 3]
    alone = KeywordQuery(should=("ferry",))
    assert order(made(counts, paths=paths, days=days, holders=held), alone) == [0, 1, 2, 3]


def test_a_word_that_is_common_in_english_weighs_less_until_the_notes_tell() -> None:
    query = KeywordQuery(should=("time", "gearbox"))
    few = weights_of(query, 10, {"time": 1, "gearbox": 1})
    many = weights_of(query, 1_000_000, {"time": 100, "gearbox": 100})
    assert few["time"] < 0.7 * few["gearbox"]
    assert many["time"] == pytest.approx(log(1 + (1_000_000 - 99.5) / 100.5), rel=1e-3)


def test_the_stems_of_english_are_from_common_to_rare() -> None:
    levels = [rarity_of(stem) for stem in ("the", "time", "engin", "gearbox")]
    assert levels == sorted(set(levels))
    assert levels[0] == 0
    assert rarity_of("gearbox") == rarity_of("notaword") < 1
    assert rarity_of("a and") == rarity_of("") == rarity_of("notaword")  # neither is one stem


def test_pieces_of_text_without_spaces_that_most_chunks_hold_have_no_weight() -> None:
    tokens, held = ("\u306e", "\u4f1a", "ferry"), {"\u306e": 51, "\u4f1a": 50, "ferry": 90}
    assert weighing(tokens, 100, held) == ["\u4f1a", "ferry"]
    assert list(weights_of(KeywordQuery(should=tokens), 100, held)) == ["\u4f1a", "ferry"]
    assert weighing(("\u306e",), 100, held) == ["\u306e"]  # there is nothing else
    assert weighing(("\u306e", "absent"), 100, held) == ["\u306e", "absent"]  # nor held
    assert weighing(tokens, 10, {"\u306e": 10, "\u4f1a": 9, "ferry": 1}) == [*tokens]  # too few


def test_words_that_more_chunks_hold_than_there_are_weigh_nothing() -> None:
    matches = made([{"8402": 1.0}], holders={"8402": 4}, chunks=3)
    (found,) = rescored(matches, KeywordQuery(should=("8402",)), 5)
    assert (found.score, found.coverage) == (0.0, 0.0)


def test_all_that_is_asked_for_gets_a_second_score() -> None:
    last = made([{"ferry": 1.0}] * 69 + [{"ferry": 9.0}])
    for asked in (10, 45, 70):
        found = rescored(last, KeywordQuery(should=("ferry",)), asked)
        assert len(found) == asked
        assert found[0].chunk.id == 69
        evidence = [item.evidence or 0.0 for item in found]
        assert evidence == sorted(evidence, reverse=True)


@pytest.mark.parametrize(
    "typed", [("ferry", "zz"), ("ferry", "ferry", "zz"), ("ferry", "zz", "zz")]
)
def test_a_word_that_is_typed_twice_is_known_or_missing_once(typed: tuple[str, ...]) -> None:
    information = Information(KeywordQuery(should=typed), 100, {"ferry": 5})
    assert information.of(1_000.0) == pytest.approx(0.5)


LIST = """## Suppliers
- Bread: bakery on the market, sixty rolls each Saturday
- Gearbox: firm Zahn, ask for Ilse
- Paint and varnish: shop behind the church, fifteen percent for clubs
- Heating: fill up in August, before prices rise again
- Printer: three hundred copies of the yearbook"""


def list_and_note(text: str, day: str | None, length: int = 60) -> KeywordMatches:
    """A list in which a word stands once, and a short note that has it once."""
    matches = made([{"gearbox": 1.0}, {"gearbox": 1.0}], days=[day, "2026-05-01"])
    one, note = matches.found
    found = (one._replace(chunk=one.chunk._replace(text=text)), note)
    return matches._replace(
        found=found, terms=tuple(TermCounts({"gearbox": 1.0}, size) for size in (length, 20))
    )


ASKED = KeywordQuery(should=("gearbox", "anchor"))


def test_an_item_of_a_list_counts_as_a_text_of_its_own() -> None:
    first, second = rescored(list_and_note(LIST, None), ASKED, 9)
    assert (first.chunk.id, second.chunk.id) == (0, 1)
    assert "in an item of a list" in first.note
    assert "in an item" not in second.note
    assert dict(first.words) == pytest.approx({"gearbox": first.score / 1.4, "anchor": 0.0})


@pytest.mark.parametrize(
    ("text", "day", "length"),
    [
        (LIST, "2026-05-02", 60),  # a log has what happened, in any order
        (LIST, None, 20),  # no longer than others
        (LIST.replace("- Gearbox", "- For the gearbox"), None, 60),
        (LIST.replace("- ", ""), None, 60),
        (LIST[: LIST.index("- Printer")], None, 60),
        (LIST.replace("\n", "\nIt is so.\nSince long.\n"), None, 60),
    ],
)
def test_other_texts_count_as_a_whole(text: str, day: str | None, length: int) -> None:
    found = rescored(list_and_note(text, day, length), ASKED, 9)
    assert not any("in an item" in one.note for one in found)
    plain = rescored(list_and_note("text", day, length), ASKED, 9)
    assert [one.score for one in found] == [one.score for one in plain]
