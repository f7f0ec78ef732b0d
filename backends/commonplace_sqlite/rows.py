"""What a build holds: its documents, chunks by their ids, and how many chunks hold a token."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from commonplace.plugin import Found, IndexCorruptError, Lookup, StoredChunk, StoredDocument
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import apsw

    from commonplace_sqlite.schema import LiveBuild


_DOCUMENTS = """
SELECT plain, source, path, digest, stamp, fingerprint, resume
FROM document_<n>
"""

_ONE = f"{_DOCUMENTS}WHERE source = ? AND path = ?"
_TOTAL = "SELECT count(*) FROM document_<n>"
_STAMPS = "SELECT path, stamp FROM document_<n> WHERE source = ? AND fingerprint = ?"

_CHUNKS = """
SELECT c.id, d.source, d.path, c.start_line, c.end_line, t.text, c.heading, d.day, d.trust, t.body
FROM chunk_<n> AS c JOIN document_<n> AS d ON d.id = c.document
JOIN text_<n> AS t ON t.id = <text_id>
WHERE c.id IN (SELECT value FROM json_each(?))
"""


def documents(connection: apsw.Connection, build: int) -> list[StoredDocument]:
    """All documents of a build, in no order."""
    rows: Any = connection.execute(of_build(_DOCUMENTS, build)).fetchall()
    # This is what a sync that finds nothing new consists of: one plain loop, no call per value.
    return [
        StoredDocument(source, path, digest, stamp, fingerprint, resume)
        if plain
        else _restored(source, path, digest, stamp, fingerprint, resume)
        for plain, source, path, digest, stamp, fingerprint, resume in rows
    ]


def holds(
    connection: apsw.Connection, build: int, documents: Mapping[tuple[str, str], Mapping[str, str]]
) -> bool:
    """Whether a build holds these documents and no others; not for paths stored as bytes."""
    if connection.execute(of_build(_TOTAL, build)).get != sum(map(len, documents.values())):
        return False
    for (source, fingerprint), stamps in documents.items():
        values = text_in(source), text_in(fingerprint)
        stored: Any = connection.execute(of_build(_STAMPS, build), values).fetchall()
        if dict(stored) != stamps:
            return False
    return True


def lookup(connection: apsw.Connection, build: int, keys: Collection[tuple[str, str]]) -> Lookup:
    """The documents of these sources and paths, and the number of all."""
    wanted, found = of_build(_ONE, build), list[StoredDocument]()
    for source, path in keys:
        for _, *values in connection.execute(wanted, (text_in(source), text_in(path))):
            found.append(_restored(*values))
    total: Any = connection.execute(of_build(_TOTAL, build)).get
    return Lookup(tuple(found), total)


_MOST_CHARACTERS, _MOST_TOKENS = 4_000_000, 20_000
"""Bounds of what is known of a state: some 10 MB when full."""


class Known:
    """What searches have read of one state of the index, and need not read again.

    The last ``chunks``, by id; how many chunks hold a token: ``holders``; and what ``common_<n>``
    says of one, -1 for nothing. Any commit, of whatever process, begins another state.
    """

    def __init__(self, connection: apsw.Connection, commits: int) -> None:
        self.connection, self.commits = connection, commits
        self.holders: dict[str, int] = {}
        self.common: dict[str, int] = {}
        self._chunks: dict[Any, StoredChunk] = {}
        self._characters = 0

    def chunks(self, ids: Iterable[int]) -> dict[Any, StoredChunk]:
        """Those of ``ids`` that are known; the others will be forgotten before them."""
        found = {id_: chunk for id_ in ids if (chunk := self._chunks.pop(id_, None)) is not None}
        self._chunks.update(found)
        return found

    def keep(self, chunks: Mapping[Any, StoredChunk]) -> None:
        """Remember ``chunks``, which are not known yet."""
        self._chunks.update(chunks)
        self._characters += sum(map(_size, chunks.values()))
        while self._characters > _MOST_CHARACTERS:
            self._characters -= _size(self._chunks.pop(next(iter(self._chunks))))

    def bound_tokens(self) -> None:
        """Forget all counts of tokens where they are too many."""
        if len(self.holders) + len(self.common) > _MOST_TOKENS:
            self.holders, self.common = {}, {}


def _size(chunk: StoredChunk) -> int:
    return len(chunk.text) + len(chunk.body)


def found(
    connection: apsw.Connection,
    build: int,
    ranked: Sequence[tuple[int, float]],
    known: Known | None = None,
) -> tuple[Found, ...]:
    """The chunks of ``ranked``, pairs of chunk id and score, in that order.

    To be called in the transaction that ranked them; what is ``known`` is of its state. Raises
    :class:`~commonplace.errors.IndexCorruptError` if a chunk lacks its row, its text or its
    document, for an answer without it would be taken for a whole one.
    """
    ids = [id_ for id_, _ in ranked]
    chunks = {} if known is None else known.chunks(ids)
    if left := [id_ for id_ in ids if id_ not in chunks]:
        read = _read(connection, build, left)
        chunks |= read
        if known is not None:
            known.keep(read)
        if any(id_ not in read for id_ in left):
            raise IndexCorruptError(
                "the index is damaged: its keyword index or vectors name chunks that it does not "
                "hold",
                hint="run `commonplace index`: it rebuilds the index",
            )
    return tuple([Found(chunks[id_], score) for id_, score in ranked])


def _read(connection: apsw.Connection, build: int, ids: Iterable[int]) -> dict[Any, StoredChunk]:
    found: Any = connection.execute(of_build(_CHUNKS, build), (ids_in(ids),))
    chunks: dict[Any, StoredChunk] = {}
    for id_, source, path, start, end, raw, heading, day, trust, body in found:
        text = text_out(raw)
        chunks[id_] = StoredChunk(
            id_,
            text_out(source),
            text_out(path),
            start,
            end,
            text,
            heading_out(heading),
            day,
            trust,
            unpacked(body, text),
        )
    return chunks


_HOLDERS = "SELECT count(*) FROM fts_<n> WHERE fts_<n> MATCH ?"


def holders_of(
    connection: apsw.Connection,
    live: LiveBuild,
    tokens: Iterable[str],
    known: Known | None = None,
) -> dict[str, int]:
    """How many chunks hold each of ``tokens``, of common ones at least how many."""
    stored = {token: indexable(token) for token in tokens if token}
    counts = {} if known is None else known.holders
    if left := [*dict.fromkeys(token for token in stored.values() if token not in counts)]:
        common = common_terms(connection, live, left, known) if live.counted else {}
        sql = of_build(_HOLDERS, live.id)
        for token in left:
            counts[token] = common.get(token) or connection.execute(sql, (phrase((token,)),)).get
    return {token: counts[as_stored] for token, as_stored in stored.items()}


_LOOK_UP = "SELECT term, documents FROM common_<n> WHERE term IN (<tokens>)"


def common_terms(
    connection: apsw.Connection,
    live: LiveBuild,
    tokens: Iterable[str],
    known: Known | None = None,
) -> dict[str, int]:
    """Those of ``tokens`` that are common, each with the least number of chunks that contain it."""
    counts = {} if known is None else known.common
    distinct = set(tokens)
    if left := sorted(distinct.difference(counts)):
        sql = of_build(_LOOK_UP, live.id).replace("<tokens>", ",".join("?" * len(left)))
        rows: Any = connection.execute(sql, left)
        counts |= dict.fromkeys(left, -1) | dict(rows)
    return {token: max(0, counts[token] - live.removed) for token in distinct if counts[token] >= 0}


def phrase(tokens: Sequence[str]) -> str:
    """``tokens`` side by side, as an FTS5 expression in which nothing of them is syntax."""
    return '"' + " ".join(tokens).replace('"', '""') + '"'


def _restored(
    source: Any, path: Any, digest: Any, stamp: Any, fingerprint: Any, resume: Any
) -> StoredDocument:
    return StoredDocument(
        text_out(source),
        text_out(path),
        text_out(digest),
        text_out(stamp),
        text_out(fingerprint),
        text_out(resume),
    )


_SEPARATOR = "\x1f"
_ESCAPE = "\x1e"

_SPACES = bytes(
    byte if byte >= 128 or byte == ord("_") or chr(byte).isalnum() else ord(" ")
    for byte in bytes(range(256)).lower()
)
"""ASCII letters become small ones, and what is neither letter nor digit a space."""
_BESIDE_WORDS = b"!\"#'()*,:;<>?[]`{|}~"
"""Mostly beside a space: left out, so that one space is left between two words, as in tokens."""


def text_in(text: str) -> str | bytes:
    """``text``, or its bytes where it has lone surrogates, which are no valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def text_out(value: str | bytes) -> str:
    """The inverse of :func:`text_in`."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def ids_in(ids: Iterable[int]) -> str:
    """``ids`` as JSON, for ``IN (SELECT value FROM json_each(?))``.

    So a list of any length is one value of a statement that is compiled once.
    """
    return f"[{','.join(map(str, ids))}]"


def digest_in(digest: str) -> str | bytes:
    """Half the size for digests in hexadecimal; anything else as it is."""
    try:
        raw = bytes.fromhex(digest)
    except ValueError:
        return digest
    return raw if raw.hex() == digest else digest


def digest_out(value: str | bytes) -> str:
    """The inverse of :func:`digest_in`."""
    return value if isinstance(value, str) else value.hex()


def heading_in(heading: tuple[str, ...]) -> str | bytes:
    """The headings in one text, each ended by U+001F."""
    parts = (
        part.replace(_ESCAPE, f"{_ESCAPE}e").replace(_SEPARATOR, f"{_ESCAPE}s") for part in heading
    )
    return text_in("".join(f"{part}{_SEPARATOR}" for part in parts))


def heading_out(value: str | bytes) -> tuple[str, ...]:
    """The inverse of :func:`heading_in`."""
    if not value:
        return ()
    text = text_out(value)
    parts = text.split(_SEPARATOR)[:-1]
    if _ESCAPE in text:
        parts = [
            part.replace(f"{_ESCAPE}s", _SEPARATOR).replace(f"{_ESCAPE}e", _ESCAPE)
            for part in parts
        ]
    return tuple(parts)


def tags_in(tags: Iterable[str]) -> str | bytes:
    """The tags in one text, with a line feed before and after each; ``""`` if there are none."""
    return text_in("".join(["\n", *(f"{tag}\n" for tag in tags)])) if tags else ""


def packed(tokens: str, text: str) -> bytes:
    """``tokens`` compressed, with the words of ``text`` as the dictionary."""
    if not tokens:
        return b""
    # Raw: the checksum of the page is enough.
    compressor = zlib.compressobj(9, wbits=_RAW, zdict=_words(text))
    return compressor.compress(_bytes(tokens)) + compressor.flush()


def unpacked(value: bytes, text: str) -> str:
    """The inverse of :func:`packed`."""
    if not value:
        return ""
    decompressor = zlib.decompressobj(_RAW, zdict=_words(text))
    tokens = decompressor.decompress(value)
    if not decompressor.eof:
        raise zlib.error("tokens that were cut short")
    return tokens.decode("utf-8", "surrogatepass")


_RAW = -zlib.MAX_WBITS


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _words(text: str) -> bytes:
    # By ASCII alone: what counts as a letter changes with Python's version, and this must not.
    # In one call, as this is done for every candidate: to replace double spaces took twice as long.
    return _bytes(text).translate(_SPACES, _BESIDE_WORDS)


def indexable(tokens: str) -> str:
    """``tokens`` as FTS5 can take them: NUL would end the text, lone surrogates have no bytes.

    Queries go through here too, so that such a token still finds itself.
    """
    if "\0" in tokens:
        tokens = tokens.replace("\0", "\ufffd")
    try:
        tokens.encode()
    except UnicodeEncodeError:
        return tokens.encode("utf-8", "replace").decode()
    return tokens
