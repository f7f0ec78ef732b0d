"""The bounds of sizes, in characters."""

from __future__ import annotations

from typing import Final

__all__ = ["SMALLEST_SIZE"]

SMALLEST_SIZE: Final = 32
"""The smallest budget of a chunk: less would cut words, and may not hold a single emoji."""
