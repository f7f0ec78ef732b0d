"""The seam of agents' tools that plugins add: what a tool set is, and what its factory is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.config.secret import Secret
    from commonplace.model.tools import ToolAnswer, ToolDefinition
    from commonplace.resilience.deadline import Deadline


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
