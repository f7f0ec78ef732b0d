"""Finds the lines of private keys: from BEGIN to END, and what a deletion left of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.plugin import PEM_BEGIN, PEM_END, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_END_ALONE = re.compile(rf"[\s>]*[A-Za-z0-9+/=]*{PEM_END.pattern}\s*\Z")
_OTHER = re.compile(r"-----BEGIN [A-Z0-9 ]{1,60}-----")  # a certificate, a public key
_HEADER = re.compile(r"[\s>]*[A-Z][A-Za-z-]+: ")
_LINE_OF_KEY = re.compile(r"[\s>]*=?[A-Za-z0-9+/]+={0,2}\s*\Z")
_FULL = re.compile(r"[\s>]*(?=\S*[A-Z])(?=\S*[a-z])[A-Za-z0-9+/]{60,76}\s*\Z")
_REST = re.compile(r"[\s>]*(?=\S*[\d=])=?[A-Za-z0-9+/]+={0,2}\s*\Z")
_PART = re.compile(r"[A-Za-z0-9+/=]{12,}")  # longer than "redacted"
_LONG_PART = re.compile(r"[A-Za-z0-9+/=]{20,}")
_MOST_WORDS = 3  # on a line of a key, which may be quoted as a program does


class KeyLines(NamedTuple):
    """The lines ``first`` to ``last`` (1-based) and what they are; ``sure`` if it is a key."""

    first: int
    last: int
    what: str
    sure: bool = True


def private_keys(lines: Sequence[str]) -> list[KeyLines]:
    """What of ``lines`` belongs to private keys, in order and without overlaps."""
    found: list[KeyLines] = []
    at = 0
    while at < len(lines):
        if (begin := PEM_BEGIN.search(lines[at])) is not None:
            last, is_key = _last_of_key(lines, at, begin.end())
            if is_key:
                found.append(KeyLines(at + 1, last + 1, "a private key"))
            at = last + 1
            continue
        is_other = _OTHER.search(lines[at]) is not None
        end = at + is_other
        while end < len(lines) and _LINE_OF_KEY.match(lines[end]):
            end += 1
        first = next((one for one in range(at, end) if _LONG_PART.search(lines[one])), end)
        if end < len(lines) and _END_ALONE.match(lines[end]):
            found.append(KeyLines(first + 1, end + 1, "the end of a private key"))
            end += 1
        elif not is_other and sum(_FULL.match(line) is not None for line in lines[first:end]) > 1:
            what = "perhaps a private key without its BEGIN"
            found.append(KeyLines(first + 1, end, what, sure=False))
        at = max(end, at + 1)
    return found


def _last_of_key(lines: Sequence[str], at: int, start: int) -> tuple[int, bool]:
    """The index of the last line of what begins in the line ``at`` before the character ``start``.

    It is that of its END, else the last one of its block. And whether it is a key, no mention.
    """
    last, is_key, has_ended = at, False, False
    for number in range(at, len(lines)):
        line = lines[number][start:] if number == at else lines[number]
        if (end := PEM_END.search(line)) is not None:
            parts = (*lines[at + 1 : number], line[: end.start()])
            return number, is_key or any(map(_PART.search, parts))
        if number > at and (
            _OTHER.search(line) or (len(line.split()) > _MOST_WORDS and not _HEADER.match(line))
        ):
            break
        if not line.strip("> \t\r"):
            has_ended = is_key
        elif not has_ended and (_LONG_PART.search(line) or (is_key and _REST.match(line))):
            last, is_key = number, True
    return last, is_key
