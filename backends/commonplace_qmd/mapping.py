"""From QMD's rows to pieces of files that are there and may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import (
    PathNotAllowedError,
    StoredChunk,
    day_of,
    decode,
    glob_regex,
    is_storable,
    read_bytes,
)
from commonplace_qmd.passages import best_passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.plugin import Analyser, KeywordQuery, Where
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Row

__all__ = ["by_turns", "chunks_of", "is_path_below", "within"]


def chunks_of(
    rows: Iterable[Row],
    collections: Sequence[Collection],
    *,
    query: KeywordQuery,
    analyser: Analyser,
    where: Where,
    size: int,
    most: int,
) -> Iterator[StoredChunk]:
    """The best passage of each row's file, in the rows' order, each file once.

    Of each source no more than ``most``; a passage has up to ``size`` characters.

    Left out are files that are gone, that lead out of their folder, whose collection is none of
    ``collections``, that ``where`` does not want, and that have no passage the query allows.
    """
    known = {collection.name: (collection, collection.wanted()) for collection in collections}
    passes = _filter(where)
    seen: set[str] = set()
    left = dict.fromkeys((collection.source for collection in collections), most)
    for row in rows:
        collection, wanted = known.get(row.collection, (None, None))
        if collection is None or wanted is None or not left[collection.source]:
            continue
        path = collection.stored(row.path)
        day = day_of(path)
        iso = day.isoformat() if day else None
        if path in seen or not passes(collection.source, path, iso):
            continue
        seen.add(path)
        if not (is_path_below(row.path) and wanted(row.path)):
            continue
        text = _text(collection, row.path)
        passage = best_passage(text, query, analyser, size=size, line=row.line)
        if not text.strip() or passage is None:
            continue
        left[collection.source] -= 1
        yield StoredChunk(
            id=f"{collection.source}:{path}:{passage.start_line}",
            source=collection.source,
            path=path,
            start_line=passage.start_line,
            end_line=passage.end_line,
            text=passage.text,
            heading=passage.heading,
            day=iso,
            trust=collection.trust,
        )


def is_path_below(path: str) -> bool:
    """Whether ``path`` names something below a folder whatever that holds: no ``..`` and such."""
    parts = path.split("/")
    plain = "\0" not in path and is_storable(path)
    return plain and not any(part in ("", ".", "..") for part in parts)


def by_turns(chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """The same, one of each source by turns: conversations must not crowd out the notes."""
    lists: dict[str, list[StoredChunk]] = {}
    for chunk in chunks:
        lists.setdefault(chunk.source, []).append(chunk)
    turns = max((len(of_source) for of_source in lists.values()), default=0)
    return [
        of_source[turn]
        for turn in range(turns)
        for of_source in lists.values()
        if turn < len(of_source)
    ]


def within(chunks: Iterable[StoredChunk], characters: int) -> list[StoredChunk]:
    """As many as have ``characters`` together; the last one is cut where it exceeds them."""
    kept = []
    for chunk in chunks:
        if characters <= 0:
            break
        kept.append(chunk._replace(text=chunk.text[:characters]))
        characters -= len(chunk.text)
    return kept


def _text(collection: Collection, path: str) -> str:
    """The file's text; empty where it is not there, is no file, or a link is in the way."""
    try:
        data, _ = read_bytes(collection.root, path)
    except (OSError, PathNotAllowedError):
        return ""
    return decode(data)


def _filter(where: Where) -> Callable[[str, str, str | None], bool]:
    """Whether a document of a source, path and ISO date passes ``where``."""
    if not (where.sources is not None or where.paths or where.after or where.before):
        return lambda _source, _path, _day: True
    import re

    globs = [re.compile(glob_regex(pattern)) for pattern in where.paths]

    def passes(source: str, path: str, day: str | None) -> bool:
        if where.sources is not None and source not in where.sources:
            return False
        if globs and not any(glob.fullmatch(path) for glob in globs):
            return False
        if not (where.after or where.before):
            return True
        return day is not None and (where.after or "") <= day <= (where.before or "9999-99-99")

    return passes
