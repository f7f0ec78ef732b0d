"""Tells which public benchmark a file or a folder looks like, for who named another one."""

from __future__ import annotations

import os
from typing import Any

from commonplace.plugin import CallerError
from commonplace_evaluation.sets import parsed, utf8_text

_MARKS = {"conversation": "locomo", "haystack_sessions": "longmemeval", "message_list": "memdaily"}
"""A key of the objects in the file of a benchmark, which no other one has."""

_DEEPEST = 4


def benchmark_like(path: str) -> tuple[str, str]:
    """The benchmark that ``path`` looks like, and what of it is to be given; ``""`` if none.

    BEAM and MADial-Bench are folders, whose files may have been named instead.
    """
    folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)
    names = [name] if name else [one for _, _, found in os.walk(path) for one in found]
    if "chat.json" in names:
        return "beam", folder or "."
    if any(one.endswith(("-dialogue.json", "-memory.json")) for one in names):
        return "madial", folder or "."
    if name:
        try:
            return _of_json(parsed(utf8_text(path)), _DEEPEST), path
        except (CallerError, OSError, ValueError):
            pass
    return "", path


def _of_json(value: Any, deepest: int) -> str:
    """The benchmark that has a first object with such a key, in lists and objects."""
    if isinstance(value, dict):
        if known := [benchmark for key, benchmark in _MARKS.items() if key in value]:
            return known[0]
        value = list(value.values())
    if not isinstance(value, list) or not deepest:
        return ""
    first = next((one for one in value if one), None)
    return _of_json(first, deepest - 1)
