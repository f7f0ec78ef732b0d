from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.conformance.mutants import caught, complete

from commonplace.index.simple_store import Contents
from commonplace.model.search import KeywordMatches
from commonplace.testing.store.builds import BuildLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.model.search import KeywordQuery, Where
    from commonplace.resilience.deadline import Deadline


class BeginsWithTheLiveDocuments(InMemoryStore):
    def open_build(self, identity: str) -> Build:
        build = super().open_build(identity)
        builds = self._snapshot()
        builds[build.id] = builds[build.id]._replace(contents=self._live())
        self._swap(builds)
        return build


class SearchesTheFillingBuild(InMemoryStore):
    def _live(self) -> Contents:
        for held in self._snapshot().values():
            if held.build.state == "filling":
                return held.contents
        return super()._live()


class SearchesWhateverThereIs(InMemoryStore):
    def _live(self) -> Contents:
        for held in self._snapshot().values():
            return held.contents
        return Contents()


class ScoresOverAllBuilds(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        found = super().keyword(query, where=where, limit=limit, deadline=deadline).found
        builds = len(self.builds())
        return KeywordMatches(tuple(hit._replace(score=hit.score * builds) for hit in found))


class AveragesOverAllBuilds(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        matches = super().keyword(query, where=where, limit=limit, deadline=deadline)
        builds = self._snapshot().values()
        lengths = [row.length for held in builds for row in held.contents.rows()]
        return matches._replace(average=sum(lengths) / max(1, len(lengths)))


class NeverResumes(InMemoryStore):
    def open_build(self, identity: str) -> Build:
        for build in self.builds():
            if build.state == "filling":
                self.drop(build)
        return super().open_build(identity)


class ResumesAnything(InMemoryStore):
    def open_build(self, identity: str) -> Build:
        for build in self.builds():
            if build.state == "filling":
                return build
        return super().open_build(identity)


class ResumesTheLiveBuild(InMemoryStore):
    def open_build(self, identity: str) -> Build:
        for build in self.builds():
            if build.identity == identity:
                return build
        return super().open_build(identity)


class ActivatesHalf(InMemoryStore):
    def activate(self, build: Build) -> None:
        super().activate(build)
        held = self._held(build)
        half = list(held.contents.documents.items())[: len(held.contents.documents) // 2]
        self._swap({build.id: held._replace(contents=Contents(dict(half)))})


class KeepsTheOldDocuments(InMemoryStore):
    def activate(self, build: Build) -> None:
        old = self._live().documents
        super().activate(build)
        held = self._held(build)
        self._swap({build.id: held._replace(contents=Contents({**old, **held.contents.documents}))})


class KeepsTheOldBuild(InMemoryStore):
    def activate(self, build: Build) -> None:
        old = {id_: held for id_, held in self._snapshot().items() if id_ != build.id}
        super().activate(build)
        self._swap(self._snapshot() | old)


class RenamesTheLiveBuild(InMemoryStore):
    def activate(self, build: Build) -> None:
        super().activate(build)
        held = self._held(build)
        renamed = held.build._replace(id=next(self._ids))
        self._swap({renamed.id: held._replace(build=renamed)})


class DropsEverything(InMemoryStore):
    def drop(self, build: Build) -> None:
        self._swap({})


class DropsOnlyDocuments(InMemoryStore):
    def drop(self, build: Build) -> None:
        self._swap(self._snapshot() | {build.id: self._held(build)._replace(contents=Contents())})


class LetsReadersIn(InMemoryStore):
    """Waits in the middle of a change until it has been read, so that the fault shows each time."""

    def __init__(self) -> None:
        super().__init__()
        self._paused = False
        self._read = threading.Event()

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        paused = self._paused
        found = super().keyword(query, where=where, limit=limit, deadline=deadline)
        if paused:
            self._read.set()
        return found

    def pause(self) -> None:
        if self._paused or threading.current_thread() is threading.main_thread():
            return  # the main thread is the one that would read
        self._paused = True
        assert self._read.wait(30.0)


class ChangesInTwoSteps(LetsReadersIn):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes[:1])
        self.pause()
        super().put_documents(build, changes[1:])


class ActivatesInTwoSteps(LetsReadersIn):
    def activate(self, build: Build) -> None:
        builds = self._snapshot()
        self._swap({build.id: builds[build.id]})
        self.pause()
        super().activate(build)


class RemembersAnswersOfABuild(InMemoryStore):
    """Forgets what it answered when something is written, and not when a build goes live."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[tuple[KeywordQuery, Where, int], KeywordMatches] = {}

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes)
        self._answers.clear()

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        asked = query, where, limit
        if asked not in self._answers:
            answer = super().keyword(query, where=where, limit=limit, deadline=deadline)
            self._answers[asked] = answer
        return self._answers[asked]


class RemembersCounts(InMemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        new = [token for token in tokens if token not in self._counts]
        self._counts.update(super().holders(new))
        return {token: self._counts[token] for token in tokens}


class RemembersBeginnings(InMemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._found: dict[tuple[str, int], Mapping[str, int]] = {}

    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        return self._found.setdefault((text, limit), super().tokens_beginning(text, limit))


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (BeginsWithTheLiveDocuments, "test_a_new_build_is_empty_and_filling"),
    (SearchesTheFillingBuild, "test_a_filling_build_is_invisible"),
    (AveragesOverAllBuilds, "test_a_filling_build_is_invisible"),
    (ScoresOverAllBuilds, "test_a_filling_build_is_invisible"),
    (SearchesWhateverThereIs, "test_without_a_live_build_nothing_is_there"),
    (NeverResumes, "test_an_unfinished_build_is_resumed"),
    (ResumesAnything, "test_another_identity_drops_the_unfinished_build"),
    (ResumesTheLiveBuild, "test_a_live_build_is_not_resumed"),
    (ActivatesHalf, "test_activating_replaces_everything"),
    (KeepsTheOldDocuments, "test_activating_replaces_everything"),
    (KeepsTheOldBuild, "test_activating_replaces_everything"),
    (RenamesTheLiveBuild, "test_a_build_keeps_its_id_when_it_goes_live"),
    (DropsEverything, "test_dropping_the_filling_build_spares_the_live_one"),
    (DropsOnlyDocuments, "test_dropping_the_live_build_leaves_nothing"),
    (RemembersAnswersOfABuild, "test_each_change_shows_in_whatever_is_asked"),
    (RemembersCounts, "test_each_change_shows_in_whatever_is_asked"),
    (RemembersBeginnings, "test_each_change_shows_in_whatever_is_asked"),
    (ChangesInTwoSteps, "test_a_reader_never_sees_half_a_change"),
    (ActivatesInTwoSteps, "test_a_reader_always_finds_a_build"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, BuildLaws)
