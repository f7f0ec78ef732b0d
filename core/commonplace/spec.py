"""The seams: every hook a plugin may answer, every protocol a part of commonplace may implement.

This module is the program's table of contents for plugin authors. A plugin is a module named by
an entry point of the group ``commonplace``; the entry point's own name is ``kind.id``
(``backend.builtin``, ``ranker.mmr``). The module answers, with the ``hookimpl`` marker below, the
registration hook of each kind it offers, and adds :class:`~commonplace.model.plugins.Registration`
values to the registry it is handed. Hooks are called once, when the module is loaded, which is
when something it offers is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import pluggy
from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.deadline import Deadline
    from commonplace.model.chunks import Change, Chunk
    from commonplace.model.documents import Document, DocumentRef, ScanReport
    from commonplace.model.plugins import Registration
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import (
        Arm,
        Candidate,
        ChunkId,
        KeywordQuery,
        Nearest,
        Query,
        SearchResult,
        StoredChunk,
        Where,
    )
    from commonplace.model.store import Build, SpaceInfo, StoredDocument, StoreHealth

__all__ = [
    "GROUP",
    "Chunker",
    "ChunkerContext",
    "ConfiguredPath",
    "EmbeddingProvider",
    "Hooks",
    "Limits",
    "ManagerContext",
    "ManagerHealth",
    "MemoryManager",
    "ProviderContext",
    "RankContext",
    "Ranker",
    "RankerContext",
    "Registry",
    "Source",
    "SourceContext",
    "Store",
    "StoreContext",
    "VectorStore",
    "hookimpl",
    "hookspec",
]

GROUP = "commonplace"
"""The entry-point group, and the name of the pluggy project."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


# --- stores -------------------------------------------------------------------------------------


@frozen
class StoreContext:
    """What a store's factory is given.

    ``path`` is where the configuration wants the index, for stores that live in a file.
    ``tokenizer`` is ``None`` where the terms are already analysed (tokens joined by single
    spaces), else the name of a tokenizer (``unicode61``, ``trigram``) that the store shall apply
    itself to raw text.
    ``config`` is the plugin's own section, read into its registered config class.
    """

    path: str
    agent: str = "main"
    tokenizer: str | None = None
    config: Any = None


