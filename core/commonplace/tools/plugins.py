"""The tool sets that plugins add to the memory of one agent, checked when they are loaded."""

from __future__ import annotations

from _thread import RLock  # threading takes a millisecond to import
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from commonplace.errors import CommonplaceError, reason_of
from commonplace.model.tools import ToolAnswer
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.managers import ToolContext
from commonplace.tools.definitions import checked_definition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from commonplace.config.settings import Settings
    from commonplace.embedding.choice import EmbeddingChooser
    from commonplace.embedding.embedder import EmbedderMaker
    from commonplace.host.host import PluginHost
    from commonplace.model.tools import ToolDefinition
    from commonplace.protocols.managers import (
        Embedder,
        ListeningToolSet,
        OwnProvider,
        RecallingToolSet,
        ToolSet,
    )
    from commonplace.resilience.bounded_call import Worker

T = TypeVar("T")

SLOT = "slot"
"""A registration with this capability is a memory of its own: it is used where it is selected."""

OFFER_SECONDS = 5.0
"""How long a tool set of a third party may take to say what it offers, and to close."""

RECALL_SECONDS = 5.0
"""How long it may take to recall: an agent's turn waits for it."""

TOOL_SECONDS = 120.0
"""How long a call of one of its tools may take, and to capture from a turn."""


class _LoadedTools(NamedTuple):
    """A tool set in use, and what it offered when it was loaded.

    Calls of one of a third party are given up by its ``worker``.
    """

    tools: ToolSet
    definitions: tuple[ToolDefinition, ...]
    capabilities: frozenset[str]
    label: str
    worker: Worker | None

    def call(self, name: str, arguments: dict[str, Any], *, session_key: str) -> ToolAnswer:
        """What the tool ``name`` answers; raises ``CommonplaceError`` for any failure."""
        what = f"the tool {name!r} of {self.label}"
        work = partial(self.tools.call, name, arguments, session_key=session_key)
        try:
            answer: object = _bounded(self.worker, TOOL_SECONDS, work)
        except CommonplaceError:
            raise
        except BaseException as error:
            reason = _words(error)
            from commonplace.host.failures import logger

            logger().error("%s failed", what, exc_info=error)
            raise CommonplaceError(f"{what} failed: {reason}") from error
        if not isinstance(answer, ToolAnswer):
            raise CommonplaceError(f"{what} answered with {type(answer).__name__}")
        for field, expected in (("text", str), ("data", dict), ("failed", bool)):
            if not isinstance(value := getattr(answer, field), expected):
                kind = type(value).__name__
                raise CommonplaceError(f"{what} answered with {kind} for its {field}")
        return answer

    def recall(self, prompt: str, *, session_key: str, budget: int) -> str:
        """What it adds to a prompt; raises whatever it raises, or that it took too long."""
        recalling = cast("RecallingToolSet", self.tools)
        work = partial(recalling.recall, prompt, session_key=session_key, budget=budget)
        return _bounded(self.worker, RECALL_SECONDS, work)

    def turn_ended(self, messages: Sequence[Mapping[str, Any]], *, session_key: str) -> int:
        """How much it kept of a turn; raises whatever it raises, or that it took too long."""
        listening = cast("ListeningToolSet", self.tools)
        work = partial(listening.turn_ended, messages, session_key=session_key)
        return _bounded(self.worker, TOOL_SECONDS, work)


