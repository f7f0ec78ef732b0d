"""Where each key stands in a JSON5 text: found only when there is a fault to report.

The values are read by a parser that knows no positions. This one knows nothing but positions: one
pass, no recursion, linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MisplacedError", "Place", "is_blank", "locate"]

_BLANK = "\\t\\n\\v\\f\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
_SKIP = re.compile(rf"(?:[{_BLANK}]+|//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_CODE = r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|0(?![0-9])|\r\n|[^ux0-9])"
_STRING = re.compile(rf'"(?:[^"\\\n\r]|{_CODE})*"|' rf"'(?:[^'\\\n\r]|{_CODE})*'")
_BARE = re.compile(rf"[^{_BLANK},:\[\]{{}}\"'/]+")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|Infinity|NaN)"
)
_NEWLINE = re.compile(r"\r\n?|\n")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class MisplacedError(Exception):
    """Where a text stops being JSON5: 1-based ``line`` and ``column``, and how to fix it."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Place:
    """Where a value's key, or a list's item, stands; ``below`` are the places of its parts.

    ``doubled`` are lines of earlier keys of the same name: the last one counts.
    """

    __slots__ = ("below", "doubled", "line")

    def __init__(self, line: int) -> None:
        self.line = line
        self.below: dict[str | int, Place] = {}
        self.doubled: tuple[int, ...] = ()

    def line_of(self, keys: Sequence[str | int]) -> int:
        """The 1-based line of what ``keys`` lead to, or of the innermost that is there."""
        place = self
        for key in keys:
            inner = place.below.get(key)
            if inner is None:
                break
            place = inner
        return place.line


def locate(text: str) -> Place:
    """The places of everything in ``text``.

    Raises :class:`MisplacedError` where it is not JSON5.
    """
    return _Scanner(text).scan()


def is_blank(text: str) -> bool:
    """Whether there is nothing in ``text`` but white space and comments."""
    match = _SKIP.match(text)
    return match is not None and match.end() == len(text)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def scan(self) -> Place:
        root = Place(1)
        self._skip()
        root.line = self._line()
        open_: list[tuple[Place, str]] = []
        self._value(root, open_)
        while open_:
            place, closer = open_[-1]
            self._skip()
            if self._next() == closer:
                self.at += 1
                open_.pop()
                self._after(open_)
            elif closer == "}":
                self._value(self._key(place), open_)
            else:
                item = Place(self._line())
                place.below[len(place.below)] = item
                self._value(item, open_)
        self._skip()
        if self.at < len(self.text):
            raise self._misplaced("there is more text after the end; remove it")
        return root

    def _value(self, place: Place, open_: list[tuple[Place, str]]) -> None:
        """One value; what it opens is left open."""
        self._skip()
        character = self._next()
        if character in ("{", "["):
            self.at += 1
            open_.append((place, "}" if character == "{" else "]"))
            return
        if character in ('"', "'"):
            self._string()
        else:
            self._word()
        self._after(open_)

    def _word(self) -> None:
        match = _BARE.match(self.text, self.at)
        if match is None:
            found = self._next()
            raise self._misplaced(
                f"a value is missing before {found!r}; put one there"
                if found
                else "a value is missing; the text ends too early"
            )
        word = match[0]
        if word not in ("null", "true", "false") and not _NUMBER.fullmatch(word):
            raise self._misplaced("this is no number, true, false or null; put texts in quotes")
        self.at = match.end()

    def _after(self, open_: list[tuple[Place, str]]) -> None:
        """Past the comma, if there is one; else the container must end here."""
        if not open_:
            return
        end = self.at
        self._skip()
        character = self._next()
        if character == ",":
            self.at += 1
        elif character != open_[-1][1]:
            closer = open_[-1][1]
            if not character:
                raise self._misplaced(f"the text ends too early; add the missing {closer!r}")
            if character in "]}":
                raise self._misplaced(f"{character!r} where {closer!r} belongs")
            self.at = end
            raise self._misplaced("a comma is missing; add one here")

    def _key(self, place: Place) -> Place:
        line = self._line()
        character = self._next()
        if character in ('"', "'"):
            name = _unescaped(self._string()[1:-1])
        else:
            match = _BARE.match(self.text, self.at)
            name = _unescaped(match[0]) if match else ""
            if match is None or not _is_name(name):
                raise self._misplaced(
                    "the text ends too early; add the missing '}'"
                    if not character
                    else "a key is missing or needs quotes; put it in quotes"
                )
            self.at = match.end()
        self._skip()
        if self._next() != ":":
            raise self._misplaced("a colon is missing after the key; add one here")
        self.at += 1
        inner = Place(line)
        if earlier := place.below.get(name):
            inner.doubled = (*earlier.doubled, earlier.line)
        place.below[name] = inner
        return inner

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self._misplaced(
                "this text has no closing quote on its line, or a backslash that means nothing; "
                "add the quote, or double the backslash"
            )
        self.at = match.end()
        return match[0]

    def _skip(self) -> None:
        match = _SKIP.match(self.text, self.at)
        assert match is not None, "the pattern matches nothing, too"
        self.at = match.end()
        if self.text.startswith("/*", self.at):
            raise self._misplaced("this comment is not closed; add */")

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _line(self) -> int:
        return bisect_right(self.lines, self.at)

    def _misplaced(self, message: str) -> MisplacedError:
        line = self._line()
        return MisplacedError(line, self.at - self.lines[line - 1] + 1, message)


def _is_name(name: str) -> bool:
    return name.replace("$", "_").replace("\u200c", "").replace("\u200d", "").isidentifier()


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        if code := match[1] or match[2]:
            return chr(int(code, 16))
        other = match[3]
        return "" if other in ("\n", "\r", "\r\n", "\u2028", "\u2029") else _NAMED.get(other, other)

    if "\\" not in text:
        return text
    # A character beyond the basic plane is written as two halves: join them.
    whole = _ESCAPE.sub(character, text)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
