"""What a plugin says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Probe", "Registration"]

T = TypeVar("T")


@frozen
class Probe:
    """Whether a part could work here, asked without a network call and without loading a model.

    ``reason`` and ``mend`` are one line each, for people; both empty when available.
    """

    available: bool
    reason: str = ""
    mend: str = ""


def _available() -> Probe:
    return Probe(available=True)


@frozen
class Registration(Generic[T]):
    """One thing a plugin offers.

    ``factory`` makes it; its arguments are those of the kind (see :mod:`commonplace.spec`).
    ``config`` is the attrs class its own section of the configuration is read into, if it has one.
    ``priority`` orders automatic choice, lowest first; ``None`` is never chosen automatically.
    ``capabilities`` are read by the host and by the conformance tests: what is declared must work.
    ``extra`` names what to install where ``probe`` finds a library missing.
    """

    id: str
    summary: str
    factory: Callable[..., T]
    config: type[Any] | None = None
    priority: int | None = None
    capabilities: frozenset[str] = frozenset()
    probe: Callable[[], Probe] = _available
    extra: str | None = None
