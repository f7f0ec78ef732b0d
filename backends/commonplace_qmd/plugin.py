"""Offers the backend ``qmd``, which says honestly that it cannot serve yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import PluginUnavailableError
from commonplace.model.plugins import Probe, Registration
from commonplace.spec import hookimpl
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from commonplace.spec import ManagerContext, MemoryManager, Registry

__all__ = ["commonplace_register_managers"]

_REASON = "the QMD engine is not part of this version of commonplace"
_MEND = 'use memory.backend "builtin"'


@hookimpl
def commonplace_register_managers(registry: Registry) -> None:
    """Offer the engine, so that an existing configuration is read and told what serves it."""
    registry.add(
        Registration(
            id="qmd",
            summary="QMD, a local search engine of its own (not part of this version)",
            factory=_make,
            config=QmdSettings,
            probe=_probe,
        )
    )


def _probe() -> Probe:
    return Probe(available=False, reason=_REASON, mend=_MEND)


def _make(_context: ManagerContext) -> MemoryManager:
    raise PluginUnavailableError(_REASON, mend=_MEND)
