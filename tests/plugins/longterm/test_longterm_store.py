"""The store on a real LanceDB: one memory of each kind, recalled by its owner alone."""

from __future__ import annotations

import subprocess
import sys
from array import array
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CallerError, IndexBusyError, UnavailableError
from commonplace.resilience.lock import Lease
from commonplace_longterm.database import Database
from commonplace_longterm.entries import Entry
from commonplace_longterm.markdown import read, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.plugins.longterm.conftest import FakeEmbedder

    from commonplace_longterm.store import LongTermStore

    Open = Callable[..., LongTermStore]


def texts(store: LongTermStore, query: str, *, least: float = 0.1, limit: int = 5) -> list[str]:
    found = store.recall(query, limit=limit, min_score=least).found
    return [hit.entry.text for hit in found]


def vector(cosine: float) -> bytes:
    """A vector that has this cosine to that of 1.0."""
    return array("f", [cosine, (1 - cosine * cosine) ** 0.5, *[0.0] * 14]).tobytes()


def test_by_words_alone_a_memory_is_kept_once_recalled_and_forgotten(open_store: Open) -> None:
    store = open_store()
    assert texts(store, "tabs") == []
    tabs = store.store("I prefer tabs over spaces.", category="preference", importance=0.9)
    assert tabs.created
    assert tabs.entry.created == 1000
    again = store.store("i prefer TABS over  spaces!")
    assert (again.created, again.entry) == (False, tabs.entry)
    store.store("The staging port is 8471")
    store.store("私は寿司が好きです")
    assert texts(store, "does she like tabs or spaces?") == ["I prefer tabs over spaces."]
    assert texts(store, "寿司") == ["私は寿司が好きです"]
    assert texts(store, "quarterly earnings") == []
    (hit,) = store.recall("port 8471", limit=5, min_score=0.1).found
    assert hit.score == pytest.approx(1.0)
    assert hit.cosine is None
    assert store.find(tabs.entry.id[:8]) == tabs.entry
    assert store.forget([tabs.entry.id]) == 1
    assert store.forget([tabs.entry.id]) == 0
    assert [entry.text for entry in store.entries()] == [
        "私は寿司が好きです",
        "The staging port is 8471",
    ]
    with pytest.raises(CallerError, match="no memory"):
        store.find(tabs.entry.id)


@pytest.mark.parametrize(
    ("cosine", "created"),
    # 1 / (1 + d²) of the squared distance, as it is without asking for cosines, is 0.91 at 0.95.
    [(0.94, True), (0.9499, True), (0.9501, False), (0.96, False), (0.974, False), (1.0, False)],
)
def test_doubles_are_found_at_the_cosine_that_is_documented(
    open_store: Open, embedder: FakeEmbedder, cosine: float, created: bool
) -> None:
    embedder.given = {"we meet on Monday": vector(1.0), "Monday is when we meet": vector(cosine)}
    store = open_store(embedder=embedder)
    first = store.store("we meet on Monday")
    second = store.store("Monday is when we meet")
    assert second.created is created
    if not created:
        assert second.entry == first.entry
        assert second.cosine == pytest.approx(cosine, abs=1e-5)


def test_each_owner_is_asked_alone_before_anything_is_ranked(
    open_store: Open, embedder: FakeEmbedder
) -> None:
    """Any number of nearer memories of another agent do not push out the one of this agent."""
    anna, work = open_store("anna", embedder), open_store("o'work", embedder)
    near = {f"secret {n}": vector(1.0) for n in range(300)}
    embedder.given = {**near, "far but mine": vector(0.35), "question": vector(1.0)}
    work.take([Entry(f"{n:08}-0000-4000-8000-000000000000", text) for n, text in enumerate(near)])
    mine = anna.store("far but mine")
    assert texts(anna, "question", least=0.3) == ["far but mine"]
    assert texts(anna, "secret", least=0.0) == ["far but mine"]
    assert mine.created
    assert anna.store("secret 1").created, "what another agent knows is not known here"
    assert work.forget([mine.entry.id]) == 0
    with pytest.raises(CallerError, match="no memory"):
        work.find(mine.entry.id)
    work.take(anna.entries())
    assert len(anna.entries()) == 2
    assert len(work.entries()) == 301
    assert work.stats().entries == 301


@pytest.mark.slow
def test_a_threshold_is_of_cosines_and_words_only_lift(
    open_store: Open, embedder: FakeEmbedder
) -> None:
    embedder.given = {
        "alpha beta": vector(0.5),
        "gamma delta": array("f", [0.5, -(0.75**0.5), *[0.0] * 14]).tobytes(),
        "alpha": vector(1.0),
        "opposite": vector(-1.0),
    }
    store = open_store(embedder=embedder)
    for text in ("gamma delta", "alpha beta", "opposite"):
        store.store(text)
    first, second = store.recall("alpha", limit=5, min_score=0.499).found
    assert (first.entry.text, second.entry.text) == ("alpha beta", "gamma delta")
    assert first.score == pytest.approx(0.7 * 0.5 + 0.3)
    assert second.score == pytest.approx(0.5, abs=1e-5)
    assert texts(store, "alpha", least=0.501) == ["alpha beta"]
    (*_, last) = store.recall("alpha", limit=5, min_score=0.0).found
    assert last.score == 0.0


