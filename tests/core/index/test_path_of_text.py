"""A chunk is found by the text that its embedding is made of, in whatever store it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import DeclinedError
from commonplace.index.checks import citation_of
from commonplace.model.chunks import embedding_text
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish
from commonplace.testing.base import make_chunk
from commonplace.text.analyse import make_analyser
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from commonplace.model.search import KeywordMatches

ANALYSER = make_analyser()


def test_the_place_has_path_and_lines() -> None:
    store = InMemoryStore()
    chunk = make_chunk("ant bee\ncat", heading=("Zoo",))
    publish(store, make_put("a.md", "ant", "bee"), make_put("b.md", "ant", chunk))
    place = citation_of(store, ANALYSER, embedding_text(chunk.chunk), deadline=NEVER)
    assert place.startswith("b.md#L")
    assert citation_of(store, ANALYSER, "bee", deadline=NEVER).startswith("a.md#L")


@pytest.mark.parametrize("text", ["", "...", "🙂", "a word that is nowhere", "ant bee"])
def test_what_stands_nowhere_has_no_place(text: str) -> None:
    store = InMemoryStore()
    publish(store, make_put("a.md", "ant", "bee"))
    assert citation_of(store, ANALYSER, text, deadline=NEVER) == ""


def test_who_declines_to_look_ends_nothing() -> None:
    class Declining(InMemoryStore):
        def keyword(self, *_: object, **__: object) -> KeywordMatches:
            raise DeclinedError("not this")

    store = Declining()
    publish(store, make_put("a.md", "ant"))
    assert citation_of(store, ANALYSER, "ant", deadline=NEVER) == ""


@given(st.lists(st.text("ab é方案.", min_size=1, max_size=9), max_size=9))
@settings(max_examples=50)
def test_a_place_is_never_another_texts(texts: list[str]) -> None:
    store = InMemoryStore()
    publish(store, *(make_put(f"{i}.md", text) for i, text in enumerate(texts)))
    for text in texts:
        place = citation_of(store, ANALYSER, text, deadline=NEVER)
        if place:
            assert texts[int(place.partition(".")[0])] == text
