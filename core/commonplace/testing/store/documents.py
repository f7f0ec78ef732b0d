"""Laws about documents: what a store holds, how changes get into it, and what grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from commonplace.index.bm25 import term_counts
from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace.model.search import Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import (
    attach,
    digests,
    held,
    ids,
    live_build,
    make_append,
    make_put,
    make_vector,
    places,
    publish,
    search,
    words,
    write,
)
from commonplace.testing.laws import law
from commonplace.testing.store.builds import StoreMachine
from commonplace.testing.store.lifetime import POISONS, StoreLaws, poisoned, succeeds
from commonplace.testing.strategies import (
    HOSTILE_PATHS,
    WORDS,
    applied,
    batches,
    corpora,
    growths,
    puts,
    stamps,
    stored,
    wheres,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.model.chunks import AppendDocument, PutDocument
    from commonplace.model.documents import Stamp
    from commonplace.protocols.parts import (
        HoldsStore,
        LookupStore,
        Store,
        VectorStore,
        VocabularyStore,
    )
    from commonplace.testing.base import Batch, Corpus
    from commonplace.testing.store.lifetime import Poison


class DocumentLaws(StoreLaws):
    """``documents`` and ``put_documents``."""

    def test_any_history_leaves_what_a_naive_model_leaves(self) -> None:
        """Whatever is done to it, kills included, the store holds what a dictionary would."""
        begin = self.running("test_any_history_leaves_what_a_naive_model_leaves")
        laws = self

        class Machine(StoreMachine):
            def __init__(self) -> None:
                begin()
                super().__init__(lambda directory: laws.observed(laws.open_store(directory)))

        with self.explained("The store holds what a dictionary would.", self.hint):
            run_state_machine_as_test(Machine, settings=self.relaxed())

    @law()
    def test_an_empty_store_is_empty(self, store: Store) -> None:
        """A new store says so without an error: no build, no document, no chunk."""
        assert store.builds() == ()
        assert list(store.documents()) == []
        assert (store.health().documents, store.health().chunks) == (0, 0)
        if "keyword" in store.capabilities:
            assert search(store, words("ant")) == []

    @law(put=puts(), stamp=stamps(), fingerprint=st.text(max_size=9).map(lambda text: f"r{text}"))
    def test_a_document_is_remembered_exactly(
        self, store: Store, put: PutDocument, stamp: Stamp, fingerprint: str
    ) -> None:
        """All fields come back as put; a stamp is any text."""
        put = evolve(put, stamp=stamp, fingerprint=fingerprint)
        publish(store, put)
        assert held(store) == stored({(put.source, put.path): put})

    @law(batch=batches(max_size=12))
    def test_changes_of_a_batch_apply_in_their_order(self, store: Store, batch: Batch) -> None:
        """A batch may change a document several times: the last change wins."""
        publish(store, *batch)
        assert held(store) == stored(applied({}, batch))

    @law()
    def test_paths_that_look_alike_are_distinct(self, store: Store) -> None:
        """Whatever differs: case, Unicode normalisation, quotes, wildcards, line breaks."""
        corpus = [make_put(path, f"ant{number}") for number, path in enumerate(HOSTILE_PATHS)]
        publish(store, *corpus)
        assert held(store) == stored({(put.source, put.path): put for put in corpus})
        if "keyword" in store.capabilities:
            for number, path in enumerate(HOSTILE_PATHS):
                assert places(search(store, words(f"ant{number}"))) == [("memory", path, 1)]
        for gone in HOSTILE_PATHS[::2]:
            write(store, DeleteDocument("memory", gone))
        assert {path for _, path in held(store)} == set(HOSTILE_PATHS[1::2])
        assert store.health().chunks == len(HOSTILE_PATHS[1::2])

    @law()
    def test_one_path_of_two_sources_is_two_documents(self, store: Store) -> None:
        """Source and path together name a document."""
        mine, theirs = make_put("a.md", "ant"), make_put("a.md", "bee", source="sessions")
        publish(store, mine, theirs)
        assert held(store) == stored({("memory", "a.md"): mine, ("sessions", "a.md"): theirs})
        write(store, TouchDocument("memory", "a.md", "1 2 3 4"))
        assert held(store)["sessions", "a.md"].stamp == theirs.stamp
        write(store, DeleteDocument("memory", "a.md"))
        assert held(store) == stored({("sessions", "a.md"): theirs})
        if "keyword" in store.capabilities:
            assert places(search(store, words("ant", "bee"))) == [("sessions", "a.md", 1)]

    @law("keyword")
    def test_putting_again_replaces_all_chunks(self, store: Store) -> None:
        """Of a document that is put again nothing old can be found."""
        publish(store, make_put("a.md", "ant", "ant bee", "ant cat"), make_put("b.md", "ant"))
        write(store, make_put("a.md", "bee"))
        assert places(search(store, words("ant"))) == [("memory", "b.md", 1)]
        assert places(search(store, words("bee"))) == [("memory", "a.md", 1)]
        assert store.health().chunks == 2

    @law("keyword")
    def test_deleting_leaves_nothing_to_find(self, store: Store) -> None:
        """A deleted document is gone from ``documents``, from searches and from the counts."""
        publish(store, make_put("a.md", "ant", "ant bee"), make_put("b.md", "ant"))
        write(store, DeleteDocument("memory", "a.md"))
        assert set(held(store)) == {("memory", "b.md")}
        assert places(search(store, words("ant", "bee"))) == [("memory", "b.md", 1)]
        assert (store.health().documents, store.health().chunks) == (1, 1)

    @law(corpus=corpora(max_size=4), stamp=stamps())
    def test_touching_changes_the_stamp_alone(
        self, store: Store, corpus: Corpus, stamp: Stamp
    ) -> None:
        """Everything else, down to the ids of the document's chunks, is unchanged."""
        corpus = [make_put("touched.md", "ant", "bee", tags=("tag",)), *corpus]
        publish(store, *corpus)
        before = _answers(store)
        touch = TouchDocument("memory", "touched.md", stamp)
        write(store, touch)
        expected = {(put.source, put.path): put for put in corpus}
        assert held(store) == stored(applied(expected, [touch]))
        assert _answers(store) == before

    @law()
    def test_what_is_not_there_is_neither_deleted_nor_touched(self, store: Store) -> None:
        """That changes nothing and is no error: another process may have been quicker."""
        put = make_put("a.md", "ant")
        publish(store, put)
        write(store, DeleteDocument("memory", "b.md"), DeleteDocument("sessions", "a.md"))
        write(store, TouchDocument("memory", "b.md", "1 2 3 4"))
        assert held(store) == stored({("memory", "a.md"): put})

    @law(corpus=corpora(max_size=4), batch=batches(), poison=st.sampled_from(POISONS))
    def test_a_batch_that_fails_leaves_everything_as_it_was(
        self, store: Store, corpus: Corpus, batch: Batch, poison: Poison
    ) -> None:
        """If one change cannot be applied none is; it is an error, and the store works on."""
        publish(store, *corpus)
        if "vectors" in store.capabilities:
            vectors = dict.fromkeys(digests(corpus), make_vector(1, 2, 3))
            attach(cast("VectorStore", store), live_build(store), "space", vectors)
        before, answers = held(store), _answers(store)
        changes = [*batch, make_put("memory/new.md", "ant bee")]
        if not succeeds(lambda: write(store, *poisoned(changes, poison))):
            assert held(store) == before
            assert _answers(store) == answers
        else:
            assert poison == "no text", "a batch that cannot be applied was accepted"
        write(store, make_put("memory/new.md", "bee"))
        assert ("memory", "memory/new.md") in held(store)

    @law("lookup", corpus=corpora())
    def test_single_documents_are_looked_up(self, store: Store, corpus: Corpus) -> None:
        """Those asked for and no others, as ``documents`` gives them, beside the number of all."""
        publish(store, *corpus)
        build, every = live_build(store), set(store.documents())
        for one in every:
            found = cast("LookupStore", store).lookup(build, [(one.source, one.path)])
            assert (found.documents, found.total) == ((one,), len(every))
        keys = [(one.source, one.path) for one in every]
        unknown = [("elsewhere", path) for _, path in keys]
        found = cast("LookupStore", store).lookup(build, [*unknown, *keys])
        assert len(found.documents) == len(every)
        assert set(found.documents) == every
        assert cast("LookupStore", store).lookup(build, ()) == ((), len(every))

    @law("vocabulary", corpus=corpora(), limit=st.integers(0, 4))
    def test_tokens_are_found_by_how_they_begin(
        self, store: VocabularyStore, corpus: Corpus, limit: int
    ) -> None:
        """Those of the live build, in any column, as many as are wanted, each with its count."""
        publish(store, *corpus, make_put("last.md", "anthem antler giant"))
        write(store, make_put("last.md", "antenna", "antler antenna giant"))
        counts = store.holders(("ant", "antenna", "antler", "anthem"))
        expected = {token: count for token, count in counts.items() if count}
        assert store.tokens_beginning("ant", 4) == expected
        assert len(store.tokens_beginning("ant", limit)) == min(limit, len(expected))
        assert store.tokens_beginning("anten", 1) == {"antenna": 2}
        assert not any(store.tokens_beginning(text, 9) for text in ("ante room", "a_t", "a%", ""))

    @law("holds", corpus=corpora(), data=st.data())
    def test_it_knows_whether_it_holds_just_these(
        self, store: Store, corpus: Corpus, data: st.DataObject
    ) -> None:
        """Neither another stamp or fingerprint, nor one document more or less is the same."""
        publish(store, *corpus)
        build = live_build(store)
        exact: dict[tuple[str, str], dict[str, str]] = {}
        for one in store.documents():
            exact.setdefault((one.source, one.fingerprint), {})[one.path] = one.stamp

        def holds(documents: Mapping[tuple[str, str], Mapping[str, str]]) -> bool:
            return cast("HoldsStore", store).holds(build, documents)

        plain = all(text.isascii() for one in store.documents() for text in one)
        assert holds(exact) or not plain
        assert not holds({**exact, ("elsewhere", ""): {"memory/never.md": "1"}})
        if exact:
            key = data.draw(st.sampled_from(sorted(exact)))
            path = data.draw(st.sampled_from(sorted(exact[key])))
            others = {one: given for one, given in exact.items() if one != key}
            fewer = {one: stamp for one, stamp in exact[key].items() if one != path}
            stamp = exact[key][path]
            assert not holds({**others, key: fewer})
            assert not holds({**others, key: {**fewer, path: f"{stamp}0"}})
            assert not holds({**others, key: {**fewer, f"{path}/never.md": stamp}})
            assert not holds({**others, (key[0], f"{key[1]} new"): exact[key]})
            assert not holds({**others, (f"{key[0]} new", key[1]): exact[key]})


