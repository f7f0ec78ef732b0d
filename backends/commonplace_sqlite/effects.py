"""What a batch of changes comes to, document by document."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from attrs import evolve

from commonplace.plugin import AppendDocument, DeleteDocument, PutDocument, TouchDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commonplace.plugin import Change, Stamp

__all__ = ["Effect", "Key", "net_effects"]

Key = tuple[str, str]
"""Source and path of a document."""


class Effect(NamedTuple):
    """A document is ``put`` or gone on with, with a stamp; touched with one; or, without, gone."""

    put: PutDocument | AppendDocument | None = None
    stamp: Stamp | None = None


def net_effects(changes: Iterable[Change]) -> Mapping[Key, Effect]:
    """What each document comes to by ``changes``, one after the other.

    Raises ``TypeError`` for anything that is not a change, and ``ValueError`` for what goes on with
    a document that is not as long, as far as these changes tell.
    """
    effects: dict[Key, Effect] = {}
    for change in changes:
        match change:
            case PutDocument(source=source, path=path, stamp=stamp):
                effects[source, path] = Effect(change, stamp)
            case AppendDocument(source=source, path=path, stamp=stamp):
                before = effects.get((source, path))
                effects[source, path] = Effect(_appended(before, change), stamp)
            case DeleteDocument(source=source, path=path):
                effects[source, path] = Effect()
            case TouchDocument(source=source, path=path, stamp=stamp):
                put, old_stamp = effects.get((source, path), Effect(None, stamp))
                if old_stamp is not None:
                    effects[source, path] = Effect(put, stamp)
            case _:
                raise TypeError(f"not a change: {change!r}")
    return effects


def _appended(before: Effect | None, change: AppendDocument) -> PutDocument | AppendDocument:
    if change.keep < 0:
        raise ValueError(f"{change.keep} chunks of {change.path} cannot be kept")
    if before == Effect():
        raise ValueError(f"{change.path} is gone, and cannot be gone on with")
    put = before.put if before is not None else None
    if put is None:
        return change
    first = put.keep if isinstance(put, AppendDocument) else 0
    if change.keep < first:
        return change
    if change.keep > first + len(put.chunks):
        raise ValueError(f"{change.path} has no {change.keep} chunks to keep")
    return evolve(
        put,
        digest=change.digest,
        stamp=change.stamp,
        day=change.day,
        chunks=put.chunks[: change.keep - first] + change.chunks,
        resume=change.resume,
    )