class PluginTools:
    """Makes each tool set when it is first asked for, and closes them all.

    In use are all tool sets of installed plugins, but those of the capability ``slot``: of these
    the one that ``plugins.slots.memory`` names. A tool set that cannot be made, and a tool with an
    invalid definition, is logged once, named by :meth:`left_out`, and left out.
    """

    def __init__(
        self, host: PluginHost, settings: Settings, notes: Callable[[], EmbeddingChooser]
    ) -> None:
        self._host = host
        self._settings = settings
        self._notes = notes
        self._lock = RLock()
        self._loaded: tuple[_LoadedTools, ...] | None = None
        self._made: dict[str, ToolSet] = {}
        # A lock of its own: a factory may ask for the embedder on another thread while the first
        # one waits for the factory.
        self._making = RLock()
        self._maker: EmbedderMaker | None = None
        self._problems: list[str] = []

    @property
    def active(self) -> tuple[ToolSet, ...]:
        """The tool sets in use, by their ids."""
        return tuple(loaded.tools for loaded in self._load())

    @property
    def offered(self) -> Iterator[tuple[ToolDefinition, Callable[..., ToolAnswer]]]:
        """The tools of the tool sets in use, each with what calls it."""
        return (
            (tool, partial(loaded.call, tool.name))
            for loaded in self._load()
            for tool in loaded.definitions
        )

    def left_out(self) -> tuple[str, ...]:
        """What was left out and why; every tool set in use is made, if it is not yet.

        A plugin that cannot be loaded is not among it: ``PluginHost.plugins`` names it from now on.
        """
        self._load()
        return tuple(self._problems)

    def _load(self) -> tuple[_LoadedTools, ...]:
        """The tool sets in use, which the first call makes."""
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    loaded = [self._load_if_used(id_) for id_ in self._host.ids("tool")]
                    self._loaded = tuple(tools for tools in loaded if tools is not None)
        return self._loaded

    def _load_if_used(self, id_: str) -> _LoadedTools | None:
        """The tool set ``id_``; ``None`` where it is not in use, or fails, which is logged."""
        try:
            capabilities = self._host.tool(id_).capabilities
        except CommonplaceError as error:
            _warn(f"the tools of {id_} are not available", error)
            return None
        try:
            if SLOT not in capabilities or self._settings.slot == id_:
                return self._load_one(id_)
        except BaseException as error:  # noqa: BLE001 - a plugin's; the notes are searched all the same
            why = f"{self._host.label('tool', id_)} failed: {_words(error)}"
            self._left_out(f"the tools of {id_} are not available: {why}")
        return None

    def _load_one(self, id_: str) -> _LoadedTools:
        tools = self.get(id_)
        label = self._host.label("tool", id_)

        def ask() -> tuple[list[object], frozenset[str]]:
            return list(tools.definitions), frozenset(tools.capabilities)

        worker = self._worker(id_, f"the tool set {id_!r} of {label}")
        offered, capabilities = _bounded(worker, OFFER_SECONDS, ask)
        definitions: list[ToolDefinition] = []
        for definition in offered:
            try:
                definitions.append(checked_definition(definition))
            except Exception as error:  # noqa: BLE001 - a plugin's value may fail in any way
                name = str(getattr(definition, "name", definition))[:60]
                self._left_out(f"the tool {name!r} of {label} was left out: {error}")
        return _LoadedTools(tools, tuple(definitions), capabilities, label, worker)

    def _worker(self, id_: str, what: str) -> Worker | None:
        """What gives up calls of a tool set of a third party, called ``what``; ours need none."""
        if self._host.is_builtin("tool", id_):
            return None
        from commonplace.resilience.bounded_call import Worker

        return Worker(what)

    def _left_out(self, problem: str) -> None:
        from commonplace.host.failures import logger

        self._problems.append(problem)
        logger().warning("%s", problem)

    def get(self, id_: str) -> ToolSet:
        """The tool set ``id_``, in use or not.

        Raises :class:`~commonplace.errors.PluginUnavailableError` where there is none or its
        plugin fails.
        """
        with self._lock:
            if id_ not in self._made:
                registration = self._host.tool(id_)
                context = ToolContext(
                    workspace=self._settings.workspace,
                    agent=self._settings.agent,
                    state_dir=self._settings.state_dir,
                    embedder=self._embedder,
                    config=self._settings.plugin_config(id_),
                )
                self._made[id_] = registration.factory(context)
            return self._made[id_]

    def recalled(self, prompt: str, *, session_key: str, budget: int) -> list[str]:
        """What the tool sets in use add to a prompt, in ``budget`` characters together.

        What fails is logged and adds nothing.
        """
        texts: list[str] = []
        for loaded in self._load():
            if "recall" not in loaded.capabilities or budget < 1:
                continue
            try:
                text: object = loaded.recall(prompt, session_key=session_key, budget=budget)
            except BaseException as error:  # noqa: BLE001 - a prompt is made without it
                _warn(f"nothing is recalled by {loaded.label}", error)
                continue
            if not isinstance(text, str) or len(text) > budget:
                _warn(
                    f"nothing is recalled by {loaded.label}", TypeError("no text within its budget")
                )
            elif text:
                texts.append(text)
                budget -= len(text) + 1
        return texts

    def turn_ended(self, messages: Sequence[Mapping[str, Any]], *, session_key: str) -> int:
        """Report a turn to the tool sets in use; how much they kept. Failures are logged."""
        kept = 0
        for loaded in self._load():
            if "turns" not in loaded.capabilities:
                continue
            try:
                kept += loaded.turn_ended(messages, session_key=session_key)
            except BaseException as error:  # noqa: BLE001 - an agent's turn must not end by it
                _warn(f"a turn is not captured by {loaded.label}", error)
        return kept

    def close(self) -> None:
        """Close every tool set that was made; closing twice is fine. Failures are logged."""
        with self._lock:
            made, self._made = self._made, {}
        with self._making:
            maker, self._maker = self._maker, None
        for id_, tools in made.items():
            try:
                closer = self._worker(id_, f"closing the tool set {id_!r}")
                _bounded(closer, OFFER_SECONDS, tools.close)
            except BaseException as error:  # noqa: BLE001 - as in _load_if_used; the others are closed
                _warn(f"the tool set {id_!r} was not closed", error)
        if maker is not None:
            maker.close()

    def _embedder(self, own: OwnProvider | None) -> Embedder | None:
        from commonplace.embedding.embedder import EmbedderMaker

        with self._making:
            if self._maker is None:
                self._maker = EmbedderMaker(self._notes(), self._settings.search.remote)
            maker = self._maker
        return maker(own)


def _bounded(worker: Worker | None, seconds: float, work: Callable[[], T]) -> T:
    """What ``work`` returns; with a ``worker`` it is given up after so many seconds."""
    if worker is None:
        return work()
    from commonplace.resilience.deadline import Deadline

    return worker.run(work, Deadline.after(seconds))


def _words(error: BaseException) -> str:
    """What went wrong; raises ``error`` again where a signal raised it, such as Ctrl-C."""
    if isinstance(error, CommonplaceError):
        return reason_of(error)
    from commonplace.resilience.bounded_call import failure_of  # imports threading

    return failure_of(error)


def _warn(what: str, error: BaseException) -> None:
    from commonplace.host.failures import logger

    words = _words(error)  # of other errors, the log has no more than their kinds
    if not isinstance(error, CommonplaceError):
        words = type(error).__name__
    logger().warning("%s: %s", what, words)
