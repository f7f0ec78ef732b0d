"""Batches of changes that fail on the way, to see what a store leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, cast, get_args, overload

from commonplace.testing.builders import make_chunk, make_put

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.chunks import Change

__all__ = ["POISONS", "Poison", "Watched", "poisoned", "succeeds"]

Poison = Literal["torn", "no change", "no text"]
"""The batch cannot be read to its end; its last element is no change; its last text has a lone
surrogate, which has no encoding, so that a store may refuse it or keep it."""

POISONS: tuple[Poison, ...] = get_args(Poison)


def poisoned(changes: Sequence[Change], poison: Poison) -> Sequence[Change]:
    """``changes``, and after them what makes them fail."""
    if poison == "torn":
        return _Torn(changes)
    if poison == "no change":
        return (*changes, cast("Change", object()))
    return (*changes, make_put("memory/surrogate.md", make_chunk("ant \ud800", body="ant")))


def succeeds(action: Callable[[], object]) -> bool:
    """Whether ``action`` returns, be it from whatever error."""
    with suppress(Exception):
        action()
        return True
    return False


class Watched(Sequence["Change"]):
    """A sequence that tells ``reading`` the place of each change before it is read."""

    def __init__(self, changes: Sequence[Change], reading: Callable[[int], object]) -> None:
        self._changes = changes
        self._reading = reading

    def __len__(self) -> int:
        return len(self._changes)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Change]: ...
    def __getitem__(self, index: int | slice) -> Change | Sequence[Change]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if 0 <= index < len(self):
            self._reading(index)
        return self._changes[index]


class _Torn(Watched):
    """A sequence that is one longer than what can be read of it."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__(changes, self._tear)

    def __len__(self) -> int:
        return super().__len__() + 1

    def _tear(self, place: int) -> None:
        if place == len(self) - 1:
            raise OSError("this batch cannot be read to its end")
