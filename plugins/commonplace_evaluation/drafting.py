"""Drafts queries from notes, without a model: a smoke test to be made better by hand.

A draft repeats words of the line that answers it, so keyword search finds nearly all of them: such
queries show that a setting breaks retrieval, hardly that it improves it. To be a little harder, and
nearer to what people type, the rarest word of a line is left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from commonplace.plugin import MARKS, STOP_WORDS, NamedTuple, is_only_a_time, prose_lines, redact
from commonplace_evaluation.measures import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


WORDS_OF_A_QUERY = 4
KINDS = ("draft-words", "draft-words", "draft-heading", "draft-words", "draft-identifier")
"""The categories of drafts, in the order in which they take turns."""

# A letter or a digit with the marks of it, and what joins two letters in scripts of India.
_LETTER = rf"[^\W_][{MARKS}\u200c\u200d]*+"
_WORD = re.compile(rf"(?:{_LETTER})+(?:[-'’._/:](?:{_LETTER})+)*")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_IN_WORD = rf"[\w{MARKS}]"
_IDENTIFIER = re.compile(
    rf"(?<!{_IN_WORD})(?:(?={_IN_WORD}*[A-Za-z]){_IN_WORD}+(?:[-_./:]{_IN_WORD}+)+"
    rf"|[a-z]+[A-Z]{_IN_WORD}+|[A-Z]{{2,}}_{_IN_WORD}+)"
)
# What is left of a secret that was masked, and who said a line: no one asks for either.
_MASKED = re.compile(r"[!-~]{4,}…[!-~]*")
_SAID_BY = re.compile(r"\A[-*_>\s]*(?:user|assistant|human)[*_]*:[*_]*\s", re.IGNORECASE)
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# No letter loses its marks, nor a vowel of Thai or Lao that stands before it.
_CLAUSE = re.compile(
    rf"(?:[\u0e40-\u0e44\u0ec0-\u0ec4]?[^\s，。、；：！？,.;:!?（）()「」『』\[\]|*`#][{MARKS}]*+){{4,24}}"
)
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
)


class Draft(NamedTuple):
    """A query, where its answer stands, and how it was made (one of :data:`KINDS`)."""

    query: str
    relevant: Span
    kind: str


class _Line(NamedTuple):
    """A line of prose, with its 1-based number and its pieces: words, or pairs of characters."""

    path: str
    number: int
    text: str
    pieces: tuple[str, ...]


def draft_queries(notes: Mapping[str, str], most: int, *, seed: int = 0) -> list[Draft]:
    """At most ``most`` queries on ``notes`` (texts by path), spread over them.

    The same notes, number and ``seed`` give the same queries. A line that holds what looks like a
    secret gives none, and neither does one whose words stand together in another line, too.
    """
    lines = [line for path, text in sorted(notes.items()) for line in _prose(path, text)]
    counts = Counter(piece for line in lines for piece in set(line.pieces))
    holding: dict[str, set[int]] = {}
    for at, line in enumerate(lines):
        for piece in line.pieces:
            holding.setdefault(piece, set()).add(at)
    found: dict[str, list[Draft]] = {kind: [] for kind in KINDS}
    for at, line in enumerate(lines):
        pieces = _telling(line, counts)
        if pieces and set.intersection(*(holding[piece] for piece in pieces)) == {at}:
            found["draft-words"].append(_draft(_as_query(line, pieces), line, "draft-words"))
    found["draft-heading"] = list(_headings(notes))
    found["draft-identifier"] = list(_identifiers(lines))
    random = Random(seed)  # noqa: S311 - a sample, not a secret
    queues = {kind: iter(_spread(drafts, random)) for kind, drafts in found.items()}
    chosen: dict[str, Draft] = {}
    while queues and len(chosen) < most:
        for kind in KINDS:
            draft = next(queues[kind], None) if kind in queues else None
            if draft is None:
                queues.pop(kind, None)
            elif len(chosen) < most:
                chosen.setdefault(draft.query.casefold(), draft)
    return sorted(chosen.values(), key=lambda draft: (draft.relevant, draft.query))


def as_jsonl(drafts: Iterable[Draft]) -> str:
    """``drafts`` as a file of queries."""
    return "".join(
        json.dumps(_facts(number, draft), ensure_ascii=False) + "\n"
        for number, draft in enumerate(drafts, 1)
    )


def _facts(number: int, draft: Draft) -> dict[str, Any]:
    path, start, end = draft.relevant
    return {
        "id": f"draft-{number:04}",
        "query": draft.query,
        "relevant": [{"path": path, "startLine": start, "endLine": end}],
        "category": draft.kind,
        "lang": next((name for name, script in _SCRIPTS if script.search(draft.query)), "-"),
    }


def _prose(path: str, text: str) -> Iterator[_Line]:
    """The lines of a note that are no headings."""
    for number, line in prose_lines(text):
        words = line.strip()
        if words and not _HEADING.match(words) and redact(line) == line:
            plain = _MASKED.sub(" ", _SAID_BY.sub("", words))
            yield _Line(path, number, plain, tuple(_pieces(plain)))


def _is_unspaced(text: str) -> bool:
    """Whether it is written without blanks between words, as Chinese, Japanese and Thai are."""
    return len(_UNSPACED.findall(text)) * 3 > len(text)


def _pieces(text: str) -> Iterator[str]:
    if _is_unspaced(text):
        for clause in _CLAUSE.findall(text):
            yield from (clause[at : at + 2] for at in range(len(clause) - 1))
        return
    for word in _WORD.findall(text):
        if len(word) > 2 and not word.isdecimal() and word.casefold() not in STOP_WORDS:
            yield word.casefold()


def _telling(line: _Line, counts: Counter[str]) -> list[str]:
    """The words of ``line`` that say most of it, but for the rarest; or pairs of one clause."""
    if _is_unspaced(line.text):
        clauses = _CLAUSE.findall(line.text)
        pairs = [[one[at : at + 2] for at in range(len(one) - 1)] for one in clauses]
        return min(pairs, key=lambda of: sum(counts[pair] for pair in of) / len(of), default=[])
    rare = sorted(dict.fromkeys(line.pieces), key=counts.__getitem__)
    return rare[1 : WORDS_OF_A_QUERY + 1] if len(rare) >= WORDS_OF_A_QUERY else []


def _as_query(line: _Line, pieces: list[str]) -> str:
    if _is_unspaced(line.text):
        return pieces[0] + "".join(pair[1] for pair in pieces[1:])
    return " ".join(word for word in dict.fromkeys(line.pieces) if word in pieces)


def _draft(query: str, line: _Line, kind: str) -> Draft:
    return Draft(query, Span(line.path, line.number, line.number), kind)


def _headings(notes: Mapping[str, str]) -> Iterator[Draft]:
    """Headings of two words and more that stand once in all notes; their sections are relevant.

    No one asks a log for a date that is its heading.
    """
    sections: dict[str, list[Span]] = {}
    for path, text in sorted(notes.items()):
        lines = text.split("\n")
        found = [(at, _HEADING.match(line)) for at, line in prose_lines(text)]
        starts = [(at, heading[2]) for at, heading in found if heading]
        ends = [at - 1 for at, _ in starts[1:]] + [len(lines)]
        for (start, words), end in zip(starts, ends[: len(starts)], strict=True):
            last = max(at for at in range(start, end + 1) if lines[at - 1].strip())
            if len(list(_pieces(words))) > 1 and last > start:
                sections.setdefault(words, []).append(Span(path, start, last))
    for words, spans in sections.items():
        if len(spans) == 1 and redact(words) == words and not is_only_a_time(words):
            yield Draft(words, spans[0], "draft-heading")


def _identifiers(lines: Sequence[_Line]) -> Iterator[Draft]:
    """What looks like code and stands in one line only."""
    standing: dict[str, list[_Line]] = {}
    for line in lines:
        for word in dict.fromkeys(_IDENTIFIER.findall(line.text)):
            standing.setdefault(word, []).append(line)
    for word, those in standing.items():
        if len(those) == 1 and 4 < len(word) < 60:
            yield _draft(word, those[0], "draft-identifier")


def _spread(drafts: list[Draft], random: Random) -> Iterator[Draft]:
    """``drafts`` by turns from each note, in an order drawn by ``random``."""
    by_note: dict[str, list[Draft]] = {}
    for draft in drafts:
        by_note.setdefault(draft.relevant.path, []).append(draft)
    queues = list(by_note.values())
    random.shuffle(queues)
    for queue in queues:
        random.shuffle(queue)
    while queues:
        for queue in queues:
            yield queue.pop()
        queues = [queue for queue in queues if queue]
