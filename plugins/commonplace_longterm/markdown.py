"""Memories as a Markdown file, and back: a form that people can read, edit and keep in git.

Below a heading for each category stands a list. An item is the text, its further lines indented by
two, and a comment with the rest::

    ## preference

    - I prefer tabs.
      <!-- ltm id=0b0e... importance=0.7 created=2026-11-22T21:22:51.123Z origin=agent -->

An item without the comment is a new memory. What :func:`written` gives, :func:`read` reads without
any loss.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonplace.plugin import CallerError
from commonplace_longterm.entries import (
    CATEGORIES,
    DEFAULT_IMPORTANCE,
    ORIGINS,
    Entry,
    cleaned,
    digest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TITLE = "# Long-term memory of"
_COMMENT = re.compile(r"<!-- ltm ((?:\w+=\S+ )+)-->")
_HEADING = re.compile(r"## +(\S+) *")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEW = uuid.UUID("9d5ef2f6-8f0c-4a1c-9d5a-2f2f1c7e0b51")
"""The namespace of ids of new memories: the same text gets the same id."""

_NONE: Mapping[str, Entry] = MappingProxyType({})


def written(entries: Iterable[Entry], agent: str) -> str:
    """The memories as a Markdown file; equal memories give equal files."""
    ordered = sorted(entries, key=lambda e: (CATEGORIES.index(e.category), e.created, e.id))
    lines = [f"{TITLE} {' '.join(agent.split())}"]
    heading = ""
    for entry in ordered:
        if entry.category != heading:
            heading = entry.category
            lines += ["", f"## {heading}", ""]
        first, *rest = entry.text.split("\n")
        lines.append(f"- {first}")
        lines += (f"  {line}" if line else "" for line in rest)
        lines.append(
            f"  <!-- ltm id={entry.id} importance={entry.importance!r}"
            f" created={_iso(entry.created)} origin={entry.origin} -->"
        )
    return "\n".join(lines) + "\n"


def read(text: str, *, now: int, known: Mapping[str, Entry] = _NONE) -> list[Entry]:
    """The memories of a file in their order; ``now`` is the time of new ones in epoch ms.

    ``known`` are the memories of the store by id: an item without a comment, which is one of them,
    keeps all but its category.

    Raises :class:`~commonplace.errors.CallerError` with the line of what cannot be read: nothing
    is passed over but headings of the first level, comments and blank lines.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    found: dict[str, tuple[int, Entry]] = {}
    for number, category, item in _items(lines):
        entry, noted = _entry(number, category, item, now)
        if not noted and (same := known.get(entry.id)) and same.text == entry.text:
            entry = same._replace(category=category)
        if entry.id in found:
            raise _wrong(number, f"has the memory of line {found[entry.id][0]} again")
        found[entry.id] = number, entry
    return [entry for _, entry in found.values()]


def _items(lines: list[str]) -> Iterable[tuple[int, str, list[str]]]:
    """Number of the first line, category and lines of each item."""
    category = "other"
    item: list[str] = []
    begin = 0
    for number, line in enumerate(lines, 1):
        if item and (not line or line.startswith("  ")):
            item.append(line[2:])
            continue
        if line.startswith("- "):
            if item:
                yield begin, category, item
            item, begin = [line[2:]], number
            continue
        if item:
            yield begin, category, item
            item = []
        if heading := _HEADING.fullmatch(line):
            category = heading[1]
            if category not in CATEGORIES:
                known = ", ".join(CATEGORIES)
                raise _wrong(number, f"names no category: {category!r} is none of {known}")
        elif line.strip() and not line.startswith(("# ", "<!--")):
            raise _wrong(number, "is neither an item (`- text`) nor a line of one (two blanks)")
    if item:
        yield begin, category, item


def _entry(number: int, category: str, item: list[str], now: int) -> tuple[Entry, bool]:
    """The memory of an item, and whether it has a comment."""
    while item and not item[-1]:
        item.pop()
    facts: dict[str, str] = {}
    if item and (comment := _COMMENT.fullmatch(item[-1])):
        facts = dict(fact.split("=", 1) for fact in comment[1].split())
        item = item[:-1]
    try:
        text = cleaned("\n".join(item))
        entry = Entry(
            id=_id(facts["id"]) if "id" in facts else str(uuid.uuid5(_NEW, digest(text))),
            text=text,
            category=category,
            importance=_importance(facts.get("importance")),
            created=_milliseconds(facts["created"]) if "created" in facts else now,
            origin=_origin(facts.get("origin", "owner")),
        )
    except (CallerError, ValueError, OverflowError) as error:
        raise _wrong(number, f"cannot be taken: {error}") from None
    return entry, bool(facts)


def _id(text: str) -> str:
    found = str(uuid.UUID(text))
    if found != text.lower():
        raise ValueError(f"{text!r} is no id")
    return found


def _importance(text: str | None) -> float:
    number = DEFAULT_IMPORTANCE if text is None else float(text)
    if not 0 <= number <= 1:
        raise ValueError(f"an importance of {text} is not from 0 to 1")
    return number


def _origin(text: str) -> str:
    if text not in ORIGINS:
        raise ValueError(f"an origin is one of {', '.join(ORIGINS)}, not {text!r}")
    return text


def _iso(milliseconds: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z".rjust(24, "0")


def _milliseconds(text: str) -> int:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _wrong(line: int, words: str) -> CallerError:
    return CallerError(f"line {line} {words}", hint="`ltm export` writes a file that can be read")
