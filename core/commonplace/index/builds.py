"""Builds of an index: their identity, how their notes are cut, and which one a sync writes to."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError
from commonplace.files.scan import printable
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.documents import Build
    from commonplace.model.search import KeywordMatches
    from commonplace.protocols.parts import Chunker, Source, Store
    from commonplace.text.analyse import Analyser


_WORKSPACE = " workspace="
_FORCED = "forced="

_MOST_CUTS = 8  # settings that one index was cut by; older ones count as new again

_KEPT_SECONDS = 86_400
"""How long an interrupted ``--force`` can be continued; an older build is not reused."""


class Target(NamedTuple):
    """The build to write to; one that is ``beside`` the live one is activated when complete."""

    build: Build
    beside: bool


def fingerprint_of(source: Source, chunker_fingerprint: str, analyser: Analyser) -> str:
    """How a document of ``source`` becomes chunks today: source, chunker, analyser, versions.

    It is readable, not hashed: it is short, and it tells a reader of the index why a document will
    be indexed again.
    """
    return f"{source.id}-{source.version} {chunker_fingerprint} {analyser.id}"


def build_identity(analyser: Analyser, workspace: str) -> str:
    """What a whole build depends on, beyond the fingerprints of its documents.

    The workspace is part of it: stored paths are relative to it, so two workspaces that share a
    configured index would mix up their documents.
    """
    return f"keyword-1 tokenizer={analyser.terms} workspace={printable(workspace)}"


def forced_identity(identity: str, at: int) -> str:
    """``identity`` with a mark that a rebuild was forced at ``at`` (epoch seconds).

    The mark stays with the build, so that a forced rebuild can be continued after a kill.
    """
    words, workspace = _split(identity)
    return " ".join((*words, f"{_FORCED}{at}")) + workspace


def forced_at(identity: str) -> int | None:
    """When the rebuild was forced (epoch seconds); ``None`` without a mark."""
    words, _ = _split(identity)
    marks = [word.removeprefix(_FORCED) for word in words if word.startswith(_FORCED)]
    return int(marks[0]) if marks and marks[0].isdecimal() else None


def plain_identity(identity: str) -> str:
    """``identity`` without the mark of :func:`forced_identity`."""
    words, workspace = _split(identity)
    return " ".join(word for word in words if not word.startswith(_FORCED)) + workspace


def parts_of(identity: str) -> dict[str, str]:
    """The parts of an identity by their names: format, tokenizer, workspace."""
    (version, *words), workspace = _split(plain_identity(identity))
    named = dict(word.partition("=")[::2] for word in words if "=" in word)
    return {"format": version, **named, "workspace": workspace.removeprefix(_WORKSPACE)}


def _split(identity: str) -> tuple[list[str], str]:
    """Its words, and its end with the workspace, a path that may have any words in it."""
    head, mark, path = identity.partition(_WORKSPACE)
    return head.split(" "), mark + path


def live_build(store: Store) -> Build | None:
    """The build that is searched."""
    return next((build for build in store.builds() if build.state == "live"), None)


def is_current(build: Build, identity: str) -> bool:
    """Whether ``build`` has today's identity, forced or not."""
    return plain_identity(build.identity) == identity


def can_answer(build: Build, identity: str) -> bool:
    """Whether ``build`` gives correct answers to today's queries.

    A build of an older version does. One of another workspace or another tokenizer does not.
    """
    theirs = plain_identity(build.identity)
    return theirs == identity or (
        same_workspace(theirs, identity) and same_tokenizer(theirs, identity)
    )


def as_declared(matches: KeywordMatches, abilities: frozenset[str]) -> KeywordMatches:
    """``matches`` of a store with what it declares: what it does not is checked by no law.

    A list of hits is as good as a tuple.
    """
    if "term_counts" not in abilities and matches.terms:
        matches = matches._replace(terms=())
    if "counts" not in abilities and matches.holders is not None:
        matches = matches._replace(holders=None, terms=())
    found: object = matches.found
    return matches if type(found) is tuple else matches._replace(found=tuple(matches.found))


def same_workspace(one: str, other: str) -> bool:
    """Whether two identities are of one workspace."""
    return _split(one)[1] == _split(other)[1]


def same_tokenizer(one: str, other: str) -> bool:
    """Whether the terms of two builds match, so that a query for one fits the other."""
    tokenizer = parts_of(one).get("tokenizer")
    return tokenizer is not None and tokenizer == parts_of(other).get("tokenizer")


