"""One pass over batch jobs: those on disk are picked up, new ones begun, waited for, collected."""

from __future__ import annotations

from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar

from attrs import define

from commonplace.embedding.batching_collect import Collector
from commonplace.embedding.batching_jobs import JobRecord
from commonplace.embedding.batching_lines import line_size
from commonplace.embedding.batching_work import BatchOutcome
from commonplace.embedding.packing import cut_to_fit
from commonplace.errors import ProviderError, UnavailableError
from commonplace.model.reports import Progress
from commonplace.resilience.retry import PASSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace.embedding.batching import Batching
    from commonplace.embedding.batching_work import Work
    from commonplace.protocols.providers import BatchState
    from commonplace.resilience.deadline import Deadline

__all__ = ["BatchRun"]

T = TypeVar("T")

_LONGEST_PAUSE = 60.0
_SHORTEST_PAUSE = 0.1
_GROWTH = 1.5
_FILE_SECONDS = 600.0  # in which a file goes up, or comes down
_SECONDS = 60.0  # for what is small
_NO_BATCHES = (404, 405, 501)
_STALE = 30 * 86400.0


@define(eq=False)
class _Job:
    record: JobRecord
    ids: tuple[str, ...]  # of the work's; the record may hold more
    since: float  # monotonic seconds
    attempts: int = 1
    adopted: bool = False
    done: int = 0
    trouble: str = ""  # why it could not be looked at


