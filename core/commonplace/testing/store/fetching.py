"""Laws about the chunks that a store gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from attrs import evolve
from hypothesis import strategies as st

from commonplace.model.chunks import AnalysedChunk, Chunk, DeleteDocument, Terms
from commonplace.model.documents import Trust
from commonplace.testing.builders import make_put
from commonplace.testing.driving import publish, search, words, write
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import HOSTILE_TEXTS, corpora, hostile_tokens, texts

if TYPE_CHECKING:
    from random import Random

    from commonplace.model.chunks import PutDocument
    from commonplace.model.search import ChunkId
    from commonplace.protocols.stores import Store

__all__ = ["FetchLaws"]

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


class FetchLaws(StoreLaws):
    """``fetch``, and the ids that ``keyword`` gives."""

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
        back = store.fetch([id_ for id_, _ in search(store, words("ant"))])
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
        """A chunk comes with source, path, day and trust of its document.

        So it does with its ``body`` as it was analysed.
        """
        chunk = AnalysedChunk(Chunk(1, 1, "text"), Terms(" ".join([*body, "ant"])), "0" * 64)
        publish(store, make_put("x/y.md", chunk, source="sessions", day=day, trust=trust))
        ((id_, _),) = search(store, words("ant"))
        (back,) = store.fetch([id_])
        assert (back.source, back.path, back.day, back.trust) == ("sessions", "x/y.md", day, trust)
        assert back.body == " ".join([*body, "ant"])
        assert back.id == id_

    @law("keyword", corpus=corpora(), random=st.randoms(use_true_random=False))
    def test_chunks_come_in_the_order_asked_for(
        self, store: Store, corpus: list[PutDocument], random: Random
    ) -> None:
        """``fetch`` keeps the order of the ids, whatever it is, and gives all it is asked for."""
        publish(store, *corpus, make_put("many.md", *["ant bee"] * 5))
        ids = _ids(store)
        random.shuffle(ids)
        assert [chunk.id for chunk in store.fetch(ids)] == ids
        assert [chunk.id for chunk in store.fetch(ids[:3])] == ids[:3]

    @law("keyword")
    def test_hundreds_of_chunks_can_be_fetched_at_once(self, store: Store) -> None:
        """There is no number of ids that is too many."""
        publish(store, make_put("a.md", *["ant"] * 1_500))
        ids = _ids(store)
        assert len(ids) == 1_500
        assert [chunk.start_line for chunk in store.fetch(ids[::-1])] == list(range(1_500, 0, -1))

    @law("keyword")
    def test_chunks_that_are_gone_are_left_out(self, store: Store) -> None:
        """Ids of chunks that were deleted are skipped; those around them come in their order."""
        publish(store, *(make_put(f"{number}.md", "ant") for number in range(5)))
        ids = _ids(store)
        write(store, DeleteDocument("memory", "1.md"), DeleteDocument("memory", "3.md"))
        assert [chunk.path for chunk in store.fetch(ids)] == ["0.md", "2.md", "4.md"]

    @law("keyword")
    def test_ids_stay_while_their_document_does(self, store: Store) -> None:
        """What happens to other documents changes no id."""
        publish(store, make_put("a.md", "ant", "bee"), make_put("b.md", "ant"))
        before = search(store, words("bee"))
        write(store, make_put("b.md", "ant", "cat"), make_put("0.md", "ant"))
        write(store, DeleteDocument("memory", "b.md"))
        assert [id_ for id_, _ in search(store, words("bee"))] == [id_ for id_, _ in before]

    @law("keyword")
    def test_an_id_never_names_another_chunk(self, store: Store) -> None:
        """The id of a chunk that is gone is not given to another.

        Be its document replaced or deleted, or the whole build activated over: whoever still has
        the id gets nothing, not another text.
        """
        put = make_put("a.md", "ant", "bee")
        publish(store, make_put("first.md", "ant"), put)
        old = _ids(store)
        write(store, evolve(put, digest="other"), make_put("first.md", "bee"))
        assert store.fetch(old) == []
        older, old = old, _ids(store)
        write(store, DeleteDocument("memory", "a.md"), DeleteDocument("memory", "first.md"))
        write(store, put)
        assert store.fetch([*older, *old]) == []
        oldest, old = [*older, *old], _ids(store)
        publish(store, put, identity="next")
        assert store.fetch([*oldest, *old]) == []
        assert len(store.fetch(_ids(store))) == 2


def _ids(store: Store) -> list[ChunkId]:
    return [id_ for id_, _ in search(store, words("ant", "bee", "cat", "dog"))]


def _hostile_chunk(text: str) -> Chunk:
    """The text as it is, and as headings: one alone, one among empty ones, one cut in two."""
    line = text.replace("\n", "")
    return Chunk(1, 9, text, (line, "", line, line[:1], line[1:], ""))
