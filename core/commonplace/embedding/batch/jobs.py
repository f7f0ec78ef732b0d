"""A provider's batch jobs: called, counted, recorded on disk, their results checked."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from attrs import frozen

from commonplace.dirs import write_whole
from commonplace.embedding.requests import provider_errors
from commonplace.embedding.vectors import checked, dims_of
from commonplace.errors import (
    DeadlineExceededError,
    ProviderError,
    UnavailableError,
    counted,
    reason_of,
)
from commonplace.resilience.deadline import Deadline
from commonplace.resilience.lock import Lease
from commonplace.resilience.retry import RetryPolicy, with_retries

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from commonplace.config.search import BatchSettings
    from commonplace.protocols.providers import BatchJobs, BatchLine


T = TypeVar("T")

_MOST_FAILURES = 2
_OF_THE_PROVIDER = frozenset({"auth", "unavailable", "timeout"})
"""Kinds of error that concern the provider itself, not only its jobs and their quota."""
_FILE_SECONDS = 600.0  # for an upload or a download
_SECONDS = 60.0  # for a small request
_AT_ONCE = 500  # vectors kept in one transaction
_VERSION = 1
_ENDING = ".json"


class JobRecord(NamedTuple):
    """One job: ``name`` is ours, ``job`` the vendor's (``""`` until the vendor has answered).

    ``key`` names provider and form of the texts, ``ids`` are digests of the texts, which are the
    lines' custom ids too; no text is kept. ``created`` is epoch seconds. ``dims`` are those of the
    vectors, where they were known.
    """

    name: str
    provider: str
    key: str
    ids: tuple[str, ...]
    created: float
    job: str = ""
    dims: int | None = None


class JobStore:
    """A folder with a file for each job, which only its owner may read."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lease = Lease(os.path.join(folder, "lock"), what=f"the batch jobs in {folder}")

    def lease(self) -> AbstractContextManager[object]:
        """The lock to hold for submitting, polling, forgetting.

        To enter it raises :class:`~commonplace.errors.IndexBusyError` at once where another process
        or thread works with the jobs, and :class:`~commonplace.errors.UnavailableError` where they
        cannot be kept.
        """
        return self._lease.held(0)

    def load(self) -> list[JobRecord]:
        """All records, oldest first, without unreadable files; none where there is no folder.

        Raises :class:`UnavailableError` where the folder cannot be listed.
        """
        try:
            with os.scandir(self.folder) as entries:
                paths = [entry.path for entry in entries if entry.name.endswith(_ENDING)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._unusable("listed", error) from error
        records = [record for path in paths if (record := _read(path)) is not None]
        return sorted(records, key=lambda record: (record.created, record.name))

    def save(self, record: JobRecord) -> None:
        """Write ``record``, whole or not at all. Raises :class:`UnavailableError`."""
        text = json.dumps({"version": _VERSION, **record._asdict()})
        try:
            write_whole(self._path(record.name), text)
        except OSError as error:
            raise self._unusable("written", error) from error

    def forget(self, record: JobRecord) -> None:
        """Delete ``record``."""
        with contextlib.suppress(OSError):
            os.unlink(self._path(record.name))

    def _unusable(self, done: str, error: OSError) -> UnavailableError:
        return UnavailableError(
            f"the batch jobs in {self.folder} cannot be {done}: {error.strerror or error}",
            hint="make the folder readable and writable, or set remote.batch.enabled to false",
        )

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name + _ENDING)


def _read(path: str) -> JobRecord | None:
    try:
        with open(path, encoding="utf-8") as file:
            fields: Any = json.load(file)
        right = (
            fields.pop("version") == _VERSION
            and all(isinstance(fields[name], str) for name in ("name", "provider", "key", "job"))
            and isinstance(fields["created"], (int, float))
            and isinstance(fields["dims"], (int, type(None)))
            and all(isinstance(id_, str) for id_ in fields["ids"])
            and os.path.basename(path) == fields["name"] + _ENDING
        )
        return JobRecord(**{**fields, "ids": tuple(fields["ids"])}) if right else None
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


@frozen
class Clocks:
    """Monotonic and epoch seconds, and a sleep; tests inject their own."""

    monotonic: Callable[[], float] = time.monotonic
    epoch: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


