"""Syncs that no caller requested: managers that declare ``eager`` get the argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from commonplace.index.syncing import maintain_unasked
from commonplace.model.reports import SyncReport
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from commonplace.protocols.managers import MemoryManager
    from commonplace.resilience.deadline import Deadline


class Declares:
    capabilities = frozenset({"eager"})

    def maintain(self, *, eager: bool = True, embed: bool = True, deadline: Deadline) -> SyncReport:
        assert not embed
        assert deadline is NEVER
        return SyncReport(added=1 if eager else 2)


class DeclaresNothing:
    capabilities: frozenset[str] = frozenset()

    def maintain(self, *, embed: bool = True, deadline: Deadline) -> SyncReport:
        return Declares().maintain(eager=True, embed=embed, deadline=deadline)


@pytest.mark.parametrize(("engine", "added"), [(Declares(), 2), (DeclaresNothing(), 1)])
def test_only_managers_that_declare_eager_get_the_argument(engine: object, added: int) -> None:
    manager = cast("MemoryManager", engine)
    assert maintain_unasked(manager, embed=False, deadline=NEVER).added == added
