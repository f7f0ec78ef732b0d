"""A ranker: what a user marked as important comes before what is as good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Group, setting, with_step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext, StoredChunk


class PinnedSettings(Group):
    """``plugins.entries.pinned.config``, resolved."""

    marks: tuple[str, ...] = setting(
        "Words that pin the piece they stand in, or all below their heading.", default=("#pinned",)
    )
    lift: float = setting(
        "Share of what a pinned piece's score lacks to 1 that it is given.",
        default=0.3,
        minimum=0.0,
        maximum=1.0,
    )


class Pinned:
    """Lifts pinned pieces; the order among them, and among the others, stays as it was."""

    id = "pinned"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, settings: PinnedSettings) -> None:
        self._marks = frozenset(settings.marks)
        self._lift = settings.lift

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Lift what is pinned."""
        del context
        return [self._lifted(hit) for hit in hits]

    def _lifted(self, hit: Candidate) -> Candidate:
        mark = self._mark(hit.chunk)
        if mark is None:
            return with_step(hit, self.id, hit.score, "not pinned")
        score = hit.score + self._lift * (1.0 - hit.score)
        return with_step(hit, self.id, score, f"pinned by {mark}")

    def _mark(self, chunk: StoredChunk) -> str | None:
        for text in (*chunk.heading, chunk.text):
            for word in text.split():
                if word in self._marks:
                    return word
        return None
