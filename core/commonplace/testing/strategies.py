"""Hypothesis strategies for documents and queries, and a naive store to compare with."""

from __future__ import annotations

import re
import unicodedata
from itertools import count
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, get_args

from attrs import evolve
from hypothesis import strategies as st

from commonplace.embedding.vectors import floats
from commonplace.files.globs import glob_regex
from commonplace.model.chunks import (
    AnalysedChunk,
    AppendDocument,
    DeleteDocument,
    PutDocument,
    Terms,
    TouchDocument,
)
from commonplace.model.documents import StoredDocument, Trust
from commonplace.model.search import KeywordQuery, Where, newest_first
from commonplace.testing.base import (
    DIMS,
    EVERYWHERE,
    make_append,
    make_chunk,
    make_put,
    make_vector,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Stamp
    from commonplace.model.search import Phrase
    from commonplace.testing.base import Batch, Corpus, Place


WORDS = ("ant", "bee", "cat", "dog")
"""Few, so that they meet often."""

TESTED_SOURCES = ("memory", "sessions", "o'brien's")

PATHS = (
    "MEMORY.md",
    *("memory/2026-01-31.md", "memory/a.md", "memory/deep/er/a.md", "memory.md", "memory2/a.md"),
)

TAGS = ("zoo", "zoo/africa", "zookeeper", "o'brien's", 'a"b', "a\\b", "100%", "z_o", "日本", "👩‍🚀")
"""Tags, some of them a part of others; no white space is in any."""

HOSTILE_PATHS = (
    *("memory/it's.md", 'memory/"quoted".md', "memory/line\nbreak.md", "memory/[abc]?*.md"),
    *("memory/100%_done.md", "memory/100%-done.md", "memory/100 - _done.md"),
    *("memory/back\\slash.md", "memory/caf\u00e9.md", "memory/cafe\u0301.md", "memory/Case.md"),
    *("memory/case.md", "memory/ trailing .md", "memory/\U0001f41c/\u8766\u87fb.md"),
    *("memory/\u0645\u0644\u0641.md", "memory/; DROP TABLE documents; --.md", "../up.md"),
    *("memory//a.md", "memory/a.md/"),
)
"""Each the name of another document, however alike they look."""

LOOSE_GLOBS = (
    *("memory", "memory/", "MEMORY.MD", "memory.m", "memory?a.md", "memory/a?.md", "memory/?.md"),
    *("*", "**", "?emory/**", "**/a.md", "memory/**/a.md", "memory/*/a.md"),
)
"""Globs that a careless store takes for more or for less."""

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
    *("", " ", "null", "1", "1.0", "[]"),
    " leading and trailing \t",
    "\n\nblank lines around\n\n",
    *("line ends\r\nof\nthree\rkinds\r\n", "nul \0 in the middle"),
    "no line ends\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029 but for some",
    "caf\u00e9 and cafe\u0301, \u00c5 and \u212b, \ufb01",
    "\ufeffmark of byte order",
    "\u05e9\u05dc\u05d5\u05dd \u202eoverride\u202c",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0010fffd \ufffe",
    "a > b / c | d :: e, [\"f\", 'g'] \\ \\n %s {h} <i>&amp;</i>",
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


def on_lines(pieces: Iterable[AnalysedChunk], *, first: int, step: int = 1) -> list[AnalysedChunk]:
    """Chunks of a line each on the lines from ``first`` on, ``step`` lines apart."""
    return [
        piece._replace(chunk=piece.chunk._replace(start_line=line, end_line=line))
        for line, piece in zip(count(first, step), pieces, strict=False)
    ]


def stamps() -> SearchStrategy[Stamp]:
    """Of files, whatever ``stat`` may say (times before 1970), and any words of other sources."""
    times = st.integers(-(2**62), 2**63 - 1)
    numbers = st.tuples(st.integers(0, 2**62), times, times, st.integers(0, 2**64 - 1))
    return numbers.map(lambda four: " ".join(map(str, four))) | texts().filter(bool)


def texts() -> SearchStrategy[str]:
    """Texts as they stand in files, often of characters that a store is likely to normalise."""
    return st.text() | st.text("\r\n\t \v\f\x1c\x1f\x85\u2028\0a>/", max_size=8)


def puts(vocabulary: Sequence[str] = WORDS) -> SearchStrategy[PutDocument]:
    """Documents of up to three chunks, which begin on lines 1, 11 and 21."""
    pieces = st.lists(chunks(vocabulary), max_size=3)

    def make(
        path: str,
        pieces: list[AnalysedChunk],
        source: str,
        day: str | None,
        trust: Trust,
        tags: Any,
    ) -> PutDocument:
        placed = on_lines(pieces, first=1, step=10)
        return make_put(path, *placed, source=source, day=day, trust=trust, tags=tags)

    return st.builds(
        make,
        path=st.sampled_from(PATHS),
        pieces=pieces,
        source=st.sampled_from(TESTED_SOURCES),
        day=_days(),
        trust=st.sampled_from(get_args(Trust)),
        tags=st.sampled_from(((), ("zoo/africa",), ("zoo",), ("zookeeper", "zoo"))),
    )


def corpora(
    vocabulary: Sequence[str] = WORDS, *, min_size: int = 0, max_size: int = 8
) -> SearchStrategy[Corpus]:
    """Documents, no two of the same source and path."""
    return st.lists(
        puts(vocabulary),
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
        appends.append(
            make_append(
                put.path,
                *on_lines(pieces, first=100 * number),
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
    source, path = st.sampled_from(TESTED_SOURCES), st.sampled_from(PATHS)
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
    should = st.lists(st.sampled_from(vocabulary), min_size=1, max_size=4).map(tuple)
    parts = st.tuples(should | st.just(()), st.just(()) | some, st.just(()) | some)
    return parts.map(lambda drawn: KeywordQuery(*drawn))


def wheres() -> SearchStrategy[Where]:
    """Filters, of which some let nothing pass."""
    patterns = (*PATHS, "memory", "memory/*", "memory/**", "*.md", "**/a.md", "memory/*/a.md", "no")
    globs = st.just(()) | st.lists(st.sampled_from(patterns), max_size=2).map(tuple)
    tags = st.sampled_from((("zoo",), ("zoo", "zookeeper")))
    tagged = st.tuples(tags, st.sampled_from(((), ("zookeeper",)))).map(
        lambda both: Where(tags=both[0], not_tags=both[1])
    )
    others = st.builds(
        Where,
        sources=st.none() | st.frozensets(st.sampled_from(TESTED_SOURCES)),
        paths=globs,
        after=st.none() | _days(),
        before=st.none() | _days(),
        not_paths=globs,
        not_sources=st.just(frozenset()) | st.frozensets(st.sampled_from(TESTED_SOURCES)),
        tags=st.just(()),
    )
    return st.just(Where()) | tagged | others


def _days() -> SearchStrategy[str | None]:
    return st.sampled_from((None, "2025-12-31", "2026-01-30", "2026-01-31", "2026-02-01"))


_SOME_DAYS = (None, "2026-01-31", "2025-12-31", "2026-02-01")


def dated_puts(keys: Sequence[tuple[str, str]]) -> list[PutDocument]:
    """A document of ``ant``, ``bee``, ``ant`` for each (source, path); a quarter are undated."""
    return [
        make_put(path, "ant", "bee", "ant", source=source, day=_day_of(source, path))
        for source, path in keys
    ]


def dated_order(keys: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """``keys`` as equal scores of :func:`dated_puts` stand: newest first, undated last."""
    return sorted(keys, key=lambda key: (newest_first(_day_of(*key)), *key))


def _day_of(source: str, path: str) -> str | None:
    return _SOME_DAYS[sum(map(ord, source + path)) % len(_SOME_DAYS)]


TOLERANCE = 1e-5
"""How far a score may be from the cosine: a little more than float32 can be wrong by."""


def unit_vectors() -> SearchStrategy[bytes]:
    """Vectors of :data:`DIMS` dimensions, often equal, at right angles or opposite."""
    few = st.tuples(*[st.integers(-2, 2)] * DIMS)
    many = st.tuples(*[st.floats(-1, 1, width=32)] * DIMS)
    return (few | many).filter(lambda one: max(map(abs, one)) > 1e-3).map(lambda v: make_vector(*v))


def nearest_places(
    documents: Iterable[PutDocument], vectors: Mapping[str, bytes], query: bytes, where: Where
) -> dict[Place, float]:
    """Each chunk that passes and has a vector, with its cosine; in the order of equal ones."""
    return {
        (put.source, put.path, chunk.chunk.start_line): _cosine(query, vectors[chunk.digest])
        for put in sorted(documents, key=lambda put: (newest_first(put.day), put.source, put.path))
        if passes(put, where)
        for chunk in put.chunks
        if chunk.digest in vectors
    }


def _cosine(one: bytes, other: bytes) -> float:
    a, b = floats(one), floats(other)
    lengths = sqrt(fsum(x * x for x in a) * fsum(y * y for y in b))
    return fsum(x * y for x, y in zip(a, b, strict=True)) / lengths


Documents = dict[tuple[str, str], PutDocument]
"""Documents by (source, path), each with the stamp it was last touched with."""


def applied(documents: Documents, changes: Iterable[Change]) -> Documents:
    """``documents`` after ``changes``, one after the other."""
    after = dict(documents)
    for change in changes:
        key = change.source, change.path
        if isinstance(change, PutDocument):
            after[key] = change
        elif isinstance(change, DeleteDocument):
            after.pop(key, None)
        elif isinstance(change, AppendDocument):
            after[key] = evolve(
                after[key],
                digest=change.digest,
                stamp=change.stamp,
                day=change.day,
                chunks=after[key].chunks[: change.keep] + change.chunks,
                resume=change.resume,
            )
        elif key in after:
            after[key] = evolve(after[key], stamp=change.stamp)
    return after


def stored(documents: Documents) -> dict[tuple[str, str], StoredDocument]:
    """What ``Store.documents`` should say, by (source, path)."""
    return {
        key: StoredDocument(
            put.source, put.path, put.digest, put.stamp, put.fingerprint, put.resume
        )
        for key, put in documents.items()
    }


def matching(documents: Documents, query: KeywordQuery, where: Where) -> set[Place]:
    """Where the chunks stand that a search should find."""
    return {
        (put.source, put.path, chunk.chunk.start_line)
        for put in documents.values()
        if passes(put, where)
        for chunk in put.chunks
        if any(holds(chunk.terms, (token,)) for token in query.should)
        and all(holds(chunk.terms, phrase) for phrase in query.must)
        and not any(holds(chunk.terms, phrase) for phrase in query.must_not)
    }


def expected_at(corpus: Corpus, query: KeywordQuery, where: Where = EVERYWHERE) -> list[Place]:
    """:func:`matching` of documents that are there once, in order."""
    return sorted(matching({(put.source, put.path): put for put in corpus}, query, where))


def holds(terms: Terms, phrase: Phrase) -> bool:
    """Whether one of the columns has the tokens of ``phrase`` side by side."""
    needle = f" {' '.join(phrase)} "
    return any(needle in f" {column} " for column in (terms.body, terms.head, terms.extra))


def passes(put: PutDocument, where: Where) -> bool:
    """Whether a document passes every filter that is set."""

    def lies_in(patterns: Iterable[str]) -> bool:
        return any(re.fullmatch(glob_regex(pattern), put.path) for pattern in patterns)

    dated = put.day is not None or not (where.after or where.before)
    return (
        dated
        and (where.sources is None or put.source in where.sources)
        and put.source not in where.not_sources
        and (not where.paths or lies_in(where.paths))
        and not lies_in(where.not_paths)
        and set(where.tags) <= set(put.tags)
        and not set(where.not_tags) & set(put.tags)
        and (where.after or "") <= (put.day or "") <= (where.before or "9999-12-31")
    )
