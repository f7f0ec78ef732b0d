from __future__ import annotations

import signal
import sys
from datetime import date
from math import inf, nan
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import UnavailableError
from commonplace.host import answers
from commonplace.host.answers import (
    GuardedRanker,
    checked_arms,
    checked_report,
    make_rankers,
    read_of,
    scanned,
)
from commonplace.host.discovery import EntryPoint
from commonplace.host.host import PluginHost
from commonplace.model.documents import DocumentRef, ScanReport
from commonplace.model.reports import Embedding, SyncReport
from commonplace.model.search import (
    Arm,
    Candidate,
    Explanation,
    Found,
    KeywordQuery,
    Query,
    StoredChunk,
    Where,
)
from commonplace.plugin import hookimpl
from commonplace.protocols.contexts import (
    FurtherHits,
    RankContext,
    RankerContext,
)
from commonplace.resilience.deadline import Deadline
from commonplace.search.ranking import failures_of, with_step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHUNK = StoredChunk(1, "memory", "memory/a.md", 1, 3, "text")
HITS = [
    Candidate(CHUNK, 0.5, Explanation()),
    Candidate(CHUNK._replace(id=2, path="memory/b.md"), 0.4, Explanation()),
]
CONTEXT = RankContext(query=Query("q", KeywordQuery(("q",))), now=0.0, limit=5)
LABEL = "acme_rank (acme-rank 1.2)"


class Odd:
    """A ranker that gives whatever ``gives`` gives."""

    id = "odd"
    stage = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, gives: Callable[[Any], Any]) -> None:
        self._gives = gives

    def rank(self, hits: Any, context: Any) -> Any:
        """As it was made to."""
        del context
        return self._gives(hits)


def raises(error: BaseException) -> Callable[[Any], Any]:
    def give(hits: Any) -> Any:
        raise error

    return give


BAD: dict[str, Callable[[Any], Any]] = {
    "raises": raises(ValueError("no")),
    "recursion": raises(RecursionError()),
    "exits": raises(SystemExit(3)),
    "interrupts": raises(KeyboardInterrupt()),
    "none": lambda _: None,
    "text": lambda _: "hits",
    "number": lambda _: 3,
    "chunks": lambda hits: [hit.chunk for hit in hits],
    "nan": lambda hits: [with_step(hit, "odd", float("nan")) for hit in hits],
    "infinite": lambda hits: [hit._replace(score=float("inf")) for hit in hits],
    "a score as text": lambda hits: [hit._replace(score="0.5") for hit in hits],
    "a score of yes": lambda hits: [hit._replace(score=True) for hit in hits],
    "too high": lambda hits: [hit._replace(score=7.0) for hit in hits],
    "below 0": lambda hits: [hit._replace(score=-0.1) for hit in hits],
    "none of them": lambda _: [],
    "one left out": lambda hits: hits[1:],
    "twice": lambda hits: [hits[0], hits[0]],
    "another path": lambda hits: [hits[0]._replace(chunk=CHUNK._replace(path="/etc/passwd"))],
    "another chunk": lambda hits: [hits[0]._replace(chunk=CHUNK._replace(id=9))],
    "lines that are none": lambda hits: [hits[0]._replace(lines="1-2")],
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("trusted", [False, True])
def test_a_ranker_that_fails_is_skipped_and_named(name: str, trusted: bool) -> None:
    ranker = GuardedRanker(Odd(BAD[name]), LABEL, trusted=trusted)  # type: ignore[arg-type]
    ranked = ranker.rank(HITS, CONTEXT)
    assert [(hit.chunk, hit.score) for hit in ranked] == [(h.chunk, h.score) for h in HITS]
    (note,) = failures_of(ranked)
    assert note.startswith(f"the ranker 'odd' of {LABEL} was skipped: ")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"explain": None}, "it gave a hit whose explain is None, not of type Explanation"),
        ({"chunk": "x"}, "it gave a hit whose chunk is a str, not of type StoredChunk"),
        ({"lines": "1-2"}, "it gave a hit whose lines are '1-2', not two int"),
    ],
)
def test_the_field_of_a_hit_that_is_wrong_is_named(wrong: dict[str, Any], words: str) -> None:
    ranker = GuardedRanker(Odd(lambda hits: [hits[0]._replace(**wrong)]), LABEL, trusted=False)  # type: ignore[arg-type]
    (note,) = failures_of(ranker.rank(HITS, CONTEXT))
    assert note.endswith(f" was skipped: TypeError: {words}")


