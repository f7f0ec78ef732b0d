"""The laws of stores: the chunks of answers, what outlives a process; all laws in one class."""

from __future__ import annotations

import shutil
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, cast, get_args

from attrs import evolve
from hypothesis import strategies as st

from commonplace.model.chunks import AnalysedChunk, Chunk, DeleteDocument, Terms
from commonplace.model.documents import Trust
from commonplace.model.search import KeywordQuery, newest_first
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import (
    ALL,
    WAIT,
    attach,
    busy,
    digests,
    fill,
    filtered_puts,
    filters_together,
    held,
    ids,
    live_build,
    make_put,
    make_vector,
    meanwhile,
    nearest,
    places,
    publish,
    scored,
    search,
    words,
    write,
)
from commonplace.testing.laws import law
from commonplace.testing.store.builds import BuildLaws
from commonplace.testing.store.documents import AppendLaws, DocumentLaws
from commonplace.testing.store.keyword import MatchLaws, ScoreLaws
from commonplace.testing.store.lifetime import KillLaws, LifetimeLaws, StoreLaws, Watched
from commonplace.testing.store.pressure import PressureLaws, SizeLaws
from commonplace.testing.store.vectors import NearestLaws, VectorLaws
from commonplace.testing.strategies import (
    HOSTILE_TEXTS,
    WORDS,
    applied,
    batches,
    corpora,
    expected_at,
    holds,
    hostile_tokens,
    passes,
    stored,
    texts,
    wheres,
)

if TYPE_CHECKING:
    from commonplace.model.search import ChunkId, Where
    from commonplace.protocols.parts import DayStore, Store, VectorStore
    from commonplace.testing.base import Batch, Corpus


_DAY = st.sampled_from(("2025-12-31", "2026-01-01", "2026-01-31", "2026-02-01"))
_DAYS = st.tuples(_DAY, _DAY) | st.tuples(*[_DAY.map(lambda day: day[4:])] * 2)
_PIECES = st.lists(
    st.builds(
        Chunk,
        start_line=st.integers(1, 2**31),
        end_line=st.integers(1, 2**31),
        text=texts(),
        heading=st.lists(texts().map(lambda text: text.replace("\n", "")), max_size=3).map(tuple),
    ),
    max_size=5,
)


