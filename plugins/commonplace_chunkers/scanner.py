r"""The block structure of a Markdown text: headings, blocks worth knowing, and places to cut.

Covered, as CommonMark 0.31 has it: ATX and setext headings, fenced and indented code, HTML blocks
of all seven forms, thematic breaks, block quotes, bullet and ordered lists, lazy continuation
lines, link reference definitions as far as they decide where a paragraph begins, and tabs; and
beyond it the tables of GitHub, and YAML (``---``) or TOML (``+++``) front matter at the start of
the file. Inline markup is ignored.

Not covered: containers nested deeper than 32 are read as text; a reference definition counts
whatever the scheme of its link; a table does not end because it has too many missing cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from commonplace_chunkers.shapes import (
    HTML_END,
    PLAIN_STOPS,
    SETEXT,
    Start,
    closes_fence,
    definition_length,
    delimiter_cells,
    expand_prefix,
    front_matter_end,
    header_cells,
    heading_text,
    is_text,
    recognise,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence


def outline(lines: Sequence[str]) -> Scanner:
    """What there is in the text that is ``lines`` (without their ends), read in linear time."""
    start = front_matter_end(lines)
    scanner = Scanner(lines)
    if start:
        scanner.blocks.append(Block("front matter", 0, start, 0))
        scanner.borders[0] = 0
    scanner.scan(start)
    return scanner


NO_BORDER: Final = 255
_MOST_CONTAINERS = 32


class Block(NamedTuple):
    """A block of the lines ``start`` to ``stop`` (0-based, half-open).

    ``kind`` is ``heading``, ``fence``, ``table``, ``list`` or ``front matter``; other blocks only
    leave a border. ``depth`` counts the quotes and list items around it. ``level`` (1 to 6) and
    ``text`` (white space collapsed, closing ``#`` removed) are those of a heading.
    """

    kind: str
    start: int
    stop: int
    depth: int
    level: int = 0
    text: str = ""


class _Container:
    """A block quote (``indent`` 0), a list item (``indent`` columns wide), or the document.

    ``list_mark`` is the marker of the list now open inside it, ``list_start`` its first line.
    ``empty`` is set for an item that has shown nothing but its marker.
    """

    __slots__ = ("empty", "indent", "list_mark", "list_start")

    def __init__(self, indent: int, *, empty: bool = False) -> None:
        self.indent = indent
        self.empty = empty
        self.list_mark = ""
        self.list_start = 0


class Scanner:
    """Reads ``lines``; what it found is in ``blocks`` and ``borders``.

    Blocks come in the order in which they end, headings in the order of the text. ``borders`` says
    for each line how deep the outermost block lies that begins there: 0 at top level, 1 for a
    further item of a list there, 2 inside such an item, and so on; :data:`NO_BORDER` inside a
    block.

    Places in a line are called ``start`` where the content of the innermost container begins, and
    ``text`` where the first character stands that is not a space.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.blocks: list[Block] = []
        self.borders = bytearray([NO_BORDER]) * len(lines)
        self._lines = [expand_prefix(line) if "\t" in line else line for line in lines]
        self._end = len(lines) - bool(lines and not lines[-1].strip(" \t"))
        self._delimiters = frozenset(
            at
            for at, line in enumerate(self._lines)
            if line and line[-1] in "-:| \t" and delimiter_cells(line.lstrip(" >"), 0)
        )
        self._stack = [_Container(0)]
        self._leaf = ""
        self._leaf_start = 0
        self._fence = ""
        self._html_end: re.Pattern[str] | None = None
        self._paragraph: list[int] = []  # for each of its lines, where its text begins
        self._last = -1  # the last line that was not blank

    def scan(self, at: int) -> None:
        """Read from line ``at`` on to the end."""
        lines, stack, end, delimiters = self._lines, self._stack, self._end, self._delimiters
        while at < end:
            line = lines[at]
            # Most lines of most notes are words at the left edge, outside of everything.
            if (
                line
                and line[0] not in PLAIN_STOPS
                and len(stack) == 1
                and (not self._leaf or self._leaf == "paragraph")
                and at + 1 not in delimiters
            ):
                if self._leaf:
                    self._paragraph.append(0)
                else:
                    self._begin(at)
                    self._leaf, self._leaf_start, self._paragraph = "paragraph", at, [0]
                self._last = at
                at += 1
            elif len(stack) == 2 and self._takes_item(at, line):
                at += 1
            else:
                at = self._line(at, line)
        self._close(0, end)
        self._close_list(stack[0])

    def _takes_item(self, at: int, line: str) -> bool:
        """Take in the next item, of plain words, of an open bullet list at the left edge.

        :meth:`_line` would do the same, but notes are made of such items.
        """
        document, item = self._stack
        if item.indent != 2 or line[:2] != document.list_mark + " " or at + 1 in self._delimiters:
            return False
        first = line[2:3]
        plain = first not in PLAIN_STOPS or (line[2:4] == "**" and line[4:5].isalpha())
        if not first or not plain:
            return False
        self._close_leaf(at)
        self._close_list(item)
        self._stack[1] = _Container(2)
        self.borders[at] = 1
        self._leaf, self._leaf_start, self._paragraph, self._last = "paragraph", at, [2], at
        return True

    def _line(self, at: int, line: str) -> int:
        """Take in one line, or more; the number of the next one."""
        depth, start, text = self._match(line)
        if text == len(line):
            self._blank(at, line, depth)
            return at + 1
        following = at + 1
        if depth == len(self._stack) - 1:
            if not self._continues(at, line, start, text):
                following = self._open(at, line, start, text)
        elif self._leaf == "paragraph" and is_text(line, start, text):
            self._paragraph.append(text)
        else:
            self._close(depth, at)
            following = self._open(at, line, start, text)
        self._last = following - 1
        return following

    def _match(self, line: str) -> tuple[int, int, int]:
        """How many containers go on in this line, and the places ``start`` and ``text``."""
        start = depth = 0
        length = len(line)
        text = length - len(line.lstrip(" "))
        for container in self._stack[1:]:
            if text == length:
                if not container.indent or container.empty:
                    break
            elif container.indent:
                if text - start < container.indent:
                    break
                start += container.indent
                container.empty = False
            else:
                if line[text] != ">" or text - start > 3:
                    break
                start = text + 1
                if line[start : start + 1] == " ":
                    start += 1
                text = length - len(line[start:].lstrip(" "))
            depth += 1
        return depth, start, text

    def _blank(self, at: int, line: str, depth: int) -> None:
        if depth < len(self._stack) - 1:
            self._close(depth, at)
        elif self._leaf in {"paragraph", "table"} or (self._leaf == "html" and not self._html_end):
            self._close_leaf(at)
        if line and not line.isspace():
            self._last = at

    # --- the open block ---------------------------------------------------------------------

    def _continues(self, at: int, line: str, start: int, text: int) -> bool:
        """Whether the line belongs to the open leaf block; if not, there is none open any more."""
        indented = text - start >= 4
        match self._leaf:
            case "paragraph":
                return self._continues_paragraph(at, line, start, text)
            case "fence":
                if not indented and closes_fence(line, text, self._fence):
                    self._close_leaf(at + 1)
                return True
            case "html":
                if self._html_end and self._html_end.search(line, text):
                    self._close_leaf(at + 1)
                return True
            case "code" if indented:
                return True
            case "table" if not indented and is_text(line, start, text):
                return True
        self._close_leaf(at)
        return False

    def _continues_paragraph(self, at: int, line: str, start: int, text: int) -> bool:
        if text - start < 4:
            if line[text] in "=-" and SETEXT.match(line, text):
                self._setext_heading(at, 1 if line[text] == "=" else 2)
                return True
            found = recognise(line, text)
            if (found and not found[0].startswith("late")) or self._begins_table(at, text):
                self._leaf = ""
                return False
        self._paragraph.append(text)
        return True

    def _setext_heading(self, at: int, level: int) -> None:
        rows = zip(self._lines[self._leaf_start : at], self._paragraph, strict=True)
        words = " ".join(row[text:] for row, text in rows).split()
        self._add("heading", self._leaf_start, at + 1, level, " ".join(words))
        self._leaf = ""

    def _close_leaf(self, stop: int) -> None:
        if self._leaf in {"fence", "table"}:
            self._add(self._leaf, self._leaf_start, stop)
        self._leaf = ""

    def _close(self, depth: int, at: int) -> None:
        """Close the open leaf and all containers but ``depth``, before line ``at``."""
        self._close_leaf(at)
        while len(self._stack) > depth + 1:
            self._close_list(self._stack[-1])
            self._stack.pop()

    def _close_list(self, container: _Container) -> None:
        if container.list_mark:
            self._add("list", container.list_start, self._last + 1)
            container.list_mark = ""

    def _add(self, kind: str, start: int, stop: int, level: int = 0, text: str = "") -> None:
        self.blocks.append(Block(kind, start, stop, len(self._stack) - 1, level, text))

    # --- new blocks -------------------------------------------------------------------------

    def _begin(self, at: int) -> None:
        """A block begins in the innermost container: a border, and the end of a list there."""
        self._close_list(self._stack[-1])
        self.borders[at] = min(self.borders[at], 2 * len(self._stack) - 2)

    def _open(self, at: int, line: str, start: int, text: int) -> int:
        """Open the blocks that begin in this line; the number of the next line."""
        length = len(line)
        while text < length:
            found = recognise(line, text) if text - start < 4 else None
            kind, after, mark = found or ("", 0, "")
            goes_on = kind.endswith("item") and self._stack[-1].list_mark == mark
            if text - start < 4 and not goes_on and self._begins_table(at, text):
                self._begin(at)
                self._leaf, self._leaf_start = "table", at
                return at + 2
            container = kind == "quote" or kind.endswith("item")
            if not container or len(self._stack) > _MOST_CONTAINERS:
                return self._open_leaf(at, line, start, text, found)
            if kind == "quote":
                self._begin(at)
                self._stack.append(_Container(0))
                start = after + (line[after : after + 1] == " ")
            else:
                start = self._open_item(at, line, start, after, mark)
            text = length - len(line[start:].lstrip(" "))
        return at + 1

    def _open_item(self, at: int, line: str, start: int, after: int, mark: str) -> int:
        """Open a list item whose marker ends at ``after``; where its content begins."""
        parent = self._stack[-1]
        if parent.list_mark == mark:
            self.borders[at] = min(self.borders[at], 2 * len(self._stack) - 1)
        else:
            self._begin(at)
            parent.list_mark, parent.list_start = mark, at
        rest = line[after:]
        padding = len(rest) - len(rest.lstrip(" "))
        empty = padding == len(rest)
        if empty or padding > 4:
            padding = 1
        self._stack.append(_Container(after + padding - start, empty=empty))
        return min(after + padding, len(line))

    def _open_leaf(self, at: int, line: str, start: int, text: int, found: Start | None) -> int:
        self._begin(at)
        self._leaf_start = at
        kind, number, detail = found or ("", 0, "")
        if text - start >= 4:
            self._leaf = "code"
        elif kind == "heading":
            words = heading_text(line, number).split()
            self._add("heading", at, at + 1, len(detail), " ".join(words))
        elif kind == "fence":
            self._leaf, self._fence = "fence", detail
        elif kind.endswith("html"):
            self._html_end = HTML_END[number]
            if not (self._html_end and self._html_end.search(line, text)):
                self._leaf = "html"
        elif kind != "thematic":
            return self._open_paragraph(at, line, text)
        return at + 1

    def _open_paragraph(self, at: int, line: str, text: int) -> int:
        if line[text] == "[":
            following = iter(range(at + 1, self._end))

            def more() -> str | None:
                number = next(following, None)
                return None if number is None else self._paragraph_text(number)

            taken = definition_length(line[text:], more)
            if taken:
                return at + taken
        self._leaf, self._paragraph = "paragraph", [text]
        return at + 1

    # --- looking ahead ----------------------------------------------------------------------

    def _paragraph_text(self, at: int) -> str | None:
        """What the line would add to a paragraph open now, ``None`` if it would end it."""
        line = self._lines[at]
        depth, start, text = self._match(line)
        if text == len(line) or not is_text(line, start, text):
            return None
        inside = depth == len(self._stack) - 1 and text - start < 4
        return None if inside and self._begins_table(at, text) else line[text:]

    def _begins_table(self, at: int, text: int) -> bool:
        """Whether the line is the header of a table, by the row below it."""
        if at + 1 not in self._delimiters or at + 1 >= self._end:
            return False
        below = self._lines[at + 1]
        depth, start, row = self._match(below)
        if depth < len(self._stack) - 1 or row - start >= 4 or row == len(below):
            return False
        cells = delimiter_cells(below, row)
        return cells > 0 and cells == header_cells(self._lines[at], text)
