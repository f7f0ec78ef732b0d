"""Tokens are found by how they begin, where their chunks can be looked through quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import DeadlineExceededError
from commonplace.resilience.deadline import Deadline, GuardedCaller
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import words
from commonplace_lancedb import vocabulary
from commonplace_lancedb.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_lancedb.store import LanceStore


def test_a_token_is_counted_once_for_each_chunk_that_holds_it(store: LanceStore) -> None:
    publish(store, make_put("a.md", "anthem ant anthem", "giant anthem", "bee", "ant\ud800 any"))
    assert store.tokens_beginning("ant", 9) == {"anthem": 2, "ant": 1, "ant\ud800": 1}
    assert list(store.tokens_beginning("an", 2)) == ["anthem", "ant"]
    assert store.tokens_beginning("ant\ud800", 9) == {"ant\ud800": 1}


def test_only_tokens_of_the_own_live_build_are_found(open_store: Callable[..., LanceStore]) -> None:
    own, other = open_store(), open_store("other")
    assert own.tokens_beginning("ant", 9) == {}
    publish(other, make_put("a.md", "antenna"))
    assert own.tokens_beginning("ant", 9) == {}
    publish(own, make_put("a.md", "anthem"))
    with own.writer(wait=0):
        own.put_documents(own.open_build("next"), [make_put("a.md", "antler")])
    assert own.tokens_beginning("ant", 9) == {"anthem": 1}


def test_what_another_store_writes_is_found(open_store: Callable[..., LanceStore]) -> None:
    one, other = open_store(), open_store()
    publish(one, make_put("a.md", "anthem"))
    assert other.tokens_beginning("ant", 9) == {"anthem": 1}
    write(one, make_put("a.md", "antler"))
    assert other.tokens_beginning("ant", 9) == {"antler": 1}


def test_the_terms_are_read_once_for_each_version(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[tuple[Any, ...]] = []
    rows = Snapshot.rows

    def counting(self: Snapshot, *asked: Any) -> Any:
        reads.append(asked)
        return rows(self, *asked)

    publish(store, make_put("a.md", "anthem"))
    monkeypatch.setattr(Snapshot, "rows", counting)
    for text in ("ant", "bee", "ant"):
        store.tokens_beginning(text, 9)
    assert len(reads) == 1
    write(store, make_put("b.md", "antler"))
    del reads[:]
    assert store.tokens_beginning("ant", 9) == {"anthem": 1, "antler": 1}
    assert len(reads) == 1


def test_a_large_build_is_not_looked_through(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, make_put("a.md", "anthem antler"))
    monkeypatch.setattr(vocabulary, "_MOST_TOKENS", 1)
    assert store.tokens_beginning("ant", 9) == {}
    monkeypatch.setattr(vocabulary, "_MOST_TOKENS", 100)
    assert len(store.tokens_beginning("ant", 9)) == 2


def test_a_look_up_ends_by_the_deadline_of_its_call(store: LanceStore) -> None:
    publish(store, make_put("a.md", "anthem"))
    caller = GuardedCaller("lancedb")
    with pytest.raises(DeadlineExceededError):
        caller.run(lambda: store.tokens_beginning("ant", 9), Deadline.after(-1))
    assert caller.run(lambda: store.tokens_beginning("ant", 9), Deadline.after(60))


@pytest.mark.slow
def test_of_a_bucket_only_rows_in_memory_are_looked_through(
    open_store: Callable[..., LanceStore], s3: dict[str, str], secrets: Callable[..., Any]
) -> None:
    where = {"uri": "s3://memory/words", "storage_options": secrets(s3)}
    store, holding_none = open_store(**where), open_store(held_megabytes=0, **where)
    publish(store, make_put("a.md", "anthem"))
    assert store.tokens_beginning("ant", 9) == {"anthem": 1}
    assert holding_none.tokens_beginning("ant", 9) == {}
    assert len(search(holding_none, words("anthem"))) == 1
