"""What a close look at the parts of a memory finds, and what would fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Finding", "Remedy"]


class Remedy(NamedTuple):
    """What would fix a finding: ``says`` what, in the imperative; ``run`` does it.

    ``run`` returns a line on what was done; it may be called while the part is open that found it,
    and raises a :class:`~commonplace.errors.CommonplaceError` or ``OSError`` where it cannot. No
    remedy touches a note. ``asked`` is True where it is not done unless it is asked for by name,
    for it drops what costs money to make again.
    """

    says: str
    run: Callable[[], str]
    asked: bool = False


class Finding(NamedTuple):
    """One thing that was looked at, in words for people.

    ``name`` is of one or two words and stable; ``value`` is what was found there. ``state`` is
    ``problem`` where answers may be wrong or missing, ``warning`` where only care is needed.
    """

    name: str
    value: str
    state: Literal["ok", "warning", "problem"] = "ok"
    remedy: Remedy | None = None
