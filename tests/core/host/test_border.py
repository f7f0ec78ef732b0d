from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import UnavailableError
from commonplace.host import border
from commonplace.host.border import (
    GuardedRanker,
    checked_arms,
    failures_of,
    read_of,
    scanned,
)
from commonplace.model.documents import DocumentRef, ScanReport
from commonplace.model.search import (
    Arm,
    Candidate,
    Explanation,
    Found,
    KeywordQuery,
    Query,
    StoredChunk,
)
from commonplace.protocols.contexts import RankContext
from commonplace.search.search import with_step

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "twice": lambda hits: [hits[0], hits[0]],
    "another path": lambda hits: [hits[0]._replace(chunk=CHUNK._replace(path="/etc/passwd"))],
    "another chunk": lambda hits: [hits[0]._replace(chunk=CHUNK._replace(id=9))],
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("trusted", [False, True])
def test_a_ranker_that_fails_is_skipped_and_named(name: str, trusted: bool) -> None:
    if name == "interrupts" and trusted:
        pytest.skip("our own rankers run where a real Ctrl-C arrives")
    ranker = GuardedRanker(Odd(BAD[name]), LABEL, trusted=trusted)  # type: ignore[arg-type]
    ranked = ranker.rank(HITS, CONTEXT)
    assert [(hit.chunk, hit.score) for hit in ranked] == [(h.chunk, h.score) for h in HITS]
    (note,) = failures_of(ranked)
    assert note.startswith(f"the ranker 'odd' of {LABEL} was skipped: ")


def test_a_ranker_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(border, "RANKER_SECONDS", 0.01)
    done = Event()
    ranker = GuardedRanker(Odd(lambda _: done.wait(30)), LABEL, trusted=False)  # type: ignore[arg-type]
    ranked = ranker.rank(HITS, CONTEXT)
    done.set()
    assert "took more than" in failures_of(ranked)[0]


def test_a_ranker_that_always_hangs_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(border, "RANKER_SECONDS", 0.01)
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
    ranker = GuardedRanker(
        Odd(lambda hits: [with_step(hits[1], "odd", 1)]),  # type: ignore[arg-type]
        LABEL,
        trusted=False,
    )
    (hit,) = ranker.rank(HITS, CONTEXT)
    assert (hit.chunk.path, hit.score) == ("memory/b.md", 1)
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