class FoundLaws(StoreLaws):
    """The chunks that ``keyword`` and ``nearest`` answer with, and their ids."""

    @law("keyword", pieces=_PIECES)
    def test_a_chunk_comes_back_as_it_was_put(self, store: Store, pieces: list[Chunk]) -> None:
        """Text, headings and lines come back as they were put.

        Text comes back character for character, with its line ends and white space; the headings
        are the same ones, with whatever marks are in them.
        """
        bare = Chunk(1, 1, "under no heading"), Chunk(2, 2, "under an empty one", ("",))
        chunks = [*bare, *map(_hostile_chunk, HOSTILE_TEXTS), *pieces]
        analysed = (AnalysedChunk(chunk, Terms("ant", "bee"), "0" * 64) for chunk in chunks)
        publish(store, make_put("a.md", *analysed))
        back = [hit.chunk for hit in search(store, words("ant"))]
        assert [
            Chunk(one.start_line, one.end_line, one.text, one.heading) for one in back
        ] == chunks

    @law(
        "keyword",
        day=st.none() | st.dates().map(str),
        trust=st.sampled_from(get_args(Trust)),
        body=st.lists(hostile_tokens(), max_size=5),
    )
    def test_a_chunk_knows_its_document_and_its_words(
        self, store: Store, day: str | None, trust: Trust, body: list[str]
    ) -> None:
        """A chunk has source, path, day and trust of its document, and its ``body`` as analysed."""
        chunk = AnalysedChunk(Chunk(1, 1, "text"), Terms(" ".join([*body, "ant"])), "0" * 64)
        publish(store, make_put("x/y.md", chunk, source="sessions", day=day, trust=trust))
        (hit,) = search(store, words("ant"))
        back = hit.chunk
        assert (back.source, back.path, back.day, back.trust) == ("sessions", "x/y.md", day, trust)
        assert back.body == " ".join([*body, "ant"])

    @law("keyword", corpus=corpora(), times=st.permutations(range(1, 7)))
    def test_each_score_comes_with_its_own_chunk(
        self, store: Store, corpus: Corpus, times: list[int]
    ) -> None:
        """Of chunks of one length, the more often one has the token the better it is ranked."""
        ranked = [" ".join(["emu"] * many + ["x"] * (7 - many)) for many in times]
        publish(store, *corpus, make_put("ranked.md", *ranked))
        found = search(store, words("emu"))
        assert [hit.chunk.text.count("emu") for hit in found] == [6, 5, 4, 3, 2, 1]
        assert search(store, words("emu"), limit=3) == found[:3]

    @law("keyword")
    def test_hundreds_of_chunks_can_be_found_at_once(self, store: Store) -> None:
        """No limit is too large: 1,500 chunks come back, each with its own text."""
        publish(store, make_put("a.md", *(f"ant {number:04}" for number in range(1_500))))
        found = search(store, words("ant"))
        assert [hit.chunk.text for hit in found] == [f"ant {number:04}" for number in range(1_500)]
        assert [hit.chunk.start_line for hit in found] == list(range(1, 1_501))
        assert len(scored(found)) == 1_500

    @law("keyword")
    def test_chunks_that_are_gone_are_left_out(self, store: Store) -> None:
        """Deleted chunks are not found; those around them are, in their order."""
        publish(store, *(make_put(f"{number}.md", "ant") for number in range(5)))
        assert len(search(store, words("ant"))) == 5
        write(store, DeleteDocument("memory", "1.md"), DeleteDocument("memory", "3.md"))
        found = search(store, words("ant"))
        assert [hit.chunk.path for hit in found] == ["0.md", "2.md", "4.md"]

    @law("days", corpus=corpora(), where=wheres(), days=st.lists(_DAYS, min_size=1, max_size=2))
    def test_the_chunks_of_some_days_are_listed(
        self, store: Store, corpus: Corpus, where: Where, days: list[tuple[str, str]]
    ) -> None:
        """All of the days and of no others that pass the filters, the newest first, each with 1.

        A day without its year stands for that of any; what has an unwanted phrase is left out.
        """
        publish(store, *corpus)
        query = KeywordQuery(days=tuple(days), must_not=(("ant",),))
        dated = [
            put
            for put in corpus
            if any(first <= (put.day or "")[-len(first) :] <= last for first, last in days)
            and passes(put, where)
        ]
        dated.sort(key=lambda put: (newest_first(put.day), put.source, put.path))
        expected = [
            (put.source, put.path, chunk.chunk.start_line)
            for put in dated
            for chunk in put.chunks
            if not holds(chunk.terms, ("ant",))
        ]
        of_days = partial(cast("DayStore", store).of_days, query, where=where, deadline=NEVER)
        found = of_days(limit=ALL)
        assert places(found) == expected
        assert {hit.score for hit in found} <= {1.0}
        assert [of_days(limit=few) for few in (0, 2)] == [found[:0], found[:2]]

    @law("days")
    def test_the_chunks_of_days_pass_all_filters_that_are_set_together(self, store: Store) -> None:
        """As what words find: any two, any but one, or all."""
        publish(store, *filtered_puts())
        query = KeywordQuery(days=(("2025-01-01", "2026-12-31"),))
        of_days = partial(cast("DayStore", store).of_days, query, deadline=NEVER)
        for where in filters_together(self.scale()):
            expected = expected_at([put for put in filtered_puts() if put.day], words("ant"), where)
            assert sorted(places(of_days(where=where, limit=ALL))) == expected, where
            assert len(of_days(where=where, limit=len(expected))) == len(expected), where

    @law("keyword")
    def test_scores_and_chunks_are_of_one_moment(self, store: Store) -> None:
        """An answer never mixes two states of the index.

        Both documents are replaced in one batch, again and again, by another thread: all chunks of
        an answer belong to one batch, and none is missing.
        """

        def batch(number: int) -> Corpus:
            return [make_put(path, f"ant {number}", f"ant {number}") for path in ("a.md", "b.md")]

        def replace() -> None:
            for number in range(1, 11):
                write(store, *batch(number))
            for number in range(11, 16):
                publish(store, *batch(number), identity=str(number))

        publish(store, *batch(0))
        for _ in meanwhile(replace):
            texts = [hit.chunk.text for hit in search(store, words("ant"))]
            assert len(texts) == 4
            assert len(set(texts)) == 1

    @law("keyword", "vectors", corpus=corpora())
    def test_a_chunk_is_the_same_however_it_is_found(
        self, store: VectorStore, corpus: Corpus
    ) -> None:
        """``nearest`` answers with the same chunks as ``keyword``: ids, texts and all."""
        many = make_put("many.md", *["ant bee"] * 5, source="sessions", day="2026-01-31")
        corpus = [*corpus, many]
        build = publish(store, *corpus)
        attach(store, build, "space", dict.fromkeys(digests(corpus), make_vector(1, 0, 0)))
        known = {hit.chunk for hit in search(store, words(*WORDS))}
        near = {hit.chunk for hit in nearest(store, make_vector(0, 1, 0)).found}
        assert len(known) >= 5
        assert known <= near

    @law("keyword")
    def test_ids_stay_while_their_document_does(self, store: Store) -> None:
        """What happens to other documents changes no id."""
        publish(store, make_put("a.md", "ant", "bee"), make_put("b.md", "ant"))
        before = ids(search(store, words("bee")))
        write(store, make_put("b.md", "ant", "cat"), make_put("0.md", "ant"))
        write(store, DeleteDocument("memory", "b.md"))
        assert ids(search(store, words("bee"))) == before

    @law("keyword")
    def test_an_id_never_names_another_chunk(self, store: Store) -> None:
        """Not when its document is replaced or deleted, a build activated, the store reopened."""
        put = make_put("a.md", "ant", "bee")
        publish(store, make_put("first.md", "ant"), put)
        gone = _ids(store)
        write(store, evolve(put, digest="other"), make_put("first.md", "bee"))
        assert not gone & _ids(store)
        gone |= _ids(store)
        write(store, DeleteDocument("memory", "a.md"), DeleteDocument("memory", "first.md"))
        write(store, put)
        assert not gone & _ids(store)
        gone |= _ids(store)
        publish(store, put, identity="next")
        assert not gone & _ids(store)
        assert len(_ids(store)) == 2
        if "persistent" in store.capabilities:
            gone |= _ids(store)
            write(store, DeleteDocument("memory", "a.md"))
            store.close()
            with self.opened_again() as again:
                write(again, put)
                assert not gone & _ids(again)


