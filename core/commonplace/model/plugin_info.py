"""What the host knows about each plugin; kept apart, because no search needs it."""

from __future__ import annotations

from attrs import field, frozen

__all__ = ["PluginInfo"]


@frozen
class PluginInfo:
    """An entry point, and what became of it.

    ``name`` is ``kind.id``. ``state`` is ``available`` (not loaded yet), ``loaded``,
    ``disabled`` or ``failed``; ``error`` and ``traceback`` say why it failed, ``hint`` how to put
    it right. ``summary``, ``capabilities`` and ``hooks`` (all that its module answers) are known of
    loaded plugins only. ``notices`` are one line each, on what does no harm but should be known,
    such as a library that is missing for it to work.
    """

    name: str
    module: str
    distribution: str
    version: str
    state: str
    summary: str = ""
    error: str = ""
    traceback: str = field(default="", repr=False)
    hint: str = ""
    capabilities: frozenset[str] = frozenset()
    hooks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def failure(self) -> str:
        """What failed and why, in one line."""
        origin = f"{self.distribution} {self.version}".strip()
        return f"plugin {self.name} of {origin} failed: {self.error}"
