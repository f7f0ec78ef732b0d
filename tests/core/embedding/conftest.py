"""A vendor of batch jobs in memory, what a process of ours is made of, and a store to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from commonplace.config.search import BatchSettings
from commonplace.embedding.batch.jobs import Batching, Clocks, JobRecord, JobStore
from commonplace.embedding.batch.run import BatchOutcome, Work, embed_by_jobs
from commonplace.errors import ProviderError
from commonplace.protocols.providers import BatchLimits, BatchLine, BatchState, Limits
from commonplace.resilience.deadline import Deadline
from commonplace.resilience.retry import RetryPolicy
from commonplace.testing import make_put, publish
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

KEY = "fingerprint|document"


@define
class Time:
    """A clock that only waiting moves."""

    now: float = 1000.0
    pauses: list[float] = field(factory=list)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


@define
class Remote:
    """One job as the vendor has it: ``polls`` looks from now it is in ``end``."""

    name: str
    lines: dict[str, str]
    polls: int
    end: str = "done"
    reason: str = ""


def made(lines: Mapping[str, str]) -> list[BatchLine]:
    return [BatchLine(id_, [float(len(text)), 1.0]) for id_, text in lines.items()]


@define
class Vendor:
    """Batch jobs in memory, which outlive any process of ours."""

    polls: int = 1
    end: str = "done"
    reason: str = ""
    limits: BatchLimits = field(factory=BatchLimits)
    answer: Callable[[Mapping[str, str]], list[BatchLine]] = made
    remote: dict[str, Remote] = field(factory=dict)
    calls: list[str] = field(factory=list)
    faults: dict[str, list[Exception | None]] = field(factory=dict)

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        job = f"job-{len(self.remote)}"
        lost = self._fault("lost")
        self._say("submit")
        self.remote[job] = Remote(name, dict(lines), self.polls, self.end, self.reason)
        if lost is not None:
            raise lost
        return job

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        self._say("find")
        return next((job for job, held in self.remote.items() if held.name == name), None)

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        self._say("poll")
        held = self._held(job)
        held.polls -= 1
        state: Any = held.end if held.polls < 0 else "running"
        return BatchState(state, held.reason if state != "running" else "", 1, len(held.lines))

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        self._say("collect")
        yield from self.answer(self._held(job).lines)
        self._say("collected")

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        self._say("cancel")
        self._held(job)

    def clean(self, job: str, *, deadline: Deadline) -> None:
        self._say("clean")
        self._held(job)

    def made(self, lines: Mapping[str, str]) -> list[BatchLine]:
        return made(lines)

    def count(self, call: str) -> int:
        return self.calls.count(call)

    def _say(self, call: str) -> None:
        self.calls.append(call)
        fault = self._fault(call)
        if fault is not None:
            raise fault

    def _fault(self, call: str) -> Exception | None:
        waiting = self.faults.get(call)
        return waiting.pop(0) if waiting else None

    def _held(self, job: str) -> Remote:
        if job not in self.remote:
            raise ProviderError("vendor: gone", provider="vendor", kind="not_found", status=404)
        return self.remote[job]


@define
class Bench:
    """What a process is made of; each ``process()`` is a new one on the same folder."""

    folder: str
    vendor: Vendor = field(factory=Vendor)
    time: Time = field(factory=Time)
    kept: dict[str, bytes] = field(factory=dict)
    reported: list[Any] = field(factory=list)
    heard: list[ProviderError | None] = field(factory=list)

    def process(self, **settings: Any) -> Batching:
        clocks = Clocks(monotonic=self.time, epoch=self.time, sleep=self.time.sleep)
        policy = RetryPolicy(sleep=lambda _: None, jitter=lambda: 1.0)
        return Batching(
            "vendor",
            self.vendor,
            BatchSettings(enabled=True, **settings),
            JobStore(self.folder),
            clocks=clocks,
            policy=policy,
            heard=self.heard.append,
        )

    def work(self, wanted: Mapping[str, str], **given: Any) -> Work:
        fixed: dict[str, Any] = {
            "key": KEY,
            "limits": Limits(),
            "dims": None,
            "keep": self.kept.update,
            "deadline": Deadline.after(1e6, self.time),
            "progress": self.reported.append,
        }
        return Work(texts=wanted, **{**fixed, **given})

    def run(
        self, wanted: Mapping[str, str], batching: Batching | None = None, **given: Any
    ) -> BatchOutcome:
        return embed_by_jobs(batching or self.process(), self.work(wanted, **given))

    def holds(self, job: str, name: str, lines: Mapping[str, str], *, polls: int = 1) -> None:
        """Let the vendor have a job that this process knows nothing of."""
        self.vendor.remote[job] = Remote(name, dict(lines), polls)

    def jobs(self) -> list[JobRecord]:
        return JobStore(self.folder).load()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(str(tmp_path / "state" / "memory" / "batches"))


@pytest.fixture
def store() -> Iterator[InMemoryStore]:
    """Three chunks without vectors."""
    store = InMemoryStore()
    publish(store, make_put("a.md", "one", "two two"), make_put("b.md", "three three"))
    yield store
    store.close()