@pytest.mark.parametrize("trusted", [False, True])
def test_a_ranker_may_add_what_it_asked_for_and_nothing_else(trusted: bool) -> None:
    other = Candidate(CHUNK._replace(id=3, path="memory/c.md"), 0.0, Explanation())
    asked: list[tuple[Query, Where]] = []

    def ask(query: Query, *, where: Where) -> tuple[Arm, ...]:
        asked.append((query, where))
        return ()

    further = FurtherHits(CONTEXT.query, Where(paths=("memory",)), ask, lambda _: [other], [])
    context = CONTEXT._replace(further=further)
    adds = GuardedRanker(Odd(lambda hits: [*hits, other]), LABEL, trusted=trusted)  # type: ignore[arg-type]
    assert len(adds.rank(HITS, context)) == 2  # it has not asked
    keyword = KeywordQuery(("never",))
    sources = frozenset({"sessions"})
    odd = Odd(lambda hits: [*hits, *further(keyword, without=sources)])
    asks = GuardedRanker(odd, LABEL, trusted=trusted)  # type: ignore[arg-type]
    assert [hit.chunk.id for hit in asks.rank(HITS, context)] == [1, 2, 3]
    where = Where(paths=("memory",), not_sources=sources)
    assert asked == [(Query("q", keyword), where)]


def test_the_users_interrupt_ends_a_search() -> None:
    ranker = GuardedRanker(Odd(lambda _: signal.raise_signal(signal.SIGINT)), LABEL, trusted=True)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        ranker.rank(HITS, CONTEXT)


def test_a_ranker_has_no_more_time_than_the_search() -> None:
    done = Event()
    ranker = GuardedRanker(Odd(lambda _: done.wait(30)), LABEL, trusted=False)  # type: ignore[arg-type]
    ranked = ranker.rank(HITS, CONTEXT._replace(deadline=Deadline.after(0.01)))
    done.set()
    assert "took more than 0.0" in failures_of(ranked)[0]


def test_a_ranker_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "RANKER_SECONDS", 0.01)
    done = Event()
    ranker = GuardedRanker(Odd(lambda _: done.wait(30)), LABEL, trusted=False)  # type: ignore[arg-type]
    ranked = ranker.rank(HITS, CONTEXT)
    done.set()
    assert "took more than" in failures_of(ranked)[0]


def test_a_ranker_that_always_hangs_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "RANKER_SECONDS", 0.01)
    done, calls = Event(), []

    def hang(hits: Any) -> Any:
        calls.append(hits)
        done.wait(30)

    ranker = GuardedRanker(Odd(hang), LABEL, trusted=False)  # type: ignore[arg-type]
    notes = [failures_of(ranker.rank(HITS, CONTEXT))[0] for _ in range(6)]
    done.set()
    assert len(calls) == 4
    assert "4 calls have not come back" in notes[-1]


def test_a_selection_with_new_scores_passes() -> None:
    selects = Odd(lambda hits: [with_step(hits[1], "odd", 1)])
    selects.stage = "select"
    ranker = GuardedRanker(selects, LABEL, trusted=False)  # type: ignore[arg-type]
    (hit,) = ranker.rank(HITS, CONTEXT)
    assert (hit.chunk.path, hit.score) == ("memory/b.md", 1)
    assert failures_of([hit]) == ()


@pytest.mark.parametrize(
    ("text", "lines", "shown"),
    [
        ("one\ntwo\nthree", (2, 2), ("two", 2, 2)),
        ("one\ntwo\nthree", (1, 2), ("one\ntwo", 1, 2)),
        ("one\ntwo\nthree", (0, 2), ("one\ntwo\nthree", 1, 3)),  # not all of them are its own
        ("one\ntwo\nthree", (3, 2), ("one\ntwo\nthree", 1, 3)),
        ("a piece of a line", (2, 2), ("a piece of a line", 1, 3)),
    ],
)
def test_a_ranker_may_show_some_lines_of_what_it_asked_for(
    text: str, lines: tuple[int, int], shown: tuple[str, int, int]
) -> None:
    hit = Candidate(CHUNK._replace(text=text), 0.5, Explanation())
    further = FurtherHits(CONTEXT.query, Where(), lambda *_, **__: (), lambda _: [hit], [])
    context = CONTEXT._replace(further=further)
    cuts = Odd(lambda _: [one._replace(lines=lines) for one in further(KeywordQuery(("a",)))])
    ranked = GuardedRanker(cuts, LABEL, trusted=True).rank([], context)  # type: ignore[arg-type]
    keeps = Odd(lambda hits: [with_step(one, "odd", 0.5) for one in hits])
    (hit,) = GuardedRanker(keeps, LABEL, trusted=True).rank(ranked, context)  # type: ignore[arg-type]
    assert (hit.chunk.text, hit.chunk.start_line, hit.chunk.end_line) == shown
    assert failures_of([hit]) == ()


