"""Collecting what one plugin offers of one kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import PluginConflictError
from commonplace.host.entrypoints import is_id
from commonplace.model.plugins import Credentials, Registration

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KindRegistry"]


class KindRegistry:
    """The :class:`~commonplace.plugin.Registry` handed to one hook of one plugin.

    ``plugin`` names it in messages. ``claimed`` gives the plugin that has an id already, or ``""``.
    """

    def __init__(self, kind: str, plugin: str, claimed: Callable[[str], str]) -> None:
        self._kind = kind
        self._plugin = plugin
        self._claimed = claimed
        self.offered: dict[str, Registration[Any]] = {}

    def add(self, registration: Registration[Any]) -> None:
        """Offer one thing.

        Raises :class:`~commonplace.errors.PluginConflictError` if the id is taken, and
        ``TypeError`` or ``ValueError`` for a malformed registration.
        """
        _check(registration, self._plugin)
        id_ = registration.id
        other = self._plugin if id_ in self.offered else self._claimed(id_)
        if other == self._plugin:
            raise PluginConflictError(f"{self._kind} {id_!r} is offered twice by {other}")
        if other:
            raise PluginConflictError(
                f"{self._kind} {id_!r} is offered by {other} and by {self._plugin}",
                hint="switch one of them off with COMMONPLACE_DISABLE_PLUGINS",
            )
        self.offered[id_] = registration


def _check(registration: Any, plugin: str) -> None:
    """Typed ``Any``: a plugin need not be type-checked to be told what is wrong with it."""
    if not isinstance(registration, Registration):
        raise TypeError(f"{plugin} must add a Registration, not {registration!r}")
    _check_words(registration)
    _check_calls(registration)
    _check_values(registration)


def _check_words(registration: Any) -> None:
    id_, summary, extra = registration.id, registration.summary, registration.extra
    if not isinstance(id_, str) or not isinstance(summary, str):
        raise TypeError(f"id and summary of a registration are strings: {registration!r}")
    if not is_id(id_):
        raise ValueError(f"an id is lower-case letters and digits joined by - or _, not {id_!r}")
    if not summary.strip() or "\n" in summary:
        raise ValueError(f"the summary of {id_!r} must be one line")
    if extra is not None and not (isinstance(extra, str) and extra.strip()):
        raise ValueError(f"the extra of {id_!r} must be None or a name, not {extra!r}")


def _check_calls(registration: Any) -> None:
    id_ = registration.id
    if not callable(registration.factory):
        raise TypeError(f"the factory of {id_!r} cannot be called")
    if not callable(registration.probe):
        raise TypeError(f"the probe of {id_!r} cannot be called")
    if registration.ready is not None and not callable(registration.ready):
        raise TypeError(f"the ready of {id_!r} cannot be called")


def _check_values(registration: Any) -> None:
    id_, config, priority = registration.id, registration.config, registration.priority
    # What `attrs.has` asks; most plugins have no section, and need no attrs for that.
    if config is not None and not (isinstance(config, type) and hasattr(config, "__attrs_attrs__")):
        raise TypeError(f"the config of {id_!r} must be an attrs class, not {config!r}")
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        raise TypeError(f"the priority of {id_!r} must be a whole number or None, not {priority!r}")
    credentials = registration.credentials
    if credentials is not None and not isinstance(credentials, Credentials):
        raise TypeError(f"the credentials of {id_!r} must be Credentials, not {credentials!r}")
    capabilities = registration.capabilities
    if not isinstance(capabilities, frozenset) or not all(isinstance(c, str) for c in capabilities):
        raise TypeError(f"the capabilities of {id_!r} must be a frozenset of strings")