def _answers(store: Store) -> object:
    """All that can be found, with ids and scores, also by a tag, and the vectors there are."""
    spaces = cast("VectorStore", store).spaces() if "vectors" in store.capabilities else ()
    wheres = (Where(), Where(tags=("tag",))) if "keyword" in store.capabilities else ()
    return spaces, [search(store, words("ant", "bee", "cat", "dog"), where) for where in wheres]


_KEY = "memory", "grown.md"
_HOW = st.sampled_from(("in one batch", "in many"))
_GROWN = make_put(_KEY[1], "ant", "bee", "cat", resume="1 there")


class AppendLaws(StoreLaws):
    """``AppendDocument``, for stores that declare ``append``."""

    @law("append", "keyword", corpus=corpora(max_size=4), growth=growths(), how=_HOW)
    def test_what_is_appended_is_as_if_put_whole(
        self,
        store: Store,
        corpus: Corpus,
        growth: tuple[PutDocument, list[AppendDocument]],
        how: str,
    ) -> None:
        """After any appends a document is what putting it whole would have made of it.

        The first chunks stay, all that followed goes; texts, lines and scores are the same, and so
        are the counts, whether it grows in one batch or in many.
        """
        put, appends = growth
        publish(store, *corpus)
        changes: Batch = [put, *appends]
        for batch in [changes] if how == "in one batch" else [[change] for change in changes]:
            write(store, *batch)
        expected = applied({(c.source, c.path): c for c in corpus}, changes)
        grown = _seen(store)
        counts = store.health().documents, store.health().chunks
        assert held(store) == stored(expected)
        write(store, expected[put.source, put.path])
        assert _seen(store) == grown
        assert (store.health().documents, store.health().chunks) == counts
        assert store.health(deep=True).problems == ()

    @law("append", "keyword", keep=st.integers(0, 3))
    def test_what_was_before_is_not_made_again(self, store: Store, keep: int) -> None:
        """The chunks that are kept keep their ids; the others are gone, also by theirs."""
        publish(store, _GROWN, make_put("other.md", "ant"))
        before = {hit.chunk for hit in search(store, words("ant", "bee", "cat"))}
        write(store, make_append(_KEY[1], "dog", keep=keep))
        kept = {chunk for chunk in before if chunk.path != _KEY[1] or chunk.start_line <= keep}
        assert {hit.chunk for hit in search(store, words("ant", "bee", "cat"))} == kept
        (new,) = ids(search(store, words("dog")))
        assert new not in {chunk.id for chunk in before}

    @law("append", resume=st.text(), stamp=stamps())
    def test_where_to_go_on_is_remembered(self, store: Store, resume: str, stamp: Stamp) -> None:
        """It comes back as put or appended; a touch leaves it, a put without it forgets it."""
        publish(store, evolve(_GROWN, resume=resume))
        assert held(store)[_KEY].resume == resume
        change = make_append(_KEY[1], "dog", keep=2, stamp=stamp, resume=resume + "!")
        write(store, change)
        expected = applied({_KEY: _GROWN}, [change])
        assert held(store) == stored(expected)
        write(store, TouchDocument(*_KEY, "1 2 3 4"))
        assert held(store)[_KEY].resume == resume + "!"
        write(store, make_append(_KEY[1], keep=0))
        assert held(store)[_KEY].resume == ""
        write(store, _GROWN, make_put(_KEY[1], "ant"))
        assert held(store)[_KEY].resume == ""

    @law("append", last=st.sampled_from(("the bad one", "a good one")))
    def test_what_is_not_there_cannot_be_gone_on_with(self, store: Store, last: str) -> None:
        """An unknown document, or too many kept chunks: ``ValueError``, and nothing is applied."""
        publish(store, _GROWN)
        bad: list[Batch] = [
            [make_append("unknown.md", "dog", keep=0)],
            [make_append(_KEY[1], "dog", keep=0, source="sessions")],
            [make_append(_KEY[1], "dog", keep=4)],
            [make_append(_KEY[1], "dog", keep=-1)],
            [DeleteDocument(*_KEY), make_append(_KEY[1], "dog", keep=0)],
            [make_put(_KEY[1], "ant"), make_append(_KEY[1], "dog", keep=2)],
            [make_append(_KEY[1], keep=1), make_append(_KEY[1], "dog", keep=2)],
        ]
        other = make_put("other.md", "ant")
        for batch in bad:
            with pytest.raises(ValueError, match=r"."):
                write(store, *([other, *batch] if last == "the bad one" else [*batch, other]))
            assert held(store) == stored({_KEY: _GROWN})
        write(store, make_append(_KEY[1], "dog", keep=3))
        assert store.health().chunks == 4

    @law("append", "keyword")
    def test_a_document_that_grew_has_its_new_day(self, store: Store) -> None:
        """The day of a document is that of all its chunks, also of those that were kept."""
        publish(store, _GROWN)
        later = Where(after="2026-01-31")
        assert search(store, words("ant"), later) == []
        write(store, make_append(_KEY[1], "dog", keep=2, day="2026-02-01"))
        found = places(search(store, words("ant", "dog"), later))
        assert sorted(found) == [(*_KEY, 1), (*_KEY, 101)]

    @law("append", "vectors", growth=growths(), dims=st.sampled_from((3, 1500)))
    def test_what_is_kept_keeps_its_vectors(
        self, store: VectorStore, growth: tuple[PutDocument, list[AppendDocument]], dims: int
    ) -> None:
        """New texts have none yet; those of texts that went come back with nothing."""
        put, appends = growth
        documents = applied({}, [put])
        key = put.source, put.path
        build = publish(store, put)
        vector = make_vector(*(1.0, *(0.0,) * (dims - 1)))
        attach(store, build, "space", dict.fromkeys(digests([put]), vector), dims=dims)
        having = set(digests([put]))
        for change in appends:
            write(store, change)
            documents = applied(documents, [change])
            now = [chunk.digest for chunk in documents[key].chunks]
            having &= set(now)
            infos = {info.space: info.covered for info in store.spaces()}
            assert infos.get("space", 0) == sum(digest in having for digest in now)
            missing = {digest for digest, _ in store.missing_vectors(live_build(store), "space")}
            assert missing == set(now) - having
        assert store.health(deep=True).problems == ()

    @law("keyword", "term_counts", corpus=corpora(), where=wheres())
    def test_the_tokens_of_each_chunk_are_counted(
        self, store: Store, corpus: Corpus, where: Where
    ) -> None:
        """What stands in ``extra`` counts 0.4; the mean length is that of the live build."""
        publish(store, *corpus)
        every = {
            (put.source, put.path, one.chunk.start_line, one.terms.body): term_counts(one.terms)
            for put in corpus
            for one in put.chunks
        }
        matches = store.keyword(words(*WORDS), where=where, limit=60, deadline=NEVER)
        assert len(matches.terms) == len(matches.found)
        for item, counted in zip(matches.found, matches.terms, strict=True):
            chunk = item.chunk
            expected = every[chunk.source, chunk.path, chunk.start_line, chunk.body]
            asked = {token: expected.counts.get(token, 0.0) for token in WORDS}
            counts = {token: counted.counts.get(token, 0.0) for token in WORDS}
            assert counts == pytest.approx(asked)
            assert counted.length == expected.length
        if matches.found:
            lengths = [term_counts(one.terms).length for put in corpus for one in put.chunks]
            assert matches.average == pytest.approx(sum(lengths) / len(lengths))


def _seen(store: Store) -> list[tuple[object, ...]]:
    """Everything that can be found, with scores and without ids."""
    found = search(store, words(*WORDS))
    return [(*hit.chunk._replace(id=0), hit.score) for hit in found]
