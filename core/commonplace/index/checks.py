"""Checks of an index: whether it is consistent, current, and where a text is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.errors import (
    CommonplaceError,
    IndexCorruptError,
    UnavailableError,
    counted,
    reason_of,
)
from commonplace.index.builds import forced_at, is_abandoned, live_build, parts_of
from commonplace.model.chunks import embedding_text
from commonplace.model.documents import Finding, Fix
from commonplace.model.search import KeywordQuery, Where, cited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.model.documents import Build, StoreHealth
    from commonplace.model.reports import SyncReport
    from commonplace.protocols.parts import Store
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser


_PATIENCE_SECONDS = 30.0


@frozen
class IndexCheck:
    """Checks ``store``, whose own report is ``health``.

    ``identity`` is that of a build made today, ``fingerprints`` gives those of documents by source.
    ``maintain`` updates the index, ``rebuild`` rebuilds it. ``now`` is in epoch seconds.
    """

    store: Store
    health: StoreHealth
    identity: str
    fingerprints: Callable[[], Mapping[str, str]]
    maintain: Callable[[], SyncReport]
    rebuild: Callable[[], SyncReport]
    now: float

    def findings(self) -> Iterator[Finding]:
        """One for each check, those of the store included."""
        yield self._whole()
        try:
            live = live_build(self.store)
            yield from (
                self._identity_of(live),
                self._fingerprints_of(live),
                self._unfinished(live),
            )
        except UnavailableError as error:
            yield Finding("problem", "identity", f"not known: {error}")
        for finding in self.health.findings:
            # A rebuild beside the damaged index is tried before the fixes of the store.
            damage = finding.state == "problem"
            yield finding._replace(fix=None) if damage else finding

    def _whole(self) -> Finding:
        problems = self.health.problems
        if not problems:
            return Finding("ok", "check", "no problems found")
        fix = Fix("rebuild the index beside the damaged one", self._rebuild)
        return Finding(
            "problem", "check", f"{counted(len(problems), 'problem')}: {problems[0]}", fix
        )

    def _rebuild(self) -> str:
        report = self.rebuild()
        notes = report.added + report.updated + report.unchanged
        after = self.store.health(deep=True)
        if not after.problems:
            return f"rebuilt the index from {counted(notes, 'note')}"
        last = next((found.fix for found in after.findings if found.state == "problem"), None)
        if last is None or last.run is None:
            raise IndexCorruptError(
                f"the rebuilt index has problems too: {after.problems[0]}",
                hint="check the disk, or delete the index: notes are not touched",
            )
        fixed = last.run()
        report = self.maintain()
        return f"{fixed}; rebuilt it from {counted(report.added + report.updated, 'note')}"

    def _identity_of(self, live: Build | None) -> Finding:
        if live is None:
            return Finding("ok", "identity", "there is no index yet")
        today, then = parts_of(self.identity), parts_of(live.identity)
        other = [
            f"{name} {then.get(name) or 'none'}, today {today.get(name) or 'none'}"
            for name in today
            if today.get(name) != then.get(name)
        ]
        if not other:
            return Finding("ok", "identity", f"current: {self.identity}")
        value = "differs from today: " + "; ".join(other)
        return Finding("warning", "identity", value, self._reindex())

    def _fingerprints_of(self, live: Build | None) -> Finding:
        try:
            fingerprints = self.fingerprints()
        except UnavailableError as error:  # of the chunker, which no search needs
            return Finding("problem", "fingerprints", f"not known: {reason_of(error)}")
        documents = list(self.store.documents(live)) if live is not None else []
        others = [
            document.fingerprint
            for document in documents
            if document.fingerprint != fingerprints.get(document.source, document.fingerprint)
        ]
        if not others:
            return Finding("ok", "fingerprints", "all current")
        value = (
            f"{len(others)} of {counted(len(documents), 'note')} have another: {others[0]}, today "
            + ", ".join(sorted(set(fingerprints.values())))
        )
        return Finding("warning", "fingerprints", value, self._reindex())

    def _reindex(self) -> Fix:
        def run() -> str:
            report = self.maintain()
            return f"re-indexed {counted(report.added + report.updated, 'note')}"

        return Fix("re-index what differs from today's settings", run)

    def _unfinished(self, live: Build | None) -> Finding:
        begun = [build for build in self.store.builds() if build.state == "filling"]
        if not begun:
            return Finding("ok", "unfinished", "no build")
        build = begun[0]
        value = f"a build of {counted(len(list(self.store.documents(build))), 'note')}"
        if not is_abandoned(build, live, self.identity, self.now):
            force = " --force" if forced_at(build.identity) is not None else ""
            return Finding("ok", "unfinished", f"{value}: `commonplace index{force}` continues it")

        def run() -> str:
            with self.store.writer(wait=_PATIENCE_SECONDS):
                if build in self.store.builds():
                    self.store.drop(build)
            return f"dropped {value}"

        fix = Fix("drop the unfinished build, which is never continued", run)
        return Finding("warning", "unfinished", f"{value}, which is never continued", fix)


_WORDS = 64
_DEPTH = 50


def citation_of(store: Store, analyser: Analyser, text: str, *, deadline: Deadline) -> str:
    """The path and lines of a chunk whose embedded text is ``text``, as ``path#L3-L9``.

    ``""`` if there is none, or if a search for its own words fails to find it.
    """
    words = [word for _, _, words in analyser.spans(text) for word in words]
    query = KeywordQuery(should=tuple(dict.fromkeys(words))[:_WORDS])
    try:
        found = store.keyword(query, where=Where(), limit=_DEPTH, deadline=deadline).found
    except CommonplaceError:
        return ""  # it is only shown to users: embedding continues without it
    for hit in found:
        if embedding_text(hit.chunk) == text:
            return cited(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line)
    return ""
