"""What a store says of itself and of what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from commonplace.model.documents import Stamp
    from commonplace.model.findings import Finding

__all__ = ["Build", "SpaceInfo", "StoreHealth", "StoredDocument"]


class StoredDocument(NamedTuple):
    """A document as a store remembers it, for finding out what has changed.

    ``resume`` is what was put, in stores that declare ``append``; others need not remember it.
    """

    source: str
    path: str
    digest: str
    stamp: Stamp
    fingerprint: str
    resume: str = ""


class Build(NamedTuple):
    """One whole index inside a store: ``live`` is searched, ``filling`` is being made beside it.

    ``identity`` names what cannot be changed document by document (schema, tokenizer).
    """

    id: int
    identity: str
    state: Literal["live", "filling"]


class StoreHealth(NamedTuple):
    """Counts of the live build, and what is wrong.

    ``location`` is a path or URI for people (``""``: nowhere). ``size`` is bytes on disk.
    ``notices`` are lines about what the store repaired or cannot do (set aside a damaged file, is
    read-only, ...); ``problems`` are findings of a deep check that were not repaired. ``findings``
    are all that a deep check looked at, well or not, of stores that tell.
    """

    location: str
    documents: int
    chunks: int
    size: int = 0
    writable: bool = True
    documents_by_source: tuple[tuple[str, int], ...] = ()
    chunks_by_source: tuple[tuple[str, int], ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class SpaceInfo(NamedTuple):
    """A space of vectors in the live build: ``covered`` of ``chunks`` chunks have a vector."""

    space: str
    dims: int
    covered: int
    chunks: int
