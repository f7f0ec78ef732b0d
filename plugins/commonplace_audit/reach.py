"""Finds notes that no query finds: each is searched for by its title and by its rarest words.

All searches are by keyword, so that nothing is sent anywhere and nothing is downloaded.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace import Memory
from commonplace.plugin import (
    STOP_WORDS,
    NamedTuple,
    Progress,
    UnavailableError,
    is_only_a_time,
    prose_lines,
)
from commonplace_audit.findings import AuditFinding, cited_lines, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.plugin import ProgressCallback
    from commonplace_audit.findings import AuditedNote

FIRST = 10
"""A note is found if it is among so many results, or fewer where fewer are asked for."""

_FEW = 3  # results that are asked for first: a search for few takes less, and finds most notes
_WORDS = re.compile(r"[^\W\d_]{3,}").findall
_DATA = re.compile(r"[A-Za-z0-9+/_-]{128,}")  # such as a pasted picture: no search is for its words
_OF_A_TITLE = re.compile(r"\w+").findall
# What would be an operator of a query: quotes, the colon of a filter, the minus before a word.
_OPERATORS = re.compile(r"[\"“”„«»「」『』＂]|(?<=[^\W\d])[:：]|(?<!\S)-+")
_QUERY_WORDS = 4
_QUERIES = 2  # by rare words
_LEAST = 3  # different words of a note that can be looked for


class _Query(NamedTuple):
    words: str
    is_title: bool


def unfound(
    memory: Memory, notes: Sequence[AuditedNote], progress: ProgressCallback
) -> Iterator[AuditFinding]:
    """The notes that none of their queries finds, and those that only their title does not."""
    words = {note.path: _words_of(note) for note in notes}
    counts = Counter(word for own in words.values() for word in own)
    search = memory.settings.search
    # The files are compared once, and not before each of thousands of searches.
    quiet = search.evolve(provider="none", sync=search.sync.evolve(on_search=False))
    settings = memory.settings.evolve(search=quiet)
    with Memory(settings, memory.host, one_shot=True, clock=memory.clock) as by_keyword:
        with suppress(UnavailableError):  # an index that cannot be written can still answer
            by_keyword.sync(progress=progress)
        for done, note in enumerate(notes):
            progress(Progress(label="Searching for each note", completed=done, total=len(notes)))
            if len(words[note.path]) < _LEAST:
                continue
            queries = list(_queries(note, words[note.path], counts))
            # The first that finds it is enough, and the title is asked first.
            at = next(
                (
                    at
                    for at, query in enumerate(queries)
                    if _finds(by_keyword, query.words, note.path)
                ),
                len(queries),
            )
            missed = queries[:at]
            if missed and (at == len(queries) or missed[0].is_title):
                words_missed = [query.words for query in missed]
                yield _finding(note, words_missed, all_missed=at == len(queries))


def _finding(note: AuditedNote, missed: Sequence[str], *, all_missed: bool) -> AuditFinding:
    tried = ", ".join(quoted(query) for query in (missed if all_missed else missed[:1]))
    return AuditFinding(
        "unfound",
        "warning" if all_missed else "info",
        note.path,
        f"not among the first {FIRST} results for "
        + (f"any of its own words: {tried}" if all_missed else f"its own title: {tried}"),
        "say in it what it is about, in words that no other note has"
        if all_missed
        else "give it a title that tells it from the others",
    )


def _queries(note: AuditedNote, words: Sequence[str], counts: Counter[str]) -> Iterator[_Query]:
    """The queries for a note, its title first."""
    title = " ".join(_OPERATORS.sub(" ", note.title).split())
    own = [word for word in _OF_A_TITLE(title) if word.casefold() not in STOP_WORDS]
    # No one asks for a number, or a log by the date that is its title.
    if not all(map(str.isdigit, own)) and not is_only_a_time(title):
        yield _Query(title, is_title=True)
    rare = sorted(words, key=lambda word: (counts[word], word))
    for at in range(0, _QUERY_WORDS * _QUERIES, _QUERY_WORDS):
        if some := rare[at : at + _QUERY_WORDS]:
            yield _Query(" ".join(some), is_title=False)


def _words_of(note: AuditedNote) -> tuple[str, ...]:
    """The different words of the prose of a note that say what it is about."""
    text = "\n".join(line for _, line in prose_lines(note.text))
    words = (word.casefold() for word in _WORDS(_DATA.sub(" ", text)))
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS))


def _finds(memory: Memory, query: str, path: str) -> bool:
    return any(_is_among(memory, query, path, most) for most in (_FEW, FIRST))


def _is_among(memory: Memory, query: str, path: str, most: int) -> bool:
    hits = memory.search(query, max_results=most).hits
    cited = (citation for hit in hits for citation in (hit.citation, *hit.similar))
    return any(cited_lines(citation)[0] == path for citation in cited)
