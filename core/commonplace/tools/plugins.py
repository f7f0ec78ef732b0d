"""The tool sets that plugins add to the memory of one agent."""

from __future__ import annotations

from _thread import RLock  # threading takes a millisecond to import
from functools import cached_property
from typing import TYPE_CHECKING, cast

from commonplace.errors import CommonplaceError
from commonplace.protocols.tools import ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from commonplace.config.settings import Settings
    from commonplace.embedding.choice import EmbeddingChooser
    from commonplace.embedding.embedder import EmbedderMaker
    from commonplace.host.host import PluginHost
    from commonplace.protocols.tools import (
        Embedder,
        ListeningToolSet,
        OwnProvider,
        RecallingToolSet,
        ToolSet,
    )

SLOT = "slot"
"""A registration with this capability is a memory of its own: it is used where it is selected."""


class PluginTools:
    """Makes each tool set when it is first asked for, and closes them all.

    In use are all tool sets of installed plugins, but those of the capability ``slot``: of these
    the one that ``plugins.slots.memory`` names. A tool set that cannot be made is logged once and
    left out.
    """

    def __init__(
        self, host: PluginHost, settings: Settings, notes: Callable[[], EmbeddingChooser]
    ) -> None:
        self._host = host
        self._settings = settings
        self._notes = notes
        self._lock = RLock()
        self._made: dict[str, ToolSet] = {}
        self._maker: EmbedderMaker | None = None

    @cached_property
    def active(self) -> tuple[ToolSet, ...]:
        """The tool sets in use, by their ids."""
        found: list[ToolSet] = []
        with self._lock:
            for id_ in self._host.ids("tool"):
                try:
                    capabilities = self._host.tool(id_).capabilities
                    if SLOT not in capabilities or self._settings.slot == id_:
                        found.append(self.get(id_))
                except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's; the notes are searched all the same
                    from commonplace.host.events import logger

                    logger().warning("the tools of %s are not available: %s", id_, error)
        return tuple(found)

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
        found: list[str] = []
        for tools in self.active:
            if "recall" not in tools.capabilities or budget < 1:
                continue
            recalling = cast("RecallingToolSet", tools)
            try:
                text = recalling.recall(prompt, session_key=session_key, budget=budget)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a prompt is made without it
                _warn("nothing is recalled", error)
                continue
            if text:
                found.append(text)
                budget -= len(text) + 1
        return found

    def turn_ended(self, messages: Sequence[Mapping[str, Any]], *, session_key: str) -> int:
        """Tell the tool sets in use of a turn; how much they kept of it. Failures are logged."""
        kept = 0
        for tools in self.active:
            if "turns" not in tools.capabilities:
                continue
            try:
                kept += cast("ListeningToolSet", tools).turn_ended(
                    messages, session_key=session_key
                )
            except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent's turn must not end by it
                _warn("a turn is not captured", error)
        return kept

    def close(self) -> None:
        """Close every tool set that was made; closing twice is fine."""
        with self._lock:
            made, self._made = self._made, {}
            maker, self._maker = self._maker, None
        for tools in made.values():
            tools.close()
        if maker is not None:
            maker.close()

    def _embedder(self, own: OwnProvider | None) -> Embedder | None:
        from commonplace.embedding.embedder import EmbedderMaker

        with self._lock:
            if self._maker is None:
                self._maker = EmbedderMaker(self._notes(), self._settings.search.remote)
            maker = self._maker
        return maker(own)


def _warn(what: str, error: BaseException) -> None:
    from commonplace.host.events import logger

    words = str(error) if isinstance(error, CommonplaceError) else type(error).__name__
    logger().warning("%s: %s", what, words)
