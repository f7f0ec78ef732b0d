"""Results as Markdown, to be pasted into a note, an issue or a prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.cli.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.search import SearchResult


def hits_as_markdown(result: SearchResult) -> str:
    """Each hit as a heading with its citation, and its snippet as a quotation."""
    parts = []
    for hit in result.hits:
        heading = " › ".join(hit.heading)
        below = f"{_escaped(heading)}\n\n" if heading else ""
        place = code(f"{hit.path}:{hit.start_line}-{hit.end_line}")
        parts.append(f"### {place} ({hit.score:.2f})\n\n{below}{quoted(hit.snippet)}\n")
    return "\n".join(parts)


def cited_text(path: str, start: int, end: int, text: str) -> str:
    """Lines of a note as a quotation below their citation."""
    return f"### {code(f'{path}:{start}-{end}')}\n\n{quoted(text)}"


def facts_as_markdown(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Labels and values as a list below ``title``; a label that is indented goes a level deeper."""
    lines = [f"## {_escaped(title)}", ""]
    for label, value in facts:
        indent = "  " if label.startswith(" ") else ""
        lines.append(f"{indent}- **{_escaped(label.strip())}**: {_escaped(value)}")
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """``text`` as a span of code, whatever backticks are in it."""
    text = printable(text).replace("\n", " ")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def quoted(text: str) -> str:
    """``text``, which is Markdown itself, as a quotation."""
    lines = printable(text).strip("\n").split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _escaped(text: str) -> str:
    """``text`` in one line, with what Markdown would read as a sign of its own escaped."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", printable(text).replace("\n", " "))