def test_where_fusion_fails_another_one_fuses() -> None:
    instead = GuardedRanker(
        Odd(lambda hits: [with_step(hit, "odd", 0.9) for hit in hits]),  # type: ignore[arg-type]
        LABEL,
        trusted=True,
    )
    ranker = GuardedRanker(Odd(BAD["none"]), LABEL, trusted=False, instead=instead)  # type: ignore[arg-type]
    assert [hit.score for hit in ranker.rank(HITS, CONTEXT)] == [0.9, 0.9]


FOUND = Found(CHUNK, 1.0)
WRONG: dict[str, Any] = {
    "nothing": None,
    "a text": "arms",
    "texts": ["arm"],
    "an unknown kind": [Arm("keyword", "stars", (FOUND,))],  # type: ignore[arg-type]
    "hits that are none": [Arm("keyword", "bm25", None)],  # type: ignore[arg-type]
    "a chunk for a hit": [Arm("keyword", "bm25", (CHUNK,))],  # type: ignore[arg-type]
    "a score as text": [Arm("keyword", "bm25", (Found(CHUNK, "1"),))],  # type: ignore[arg-type]
    "no path": [Arm("keyword", "bm25", (Found(CHUNK._replace(path=""), 1.0),))],
    "a path of bytes": [Arm("keyword", "bm25", (Found(CHUNK._replace(path=b"a"), 1.0),))],  # type: ignore[arg-type]
    "line 0": [Arm("keyword", "bm25", (Found(CHUNK._replace(start_line=0), 1.0),))],
    "a day that is a date": [
        Arm("keyword", "bm25", (Found(CHUNK._replace(day=date(2026, 1, 1)), 1.0),))  # type: ignore[arg-type]
    ],
    "a day in words": [Arm("keyword", "bm25", (Found(CHUNK._replace(day="yesterday"), 1.0),))],
    "a day of no calendar": [
        Arm("keyword", "bm25", (Found(CHUNK._replace(day="2026-02-30"), 1.0),))
    ],
    "a week for a day": [Arm("keyword", "bm25", (Found(CHUNK._replace(day="2026-W01-1"), 1.0),))],
    "a list for an id": [Arm("keyword", "bm25", (Found(CHUNK._replace(id=[1]), 1.0),))],  # type: ignore[arg-type]
    "a list of unknown words": [Arm("keyword", "bm25", (FOUND,), unknown=["tea"])],  # type: ignore[arg-type]
    "lines as text": [Arm("keyword", "bm25", (Found(CHUNK._replace(end_line="3"), 1.0),))],  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_backend_may_answer_is_its_failure(name: str) -> None:
    with pytest.raises(UnavailableError, match="acme answered with"):
        checked_arms(WRONG[name], "acme")


def test_a_lawful_answer_passes_as_it_is() -> None:
    arms = (Arm("keyword", "bm25", (FOUND,)), Arm("vector", "cosine", ()))
    assert checked_arms(arms, "acme") == arms
    assert checked_arms(list(arms), "acme") == arms
    dated = Found(CHUNK._replace(id="a", day="2026-02-28"), 1.0)
    arm = Arm("keyword", "bm25", (dated, FOUND), unknown=frozenset({"tea"}))
    assert checked_arms((arm,), "acme") == (arm,)


@pytest.mark.parametrize(
    ("given", "taken"), [(5, 1.0), (-0.5, 0.0), (nan, None), (inf, None), (0.5, 0.5), (None, None)]
)
def test_shares_are_brought_within_0_and_1(given: float | None, taken: float | None) -> None:
    found = (FOUND, FOUND._replace(evidence=given), FOUND._replace(coverage=given))
    (arm,) = checked_arms([Arm("keyword", "bm25", found)], "acme")
    assert [one.evidence for one in arm.found] == [None, taken, None]
    assert [one.coverage for one in arm.found] == [None, None, taken]


class OddSource:
    """A source of one document that fails as it is asked to."""

    id = "odd"
    version = "1"
    capabilities: frozenset[str] = frozenset({"readable"})

    def __init__(self, scan: Callable[[Any], Any], read: Callable[[Any], Any]) -> None:
        self._scan = scan
        self.read = read

    def scan(self) -> Any:
        """As it was made to."""
        return self._scan(None)


REF = DocumentRef("odd", "odd/1.md", "1", "one")
JUNK: dict[str, Callable[[Any], Any]] = {
    "raises": raises(ValueError("no")),
    "exits": raises(SystemExit(1)),
    "none": lambda _: None,
    "texts": lambda _: ScanReport(("odd/1.md",), ("",)),  # type: ignore[arg-type]
    "no path": lambda _: ScanReport((REF._replace(path=""),), ("",)),
}


@pytest.mark.parametrize("name", JUNK)
def test_a_source_that_fails_is_a_root_that_failed(name: str) -> None:
    source: Any = OddSource(JUNK[name], raises(ValueError()))
    (failure,) = scanned(source).failed_roots
    assert (failure.root, failure.source) == ("", "odd")
    assert failure.reason.startswith("the source 'odd' failed: ")
    assert scanned(source).documents == ()


@pytest.mark.parametrize("read", [raises(KeyError("x")), raises(SystemExit()), lambda _: "text"])
def test_a_document_that_a_source_cannot_read_is_unreadable(read: Callable[[Any], Any]) -> None:
    source: Any = OddSource(lambda _: ScanReport((REF,), ("",)), read)
    assert scanned(source).documents == (REF,)
    with pytest.raises(OSError, match=r"^odd "):
        read_of(source, REF)


_REPORT: Any = SyncReport
REPORTS: dict[str, Any] = {
    "nothing": None,
    "a text": "done",
    "a count of nothing": _REPORT(added=None),
    "a count as text": _REPORT(remaining="3"),
    "a number that is none": _REPORT(seconds=float("nan")),
    "roots that are none": _REPORT(failed_roots=None),
    "an embedding as text": _REPORT(embedding="all"),
}


@pytest.mark.parametrize("name", REPORTS)
def test_what_no_report_may_be_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="it gave a"):
        checked_report(REPORTS[name])


