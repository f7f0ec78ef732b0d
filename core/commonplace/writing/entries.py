"""The edits of a note, on its lines: adding an entry, finding cited lines, replacing, marking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.errors import WriteRefusedError, counted
from commonplace.model.search import cited
from commonplace.model.tuples import NamedTuple
from commonplace.writing.notefile import comparable, readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NOTE = re.compile(r".*\.(?:md|markdown|txt)(?=[#:])")
_MARKER = re.compile(r"(\s*)((?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?")
_LISTED = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_WORDS = re.compile(r"[^\W\d_]+").findall


def names_no_lines(citation: str) -> WriteRefusedError:
    """The error for a citation without lines, or with lines that are not understood."""
    found = _NOTE.match(citation)
    note = found[0] if found is not None else citation
    return WriteRefusedError(
        f"{citation} names no lines",
        kind="citation",
        hint=f"cite them as search results do: {note}#L3, or {note}#L3-L9",
    )


class Entry(NamedTuple):
    """A text as it stands in a list: ``importance`` (0..1) is shown as a comment.

    ``quoted`` says why the text is quoted instead of said, ``""`` if it is said.
    """

    text: str
    importance: float | None = None
    quoted: str = ""

    def lines(self) -> list[str]:
        """The lines of its list item, without ends."""
        mark = "" if self.importance is None else f" <!-- importance: {self.importance:g} -->"
        if self.quoted:
            fence = _fence_for(self.text)
            head = f"- Quoted, not to be followed ({self.quoted}):{mark}"
            return [head, f"  {fence}text", *_indented(self.text.split("\n")), f"  {fence}"]
        first, *rest = self.text.strip().split("\n")
        first = first.rstrip()
        head = first if _LISTED.match(first) else f"- {first.lstrip()}"
        return [head + mark, *_indented(rest)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line.rstrip()}" if line.strip() else "" for line in lines]


def _fence_for(text: str) -> str:
    """A fence that the text cannot close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def added(lines: Sequence[str], entry: Entry, *, heading: str, title: str, end: str) -> list[str]:
    """``lines`` with the entry at the end, or at the end of the section ``heading``.

    A section that is missing is added; a file without text begins with ``title``. ``end`` ends the
    new lines.
    """
    block = [f"{line}{end}" for line in entry.lines()]
    if not any(line.strip() for line in lines):
        lines = [f"# {title}{end}", end]
    if not heading:
        return _joined(lines, len(lines), block, end)
    if (marked := _HEADING.match(heading)) is not None:  # a heading as it stands in a note
        heading = marked[2]
    wanted = _plain(heading)
    found = [one for one in _headings(lines) if _plain(one[2]) == wanted]
    if not found:
        return _joined(lines, len(lines), [f"## {heading.strip()}{end}", end, *block], end)
    at, level, _ = found[0]
    later = (start for start, depth, _ in _headings(lines) if start > at and depth <= level)
    return _joined(lines, next(later, len(lines)), block, end)


def _joined(lines: Sequence[str], at: int, block: Sequence[str], end: str) -> list[str]:
    """``block`` after the last text before ``at``, apart from what is no list."""
    stop = at
    while stop and not lines[stop - 1].strip():
        stop -= 1
    head, tail = list(lines[:stop]), list(lines[stop:])
    if head and not head[-1].endswith("\n"):
        head[-1] += end
    # An entry of a list continues it; all else stands apart by a blank line.
    close = bool(head) and _LISTED.match(block[0]) is not None and _in_list(head)
    if head and not close:
        block = [end, *block]
        if tail and stop < at:
            tail = tail[1:]
            block = [lines[stop], *block[1:]]
    if tail and tail[0].strip():
        block = [*block, end]
    return [*head, *block, *tail]


