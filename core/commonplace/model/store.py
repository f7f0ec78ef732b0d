"""What a store reports of itself and its contents, and the findings of health checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Stamp


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


class Fix(NamedTuple):
    """How to fix a finding: ``text`` says it in the imperative.

    With ``run``, ``commonplace doctor --fix`` does it: ``run`` returns one line on what it did, or
    raises a :class:`~commonplace.errors.CommonplaceError` or ``OSError``. It may be called while
    the part is open that reported the finding. No fix changes a note. ``on_request`` marks a fix
    that deletes what costs money to make again: it runs only with ``--drop-unused``.
    """

    text: str
    run: Callable[[], str] | None = None
    on_request: bool = False

    @property
    def hint(self) -> str:
        """One line for people: ``text``, behind the command that does it where there is one."""
        if self.run is None:
            return self.text
        option = " --drop-unused" if self.on_request else ""
        return f"`commonplace doctor --fix{option}`: {self.text}"


class Finding(NamedTuple):
    """The result of one check.

    ``state`` is ``problem`` where results may be wrong or missing, ``warning`` where it should be
    looked into. ``name`` is stable, one or two words; ``text`` is one line for people.
    """

    state: Literal["ok", "warning", "problem"]
    name: str
    text: str
    fix: Fix | None = None
