"""Under which id the text of a chunk stands: its own, and a multiple of 2**40.

Texts are written again from time to time (see repacking.py), and pages are filled only by what
comes after all that is there. So a text that is written again moves up by 2**40; once all have
moved, the next turn begins. While turn n lasts, texts are at n times 2**40 or one time more.
"""

from __future__ import annotations

__all__ = ["BITS", "CHUNK", "TURN", "placed"]

BITS = 40

TURN = "(SELECT coalesce(max(next), 0) FROM counter WHERE name = 'turn')"
"""SQL for the turn that lasts."""

CHUNK = f"(id & {(1 << BITS) - 1})"
"""SQL for the chunk whose text has ``id``."""


def placed(sql: str, chunk: str) -> str:
    """``sql`` with ``<places>`` made a list of both ids that the text of ``chunk`` can have.

    ``<place>`` is the id of a text that comes; ``chunk`` is SQL, too.
    """
    place, next_place = (f"{chunk} + ({TURN} + {step} << {BITS})" for step in (0, 1))
    return sql.replace("<places>", f"({place}, {next_place})").replace("<place>", place)