class Store(Protocol):
    """Keeps chunks and answers keyword queries.

    Everything is synchronous and safe to call from several threads. Methods raise
    :class:`~commonplace.errors.UnavailableError` (or a subclass) when the store cannot work, and
    :class:`~commonplace.errors.DeclinedError` when it cannot answer a given query honestly; they
    never return an empty answer in place of a failure. Reading needs no lease; ``open_build``,
    ``activate``, ``drop`` and ``put_documents`` are called inside ``writer()``.
    """

    @property
    def capabilities(self) -> frozenset[str]:
        """Of ``keyword``, ``phrases``, ``vectors``, ``persistent``."""
        ...

    def writer(self, *, wait: float) -> AbstractContextManager[None]:
        """Hold the one writer lease; it dies with the process. Re-entrant in a thread.

        Waits up to ``wait`` seconds, then raises :class:`~commonplace.errors.IndexBusyError`;
        raises :class:`~commonplace.errors.IndexReadOnlyError` where nothing can be written.
        """
        ...

    def builds(self) -> tuple[Build, ...]:
        """All builds; at most one is ``live``, at most one ``filling``."""
        ...

    def open_build(self, identity: str) -> Build:
        """The ``filling`` build of this identity: the one left unfinished, or a new empty one.

        An unfinished build of another identity is dropped.
        """
        ...

    def activate(self, build: Build) -> None:
        """Make ``build`` the live one and drop the old, in one transaction."""
        ...

    def drop(self, build: Build) -> None:
        """Delete a build and all it holds."""
        ...

    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        """What ``build`` (default: the live one) holds, in any order; nothing if there is none."""
        ...

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` in one transaction: all, or none and an error."""
        ...

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> list[tuple[ChunkId, float]]:
        """The best ``limit`` matches in the live build and their BM25 scores (above 0), best first.

        Filters are resolved before ranking: ``limit`` matches come back if there are that many.
        Equal scores are ordered by source, path and place in the document.
        """
        ...

    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        """The chunks of ``ids`` in that order; ids that are gone are left out."""
        ...

    def health(self, *, deep: bool = False) -> StoreHealth:
        """Counts and condition; ``deep`` also checks the index against itself (may take long)."""
        ...

    def close(self) -> None:
        """Let go of everything. Closing twice is fine; using it afterwards is an error."""
        ...


class VectorStore(Store, Protocol):
    """A store that also keeps vectors (capability ``vectors``).

    A vector is ``4 * dims`` bytes: float32, little-endian, of unit length. A *space* is the string
    that names where vectors are comparable; several live side by side in a build, each with its
    own coverage, and no answer ever mixes two. Vectors belong to chunk digests: chunks with equal
    text share one, and a vector goes when the last chunk of its digest goes.
    """

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """The spaces of the live build, with how many of its chunks each covers."""
        ...

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """(digest, text to embed) of chunks without a vector in ``space``, each digest once."""
        ...

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach vectors by chunk digest, all in one transaction; unknown digests are left out.

        Raises ``ValueError`` if a vector has another length than ``4 * dims``, or if ``space``
        already holds vectors of other dimensions.
        """
        ...

    def drop_space(self, space: str) -> None:
        """Forget all vectors of ``space``."""
        ...

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The best ``limit`` chunks of the live build by cosine similarity to ``vector``.

        Filters are resolved before the search. Equal scores are ordered by source, path and place
        in the document. Raises ``ValueError`` if ``vector`` has other dimensions than ``space``.
        """
        ...

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks, where there are any (for rankers that compare hits)."""
        ...


# --- managers -----------------------------------------------------------------------------------


@frozen
class ManagerContext:
    """What the factory of a whole engine is given.

    ``workspace`` is absolute. ``state_dir`` is a folder of this agent's own for derived files; it
    may not exist yet. ``config`` is the plugin's section, read into its registered config class.
    """

    workspace: str
    agent: str
    state_dir: str
    sources: tuple[Source, ...]
    config: Any = None


@frozen
class ManagerHealth:
    """What a manager says of itself; ``store`` for managers that keep a store of ours."""

    available: bool
    reason: str = ""
    store: StoreHealth | None = None
    notices: tuple[str, ...] = ()


class MemoryManager(Protocol):
    """A whole engine: it can search a workspace and maintain itself."""

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """Ranked lists of up to ``limit`` chunks each.

        Raises :class:`~commonplace.errors.UnavailableError`,
        :class:`~commonplace.errors.DeclinedError` or a
        :class:`~commonplace.errors.CallerError`. An arm without hits is an answer.
        """
        ...

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Bring the index up to the files, stopping cleanly at ``deadline``.

        ``force`` makes everything anew. With ``at_most``, nothing is done where more documents
        than that have changed: they are only counted, in ``remaining``. ``wait`` is how many
        seconds to wait for another writer. Raises
        :class:`~commonplace.errors.UnavailableError` where nothing can be written.
        """
        ...

    def pending(self) -> SyncReport:
        """What :meth:`maintain` would find to do, by looking alone; ``remaining`` counts it."""
        ...

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """Condition; never raises for a part that is unwell, but says so."""
        ...

    def close(self) -> None:
        """Let go of everything; closing twice is fine."""
        ...


# --- sources and chunkers -----------------------------------------------------------------------


class ConfiguredPath(Protocol):
    """A file or folder that the configuration names beside the workspace's own."""

    @property
    def path(self) -> str:
        """Absolute or relative to the workspace; may leave it by ``..``, or begin with ``~``."""
        ...

    @property
    def pattern(self) -> str | None:
        """A glob below ``path``, where that is a folder; ``None`` wants all Markdown in it."""
        ...


@frozen
class SourceContext:
    """What a source's factory is given. ``workspace`` is absolute; ``extra_paths`` as configured.

    ``state_dirs`` are folders of an original installation that may be read, never written.
    """

    workspace: str
    agent: str
    extra_paths: tuple[str | ConfiguredPath, ...] = ()
    state_dirs: tuple[str, ...] = ()
    config: Any = None


class Source(Protocol):
    """Where documents come from."""

    @property
    def id(self) -> str:
        """Stands in hits as ``source``."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever ``read`` would give another text for the same bytes."""
        ...

    def scan(self) -> ScanReport:
        """All documents there are, by ``stat`` alone: no file is opened."""
        ...

    def read(self, ref: DocumentRef) -> Document | None:
        """The document, or ``None`` if it has vanished since the scan.

        Raises ``OSError`` if it is there and cannot be read. The ``ref`` of the answer carries the
        stamp of what was really read.
        """
        ...


@frozen
class ChunkerContext:
    """What a chunker's factory is given, in characters: ``size`` per chunk and ``overlap``."""

    size: int
    overlap: int
    config: Any = None


class Chunker(Protocol):
    r"""Cuts documents into chunks.

    Laws: every character that is not white space is in a chunk; a chunk's text is a contiguous
    piece of its lines; chunks come in the order of the text; time is linear in its length. Lines
    end at ``\\n`` or ``\\r\\n``.
    """

    @property
    def fingerprint(self) -> str:
        """Id, version and parameters; changes whenever the chunks of any text would."""
        ...

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks of ``document``; none for a blank one."""
        ...


# --- embedding providers ------------------------------------------------------------------------


@frozen
class ProviderContext:
    """What a provider's factory is given.

    ``model`` is the one asked for (``""``: the provider's default), ``dims`` the length of vectors
    asked for (``None``: the model's own). ``base_url``, ``api_key`` and ``headers`` are of the
    configuration's ``remote`` section, ``api_key`` found wherever keys are looked for; ``options``
    are the rest of that section and of ``local``, as read. ``state_dir`` may keep derived files.
    ``transport`` replaces the network in tests (an ``httpx.BaseTransport``).
    """

    model: str = ""
    dims: int | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    query_prefix: str | None = None
    document_prefix: str | None = None
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    state_dir: str = ""
    cache_dir: str = ""
    transport: Any = None
    config: Any = field(default=None, repr=False)


@frozen
class Limits:
    """The most one request may hold; ``None`` is no limit known.

    ``tokens`` counts a whole request, ``item_tokens`` one text; both are compared with an estimate
    (see :func:`commonplace.embedding.packing.estimate_tokens`). ``bytes`` is of UTF-8 text.
    """

    items: int | None = None
    tokens: int | None = None
    bytes: int | None = None
    item_tokens: int | None = None


class EmbeddingProvider(Protocol):
    """Turns texts into vectors.

    Splitting, packing, caching, retries, deadlines, normalising and checking are the host's: an
    author makes one request and tells what went wrong with a
    :class:`~commonplace.errors.ProviderError` of the right ``kind``. ``embed`` may be called from
    several threads at once, unless ``concurrency`` is 1.
    """

    @property
    def model(self) -> str:
        """The model that answers, as it is shown."""
        ...

    @property
    def limits(self) -> Limits:
        """The most one call of ``embed`` may hold."""
        ...

    @property
    def concurrency(self) -> int:
        """How many calls may run at once, at the most."""
        ...

    def fingerprint(self) -> str:
        """Everything that decides a vector, without a network call and without a secret.

        Provider family, endpoint's origin, model or series, dims, prompt forms. Two providers with
        equal fingerprints may share vectors; whatever changes vectors must change it.
        """
        ...

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One vector a text, in the order of ``texts``; need not be normalised.

        ``texts`` is never empty, and holds no blank text. Any sequences of floats will do (lists,
        ``array('f')``, rows of numpy).
        """
        ...

    def close(self) -> None:
        """Let go of connections and children; closing twice is fine."""
        ...


# --- rankers ------------------------------------------------------------------------------------


@frozen
class RankerContext:
    """What a ranker's factory is given: its own section of the configuration."""

    config: Any = None


@frozen
class RankContext:
    """What a ranker may know besides the hits.

    ``now`` is epoch seconds. ``profile`` is ``default`` or ``compat``. ``vectors`` maps chunk ids
    to unit vectors, or is ``None`` where there are none.
    """

    query: Query
    now: float
    limit: int
    profile: str = "default"
    vectors: Callable[[Collection[ChunkId]], Mapping[ChunkId, Any]] | None = None


class Ranker(Protocol):
    """One step of ranking: a pure function of hits and context.

    ``fuse`` turns the arms' raw scores into one score in 0..1; ``adjust`` changes scores;
    ``select`` changes order or drops. A ranker never invents a hit. ``needs`` names what it cannot
    do without (``vectors``, ``dates``): where that is missing it is skipped, and hits say so.
    """

    @property
    def id(self) -> str:
        """Stands in explanations."""
        ...

    @property
    def stage(self) -> Literal["fuse", "adjust", "select"]:
        """When it runs."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What it cannot do without."""
        ...

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> Sequence[Candidate]:
        """New candidates, each with a :class:`~commonplace.model.search.Step` added."""
        ...


# --- hooks --------------------------------------------------------------------------------------


class Registry(Protocol):
    """Collects what a plugin offers; validates it and names both sides of a conflict."""

    def add(self, registration: Registration[Any]) -> None:
        """Offer one thing.

        Raises :class:`~commonplace.errors.PluginConflictError` if the id is taken, and
        ``TypeError`` or ``ValueError`` for a malformed registration.
        """
        ...


class Hooks:
    """Every hook, in the order in which a memory meets them."""

    @hookspec
    def commonplace_register_stores(self, registry: Registry) -> None:
        """Offer backends that are stores. Factory: ``(StoreContext) -> Store``."""

    @hookspec
    def commonplace_register_managers(self, registry: Registry) -> None:
        """Offer backends that are whole engines. Factory: ``(ManagerContext) -> MemoryManager``."""

    @hookspec
    def commonplace_register_sources(self, registry: Registry) -> None:
        """Offer sources of documents. Factory: ``(SourceContext) -> Source``."""

    @hookspec
    def commonplace_register_chunkers(self, registry: Registry) -> None:
        """Offer chunkers. Factory: ``(ChunkerContext) -> Chunker``."""

    @hookspec
    def commonplace_register_providers(self, registry: Registry) -> None:
        """Offer embedding providers. Factory: ``(ProviderContext) -> EmbeddingProvider``."""

    @hookspec
    def commonplace_register_rankers(self, registry: Registry) -> None:
        """Offer rankers. Factory: ``(RankerContext) -> Ranker``."""

    @hookspec
    def commonplace_register_commands(self, registry: Registry) -> None:
        """Offer commands of the command line. Factory: ``() -> cli.command.Command``."""

    @hookspec
    def commonplace_synced(self, report: SyncReport) -> None:
        """After a sync. Read-only: the answer is given, and a failure here is only counted."""

    @hookspec
    def commonplace_searched(self, query: str, result: SearchResult) -> None:
        """After a search. Read-only, as above."""

    @hookspec
    def commonplace_degraded(self, part: str, reason: str) -> None:
        """A part stopped working and something else answers in its place. Read-only, as above."""

    @hookspec
    def commonplace_recovered(self, part: str) -> None:
        """A degraded part works again. Read-only, as above."""
