"""A workspace to try things on: the notes of an agent that helps a team of four."""

from __future__ import annotations

import os

SEARCHES = (
    "why did the sign go blank at night?",
    "ERR_STALE_HARMONICS",
    "传感器的交货期要多久？",
)
"""Queries the sample has an answer to: a question, an identifier, and a question in Chinese."""


def copy_workspace(folder: str) -> int:
    """Copy the notes into ``folder``, which must not exist yet; how many notes there are.

    Raises ``OSError`` if it cannot be written.
    """
    from shutil import copytree

    copytree(os.path.join(os.path.dirname(__file__), "workspace"), folder)
    return sum(name.endswith(".md") for _, _, names in os.walk(folder) for name in names)
