"""What a plugin declares about a part that it registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.search import Query

__all__ = ["Credentials", "Mount", "Probe", "Registration", "is_id"]

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
    """One part that a plugin registers.

    ``factory`` makes the part; its arguments depend on the kind (see :mod:`commonplace.plugin`).
    ``summary`` is one line. ``config`` is the class its section of the configuration is read into;
    the factory gets it as ``context.config``, ``None`` where nothing is configured.
    ``capabilities`` are those of what the factory makes. ``probe`` answers whether the part can
    work here.

    Providers: ``priority`` orders automatic choice, lowest first; ``None`` is never chosen
    automatically. ``credentials`` say where keys are. Automatic choice passes ``ready`` the
    `ProviderContext` that the factory would get and asks whether to take this one (no network, no
    model load); without it, a provider is ready when it has a key. A hint in its answer means that
    the settings ask for this provider and it cannot work: the hint is then shown.

    Managers: ``permits`` gets ``config`` and the query before any backend of a chain is asked, and
    raises a :class:`~commonplace.errors.CallerError` where this chat may not search; it holds for
    every backend that stands in for this one. ``mounts`` gets the
    :class:`~commonplace.plugin.ManagerContext` and returns folders beside the workspace whose
    files hits name by a prefix.
    """

    id: str
    summary: str
    factory: Callable[..., T]
    config: type[Any] | None = None
    priority: int | None = None
    capabilities: frozenset[str] = frozenset()
    probe: Callable[[], Probe] = _available
    credentials: Credentials | None = None
    ready: Callable[[Any], Probe] | None = None
    permits: Callable[[Any, Query], None] | None = None
    mounts: Callable[[Any], Sequence[Mount]] | None = None


def is_id(text: str) -> bool:
    """Whether ``text`` may be an id: lower-case ASCII words joined by ``-`` or ``_``."""
    return all(
        word.isascii() and word.isalnum() and word == word.lower()
        for word in text.replace("_", "-").split("-")
    )
