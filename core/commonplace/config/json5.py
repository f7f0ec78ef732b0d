"""Reads JSON5 files: the values at once, the positions of keys only where they are needed.

The values are read by parsers that know no positions. The scanner here knows only positions: one
pass, no recursion, linear in the text.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


BLANK = "\\t\\n\\v\\f\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
SKIP = re.compile(rf"(?:[{BLANK}]+|//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_CODE = r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|0(?![0-9])|\r\n|[^ux0-9])"
STRING = re.compile(rf'"(?:[^"\\\n\r]|{_CODE})*"|' rf"'(?:[^'\\\n\r]|{_CODE})*'")
BARE = re.compile(rf"[^{BLANK},:\[\]{{}}\"'/]+")
_TYPOGRAPHIC = frozenset("„“”‟«»‹›‚‘’「」")
_STRAIGHT = 'these are typographic quotes; write straight ones: "…"'
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])([+-]?[0-9]+),([0-9]+)(?![\w.])")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|Infinity|NaN)"
)
_NEWLINE = re.compile(r"\r\n?|\n")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class MalformedError(Exception):
    """Where a text stops being JSON5: 1-based ``line`` and ``column``, and how to fix it."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Position:
    """Where a value's key, or a list's item, stands; ``below`` are the positions of its parts.

    ``doubled`` are lines of earlier keys of the same name: the last one counts.
    """

    __slots__ = ("below", "doubled", "line")

    def __init__(self, line: int) -> None:
        self.line = line
        self.below: dict[str | int, Position] = {}
        self.doubled: tuple[int, ...] = ()

    def line_of(self, keys: Sequence[str | int]) -> int:
        """The 1-based line of what ``keys`` lead to, or of the innermost that is there."""
        position = self
        for key in keys:
            inner = position.below.get(key)
            if inner is None:
                break
            position = inner
        return position.line


def locate(text: str) -> Position:
    """The positions of everything in ``text``.

    Raises :class:`MalformedError` where it is not JSON5.
    """
    return _Scanner(text).scan()


def is_blank(text: str) -> bool:
    """Whether there is nothing in ``text`` but white space and comments."""
    match = SKIP.match(text)
    return match is not None and match.end() == len(text)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def scan(self) -> Position:
        root = Position(1)
        self._skip()
        root.line = self._line()
        open_: list[tuple[Position, str]] = []
        self._value(root, open_)
        while open_:
            position, closer = open_[-1]
            self._skip()
            if self._next() == closer:
                self.at += 1
                open_.pop()
                self._after(open_)
            elif closer == "}":
                self._value(self._key(position), open_)
            else:
                item = Position(self._line())
                position.below[len(position.below)] = item
                self._value(item, open_)
        self._skip()
        if self.at < len(self.text):
            raise self._malformed("there is more text after the end; remove it")
        return root

    def _value(self, position: Position, open_: list[tuple[Position, str]]) -> None:
        """One value; what it opens is left open."""
        self._skip()
        character = self._next()
        if character in ("{", "["):
            self.at += 1
            open_.append((position, "}" if character == "{" else "]"))
            return
        if character in ('"', "'"):
            self._string()
        else:
            self._word()
        self._after(open_)

    def _word(self) -> None:
        match = BARE.match(self.text, self.at)
        if match is None:
            found = self._next()
            raise self._malformed(
                f"a value is missing before {found!r}; put one there"
                if found
                else "a value is missing; the text ends too early"
            )
        word = match[0]
        if word[0] in _TYPOGRAPHIC:
            raise self._malformed(_STRAIGHT)
        if word not in ("null", "true", "false") and not _NUMBER.fullmatch(word):
            raise self._malformed("this is no number, true, false or null; put texts in quotes")
        self.at = match.end()

    def _after(self, open_: list[tuple[Position, str]]) -> None:
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
                raise self._malformed(f"the text ends too early; add the missing {closer!r}")
            if character in "]}":
                raise self._malformed(f"{character!r} where {closer!r} belongs")
            self.at = end
            raise self._malformed("a comma is missing; add one here")

    def _key(self, position: Position) -> Position:
        line = self._line()
        character = self._next()
        if character in ('"', "'"):
            name = unescaped(self._string()[1:-1])
        else:
            match = BARE.match(self.text, self.at)
            name = unescaped(match[0]) if match else ""
            if name and name[0] in _TYPOGRAPHIC:
                raise self._malformed(_STRAIGHT)
            if comma := _DECIMAL_COMMA.search(self.text, max(0, self.at - 40), self.at + 40):
                whole, part = comma.groups()
                if comma.start(2) == self.at:
                    raise self._malformed(f"a number has a point, no comma: write {whole}.{part}")
            if match is None or not _is_name(name):
                raise self._malformed(
                    "the text ends too early; add the missing '}'"
                    if not character
                    else "a key is missing or needs quotes; put it in quotes"
                )
            self.at = match.end()
        self._skip()
        if self._next() != ":":
            raise self._malformed("a colon is missing after the key; add one here")
        self.at += 1
        inner = Position(line)
        if earlier := position.below.get(name):
            inner.doubled = (*earlier.doubled, earlier.line)
        position.below[name] = inner
        return inner

    def _string(self) -> str:
        match = STRING.match(self.text, self.at)
        if match is None:
            raise self._malformed(
                "this text has no closing quote on its line, or a backslash that means nothing; "
                "add the quote, or double the backslash"
            )
        self.at = match.end()
        return match[0]

    def _skip(self) -> None:
        match = SKIP.match(self.text, self.at)
        assert match is not None, "the pattern matches nothing, too"
        self.at = match.end()
        if self.text.startswith("/*", self.at):
            raise self._malformed("this comment is not closed; add */")

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _line(self) -> int:
        return bisect_right(self.lines, self.at)

    def _malformed(self, message: str) -> MalformedError:
        line = self._line()
        return MalformedError(line, self.at - self.lines[line - 1] + 1, message)


