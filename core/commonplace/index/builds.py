"""Builds of an index: their identity, and which one a sync writes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from commonplace.model.store import Build
    from commonplace.protocols.sources import Source
    from commonplace.protocols.stores import Store
    from commonplace.text.analyse import Analyser

__all__ = [
    "Target",
    "anew_since",
    "answers",
    "begun_build",
    "build_identity",
    "choose_target",
    "is_current",
    "is_of_nobody",
    "live_build",
    "made_anew",
    "plain_identity",
    "recipe_of",
    "same_tokenizer",
    "same_workspace",
]


_WORKSPACE = " workspace="
_ANEW = "anew="


def recipe_of(source: Source, chunker_fingerprint: str, analyser: Analyser) -> str:
    """The recipe that today's parts would give a document of ``source``.

    Kept readable instead of hashed: it is short, and a person who looks into the index learns why
    a document is about to be made again.
    """
    return f"{source.id}-{source.version} {chunker_fingerprint} {analyser.id}"


def build_identity(analyser: Analyser, workspace: str) -> str:
    """What a whole build depends on, and no single document can change by itself.

    The workspace is part of it: stored paths are relative to it, so that another folder's documents
    would pass for this one's if a configured index is used for both.
    """
    return f"keyword-1 tokenizer={analyser.tokenizer or 'analysed'} workspace={workspace}"


def made_anew(identity: str, at: int) -> str:
    """``identity`` for a build that was asked for at ``at`` (epoch seconds), though none was due.

    The mark stays with the build: whoever is asked again, after a kill, knows it for the one that
    was begun then, and goes on with it.
    """
    head, mark, rest = identity.partition(_WORKSPACE)
    return f"{head} {_ANEW}{at}{mark}{rest}"


def anew_since(identity: str) -> int | None:
    """When the build was asked for, by its mark; ``None`` where it has none."""
    words = identity.partition(_WORKSPACE)[0].split(" ")
    marks = [word.removeprefix(_ANEW) for word in words if word.startswith(_ANEW)]
    return int(marks[0]) if marks and marks[0].isdecimal() else None


def plain_identity(identity: str) -> str:
    """``identity`` without the mark of :func:`made_anew`."""
    head, mark, rest = identity.partition(_WORKSPACE)
    words = (word for word in head.split(" ") if not word.startswith(_ANEW))
    return " ".join(words) + mark + rest


def same_workspace(one: str, other: str) -> bool:
    """Whether two identities are of one workspace."""
    return one.partition(_WORKSPACE)[2] == other.partition(_WORKSPACE)[2]


def same_tokenizer(one: str, other: str) -> bool:
    """Whether terms are cut alike in two builds, so that a query made for one fits the other."""
    return _tokenizer(one) == _tokenizer(other) != ""


def _tokenizer(identity: str) -> str:
    words = identity.partition(_WORKSPACE)[0].split(" ")
    return next((word for word in words if word.startswith("tokenizer=")), "")


_KEPT_SECONDS = 86_400
"""How long what a killed ``--force`` began is gone on with: what is older is no answer to it."""


class Target(NamedTuple):
    """A build to write to; one that is made ``beside`` the live one is activated when complete."""

    build: Build
    beside: bool


def live_build(store: Store) -> Build | None:
    """The build that is searched."""
    return next((build for build in store.builds() if build.state == "live"), None)


def is_current(build: Build, identity: str) -> bool:
    """Whether ``build`` is as it would be made today, whatever it was made for."""
    return plain_identity(build.identity) == identity


def answers(build: Build, identity: str) -> bool:
    """Whether queries of today get an honest answer from ``build``.

    One of an older make does, by what it can; not one of another workspace, nor one whose terms
    were cut by another tokenizer.
    """
    theirs = plain_identity(build.identity)
    return theirs == identity or (
        same_workspace(theirs, identity) and same_tokenizer(theirs, identity)
    )


def begun_build(store: Store, identity: str) -> Build | None:
    """The unfinished build that :func:`choose_target` would go on with in the place of the live."""
    return next(
        (
            build
            for build in store.builds()
            if build.state == "filling" and is_current(build, identity)
        ),
        None,
    )


def is_of_nobody(build: Build, live: Build | None, identity: str, now: float) -> bool:
    """Whether no sync will go on with the unfinished ``build``, asked for or not."""
    if not is_current(build, identity):
        return True
    return live is not None and is_current(live, identity) and not _is_wanted(build, now)


def choose_target(store: Store, identity: str, *, force: bool, tidy: bool, now: float) -> Target:
    """The build to write to; for holders of the writer lease.

    ``force`` promises that everything is read anew since it was first asked for: what it began is
    marked, and asked for again, after a kill, it goes on there, within a day of ``now`` (epoch
    seconds). With ``tidy``, what nobody will go on with is dropped.
    """
    live = live_build(store)
    if live is None:
        # Nothing to keep answering meanwhile: what is indexed is searchable batch by batch.
        build = store.open_build(identity)
        store.activate(build)
        return Target(build._replace(state="live"), beside=False)
    begun = begun_build(store, identity)
    wanted = begun is not None and _is_wanted(begun, now)
    if force:
        if begun is None or not wanted:
            begun = store.open_build(made_anew(identity, int(now)))
        return Target(begun, beside=True)
    if not is_current(live, identity):
        return Target(begun or store.open_build(identity), beside=True)
    if tidy and not wanted:
        for build in store.builds():
            if build.state == "filling":
                store.drop(build)
    return Target(live, beside=False)


def _is_wanted(build: Build, now: float) -> bool:
    since = anew_since(build.identity)
    return since is not None and 0 <= now - since <= _KEPT_SECONDS
