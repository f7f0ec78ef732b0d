"""The block on memory that an agent is shown: how to recall, its notes, passages for a question."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError, NoteNotFoundError, PathNotAllowedError
from commonplace.graphemes import floor_boundary
from commonplace.model.prompt import DATA_NOTICE, LEAST_PASSAGE, fenced, unfenced
from commonplace.model.tuples import NamedTuple, Record
from commonplace.text.dates import today_at
from commonplace.tools.answers import LONGEST_SHOWN_PATH, first_lines, last_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.model.reports import NoteText
    from commonplace.tools.toolset import MemoryTools

_CURATED_SHARE = 0.6  # of the budget, where daily logs follow
_SECTIONS_SHARE = 1 / 3  # of what the instructions leave: all sections of plugins together
_LEAST_ANSWER = 500  # characters for the passages, or nothing stands beside them
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_MORE = "\n(The rest of this section is left out.)\n"


class Recall(Record):
    """What an agent is shown. ``paths`` are the notes in it, ``cut`` those not to their end.

    For a question these are the notes of its passages, and none is ``cut``.
    """

    text: str
    paths: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


def recall(
    tools: MemoryTools,
    *,
    sections: Sequence[str],
    query: str | None,
    budget: int | None,
    now: float,
) -> Recall:
    """The block for a session's start, or with ``query`` what is found for it instead of the notes.

    With a query, what plugins recall comes first, in half of the room at most, then passages.
    Where these would have less than 500 characters, they are all that is shown.

    ``budget`` are characters for all of it, by default those of ``tools``. ``sections`` are what
    plugins add, in their order; they are cut where all together are longer than a third of it, if
    notes or passages follow. Notes are shown to direct chats alone: the curated memory, and the
    logs of today and yesterday at ``now`` (epoch seconds) in the time zone ``query.timeZone``, or
    if there are none those of the newest day before; of a log that does not fit, its end. Notes
    that cannot be read are left out.
    """
    budget = budget or tools.budget
    parts: list[str] = []
    if query is None or budget - len(tools.instructions) >= _LEAST_ANSWER:
        parts.append(tools.instructions)
        share = _SECTIONS_SHARE if tools.direct or query is not None else 1
        parts += _sections(sections, int((budget - len(parts[0])) * share))
    left = budget - sum(map(len, parts)) - len(parts)
    if query is not None:
        if added := tools.recalled(query, budget=max(left // 2, 0)):
            parts.append(added)
            left -= len(added) + 1
        answer = tools.call("memory_search", {"query": query}, budget=max(left, 0))
        parts.append(answer.text[: max(left, 0)] if answer.failed else answer.text)
        cited = dict.fromkeys(hit["path"] for hit in answer.data.get("results", ()))
        return Recall(text="\n".join(parts), paths=tuple(cited))
    if not tools.direct:
        return Recall(text="\n".join(parts))
    left -= len(DATA_NOTICE) + 2
    today = today_at(now, tools.time_zone)
    days = (today, today - timedelta(days=1))
    paths_of_logs = [path for day in days for path in tools.places.logs(day)]
    logs = list(_read(tools, paths_of_logs or tools.places.latest_logs(today)))
    memory = list(islice(_read(tools, tools.places.curated), 1))
    # Each has what the other leaves, and at least its share.
    room = left - _length(_blocks(logs, left - int(left * _CURATED_SHARE), tail=True))
    curated = _blocks(memory, room, tail=False)
    notes = [*curated, *_blocks(logs, left - _length(curated), tail=True)]
    if notes:
        parts += [DATA_NOTICE, *(one.text for one in notes)]
    paths = tuple(one.path for one in notes)
    cut = tuple(one.path for one in notes if not one.whole)
    return Recall(text="\n".join(parts), paths=paths, cut=cut)


class _Block(NamedTuple):
    path: str
    text: str
    whole: bool


def _read(tools: MemoryTools, paths: Iterable[str]) -> Iterator[tuple[str, NoteText | str]]:
    """The notes at ``paths``, or why one is left out; not those that are gone or empty."""
    for path in paths:
        try:
            note = tools.read(path)
        except (NoteNotFoundError, PathNotAllowedError):
            continue
        except CommonplaceError as error:
            yield path, f"({unfenced(f'{path} is left out: {error}')})"
            continue
        if note.text.strip():
            yield path, note


def _length(blocks: Iterable[_Block]) -> int:
    return sum(len(one.text) + 1 for one in blocks)


def _blocks(notes: Iterable[tuple[str, NoteText | str]], room: int, *, tail: bool) -> list[_Block]:
    """The ``notes`` in ``room`` characters together; without those that have no place."""
    blocks = []
    for path, note in notes:
        if isinstance(note, str):
            text, whole = note if len(note) <= room else "", False
        else:
            text, whole = _fitted(path, note, room, tail=tail)
        if text:
            blocks.append(_Block(path, text, whole))
            room -= len(text) + 1
    return blocks


def _sections(sections: Sequence[str], room: int) -> list[str]:
    """The sections in ``room`` characters, each in an equal part of them.

    The shortest are fitted first: what they leave is for the longer ones.
    """
    texts = [section.strip() + "\n" for section in sections if section.strip()]
    fitted: dict[int, str] = {}
    for done, at in enumerate(sorted(range(len(texts)), key=lambda at: len(texts[at]))):
        part = max(0, room // (len(texts) - done) - 1)
        fitted[at] = texts[at] if len(texts[at]) <= part else _cut(texts[at], part)
        room -= len(fitted[at]) + 1
    return [fitted[at] for at in sorted(fitted) if fitted[at]]


def _cut(text: str, room: int) -> str:
    """The start of ``text``, whole lines where possible; ``""`` where next to nothing fits."""
    keep = room - len(_MORE)
    if keep < LEAST_PASSAGE:
        return ""
    end = text.rfind("\n", 0, keep)
    cut = text[: end if end > keep // 2 else floor_boundary(text, keep)]
    return (_without_last_heading(cut) or cut) + _MORE


def _without_last_heading(text: str) -> str:
    """``text`` without headings at its end, which have no text below them.

    A comment that ends a piece of fenced code looks like one, and stays.
    """
    if not _HEADING.match(text.rstrip().rpartition("\n")[2]):
        return text
    from commonplace.text.facts import prose_lines  # few texts are cut there

    lines = text.split("\n")
    headings = {number for number, line in prose_lines(text) if _HEADING.match(line)}
    last = end = len(lines)
    while last and (last in headings or not lines[last - 1].strip()):
        last -= 1
        end = last if last + 1 in headings else end
    return "\n".join(lines[:end])


def _fitted(path: str, note: NoteText, room: int, *, tail: bool) -> tuple[str, bool]:
    """A note in at most ``room`` characters, and whether that is all of it."""
    whole = _shown(note.text, note, note.start_line, note.end_line)
    if len(whole) <= room:
        return whole, True
    name = unfenced(path, LONGEST_SHOWN_PATH)
    pointer = f'\n(This is a part of {name}: memory_get with path "{name}" reads the rest.)'
    # The fence and escaping add characters, not everywhere as many: what is cut may have to be cut
    # again.
    keep = max(0, room - len(pointer)) * len(note.text) // len(whole)
    for _ in range(8):
        if keep < LEAST_PASSAGE:
            break
        text, start, end = (last_lines if tail else first_lines)(note, keep)
        if not tail and (above := _without_last_heading(text)):
            end -= text.count("\n", len(above))
            text = above
        shown = _shown(text, note, start, end) + pointer
        if text and len(shown) <= room:
            return shown, False
        over = len(shown) - room
        keep = len(text) - over if over < len(text) // 2 else len(text) * room // len(shown)
    return "", False


def _shown(text: str, note: NoteText, start: int, end: int) -> str:
    return fenced(text, path=note.path, lines=f"{start}-{end}", trust="memory")
