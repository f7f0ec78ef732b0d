"""What the store holds, as the log of its changes tells it: a value that is never changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import evolve, field, frozen

from commonplace.plugin import Build, StoredDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commonplace.plugin import Stamp


Key = tuple[str, str]


class Space(NamedTuple):
    """A space of vectors: the number of its collection, and its dimensions."""

    number: int
    dims: int


@frozen
class Commit:
    """One state of the store as a whole; everything that is numbered above ``seq`` is not in it."""

    seq: int = 0
    builds: tuple[Build, ...] = ()
    spaces: Mapping[str, Space] = field(factory=dict)

    def record(self) -> str:
        """As text, for the log."""
        return json.dumps({"builds": self.builds, "spaces": self.spaces})

    @classmethod
    def of(cls, seq: int, record: str) -> Commit:
        """The commit of that record."""
        said: dict[str, Any] = json.loads(record)
        return cls(
            seq,
            tuple(Build(*build) for build in said["builds"]),
            {name: Space(*space) for name, space in said["spaces"].items()},
        )


@frozen
class Entry:
    """A document from ``seq`` on; its chunks are those of ``version``, 0 if it is deleted.

    ``chunks`` counts them, ``tokens`` the tokens in all of them.
    """

    seq: int
    build: int
    version: int
    source: str
    path: str
    digest: str = ""
    stamp: Stamp = ""
    fingerprint: str = ""
    day: str | None = None
    trust: str = "memory"
    chunks: int = 0
    tokens: int = 0
    tags: tuple[str, ...] = ()

    @property
    def stored(self) -> StoredDocument:
        """The document as ``Store.documents`` gives it."""
        return StoredDocument(self.source, self.path, self.digest, self.stamp, self.fingerprint)

    @property
    def size(self) -> int:
        """How many chunks it has."""
        return self.chunks

    @property
    def key(self) -> Key:
        """What names the document."""
        return self.source, self.path

    def record(self) -> str:
        """All but the numbers, as text: ASCII, whatever stands in it, and stamps of any size."""
        return json.dumps(
            [
                self.version,
                self.source,
                self.path,
                self.digest,
                self.stamp,
                self.fingerprint,
                self.day,
                self.trust,
                self.chunks,
                self.tokens,
                self.tags,
            ]
        )

    @classmethod
    def of(cls, seq: int, build: int, record: str) -> Entry:
        """The entry of that record."""
        version, source, path, digest, stamp, *rest, tags = json.loads(record)
        entry = cls(seq, build, version, source, path, digest, stamp, *rest)
        return evolve(entry, tags=tuple(tags))


@frozen
class Catalogue:
    """The documents of each build by source and path, and the entries that count no more."""

    commit: Commit
    builds: Mapping[int, Mapping[Key, Entry]] = field(factory=dict)
    waste: tuple[Entry, ...] = ()

    @property
    def live(self) -> Build | None:
        """The build that is searched."""
        return next((build for build in self.commit.builds if build.state == "live"), None)

    def documents(self, build: Build | None) -> Mapping[Key, Entry]:
        """What ``build`` holds."""
        return {} if build is None else self.builds.get(build.id, {})

    def after(self, commit: Commit, entries: Iterable[Entry] = ()) -> Catalogue:
        """What holds from ``commit`` on, when ``entries`` have come into the log before it."""
        builds = {build.id: dict(self.builds.get(build.id, {})) for build in commit.builds}
        waste = list(self.waste)
        for entry in entries:
            documents = builds.get(entry.build, {})
            if (old := documents.get(entry.key)) is not None:
                waste.append(old)
            if entry.version:
                documents[entry.key] = entry
            else:
                documents.pop(entry.key, None)
                waste.append(entry)
        return Catalogue(commit, builds, tuple(waste))

    def swept(self) -> Catalogue:
        """The same without what counts no more."""
        return evolve(self, waste=())


EMPTY = Catalogue(Commit())


def replayed(commit: Commit, entries: Iterable[Entry]) -> Catalogue:
    """What a log comes to at ``commit``; ``entries`` may be in any order."""
    return EMPTY.after(commit, sorted(entries, key=lambda entry: entry.seq))
