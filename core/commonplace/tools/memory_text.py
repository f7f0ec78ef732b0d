"""What the file commands of an agent do to a text, and the words in which they answer.

The words are those of the memory tool that models were trained on (``memory_20250818``), letter for
letter: see docs/memory-tool.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.model.prompt import unfenced
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.files.tree import TreeEntry

MOST_LINES = 999_999
"""Lines of a file that can be shown."""

_WIDTH = len(str(MOST_LINES))
_MOST_NAMED = 1_000  # lines that an answer names
_AROUND = 2  # lines that are shown before and after a change


class RefusalError(Exception):
    """A command is refused; the message is the answer."""


FIELDS: dict[str, dict[str, str]] = {
    "view": {"path": "text"},
    "create": {"path": "text", "file_text": "text"},
    "str_replace": {"path": "text", "old_str": "text", "new_str": "text"},
    "insert": {"path": "text", "insert_line": "number", "insert_text": "text"},
    "delete": {"path": "text"},
    "rename": {"old_path": "text", "new_path": "text"},
}
"""What each command must be given; ``view`` may have a ``view_range``, too."""


def checked_command(arguments: object) -> tuple[str, dict[str, Any]]:
    """The name of a command and its values, as a model wrote them.

    A number may be written as a text. What a command does not take is left out. Raises
    :class:`RefusalError` naming what is wrong.
    """
    if not isinstance(arguments, dict):
        raise RefusalError("The command is no JSON object")
    name = arguments.get("command")
    if not isinstance(name, str) or name not in FIELDS:
        raise RefusalError(f"Unknown command: {_short(name)}. There are {', '.join(FIELDS)}")
    values: dict[str, Any] = {}
    for field, kind in FIELDS[name].items():
        value = arguments.get(field)
        if value is None:
            raise RefusalError(f"The command {name} needs {field}")
        values[field] = _text(field, value) if kind == "text" else _number(field, value)
    if name == "view" and arguments.get("view_range") is not None:
        wanted = arguments["view_range"]
        if not isinstance(wanted, list | tuple):
            raise RefusalError(f"view_range is no list of two line numbers: {_short(wanted)}")
        values["view_range"] = [_number("view_range", number) for number in wanted]
    return name, values


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise RefusalError(f"{field} is no text: {_short(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusalError(f"{field} has half a character: it cannot be saved as UTF-8") from None
    return value


def _number(field: str, value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise RefusalError(f"{field} is no whole number: {_short(value)}")


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, str) else value
    return text if len(text) <= 80 else text[:80] + "…"


def listing(path: str, size: int, below: Iterable[tuple[str, TreeEntry]]) -> str:
    """The answer to ``view`` of a folder; ``below`` are relative paths and what is there."""
    lines = [
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:",
        f"{_size(size)}\t{path}",
    ]
    for relative, entry in below:
        end = "/" if entry.kind == "folder" else ""
        lines.append(f"{_size(entry.size)}\t{path}/{unfenced(relative)}{end}")
    return "\n".join(lines)


def file_view(path: str, text: str, wanted: Sequence[int] = ()) -> str:
    """The answer to ``view`` of a file, with numbered lines; ``wanted`` are the first and last.

    Lines end at line feeds alone. The last may be -1, which is the end of the file.
    """
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise RefusalError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first = 1
    if len(wanted) == 2:
        first = max(1, wanted[0])
        lines = lines[first - 1 : len(lines) if wanted[1] == -1 else wanted[1]]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"


class Edit(NamedTuple):
    """A text after a change, and the answer."""

    text: str
    answer: str


def replaced(path: str, text: str, old: str, new: str) -> Edit:
    """``text`` with ``new`` in place of ``old``, which must occur once."""
    count = text.count(old)
    if count == 0:
        raise RefusalError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    if count > 1:
        raise RefusalError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{_named(_lines_with(text, old))}. Please ensure it is unique"
        )
    at = text.count("\n", 0, text.find(old))
    after = text.replace(old, new)
    lines = after.split("\n")
    start = max(0, at - _AROUND)
    snippet = _numbered(lines[start : at + _AROUND + 1], start + 1)
    return Edit(
        after,
        "The memory file has been edited. Here is the snippet showing the change (with line "
        f"numbers):\n{snippet}",
    )


def inserted(path: str, text: str, line: int, new: str) -> Edit:
    """``text`` with the lines of ``new`` after its line ``line``; 0 is before the first."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise RefusalError(
            f"Invalid `insert_line` parameter: {line}. It should be within the range "
            f"[0, {len(lines)}]."
        )
    lines.insert(line, new.rstrip("\n"))
    after = "\n".join(lines)
    return Edit(
        after if after.endswith("\n") else after + "\n", f"The file {path} has been edited."
    )


def _lines_with(text: str, old: str) -> Iterator[int]:
    """The line of each place where ``old`` stands, overlapping ones included."""
    line, counted, at = 1, 0, text.find(old)
    while at != -1:
        line += text.count("\n", counted, at)
        counted = at
        yield line
        at = text.find(old, at + 1)


def _named(lines: Iterator[int]) -> str:
    numbers = [str(number) for _, number in zip(range(_MOST_NAMED), lines, strict=False)]
    return ", ".join(numbers) + (", …" if next(lines, None) is not None else "")


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(
        f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)
    )


def _size(size: int) -> str:
    """``0B``, ``14B``, ``1.5K``, ``1M``: in the largest unit that is below the size."""
    if size == 0:
        return "0B"
    step = min((size.bit_length() - 1) // 10, 3)
    value: float = size / 1024**step
    return f"{int(value)}{'BKMG'[step]}" if value == int(value) else f"{value:.1f}{'BKMG'[step]}"
