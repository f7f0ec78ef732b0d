"""What factories and rankers are handed, and what managers say of themselves.

Apart from the protocols, and as named tuples, because every search pays for defining them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.model.documents import NoteRules
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Literal, Protocol

    from commonplace.model.documents import Finding, SpaceInfo, StoreHealth
    from commonplace.model.search import (
        Arm,
        ArmKind,
        Candidate,
        ChunkId,
        KeywordQuery,
        Query,
        Where,
    )
    from commonplace.protocols.parts import ConfiguredPath, Source
    from commonplace.resilience.deadline import Deadline

    Profile = Literal["default", "plain", "compat"]
    """A value of the key ``ranking.profile``."""

    class AskAgain(Protocol):
        """Asks the backend that answered a search for another query."""

        def __call__(self, query: Query, *, where: Where) -> Sequence[Arm]:
            """The ranked lists for ``query``, of up to :data:`MOST_HITS` hits each."""
            ...


class StoreContext(NamedTuple):
    """What a store's factory is given.

    ``path`` is where the configuration wants the index, for stores that live in a file.
    ``config`` is the plugin's own section, read into its registered config class. ``cache_dir`` is
    a folder for files that can be made again; it may not exist yet, and ``""`` is none.
    """

    path: str
    agent: str = "main"
    config: Any = None
    cache_dir: str = ""


class ManagerContext(NamedTuple):
    """What the factory of a whole engine is given.

    ``workspace`` is absolute. ``state_dir`` is a folder of this agent's own for derived files; it
    may not exist yet. ``config`` is the plugin's section, read into its registered config class.
    ``sources`` are those configured, ``make_source`` makes any other by its id and raises
    :class:`~commonplace.errors.PluginUnavailableError` if no plugin offers it. ``extra_paths`` are
    as configured, and so is ``notes``, which says what files are notes.
    """

    workspace: str
    agent: str
    state_dir: str
    sources: tuple[Source, ...]
    config: Any = None
    extra_paths: tuple[str | ConfiguredPath, ...] = ()
    make_source: Callable[[str], Source] | None = None
    notes: NoteRules = NoteRules()


class ManagerHealth(NamedTuple):
    """What a manager says of itself.

    ``store`` and ``spaces`` are of managers that keep a store of ours; ``spaces`` is ``None``
    where it keeps no vectors. ``findings`` are what a deep look found, the store's among them.
    ``notices`` are on what fails, ``information`` on all else. ``drop_space``
    forgets the vectors of a space, where any are kept.
    """

    available: bool
    reason: str = ""
    store: StoreHealth | None = None
    notices: tuple[str, ...] = ()
    spaces: tuple[SpaceInfo, ...] | None = None
    findings: tuple[Finding, ...] = ()
    information: tuple[str, ...] = ()
    drop_space: Callable[[str], None] | None = None


class SourceContext(NamedTuple):
    """What a source's factory is given. ``workspace`` is absolute; ``extra_paths`` as configured.

    ``state_dirs`` are folders of an original installation that may be read, never written.
    ``notes`` says what files are notes. ``secret_patterns`` are the user's own patterns of secrets,
    which :func:`~commonplace.plugin.redact` takes.
    """

    workspace: str
    agent: str
    extra_paths: tuple[str | ConfiguredPath, ...] = ()
    state_dirs: tuple[str, ...] = ()
    config: Any = None
    notes: NoteRules = NoteRules()
    secret_patterns: tuple[str, ...] = ()


class ChunkerContext(NamedTuple):
    """What a chunker's factory is given, in characters: ``size`` per chunk and ``overlap``."""

    size: int
    overlap: int
    config: Any = None


class RankerContext(NamedTuple):
    """What a ranker's factory is given: the shares of both arms in a fusion, its own section.

    ``permit(server, texts, key)`` is to be called before so many texts go to a server on another
    machine, named by scheme, host and port; ``key`` says where its key stands (``""``: none). It
    informs or asks the user the first time, and raises
    :class:`~commonplace.errors.UnavailableError` where nothing must be sent. ``None``: no one can
    be asked, and nothing must be sent.
    """

    vector_weight: float = 0.7
    text_weight: float = 0.3
    config: Any = None
    permit: Callable[[str, int, str], None] | None = None


MOST_HITS = 200
"""How many hits of an arm a backend is asked for at most."""


class FurtherHits(NamedTuple):
    """Asks the backend of a search once more, for a ranker that misses something among its hits.

    Called with an analysed query, it gives hits without a score, up to 200 from each arm,
    which pass the filters of the search and are not of the sources ``without``. The ranker may add
    them to its own, with a score and a step each. It costs what a search costs, and raises what one
    raises.

    ``query`` and ``where`` are those of the search, ``ask`` asks its backend, and ``united`` makes
    hits of ranked lists. ``given`` collects all hits that were given: no others may be added.
    """

    query: Query
    where: Where
    ask: AskAgain
    united: Callable[[Sequence[Arm]], list[Candidate]]
    given: list[Candidate]

    def __call__(
        self, keyword: KeywordQuery, *, without: frozenset[str] = frozenset()
    ) -> Sequence[Candidate]:
        """Hits for ``keyword``; vectors, where there are any, are those of the query itself."""
        where = self.where._replace(not_sources=self.where.not_sources | without)
        hits = self.united(self.ask(self.query._replace(keyword=keyword), where=where))
        self.given.extend(hits)
        return hits


class RankContext(NamedTuple):
    """What a ranker may know besides the hits.

    ``now`` is epoch seconds. ``profile`` is the key ``ranking.profile``. ``arms`` are the names of
    the arms that answered, ``kinds`` the kinds of their scores. ``vectors`` maps chunk ids to unit
    vectors as bytes, or is ``None`` where there are none. ``unembedded`` are hits that a list by
    vectors could not have, since their chunks have none yet. ``deadline`` is that of the search, if
    its caller set one. ``further`` gives hits of another query, or is ``None`` where none can be.
    """

    query: Query
    now: float
    limit: int
    profile: Profile = "default"
    arms: tuple[str, ...] = ()
    vectors: Callable[[Collection[ChunkId]], Mapping[ChunkId, bytes]] | None = None
    kinds: frozenset[ArmKind] = frozenset()
    unembedded: frozenset[ChunkId] = frozenset()
    deadline: Deadline = NEVER
    further: FurtherHits | None = None


class Arms(NamedTuple):
    """Which arms a search has whenever possible.

    Without ``keyword``, that arm only stands in for vectors. Without ``vector``, no query is
    embedded before any document is, and no note says that none is. Up to ``background_limit``
    chunks are embedded in the background, which such a note mentions.
    """

    keyword: bool = True
    vector: bool = False
    background_limit: int = 0


USUAL_ARMS = Arms()
