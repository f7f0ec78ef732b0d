"""Who offers what by its entry point, once switches and conflicts are accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import PluginConflictError, PluginUnavailableError, suggest
from commonplace.host.discovery import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commonplace.host.discovery import EntryPoint


ONLY = "COMMONPLACE_PLUGINS"
DISABLE = "COMMONPLACE_DISABLE_PLUGINS"


class Catalogue:
    """Entry points, looked up by kind and id.

    ``env`` may hold ``COMMONPLACE_PLUGINS`` (only these) and ``COMMONPLACE_DISABLE_PLUGINS`` (all
    but these): names of entry points (``ranker.mmr``) or of distributions, separated by commas. An
    empty value is as good as none.
    """

    def __init__(self, entries: Sequence[EntryPoint], env: Mapping[str, str]) -> None:
        self.entries = tuple(entries)
        self._only = _names(env.get(ONLY, ""))
        self._disabled = _names(env.get(DISABLE, ""))
        self._switched_on: dict[str, list[EntryPoint]] = {}
        # The well formed first: a malformed entry point must not hide one.
        for entry in sorted(self.entries, key=lambda entry: bool(entry.problem)):
            rivals = self._switched_on.setdefault(entry.name, [])
            if not self.switched_off(entry) and not (entry.problem and rivals):
                rivals.append(entry)

    def switched_off(self, entry: EntryPoint) -> str:
        """The variable that switches ``entry`` off, or ``""``."""
        if self._only and not _named(entry, self._only):
            return ONLY
        return DISABLE if self._disabled and _named(entry, self._disabled) else ""

    def ids(self, kind: str) -> tuple[str, ...]:
        """The ids of ``kind`` that one entry point offers, in alphabetical order."""
        return tuple(sorted(entry.id for entry in self.of_kind(kind)))

    def of_kind(self, kind: str) -> tuple[EntryPoint, ...]:
        """The entry points of ``kind`` that are on, well formed and without a rival."""
        return tuple(
            entries[0]
            for entries in self._switched_on.values()
            if len(entries) == 1 and entries[0].kind == kind and not entries[0].problem
        )

    def of_module(self, kind: str, module: str) -> tuple[EntryPoint, ...]:
        """All entry points of ``kind`` that name ``module``, even those that are off."""
        return tuple(e for e in self.entries if e.module == module and e.kind == kind)

    def rivals(self, name: str) -> tuple[EntryPoint, ...]:
        """The entry points that are on under ``name``: more than one is a conflict."""
        return tuple(self._switched_on.get(name, ()))

    def find(self, kind: str, id_: str, others: Iterable[str] = ()) -> EntryPoint:
        """The entry point of ``kind`` and ``id_``; ``others`` are ids known besides, for advice.

        Raises :class:`~commonplace.errors.PluginConflictError` if distributions disagree on it,
        and :class:`~commonplace.errors.PluginUnavailableError` if there is none or it is off.
        """
        name = f"{kind}.{id_}"
        rivals = self.rivals(name)
        if len(rivals) > 1:
            raise conflict(name, rivals)
        if rivals:
            return rivals[0]

        for entry in self.entries:
            if entry.name == name:
                variable = self.switched_off(entry)
                raise PluginUnavailableError(
                    f"{kind} {id_!r} is switched off by {variable}",
                    hint=switch_hint(variable, name),
                )
        raise PluginUnavailableError(
            f"there is no {kind} {id_!r}", hint=_suggestion(kind, id_, {*self.ids(kind), *others})
        )


def conflict(name: str, rivals: Sequence[EntryPoint]) -> PluginConflictError:
    """The error for ``name`` being offered by several distributions."""
    origins = " and ".join(entry.origin for entry in rivals)
    # Without our own distribution hardly anything would be left.
    strangers = [entry for entry in rivals if canonical(entry.distribution) != "commonplace"]
    unwanted = (strangers or rivals)[-1].distribution
    return PluginConflictError(
        f"{name} is offered by {origins}",
        hint=f"uninstall one of them, or switch it off: {DISABLE}={unwanted}",
    )


def switch_hint(variable: str, name: str) -> str:
    """How to get back a plugin that an environment variable switches off."""
    return f"add {name} to {variable}, or unset it" if variable == ONLY else f"unset {variable}"


def _suggestion(kind: str, id_: str, known: Iterable[str]) -> str:
    """The id that was probably meant, and all known ones."""
    ids = sorted(known)
    if not ids:
        return f"install a plugin that offers a {kind}"
    listed = f"there is {', '.join(ids)}"
    close = suggest(id_, ids)
    return f"did you mean {close!r}? {listed}" if close else listed


def _names(value: str) -> frozenset[str]:
    return frozenset(canonical(name.strip()) for name in value.split(",") if name.strip())


def _named(entry: EntryPoint, names: frozenset[str]) -> bool:
    return canonical(entry.name) in names or canonical(entry.distribution) in names
