"""What a plugin says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.search import Query

__all__ = ["Credentials", "Mount", "Probe", "Registration"]

T = TypeVar("T")


class Probe(NamedTuple):
    """Whether a part could work here, asked without a network call and without loading a model.

    ``reason`` and ``hint`` are one line each, for people; both empty when available.
    """

    available: bool
    reason: str = ""
    hint: str = ""


def _available() -> Probe:
    return Probe(available=True)


class Credentials(NamedTuple):
    """Where the host looks for a provider's key, in this order after ``remote.apiKey``.

    ``env`` are names of environment variables, ``config`` ids under ``models.providers`` whose
    ``apiKey`` serves, ``keyring`` a user name under the service ``commonplace`` in the system's
    keyring. ``optional`` providers work without a key (a server on this machine). ``note`` is
    added where a key is missing: what people take for one.
    """

    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    keyring: str | None = None
    optional: bool = False
    note: str = ""


class Mount(NamedTuple):
    """Files of ``location`` (an absolute folder) that hits name ``prefix/<relative path>``.

    ``prefix`` is of one part or more, such as ``qmd/notes``. Of the files only those that match
    ``pattern``, a glob relative to ``location``, can be read.
    """

    prefix: str
    location: str
    pattern: str = "**/*.md"


class Registration(NamedTuple, Generic[T]):
    """One thing a plugin offers.

    ``factory`` makes it; its arguments are those of the kind (see :mod:`commonplace.plugin`).
    ``config`` is the attrs class its own section of the configuration is read into, if it has one.
    ``priority`` orders automatic choice, lowest first; ``None`` is never chosen automatically.
    ``capabilities`` are read by the host and by the conformance tests: what is declared must work.
    ``extra`` names what to install where ``probe`` finds a library missing.

    For providers: ``credentials`` say where keys are, and ``ready`` is asked by automatic choice,
    with the `ProviderContext` that the factory would be given, whether to take
    this one (no network, no model load); without it, a provider is ready when it has a key. With
    a ``hint`` it says that the settings mean it to be taken, and cannot have it: people are told.

    For managers: ``permits`` is handed the ``config`` and the query before any part of a chain is
    asked, and raises a :class:`~commonplace.errors.CallerError` where whoever asks may not search;
    it holds for every link that answers in this one's place.
    ``mounts`` is handed the :class:`~commonplace.plugin.ManagerContext`, tells of folders beside
    the workspace that hits name by a prefix.
    """

    id: str
    summary: str
    factory: Callable[..., T]
    config: type[Any] | None = None
    priority: int | None = None
    capabilities: frozenset[str] = frozenset()
    probe: Callable[[], Probe] = _available
    extra: str | None = None
    credentials: Credentials | None = None
    ready: Callable[[Any], Probe] | None = None
    permits: Callable[[Any, Query], None] | None = None
    mounts: Callable[[Any], Sequence[Mount]] | None = None
