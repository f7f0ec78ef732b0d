"""What can be said of a QMD home, without running QMD unless that is wanted."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import CommonplaceError, ManagerHealth, StoreHealth, reason_of
from commonplace_qmd.update import needs_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace_qmd.changes import Look
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Qmd, QmdStatus
    from commonplace_qmd.home import State
    from commonplace_qmd.settings import QmdSettings
    from commonplace_qmd.update import Upkeep

__all__ = ["health_of"]


def health_of(
    qmd: Qmd,
    upkeep: Upkeep,
    collections: Sequence[Collection],
    config: QmdSettings,
    *,
    location: str,
    notices: Sequence[str],
    deep: bool,
) -> ManagerHealth:
    """The condition of everything; what is unwell is described, never raised."""
    try:
        probe = qmd.probe()
        if not probe.available:
            reason = f"{probe.reason} ({probe.hint})" if probe.hint else probe.reason
            return ManagerHealth(available=False, reason=reason, notices=tuple(notices))
        state, found = upkeep.state(), upkeep.look()
    except CommonplaceError as error:
        return ManagerHealth(available=False, reason=reason_of(error), notices=tuple(notices))
    asked: QmdStatus | None = None
    problems: tuple[str, ...] = ()
    if deep and state.last_update:
        from commonplace.plugin import Deadline

        try:
            asked = qmd.status(deadline=Deadline.after(config.update.command_timeout_ms / 1000))
        except CommonplaceError as error:
            problems = (reason_of(error),)
    counts = _counts(collections, found)
    documents = asked.documents if asked else state.documents
    writing = upkeep.writing_elsewhere() if deep else ()
    words = (*notices, *_about(qmd, collections, config, state, found), *writing)
    return ManagerHealth(
        available=True,
        store=StoreHealth(
            location=location,
            documents=documents,
            chunks=documents,
            size=_size(location),
            documents_by_source=counts,
            chunks_by_source=counts,
            problems=problems,
        ),
        notices=words,
        information=(_summary(state, asked),),
    )


def _about(
    qmd: Qmd,
    collections: Sequence[Collection],
    config: QmdSettings,
    state: State,
    found: Look,
) -> Iterator[str]:
    for collection in collections:
        for folder in found.listings[collection.name].passed_over:
            yield (
                f"{collection.stored(folder)}: QMD indexes no folder of this name, so its notes "
                "are not found; give it another name"
            )
    if not needs_vectors(config):
        return
    missing = sorted({"embed", "rerank", "generate"}.difference(qmd.models()))
    needed = {"embed"} if config.search_mode == "vsearch" else {"embed", "rerank", "generate"}
    if lacking := [kind for kind in missing if kind in needed]:
        yield (
            f"memory.qmd.searchMode is {config.search_mode}, and QMD's models for "
            f"{', '.join(lacking)} are not on this machine: see `commonplace qmd env`"
        )
    elif state.pending:
        yield "QMD has texts without vectors: run `commonplace index`"
    if state.embed_failures:
        yield f"QMD failed to embed {state.embed_failures} times in a row: {state.embed_reason}"


def _summary(state: State, asked: QmdStatus | None) -> str:
    if not state.last_update:
        return "QMD has not indexed anything yet"
    from datetime import UTC, datetime

    when = datetime.fromtimestamp(state.last_update, UTC).strftime("%Y-%m-%d %H:%M UTC")
    if asked is None:
        return f"QMD has {state.documents} documents, updated {when}"
    return (
        f"QMD {asked.version} has {asked.documents} documents and {asked.vectors} vectors, "
        f"updated {when}"
    )


def _counts(collections: Sequence[Collection], found: Look) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for collection in collections:
        files = len(found.listings[collection.name].files)
        counts[collection.source] = counts.get(collection.source, 0) + files
    return tuple(sorted(counts.items()))


def _size(location: str) -> int:
    size = 0
    for ending in ("", "-wal"):
        with suppress(OSError):
            size += os.stat(location + ending).st_size
    return size
