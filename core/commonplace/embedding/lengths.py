"""How long a provider's vectors are, which a server may change without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.embedding.link import space_name, space_of
from commonplace.embedding.vectors import dims_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonplace.embedding.ledger import SpaceLedger
    from commonplace.embedding.link import ProviderLink
    from commonplace.model.store import SpaceInfo

__all__ = ["VectorLength"]


class VectorLength:
    """What is known of one provider's vectors, from the index, from queries, and from itself.

    ``dims`` is the length to go by (``None``: not known yet), ``confirmed`` whether vectors of it
    have just come back, and ``turned`` whether those were of another length than was gone by.
    ``doubtful`` is whether a query's vector and those of the index disagree, which the next to come
    back decide. ``note`` says so on one line.
    """

    def __init__(
        self, link: ProviderLink, spaces: Sequence[SpaceInfo], ledger: SpaceLedger | None
    ) -> None:
        self.confirmed = self.turned = False
        self.note = ""
        self._id = link.id
        self._fingerprint = link.fingerprint()
        self._ledger = ledger
        self._kept = ledger.length(self._fingerprint) if ledger is not None else None
        known = space_of(self._fingerprint, spaces)
        self.dims = known.dims if known is not None else None
        if self._kept is not None and self.dims is not None and self._kept != self.dims:
            self._turn(self._kept)  # a query was answered so

    @property
    def doubtful(self) -> bool:
        """Whether it is to be found out before all is embedded anew."""
        return bool(self.note) and not self.confirmed

    @property
    def space(self) -> str:
        """The space of vectors of this length."""
        return space_name(self._fingerprint, self.dims or 0)

    def measured(self, vectors: Iterable[bytes]) -> None:
        """Take in what has come from the provider itself: it decides."""
        found = next(map(dims_of, vectors), None)
        if found is None:
            return
        if not self.confirmed and self.dims is not None and found != self.dims:
            self._turn(found)
            self.turned = True
        self.dims = found
        self.confirmed = True
        if self._ledger is not None and found != self._kept:
            self._ledger.saw(self._fingerprint, found)
            self._kept = found

    def _turn(self, dims: int) -> None:
        self.note = (
            f"{self._id} now gives {dims} dimensions instead of {self.dims}:"
            " the notes are embedded anew"
        )
        self.dims = dims
