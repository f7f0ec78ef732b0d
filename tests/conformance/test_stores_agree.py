from __future__ import annotations

from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.protocols.contexts import StoreContext
from commonplace.testing import publish, search
from commonplace.testing.base import places
from commonplace.testing.strategies import corpora, queries, wheres
from commonplace_inmemory.store import InMemoryStore
from commonplace_sqlite.plugin import make_store

if TYPE_CHECKING:
    from commonplace.model.chunks import PutDocument
    from commonplace.model.search import KeywordQuery, Where
    from commonplace.protocols.parts import Store
    from commonplace.testing.base import Place


@settings(max_examples=25, deadline=None)
@given(
    corpus=corpora(max_size=12),
    questions=st.lists(st.tuples(queries(), wheres()), min_size=1, max_size=10),
)
@pytest.mark.slow
def test_sqlite_scores_as_the_model_does(
    corpus: list[PutDocument], questions: list[tuple[KeywordQuery, Where]]
) -> None:
    model = InMemoryStore()
    publish(model, *corpus)
    with TemporaryDirectory() as directory:
        path = f"{directory}/index.sqlite"
        with closing(make_store(StoreContext(path=path))) as sqlite:
            publish(sqlite, *corpus)
            for query, where in questions:
                expected = _scores(model, query, where)
                assert _scores(sqlite, query, where) == pytest.approx(expected, rel=1e-9)


def _scores(store: Store, query: KeywordQuery, where: Where) -> dict[Place, float]:
    found = search(store, query, where)
    return dict(zip(places(found), (hit.score for hit in found), strict=True))