@pytest.mark.slow
def test_equal_scores_stand_by_importance_then_the_newest(open_store: Open) -> None:
    store = open_store()
    for text, importance in (("tea one", 0.5), ("tea two", 0.9), ("tea six", 0.5)):
        store.store(text, importance=importance)
    assert texts(store, "tea") == ["tea two", "tea six", "tea one"]


@pytest.mark.slow
def test_a_provider_that_fails_costs_no_memory(open_store: Open, embedder: FakeEmbedder) -> None:
    store = open_store(embedder=embedder)
    embedder.failing = "the network is down"
    stored = store.store("tea at five")
    assert stored.created
    assert "the network is down" in stored.note
    assert texts(store, "tea") == ["tea at five"]
    assert store.stats().embedded == 0
    embedder.failing = ""
    store.store("coffee at nine")
    assert store.stats().embedded == 2, "embedded along with the next"
    embedder.failing = "the network is down"
    recalled = store.recall("tea", limit=5, min_score=0.1)
    assert [hit.entry.text for hit in recalled.found] == ["tea at five"]
    assert "words alone were compared: the network is down" in recalled.note
    unusable = open_store(unusable="no key")
    assert "no key" in unusable.recall("tea", limit=5, min_score=0.1).note
    assert unusable.store("milk at ten").created
    assert "no key" in unusable.stats().note


@pytest.mark.slow
@pytest.mark.parametrize("dims", [1, 8, 768])
def test_memories_without_a_vector_stand_beside_others(open_store: Open, dims: int) -> None:
    """LanceDB takes lists of ten numbers or more for vectors, and refuses rows without one."""
    from tests.plugins.longterm.conftest import FakeEmbedder

    embedder = FakeEmbedder(dims=dims)
    store = open_store(embedder=embedder)
    store.store("tea at five")
    embedder.failing = "the network is down"
    store.store("coffee at nine")
    taken = store.take([Entry("00000000-0000-4000-8000-000000000001", "milk at ten")])
    assert taken.note.endswith("the network is down")
    assert store.stats().embedded == 1
    embedder.failing = ""
    assert store.embed() == ""
    assert store.stats().embedded == 3


@pytest.mark.slow
def test_another_provider_has_vectors_of_its_own(open_store: Open) -> None:
    from tests.plugins.longterm.conftest import FakeEmbedder

    first = open_store(embedder=FakeEmbedder("one"))
    first.store("tea at five")
    second = open_store(embedder=FakeEmbedder("two", dims=12))
    assert texts(second, "tea") == ["tea at five"], "by its words"
    assert second.stats().embedded == 0
    second.store("coffee at nine")
    assert second.stats().embedded == 2
    (hit, *_) = second.recall("tea at five", limit=5, min_score=0.9).found
    assert hit.cosine == pytest.approx(1.0)


def test_vectors_of_another_length_are_followed_and_counted_alone(
    open_store: Open, embedder: FakeEmbedder
) -> None:
    store = open_store(embedder=embedder)
    store.store("tea at five")
    for dims in (24, 12):
        embedder.dims = dims
        recalled = store.recall("tea at five", limit=5, min_score=0.9)
        assert "new length" in recalled.note
        assert recalled.found[0].cosine is None
        assert store.stats().embedded == 0
        store.store(f"coffee at {dims}")
        assert store.stats().embedded == store.stats().entries
        (hit, *_) = store.recall("tea at five", limit=5, min_score=0.9).found
        assert hit.cosine == pytest.approx(1.0)


def test_memories_that_the_provider_refuses_are_sent_once_and_block_no_other(
    open_store: Open, embedder: FakeEmbedder
) -> None:
    bad = [f"bad {number}" for number in range(260)]
    embedder.refused = frozenset(bad)
    store = open_store(embedder=embedder)
    words = [*bad, "tea at five", "coffee at nine"]
    taken = store.take(
        [Entry(f"{n:08}-0000-4000-8000-000000000000", t) for n, t in enumerate(words)]
    )
    assert taken.note == "260 memories are not embedded: fake refuses the text"
    assert sorted(embedder.asked) == sorted(words)
    stats = store.stats()
    assert (stats.entries, stats.embedded, stats.note) == (262, 2, taken.note)
    embedder.asked.clear()
    assert store.embed() == ""
    assert store.store("milk at ten").created
    assert not store.store("bad 7").created
    embedder.refused |= {"bad alone"}
    assert store.store("bad alone").note == "not embedded: fake refuses the text"
    assert not store.store("bad alone").created
    assert store.store("water at noon").created
    assert embedder.asked == ["milk at ten", "bad alone", "water at noon"]
    assert texts(store, "alone")[0] == "bad alone"
    assert store.stats().embedded == 4
    changed = store.find("00000007")._replace(text="good 7")
    assert store.take([changed]).note == ""
    assert store.stats().embedded == 5