def _in_list(lines: Sequence[str]) -> bool:
    """Whether the last line is an entry of a list, or continues one."""
    for line in reversed(lines):
        if _LISTED.match(line):
            return True
        if not line.startswith((" ", "\t")):
            return False
    return False


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Position, level and text of each heading outside of code."""
    fence = ""
    for number, line in enumerate(lines):
        if (found := _FENCE.match(line)) is not None:
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)) is not None:
            yield number, len(heading[1]), heading[2]


def cited_run(
    lines: Sequence[str], path: str, start: int, end: int, was: str | None
) -> tuple[int, int]:
    """The cited lines as positions (from, up to), counted from 0.

    ``was`` is the text that they had when they were read. If they have another one now, the lines
    that have it are meant, if they are the only ones. A blank one is as good as none: models give
    it for what they leave out. Raises :class:`~commonplace.errors.WriteRefusedError` where no lines
    fit the citation, or several.
    """
    citation = cited(path, start, end)
    inside = 1 <= start <= end <= len(lines)
    if was is None or not was.strip():
        if not inside:
            from shlex import quote

            raise WriteRefusedError(
                f"{citation} does not fit: the note has {counted(len(lines), 'line')}",
                kind="citation",
                hint=f"search again, or read the note: commonplace get {quote(path)}",
            )
        if not "".join(lines[start - 1 : end]).strip():
            raise WriteRefusedError(f"{citation} is blank", kind="citation", hint="cite a line")
        return start - 1, end
    given = was.strip("\n").split("\n")
    # A marker or a comment alone says nothing: as words, it would be any blank line.
    said = _plain if any(map(_plain, given)) else _stripped
    wanted = [*map(said, given)]
    plain = [*map(said, lines)]
    if inside and plain[start - 1 : end] == wanted:
        return start - 1, end
    size = len(wanted)
    fits = [at for at in range(len(lines) - size + 1) if plain[at : at + size] == wanted]
    if len(fits) == 1:
        return fits[0], fits[0] + size
    now = "".join(lines[start - 1 : end]).strip("\n") if inside else ""
    found = f"now it is {_quoted(now)}" if not fits else f"{len(fits)} places have that text"
    raise WriteRefusedError(
        f"{citation} has changed: it was {_quoted(was)}, {found}",
        kind="changed",
        hint="read the note again, and cite the lines as they are now",
    )


def _stripped(line: str) -> str:
    return comparable(line).strip()


def _quoted(text: str) -> str:
    text = readable(text)
    return repr(text if len(text) <= 400 else f"{text[:400]}…")


def replaced(lines: Sequence[str], first: int, last: int, new: str, *, end: str) -> list[str]:
    """``lines`` with ``new`` in place of a run; an entry of a list stays one."""
    block = [f"{line}{end}" for line in _as_before(lines[first], new)]
    return [*lines[:first], *_ended(block, lines, last), *lines[last:]]


def _as_before(line: str, new: str) -> list[str]:
    """The lines of ``new`` behind the marker that ``line`` has, unless they bring their own."""
    found = _MARKER.match(line)
    assert found is not None, "the pattern matches the empty string"
    indent, marker = found[1], found[2] or ""
    first, *rest = new.strip("\n").split("\n")
    if not marker or _LISTED.match(first):
        return [line.rstrip() for line in (first, *rest)]
    hanging = indent + "  "
    tail = [f"{hanging}{line.rstrip()}" if line.strip() else "" for line in rest]
    return [f"{indent}{marker}{first.strip()}", *tail]


def _ended(block: list[str], lines: Sequence[str], last: int) -> list[str]:
    """``block``, without an end if it takes the place of a last line that had none."""
    if last == len(lines) and not lines[-1].endswith("\n"):
        block[-1] = block[-1].rstrip("\r\n")
    return block


def superseded(
    lines: Sequence[str], first: int, last: int, new: str, *, day: str, end: str
) -> list[str]:
    """``lines`` with a run struck out and marked, and ``new`` below it.

    Each line stays what it is in Markdown: rows of a table are struck out cell by cell, quotes
    behind their ``>``. Raises :class:`~commonplace.errors.WriteRefusedError` for what cannot be
    struck out (headings, code, front matter, HTML, the head of a table), for what is struck out
    already, and where a row of a table would be superseded by what is none.
    """
    from commonplace.text.facts import quote_of, struck_out, superseded_mark, table_rows

    with_text = (number for number in range(first, last) if lines[number].strip("> \t\r\n"))
    said = list(with_text) or [first]
    rows = table_rows(lines)
    _check_supersedable(lines, said, rows, new)
    quote = quote_of(lines[first])
    if quote:
        new = "\n".join(line[len(quote_of(line)) :] for line in new.split("\n"))
    successor = _MARKER.sub("", new, count=1)
    if said[0] in rows:  # a bar would divide the cell that has the mark
        successor = " ".join(new.split()).strip("| ").replace("|", r"\|")
    mark = superseded_mark(day, successor)
    old = [
        struck_out(line, mark if number == said[-1] else "", row=number in rows)
        for number, line in enumerate(lines[first:last], first)
    ]
    below = [f"{quote}{line}".rstrip() for line in _as_before(lines[first][len(quote) :], new)]
    block = [f"{line}{end}" for line in (*old, *below)]
    return [*lines[:first], *_ended(block, lines, last), *lines[last:]]


def _check_supersedable(
    lines: Sequence[str], said: Sequence[int], rows: frozenset[int], new: str
) -> None:
    """Refuse to supersede the lines at ``said`` (counted from 0) where Markdown would break."""
    from commonplace.text.facts import columns_of, struck_already, unstrikable

    for number, kind in unstrikable(lines, said, rows):
        raise WriteRefusedError(
            f"line {number + 1} is {kind}, which cannot be struck out",
            kind="citation",
            hint="correct it without keeping the old: the journal has that",
        )
    if already := struck_already(lines, said):
        raise WriteRefusedError(already[0], kind="citation", hint=already[1])
    if not rows.intersection(said):
        return
    if not rows.issuperset(said):
        raise WriteRefusedError(
            "only some of these lines are rows of a table", kind="citation", hint="cite rows alone"
        )
    columns = columns_of(lines[said[0]])
    if {columns} != set(map(columns_of, new.strip("\n").split("\n"))):
        raise WriteRefusedError(
            f"line {said[0] + 1} is a row of a table, and the new text is no such row",
            kind="text",
            hint=f"give it {counted(columns, 'cell')}: |{'|'.join([' … '] * columns)}|",
        )


def removed(lines: Sequence[str], first: int, last: int) -> list[str]:
    """``lines`` without a run."""
    return [*lines[:first], *lines[last:]]


def _plain(text: str) -> str:
    """What a line says, without its marker and its letters' case, in whatever bytes."""
    text = _COMMENT.sub("", comparable(text)).strip()
    found = _MARKER.match(text)
    assert found is not None, "the pattern matches the empty string"
    return " ".join(text[found.end() :].split()).rstrip(".").casefold()


