"""Laws about going on with documents that have grown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from hypothesis import strategies as st

from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace.model.search import Where
from commonplace.testing.builders import make_append, make_put
from commonplace.testing.driving import held, ids, live_build, places, publish, search, words, write
from commonplace.testing.naive import applied, stored
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import WORDS, corpora, growths, stamps
from commonplace.testing.vectors import attach, digests, make_vector, vector_store

if TYPE_CHECKING:
    from commonplace.model.chunks import AppendDocument, Change
    from commonplace.model.documents import Stamp
    from commonplace.protocols.stores import Store

__all__ = ["AppendLaws"]

_KEY = "memory", "grown.md"
_HOW = st.sampled_from(("in one batch", "in many"))
_GROWN = make_put(_KEY[1], "ant", "bee", "cat", resume="1 there")


class AppendLaws(StoreLaws):
    """``AppendDocument``, for stores that declare ``append``."""

    @law("append", "keyword", corpus=corpora(max_size=4), growth=growths(), how=_HOW)
    def test_what_is_appended_is_as_if_put_whole(
        self,
        store: Store,
        corpus: list[PutDocument],
        growth: tuple[PutDocument, list[AppendDocument]],
        how: str,
    ) -> None:
        """After any appends a document is what putting it whole would have made of it.

        The first chunks stay, all that followed goes; texts, lines and scores are the same, and so
        are the counts, whether it grows in one batch or in many.
        """
        put, appends = growth
        publish(store, *corpus)
        changes: list[Change] = [put, *appends]
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
        """What a document is to be resumed with comes back as it was put, or appended.

        A touch leaves it, whatever it is; putting without it forgets it.
        """
        publish(store, evolve(_GROWN, resume=resume))
        assert held(store)[_KEY].resume == resume
        change = make_append(_KEY[1], "dog", keep=2, stamp=stamp, resume=resume + "!")
        write(store, change)
        expected = applied({_KEY: _GROWN}, [change])
        assert held(store) == stored(expected)
        write(store, TouchDocument(*_KEY, (1, 2, 3, 4)))
        assert held(store)[_KEY].resume == resume + "!"
        write(store, make_append(_KEY[1], keep=0))
        assert held(store)[_KEY].resume == ""
        write(store, _GROWN, make_put(_KEY[1], "ant"))
        assert held(store)[_KEY].resume == ""

    @law("append", last=st.sampled_from(("the bad one", "a good one")))
    def test_what_is_not_there_cannot_be_gone_on_with(self, store: Store, last: str) -> None:
        """To append to an unknown document, or to keep more chunks than there are, is an error.

        It is a ``ValueError``, nothing of the batch is applied, and the store works on.
        """
        publish(store, _GROWN)
        bad: list[list[Change]] = [
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
        self, store: Store, growth: tuple[PutDocument, list[AppendDocument]], dims: int
    ) -> None:
        """Texts that were there before have their vectors; the new ones have none yet.

        Those of texts that went are not counted, and come back with nothing.
        """
        kept = vector_store(store)
        put, appends = growth
        documents = applied({}, [put])
        key = put.source, put.path
        build = publish(store, put)
        vector = make_vector(*(1.0, *(0.0,) * (dims - 1)))
        attach(kept, build, "space", dict.fromkeys(digests([put]), vector), dims=dims)
        having = set(digests([put]))
        for change in appends:
            write(store, change)
            documents = applied(documents, [change])
            now = [chunk.digest for chunk in documents[key].chunks]
            having &= set(now)
            infos = {info.space: info.covered for info in kept.spaces()}
            assert infos.get("space", 0) == sum(digest in having for digest in now)
            missing = {digest for digest, _ in kept.missing_vectors(live_build(store), "space")}
            assert missing == set(now) - having
        assert store.health(deep=True).problems == ()


def _seen(store: Store) -> list[tuple[object, ...]]:
    """Everything that can be found, with scores and without ids."""
    found = search(store, words(*WORDS))
    return [(*hit.chunk._replace(id=0), hit.score) for hit in found]