@pytest.mark.parametrize(
    "report", [SyncReport(), SyncReport(remaining=-1, seconds=2, embedding=Embedding())]
)
def test_a_lawful_report_passes(report: SyncReport) -> None:
    assert checked_report(report) is report


class RankerPlugin:
    """Registers rankers that raise when they are made, or exist."""

    @hookimpl
    def commonplace_register_rankers(self, register: Any) -> None:
        fuses = SimpleNamespace(id="fuses", stage="fuse", needs=(), rank=lambda hits, _: hits)
        adjusts = SimpleNamespace(id="adjusts", stage="adjust", needs=(), rank=lambda hits, _: hits)
        register.ranker("fuses", lambda _: fuses, summary="s")
        register.ranker("adjusts", lambda _: adjusts, summary="s")
        register.ranker("broken", raises(SystemExit(2)), summary="s")


@pytest.mark.parametrize(
    ("chain", "runs", "says"),
    [
        (("fuses", "adjusts"), ["fuses", "adjusts"], ""),
        (("adjusts",), ["fuses"], "no ranker of ranking.chain fuses: fuses rank instead"),
        (("fuses", "absent"), ["fuses"], "missing: fuses rank instead"),
        (("fuses", "adjusts", "broken"), ["fuses"], "missing: fuses rank instead"),
    ],
)
def test_a_chain_that_is_not_whole_gives_way_to_the_default_one(
    chain: tuple[str, ...], runs: list[str], says: str
) -> None:
    host = PluginHost((), env={})
    host.register(RankerPlugin(), name="acme")
    rankers, notes = make_rankers(host, chain, ("fuses",), lambda _: RankerContext())
    assert [ranker.id for ranker in rankers] == runs
    assert any(says in note for note in notes) is bool(notes)
    assert len(notes) < 2 or chain[-1] in notes[0]


def test_only_our_own_distribution_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "near_by.py").write_text(
        "from commonplace.plugin import hookimpl\n"
        "@hookimpl\n"
        "def commonplace_register_rankers(register):\n"
        "    register.ranker('near', lambda _: None, summary='s')\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        trusted = {
            name: PluginHost([EntryPoint("ranker.near", "near_by", name)], env={}).is_builtin(
                "ranker", "near"
            )
            for name in ("commonplace", "commonplace-foo", "commonplace foo", "acme")
        }
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("near_by", None)
    assert [name for name, builtin in trusted.items() if builtin] == ["commonplace"]
