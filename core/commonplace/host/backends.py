"""Backends and providers of plugins beside their answers: probes, health, permits and mounts.

What backends answer in a search or a sync is checked in ``answers.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from commonplace.errors import (
    CommonplaceError,
    PluginUnavailableError,
    ScopeDeniedError,
    reason_of,
)
from commonplace.host.failures import log_once
from commonplace.model.documents import Finding, SpaceInfo, StoreHealth
from commonplace.model.plugins import Mount, Probe
from commonplace.protocols.contexts import ManagerHealth
from commonplace.resilience.bounded_call import Worker, failure_of
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.host.discovery import Kind
    from commonplace.host.host import PluginHost
    from commonplace.model.search import Query
    from commonplace.protocols.contexts import ManagerContext
    from commonplace.resilience.deadline import GuardedCaller

PROBE_SECONDS = 5.0
"""How long a part may take to say whether it can work here."""


def probed(host: PluginHost, kind: Kind, id_: str, probe: Callable[[], Probe]) -> Probe:
    """What ``probe`` answers, which asks the part ``id_`` of ``kind``.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where one of a third party fails or
    hangs.
    """
    if host.is_builtin(kind, id_):
        return probe()
    return answer_of(probe, f"{kind} {id_!r} of {host.label(kind, id_)}")


def answer_of(probe: Callable[[], Probe], part: str, *, seconds: float = PROBE_SECONDS) -> Probe:
    """What ``probe`` answers; ``part`` names what it asks.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where it fails, or takes longer than
    ``seconds``.
    """
    try:
        answer: Any = Worker(f"the probe of {part}").run(probe, Deadline.after(seconds))
    except CommonplaceError as error:
        raise PluginUnavailableError(str(error), hint=error.hint) from error
    except BaseException as error:
        words = failure_of(error)
        raise PluginUnavailableError(f"the probe of {part} failed: {words}") from error
    if type(answer) is not Probe or type(answer.available) is not bool:
        raise PluginUnavailableError(f"the probe of {part} answered {str(answer)[:60]!r}")
    return answer._replace(reason=str(answer.reason), hint=str(answer.hint))


def checked_health(given: object) -> ManagerHealth:
    """``given``, if it is a condition that an engine may report; else raises ``TypeError``."""
    if type(given) is not ManagerHealth:
        raise TypeError(f"it gave a {type(given).__name__} for its health")
    lines: Any = given.notices, given.information, (given.reason,)
    if any(type(part) is not tuple or any(type(one) is not str for one in part) for part in lines):
        raise TypeError("it gave its health with lines that are no texts")
    findings: Any = given.findings
    if type(findings) is not tuple or any(type(one) is not Finding for one in findings):
        raise TypeError("it gave its health with findings that are none")
    counts: list[Any] = [int(given.available)]
    for space in given.spaces or ():
        counts += _checked_part(space, SpaceInfo, space.space)[1:]
    if (store := given.store) is not None:
        _checked_part(store, StoreHealth, store.location)
        counts += (store.documents, store.chunks, store.size)
        counts += [n for _, n in (*store.documents_by_source, *store.chunks_by_source)]
    if wrong := [count for count in counts if type(count) is not int or count < 0]:
        raise TypeError(f"it gave its health with the count {str(wrong[0])[:40]!r}")
    return given


def _checked_part(part: Any, expected: type, name: object) -> Any:
    if type(part) is not expected or type(name) is not str:
        raise TypeError(f"it gave its health with a {type(part).__name__}")
    return part


def mounts_given(
    mounts: Callable[[ManagerContext], Sequence[Mount]], context: ManagerContext, backend: str
) -> Sequence[Mount]:
    """What ``mounts`` of ``backend`` gives; nothing, and a line in the log, where it fails."""
    try:
        given: Any = tuple(mounts(context))
        if wrong := [one for one in given if type(one) is not Mount]:
            raise TypeError(f"it gave a {type(wrong[0]).__name__} for a folder")  # noqa: TRY301
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
        why = failure_of(error)
        log_once(f"mounts of {backend}", f"backend {backend} cannot say what it mounts: {why}")
        return ()
    return cast("Sequence[Mount]", given)


def check_permit(
    permits: Callable[[Any, Query], None], config: Any, backend: str, query: Query
) -> None:
    """Raise what ``permits`` of ``backend`` raises for a query that may not be asked.

    Where it fails it is not known who may ask: :class:`~commonplace.errors.ScopeDeniedError`.
    """
    try:
        permits(config, query)
    except CommonplaceError:
        raise
    except BaseException as error:
        raise ScopeDeniedError(
            f"which chats may search is not known: {backend} failed: {failure_of(error)}",
            hint="update its plugin, or choose another backend",
        ) from error


def refuse_chats(section: str, reason: str, query: Query) -> None:
    """Refuse a chat that a section that cannot be read might restrict.

    An absent section restricts no chat, and a search that names no chat is the owner's own.
    """
    if query.session_key.strip():
        raise ScopeDeniedError(
            f"which chats may search is not known: {section} cannot be read, for {reason}",
            hint=f"fix that plugin (commonplace plugins), or remove {section}",
        )


def health_of(guard: GuardedCaller, report: Callable[[], ManagerHealth]) -> ManagerHealth:
    """The health for searching of the backend that ``guard`` calls, by its own ``report``.

    ``report`` raises :class:`~commonplace.errors.CommonplaceError` where the backend fails.
    """
    if (failure := guard.failure("search")) is not None and failure.retry_in:
        return ManagerHealth(available=False, reason=failure.reason)
    try:
        health = report()
    except CommonplaceError as error:
        return ManagerHealth(available=False, reason=reason_of(error))
    store = health.store
    if health.available and store is not None and not store.documents:
        # With an empty index it can answer only if that can be filled.
        if (failure := guard.failure("sync")) is not None:
            return health._replace(available=False, reason=failure.reason)
        if not store.writable:
            reason = f"the index of {guard.id} is empty and cannot be written"
            return health._replace(available=False, reason=reason)
    return health
