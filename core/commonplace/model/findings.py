"""What the checks of a memory find, and what fixes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Finding", "Fix"]


class Fix(NamedTuple):
    """How to fix a finding: ``text`` says it in the imperative.

    With ``run``, ``commonplace doctor --fix`` does it: ``run`` returns one line on what it did, or
    raises a :class:`~commonplace.errors.CommonplaceError` or ``OSError``. It may be called while
    the part is open that reported the finding. No fix changes a note. ``on_request`` marks a fix
    that deletes what costs money to make again: it runs only with ``--drop-unused``.
    """

    text: str
    run: Callable[[], str] | None = None
    on_request: bool = False

    @property
    def hint(self) -> str:
        """One line for people: ``text``, behind the command that does it where there is one."""
        if self.run is None:
            return self.text
        option = " --drop-unused" if self.on_request else ""
        return f"`commonplace doctor --fix{option}`: {self.text}"


class Finding(NamedTuple):
    """The result of one check.

    ``state`` is ``problem`` where results may be wrong or missing, ``warning`` where it should be
    looked into. ``name`` is stable, one or two words; ``text`` is one line for people.
    """

    state: Literal["ok", "warning", "problem"]
    name: str
    text: str
    fix: Fix | None = None