def _is_name(name: str) -> bool:
    return name.replace("$", "_").replace("\u200c", "").replace("\u200d", "").isidentifier()


def unescaped(text: str) -> str:
    """The inside of a string, or a key, with its escapes replaced."""

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


_MOST_BYTES = 16 * 1024 * 1024
_MOST_STRANGE_BYTES = 64 * 1024
_DEEPEST = 200


class UnreadableError(Exception):
    """A file that cannot be read as JSON5; ``line`` is 0 where it is not about a line."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def read_text(path: str, *, strange: bool = False) -> str:
    """The text of ``path``.

    ``strange`` files, which another user may have put there, must be plain files of 64 KiB at
    most: no link is followed, no pipe waited for. Raises :class:`UnreadableError`.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
    if strange:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
        with os.fdopen(handle, "rb") as file:
            if strange and not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableError("is not a plain file; it is not read")
            most = _MOST_STRANGE_BYTES if strange else _MOST_BYTES
            data = file.read(most + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        if strange and os.path.islink(path):
            reason = "is a link; a workspace's own file must be a plain file"
        raise UnreadableError(reason) from None
    if len(data) > most:
        raise UnreadableError(f"is larger than {most // 1024:,} KiB; this cannot be meant")
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError("is not UTF-8 text; save it as UTF-8", line) from None


def parse_json5(text: str) -> Any:
    """The values in ``text``; a blank text, or one of comments only, is an empty object.

    Of a key that stands twice in one object, the last one counts. Raises :class:`UnreadableError`.
    """
    import json

    # What a program wrote is mostly plain JSON, and the parser for that is here already; the
    # one for JSON5 costs 8 ms to import.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _parse_extended(text)


def _parse_extended(text: str) -> Any:
    if is_blank(text):
        return {}
    import pyjson5

    try:
        return pyjson5.decode(text, _DEEPEST)
    except (pyjson5.Json5Exception, ValueError, RecursionError) as error:
        words = str(error.args[0]) if error.args else ""
    # Raised outside of the handler: the error that was caught has the values read so far in it.
    raise _explained(text, words)


def _explained(text: str, words: str) -> UnreadableError:
    try:
        locate(text)
    except MalformedError as malformed:
        return UnreadableError(f"column {malformed.column}: {malformed}", malformed.line)
    if "nesting" in words.lower():
        return UnreadableError(f"is nested more than {_DEEPEST} deep; this cannot be meant")
    _, _, position = words.partition(" near ")
    digits = position.split(",")[0].strip()
    line = text.count("\n", 0, int(digits)) + 1 if digits.isdigit() else 0
    return UnreadableError("is not JSON5 here: a number or an escape that cannot be read", line)