@pytest.mark.slow
def test_an_export_replaces_the_store_as_it_was(open_store: Open, embedder: FakeEmbedder) -> None:
    store = open_store(embedder=embedder)
    for number in range(40):
        store.store(f"fact {number}\nwith a line", category="fact", importance=number / 40)
    file = written(store.entries(), "main")
    copy = open_store("copy", embedder)
    taken = copy.take(read(file, now=1), replace=True)
    assert (taken.added, taken.updated, taken.removed, taken.note) == (40, 0, 0, "")
    assert written(copy.entries(), "main") == file
    assert copy.stats().embedded == 40
    again = copy.take(read(file, now=2), replace=True)
    assert (again.unchanged, again.added, again.updated) == (40, 0, 0)
    edited = file.replace("fact 7\n", "fact seven\n").replace("importance=0.2 ", "importance=0.3 ")
    changed = copy.take(read(edited, now=3), replace=True)
    assert (changed.updated, changed.unchanged) == (2, 38)
    assert "fact seven\nwith a line" in texts(copy, "fact seven with a line", limit=1)
    fewer = copy.take(read(edited, now=3)[:10], replace=True)
    assert (fewer.removed, len(copy.entries())) == (30, 10)
    doubles = copy.take([Entry("00000000-0000-4000-8000-000000000001", copy.entries()[0].text)])
    assert (doubles.doubles, doubles.added) == (1, 0)


@pytest.mark.slow
def test_what_is_deleted_while_it_is_embedded_does_not_come_back(
    open_store: Open, embedder: FakeEmbedder
) -> None:
    open_store().store("tea at five")
    store = open_store(embedder=embedder)
    ask = embedder.documents

    def documents(*args: object, **parts: object) -> list[bytes | None]:
        other = open_store()
        other.forget([entry.id for entry in other.entries()])
        return ask(*args, **parts)  # type: ignore[arg-type]

    embedder.documents = documents  # type: ignore[method-assign]
    assert store.embed() == ""
    assert store.entries() == []


@pytest.mark.slow
def test_many_small_changes_are_compacted(open_store: Open) -> None:
    store = open_store()
    for number in range(90):
        store.store(f"note number {number}")
    table = store.database._open()
    assert table.stats()["fragment_stats"]["num_fragments"] <= 66
    assert len(store.entries()) == 90
    assert texts(store, "number 77", limit=1) == ["note number 77"]


@pytest.mark.slow
def test_a_writer_waits_for_another_and_then_says_so(open_store: Open, tmp_path: Path) -> None:
    store = open_store(wait=0.05)
    store.store("tea at five")
    lock = str(tmp_path / "longterm.lance" / "commonplace_ltm_1.lock")
    with Lease(lock).held(0), pytest.raises(IndexBusyError, match="long-term store"):
        store.store("coffee at nine")
    assert store.store("coffee at nine").created


@pytest.mark.slow
def test_a_damaged_table_is_an_error_and_never_empty(open_store: Open, tmp_path: Path) -> None:
    open_store().store("tea at five")
    for file in (tmp_path / "longterm.lance").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    with pytest.raises(UnavailableError, match="cannot be used"):
        open_store().entries()


WRITER = """
import sys
from commonplace_longterm.database import Database
from commonplace_longterm.store import LongTermStore
store = LongTermStore(Database(sys.argv[1], "main", {}, wait=60), lambda: None)
for number in range(int(sys.argv[3])):
    store.store(f"note {number} of {sys.argv[2]}")
    store.store(f"shared note {number}")
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_and_double_nothing(
    open_store: Open, tmp_path: Path
) -> None:
    number, writers = 6, 3
    uri = str(tmp_path / "longterm.lance")
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, uri, str(name), str(number)])
        for name in range(writers)
    ]
    assert [process.wait() for process in running] == [0] * writers
    found = sorted(entry.text for entry in open_store().entries())
    expected = [f"note {n} of {name}" for n in range(number) for name in range(writers)]
    assert found == sorted([*expected, *[f"shared note {n}" for n in range(number)]])


def test_without_the_library_there_is_an_error_with_the_way_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    database = Database(str(tmp_path), "main", {})
    with pytest.raises(UnavailableError, match="lancedb and pyarrow and numpy are not") as caught:
        database.entries()
    assert "commonplace[lancedb]" in caught.value.hint
