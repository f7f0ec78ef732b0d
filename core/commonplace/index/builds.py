"""Builds of an index: their identity, and which one a sync writes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from commonplace.model.documents import Build
    from commonplace.protocols.parts import Source, Store
    from commonplace.text.analyse import Analyser


_WORKSPACE = " workspace="
_FORCED = "forced="

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
    return f"keyword-1 tokenizer={analyser.tokenizer or 'analysed'} workspace={workspace}"


def forced_identity(identity: str, at: int) -> str:
    """``identity`` with a mark that a rebuild was forced at ``at`` (epoch seconds).

    The mark stays with the build, so that a forced rebuild can be continued after a kill.
    """
    head, mark, rest = identity.partition(_WORKSPACE)
    return f"{head} {_FORCED}{at}{mark}{rest}"


def forced_at(identity: str) -> int | None:
    """When the rebuild was forced (epoch seconds); ``None`` without a mark."""
    words = identity.partition(_WORKSPACE)[0].split(" ")
    marks = [word.removeprefix(_FORCED) for word in words if word.startswith(_FORCED)]
    return int(marks[0]) if marks and marks[0].isdecimal() else None


def plain_identity(identity: str) -> str:
    """``identity`` without the mark of :func:`forced_identity`."""
    head, mark, rest = identity.partition(_WORKSPACE)
    words = (word for word in head.split(" ") if not word.startswith(_FORCED))
    return " ".join(words) + mark + rest


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


def same_workspace(one: str, other: str) -> bool:
    """Whether two identities are of one workspace."""
    return one.partition(_WORKSPACE)[2] == other.partition(_WORKSPACE)[2]


def same_tokenizer(one: str, other: str) -> bool:
    """Whether the terms of two builds match, so that a query for one fits the other."""
    return _tokenizer(one) == _tokenizer(other) != ""


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


def _tokenizer(identity: str) -> str:
    words = identity.partition(_WORKSPACE)[0].split(" ")
    return next((word for word in words if word.startswith("tokenizer=")), "")
