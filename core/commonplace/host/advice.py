"""One-line advice for plugins that are missing, switched off or broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import PluginConflictError, PluginUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.host.entrypoints import EntryPoint
    from commonplace.host.loader import Failure

__all__ = ["error_of", "mend_failure", "mend_switch", "suggest"]


def suggest(kind: str, id_: str, known: Iterable[str]) -> str:
    """The id that was probably meant, and those there are."""
    from difflib import get_close_matches

    ids = sorted(known)
    if not ids:
        return f"install a plugin that offers a {kind}"
    listed = f"there is {', '.join(ids)}"
    close = get_close_matches(id_, ids, n=1)
    return f"did you mean {close[0]!r}? {listed}" if close else listed


def mend_switch(variable: str, name: str) -> str:
    """How to get back what an environment variable switches off."""
    from commonplace.host.catalogue import ONLY

    return f"add {name} to {variable}, or unset it" if variable == ONLY else f"unset {variable}"


def error_of(entry: EntryPoint, failure: Failure) -> PluginUnavailableError | PluginConflictError:
    """What to raise when something is asked of a plugin that failed."""
    if isinstance(failure.cause, PluginConflictError):
        return PluginConflictError(str(failure.cause), hint=failure.cause.hint)
    return PluginUnavailableError(
        f"{entry.kind} {entry.id!r} of {entry.origin} failed to load: {failure.error}",
        hint=mend_failure(entry, failure.cause),
    )


def mend_failure(entry: EntryPoint, cause: BaseException | None) -> str:
    """How to get a plugin to load that failed by ``cause``."""
    if isinstance(cause, PluginConflictError):
        return cause.hint
    if isinstance(cause, ImportError) and cause.name:
        library = cause.name.partition(".")[0]
        if library != entry.module.partition(".")[0]:
            extras = entry.extras or _extra_with(library, entry.distribution)
            if extras:
                return f"pip install '{entry.distribution}[{extras}]'"
            return f"install {library}, which {entry.distribution} needs"
    return "see the traceback: commonplace plugins --load --json"


def _extra_with(library: str, distribution: str) -> str:
    """The extra of ``distribution`` that brings ``library``, or ``""``."""
    from importlib.metadata import PackageNotFoundError, requires

    from commonplace.host.scan import canonical

    try:
        requirements = requires(distribution) or []
    except (PackageNotFoundError, ValueError):
        return ""
    for requirement in requirements:
        wanted, _, condition = requirement.partition(";")
        _, extra, value = condition.partition("extra ==")
        name = wanted
        for stop in " <>=!~[(@":
            name = name.partition(stop)[0]
        if extra and canonical(name) == canonical(library):
            return value.strip(" ()").split()[0].strip("'\"")
    return ""