def begun_build(store: Store, identity: str) -> Build | None:
    """The unfinished build that :func:`choose_target` would continue instead of the live one."""
    filling = (build for build in store.builds() if build.state == "filling")
    return next((build for build in filling if is_current(build, identity)), None)


def is_abandoned(build: Build, live: Build | None, identity: str, now: float) -> bool:
    """Whether no sync, forced or not, will continue the unfinished ``build``."""
    if not is_current(build, identity):
        return True
    return live is not None and is_current(live, identity) and not _can_continue(build, now)


def choose_target(store: Store, identity: str, *, force: bool, tidy: bool, now: float) -> Target:
    """The build to write to. The caller holds the writer lease.

    ``force`` starts a rebuild that is marked, or continues one that was forced less than a day
    before ``now`` (epoch seconds) and interrupted. With ``tidy``, abandoned builds are dropped.
    """
    live = live_build(store)
    if live is None:
        # There is no older build to search meanwhile: each batch becomes searchable at once.
        build = store.open_build(identity)
        store.activate(build)
        return Target(build._replace(state="live"), beside=False)
    begun = begun_build(store, identity)
    wanted = begun is not None and _can_continue(begun, now)
    if force:
        if begun is None or not wanted:
            begun = store.open_build(forced_identity(identity, int(now)))
        return Target(begun, beside=True)
    if not is_current(live, identity):
        return Target(begun or store.open_build(identity), beside=True)
    if tidy and not wanted:
        for build in store.builds():
            if build.state == "filling":
                store.drop(build)
    return Target(live, beside=False)


def _can_continue(build: Build, now: float) -> bool:
    since = forced_at(build.identity)
    return since is not None and 0 <= now - since <= _KEPT_SECONDS


class Cut(NamedTuple):
    """The settings below ``chunking`` by which notes are cut into chunks."""

    strategy: str
    tokens: int
    overlap: int


class SharedChunking:
    """Lets processes that share an index cut it in one way, whatever their settings.

    A file beside the index, ``record``, has a line for each :class:`Cut` that it was made by; the
    first one is in use. A cut that is new to the index replaces it with the next whole sync, as
    when a user changes a setting. One that was replaced before gives way: else two configurations
    would undo each other's index for ever. ``make`` makes the chunker of a cut.
    """

    def __init__(self, record: str, own: Cut, make: Callable[[Cut], Chunker]) -> None:
        self._record = record
        self._own = own
        self._make = make
        self._made: dict[Cut, Chunker] = {}

    def choose(
        self, *, writes: bool = True, whole: bool = False, force: bool = False
    ) -> tuple[Chunker, str]:
        """The chunker to use, and a line for the user if it is not that of the settings.

        ``writes`` says that the index is synced, ``whole`` that all of it is, and ``force`` that it
        is rebuilt, so that the settings replace whatever is in use.
        """
        known = self._read()
        if not known or known[0] == self._own:
            return self._taken(known, write=writes and not known)
        if force or (whole and self._own not in known):
            return self._taken(known, write=True)
        try:
            chunker = self._chunker(known[0])
        except CommonplaceError:  # its plugin is not installed here
            return self._taken(known, write=whole)
        return chunker, self._difference(known)

    def _taken(self, known: Sequence[Cut], *, write: bool) -> tuple[Chunker, str]:
        if write:
            from commonplace.dirs import write_whole

            cuts = [self._own, *(cut for cut in known if cut != self._own)]
            lines = [" ".join(map(str, cut)) for cut in cuts[:_MOST_CUTS]]
            with suppress(OSError):  # where nothing can be written, the index cannot be either
                write_whole(self._record, "\n".join(lines) + "\n")
        return self._chunker(self._own), ""

    def _difference(self, known: Sequence[Cut]) -> str:
        names = zip(Cut._fields, self._own, known[0], strict=True)
        words = ", ".join(
            f"chunking.{name} is {here} here and {there} in the index"
            for name, here, there in names
            if here != there
        )
        if self._own not in known:
            return f"{words}: `commonplace index` cuts the notes again"
        return (
            f"{words}, as set here before or by another configuration: run `commonplace index "
            "--force`, or give each configuration an index of its own (store.path)"
        )

    def _chunker(self, cut: Cut) -> Chunker:
        if cut not in self._made:
            self._made[cut] = self._make(cut)
        return self._made[cut]

    def _read(self) -> list[Cut]:
        """The cuts of the record; none if there is no record, or one that cannot be read."""
        try:
            with open(self._record, encoding="utf-8") as file:
                rows = [line.split() for line in file]
            return [Cut(strategy, int(tokens), int(overlap)) for strategy, tokens, overlap in rows]
        except (OSError, ValueError):
            return []
