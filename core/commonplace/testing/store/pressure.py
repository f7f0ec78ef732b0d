"""Laws of stores under pressure: size, threads, deadlines, a build beside, another process."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, cast

import pytest

from commonplace.errors import CommonplaceError, DeadlineExceededError
from commonplace.model.chunks import DeleteDocument, TouchDocument
from commonplace.model.search import KeywordQuery, Where
from commonplace.testing.base import (
    ALL,
    EVERYWHERE,
    WAIT,
    attach,
    digests,
    fill,
    held,
    ids,
    live_build,
    make_append,
    make_chunk,
    make_put,
    make_vector,
    nearest,
    places,
    publish,
    search,
    words,
    write,
)
from commonplace.testing.laws import law
from commonplace.testing.pressure import (
    LATE,
    answers_alike,
    cancelled_after,
    elsewhere,
    keeps_descriptors,
    same_elsewhere,
)
from commonplace.testing.store.lifetime import StoreLaws
from commonplace.testing.strategies import TOLERANCE, batches, corpora, nearest_places

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.chunks import Change, PutDocument
    from commonplace.protocols.parts import CountingStore, DayStore, Store, VectorStore
    from commonplace.resilience.deadline import Deadline
    from commonplace.testing.base import Batch, Corpus


_MANY = 300
"""More documents, filters or tokens than any list is likely to be cut into."""

_THOUSANDS = 2_500
_LONG = 200_000


def _turned(number: int) -> bytes:
    """A vector of its own for each number below :data:`_THOUSANDS`, the lower the more eastern."""
    return make_vector(_THOUSANDS, number, number % 7)


def _worded(count: int) -> Corpus:
    """Documents that each have a word of their own and one in common; the vectors differ."""
    return [make_put(f"n/{at:04}.md", f"ant word{at}", tags=("all",)) for at in range(count)]


class SizeLaws(StoreLaws):
    """Batches, documents, texts, filters and answers that are larger than usual."""

    hint = "look for a fixed number: of parameters, of rows in a page, of characters in a column"

    @law()
    def test_a_batch_may_be_large(self, store: Store) -> None:
        """Hundreds of documents in one batch are all put, touched and deleted, each by its name."""
        corpus = _worded(_MANY)
        publish(store, *corpus)
        assert set(held(store)) == {(put.source, put.path) for put in corpus}
        gone: list[Change] = [DeleteDocument(put.source, put.path) for put in corpus[::2]]
        stamp = "7 8 9 10"
        write(store, *gone, *(TouchDocument(put.source, put.path, stamp) for put in corpus[1::2]))
        assert set(held(store)) == {(put.source, put.path) for put in corpus[1::2]}
        assert {document.stamp for document in held(store).values()} == {stamp}
        health = store.health(deep=True)
        assert (health.documents, health.chunks, health.problems) == (_MANY // 2, _MANY // 2, ())
        if "keyword" in store.capabilities:
            every = [("memory", put.path, 1) for put in corpus[1::2]]
            assert places(search(store, words("ant"))) == every
            for at in (0, _MANY // 2 - 1, _MANY - 1):
                left = [(put.source, put.path, 1) for put in corpus[at : at + at % 2]]
                assert places(search(store, words(f"word{at}"))) == left

    @law()
    def test_a_document_may_be_large(self, store: Store) -> None:
        """Of 1,200 chunks none is missing, and none is left when fewer are put in their place."""
        put = make_put("a.md", *(f"ant word{at}" for at in range(1_200)), resume="r" * _LONG)
        publish(store, put)
        assert store.health().chunks == 1_200
        kept = 1_200
        if "keyword" in store.capabilities:
            assert len(search(store, words("ant"))) == kept
        if "append" in store.capabilities:
            assert held(store)["memory", "a.md"].resume == put.resume
            kept = 900
            write(store, make_append("a.md", "bee", keep=kept, line=5_000))
            assert store.health().chunks == kept + 1
        if "keyword" in store.capabilities:
            assert len(search(store, words("ant"))) == kept
            assert len(search(store, words(f"word{kept - 1}"))) == 1
        write(store, make_put("a.md", "ant"))
        assert store.health().chunks == 1

    @law("keyword")
    def test_a_text_may_be_long(self, store: Store) -> None:
        """Text, heading and words of tens of kilobytes come back whole, and are all found.

        Hundreds of kilobytes do, too, or are refused with a ``CommonplaceError``: never cut.
        """
        for number, last in enumerate((5_000, 30_000)):
            text = f"first {' '.join(f'w{at}' for at in range(last))} last{number}"
            chunk = make_chunk(text, heading=("h" * 6 * last, "two"))
            put = make_put(f"{number}.md", chunk, make_chunk("first", line=2))
            try:
                publish(store, put, identity=put.path)
            except CommonplaceError:
                assert number, "tens of kilobytes are refused"
                continue
            for token in (f"last{number}", f"w{last // 2}", f"w{last - 1}"):
                (hit,) = search(store, words(token))
                back = hit.chunk.text, hit.chunk.heading, hit.chunk.body
                assert back == (text, chunk.chunk.heading, text)

    @law("keyword")
    def test_filters_may_be_many(self, store: Store) -> None:
        """Any of hundreds of globs or sources lets pass, or shuts out; all of the tags must be."""
        tags = tuple(f"tag{at}" for at in range(_MANY))
        mine = make_put("deep/er/mine.md", "ant", source="mine", day="2026-01-31", tags=tags)
        other = make_put("deep/other.md", "ant", source="other", day="2026-01-31", tags=tags[1:])
        plain = make_put("plain.md", "ant", tags=("tag0",))
        publish(store, mine, other, plain)
        globs = tuple(f"no/{at}/*.md" for at in range(_MANY))
        sources = frozenset(f"s{at}" for at in range(_MANY))
        for where in (
            Where(paths=(*globs, "deep/*/mine.md")),
            Where(paths=("no", "**/mine.md", "never/**", "*.txt")),
            Where(paths=("deep", "plain.md"), not_paths=(*globs, "deep/*.md", "plain.md")),
            Where(paths=("deep/**", *globs), not_sources=sources | {"other"}),
            Where(sources=sources | {"mine"}),
            Where(not_sources=sources | {"other", "memory"}),
            Where(tags=tags),
            Where(not_paths=("plain.md", *globs), not_tags=(), tags=("tag0",)),
            Where(paths=("**/*.md", "x"), after="2026-01-31", tags=("tag0", "tag9")),
        ):
            assert places(search(store, words("ant"), where)) == [("mine", "deep/er/mine.md", 1)]
        left = Where(not_tags=tags[1:])
        assert places(search(store, words("ant"), left)) == [("memory", "plain.md", 1)]

    @law("counts")
    def test_many_tokens_are_counted(self, store: CountingStore) -> None:
        """Hundreds of tokens at once, those that hundreds of chunks hold among them."""
        publish(store, *_worded(_MANY))
        counted = store.holders(["ant", *(f"word{at}" for at in range(_MANY)), "nowhere"])
        assert counted == {"ant": _MANY, "nowhere": 0} | {f"word{at}": 1 for at in range(_MANY)}

    @law("vectors")
    def test_thousands_of_vectors_are_compared(self, store: VectorStore) -> None:
        """The nearest of thousands are found, and an answer says that it is exact only if it is.

        All are missing, put, counted, compared and given back; what passes a filter is found
        behind thousands that do not.
        """
        corpus = [
            make_put(f"n/{start:04}.md", *(f"text {at}" for at in range(start, start + 50)))
            for start in range(0, _THOUSANDS, 50)
        ]
        build = publish(store, *corpus)
        # The nearest are those that were put last.
        vectors = {one: _turned(at) for at, one in enumerate(reversed(digests(corpus)))}
        assert {one for one, _ in store.missing_vectors(build, "space")} == set(vectors)
        attach(store, build, "space", vectors)
        assert store.spaces() == (("space", 3, _THOUSANDS, _THOUSANDS),)
        query = make_vector(1, 0, 0)
        first = Where(paths=("n/0000.md", "n/0050.md"))
        for where, limit in ((EVERYWHERE, ALL), (EVERYWHERE, 70), (first, 60)):
            expected = nearest_places(corpus, vectors, query, where)
            best = sorted(expected.values(), reverse=True)[:limit]
            answer = nearest(store, query, where, limit)
            assert len(answer.found) == len(best)
            scores = [expected[place] for place in places(answer.found)]
            if answer.exact:
                assert scores == pytest.approx(best, abs=TOLERANCE), "it is not exact"
        every = ids(nearest(store, query).found)
        assert len(store.vectors("space", every)) == len(set(every)) == _THOUSANDS


class PressureLaws(StoreLaws):
    """Threads with questions of their own, deadlines, a build beside, open files, processes."""

    hint = "look for what outlives a call: attributes, caches, cursors, open files, hash() and id()"

    @law("keyword")
    def test_each_thread_gets_its_own_answer(self, store: Store) -> None:
        """Searches for other words, with other filters and limits, at once: no answer crosses."""
        corpus = [
            make_put(f"{at}.md", *[f"ant word{at}"] * (at + 1), source=f"s{at % 3}")
            for at in range(8)
        ]
        build = publish(store, *corpus)

        def keyword(at: int) -> Callable[[], object]:
            where = Where(sources=frozenset({f"s{at % 3}"})) if at % 2 else EVERYWHERE
            return lambda: search(store, words(f"word{at}", "ant"), where, limit=at + 2)

        questions = [keyword(at) for at in range(8)]
        questions += [lambda: held(store), store.health, store.builds]
        if "vectors" in store.capabilities:
            vectors = cast("VectorStore", store)
            given = {one: make_vector(at + 1, 3, 8 - at) for at, one in enumerate(digests(corpus))}
            attach(vectors, build, "space", given)
            # The plan may change meanwhile: what is searched for often is kept in memory.
            questions += [
                lambda at=at: nearest(vectors, make_vector(at, 2, 1), limit=at).found  # type: ignore[misc]
                for at in range(1, 5)
            ]
        answers_alike(store, questions)

    @law("keyword")
    def test_a_cancelled_search_is_an_error(self, store: Store) -> None:
        """``DeadlineExceededError``, whether time has passed or the caller has given up."""
        publish(store, make_put("a.md", "ant"))
        for deadline in LATE.values():
            with pytest.raises(DeadlineExceededError):
                _keyword(store, deadline)
            if "days" in store.capabilities:
                query = KeywordQuery(days=(("2026-01-01", "2026-01-31"),))
                of_days = cast("DayStore", store).of_days
                with pytest.raises(DeadlineExceededError):
                    of_days(query, where=EVERYWHERE, limit=1, deadline=deadline)
        assert len(search(store, words("ant"))) == 1

    @law("keyword")
    def test_a_search_that_is_cancelled_gives_all_or_an_error(self, store: Store) -> None:
        """At whatever moment the caller gives up: an answer is never cut short."""
        publish(store, make_put("a.md", *["ant"] * 600))
        every = search(store, words("ant"))
        for looks in (*range(1, 12), 1_000_000):
            try:
                found = _keyword(store, cancelled_after(looks))
            except DeadlineExceededError:
                assert looks < 1_000_000
            else:
                assert found == every

    @law("vectors")
    def test_a_cancelled_vector_search_gives_all_or_an_error(self, store: VectorStore) -> None:
        """As above for ``nearest``, expired or cancelled, before it begins or on the way."""
        corpus = [make_put("a.md", *(f"text {at}" for at in range(600)))]
        build = publish(store, *corpus)
        attach(store, build, "space", {d: _turned(at) for at, d in enumerate(digests(corpus))})
        every = nearest(store, _turned(0)).found
        late = dict(LATE) | {f"after {looks}": cancelled_after(looks) for looks in range(1, 8)}
        for name, deadline in late.items():
            try:
                answer = store.nearest(
                    "space", _turned(0), where=EVERYWHERE, limit=ALL, deadline=deadline
                )
            except DeadlineExceededError:
                continue
            assert name not in LATE, f"a deadline that is {name} is not seen"
            assert answer.found == every

    @law(corpus=corpora(min_size=1), batch=batches())
    def test_what_is_done_to_a_filling_build_stays_there(
        self, store: Store, corpus: Corpus, batch: Batch
    ) -> None:
        """Deletes, touches, appends and vectors of a build that fills never reach the live one.

        Documents, answers, counts, spaces and vectors stay what they were, also when it is dropped.
        """
        mine = make_put("live.md", "ant bee")
        publish(store, *corpus, mine)
        vector = "vectors" in store.capabilities
        if vector:
            vectors = dict.fromkeys(digests(corpus), make_vector(1, 2, 3))
            attach(cast("VectorStore", store), live_build(store), "space", vectors)
        live = {*digests(corpus), *digests([mine])}
        before = _everything(store)
        gone = [DeleteDocument(put.source, put.path) for put in corpus]
        touched = [TouchDocument(put.source, put.path, "1 2 3 4") for put in corpus]
        with store.writer(wait=WAIT):
            build = fill(store, *corpus, *touched)
            store.put_documents(build, [*gone, *batch, DeleteDocument("memory", "live.md")])
            assert _everything(store) == before
            store.put_documents(build, [make_put("live.md", "cat", "dog")])
            if "append" in store.capabilities:
                store.put_documents(build, [make_append("live.md", "emu", keep=1)])
            if vector:
                missing = dict(cast("VectorStore", store).missing_vectors(build, "space"))
                new = dict.fromkeys(missing.keys() - live, make_vector(0, 1, 0))
                cast("VectorStore", store).put_vectors(build, "space", 3, new)
            assert _everything(store) == before
            store.drop(build)
        assert _everything(store) == before

    @law()
    def test_no_file_is_left_open(self, store: Store) -> None:
        """However often it is read, written, opened and closed again."""

        def use() -> None:
            list(store.documents())
            store.health()
            if "keyword" in store.capabilities:
                search(store, words("ant"))
            if "vectors" in store.capabilities:
                nearest(cast("VectorStore", store), make_vector(1, 0, 0))
            write(store, make_put("a.md", "ant bee"))

        def open_and_close() -> None:
            with closing(self.open_store(self._empty_folder())) as other:
                publish(other, make_put("a.md", "ant"))

        publish(store, make_put("a.md", "ant"))
        keeps_descriptors(use)
        keeps_descriptors(open_and_close, times=8)

    @law("keyword")
    def test_another_process_gives_the_same_answers(self, store: Store) -> None:
        """Order and scores hang on no hash seed, no address, and nothing that a process made up."""
        same_elsewhere(self, store, "_answers_of_its_own")

    @law("keyword", "persistent")
    def test_another_process_reads_what_this_one_wrote(self, store: Store) -> None:
        """The same folder opened by another process: the same documents, ids and scores."""
        publish(store, *_asked())
        if "vectors" in store.capabilities:
            given = {one: _turned(at) for at, one in enumerate(digests(_asked()))}
            attach(cast("VectorStore", store), live_build(store), "space", given)
        expected = _everything(store)
        for answers in elsewhere(self, store, "_answers_from", self.directory):
            assert answers == expected

    def _answers_of_its_own(self) -> object:
        """What a new store answers, without the ids."""
        with closing(self.open_store(self._empty_folder())) as opened:
            store = cast("Store", self.observed(opened))
            publish(store, *_asked())
            answers = [search(store, query) for query in _QUERIES]
        assert all(answers)
        return [
            [(*hit.chunk._replace(id=0), round(hit.score, 9)) for hit in answer]
            for answer in answers
        ]

    def _answers_from(self, directory: str) -> object:
        with closing(self.open_store(directory)) as store:
            try:
                return _everything(cast("Store", self.observed(store)))
            except Exception as error:  # noqa: BLE001  the law compares it with the answers
                return repr(error)


_QUERIES = (
    words("ant"),
    words("bee", "cat"),
    KeywordQuery(should=("ant", "dog"), must=(("bee",),)),
)


def _asked() -> list[PutDocument]:
    return [
        make_put(f"{at % 5}/{at}.md", "ant bee", f"ant cat x{at}", "bee dog", source=f"s{at % 3}")
        for at in range(20)
    ]


def _keyword(store: Store, deadline: Deadline) -> list[object]:
    return list(store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=deadline).found)


def _everything(store: Store) -> object:
    """All that can be asked of the live build."""
    seen: list[object] = [live_build(store), held(store), store.health().chunks]
    if "keyword" in store.capabilities:
        seen += [search(store, query) for query in _QUERIES]
    if "counts" in store.capabilities:
        seen.append(dict(cast("CountingStore", store).holders(["ant", "bee", "emu"])))
    if "vectors" in store.capabilities:
        vectors = cast("VectorStore", store)
        found = nearest(vectors, make_vector(1, 0, 0)).found
        seen += [
            [info for info in vectors.spaces() if info.covered],
            found,
            dict(vectors.vectors("space", ids(found))),
        ]
    return seen
