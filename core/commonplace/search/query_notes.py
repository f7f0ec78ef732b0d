"""What is said of a query that finds nothing: no words, filters that no note passes, no scan.

Imported where a search needs it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError, UnavailableError
from commonplace.host.answers import read_of, scanned
from commonplace.model.search import QueryNote, Where
from commonplace.model.tools import is_direct
from commonplace.text.query import shown_filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace.model.documents import DocumentRef, RootFailure
    from commonplace.model.plugins import Mount
    from commonplace.model.search import Candidate, KeywordQuery
    from commonplace.protocols.parts import Source
    from commonplace.resilience.bounded_call import Worker
    from commonplace.resilience.deadline import Deadline

_SCAN_SECONDS = 0.5
"""How long notes are looked for that pass the filters."""

_HANGING = 4
"""So many scans may hang at once, before no further one is started."""

_LONGEST_SHOWN = 100
"""Characters of a filter in the note that names it."""


def check_seen(
    hidden: Sequence[RootFailure],
    where: Where,
    sources: Sequence[str],
    found: Iterable[Candidate],
) -> None:
    """Raise where nothing is shown, as whole sources could not be scanned.

    These are all of ``sources`` that are searched, or have something of what was ``found``: an
    empty result would say that nothing is known.
    """
    unscanned = {root.source: root.reason for root in hidden if not root.root}
    searched = set(sources) if where.sources is None else where.sources.intersection(sources)
    searched = searched.difference(where.not_sources)
    no_scan = "" in unscanned or (searched and searched <= unscanned.keys())
    if no_scan or any(hit.chunk.source in unscanned for hit in found):
        raise UnavailableError(
            "; ".join(dict.fromkeys(unscanned.values())),
            hint="what is indexed is kept, and shown again once the folder, or what reads it, is "
            "back; then search again",
        )


def nothing_passes(
    where: Where,
    sources: Sequence[Source],
    mounts: Callable[[], Iterable[Mount]],
    until: Deadline,
    chat: str = "",
) -> tuple[str, ...]:
    """A note on each of the paths and tags of ``where`` that no note has; raises nothing.

    None for a ``chat`` that is not direct: its members may not know what files there are. It scans
    the files, not the index, for half a second at most. It reports nothing that is not known by
    then, and no path where a scan failed, or that may lie below one of ``mounts``.
    """
    deadline, notes = until.sooner(_SCAN_SECONDS), list[str]()
    if not deadline.expired and is_direct(chat):
        work = partial(_add_notes, where, sources, mounts, deadline, notes)
        with suppress(CommonplaceError, OSError):  # such as the end of the time
            _worker().run(work, deadline)
    return tuple(notes)


@cache
def _worker() -> Worker:
    from commonplace.resilience.bounded_call import Worker

    return Worker("filters", at_most=_HANGING)


def nothing_to_search_for(typed: str, query: KeywordQuery, where: Where) -> str:
    """What is missing in a query without words."""
    if query.must_not:
        quoted = typed.strip().replace('"', "")
        return QueryNote(
            "the query only says what to leave out: add a word to search for, or put it in quotes "
            f'to search for what it says: "{quoted}"'
        )
    if where != Where():
        words = "the query has filters and no words: add a word to search for"
        listing = _listing(where)
        return f"{words}, or list the notes: `{listing}`" if listing else words
    return "the query has no words to search for"


def _listing(where: Where) -> str:
    """The command that lists the notes that pass ``where``; ``""`` where there is none."""
    filters = [text.partition(":") for text in shown_filters(where)]
    keys = [key for key, _, _ in filters]
    known = {"source", "tag", "after", "before"}.issuperset(keys) and len(keys) == len(set(keys))
    if not known or where.sources == frozenset():  # of no source
        return ""
    from shlex import quote

    return " ".join(["commonplace list", *(f"--{key} {quote(value)}" for key, _, value in filters)])


def _add_notes(
    where: Where,
    sources: Sequence[Source],
    mounts: Callable[[], Iterable[Mount]],
    deadline: Deadline,
    notes: list[str],
) -> None:
    from commonplace.files.globs import glob_regex

    scans: list[tuple[Source, Sequence[DocumentRef]]] = []
    for source in sources:
        report = scanned(source)
        if report.failed_roots or deadline.expired:
            return
        scans.append((source, report.documents))
    mounted = tuple(mounts())
    for path in where.paths:
        matches = re.compile(glob_regex(path)).fullmatch
        known = any(matches(ref.path) for _, refs in scans for ref in refs)
        if not known and not any(_may_hold(mount, path) for mount in mounted):
            notes.append(QueryNote(f"no note is at path:{_shortened(path)}"))
    if where.tags and not mounted:
        absent = _absent_tags(where.tags, scans, deadline)
        notes += [QueryNote(f"no note has the tag {_shortened(tag)!r}") for tag in absent]


def _may_hold(mount: Mount, path: str) -> bool:
    """Whether a file of ``mount`` may be what ``path``, a filter, stands for."""
    name = mount.prefix if mount.stored is None else mount.stored
    name, fixed = f"{name}/" if name else "", re.split(r"[*?]", path, maxsplit=1)[0]
    return name.startswith(fixed) or fixed.startswith(name)


def _absent_tags(
    tags: Sequence[str],
    scans: Sequence[tuple[Source, Sequence[DocumentRef]]],
    deadline: Deadline,
) -> Sequence[str]:
    """Those of ``tags`` that no note has; none where not all notes were read in time.

    Raises what :func:`~commonplace.host.answers.read_of` does.
    """
    missing = dict.fromkeys(tags)
    # Conversations are no notes, and too long to be read for this.
    of_notes = [scan for scan in scans if "growing" not in scan[0].capabilities]
    for source, ref in ((source, ref) for source, refs in of_notes for ref in refs):
        if deadline.expired or not missing:
            return ()
        document = read_of(source, ref)
        for tag in document.tags if document is not None else ():
            missing.pop(tag, None)
    return tuple(missing)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
