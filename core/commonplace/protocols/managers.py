"""Protocols of what answers: managers, which search a workspace, rankers, and tools for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import NotRequired, TypedDict

    from commonplace.config.secret import Secret
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import Arm, Candidate, Query, Where
    from commonplace.model.tools import ToolAnswer, ToolDefinition
    from commonplace.protocols.contexts import ManagerHealth, RankContext
    from commonplace.resilience.deadline import Deadline

    class MaintainOptions(TypedDict):
        """Arguments of :meth:`MemoryManager.maintain` that pass through a chain unchanged."""

        deadline: Deadline
        force: NotRequired[bool]
        at_most: NotRequired[int | None]
        progress: NotRequired[ProgressCallback | None]
        wait: NotRequired[float]


class MemoryManager(Protocol):
    """A whole engine: it can search a workspace and maintain itself."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What it can: ``eager`` if :meth:`maintain` takes the argument of that name.

        ``paths`` for a :class:`PartialManager`, ``look`` for a :class:`LookingManager`.
        """
        ...

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
        embed: bool = True,
        eager: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Update the index, stopping cleanly at ``deadline``.

        ``force`` rebuilds it. With ``at_most``, nothing is done where more documents
        than that have changed: they are only counted, in ``remaining``, beside ``known``, without
        which the first search builds the whole index; large documents may be left in any case.
        Without ``embed``, nothing new is embedded. ``eager`` is False in a sync that no caller
        requested: growing documents may then be left until they have grown enough, and are counted
        in ``deferred``. A manager that does not declare ``eager`` is called without it. ``wait`` is
        how many seconds to wait for another writer. ``progress`` raises nothing but interrupts.

        Raises :class:`~commonplace.errors.UnavailableError` where nothing can be written.
        """
        ...

    def pending(self) -> SyncReport:
        """What :meth:`maintain` would do, without writing; ``remaining`` counts it.

        ``deferred`` counts what it would do only if it is ``eager``.
        """
        ...

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The condition; a failing part is reported, never raised."""
        ...

    def close(self) -> None:
        """Release all resources; closing twice is fine."""
        ...


class PartialManager(MemoryManager, Protocol):
    """Declares ``paths``: it need not compare everything in order to update its index."""

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        embed: bool = True,
        eager: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
        paths: Collection[str] | None = None,
    ) -> SyncReport:
        """As that of any manager; all that may have changed since the last call is at ``paths``.

        They are absolute paths of files or folders, of any source. ``None`` says nothing of what
        has changed. What a call has left undone, for an error or for its deadline, is its own to
        remember, and so is whatever else lets it compare everything.
        """
        ...


class LookingManager(MemoryManager, Protocol):
    """Declares ``look``: it finds what cannot be read before it is to index it."""

    def pending(self, *, look: bool = False) -> SyncReport:
        """As that of any manager; with ``look``, what has changed is opened.

        What cannot be read is in ``unreadable``, as far as half a second shows, and of
        the new documents among it none is counted in ``remaining``.
        """
        ...


class Ranker(Protocol):
    """One step of ranking: a pure function of hits and context.

    ``fuse`` turns the arms' raw scores into one score in 0..1; ``adjust`` changes scores;
    ``select`` changes order or drops. A ranker never invents a hit; it may add those that it asked
    for with ``context.further``. ``needs`` names what it cannot do without (``vectors``,
    ``dates``): where that is missing it is skipped, and hits say so.
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
        """New candidates, each with a step added; see :func:`~commonplace.plugin.with_step`."""
        ...


class OwnProvider(NamedTuple):
    """An embedding provider of a plugin's own settings, in place of the one for notes.

    ``base_url`` is ``None`` for the vendor's address; ``api_key`` goes to this address alone.
    ``dims`` is the length of vectors to ask for, ``None`` for the model's own.
    """

    id: str
    model: str = ""
    base_url: str | None = None
    api_key: Secret | None = None
    dims: int | None = None


class Embedder(Protocol):
    """An embedding provider as plugins use it: guarded, cached, and asked for consent first.

    Vectors are unit vectors as little-endian float32 bytes. Vectors of one fingerprint and one
    length can be compared. The methods raise :class:`~commonplace.errors.UnavailableError` where
    the provider fails or nothing may be sent to it, and
    :class:`~commonplace.errors.DeadlineExceededError`.
    """

    @property
    def id(self) -> str:
        """The id of the provider."""
        ...

    @property
    def model(self) -> str:
        """The model, as it is shown."""
        ...

    @property
    def dims(self) -> int | None:
        """How long its new vectors of documents were last; ``None`` where that is not known."""
        ...

    def fingerprint(self) -> str:
        """What decides a vector; see :meth:`EmbeddingProvider.fingerprint`."""
        ...

    def query(self, text: str, *, deadline: Deadline) -> bytes:
        """The vector of a question, in the time that a search waits for one."""
        ...

    def documents(self, texts: Sequence[str], *, deadline: Deadline) -> list[bytes | None]:
        """One vector a text, in their order, and all of one length.

        ``None`` stands for a text that the provider refuses.
        """
        ...


class ToolContext(NamedTuple):
    """What the factory of a tool set is given.

    ``workspace`` and ``state_dir`` are absolute; ``state_dir`` is shared by all agents and plugins
    and may not exist yet. ``config`` is the plugin's section, read into its registered config
    class. ``embedder`` makes the embedder of the notes' settings, or of the plugin's own; it
    returns ``None`` where there is no provider, and raises
    :class:`~commonplace.errors.UnavailableError` where one is named and cannot be used.
    """

    workspace: str
    agent: str
    state_dir: str
    embedder: Callable[[OwnProvider | None], Embedder | None]
    config: Any = None


class ToolSet(Protocol):
    """Tools of one plugin on the memory of one agent. Threads may share it.

    The host checks arguments against the definition before a call, and turns errors of
    commonplace, and all others, into answers with a reason: an agent's turn never ends by them.
    """

    @property
    def capabilities(self) -> frozenset[str]:
        """``recall`` of a :class:`RecallingToolSet`, ``turns`` of a :class:`ListeningToolSet`."""
        ...

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools, in a fixed order; asking costs neither a file nor the network."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any], *, session_key: str) -> ToolAnswer:
        """Run the tool ``name`` for the chat ``session_key``."""
        ...

    def close(self) -> None:
        """Release all resources; closing twice is allowed."""
        ...


class RecallingToolSet(Protocol):
    """A :class:`ToolSet` that adds to the prompt what it holds on the user's words."""

    def recall(self, prompt: str, *, session_key: str, budget: int) -> str:
        """Fenced text of at most ``budget`` characters; ``""`` where it has nothing to add."""
        ...


class ListeningToolSet(Protocol):
    """A :class:`ToolSet` that follows a conversation, turn by turn."""

    def turn_ended(self, messages: Sequence[Mapping[str, Any]], *, session_key: str) -> int:
        """Take the whole conversation so far, oldest message first; how much of it was kept.

        A message has a ``role`` and a ``content``: a text, or a list of parts with ``type`` and
        ``text``.
        """
        ...
