"""What a memory is: its text in one form, its category, and what makes two of them the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from commonplace.plugin import CallerError, NamedTuple

CATEGORIES = ("preference", "fact", "decision", "entity", "other")
ORIGINS = ("owner", "agent", "session")
"""Who a memory is from: the person's own file, the agent's tool, or what was said in a chat."""

LONGEST = 10_000
"""Characters of a memory."""

DEFAULT_IMPORTANCE = 0.7


class Entry(NamedTuple):
    """One memory. ``importance`` is from 0 to 1, ``created`` in epoch milliseconds (UTC).

    ``id`` is a UUID in its canonical form, unique for its agent.
    """

    id: str
    text: str
    category: str = "other"
    importance: float = DEFAULT_IMPORTANCE
    created: int = 0
    origin: str = "owner"


def cleaned(text: str) -> str:
    """``text`` as it is kept: with plain line feeds, no control characters, no blank ends.

    Raises :class:`~commonplace.errors.CallerError` where nothing is left, or too much.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(
        sign for sign in lines if sign in "\n\t" or unicodedata.category(sign) not in {"Cc", "Cs"}
    ).strip()
    if not kept:
        raise CallerError("the memory is empty", hint="give its words")
    if len(kept) > LONGEST:
        raise CallerError(
            f"the memory has {len(kept)} characters, more than {LONGEST}",
            hint="store what matters of it, or several shorter memories",
        )
    return kept


_CLOSING = ".! 。…"


def digest(text: str) -> str:
    """Equal for texts that differ in case, width, white space or closing punctuation alone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    line = " ".join(folded.split()).rstrip(_CLOSING)
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:32]


_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NEGATIONS = frozenset(
    "no not never nor none neither cannot without don't doesn't didn't won't can't isn't aren't "  # noqa: SIM905
    "wasn't nicht kein keine keinen nie niemals ne pas jamais aucun no nunca jamás ni sin não nem "
    "non mai senza nie nigdy bez не нет никогда без ne nikdy není niet geen nooit".split()
)
_NEGATING_PARTS = ("不", "没", "沒", "别", "勿", "ない", "ません", "않", "안 ", "못")


def says_the_same(text: str, other: str) -> bool:
    """Whether two similar texts can be taken for one memory.

    Vectors hardly see a changed digit or a "not": texts that differ in these are two memories.
    """
    return _NUMBER.findall(text) == _NUMBER.findall(other) and _negated(text) == _negated(other)


def _negated(text: str) -> int:
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    return sum(word in _NEGATIONS for word in words) + sum(map(text.count, _NEGATING_PARTS))