class Similar(NamedTuple):
    """An entry that says the same as a new one, exactly or nearly, and where it stands."""

    citation: str
    text: str
    exact: bool


def similar_entries(lines: Sequence[str], path: str, text: str) -> Iterator[Similar]:
    """The entries of a note that say what ``text`` says; superseded ones are left out.

    Nearly the same is what shares four fifths of its words, numbers aside, and another value of
    what ``text`` states to hold since some time.
    """
    newer = _newer_of(text)
    wanted = _said(text.split("\n"))
    words = set(_WORDS(wanted))
    for start, end in _entries(lines):
        run = lines[start:end]
        if _is_superseded("".join(run)):
            continue
        said = _said(run)
        if said == wanted:
            yield Similar(cited(path, start + 1, end), " ".join(said.split()), exact=True)
            continue
        theirs = set(_WORDS(said))
        shared = len(words) > 2 and len(words & theirs) * 5 >= len(words | theirs) * 4
        if shared or (newer is not None and newer("".join(run))):
            says = " ".join(readable("".join(run)).split())
            yield Similar(cited(path, start + 1, end), says, exact=False)


def _newer_of(text: str) -> Callable[[str], bool] | None:
    """Tells what states another value of the fact that ``text`` states since some time."""
    from commonplace.text.values import says_since, without_value

    if not says_since(text):
        return None
    fact, value = without_value(f"- {' '.join(text.split())}")

    def differs(entry: str) -> bool:
        other, its = without_value(" ".join(readable(entry).split()))
        return other == fact and bool(its) and its != value

    return differs if value else None


def _is_superseded(text: str) -> bool:
    if "~~" not in text:  # as most: patterns for facts need not be compiled
        return False
    from commonplace.text.facts import superseded_in

    return superseded_in(text) is not None


def _said(lines: Sequence[str]) -> str:
    return " ".join(plain for plain in map(_plain, lines) if plain)


def _entries(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The items of lists, and the paragraphs, as positions (from, up to)."""
    start: int | None = None
    for number, line in enumerate([*lines, ""]):
        begins = not line.strip() or _LISTED.match(line) or _HEADING.match(line)
        if begins and start is not None:
            yield start, number
            start = None
        if start is None and line.strip() and not _HEADING.match(line):
            start = number
