"""What is in the table: its columns, and the one row that says what of a namespace is valid."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from attrs import asdict, astuple, evolve, field, frozen

from commonplace.plugin import Build

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa


_KEY = "lance-schema:unenforced-primary-key"

ID_BITS = 61
"""Of the ids that are drawn for documents and chunks: enough never to draw one twice."""

EVERY = 2**31 - 1
"""A limit that cuts nothing off."""

BITMAPS = ("namespace", "build", "kind", "source")
BTREES = ("path", "id", "doc", "digest")
"""What filters ask for, by how it is indexed once a table is large enough to need it."""


def schema() -> pa.Schema:
    """The columns that every table has; those of vectors are added when a space is first used.

    ``kind`` is ``head`` (see :class:`Head`), ``doc``, ``chunk``, or ``dead`` for what has been
    replaced and waits to be deleted. ``doc`` is the id of the document's own row.
    """
    import pyarrow as pa

    texts = "namespace", "kind", "source", "path", "day", "trust", "text", "terms"
    about = "digest", "fingerprint", "stamp", "state"
    wholes = "build", "doc", "position", "start_line", "end_line", "tokens", "chunks", "revision"
    return pa.schema(
        [
            # Marked as key, two that insert the same row at a time clash: Lance else keeps both.
            pa.field("id", pa.int64(), nullable=False, metadata={_KEY: "true"}),
            *(pa.field(name, pa.list_(pa.string())) for name in ("heading", "tags")),
            *(pa.field(name, pa.string()) for name in (*texts, *about)),
            *(pa.field(name, pa.int64()) for name in wholes),
        ]
    )


def column_of(space: str, dims: int) -> str:
    """The name that the columns of a space have in common; all namespaces share them."""
    name = f"{dims} {space}".encode("utf-8", "surrogatepass")
    return blake2b(name, digest_size=8).hexdigest()


def vector_column(column: str) -> str:
    """Where the vectors are."""
    return f"v_{column}"


def epoch_column(column: str) -> str:
    """Where the marks are that say which of the vectors count."""
    return f"e_{column}"


def is_vector_column(name: str) -> bool:
    """Whether a column of the table is one of vectors."""
    return name.startswith("v_")


def vector_fields(column: str, dims: int) -> list[Any]:
    """Both columns of a space."""
    import pyarrow as pa

    return [
        pa.field(vector_column(column), pa.list_(pa.float32(), dims)),
        pa.field(epoch_column(column), pa.int64()),
    ]


_ESCAPE = "\ufdd0"
"""A code point that is no character, so that it stands in no text on purpose."""

_STRANGE = re.compile(f"[\0{_ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_ESCAPE}(.)", re.DOTALL)
_COLUMNS = " \0 "


def text_in(text: str) -> str:
    """``text`` without NUL and lone surrogates, which cannot be in UTF-8 or in a filter."""
    return _STRANGE.sub(_escaped, text) if _STRANGE.search(text) else text


def text_out(text: str) -> str:
    """The inverse of :func:`text_in`."""
    return _ESCAPED.sub(_unescaped, text) if _ESCAPE in text else text


def _escaped(match: re.Match[str]) -> str:
    # Surrogates, NUL and the mark itself become private characters behind the mark.
    code = ord(match[0])
    shifted = {0: 0xE800, 0xFDD0: 0xE801}.get(code, code - 0xD800 + 0xE000)
    return _ESCAPE + chr(shifted)


def _unescaped(match: re.Match[str]) -> str:
    code = ord(match[1])
    return chr({0xE800: 0, 0xE801: 0xFDD0}.get(code, code - 0xE000 + 0xD800))


def terms_in(body: str, head: str, extra: str) -> str:
    """The three columns of terms as one text, which a phrase cannot cross.

    NUL stands between them as a token of its own; none of theirs can be one.
    """
    return _COLUMNS.join((text_in(body), text_in(head), text_in(extra)))


def terms_out(terms: str) -> tuple[str, str, str]:
    """Body, head and extra as tokens of the index: see :func:`text_out` for their own text."""
    body, head, extra = terms.split(_COLUMNS)
    return body, head, extra


def heading_in(heading: tuple[str, ...]) -> list[str]:
    """Headings as a list that Arrow can hold."""
    return [text_in(part) for part in heading]


def heading_out(parts: Iterable[str] | None) -> tuple[str, ...]:
    """The inverse of :func:`heading_in`."""
    return tuple(text_out(part) for part in parts or ())


def last_column(terms: str) -> str:
    """The column extra, as tokens of the index."""
    return terms.rpartition(_COLUMNS)[2]


def literal(text: str) -> str:
    """``text`` as a string of a filter."""
    return "'" + text_in(text).replace("'", "''") + "'"


def literals(values: Iterable[str | int]) -> str:
    """Values for ``IN (...)``."""
    return ", ".join(str(v) if isinstance(v, int) else literal(v) for v in values)


@frozen
class Counts:
    """Documents and chunks of one source, and tokens in all their columns."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.documents + other.documents, self.chunks + other.chunks, self.tokens + other.tokens
        )

    def __neg__(self) -> Counts:
        return Counts(-self.documents, -self.chunks, -self.tokens)


