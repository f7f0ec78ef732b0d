"""The built-in chunkers: by Markdown structure, and by lines."""

from __future__ import annotations

SMALLEST_SIZE = 32
"""The smallest budget of a chunk, in characters: less would cut words and break emoji."""
