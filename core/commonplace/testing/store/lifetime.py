"""Laws about what a store says of itself, about time, and about its end."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CommonplaceError, DeadlineExceededError, DeclinedError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing.builders import make_put
from commonplace.testing.driving import ALL, EVERYWHERE, publish, search, words
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import corpora

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.chunks import PutDocument
    from commonplace.protocols.stores import Store

__all__ = ["LifetimeLaws"]

_KNOWN = {"keyword", "phrases", "vectors", "append", "persistent"}


class LifetimeLaws(StoreLaws):
    """``capabilities``, ``health``, deadlines and ``close``."""

    @law()
    def test_capabilities_are_known_words(self, store: Store) -> None:
        """A store declares only capabilities that there are.

        Phrases are of no use without keyword queries.
        """
        assert store.capabilities <= _KNOWN
        assert store.capabilities, "a store that can do nothing"
        assert "keyword" in store.capabilities or "phrases" not in store.capabilities

    @law()
    def test_undeclared_keyword_queries_are_declined(self, store: Store) -> None:
        """A store without the capability ``keyword`` raises ``DeclinedError``.

        It does not answer that nothing was found.
        """
        if "keyword" in store.capabilities:
            pytest.skip("the store declares keyword")
        publish(store, make_put("a.md", "ant"))
        with pytest.raises(DeclinedError):
            search(store, words("ant"))

    @law(corpus=corpora())
    def test_health_counts_what_is_there(self, store: Store, corpus: list[PutDocument]) -> None:
        """Documents and chunks of the live build, in all and by source.

        A deep check finds no fault in a healthy store.
        """
        publish(store, *corpus)
        documents = Counter(put.source for put in corpus)
        chunks = Counter({put.source: 0 for put in corpus})
        for put in corpus:
            chunks[put.source] += len(put.chunks)
        for health in (store.health(), store.health(deep=True)):
            assert (health.documents, health.chunks) == (documents.total(), chunks.total())
            assert Counter(dict(health.documents_by_source)) == documents
            assert Counter(dict(health.chunks_by_source)) == chunks
            assert health.problems == ()
            assert health.writable

    @law("keyword")
    def test_a_search_without_time_is_an_error(self, store: Store) -> None:
        """A deadline that has passed raises ``DeadlineExceededError``.

        It does so though the answer might have been quick: the caller has stopped waiting.
        """
        publish(store, make_put("a.md", "ant"))
        late = Deadline(0.0, clock=lambda: 1.0)
        with pytest.raises(DeadlineExceededError):
            store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=late)
        assert len(search(store, words("ant"))) == 1

    @law("keyword")
    def test_a_search_gives_all_or_an_error(self, store: Store) -> None:
        """A deadline that passes during a search never makes an answer shorter.

        It raises ``DeadlineExceededError`` or comes too late. The store works on.
        """
        publish(store, make_put("a.md", *["ant"] * 600))
        every = search(store, words("ant"))
        for steps in (*range(1, 20), 1_000_000):
            ticking = Deadline(float(steps), clock=count().__next__)
            try:
                answer = store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=ticking)
            except DeadlineExceededError:
                assert steps < 1_000_000
            else:
                assert list(answer.found) == every

    @law()
    def test_a_closed_store_does_not_answer(self, store: Store) -> None:
        """Once closed, everything but ``capabilities`` and ``close`` raises a ``CommonplaceError``.

        An empty answer would be taken for an empty memory.
        """
        build = publish(store, make_put("a.md", "ant"))
        store.close()

        def take_lease() -> None:
            with store.writer(wait=0):
                pass

        asked: dict[str, Callable[[], object]] = {
            "documents": lambda: list(store.documents()),
            "builds": store.builds,
            "health": store.health,
            "writer": take_lease,
            "put_documents": lambda: store.put_documents(build, [make_put("b.md", "ant")]),
            "open_build": lambda: store.open_build("new"),
            "activate": lambda: store.activate(build),
            "drop": lambda: store.drop(build),
        }
        if "keyword" in store.capabilities:
            asked["keyword"] = lambda: store.keyword(
                words("ant"), where=EVERYWHERE, limit=ALL, deadline=NEVER
            )
        answered = []
        for name, question in asked.items():
            try:
                question()
            except CommonplaceError:
                continue
            answered.append(name)
        assert answered == []

    @law()
    def test_closing_twice_is_fine(self, store: Store) -> None:
        """``close`` may be called again and again."""
        publish(store, make_put("a.md", "ant"))
        for _ in range(3):
            store.close()
