"""What a single line can begin: the block markers of CommonMark and of GitHub's tables.

All functions take a line whose leading tabs are already spaces, and a place in it, and look at
each character a bounded number of times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Start = tuple[str, int, str]
"""Kind, number, detail.

Kinds: ``heading`` (number: where its text begins, detail: the ``#``), ``fence`` (detail: the
marker run), ``quote`` and ``thematic`` (number: after the marker), ``item`` (number: after the
marker, detail: bullet or ``.`` or ``)``), ``html`` (number: which of the seven forms). A ``late``
form (``late item``, ``late html``) may not interrupt a paragraph.
"""

PLAIN_STOPS: Final = frozenset(" \t#>-+*_=`~<[0123456789")
"""A line that begins with none of these, in a paragraph or where one may begin, is just text."""

SETEXT: Final = re.compile(r"(?:=++|-++)[ \t]*+\Z")
"""The underline that makes the paragraph above it a heading."""

_HEADING = re.compile(r"#{1,6}(?=[ \t]|\Z)")
_FENCE = re.compile(r"(`{3,}+)[^`]*+\Z|(~{3,}+)")
_BULLET = re.compile(r"[-+*](?=[ \t]|\Z)")
_ORDERED = re.compile(r"([0-9]{1,9})([.)])(?=[ \t]|\Z)")
_THEMATIC = {mark: re.compile(rf"[{re.escape(mark)} \t]*+\Z") for mark in "-*_"}
_BLANK = re.compile(r"[ \t]*+\Z")
_DELIMITER = re.compile(r"(?:\|[-:| \t]|:[-:| \t]|-[-:|])[-:| \t]*+\Z")
_DELIMITER_CELL = re.compile(r":?-+:?\Z")

_BLOCK_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5"
    "|h6|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup"
    "|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = (
    r"(?:\s++[a-z_:][a-z0-9:._-]*+"
    r"(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?)"
)
_HTML_START = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        r"<(?:script|pre|style|textarea)(?=\s|>|\Z)",
        r"<!--",
        r"<\?",
        r"<![a-z]",
        r"<!\[(?-i:CDATA)\[",
        rf"</?(?:{_BLOCK_NAMES})(?=\s|/?>|\Z)",
        rf"(?:<[a-z][a-z0-9-]*+{_ATTRIBUTE}*+\s*+/?>|</[a-z][a-z0-9-]*+\s*+>)\s*+\Z",
    )
)
HTML_END: Final = (
    re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE | re.ASCII),
    re.compile(r"-->"),
    re.compile(r"\?>"),
    re.compile(r">"),
    re.compile(r"\]\]>"),
    None,
    None,
)
"""What ends each of the seven forms of HTML block; ``None``: a blank line."""


def expand_prefix(line: str) -> str:
    """``line`` with the tabs before its first word made spaces, to tab stops of four."""
    end = len(line) - len(line.lstrip(" \t>-+*0123456789.)"))
    return line[:end].expandtabs(4) + line[end:]


def recognise(line: str, at: int) -> Start | None:
    """What block begins at the first character that is not a space, ``None`` for a text line."""
    finder = _FINDERS.get(line[at])
    return finder(line, at) if finder else None


def _heading(line: str, at: int) -> Start | None:
    match = _HEADING.match(line, at)
    return match and ("heading", match.end(), match[0])


def _fence(line: str, at: int) -> Start | None:
    match = _FENCE.match(line, at)
    return match and ("fence", match.end(), match[1] or match[2])


def _quote(line: str, at: int) -> Start:
    return ("quote", at + 1, line[at])


def _html(line: str, at: int) -> Start | None:
    for form, start in enumerate(_HTML_START):
        if start.match(line, at):
            return ("late html" if form == 6 else "html", form, "")
    return None


def _thematic(line: str, at: int) -> Start | None:
    mark = line[at]
    if _THEMATIC[mark].match(line, at) and line.count(mark, at) >= 3:
        return ("thematic", len(line), mark)
    return None


def _bullet(line: str, at: int) -> Start | None:
    match = _BULLET.match(line, at)
    if match is None:
        return None
    late = _BLANK.match(line, match.end())
    return ("late item" if late else "item", match.end(), match[0])


def _thematic_or_bullet(line: str, at: int) -> Start | None:
    return _thematic(line, at) or _bullet(line, at)


def _ordered(line: str, at: int) -> Start | None:
    match = _ORDERED.match(line, at)
    if match is None:
        return None
    late = int(match[1]) != 1 or _BLANK.match(line, match.end())
    return ("late item" if late else "item", match.end(), match[2])


_FINDERS: Final[dict[str, Callable[[str, int], Start | None]]] = {
    "#": _heading,
    "`": _fence,
    "~": _fence,
    ">": _quote,
    "<": _html,
    "_": _thematic,
    "-": _thematic_or_bullet,
    "*": _thematic_or_bullet,
    "+": _bullet,
    **dict.fromkeys("0123456789", _ordered),
}


def is_text(line: str, start: int, text: int) -> bool:
    """Whether the line, in a container that begins at ``start``, begins no block at ``text``.

    Such a line goes on with a table, or (lazily) with a paragraph in a container it is not in.
    """
    if text - start >= 4:
        return True
    found = recognise(line, text)
    return found is None or found[0] == "late html"


def closes_fence(line: str, at: int, run: str) -> bool:
    """Whether the line at ``at`` ends the fence that ``run`` opened."""
    rest = line[at:].rstrip(" \t")
    return len(rest) >= len(run) and not rest.strip(run[0])


def heading_text(line: str, start: int) -> str:
    """The text of an ATX heading from ``start`` on, without the closing ``#``."""
    text = line[start:].strip(" \t")
    open_end = text.rstrip("#")
    return open_end if not open_end or open_end[-1] in " \t" else text


