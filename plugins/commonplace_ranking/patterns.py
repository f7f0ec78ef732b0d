"""Compiled patterns of the rankers."""

from __future__ import annotations

import re
from functools import cache


@cache
def pattern(text: str) -> re.Pattern[str]:
    """``text`` compiled when it is first needed: importing a ranker compiles nothing."""
    return re.compile(text)
