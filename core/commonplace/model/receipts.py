"""What a change of a note leaves behind: who changed which lines, and on whose word."""

from __future__ import annotations

from typing import Literal

from commonplace.model.search import cited
from commonplace.model.tuples import Record

Origin = Literal["owner", "agent", "session", "external"]
"""On whose word a text stands: the person's own, an agent's, a conversation's, or a stranger's."""

ORIGINS: tuple[Origin, ...] = ("owner", "agent", "session", "external")
"""The most trusted first."""

Action = Literal["remember", "correct", "supersede", "forget", "undo", "change"]
"""What was done; ``change`` is any other change of a file, such as an agent's edit."""


def lowest(*origins: Origin) -> Origin:
    """The least trusted of ``origins``: a text is as good as its worst source."""
    return max(origins, key=ORIGINS.index)


class Lines(Record):
    """Whole lines of a note, with their ends: ``start`` to ``end``, counted from 1.

    Where there are none, ``end`` is ``start - 1`` and the text is ``""``.
    """

    start: int
    end: int
    text: str


class Receipt(Record):
    """One change of one note: the lines that were there ``before``, and those ``after``.

    ``id`` names it for :meth:`Writer.undo`; it is ``""`` where nothing had to be changed. ``path``
    is relative to the workspace. ``who`` is the program or agent that wrote, ``origin`` on whose
    word, ``when`` the time in epoch seconds, ``why`` the reason that was given. ``notes`` say what
    is worth knowing: masked secrets, entries that say nearly the same. ``undoes`` is the id of the
    change that this one took back. ``created`` and ``deleted`` say that the file came or went.
    """

    id: str
    action: Action
    path: str
    before: Lines
    after: Lines
    who: str
    origin: Origin
    when: float
    why: str
    notes: tuple[str, ...] = ()
    undoes: str = ""
    created: bool = False
    deleted: bool = False

    @property
    def citation(self) -> str:
        """Where the text stood after the change, as ``path#L3-L9``; the path where it is gone.

        Blank lines and headings around it are left out.
        """
        lines = self.after.text.split("\n")[: self.after.end - self.after.start + 1]
        filled = [number for number, line in enumerate(lines) if line.strip()]
        filled = [number for number in filled if not lines[number].startswith("#")] or filled
        if not filled:
            return self.path
        return cited(self.path, self.after.start + filled[0], self.after.start + filled[-1])
