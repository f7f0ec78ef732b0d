"""Hypothesis strategies for documents, terms, queries and filters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, cast, get_args, overload

from hypothesis import strategies as st

from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace.model.documents import Trust
from commonplace.model.search import KeywordQuery, Where
from commonplace.testing.builders import make_append, make_chunk, make_put

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import AnalysedChunk, AppendDocument, Change
    from commonplace.model.documents import Stamp
    from commonplace.model.search import Phrase
    from commonplace.testing.builders import Batch, Corpus


WORDS = ("ant", "bee", "cat", "dog")
"""Few, so that they meet often."""

SOURCES = ("memory", "sessions", "o'brien's")

PATHS = (
    "MEMORY.md",
    *("memory/2026-01-31.md", "memory/a.md", "memory/deep/er/a.md", "memory.md", "memory2/a.md"),
)

HOSTILE_PATHS = (
    *("memory/it's.md", 'memory/"quoted".md', "memory/line\nbreak.md", "memory/[abc]?*.md"),
    *("memory/100%_done.md", "memory/100%-done.md", "memory/100 - _done.md"),
    *("memory/back\\slash.md", "memory/caf\u00e9.md", "memory/cafe\u0301.md", "memory/Case.md"),
    *("memory/case.md", "memory/ trailing .md", "memory/\U0001f41c/\u8766\u87fb.md"),
    *("memory/\u0645\u0644\u0641.md", "memory/; DROP TABLE documents; --.md", "../up.md"),
    *("memory//a.md", "memory/a.md/"),
)
"""Each the name of another document, however alike they look."""

HOSTILE_TOKENS = (
    *('"', '""', "'", "*", "ant*", "(", ")", "and", "OR", "NOT", "NEAR", "NEAR(ant", "body:ant"),
    *("{body}", ":", "^ant", "-ant", "+", "%", "_", "a_b", "ab", "\\", "c:\\temp", "?1", ";--"),
    *("\u8766\u87fb", "\u8766", "\u0e21\u0e14", "\u05e9\u05dc\u05d5\u05dd", "\u202eevil"),
    *("e\u0301te\u0301", "ete", "\u0301", "\u200b", "\U0001f41c"),
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\x01", "\x7f", "\ufffd", "\U0010fffd"),
    *("x" * 1_000, "x" * 1_000 + "y", "0", "00", "1e5"),
)
"""Each a token of its own; to a careless store some are syntax, separators or each other."""


HOSTILE_TEXTS = (
    "",
    " ",
    " leading and trailing \t",
    "\n\nblank lines around\n\n",
    "line ends\r\nof\nthree\rkinds\r\n",
    "no line ends\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029 but for some",
    "nul \0 in the middle",
    "caf\u00e9 and cafe\u0301, \u00c5 and \u212b, \ufb01",
    "\ufeffmark of byte order",
    "\u05e9\u05dc\u05d5\u05dd \u202eoverride\u202c",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0010fffd \ufffe",
    "a > b / c | d :: e, [\"f\", 'g'] \\ \\n %s {h} <i>&amp;</i>",
    "null",
    "1",
    "1.0",
    "[]",
)
"""Each is text that a store is likely to normalise, split, parse or cut."""


def fold(token: str) -> str:
    """The form in which a store may compare tokens; it need not tell more apart."""
    return unicodedata.normalize("NFKC", token).casefold()


def hostile_tokens() -> SearchStrategy[str]:
    """Tokens as an analyser may make them: anything without white space, NUL or surrogates."""
    anything = st.text(
        st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6
    ).filter(lambda token: not any(map(str.isspace, token)))
    return st.sampled_from(HOSTILE_TOKENS) | anything


def vocabularies() -> SearchStrategy[list[str]]:
    """A few hostile tokens, no two of which fold to the same."""
    return st.lists(hostile_tokens(), min_size=1, max_size=6, unique_by=fold)


def chunks(vocabulary: Sequence[str] = WORDS) -> SearchStrategy[AnalysedChunk]:
    """Chunks whose columns hold a few tokens each; the text is the body's tokens, on line 1."""
    token = st.sampled_from(vocabulary)

    def column(size: int) -> SearchStrategy[str]:
        return st.lists(token, max_size=size).map(" ".join)

    def make(body: str, head: str = "", extra: str = "") -> AnalysedChunk:
        return make_chunk(body, body=body, head=head, extra=extra)

    # Those of one token are often the same, so that scores are.
    return st.builds(make, body=token) | st.builds(
        make, body=column(6), head=column(2), extra=column(3)
    )


def stamps() -> SearchStrategy[Stamp]:
    """Whatever ``stat`` may say: times before 1970, inodes of 64 bits without a sign."""
    times = st.integers(-(2**62), 2**63 - 1)
    inodes = st.integers(0, 2**64 - 1) | st.sampled_from((2**63, 2**64 - 1))
    return st.tuples(st.integers(0, 2**62), times, times, inodes)


def texts() -> SearchStrategy[str]:
    """Texts as they stand in files, often of characters that a store is likely to normalise."""
    return st.text() | st.text("\r\n\t \v\f\x1c\x1f\x85\u2028\0a>/", max_size=8)