class Batching:
    """One provider's batch jobs, as long as this process lives.

    A failure counts 1 and a time-out 2, since it was tried twice; a success resets the count. From
    2 on jobs are off, and at once if the endpoint has none. Texts without a result are returned, to
    be embedded at once. ``heard`` gets the end of every call: an error if the provider itself seems
    to fail, else ``None``. ``secrets`` are the provider's keys, which no traceback may show.
    """

    def __init__(
        self,
        provider: str,
        jobs: BatchJobs,
        settings: BatchSettings,
        store: JobStore,
        *,
        clocks: Clocks | None = None,
        policy: RetryPolicy | None = None,
        heard: Callable[[ProviderError | None], None] = lambda _: None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.provider = provider
        self.jobs = cast("BatchJobs", _Guarded(provider, jobs, secrets))
        self.settings = settings
        self.store = store
        self.clocks = clocks or Clocks()
        self.failures = 0
        self.most_failures = _MOST_FAILURES
        self.off = ""
        self._policy = policy or RetryPolicy(sleep=self.clocks.sleep)
        self._heard = heard

    def call(self, call: Callable[[Deadline], T], deadline: Deadline) -> T:
        """The result of ``call``, repeated where that may help."""
        try:
            result = with_retries(
                lambda: call(deadline.sooner(_FILE_SECONDS)), self._policy, deadline=deadline
            )
        except ProviderError as error:
            if error.kind in _OF_THE_PROVIDER and not deadline.expired:
                self._heard(error)
            raise
        self._heard(None)
        return result

    def notices(self, key: str) -> list[str]:
        """A line on the jobs of ``key`` under way, and one if there will be no more.

        Or why that cannot be known.
        """
        try:
            records = [record for record in self.store.load() if record.key == key]
        except UnavailableError as error:
            return [self.off or reason_of(error)]
        words = [self.off] if self.off else []
        if records:
            texts = counted(sum(len(record.ids) for record in records), "text waits", "texts wait")
            words.append(f"{texts} for {counted(len(records), 'batch job')} of {self.provider}")
        return words

    def settle(self, left: Iterable[JobRecord], missing: Collection[str]) -> None:
        """Take out of the records of ``left`` jobs the ids that have vectors from elsewhere now.

        ``left`` holds those ids alone that were to be embedded at once, ``missing`` are those that
        still lack a vector. A record without ids is deleted, and its job cancelled and cleaned, as
        far as the vendor lets us: else it ends, and its files expire, by themselves.
        """
        got = {record.name: set(record.ids).difference(missing) for record in left}
        with contextlib.suppress(UnavailableError), self.store.lease():
            for record in self.store.load():
                ids = tuple(id_ for id_ in record.ids if id_ not in got.get(record.name, ()))
                if not ids:
                    for end in (self.jobs.cancel, self.jobs.clean) if record.job else ():
                        with contextlib.suppress(ProviderError):
                            end(record.job, deadline=Deadline.after(_SECONDS))
                    self.store.forget(record)
                elif ids != record.ids:
                    self.store.save(record._replace(ids=ids))

    def failed(self, reason: str, times: int) -> None:
        """Count a failure."""
        self.failures += times
        if self.failures >= _MOST_FAILURES:
            self.switch_off(f"{self.failures} failures, the last: {reason}")

    def switch_off(self, reason: str) -> None:
        """Use no more jobs."""
        self.off = f"batch jobs are off for now: {reason}"


class _Guarded:
    """The methods of ``jobs``, raising :class:`~commonplace.errors.ProviderError` alone."""

    def __init__(self, provider: str, jobs: BatchJobs, secrets: tuple[str, ...]) -> None:
        self._provider = provider
        self._secrets = secrets
        self._jobs = jobs

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._jobs, name)
        return self._wrapped(value) if callable(value) else value

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[Any]:
        lines = iter(self._wrapped(self._jobs.collect)(job, deadline=deadline))
        while (line := self._wrapped(next)(lines, None)) is not None:
            yield line

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            with provider_errors(self._provider, "its batch jobs", self._secrets):
                try:
                    return method(*args, **options)
                except DeadlineExceededError as error:
                    raise UnavailableError(str(error)) from error

        return call


class Collector:
    """Checks the results of one job; after a broken download it may get lines again.

    ``keep`` takes checked vectors by id, each once. ``kept`` are their ids, ``errors`` the messages
    of lines without a valid vector, by id. Ids that are not in ``ids`` are ignored. Without
    ``dims`` the most frequent length among the first vectors decides.
    """

    def __init__(
        self,
        provider: str,
        ids: Collection[str],
        *,
        dims: int | None,
        keep: Callable[[Mapping[str, bytes]], None],
    ) -> None:
        self.dims = dims
        self.kept: set[str] = set()
        self.errors: dict[str, str] = {}
        self._provider = provider
        self._ids = frozenset(ids)
        self._keep = keep
        self._waiting: dict[str, bytes] = {}

    def take(self, lines: Iterable[BatchLine]) -> None:
        """Check and keep; raises what ``lines`` and ``keep`` raise, after keeping the others."""
        try:
            for line in lines:
                self._check(line)
        finally:
            self._flush()

    def _check(self, line: BatchLine) -> None:
        id_ = line.custom_id
        if id_ not in self._ids or id_ in self.kept or id_ in self._waiting:
            return
        if line.vector is None:
            self.errors[id_] = line.error
            return
        try:
            (vector,) = checked([line.vector], count=1, dims=self.dims, provider=self._provider)
        except ProviderError as error:
            self.errors[id_] = str(error)
            return
        except (TypeError, ValueError, OverflowError):
            self.errors[id_] = f"{self._provider}: what came back is no vector of numbers"
            return
        self._waiting[id_] = vector
        if len(self._waiting) >= _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        if self.dims is None:
            lengths = Counter(map(dims_of, waiting.values()))
            ((self.dims, _),) = lengths.most_common(1)
        right = {id_: vector for id_, vector in waiting.items() if dims_of(vector) == self.dims}
        for id_ in waiting.keys() - right.keys():
            self.errors[id_] = f"{self._provider}: a vector is of another length than the others"
        self._keep(right)
        self.kept.update(right)