def _ids(store: Store) -> set[ChunkId]:
    return set(ids(search(store, words("ant", "bee", "cat", "dog"))))


def _hostile_chunk(text: str) -> Chunk:
    """The text as it is, and as headings: one alone, one among empty ones, one cut in two."""
    line = text.replace("\n", "")
    return Chunk(1, 9, text, (line, "", line, line[:1], line[1:], ""))


def _everything(store: Store) -> tuple[object, ...]:
    found = search(store, words("ant", "bee")) if "keyword" in store.capabilities else []
    return store.builds(), held(store), found


class PersistenceLaws(KillLaws):
    """The same folder, opened again; or a copy of it as a killed process leaves it.

    No dead process holds a lease on it.
    """

    @law("persistent", corpus=corpora())
    def test_everything_is_there_after_reopening(self, store: Store, corpus: Corpus) -> None:
        """The same builds and documents, and the same answers with the same ids and scores."""
        publish(store, *corpus)
        before = _everything(store)
        store.close()
        with self.opened_again() as again:
            assert _everything(again) == before

    @law("persistent")
    def test_a_filling_build_is_resumed_after_reopening(self, store: Store) -> None:
        """What a process left unfinished the next one goes on with."""
        publish(store, make_put("a.md", "ant"))
        build = fill(store, make_put("b.md", "ant"))
        store.close()
        with self.opened_again() as again, again.writer(wait=WAIT):
            assert again.open_build("new") == build
            assert set(held(again, build)) == {("memory", "b.md")}

    @law("persistent")
    def test_what_one_writes_the_other_reads(self, store: Store) -> None:
        """Two stores open on one folder see each other's changes at once."""
        publish(store, make_put("a.md", "ant"))
        with self.opened_again() as other:
            assert _everything(other) == _everything(store)
            write(other, make_put("b.md", "bee"))
            assert _everything(other) == _everything(store)
            publish(store, make_put("c.md", "ant"), identity="new")
            assert _everything(other) == _everything(store)

    @law("persistent")
    def test_the_lease_is_for_the_whole_folder(self, store: Store) -> None:
        """Of two stores open on one folder, in two threads, one can write at a time."""
        with self.opened_again() as other:
            with store.writer(wait=0):
                assert busy(other)
            assert not busy(other)
            with other.writer(wait=0):
                assert busy(store)

    @law("persistent", corpus=corpora(max_size=4), batch=batches())
    def test_a_kill_loses_nothing_that_was_written(
        self, store: Store, corpus: Corpus, batch: Batch
    ) -> None:
        """What ``put_documents`` and ``activate`` returned from is there, without any ``close``."""
        publish(store, *corpus, make_put("memory/n.md", "ant"))
        write(store, *batch)
        before = _everything(store)
        with closing(self.open_store(self._copied("killed"))) as survivor:
            assert _everything(survivor) == before

    @law("persistent", corpus=corpora(max_size=4), batch=batches())
    def test_a_kill_within_a_batch_leaves_all_of_it_or_nothing(
        self, store: Store, corpus: Corpus, batch: Batch
    ) -> None:
        """At any moment of ``put_documents``; the next process writes on."""
        publish(store, *corpus)
        changes = [*batch, make_put("memory/n.md", "ant"), make_put("memory/m.md", "bee")]
        known = {(put.source, put.path): put for put in corpus}
        allowed = [stored(known), stored(applied(known, changes))]
        images: list[str] = []
        with store.writer(wait=WAIT):
            store.put_documents(
                live_build(store),
                Watched(changes, lambda at: images.append(self._copied(f"killed-{at}"))),
            )
            images.append(self._copied("killed"))
        assert held(store) == allowed[1]
        for image in {images[0], images[len(images) // 2], images[-2], images[-1]}:
            with closing(self.open_store(image)) as survivor:
                assert held(survivor) in allowed
        with closing(self.open_store(images[-1])) as survivor:
            write(survivor, make_put("memory/next.md", "ant"))
            assert ("memory", "memory/next.md") in held(survivor)

    @law("persistent")
    def test_a_kill_while_a_build_fills_spares_the_live_one(self, store: Store) -> None:
        """The live build answers as before, and the other one is gone on with."""
        publish(store, make_put("a.md", "ant"))
        before = _everything(store)[1:]
        with store.writer(wait=WAIT):
            fill(store, make_put("b.md", "ant"))
            image = self._copied("killed")
        with closing(self.open_store(image)) as survivor:
            assert _everything(survivor)[1:] == before
            with survivor.writer(wait=0):
                again = survivor.open_build("new")
                assert set(held(survivor, again)) == {("memory", "b.md")}
                survivor.put_documents(again, [make_put("c.md", "ant")])
                survivor.activate(again)
            assert set(held(survivor)) == {("memory", "b.md"), ("memory", "c.md")}

    def _copied(self, name: str) -> str:
        """What is in the folder now, elsewhere."""
        copy = f"{self.directory}-{name}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.directory, copy)
        return copy


class StoreConformance(
    DocumentLaws,
    AppendLaws,
    BuildLaws,
    MatchLaws,
    ScoreLaws,
    VectorLaws,
    NearestLaws,
    FoundLaws,
    LifetimeLaws,
    PersistenceLaws,
    SizeLaws,
    PressureLaws,
):
    """All that a store promises: subclass it, name the class ``Test...``, define ``open_store``.

    ``open_store(directory)`` opens the store that lives in ``directory``, an empty folder at first.
    It is called again with the same folder for stores that declare ``persistent``, and then has to
    find there what the last one left. What it opens is closed by the test.

    ``settings`` are Hypothesis's, for stores that are slow to open or to be tested harder.
    """