class BatchRun:
    """For one :class:`Work`; ``worth`` texts are too few for a job."""

    def __init__(self, batching: Batching, work: Work, *, worth: int) -> None:
        self._batching = batching
        self._api = batching.jobs
        self._work = work
        self._worth = worth
        self._dims = work.dims
        self._active: list[_Job] = []
        self._plain: list[str] = []
        self._queue: list[tuple[str, ...]] = []
        self._claimed: set[str] = set()
        self._kept: set[str] = set()
        self._cut = self._begun = 0
        self._note = ""
        self._interval = max(_SHORTEST_PAUSE, batching.settings.poll_interval_ms / 1000)

    def run(self) -> BatchOutcome:
        """Until all is done, or nobody wants to wait any longer."""
        self._adopt()
        self._want([id_ for id_ in self._work.texts if id_ not in self._claimed])
        self._begin()
        while self._active and self._batching.settings.wait and self._pause():
            for job in tuple(self._active):
                self._look(job)
            self._begin()
        return self._outcome()

    def _want(self, ids: Sequence[str]) -> None:
        """Texts that are in no job."""
        if len(ids) > self._worth:
            self._queue += self._groups(ids)
        else:
            self._plain += ids

    def _outcome(self) -> BatchOutcome:
        pending = sum(len(job.ids) for job in self._active) + sum(map(len, self._queue))
        note = self._batching.off or self._note
        if pending and not note:
            trouble = next((job.trouble for job in self._active if job.trouble), "")
            note = f"{pending} texts wait for batch jobs, which a later sync collects"
            note += f"; a look at one failed: {trouble}" if trouble else ""
        plain = tuple(id_ for id_ in self._plain if id_ not in self._kept)
        return BatchOutcome(plain, pending, self._begun, self._cut, note)

    def _adopt(self) -> None:
        """Pick up the jobs on disk that hold texts of the work, and look at each once."""
        now = self._batching.clocks.epoch()
        for record in self._batching.store.load():
            age = abs(now - record.created)
            if record.key != self._work.key:
                if age > _STALE:  # its provider has not been in use for long
                    self._batching.store.forget(record)
                continue
            if age > self._api.limits.kept_seconds:
                self._drop(record)
                continue
            texts = self._work.texts
            ids = tuple(id_ for id_ in record.ids if id_ in texts and id_ not in self._claimed)
            found = self._found(record) if ids else None
            if found is not None:
                self._claimed.update(ids)
                self._active.append(_Job(found, ids, self._now(), adopted=True))
        for job in tuple(self._active):
            self._look(job)

    def _found(self, record: JobRecord) -> JobRecord | None:
        """``record`` with its job: a process that died may not have learnt what it had begun."""
        if record.job:
            return record
        with suppress(ProviderError):
            job = self._call(lambda deadline: self._api.find(record.name, deadline=deadline))
            if job is not None:
                return self._named(record, job)
        self._batching.store.forget(record)
        return None

    def _groups(self, ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
        limits = self._api.limits
        group: list[str] = []
        size = 0
        for id_ in ids:
            more = line_size(self._work.texts[id_])
            if group and (len(group) >= limits.lines or size + more > limits.bytes):
                yield tuple(group)
                group, size = [], 0
            group.append(id_)
            size += more
        if group:
            yield tuple(group)

    def _begin(self) -> None:
        while self._queue and not self._batching.off:
            full = len(self._active) >= self._batching.settings.concurrency
            if full or self._work.deadline.expired:
                return
            self._submit(self._queue.pop(0))
        while self._queue:
            self._plain += self._queue.pop(0)

    def _submit(self, ids: tuple[str, ...], *, attempts: int = 1) -> None:
        batching = self._batching
        texts = {id_: self._work.texts[id_] for id_ in ids}
        sent = {id_: cut_to_fit(text, self._work.limits) for id_, text in texts.items()}
        record = JobRecord(
            name=f"commonplace-{token_hex(8)}",
            provider=batching.provider,
            key=self._work.key,
            ids=ids,
            created=batching.clocks.epoch(),
            dims=self._dims,
        )
        try:
            batching.store.save(record)  # before anything is begun: a crash must not lose it
            job = self._begun_job(record.name, sent)
        except UnavailableError as error:
            if self._work.deadline.expired:
                self._queue.append(ids)  # whether it was begun is found out by its name, later
                return
            batching.store.forget(record)
            self._plain += ids
            status = getattr(error, "status", None)
            if not isinstance(error, ProviderError):
                batching.switch_off(str(error))
            elif error.kind == "not_found" and status in _NO_BATCHES:
                batching.switch_off(f"{batching.provider} offers none here")
            else:
                self._failed(str(error), attempts)
            return
        self._begun += 1
        self._cut += sum(sent[id_] != texts[id_] for id_ in ids)
        self._active.append(_Job(self._named(record, job), ids, self._now(), attempts))

    def _begun_job(self, name: str, lines: Mapping[str, str]) -> str:
        """Submit, and look first whether it was begun where that was not answered."""
        unanswered = False

        def call(deadline: Deadline) -> str:
            nonlocal unanswered
            if unanswered:
                found = self._api.find(name, deadline=deadline)
                if found is not None:
                    return found
            try:
                return self._api.submit(name, lines, deadline=deadline)
            except ProviderError as error:
                unanswered = error.kind in ("timeout", "unavailable")
                raise

        try:
            return self._call(call)
        except ProviderError:
            if unanswered:
                with suppress(ProviderError):
                    soon = self._work.deadline.sooner(_SECONDS)
                    found = self._api.find(name, deadline=soon)
                    if found is not None:
                        return found
            raise

    def _named(self, record: JobRecord, job: str) -> JobRecord:
        record = record._replace(job=job)
        with suppress(UnavailableError):  # without the job on disk it is found by its name
            self._batching.store.save(record)
        return record

    def _pause(self) -> bool:
        """Wait until it is time to look again; whether there is time."""
        left = min(job.since + self._timeout - self._now() for job in self._active)
        seconds = min(self._interval, max(left, _SHORTEST_PAUSE), self._work.deadline.remaining())
        if seconds <= 0:
            return False
        self._work.deadline.pause(seconds, self._batching.clocks.sleep)
        self._interval = min(_LONGEST_PAUSE, self._interval * _GROWTH)
        return not self._work.deadline.expired

    def _look(self, job: _Job) -> None:
        try:
            state = self._call(
                lambda deadline: self._api.poll(job.record.job, deadline=deadline.sooner(_SECONDS))
            )
        except ProviderError as error:
            job.trouble = str(error)
            if error.kind == "not_found" and job.adopted:
                self._lost(job)
            elif error.kind not in PASSING:
                self._give_up(job, str(error))
            elif self._timed_out(job):
                self._again(job, str(error))
            return
        job.trouble = ""
        if state.state == "running":
            job.done = state.done
            self._tell()
            if self._timed_out(job):
                self._again(job, f"no result within {self._batching.settings.timeout_minutes} min")
        elif state.state == "failed":
            self._give_up(job, state.reason or f"{self._batching.provider}: a batch job failed")
        else:
            self._collect(job, state)

    def _collect(self, job: _Job, state: BatchState) -> None:
        ids = [id_ for id_ in job.record.ids if id_ not in self._kept]
        collector = Collector(self._batching.provider, ids, dims=self._dims, keep=self._work.keep)
        reason = "" if state.state == "done" else state.reason or f"it was {state.state}"
        try:
            self._call(
                lambda deadline: collector.take(
                    self._api.collect(job.record.job, deadline=deadline)
                )
            )
        except ProviderError as error:
            reason = str(error)
        self._dims = collector.dims
        self._kept |= collector.kept
        rest = tuple(id_ for id_ in job.ids if id_ not in self._kept)
        if reason and self._work.deadline.expired:
            job.ids = rest  # a later sync collects them
            return
        if rest and not reason:
            words = next(iter(collector.errors.values()), "they are missing in the results")
            self._note = f"{len(rest)} texts of a batch job were embedded at once: {words}"
            reason = self._note if not collector.kept else ""
        self._plain += rest
        self._end(job)
        if reason:
            self._failed(reason, job.attempts)
        else:
            self._batching.succeeded()
        self._tell()

    def _again(self, job: _Job, reason: str) -> None:
        """Once more, if it is the first time that time ran out."""
        self._quietly(self._api.cancel, job.record)
        self._end(job)
        if job.attempts == 1 and not self._batching.off:
            self._submit(job.ids, attempts=2)
            return
        self._plain += job.ids
        self._failed(reason, 2)

    def _give_up(self, job: _Job, reason: str) -> None:
        self._plain += job.ids
        self._end(job)
        self._failed(reason, job.attempts)

    def _lost(self, job: _Job) -> None:
        """The vendor does not know it any more."""
        self._active.remove(job)
        self._batching.store.forget(job.record)
        self._want(job.ids)

    def _end(self, job: _Job) -> None:
        self._quietly(self._api.clean, job.record)
        self._batching.store.forget(job.record)
        self._active.remove(job)

    def _drop(self, record: JobRecord) -> None:
        """What is too old; the vendor has most likely deleted it by itself."""
        if record.job:
            self._quietly(self._api.cancel, record)
            self._quietly(self._api.clean, record)
        self._batching.store.forget(record)

    def _quietly(self, call: Callable[..., None], record: JobRecord) -> None:
        with suppress(ProviderError):
            call(record.job, deadline=self._work.deadline.sooner(_SECONDS))

    def _failed(self, reason: str, times: int) -> None:
        self._note = f"a batch job failed, and its texts were embedded at once: {reason}"
        self._batching.failed(reason, times=times)

    def _call(self, call: Callable[[Deadline], T]) -> T:
        return self._batching.call(call, within=_FILE_SECONDS, deadline=self._work.deadline)

    def _tell(self) -> None:
        if self._work.progress is not None:
            done = len(self._kept) + sum(job.done for job in self._active)
            total = len(self._work.texts)
            self._work.progress(Progress("Embedding notes (batch)", min(done, total), total))

    def _timed_out(self, job: _Job) -> bool:
        settings = self._batching.settings
        return settings.wait and self._now() - job.since >= self._timeout

    @property
    def _timeout(self) -> float:
        return self._batching.settings.timeout_minutes * 60.0

    def _now(self) -> float:
        return self._batching.clocks.monotonic()
