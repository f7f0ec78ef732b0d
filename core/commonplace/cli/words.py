"""Numbers and tables in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.terminal import cells, pad

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["columns", "count", "size"]


def count(number: int, thing: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def size(number: int) -> str:
    """A number of bytes as a person says it."""
    if number < 1000:
        return f"{number} B"
    amount, unit = number / 1000, "kB"
    if amount >= 1000:
        amount, unit = amount / 1000, "MB"
    if amount >= 1000:
        amount, unit = amount / 1000, "GB"
    return f"{amount:.1f} {unit}"


def columns(rows: Sequence[Sequence[str]], *, gap: str = "  ") -> list[str]:
    """``rows`` as lines whose columns stand below each other; the last column is not filled up."""
    widths = [max(cells(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        gap.join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
