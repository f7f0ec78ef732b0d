"""Laws about vectors: what they are kept for, and how long."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from commonplace.errors import CallerError
from commonplace.model.chunks import DeleteDocument, embedding_text
from commonplace.testing.builders import make_chunk, make_put
from commonplace.testing.driving import WAIT, ids, live_build, places, publish, write
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import corpora
from commonplace.testing.vectors import (
    DIMS,
    TOLERANCE,
    attach,
    digests,
    make_vector,
    nearest,
    vector_store,
)

if TYPE_CHECKING:
    from commonplace.model.chunks import PutDocument
    from commonplace.protocols.stores import Store, VectorStore

__all__ = ["VectorLaws"]

_EAST, _NORTH, _WEST = make_vector(1, 0, 0), make_vector(0, 1, 0), make_vector(-1, 0, 0)
_A, _B = make_chunk("ant"), make_chunk("bee", line=2)
_BAD = {
    "too short": make_vector(1, 0),
    "too long": make_vector(1, 0, 0, 0),
    "cut": _EAST[:-1],
    "empty": b"",
    "not a number": struct.pack("<3f", 1.0, float("nan"), 0.0),
    "infinite": struct.pack("<3f", float("inf"), 0.0, 0.0),
}


def _long(length: float) -> bytes:
    """A vector to the north, of another length."""
    return struct.pack("<3f", 0.0, length, 0.0)


class VectorLaws(StoreLaws):
    """``spaces``, ``missing_vectors``, ``put_vectors`` and ``drop_space``."""

    @law("vectors", corpus=corpora(), share=st.integers(0, 3))
    def test_what_is_missing_is_told_once(
        self, store: Store, corpus: list[PutDocument], share: int
    ) -> None:
        """``missing_vectors`` names each digest without a vector once, with the text to embed.

        That is ``embedding_text`` of a chunk of that digest.
        """
        kept = vector_store(store)
        build = publish(store, *corpus)
        held = digests(corpus)[:share]
        attach(kept, build, "space", dict.fromkeys(held, _EAST))
        texts = {c.digest: embedding_text(c.chunk) for put in corpus for c in put.chunks}
        missing = list(kept.missing_vectors(build, "space"))
        assert sorted(missing) == sorted((d, texts[d]) for d in set(texts) - set(held))
        assert {digest for digest, _ in kept.missing_vectors(build, "other")} == set(texts)

    @law("vectors")
    def test_the_text_to_embed_has_its_headings(self, store: Store) -> None:
        """The headings a chunk stands under are part of what is embedded."""
        chunk = make_chunk("ant", heading=("Zoo", "Small"))
        build = publish(store, make_put("a.md", chunk))
        assert list(vector_store(store).missing_vectors(build, "space")) == [
            (chunk.digest, embedding_text(chunk.chunk))
        ]

    @law("vectors")
    def test_coverage_counts_chunks(self, store: Store) -> None:
        """``spaces`` counts the live build's chunks that have a vector, not the vectors."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B), make_put("b.md", "ant", "cat"))
        attach(kept, build, "space", {_A.digest: _EAST})
        assert kept.spaces() == (("space", DIMS, 2, 4),)
        attach(kept, build, "space", {_B.digest: _EAST})
        attach(kept, build, "other", {_B.digest: make_vector(1, 1)}, dims=2)
        assert sorted(kept.spaces()) == [("other", 2, 1, 4), ("space", DIMS, 3, 4)]

    @law("vectors")
    def test_unknown_digests_are_left_out(self, store: Store) -> None:
        """A vector for a text that is not in the build is not kept, and no error."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A))
        attach(kept, build, "space", {_A.digest: _EAST, _B.digest: _NORTH})
        write(store, make_put("b.md", _B))
        assert [digest for digest, _ in kept.missing_vectors(build, "space")] == [_B.digest]
        assert len(nearest(kept, _EAST).found) == 1

    @law("vectors")
    def test_a_vector_put_again_replaces_the_old_one(self, store: Store) -> None:
        """The last one counts."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A))
        attach(kept, build, "space", {_A.digest: _EAST})
        assert _scores(kept, _EAST) == [pytest.approx(1, abs=TOLERANCE)]
        attach(kept, build, "space", {_A.digest: _WEST})
        assert _scores(kept, _EAST) == [pytest.approx(-1, abs=TOLERANCE)]

    @law("vectors", bad=st.sampled_from(sorted(_BAD)))
    def test_what_is_no_vector_is_refused(self, store: Store, bad: str) -> None:
        """Another length, or a number that is not finite, is a ``ValueError``.

        Nothing of the batch is kept; nor can such a vector be searched for.
        """
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B))
        with pytest.raises(ValueError, match=r"."):
            attach(kept, build, "space", {_A.digest: _EAST, _B.digest: _BAD[bad]})
        assert len(list(kept.missing_vectors(build, "space"))) == 2
        attach(kept, build, "space", {_A.digest: _EAST})
        with pytest.raises(ValueError, match=r"."):
            nearest(kept, _BAD[bad])

    @law("vectors", length=st.sampled_from((0.0, 1e-30, 0.5, 0.99, 1.01, 2.0, 1e30)))
    def test_a_vector_that_is_not_of_unit_length_is_refused(
        self, store: Store, length: float
    ) -> None:
        """It is a ``ValueError``, and nothing of the batch is kept.

        A length that float32 cannot tell from 1, or hardly, is 1.
        """
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B))
        with pytest.raises(ValueError, match=r"."):
            attach(kept, build, "space", {_A.digest: _EAST, _B.digest: _long(length)})
        assert len(list(kept.missing_vectors(build, "space"))) == 2
        attach(kept, build, "space", {_A.digest: _EAST, _B.digest: _long(1 + 1e-5)})
        assert _scores(kept, _NORTH) == [pytest.approx(1, abs=1e-4), pytest.approx(0, abs=1e-4)]

    @law("vectors")
    def test_a_space_has_one_number_of_dimensions(self, store: Store) -> None:
        """Vectors of other dimensions than the space holds are a ``ValueError``."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B))
        attach(kept, build, "space", {_A.digest: _EAST})
        with pytest.raises(ValueError, match=r"."):
            attach(kept, build, "space", {_B.digest: make_vector(1, 1)}, dims=2)
        assert kept.spaces() == (("space", DIMS, 1, 2),)

    @law("vectors")
    def test_a_dropped_space_is_gone(self, store: Store) -> None:
        """Nothing is left of it, others stay, and its name is free for other dimensions.

        To drop it again is no error.
        """
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A))
        attach(kept, build, "space", {_A.digest: _EAST})
        attach(kept, build, "other", {_A.digest: _EAST})
        for _ in range(2):
            with store.writer(wait=WAIT):
                kept.drop_space("space")
            assert kept.spaces() == (("other", DIMS, 1, 1),)
            assert nearest(kept, _EAST).found == ()
        assert len(nearest(kept, _EAST, space="other").found) == 1
        attach(kept, build, "space", {_A.digest: make_vector(1, 0)}, dims=2)
        assert len(nearest(kept, make_vector(1, 0)).found) == 1

    @law("vectors")
    def test_a_vector_goes_with_the_last_chunk_of_its_text(self, store: Store) -> None:
        """While one document has the text its vector stays; when the last goes, so does it."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A), make_put("b.md", _A))
        attach(kept, build, "space", {_A.digest: _EAST})
        write(store, DeleteDocument("memory", "a.md"))
        assert places(nearest(kept, _EAST).found) == [("memory", "b.md", 1)]
        write(store, make_put("b.md", _B))
        assert nearest(kept, _EAST).found == ()
        write(store, make_put("c.md", _A))
        missing = {digest for digest, _ in kept.missing_vectors(build, "space")}
        assert missing == {_A.digest, _B.digest}

    @law("vectors")
    def test_a_vector_stays_with_its_text(self, store: Store) -> None:
        """A text that is put again, moved, or put into another document needs no new vector."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B))
        attach(kept, build, "space", {_A.digest: _EAST, _B.digest: _NORTH})
        write(store, make_put("a.md", _A, make_chunk("new", line=2), make_chunk("bee", line=3)))
        assert len(list(kept.missing_vectors(build, "space"))) == 1
        assert _lines(kept, _EAST) == [1, 3]
        write(store, DeleteDocument("memory", "a.md"), make_put("z.md", _A))
        assert places(nearest(kept, _EAST).found) == [("memory", "z.md", 1)]

    @law("vectors")
    def test_a_new_build_takes_over_vectors(self, store: Store) -> None:
        """What is made anew has the vectors of the texts that are the same, once it is live."""
        kept = vector_store(store)
        live = publish(store, make_put("a.md", _A, _B))
        attach(kept, live, "space", {_A.digest: _EAST, _B.digest: _NORTH})
        with store.writer(wait=WAIT):
            build = store.open_build("new")
            store.put_documents(build, [make_put("b.md", _A, "new")])
            missing = [text for _, text in kept.missing_vectors(build, "space")]
            store.activate(build)
        assert missing == ["new"]
        assert places(nearest(kept, _EAST).found) == [("memory", "b.md", 1)]
        assert kept.spaces() == (("space", DIMS, 1, 2),)
        write(store, make_put("a.md", _B))
        assert len(list(kept.missing_vectors(live_build(store), "space"))) == 2

    @law("vectors")
    def test_vectors_are_written_under_the_lease(self, store: Store) -> None:
        """Without it to write is a ``CallerError``."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A))
        with pytest.raises(CallerError):
            kept.put_vectors(build, "space", DIMS, {_A.digest: _EAST})
        with pytest.raises(CallerError):
            kept.drop_space("space")

    @law("vectors", "persistent", corpus=corpora())
    def test_vectors_are_there_after_reopening(
        self, store: Store, corpus: list[PutDocument]
    ) -> None:
        """A store that is closed and opened again gives the same answers."""
        kept = vector_store(store)
        build = publish(store, *corpus)
        turn = (_EAST, _NORTH, _WEST)
        attach(kept, build, "space", {d: turn[i % 3] for i, d in enumerate(digests(corpus))})
        before = kept.spaces(), nearest(kept, _EAST).found, kept.vectors("space", _ids(kept))
        store.close()
        with self.opened_again() as other:
            again = vector_store(other)
            after = (
                again.spaces(),
                nearest(again, _EAST).found,
                again.vectors("space", _ids(again)),
            )
            assert after == before


def _scores(store: VectorStore, query: bytes) -> list[float]:
    return [hit.score for hit in nearest(store, query).found]


def _ids(store: VectorStore) -> list[int | str]:
    return ids(nearest(store, _EAST).found)


def _lines(store: VectorStore, query: bytes) -> list[int]:
    return [line for _, _, line in places(nearest(store, query).found)]