def delimiter_cells(line: str, at: int) -> int:
    """The number of columns of a table's delimiter row (``|---|:--|``), 0 if it is none."""
    if not _DELIMITER.match(line, at):
        return 0
    cells = line[at:].strip(" \t").removeprefix("|").removesuffix("|").split("|")
    return len(cells) if all(_DELIMITER_CELL.match(cell.strip(" \t")) for cell in cells) else 0


def header_cells(line: str, at: int) -> int:
    """The number of cells of a table row, 0 if it has no pipe."""
    text = line[at:].strip()
    if "|" not in text:
        return 0
    text = text.replace(r"\|", "..")
    return text.count("|") + 1 - text.startswith("|") - text.endswith("|")


_LABEL = re.compile(r"\[(?:[^\[\]\\]|\\.)*+", re.DOTALL)
_LABEL_LIMIT = 1000
_DESTINATION = re.compile(r"<(?:[^<>\\]|\\.)*+>|[^\x00-\x20\x7f<][^\x00-\x20\x7f]*+")
_ESCAPED = re.compile(r"\\.")
_TITLE_ENDS = {
    '"': re.compile(r'(?:[^"\\]|\\.)*+'),
    "'": re.compile(r"(?:[^'\\]|\\.)*+"),
    "(": re.compile(r"(?:[^()\\]|\\.)*+"),
}
_CLOSING = {'"': '"', "'": "'", "(": ")"}


def definition_length(first: str, more: Callable[[], str | None]) -> int:
    """How many lines the definition takes that begins with the line ``first``; 0 if it is none.

    ``more`` gives, one by one and without their indentation, the lines that would go on with a
    paragraph here, and ``None`` at its end.
    """
    label = _label(first, more)
    if label is None:
        return 0
    lines, rest = label
    if not rest:
        following = more()
        if following is None:
            return 0
        lines, rest = lines + 1, following
    destination = _DESTINATION.match(rest)
    if destination is None or not _balanced(destination[0]):
        return 0
    after = rest[destination.end() :]
    title = after.lstrip(" \t")
    if title:
        taken = 0 if title == after else _title(title, more)
        return lines - 1 + taken if taken else 0
    following = more()
    return lines if following is None else lines + _title(following, more)


def _label(first: str, more: Callable[[], str | None]) -> tuple[int, str] | None:
    """Lines taken, and what follows the colon on the last of them."""
    text, lines = first, 1
    while len(text) <= _LABEL_LIMIT or lines == 1:
        match = _LABEL.match(text)
        end = match.end() if match else 0
        if end < len(text) and text[end] != "\\":
            if text[end : end + 2] != "]:" or end > _LABEL_LIMIT or not text[1:end].strip():
                return None
            return lines, text[end + 2 :].lstrip(" \t")
        following = more()
        if following is None:
            return None
        text, lines = f"{text}\n{following}", lines + 1
    return None


def _balanced(destination: str) -> bool:
    if destination[0] == "<":
        return True
    depth = 0
    for mark in _ESCAPED.sub("", destination):
        depth += (mark == "(") - (mark == ")")
        if depth < 0:
            return False
    return depth == 0


def _title(first: str, more: Callable[[], str | None]) -> int:
    """How many lines the title takes that begins with ``first``; 0 if none does."""
    closing = _CLOSING.get(first[0])
    if closing is None:
        return 0
    inside, line, start, lines = _TITLE_ENDS[first[0]], first, 1, 1
    while True:
        match = inside.match(line, start)
        end = match.end() if match else start
        if end < len(line) and not (line[end] == "\\" and end == len(line) - 1):
            closed = line[end] == closing and not line[end + 1 :].strip(" \t")
            return lines if closed else 0
        following = more()
        if following is None:
            return 0
        line, start, lines = following, 0, lines + 1


_FRONT_MATTER = {
    # What the line after the opening one must look like: a text may also begin with a rule.
    "---": (re.compile(r"""(?:[\w.-]++|"[^"]*+"|'[^']*+')[ \t]*+:(?=\s|\Z)"""), {"---", "..."}),
    "+++": (re.compile(r"""(?:[\w.-]++|"[^"]*+"|'[^']*+')[ \t]*+=|#|\["""), {"+++"}),
}


def front_matter_end(lines: Sequence[str]) -> int:
    """The line after the front matter, 0 if there is none."""
    opening = lines[0].rstrip(" \t") if lines else ""
    if opening not in _FRONT_MATTER or len(lines) < 2:
        return 0
    key, closing = _FRONT_MATTER[opening]
    if not key.match(lines[1]):
        return 0
    ends = (at for at in range(2, len(lines)) if lines[at].rstrip(" \t") in closing)
    return next(ends, -1) + 1
