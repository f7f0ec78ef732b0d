r"""The block structure of a Markdown text: headings, blocks worth knowing, and places to cut.

Covered, as CommonMark 0.31 has it: ATX and setext headings, fenced and indented code, HTML blocks
of all seven forms, thematic breaks, block quotes, bullet and ordered lists, lazy continuation
lines, link reference definitions as far as they decide where a paragraph begins, and tabs; and
beyond it the tables of GitHub, and YAML (``---``) or TOML (``+++``) front matter at the start of
the file. Inline markup is not looked at.

Not covered: containers nested deeper than 32 are read as text; a reference definition counts
whatever the scheme of its link; a table does not end because it has too many missing cells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commonplace_chunkers.scanner import NO_BORDER, Block, Scanner

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NO_BORDER", "Block", "Outline", "outline"]

_FRONT_MATTER = {
    # What the line after the opening one must look like: a text may also begin with a rule.
    "---": (re.compile(r"""(?:[\w.-]++|"[^"]*+"|'[^']*+')[ \t]*+:(?=\s|\Z)"""), {"---", "..."}),
    "+++": (re.compile(r"""(?:[\w.-]++|"[^"]*+"|'[^']*+')[ \t]*+=|#|\["""), {"+++"}),
}


class Outline(NamedTuple):
    """What :func:`outline` finds.

    ``borders`` says for each line how deep the outermost block lies that begins there: 0 at top
    level, 1 for a further item of a list there, 2 inside such an item, and so on;
    :data:`NO_BORDER` inside a block.
    """

    blocks: list[Block]
    borders: bytearray


def outline(lines: Sequence[str]) -> Outline:
    """The outline of the text that is ``lines`` (without their ends), in linear time.

    Blocks come in the order in which they end, headings in the order of the text.
    """
    start = _front_matter(lines)
    scanner = Scanner(lines)
    if start:
        scanner.blocks.append(Block("front matter", 0, start, 0))
        scanner.borders[0] = 0
    scanner.scan(start)
    return Outline(scanner.blocks, scanner.borders)


def _front_matter(lines: Sequence[str]) -> int:
    """The line after the front matter, 0 if there is none."""
    opening = lines[0].rstrip(" \t") if lines else ""
    if opening not in _FRONT_MATTER or len(lines) < 2:
        return 0
    key, closing = _FRONT_MATTER[opening]
    if not key.match(lines[1]):
        return 0
    ends = (at for at in range(2, len(lines)) if lines[at].rstrip(" \t") in closing)
    return next(ends, -1) + 1
