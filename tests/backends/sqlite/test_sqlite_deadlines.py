"""Look-ups are given no deadline, and end by that of the call that they are made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import DeadlineExceededError
from commonplace.resilience.deadline import Deadline, GuardedCaller
from commonplace.testing import make_put, publish

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_sqlite.store import SqliteStore

LOOK_UPS: dict[str, Callable[[SqliteStore], object]] = {
    "holders": lambda store: store.holders({"ant"}),
    "tokens_beginning": lambda store: store.tokens_beginning("an", 5),
    "vectors": lambda store: store.vectors("space", [1]),
}


@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_look_up_waits_for_a_reader_until_the_deadline_of_its_call(
    store: SqliteStore, name: str
) -> None:
    publish(store, make_put("a.md", "ant"))
    caller, late = GuardedCaller("sqlite"), Deadline.after(-1)
    with store._database._locked(None), pytest.raises(DeadlineExceededError):  # another's search
        caller.run(lambda: LOOK_UPS[name](store), late)
    assert isinstance(caller.run(lambda: LOOK_UPS[name](store), Deadline.after(60)), dict)