@frozen
class Space:
    """Where the vectors of a space are: column ``v_<column>``, in rows whose mark is ``epoch``.

    What has another mark was put before the space was last dropped, and counts for nothing.
    """

    column: str
    dims: int
    epoch: int


@frozen
class BuildState:
    """A build, what it holds by source, and how many chunks have a vector by space."""

    id: int
    identity: str
    state: Literal["live", "filling"]
    sources: dict[str, Counts] = field(factory=dict)
    covered: dict[str, int] = field(factory=dict)

    @property
    def build(self) -> Build:
        """As the host knows it."""
        return Build(self.id, self.identity, self.state)

    @property
    def total(self) -> Counts:
        """Of all sources together."""
        return sum(self.sources.values(), Counts())

    def counting(self, source: str, change: Counts) -> BuildState:
        """The same with ``change`` added to what ``source`` has."""
        after = self.sources.get(source, Counts()) + change
        sources = {**self.sources, source: after}
        if not after.documents:
            del sources[source]
        return evolve(self, sources=sources)

    def covering(self, space: str, change: int) -> BuildState:
        """The same with ``change`` more chunks that have a vector in ``space``."""
        return evolve(self, covered={**self.covered, space: self.covered.get(space, 0) + change})


@frozen
class Head:
    """``revision`` goes up with every commit of the namespace; two that saw the same one clash.

    By how much is drawn at random, so that no other history of the table comes by the same.
    """

    revision: int = 0
    builds: tuple[BuildState, ...] = ()
    spaces: dict[str, Space] = field(factory=dict)

    @property
    def live(self) -> BuildState | None:
        """The build that is searched."""
        return next((build for build in self.builds if build.state == "live"), None)

    def find(self, build: Build) -> BuildState | None:
        """What is known of ``build``, if it is still there."""
        return next((one for one in self.builds if one.build[:2] == build[:2]), None)

    def with_build(self, changed: BuildState) -> Head:
        """The same with ``changed`` in place of the build with its id."""
        builds = tuple(changed if one.id == changed.id else one for one in self.builds)
        return evolve(self, builds=builds)

    def without(self, id_: int) -> Head:
        """The same but for a build."""
        return evolve(self, builds=tuple(one for one in self.builds if one.id != id_))

    def without_space(self, name: str) -> Head:
        """The same with nothing that counts in a space."""
        builds = tuple(
            evolve(one, covered={n: c for n, c in one.covered.items() if n != name})
            for one in self.builds
        )
        return evolve(self, builds=builds)

    def next(self, step: int = 1) -> Head:
        """What is written after a change to this: spaces that hold nothing any more are gone."""
        spaces = {
            name: space
            for name, space in self.spaces.items()
            if any(build.covered.get(name) for build in self.builds)
        }
        builds = tuple(
            evolve(one, covered={n: c for n, c in one.covered.items() if c and n in spaces})
            for one in self.builds
        )
        return Head(self.revision + step, builds, spaces)

    def dumped(self) -> str:
        """As text, without the revision, which has a column of its own."""
        builds = [
            {
                **asdict(one, recurse=False),
                "sources": {name: astuple(counts) for name, counts in one.sources.items()},
            }
            for one in self.builds
        ]
        spaces = {name: astuple(space) for name, space in self.spaces.items()}
        return json.dumps({"builds": builds, "spaces": spaces})

    @classmethod
    def loaded(cls, revision: int, text: str) -> Head:
        """The inverse of :meth:`dumped`."""
        raw: dict[str, Any] = json.loads(text)
        builds = tuple(
            BuildState(**{**one, "sources": {n: Counts(*c) for n, c in one["sources"].items()}})
            for one in raw["builds"]
        )
        return cls(revision, builds, {name: Space(*space) for name, space in raw["spaces"].items()})


def head_id(namespace: str) -> int:
    """The id of a namespace's row; the same on every machine."""
    digest = blake2b(namespace.encode(), digest_size=8, person=b"commonplace").digest()
    # Above all ids that are drawn: those have 61 bits.
    return int.from_bytes(digest, "big") >> 2 | 1 << 61
