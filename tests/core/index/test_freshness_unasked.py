"""Asking engines to leave what can wait, also those that have never heard of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.index.syncing import maintain_unasked
from commonplace.model.reports import SyncReport
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from commonplace.protocols.managers import MemoryManager
    from commonplace.resilience.deadline import Deadline


class Knows:
    def maintain(self, *, eager: bool = True, embed: bool = True, deadline: Deadline) -> SyncReport:
        assert not embed
        assert deadline is NEVER
        return SyncReport(added=1 if eager else 2)


class PassesOn:
    def maintain(self, **asked: Any) -> SyncReport:
        return Knows().maintain(**asked)


class NeverHeard:
    def maintain(self, *, embed: bool = True, deadline: Deadline) -> SyncReport:
        eager = True
        return Knows().maintain(eager=eager, embed=embed, deadline=deadline)


@pytest.mark.parametrize(("engine", "added"), [(Knows(), 2), (PassesOn(), 2), (NeverHeard(), 1)])
def test_who_takes_it_is_told_that_nobody_asked(engine: object, added: int) -> None:
    manager = cast("MemoryManager", engine)
    assert maintain_unasked(manager, embed=False, deadline=NEVER).added == added
