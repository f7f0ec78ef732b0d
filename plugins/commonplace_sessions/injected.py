"""What OpenClaw puts into a user's message for the model to see, and how to take it out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["without_blocks", "without_injected"]

_MARKED = (
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
    ("<relevant-memories>", "</relevant-memories>"),
    ("<active_memory_plugin>", "</active_memory_plugin>"),
)
_METADATA = ("(untrusted metadata):", "(untrusted, for context):")
_EVENT = re.compile(r"System(?: \(untrusted\))?: \[[^\]]*\]")
_MORE_EVENT = re.compile(r"System(?: \(untrusted\))?: ")
_STAMP = re.compile(r"\[[A-Za-z]{3} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]{0,40}\] *")


def without_injected(text: str) -> str:
    """The user's own words: without metadata, recalled memories and system events around them."""
    text = without_blocks(text, _MARKED)
    if "(untrusted" in text:
        text = "\n".join(_without_metadata(text.split("\n")))
    text = _without_events(text.lstrip()).lstrip()
    stamp = _STAMP.match(text)
    return text[stamp.end() :] if stamp else text


def without_blocks(text: str, marks: Sequence[tuple[str, str]]) -> str:
    """``text`` without what stands between each of the pairs of ``marks``, and without these.

    A mark that is never closed stays where it is: somebody may speak of it.
    """
    for begin, end in marks:
        if begin in text:
            first, *others = text.split(begin)
            text = first + "".join(
                after if closed else begin + inside
                for inside, closed, after in (other.partition(end) for other in others)
            )
    return text


def _without_metadata(lines: list[str]) -> Iterator[str]:
    """The lines that are neither a heading of metadata nor in the block of JSON below one."""
    expected = fenced = False
    for line in lines:
        bare = line.strip()
        if fenced:
            fenced = bare != "```"
        elif expected and bare.startswith("```"):
            expected, fenced = False, True
        elif bare.endswith(_METADATA):
            expected = True
        else:
            expected = expected and not bare
            yield line


def _without_events(text: str) -> str:
    """``text`` without the system events it begins with; an event may have several lines."""
    lines = text.split("\n")
    at = 0
    while at < len(lines) and (
        _EVENT.match(lines[at]) or (at and _MORE_EVENT.match(lines[at])) or not lines[at].strip()
    ):
        at += 1
    return "\n".join(lines[at:])