def puts(
    vocabulary: Sequence[str] = WORDS, *, paths: Sequence[str] = PATHS
) -> SearchStrategy[PutDocument]:
    """Documents of up to three chunks, which begin on lines 1, 11 and 21."""
    pieces = st.lists(chunks(vocabulary), max_size=3)

    def make(
        path: str, pieces: list[AnalysedChunk], source: str, day: str | None, trust: Trust
    ) -> PutDocument:
        placed = (
            make_chunk(
                piece.chunk.text,
                body=piece.terms.body,
                head=piece.terms.head,
                extra=piece.terms.extra,
                line=10 * place + 1,
            )
            for place, piece in enumerate(pieces)
        )
        return make_put(path, *placed, source=source, day=day, trust=trust)

    return st.builds(
        make,
        path=st.sampled_from(paths),
        pieces=pieces,
        source=st.sampled_from(SOURCES),
        day=_days(),
        trust=st.sampled_from(get_args(Trust)),
    )


def corpora(
    vocabulary: Sequence[str] = WORDS,
    *,
    paths: Sequence[str] = PATHS,
    min_size: int = 0,
    max_size: int = 8,
) -> SearchStrategy[Corpus]:
    """Documents, no two of the same source and path."""
    return st.lists(
        puts(vocabulary, paths=paths),
        min_size=min_size,
        max_size=max_size,
        unique_by=lambda put: (put.source, put.path),
    )


@st.composite
def growths(draw: st.DrawFn) -> tuple[PutDocument, list[AppendDocument]]:
    """A document of :func:`puts`, and what it grows by: each keeps some of what was before."""
    put = draw(puts())
    size = len(put.chunks)
    appends: list[AppendDocument] = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        keep = draw(st.integers(0, size))
        pieces = draw(st.lists(chunks(), max_size=3))
        placed = (
            piece._replace(chunk=piece.chunk._replace(start_line=line, end_line=line))
            for line, piece in enumerate(pieces, 100 * number)
        )
        appends.append(
            make_append(
                put.path,
                *placed,
                keep=keep,
                source=put.source,
                day=draw(_days()),
                stamp=draw(stamps()),
                resume=draw(st.sampled_from(("", "1 here", "2 there"))),
            )
        )
        size = keep + len(pieces)
    return put, appends


def changes() -> SearchStrategy[Change]:
    """Changes to the documents of :func:`puts`, present or not."""
    source, path = st.sampled_from(SOURCES), st.sampled_from(PATHS)
    return st.one_of(
        puts(),
        puts(),
        st.builds(DeleteDocument, source=source, path=path),
        st.builds(TouchDocument, source=source, path=path, stamp=stamps()),
    )


def batches(max_size: int = 6) -> SearchStrategy[Batch]:
    """Changes for one transaction; several may concern one document."""
    return st.lists(changes(), max_size=max_size)


def phrases(vocabulary: Sequence[str] = WORDS, *, max_size: int = 3) -> SearchStrategy[Phrase]:
    """One to ``max_size`` tokens that stand side by side."""
    return st.lists(st.sampled_from(vocabulary), min_size=1, max_size=max_size).map(tuple)


def queries(
    vocabulary: Sequence[str] = WORDS, *, longest_phrase: int = 3
) -> SearchStrategy[KeywordQuery]:
    """Queries; about half have nothing but ``should``."""
    some = st.lists(phrases(vocabulary, max_size=longest_phrase), max_size=2).map(tuple)
    return st.builds(
        KeywordQuery,
        should=st.lists(st.sampled_from(vocabulary), min_size=1, max_size=4).map(tuple)
        | st.just(()),
        must=st.just(()) | some,
        must_not=st.just(()) | some,
    )


def wheres() -> SearchStrategy[Where]:
    """Filters, of which some let nothing pass."""
    patterns = (*PATHS, "memory", "memory/*", "memory/**", "*.md", "**/a.md", "memory/*/a.md", "no")
    return st.just(Where()) | st.builds(
        Where,
        sources=st.none() | st.frozensets(st.sampled_from(SOURCES)),
        paths=st.just(()) | st.lists(st.sampled_from(patterns), max_size=2).map(tuple),
        after=st.none() | _days(),
        before=st.none() | _days(),
    )


def _days() -> SearchStrategy[str | None]:
    return st.sampled_from((None, "2025-12-31", "2026-01-30", "2026-01-31", "2026-02-01"))


Poison = Literal["torn", "no change", "no text"]
"""The batch cannot be read to its end; its last element is no change; its last text has a lone
surrogate, which has no encoding, so that a store may refuse it or keep it."""

POISONS: tuple[Poison, ...] = get_args(Poison)


def poisoned(changes: Sequence[Change], poison: Poison) -> Sequence[Change]:
    """``changes``, and after them what makes them fail."""
    if poison == "torn":
        return _Torn(changes)
    if poison == "no change":
        return (*changes, cast("Change", object()))
    return (*changes, make_put("memory/surrogate.md", make_chunk("ant \ud800", body="ant")))


def succeeds(action: Callable[[], object]) -> bool:
    """Whether ``action`` returns, be it from whatever error."""
    with suppress(Exception):
        action()
        return True
    return False


class Watched(Sequence["Change"]):
    """A sequence that tells ``reading`` the place of each change before it is read."""

    def __init__(self, changes: Sequence[Change], reading: Callable[[int], object]) -> None:
        self._changes = changes
        self._reading = reading

    def __len__(self) -> int:
        return len(self._changes)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Change]: ...
    def __getitem__(self, index: int | slice) -> Change | Sequence[Change]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if 0 <= index < len(self):
            self._reading(index)
        return self._changes[index]


class _Torn(Watched):
    """A sequence that is one longer than what can be read of it."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__(changes, self._tear)

    def __len__(self) -> int:
        return super().__len__() + 1

    def _tear(self, place: int) -> None:
        if place == len(self) - 1:
            raise OSError("this batch cannot be read to its end")
