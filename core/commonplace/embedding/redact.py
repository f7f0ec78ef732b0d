"""Keeping secrets out of everything a person or a log may see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["redacted"]

_KEY_LIKE = re.compile(
    r"""(?ix)
    \b(?: sk | pa | al | hf | gsk | rk )[-_][A-Za-z0-9_\-*]{6,}   # vendors' own prefixes
    | \bAIza[A-Za-z0-9_\-]{10,}
    | (?<=bearer\s)[^\s"',;]+
    | (?<=[?&]key=)[^\s&"']+
    | (?<=upload_id=)[^\s&"']+
    | (?<=://)[^\s/@:"']*:[^\s/@"']+(?=@)                       # a password in an address
    """
)
_SHORTEST = 4


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with every one of ``secrets``, and whatever looks like a key, made unreadable."""
    for secret in sorted((s for s in secrets if len(s) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)
