"""The newest fact comes first, scores mean the same everywhere, and filters never lie."""

from __future__ import annotations

import calendar
import json
import re
from datetime import date, timedelta
from functools import partial
from importlib.util import find_spec
from math import atanh
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import DeclinedError, Memory, PluginHost
from commonplace.plugin import KeywordMatches, KeywordQuery, Probe, hookimpl
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox

    from commonplace.plugin import BackendRegistrar

    Opener = Callable[..., Memory]

TODAY = date(2026, 11, 22)  # a Sunday
BACKENDS = ["builtin", "inmemory", *(["lancedb"] if find_spec("lancedb") else [])]
FILLER = (
    "Lunch was soup with Ana.",
    "The printer on the second floor is broken again, and no repair is in sight before Friday.",
    "Reviewed a template of the invoices with the people from accounting until late.",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    return root


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def write_logs(root: Path, count: int = 60) -> str:
    """A log a day up to today, the newer the longer; the path of the newest."""
    for ago in range(count):
        day = TODAY - timedelta(ago)
        other = "\n".join(f"- {FILLER[at % 3]}" for at in range(8 * (count - ago) // count))
        text = f"# {day}\n\n- the staging port is now {8499 - ago}\n{other}\n"
        write(root, f"memory/{day}.md", text)
    return f"memory/{TODAY}.md"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    folders = {f"COMMONPLACE_{one}_DIR": str(tmp_path / one) for one in ("STATE", "CACHE")}
    return {"HOME": str(tmp_path / "home"), "TZ": "UTC", **folders}


@pytest.fixture
def opener(env: dict[str, str], workspace: Path) -> Iterator[Opener]:
    opened: list[Memory] = []

    def open_(backend: str = "builtin", folder: Path = workspace, **search: Any) -> Memory:
        now = calendar.timegm((*TODAY.timetuple()[:3], 12, 0, 0))
        memory = Memory.open(
            workspace=folder,
            config={"memory": {"backend": [backend], "search": search}},
            env=env,
            one_shot=True,
            clock=lambda: float(now),
        )
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_sixty_logs_the_newest_is_shown_with_the_others_folded(
    opener: Opener, workspace: Path, backend: str
) -> None:
    newest = write_logs(workspace)
    result = opener(backend).search("which port does staging use")
    (hit,) = result.hits
    assert (hit.path, hit.day) == (newest, TODAY.isoformat())
    assert "8499" in hit.snippet
    assert len(hit.similar) == 59
    days = [citation[len("memory/") :][:10] for citation in hit.similar]
    assert days == sorted(days, reverse=True)


class WithoutPhrases(InMemoryStore):
    """A store that cannot tell which chunks hold certain words."""

    capabilities = InMemoryStore.capabilities - {"phrases", "vectors"}

    def keyword(self, query: KeywordQuery, **options: Any) -> KeywordMatches:
        if query.must:
            raise DeclinedError("this engine knows no phrases")
        return super().keyword(query, **options)


class SmallPlugin:
    @hookimpl
    def commonplace_register_backends(self, register: BackendRegistrar) -> None:
        probe = partial(Probe, available=True)
        register.store("small", lambda _: WithoutPhrases(), summary="of a test", probe=probe)


@pytest.mark.parametrize("chain", [["small"], ["small", "builtin"]], ids="-".join)
def test_an_engine_that_cannot_look_for_newer_ones_answers_all_the_same(
    env: dict[str, str], workspace: Path, chain: list[str]
) -> None:
    write_logs(workspace, 120)
    host = PluginHost(env=env)
    host.register(SmallPlugin(), name="small")
    config = {"memory": {"backend": chain}}
    with Memory.open(workspace=workspace, env=env, host=host, config=config) as memory:
        result = memory.search("staging port")
    assert (result.backend, result.fallback) == ("small", None)
    assert result.hits
    note = "newer notes that say the same may be missing: this engine knows no phrases"
    assert note in result.notes


def test_without_folding_the_newest_of_equal_ones_comes_first(
    opener: Opener, workspace: Path
) -> None:
    for ago in range(30):
        day = TODAY - timedelta(ago)
        write(workspace, f"memory/{day}.md", f"The staging port is {8000 + ago}.\n")
    write(workspace, "memory/a.md", "The staging port is 9000.\n")
    found = opener(query={"fold": False, "hybrid": {"recency": {"weight": 0}}})
    days = [hit.day for hit in found.search("staging port", max_results=40).hits]
    dated = [(TODAY - timedelta(ago)).isoformat() for ago in range(30)]
    assert days == [*dated, None]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("what happened yesterday?", ["2026-11-21"]),
        ("what did I do last week", ["2026-11-14", "2026-11-10"]),
        ("上周做了什么", ["2026-11-14", "2026-11-10"]),
        ("was habe ich gestern gemacht", ["2026-11-21"]),
        ("what happened in October", ["2026-10-20"]),
        ("what happened in 2025?", ["2025-08-20"]),
        ("what happened last week -demo", ["2026-11-10"]),
        ("xyzzy yesterday", ["2026-11-21"]),
    ],
)
def test_a_question_for_a_time_finds_the_notes_of_its_days(
    opener: Opener, workspace: Path, backend: str, query: str, days: list[str]
) -> None:
    write(workspace, "MEMORY.md", "# Plan\n\n- Dual writes last for one week.\n")
    write(workspace, "memory/2026-11-21.md", "# Log\n\n- Repaired the login loop.\n")
    write(workspace, "memory/2026-11-14.md", "# Log\n\n- Demo for the sales team.\n")
    write(workspace, "memory/2026-11-10.md", "# Log\n\n- Paid for the ferry.\n")
    write(workspace, "memory/2026-10-20.md", "# Log\n\n- Ordered tulip bulbs.\n")
    write(workspace, "memory/2025-08-20.md", "# Log\n\n- Ordered a kayak.\n")
    result = opener(backend).search(query)
    assert [hit.day for hit in result.hits] == days
    assert all("of a day that the query names" in hit.explain.arms[0].note for hit in result.hits)
    assert [one.word for one in result.unknown] == (["xyzzy"] if "xyzzy" in query else [])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "query",
    ["2026-11-09", "what happened on 9 November 2026?", "11月9日に何があった", "9. November"],
)
def test_notes_of_a_named_day_stand_before_notes_with_its_numbers(
    opener: Opener, workspace: Path, backend: str, query: str
) -> None:
    write(workspace, "MEMORY.md", "- On 2026-11-09, on November 9, we chose the 11月9日 plan.\n")
    write(workspace, "memory/2026-11-09.md", "# Monday\n\n- Paid for the ferry.\n")
    write(workspace, "memory/2026-11-11.md", "# 11 November 2026\n\n- 38,9 degrees on day 9.\n")
    hits = opener(backend).search(query).hits
    assert hits[0].day == "2026-11-09"
    assert hits[0].score > hits[1].score
    assert None in [hit.day for hit in hits[1:]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_undated_note_that_is_named_as_a_month_stands_beside_the_notes_of_its_days(
    opener: Opener, workspace: Path, backend: str
) -> None:
    write(workspace, "memory/plan.md", "# Plans for October\n\n- Order tulip bulbs.\n")
    for day in range(1, 31):
        write(workspace, f"memory/2026-10-{day:02}.md", f"Walked {day} miles along the river.\n")
    hits = opener(backend).search("October", max_results=5).hits
    assert "memory/plan.md" in [hit.path for hit in hits]


@pytest.mark.parametrize("backend", BACKENDS)
def test_notes_of_a_named_month_stand_before_undated_ones_that_say_it(
    opener: Opener, workspace: Path, backend: str
) -> None:
    write(workspace, "MEMORY.md", "- Mia has her birthday on 14 October.\n")
    write(workspace, "memory/2026-10-01.md", "# 1 October 2026\n\n- Repaired the login loop.\n")
    write(workspace, "memory/2026-10-20.md", "# Log\n\n- Ordered tulip bulbs.\n")
    for day in range(1, 10):
        write(workspace, f"memory/2026-09-0{day}.md", f"Walked {day} miles along the river.\n")
    hits = opener(backend).search("what happened in October 2026?").hits
    assert [hit.day for hit in hits[:3]] == ["2026-10-20", "2026-10-01", None]


@pytest.mark.parametrize("query", ["what was released last Friday?", "released on 2026-11-20"])
def test_of_notes_with_the_words_that_of_the_named_day_comes_first(
    opener: Opener, workspace: Path, query: str
) -> None:
    write(workspace, "memory/2026-11-18.md", "# 2026-11-18\n\n- Release branch is 2026/11 now.\n")
    long = "- Water damage in the cellar, insurance claim number HV-2231-88.\n"
    text = f"# 2026-11-20\n\n- Released otter 4.2.1; plan in memory/projects/otter.md.\n{long}"
    write(workspace, "memory/2026-11-20.md", text)
    write(workspace, "memory/2026-11-02.md", "# 2026-11-02\n\n- Went running.\n")
    assert opener().search(query).hits[0].day == "2026-11-20"


def test_that_no_note_is_of_the_days_is_said(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/2026-11-21.md", "Repaired the login loop.\n")
    memory = opener()
    assert memory.search("what happened in March").notes == (
        "no note is of the days that the query names: 03-01 to 03-31",
    )
    assert memory.search("login loop yesterday").notes == ()


def test_a_number_that_is_asked_for_is_shown(opener: Opener, workspace: Path) -> None:
    write_logs(workspace)
    first, second = opener().search("staging port 8450").hits
    assert "8450" in first.snippet
    assert not first.similar
    assert second.day == TODAY.isoformat()


def test_an_exact_identifier_in_an_old_note_is_hit_one(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/2019-01-02.md", "Mia fixed `ERR_MODULE_NOT_FOUND` in the build.\n")
    for ago in range(20):
        day = TODAY - timedelta(ago)
        write(workspace, f"memory/{day}.md", f"The build number {ago} of module {ago} was found.\n")
    for query in ("ERR_MODULE_NOT_FOUND", "what was ERR_MODULE_NOT_FOUND in the build"):
        assert opener().search(query).hits[0].path == "memory/2019-01-02.md"


def test_recency_leaves_evergreen_notes_alone_and_gives_way_to_decay(
    opener: Opener, workspace: Path
) -> None:
    write(workspace, "MEMORY.md", "The walrus sings.\n")
    write(workspace, "memory/2020-01-01.md", "The walrus sings.\n")

    def steps(**query: Any) -> dict[str, list[str]]:
        hits = opener(query=query).search("walrus").hits
        return {hit.path: [step.ranker for step in hit.explain.steps] for hit in hits}

    by_path = {hit.path: hit for hit in opener().search("walrus").hits}
    (_, recency, _) = by_path["MEMORY.md"].explain.steps
    assert (recency.before, recency.note) == (recency.after, "no date")
    (_, recency, _) = by_path["memory/2020-01-01.md"].explain.steps
    assert atanh(recency.after) == pytest.approx(0.9 * atanh(recency.before))
    decayed = steps(hybrid={"temporalDecay": {"enabled": True}})
    assert set(map(tuple, decayed.values())) == {("evidence", "validity", "temporal_decay")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_note_that_answers_exactly_scores_high_in_any_workspace(
    opener: Opener, tmp_path: Path, backend: str
) -> None:
    scores = []
    for others in (1, 2, 19, 199):
        folder = tmp_path / f"of-{others}"
        write(folder, "MEMORY.md", "The spare key is with Mrs. Hartmann.\n")
        for number in range(others):
            write(folder, f"memory/n{number}.md", f"Bought {number} pounds of apples for a cake.\n")
        hits = opener(backend, folder).search("where is the spare key").hits
        assert hits[0].path == "MEMORY.md"
        scores.append(hits[0].score)
    assert min(scores) > 0.75
    assert max(scores) - min(scores) < 0.2


def test_half_of_what_is_asked_scores_half(opener: Opener, workspace: Path) -> None:
    write(workspace, "MEMORY.md", "The walrus sings at the harbour every morning.\n")
    both = opener().search("walrus harbour").hits[0].score
    half = opener().search("walrus unicorn").hits[0].score
    assert half == pytest.approx(both / 2, abs=0.1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_words_that_no_note_has_are_named_with_a_likely_spelling(
    opener: Opener, workspace: Path, backend: str
) -> None:
    write(
        workspace,
        "MEMORY.md",
        "# Deploying\n\nWe deploy on Tuesday. \u90e8\u7f72\u65b9\u6848.\n",
    )
    result = opener(backend).search("deply on tuesday xyzzy")
    assert result.hits
    named = [(one.word, one.suggestion) for one in result.unknown]
    assert named == [("deply", "deploy"), ("xyzzy", "")]
    assert "no note has 'deply'; did you mean 'deploy'?" in result.notes
    assert "no note has 'xyzzy'" in result.notes
    result = opener(backend).search("\u91cf\u5b50\u8ba1\u7b97 \u90e8\u7f72\u65b9\u6cd5")
    assert [one.word for one in result.unknown] == ["\u91cf\u5b50\u8ba1\u7b97"]
    assert [one.word for one in opener(backend).search("E_NOSPC").unknown] == ["E_NOSPC"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("query", "word", "instead"),
    [
        ("Hausratversicherung", "Hausratversicherung", ("hausrat",)),
        ("what does the Hausratversicherung cost", "Hausratversicherung", ("hausrat",)),
        ("forcepush", "forcepush", ("force", "push")),
        ("post mortem of the outage", "mortem", ("postmortem",)),
        ("where is the (post mortem)?", "mortem", ("postmortem",)),
        ("deply", "deply", ("deploy",)),
    ],
)
def test_a_word_that_no_note_has_is_searched_for_by_its_parts(
    opener: Opener, workspace: Path, backend: str, query: str, word: str, instead: tuple[str, ...]
) -> None:
    write(workspace, "memory/hausrat.md", "Hausrat: 84 Euro im Jahr\n")
    write(workspace, "memory/force.md", "Do not force a push to main.\n")
    write(workspace, "memory/postmortem.md", "Postmortem: the outage of May.\n")
    write(workspace, "memory/deploy.md", "We deploy on Tuesday.\n")
    result = opener(backend).search(query)
    assert result.hits[0].path == f"memory/{instead[0]}.md"
    assert (word, instead) in [(one.word, one.instead) for one in result.unknown]
    asked = " and ".join(map(repr, instead))
    assert f"no note has {word!r}: searched for {asked} instead" in result.notes


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("query", ["1430 Euro", "wie viel Euro kostet die Miete"])
def test_a_unit_that_notes_have_as_a_sign_is_searched_for_by_no_other_word(
    opener: Opener, workspace: Path, backend: str, query: str
) -> None:
    write(workspace, "memory/a.md", "Miete der Wohnung: 1.430 € im Monat, überwiesen.\n")
    write(workspace, "memory/b.md", "Die Europareise durch Europa ist teuer.\n")
    result = opener(backend).search(query)
    assert result.hits[0].path == "memory/a.md"
    assert not any("Euro" in note for note in result.notes)


@pytest.mark.parametrize("backend", ["builtin", "inmemory"])
@pytest.mark.parametrize(
    ("query", "instead"),
    [
        ("Heizlast", ("heizlastberechnung",)),
        ("when does the kube upgrade run", ("kubernetes",)),
        ("authen", ("authentication",)),
        ("what about 3f9a2", ("3f9a2bc1d4",)),
        ("un castrador de la gata", ("castrada",)),
        ("the mother of Eva", ("mum",)),
        ("lineeage of the gata", ("lineage",)),
        ("which chekout", ("checkout",)),
        ("shoppers", ()),
        ("Schlüssel", ("schlüsseldienst",)),
        ("definately not", ("definitely",)),
        ("mother -mum", ()),
        ("who trained the model", ()),
        ("undo the release", ()),
        ("which afternoon", ()),
        ("when is the garbage collected", ()),
    ],
)
def test_a_word_that_no_note_has_is_searched_for_by_other_words(
    opener: Opener, workspace: Path, backend: str, query: str, instead: tuple[str, ...]
) -> None:
    write(workspace, "memory/heat.md", "Heizlastberechnung liegt vor.\n")
    write(
        workspace, "memory/security.md", "Authentication by tokens. Authentication: 30 minutes.\n"
    )
    write(workspace, "memory/kubernetes.md", "The Kubernetes cluster runs 1.31; one garage.\n")
    write(workspace, "memory/family.md", "Mum plays after tea, her favourites first.\n")
    write(workspace, "memory/keys.md", "Schlüsseldienst: 0711. It is definitely open.\n")
    write(
        workspace, "memory/train.md", "The railway to Linz. One line, age 3: lineage, checkout.\n"
    )
    write(workspace, "memory/commits.md", "Rolled back to 3f9a2bc1d4.\n")
    write(workspace, "memory/shop.md", "Mica, castrada en Madrid. Shop, 60 per hour.\n")
    result = opener(backend).search(query)
    assert [one.instead for one in result.unknown if one.instead] == ([instead] if instead else [])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("+493090182044", "+49 30 901820-44"),
        ("03090182044", "+49 30 901820-44"),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
        ("001b44113ab7", "00:1B:44:11:3A:B7"),
        ("+14155552671", "+1 415 555 2671"),
        ("16502530000", "(650) 253-0000"),
        ("+491712345678", "0171 2345678"),
        ("0142685300", "+33 1 42 68 53 00"),
        ("9783161484100", "978-3-16-148410-0"),
        ("25000", "25 000"),
        ("6325000", "6\u202f325\u202f000"),
        ("2026", ""),
        ("4403090182049", ""),
    ],
)
def test_a_number_is_found_in_the_groups_that_a_note_has_it_in(
    opener: Opener, workspace: Path, backend: str, number: str, written: str
) -> None:
    lines = [
        "+49 30 901820-44",
        "20 26 and 20-26",
        "DE89 3704 0044 0532 0130 00",
        "00:1B:44:11:3A:B7",
        written,
    ]
    for at, line in enumerate(lines):
        write(workspace, f"memory/{at}.md", f"The number is {line}.\n")
    result = opener(backend).search(number)
    (word,) = result.unknown
    if not written:
        assert (word.instead, result.hits) == ((), ())
        return
    (groups,) = word.instead
    assert groups.split()[-1] == re.findall(r"\w+", written.lower())[-1]
    assert written in result.hits[0].snippet


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819"),
        ("+49 30 901820 44", "+493090182044"),
        ("+49 (0)30 901820 44", "+493090182044"),
        ("whose number is 030/901820-44?", "+493090182044"),
        ("+49 30 901820-44", "03090182044"),
        ("code +49 30 901820-44", "03090182044"),
        ("978-3-16-148410-0", "9783161484100"),
        ("00:1B:44:11:3A:B7", "001b44113ab7"),
        ("4000-001230-000002", "4000 0012 3000 0002"),
    ],
)
def test_a_number_that_is_typed_in_groups_is_found_in_one_or_in_others(
    opener: Opener, workspace: Path, backend: str, typed: str, written: str
) -> None:
    write(workspace, "memory/a.md", f"The door code is {written}.\n")
    write(workspace, "memory/b.md", "30 of 44 came, 11 of 49 left, and the number 19 is 00.\n")
    result = opener(backend).search(typed)
    assert written in result.hits[0].snippet
    assert re.findall(r"\w+", written.lower()) == result.unknown[-1].instead[0].split()
    assert len(result.notes) <= 2, result.notes


@pytest.mark.parametrize("query", ["order 12345678901", "12345678901", "12345678901 order"])
def test_the_end_of_another_number_is_not_the_number(
    opener: Opener, workspace: Path, query: str
) -> None:
    write(workspace, "memory/a.md", "Order 45678901 was shipped.\n")
    (word,) = opener().search(query).unknown
    assert word.instead == ()


def test_groups_of_which_no_number_is_made_are_words(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/a.md", "Lots 4711 and 0816 are sold.\n")
    result = opener().search("lots 4711 0815 2230")
    assert [one.word for one in result.unknown] == ["0815", "2230"]
    assert len(result.hits) == 1


def test_the_groups_of_a_number_count_side_by_side(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/a.md", "The number of the pager is +49 30 901820-44.\n")
    write(workspace, "memory/b.md", "44 of 49, 30 of 901820.\n")
    hits = opener().search("+493090182044").hits
    assert [hit.path for hit in hits] == ["memory/a.md", "memory/b.md"]


def test_what_is_excluded_is_no_place_to_find_a_number(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/a.md", "Card 4000 0000 0000 0002 expired.\n")
    write(workspace, "memory/b.md", "The ferry leaves at nine.\n")
    (word,) = opener().search("4000000000000002 -expired").unknown
    assert word.instead == ()


def test_a_number_is_found_among_many_notes_with_its_groups(
    opener: Opener, workspace: Path
) -> None:
    write(workspace, "memory/a.md", "Pager: +49 30 901820-44\n")
    costs = [f"{number % 97} items cost {number * 37 % 100_000}.\n" for number in range(4_000)]
    for start in range(0, len(costs), 40):
        write(workspace, f"memory/costs/{start}.md", "".join(costs[start : start + 40]))
    assert opener().search("+493090182044").hits[0].path == "memory/a.md"


def test_a_name_of_which_only_longer_ones_are_known_finds_these_first(
    opener: Opener, workspace: Path
) -> None:
    write(workspace, "memory/metric.md", "`http_server_requests_seconds_bucket` has 12 labels.\n")
    write(
        workspace,
        "memory/errors.md",
        "HTTP server: too many requests, seconds to wait. The http server requests seconds.\n",
    )
    hits = opener().search("http_server_requests_seconds").hits
    assert [hit.path for hit in hits] == ["memory/metric.md", "memory/errors.md"]


def test_stop_words_are_no_parts_and_the_profile_plain_searches_for_none(
    opener: Opener, workspace: Path
) -> None:
    write(workspace, "memory/force.md", "Do not force a push with or out of hours.\n")
    assert opener().search("without").hits == ()
    (word,) = opener(ranking={"profile": "plain"}).search("forcepush").unknown
    assert word.instead == ()


def test_known_words_are_not_named(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/ops/tidal.md", "# Harbour\n\n`maxRetries` runs na\u00efvely.\n")
    memory = opener()
    for query in ("harbours tidal", "max retries", "maxRetries", "running naive", "MAX_RETRIES"):
        assert memory.search(query).unknown == (), query
    for query in ("maxTimeouts", "MAX_TIMEOUTS", "tidal maxTimeouts"):
        unknown = [one.word for one in memory.search(query).unknown]
        assert unknown == [query.removeprefix("tidal ")]


def test_a_threshold_means_the_same_in_the_file_and_on_the_call(
    opener: Opener, workspace: Path
) -> None:
    write(workspace, "MEMORY.md", "The walrus sings at the harbour.\n")
    write(workspace, "memory/a.md", "The walrus eats a lot of fish, and sleeps after that.\n")
    query = "walrus sings harbour"
    assert len(opener().search(query).hits) == 2
    called = opener().search(query, min_score=0.5)
    configured = opener(query={"minScore": 0.5}).search(query)
    assert [hit.path for hit in called.hits] == [hit.path for hit in configured.hits]
    assert [hit.path for hit in called.hits] == ["MEMORY.md"]
    assert called.notes == ("left out: 1 hit that scores less than 0.5, the least score asked for",)
    assert configured.notes == ("left out: 1 hit that scores less than 0.5, query.minScore",)
    assert len(opener(query={"minScore": 0.5}).search(query, min_score=0).hits) == 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("filters", "days"),
    [
        ("after:yesterday", [21, 22]),
        ("after:last-week before:last-week", [9, 15]),
        ("after:7d", [15, 16, 20, 21, 22]),
        ("before:2026-Q3", []),
        ("after:\u4e0a\u5468 before:\u4e0a\u9031", [9, 15]),
        ("after:\u6628\u65e5", [21, 22]),
        ("after:november before:2026-11-09", [9]),
        ("after:16d -path:memory/2026-11-2*.md", [9, 15, 16]),
    ],
)
def test_filters_of_days(
    opener: Opener, workspace: Path, backend: str, filters: str, days: list[int]
) -> None:
    for number, day in enumerate((9, 15, 16, 20, 21, 22)):
        text = f"The walrus {'abcdefg'[number] * 5}.\n"
        write(workspace, f"memory/2026-11-{day:02}.md", text)
    result = opener(backend).search(f"walrus {filters}")
    found = [hit.day for hit in result.hits]
    assert sorted(found, key=str) == [f"2026-11-{day:02}" for day in days]
    assert not [note for note in result.notes if "understood" in note]


def test_the_time_zone_decides_what_yesterday_is(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/2026-11-22.md", "The walrus sings.\n")
    write(workspace, "memory/2026-11-23.md", "The walrus eats.\n")
    for zone, days in (("UTC", 2), ("Pacific/Kiritimati", 1)):  # where it is the 23rd already
        hits = opener(query={"timeZone": zone}).search("walrus after:today").hits
        assert len(hits) == days, zone


def test_sources_can_be_left_out(opener: Opener, workspace: Path) -> None:
    write(workspace, "MEMORY.md", "The walrus sings.\n")
    memory = opener()
    assert memory.search("walrus -source:sessions").hits
    assert not memory.search("walrus -source:memory").hits


def test_what_is_not_understood_is_said_and_not_searched_for(
    opener: Opener, workspace: Path
) -> None:
    write(workspace, "MEMORY.md", "The walrus sings. It is after 2026 and 13 and 45.\n")
    result = opener().search("walrus after:2026-13-45")
    assert len(result.hits) == 1
    assert [snippet for snippet in result.notes if snippet.startswith("after:2026-13-45 is not")]
    marked = [result.hits[0].snippet[start:end] for start, end in result.hits[0].highlights]
    assert marked == ["walrus"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_likely_spelling_is_a_word_of_the_notes(
    opener: Opener, workspace: Path, backend: str
) -> None:
    # "manago" has the stem of "managers", and "managrs" is one letter from it.
    write(workspace, "MEMORY.md", "# Staff\n\nThe managers meet on Monday.\n")
    memory = opener(backend)
    for typed, meant in (
        ("mango", ""),
        ("managrs", "managers"),
        ("stafff", "staff"),
        ("stuff", ""),
    ):
        assert [(one.word, one.suggestion) for one in memory.search(typed).unknown] == [
            (typed, meant)
        ]


def test_a_query_of_exclusions_says_what_is_missing(opener: Opener, workspace: Path) -> None:
    write(workspace, "MEMORY.md", "The staging walrus.\n")
    result = opener().search("-staging")
    assert result.hits == ()
    (note,) = result.notes
    assert note.startswith("the query only says what to leave out")
    assert '"-staging"' in note
    (note,) = opener().search("after:2026").notes
    assert note == (
        "the query has filters and no words: add a word to search for, or list the notes: "
        "`commonplace list --after 2026-01-01`"
    )


def test_either_of_two_words_or_phrases(opener: Opener, workspace: Path) -> None:
    write(workspace, "memory/a.md", "The red fox is a project.\n")
    write(workspace, "memory/b.md", "The blue bird is a product.\n")
    memory = opener()
    for query in ("project OR product", '"red fox" OR "blue bird"'):
        assert {hit.path for hit in memory.search(query).hits} == {"memory/a.md", "memory/b.md"}
    assert len(memory.search('"red fox" "blue bird"').notes) == 1


def test_the_command_prints_what_is_folded_weak_or_unknown(sandbox: Sandbox) -> None:
    for day in range(1, 10):
        text = f"The staging port is now {8000 + day}.\n"
        sandbox.write(f"memory/2026-10-{day:02}.md", text)
    other = "Mia asked how to find the old port of Hamburg, behind the fish market and a bridge"
    sandbox.write("memory/otter.md", f"{other}, on a long walk along the quay in the rain.\n")
    ran = sandbox.run("search", "staging port now xyzzy")
    first = ran.went_well().splitlines()[0]
    before = "(before: 8008 (2026-10-08), 8007 (2026-10-07))"
    assert first.endswith(f"memory/2026-10-09.md#L1  +8 more like this {before}")
    assert any(line.endswith("  weak match") for line in ran.out.splitlines())
    assert "note: no note has 'xyzzy'" in ran.err
    facts = json.loads(sandbox.run("search", "staging port now xyzzy", "--json").went_well())
    assert len(facts["results"][0]["similar"]) == len(facts["results"][0]["earlier"]) == 8
    assert facts["results"][0]["day"] == "2026-10-09"
    assert facts["unknownWords"] == [{"word": "xyzzy", "suggestion": "", "instead": []}]


def test_compat_folds_nothing_and_keeps_its_scores(opener: Opener, workspace: Path) -> None:
    for day in range(1, 4):
        write(workspace, f"memory/2026-10-0{day}.md", f"The staging port is {day}.\n")
    memory = opener(ranking={"profile": "compat"})
    hits = memory.search("staging port").hits
    assert len(hits) == 3
    assert {step.ranker for hit in hits for step in hit.explain.steps} == {
        "weighted",
        "lexical_boost",
    }
