"""Embeds many texts by a provider's batch jobs: begins them, waits, takes in what they made."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from attrs import define, frozen

from commonplace.embedding.batch.files import grouped
from commonplace.embedding.batch.jobs import Collector, JobRecord
from commonplace.embedding.requests import cut_to_fit
from commonplace.errors import IndexBusyError, ProviderError, UnavailableError, counted
from commonplace.model.reports import Progress
from commonplace.resilience.retry import PASSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.embedding.batch.jobs import Batching
    from commonplace.model.reports import ProgressCallback
    from commonplace.protocols.providers import BatchState, Limits
    from commonplace.resilience.deadline import Deadline


T = TypeVar("T")

WORTH = 100
"""Texts: for so few, vectors at once are worth more than half of their price."""

_LONGEST_PAUSE = 60.0
_SHORTEST_PAUSE = 0.1
_GROWTH = 1.5
_SECONDS = 60.0  # for a small request
_NO_BATCHES = (404, 405, 501)
_STALE = 30 * 86400.0


@frozen
class Work:
    """``texts`` to embed, by id; ``key`` names their provider and form.

    ``limits`` are of one text; ``dims`` is the length that vectors must have, if known. ``keep``
    takes checked vectors by id, also of ids that are not in ``texts``: another agent's job.
    """

    texts: Mapping[str, str]
    key: str
    limits: Limits
    dims: int | None
    keep: Callable[[Mapping[str, bytes]], None]
    deadline: Deadline
    progress: ProgressCallback | None = None


class BatchOutcome(NamedTuple):
    """``plain`` are the ids to embed at once; ``pending`` texts are left to a later run.

    ``begun`` jobs are new; ``cut`` of the texts sent were too long. ``note`` is one line on what
    went wrong, or waits. ``left`` are jobs that may still have vectors of texts in ``plain``: see
    :meth:`Batching.settle`.
    """

    plain: tuple[str, ...]
    pending: int = 0
    begun: int = 0
    cut: int = 0
    note: str = ""
    left: tuple[JobRecord, ...] = ()


def embed_by_jobs(batching: Batching, work: Work) -> BatchOutcome:
    """Take in jobs under way, begin new ones for many texts, and wait if the settings say so.

    Every vector goes to ``work.keep`` as soon as it is there, and what that raises is raised.
    Failures of jobs, and of the folder with their records, are in the outcome's note. Where jobs
    are off, those under way are taken in all the same, as they were paid for.
    """
    store = batching.store
    with ExitStack() as stack:
        try:
            if (batching.off or len(work.texts) <= WORTH) and not store.load():
                return BatchOutcome(tuple(work.texts), note=batching.off)
            try:
                stack.enter_context(store.lease())
            except IndexBusyError:  # what another process has under way is left to it
                return _without(store.load(), work)
            records = store.load()
        except UnavailableError as error:
            batching.switch_off(str(error))
            return BatchOutcome(tuple(work.texts), note=batching.off)
        return _Run(batching, work).run(records)


def _without(records: Iterable[JobRecord], work: Work) -> BatchOutcome:
    """All texts to embed at once that are not in ``records``, the jobs of another process."""
    in_jobs = {id_ for record in records if record.key == work.key for id_ in record.ids}
    plain = tuple(id_ for id_ in work.texts if id_ not in in_jobs)
    note = "another process works with the batch jobs"
    return BatchOutcome(plain, len(work.texts) - len(plain), note=note)


@define(eq=False)
class _Job:
    record: JobRecord
    ids: tuple[str, ...]  # those of the work; the record may hold more
    since: float  # monotonic seconds
    attempts: int = 1
    adopted: bool = False
    old: bool = False
    done: int = 0
    error: str = ""  # of the last look at it


class _Run:
    """One :class:`Work`."""

    def __init__(self, batching: Batching, work: Work) -> None:
        self._batching = batching
        self._settings = batching.settings
        self._store = batching.store
        self._api = batching.jobs
        self._work = work
        self._dims = work.dims
        self._active: list[_Job] = []
        self._plain: list[str] = []
        self._queue: list[tuple[str, ...]] = []
        self._kept: set[str] = set()
        self._left: list[JobRecord] = []
        self._cut = self._begun = self._waiting = 0
        self._note = ""
        self._interval = max(_SHORTEST_PAUSE, self._settings.poll_interval_ms / 1000)
        self._timeout = self._settings.timeout_minutes * 60.0

    def run(self, records: Iterable[JobRecord]) -> BatchOutcome:
        claimed = self._adopt(records)
        self._want([id_ for id_ in self._work.texts if id_ not in claimed])
        self._begin()
        while self._active and self._settings.wait and self._pause():
            for job in tuple(self._active):
                self._poll(job)
            self._begin()
        pending = self._waiting + sum(len(job.ids) for job in self._active)
        pending += sum(map(len, self._queue))
        note = self._batching.off or self._note
        if pending and not note:
            words = counted(pending, "text waits", "texts wait")
            note = f"{words} for batch jobs, which a later sync collects"
            error = next((job.error for job in self._active if job.error), "")
            note += f"; a look at one failed: {error}" if error else ""
        plain = tuple(id_ for id_ in self._plain if id_ not in self._kept)
        return BatchOutcome(plain, pending, self._begun, self._cut, note, tuple(self._left))

    def _adopt(self, records: Iterable[JobRecord]) -> set[str]:
        """Poll the jobs of ``records`` that hold texts of the work; the ids of those texts."""
        now = self._batching.clocks.epoch()
        claimed: set[str] = set()
        for record in records:
            age = abs(now - record.created)
            if record.key != self._work.key:
                if age > _STALE:  # its provider has not been used for long
                    self._store.forget(record)
                continue
            ids = tuple(i for i in record.ids if i in self._work.texts and i not in claimed)
            old = age > self._api.limits.kept_seconds
            if old and not (ids and record.job):
                if record.job:  # the vendor has most likely deleted it
                    self._quietly(self._api.cancel, record)
                    self._quietly(self._api.clean, record)
                self._store.forget(record)
            elif ids and self._take_up(record, ids, adopted=True, old=old):
                claimed.update(ids)
        for job in tuple(self._active):
            self._poll(job)
        return claimed

    def _take_up(self, record: JobRecord, ids: tuple[str, ...], **of_job: Any) -> bool:
        """Take up a job, looked up at the vendor where it is not known whether it was begun.

        Returns False where it was not, and forgets it: its texts may be sent again.
        """
        if not record.job:
            try:
                job = self._call(lambda deadline: self._api.find(record.name, deadline=deadline))
            except ProviderError as error:
                if error.kind != "not_found":  # of an endpoint that lists no jobs
                    self._leave(record, ids, error)
                    return True
                job = None
            if job is None:
                self._store.forget(record)
                return False
            record = self._named(record, job)
        self._active.append(_Job(record, ids, self._now(), **of_job))
        return True

    def _want(self, ids: Sequence[str]) -> None:
        """Queue texts that are in no job, in groups of a job's size."""
        if len(ids) <= WORTH:
            self._plain += ids
        else:
            self._queue += grouped(ids, self._work.texts, self._api.limits)

    def _begin(self) -> None:
        while self._queue and not self._batching.off:
            if len(self._active) >= self._settings.concurrency or self._work.deadline.expired:
                return
            self._submit(self._queue.pop(0))
        while self._queue:
            self._plain += self._queue.pop(0)

    def _submit(self, ids: tuple[str, ...], *, attempts: int = 1) -> None:
        batching, texts = self._batching, self._work.texts
        sent = {id_: cut_to_fit(texts[id_], self._work.limits) for id_ in ids}
        name, created = f"commonplace-{token_hex(8)}", batching.clocks.epoch()
        record = JobRecord(name, batching.provider, self._work.key, ids, created, dims=self._dims)
        unanswered = False

        def attempt(deadline: Deadline) -> str:
            nonlocal unanswered
            if unanswered and (job := self._api.find(name, deadline=deadline)) is not None:
                return job
            try:
                return self._api.submit(name, sent, deadline=deadline)
            except ProviderError as error:
                unanswered = error.kind in ("timeout", "unavailable")
                raise

        try:
            self._store.save(record)  # before the job begins: a crash must not lose it
            record = self._named(record, self._call(attempt))
        except UnavailableError as error:
            if self._work.deadline.expired:
                self._queue.append(ids)  # a later run finds out by its name whether it was begun
                return
            if not unanswered or not self._take_up(record, ids, attempts=attempts):
                self._store.forget(record)
                self._plain += ids
                self._not_begun(error, attempts)
                return
        else:
            self._take_up(record, ids, attempts=attempts)
        self._begun += 1
        self._cut += sum(sent[id_] != texts[id_] for id_ in ids)

    def _not_begun(self, error: UnavailableError, attempts: int) -> None:
        batching = self._batching
        if not isinstance(error, ProviderError):
            batching.switch_off(str(error))
        elif error.kind == "not_found" and error.status in _NO_BATCHES:
            batching.switch_off(f"{batching.provider} offers none here")
        else:
            self._failed(str(error), attempts)

    def _named(self, record: JobRecord, job: str) -> JobRecord:
        record = record._replace(job=job)
        with suppress(UnavailableError):  # without the job on disk it is found by its name
            self._store.save(record)
        return record

    def _pause(self) -> bool:
        """Wait for the next poll; whether there is time for it."""
        left = min(job.since + self._timeout - self._now() for job in self._active)
        seconds = min(self._interval, max(left, _SHORTEST_PAUSE), self._work.deadline.remaining())
        if seconds <= 0:
            return False
        self._work.deadline.pause(seconds, self._batching.clocks.sleep)
        self._interval = min(_LONGEST_PAUSE, self._interval * _GROWTH)
        return not self._work.deadline.expired

    def _poll(self, job: _Job) -> None:
        try:
            state = self._call(
                lambda deadline: self._api.poll(job.record.job, deadline=deadline.sooner(_SECONDS))
            )
        except ProviderError as error:
            job.error = str(error)
            if job.old or (error.kind == "not_found" and job.adopted):  # it is gone
                self._end(job, clean=False)
                self._want(job.ids)
            elif error.kind not in PASSING:
                self._active.remove(job)
                self._leave(job.record, job.ids, error)
            elif self._is_late(job):
                self._repeat(job, str(error))
            return
        job.error = ""
        if state.state == "running":
            job.done = state.done
            self._report()
            if job.old:
                self._quietly(self._api.cancel, job.record)
                self._end(job)
                self._want(job.ids)
            elif self._is_late(job):
                self._repeat(job, f"no result within {self._settings.timeout_minutes} min")
        elif state.state == "failed":
            reason = state.reason or f"{self._batching.provider}: a batch job failed"
            self._give_up(job, reason, job.attempts)
        else:
            self._collect(job, state)

    def _is_late(self, job: _Job) -> bool:
        return self._settings.wait and self._now() - job.since >= self._timeout

    def _collect(self, job: _Job, state: BatchState) -> None:
        ids = [id_ for id_ in job.record.ids if id_ not in self._kept]
        collector = Collector(self._batching.provider, ids, dims=self._dims, keep=self._work.keep)
        id_, failed = job.record.job, None
        try:
            self._call(lambda until: collector.take(self._api.collect(id_, deadline=until)))
        except ProviderError as error:
            failed = error
        self._dims = collector.dims
        self._kept |= collector.kept
        rest = tuple(id_ for id_ in job.ids if id_ not in self._kept)
        reason = "" if state.state == "done" else state.reason or f"it was {state.state}"
        if failed is not None:
            reason = str(failed)
        if failed is not None and rest and not job.old:
            if failed.kind not in PASSING:
                self._active.remove(job)
                self._leave(job.record, rest, failed)
                return
            if not self._is_late(job):
                job.ids, job.error = rest, reason
                return
        if reason and self._work.deadline.expired:
            job.ids = rest  # a later sync collects them
            return
        if rest and not reason:
            words = next(iter(collector.errors.values()), "they are missing in the results")
            texts = counted(len(rest), "text of a batch job was", "texts of a batch job were")
            self._note = f"{texts} embedded at once: {words}"
            reason = self._note if not collector.kept else ""
        self._plain += rest
        self._end(job)
        if reason:
            self._failed(reason, job.attempts)
        else:
            self._batching.failures = 0
        self._report()

    def _repeat(self, job: _Job, reason: str) -> None:
        """Submit a job again whose time ran out, once."""
        self._quietly(self._api.cancel, job.record)
        if job.attempts == 1 and not self._batching.off:
            self._end(job)
            self._submit(job.ids, attempts=2)
        else:
            self._give_up(job, reason, 2)

    def _give_up(self, job: _Job, reason: str, times: int) -> None:
        self._plain += job.ids
        self._end(job)
        self._failed(reason, times)

    def _leave(self, record: JobRecord, ids: Sequence[str], error: ProviderError) -> None:
        """Leave a job, which may have been paid for, to a later sync that may look at it.

        Texts of one that a quota keeps from us wait, since it passes. Others are embedded at once,
        as that sync may never come: what fails there, too, is still missing then.
        """
        if error.kind == "quota":
            self._waiting += len(ids)
        else:
            self._plain += ids
            self._left.append(record._replace(ids=tuple(ids)))
        self._note = f"a batch job was left to a later sync: {error}"
        self._batching.failed(str(error), 1)

    def _end(self, job: _Job, *, clean: bool = True) -> None:
        if clean:
            self._quietly(self._api.clean, job.record)
        self._store.forget(job.record)
        self._active.remove(job)

    def _quietly(self, call: Callable[..., None], record: JobRecord) -> None:
        with suppress(ProviderError):
            call(record.job, deadline=self._work.deadline.sooner(_SECONDS))

    def _failed(self, reason: str, times: int) -> None:
        self._note = f"a batch job failed, and its texts were embedded at once: {reason}"
        self._batching.failed(reason, times)

    def _call(self, call: Callable[[Deadline], T]) -> T:
        return self._batching.call(call, self._work.deadline)

    def _report(self) -> None:
        if self._work.progress is None:
            return
        total = len(self._work.texts)
        done = min(total, len(self._kept) + sum(job.done for job in self._active))
        label = "Embedding notes (batch)"
        self._work.progress(Progress(label=label, completed=done, total=total))

    def _now(self) -> float:
        return self._batching.clocks.monotonic()
