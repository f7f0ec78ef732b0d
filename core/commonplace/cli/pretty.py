"""Search results as a person at a terminal wants to see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.hits import explained
from commonplace.cli.terminal import fit, highlighted, printable, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.cli.terminal import Style
    from commonplace.model.search import Hit, SearchResult

__all__ = ["pretty_hits"]

_INDENT = "   "


def pretty_hits(result: SearchResult, style: Style, *, explain: bool = False) -> str:
    """Each hit: where it stands and its score, its headings, and the snippet with its matches."""
    lines = []
    for number, hit in enumerate(result.hits, 1):
        lines += [*_hit(number, hit, style, explain=explain), ""]
    return "".join(line + "\n" for line in lines)


def _hit(number: int, hit: Hit, style: Style, *, explain: bool) -> Iterator[str]:
    place = style.place(printable(hit.path)) + f":{hit.start_line}-{hit.end_line}"
    whose = "" if hit.trust == "memory" else f"  [{hit.trust}]"
    yield style.strong(f"{number}.") + f" {place}  {style.faint(f'{hit.score:.2f}')}{whose}"
    width = style.width - len(_INDENT)
    if hit.heading:
        yield _INDENT + style.faint(fit(printable(" › ".join(hit.heading)), width))
    if explain:
        for line in explained(hit.explain):
            yield _INDENT + style.faint(fit(line, width))
    text = printable(hit.snippet).rstrip()
    for start, end in wrap(text, width):
        yield (_INDENT + highlighted(text, start, end, hit.highlights, style)).rstrip()
