"""Changes one value in the text of a JSON5 file; every other character stays where it is.

What :func:`with_value` adds, :func:`without` takes away again, to the same text. Objects that were
added for it go with it; those that were there stay, empty. :func:`with_item` and
:func:`without_item` do the same with an item of a list.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from commonplace.config.json5 import BARE, BLANK, SKIP, STRING, is_blank, unescaped

if TYPE_CHECKING:
    from collections.abc import Sequence


_BLANKS = re.compile(rf"[{BLANK}]*")
_COMMENT = re.compile(r"[ \t]*(?://[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*\*/)")
_OWN_LINE = re.compile(r"(?:\r\n|[\n\r\u2028\u2029])[ \t]*\Z")
_REST_OF_LINE = re.compile(r"[ \t]*(?:[\n\r\u2028\u2029}\]]|\Z)")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_UNIT = "  "


class NotAnObjectError(Exception):
    """``keys`` lead to something that is no object, where one is needed."""

    def __init__(self, keys: tuple[str | int, ...]) -> None:
        super().__init__("not an object")
        self.keys = keys


class _Member(NamedTuple):
    """A key with its value, or an item of a list (``name`` is its index), by offsets.

    ``comma`` is the offset of the comma behind it, -1 if there is none.
    """

    name: str | int
    start: int
    value: int
    end: int
    comma: int

    @property
    def stop(self) -> int:
        """The end of the member with its comma."""
        return self.end if self.comma < 0 else self.comma + 1


class _Container(NamedTuple):
    """An object or list; ``start`` and ``end`` are the offsets of its brackets."""

    start: int
    end: int
    members: tuple[_Member, ...]

    def find(self, name: str | int) -> int:
        """The index of the member that counts: the last of its name; -1 if there is none."""
        return max((i for i, member in enumerate(self.members) if member.name == name), default=-1)


def with_value(text: str, keys: Sequence[str | int], value: str, *, strict: bool = False) -> str:
    """``text``, which is valid JSON5, with ``value`` (JSON) at ``keys``.

    Objects that lead there are added if need be. ``strict`` adds plain JSON only: quoted keys, no
    trailing commas. Raises :class:`NotAnObjectError`, also for an item that a list does not have.
    """
    if is_blank(text):
        return _first(text, keys, value, strict=strict)
    inside = _root(text)
    for depth, key in enumerate(keys):
        at = inside.find(key)
        if at < 0:
            if isinstance(key, int) or text[inside.start] != "{":
                raise NotAnObjectError(tuple(keys[:depth]))
            return _Adding(text, strict=strict).added(inside, keys[depth:], value, root=not depth)
        member = inside.members[at]
        if depth == len(keys) - 1:
            return text[: member.value] + value + text[member.end :]
        inside = _below(text, member, keys[: depth + 1])
    raise ValueError("keys must not be empty")


def without(text: str, keys: Sequence[str | int]) -> str:
    """``text``, which is valid JSON5, without the value at ``keys``, however often it is there."""
    while not is_blank(text):
        chain: list[tuple[_Container, int]] = []
        inside = _root(text)
        for depth, key in enumerate(keys):
            at = inside.find(key)
            if at < 0:
                return text
            chain.append((inside, at))
            if depth < len(keys) - 1:
                try:
                    inside = _below(text, inside.members[at], keys[: depth + 1])
                except NotAnObjectError:
                    return text
        while len(chain) > 1 and _goes_with(text, chain[-1][0]) and _is_only(*chain[-2]):
            chain.pop()
        text = _removed(text, *chain[-1], root=len(chain) == 1)
    return text


def with_item(text: str, keys: Sequence[str | int], value: str, *, strict: bool = False) -> str:
    """``text``, valid JSON5, with ``value`` (JSON) as the last item of the list at ``keys``.

    The list and objects that lead there are added if need be; ``strict`` as in :func:`with_value`.
    Raises :class:`NotAnObjectError`, also where there is something else than a list.
    """
    inside = _found(text, keys)
    if inside is None:
        return with_value(text, keys, f"[ {value} ]", strict=strict)
    if text[inside.start] != "[":
        raise NotAnObjectError(tuple(keys))
    return _Adding(text, strict=strict).added(inside, (), value, root=False)


def without_item(text: str, keys: Sequence[str | int], index: int) -> str:
    """``text`` without an item that the list at ``keys`` has."""
    inside = _found(text, keys)
    assert inside is not None, "there is such an item"
    if _holds_one_apart(text, inside):
        return without(text, keys)
    return _removed(text, inside, index, root=False)


def _found(text: str, keys: Sequence[str | int]) -> _Container | None:
    """What ``keys`` lead to; None if they lead to nothing."""
    if is_blank(text):
        return None
    inside = _root(text)
    for depth, key in enumerate(keys):
        at = inside.find(key)
        if at < 0:
            return None
        inside = _below(text, inside.members[at], keys[: depth + 1])
    return inside


def _is_only(container: _Container, at: int) -> bool:
    """Whether a key is there once: without the last of several, the one before would count."""
    name = container.members[at].name
    return isinstance(name, str) and [one.name for one in container.members].count(name) == 1


def _skipped(text: str, at: int) -> int:
    match = SKIP.match(text, at)
    assert match is not None, "the pattern matches nothing, too"
    return match.end()


def _root(text: str) -> _Container:
    at = _skipped(text, 0)
    if text[at] != "{":
        raise NotAnObjectError(())
    return _container(text, at)


def _below(text: str, member: _Member, keys: Sequence[str | int]) -> _Container:
    if text[member.value] not in "{[":
        raise NotAnObjectError(tuple(keys))
    return _container(text, member.value)


def _container(text: str, start: int) -> _Container:
    members: list[_Member] = []
    at = _skipped(text, start + 1)
    while text[at] not in "}]":
        key = at
        name: str | int = len(members)
        if text[start] == "{":
            match = STRING.match(text, at) or BARE.match(text, at)
            assert match is not None, "the text is valid"
            word = match[0]
            name = unescaped(word[1:-1] if word[0] in "\"'" else word)
            at = _skipped(text, _skipped(text, match.end()) + 1)  # past the colon
        value, end = at, _end_of(text, at)
        at = _skipped(text, end)
        comma = at if text[at] == "," else -1
        if comma >= 0:
            at = _skipped(text, at + 1)
        members.append(_Member(name, key, value, end, comma))
    return _Container(start, at, tuple(members))


def _end_of(text: str, at: int) -> int:
    """Where the value ends that begins at ``at``."""
    depth = 0
    while True:
        character = text[at]
        if character in ",:{}[]":
            depth += (character in "{[") - (character in "}]")
            at += 1
        else:
            match = STRING.match(text, at) or BARE.match(text, at)
            assert match is not None, "the text is valid"
            at = match.end()
        if depth == 0:
            return at
        at = _skipped(text, at)


def _first(text: str, keys: Sequence[str | int], value: str, *, strict: bool) -> str:
    """A root object after the comments of a text that has nothing else."""
    adding = _Adding(text, strict=strict)
    newline = adding.newline
    gap = newline if text and text[-1] not in "\r\n" else ""
    body = adding.body(keys, value, _UNIT, comma=not strict)
    return f"{text}{gap}{{{newline}{_UNIT}{body}{newline}}}{newline}"


class _Adding:
    """Adds members in the style of ``text``: its line ends, indentation, quotes and commas."""

    def __init__(self, text: str, *, strict: bool) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.strict = strict
        self.quoted = strict
        self.unit = _UNIT
        if not is_blank(text) and (members := _root(text).members):
            first = members[0]
            self.quoted = strict or text[first.start] == '"'
            if (before := _OWN_LINE.search(text[: first.start])) is not None:
                self.unit = before[0].lstrip("\r\n\u2028\u2029") or _UNIT

    def added(
        self, inside: _Container, keys: Sequence[str | int], value: str, *, root: bool
    ) -> str:
        """The text with another member in ``inside``."""
        if inside.members:
            return self._behind(inside.members[-1], keys, value)
        text, start, end = self.text, inside.start + 1, inside.end
        interior = text[start:end]
        trimmed = _trimmed(interior)
        has_lines = re.search(r"[\n\r]", interior[len(trimmed) :]) is not None
        if has_lines and (trimmed or root):
            # Below the comments; the line end before the bracket stays where it is.
            at = start + len(trimmed)
            indent = _indent(text[:end]) + self.unit
            comma = not self.strict
            piece = self.newline + indent + self.body(keys, value, indent, comma=comma)
            return text[:at] + piece + text[at:]
        if root and not interior:
            body = self.body(keys, value, self.unit, comma=False)
            return text[:start] + self.newline + self.unit + body + self.newline + text[end:]
        return text[:start] + self.inline(keys, value) + text[start:]

    def _behind(self, last: _Member, keys: Sequence[str | int], value: str) -> str:
        text, at = self.text, last.stop
        # A comment at the end of a line belongs to what stands before it.
        while (comment := _COMMENT.match(text, at)) is not None:
            at = comment.end()
        comma = last.comma >= 0
        if (before := _OWN_LINE.search(text[: last.start])) is not None:
            indent = before[0].lstrip("\r\n\u2028\u2029")
            piece = self.newline + indent + self.body(keys, value, indent, comma=comma)
            given = "" if comma else ","
            return text[: last.stop] + given + text[last.stop : at] + piece + text[at:]
        if _ends_in_line_comment(text[last.stop : at]):
            at = last.stop
        piece = self.inline(keys, value)
        return text[:at] + (f" {piece}," if comma else f", {piece}") + text[at:]

    def body(self, keys: Sequence[str | int], value: str, indent: str, *, comma: bool) -> str:
        """``key: value``, the objects in between on lines of their own; an item has no key."""
        end = "," if comma else ""
        if not keys:
            return value + end
        if len(keys) == 1:
            return f"{self._key(keys[0])}: {value}{end}"
        inner = indent + self.unit
        below = self.body(keys[1:], value, inner, comma=comma)
        newline = self.newline
        return f"{self._key(keys[0])}: {{{newline}{inner}{below}{newline}{indent}}}{end}"

    def inline(self, keys: Sequence[str | int], value: str) -> str:
        """``key: value`` on one line; an item has no key."""
        if not keys:
            return value
        for key in reversed(keys[1:]):
            value = f"{{ {self._key(key)}: {value} }}"
        return f"{self._key(keys[0])}: {value}"

    def _key(self, key: str | int) -> str:
        name = str(key)
        bare = not self.quoted and _NAME.fullmatch(name)
        return name if bare else json.dumps(name, ensure_ascii=False)


def _trimmed(text: str) -> str:
    """``text`` without the blanks at its end."""
    end = len(text)
    while end and _BLANKS.fullmatch(text[end - 1]) is not None:
        end -= 1
    return text[:end]


def _indent(text: str) -> str:
    """The blanks at the start of the last line of ``text``, if there is nothing else."""
    match = _OWN_LINE.search(text)
    return match[0].lstrip("\r\n\u2028\u2029") if match is not None else ""


def _goes_with(text: str, inside: _Container) -> bool:
    """Whether ``inside`` is an object as those that were added for what is in it."""
    return text[inside.start] == "{" and _holds_one_apart(text, inside)


def _holds_one_apart(text: str, inside: _Container) -> bool:
    """Whether ``inside`` has one member and blanks around it, as what was added has."""
    if len(inside.members) != 1:
        return False
    (member,) = inside.members
    before = text[inside.start + 1 : member.start]
    between = text[member.end : member.stop].rstrip(",") + text[member.stop : inside.end]
    return bool(before) and _BLANKS.fullmatch(before + between) is not None


def _removed(text: str, inside: _Container, at: int, *, root: bool) -> str:
    member = inside.members[at]
    start, stop = member.start, member.stop
    line = _OWN_LINE.search(text[:start])
    last = at == len(inside.members) - 1
    alone = len(inside.members) == 1
    if root and alone and line is not None and member.comma < 0:
        after = text[stop : inside.end]
        if line.start() == inside.start + 1 and after in ("\n", "\r\n"):
            return text[: inside.start + 1] + text[inside.end :]
    if line is not None and _REST_OF_LINE.match(text, stop) is not None:
        behind = text[inside.members[at - 1].stop if at else inside.start + 1 : line.start()]
        rest = text[stop:].lstrip(" \t")
        if not (rest[:1] in ("}", "]") and _ends_in_line_comment(behind)):
            start = line.start()
    elif at == 0 or line is not None:
        if line is not None or not last:
            stop = _blanks_after(text, stop)
    else:
        start = len(_trimmed(text[:start]))
    if last and member.comma < 0 and at:
        comma = inside.members[at - 1].comma
        return text[:comma] + text[comma + 1 : start] + text[stop:]
    return text[:start] + text[stop:]


def _ends_in_line_comment(gap: str) -> bool:
    """Whether the last comment of ``gap``, which has nothing else, ends with its line."""
    comments = list(_COMMENT.finditer(gap))
    return bool(comments) and comments[-1][0].lstrip().startswith("//")


def _blanks_after(text: str, at: int) -> int:
    while text[at] in " \t":
        at += 1
    return at
