"""The one row that says what of a namespace is valid: its builds, their counts, their spaces."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, Literal

from attrs import evolve, field, frozen

from commonplace.plugin import Build


@frozen
class Counts:
    """Documents and chunks of one source, and tokens in all their columns."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.documents + other.documents,
            self.chunks + other.chunks,
            self.tokens + other.tokens,
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
    """``revision`` goes up with every commit of the namespace; two that saw the same one clash."""

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

    def next(self) -> Head:
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
        return Head(self.revision + 1, builds, spaces)

    def dumped(self) -> str:
        """As text, without the revision, which has a column of its own."""
        return json.dumps(
            {
                "builds": [
                    {
                        "id": one.id,
                        "identity": one.identity,
                        "state": one.state,
                        "covered": one.covered,
                        "sources": {
                            name: [counts.documents, counts.chunks, counts.tokens]
                            for name, counts in one.sources.items()
                        },
                    }
                    for one in self.builds
                ],
                "spaces": {
                    name: [space.column, space.dims, space.epoch]
                    for name, space in self.spaces.items()
                },
            }
        )

    @classmethod
    def loaded(cls, revision: int, text: str) -> Head:
        """The inverse of :meth:`dumped`."""
        raw: dict[str, Any] = json.loads(text)
        builds = tuple(
            BuildState(
                id=one["id"],
                identity=one["identity"],
                state=one["state"],
                covered=one["covered"],
                sources={name: Counts(*counts) for name, counts in one["sources"].items()},
            )
            for one in raw["builds"]
        )
        return cls(revision, builds, {name: Space(*space) for name, space in raw["spaces"].items()})


def head_id(namespace: str) -> int:
    """The id of a namespace's row; the same on every machine."""
    digest = blake2b(namespace.encode(), digest_size=8, person=b"commonplace").digest()
    # Above all ids that are drawn: those have 61 bits.
    return int.from_bytes(digest, "big") >> 2 | 1 << 61
