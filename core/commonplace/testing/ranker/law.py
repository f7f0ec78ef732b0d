"""What all laws of rankers stand on: a ranker of the usual settings."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from commonplace.protocols.contexts import RankerContext
from commonplace.testing.law import Laws, law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.model.search import Candidate
    from commonplace.protocols.rankers import Ranker
    from commonplace.testing.ranker.cases import Case

__all__ = ["RankerLaws", "law", "ranked"]


class RankerLaws(Laws):
    """What all laws of rankers stand on."""

    subject: ClassVar[str] = "ranker"

    def make_ranker(self, context: RankerContext) -> Ranker:
        """Make the ranker, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_ranker(context)")

    def need(self, subject: Any, *capabilities: str) -> None:
        """Skip a law of another stage than the ranker's."""
        if capabilities and subject.stage not in capabilities:
            pytest.skip(f"a law of the stage {capabilities[0]}")

    @contextmanager
    def opened(self) -> Iterator[Ranker]:
        """A ranker of the usual settings."""
        yield self.make_ranker(RankerContext())


def ranked(ranker: Ranker, case: Case) -> list[Candidate]:
    """What the ranker makes of a case."""
    return list(ranker.rank(case.hits(ranker), case.context(ranker)))
