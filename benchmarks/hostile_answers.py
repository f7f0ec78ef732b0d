"""What answers of hostile servers cost: the peak of memory above idle, and the time they take.

Run it with ``python benchmarks/hostile_answers.py [--seconds 20]``. Each answer is given to a
process of its own, which asks for the vectors of one text and then of 2,048: its peak of memory is
read from ``/proc`` (Linux). Exits with 1 if an answer takes more than 200 MB above idle, or longer
than the deadline.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import random
import socket
import subprocess
import sys
import threading
import time
import zlib
from base64 import b64encode
from functools import cache
from itertools import chain, repeat
from typing import TYPE_CHECKING

from startup import child_env

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_MEGABYTES = 200.0
MEGABYTE = 1_000_000
LONG = 180 * MEGABYTE

CHILD = """
import json, sys, threading, time
from commonplace.embedding.http.provider import Endpoint, HttpProvider
from commonplace.errors import ProviderError
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.deadline import Deadline

class Vendor(HttpProvider):
    name = "vendor"

def peak():
    with open("/proc/self/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1000

port, texts, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
provider = Vendor(ProviderContext(), Endpoint("vendor", f"http://127.0.0.1:{port}/v1"), "m")
provider.embed(["idle"], purpose="query", deadline=Deadline.after(60))  # it loads libraries
idle, began = peak(), time.monotonic()
try:
    found = provider.embed(["x"] * texts, purpose="query", deadline=Deadline.after(seconds))
    said = f"{len(found)} vectors of {len(found[0])}"
except ProviderError as error:
    said = str(error)
took = time.monotonic() - began
time.sleep(0.3)  # a thread that is to end has the time to
print(json.dumps([peak() - idle, took, said, threading.active_count()]))
"""


def plain(body: Iterator[bytes], head: str = "") -> Iterator[bytes]:
    """A success whose body ends with the connection."""
    yield f"HTTP/1.1 200 OK\r\n{head}connection: close\r\n\r\n".encode()
    yield from body


def gzipped(body: Iterator[bytes]) -> Iterator[bytes]:
    """The same, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = chain(map(packer.compress, body), (packer.flush() for _ in range(1)))
    return plain(filter(None, packed), "content-encoding: gzip\r\n")


@cache
def twice(megabytes: int) -> bytes:
    """So many zeros, compressed twice."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    once = b"".join(map(packer.compress, many(b"\0", megabytes * MEGABYTE))) + packer.flush()
    return gzip.compress(once)


def many(piece: bytes, size: int, start: bytes = b"", end: bytes = b"") -> Iterator[bytes]:
    """``piece`` again and again, between a start and an end."""
    block = piece * max(1, MEGABYTE // len(piece))
    yield start
    yield from repeat(block, size // len(block))
    yield end


def keys(size: int) -> Iterator[bytes]:
    """An object with many keys."""
    yield b"{"
    for begin in range(0, size // 16, 50_000):
        yield b"".join(b'"key%08d":1,' % number for number in range(begin, begin + 50_000))
    yield b'"last":1}'


def vectors(texts: int, dims: int, *, base64: bool) -> Iterator[bytes]:
    """An honest answer."""
    numbers = [random.Random(1).uniform(-1, 1) for _ in range(dims)]
    vector = json.dumps(b64encode(bytes(4 * dims)).decode() if base64 else numbers)
    yield b'{"data":['
    for index in range(texts):
        comma = "," if index else ""
        yield f'{comma}{{"object":"embedding","index":{index},"embedding":{vector}}}'.encode()
    yield b"]}"


def errors(body: Iterator[bytes]) -> Iterator[bytes]:
    """An error without end."""
    yield b"HTTP/1.1 500 Broken\r\nconnection: close\r\n\r\n"
    yield from body


def dripping(start: bytes, piece: bytes) -> Iterator[bytes]:
    """A piece every 20 ms."""
    yield start
    while True:
        time.sleep(0.02)
        yield piece


ANSWERS: dict[str, Callable[[int], Iterator[bytes]]] = {
    "gzip of gzip of 4 GB": lambda _: plain(
        iter([twice(4000)]), "content-encoding: gzip, gzip\r\n"
    ),
    "gzip of 4 GB of blanks": lambda _: gzipped(many(b" ", 4000 * MEGABYTE)),
    "gzip of 1 GB of {},": lambda _: gzipped(many(b"{},", 1000 * MEGABYTE, b"[", b"{}]")),
    "180 MB of {},": lambda _: plain(many(b"{},", LONG, b'{"data":[', b"{}]}")),
    "30 MB of {},": lambda _: plain(many(b"{},", LONG // 6, b'{"data":[', b"{}]}")),
    "30 MB of [": lambda _: plain(many(b"[", LONG // 6)),
    "30 MB of [],": lambda _: plain(many(b"[],", LONG // 6, b"[", b"[]]")),
    '30 MB of "a",': lambda _: plain(many(b'"a",', LONG // 6, b"[", b'""]')),
    "30 MB of 1,": lambda _: plain(many(b"1,", LONG // 6, b"[", b"1]")),
    "180 MB of 1.5,": lambda _: plain(many(b"1.5,", LONG, b"[", b"1]")),
    "180 MB of lists of 1": lambda _: plain(
        many(b"[" + b"1," * 40 + b"1],", LONG, b'{"data":[', b"[]]}")
    ),
    "75 MB of lists of 60,000": lambda _: plain(
        many(b"[" + b"1," * 60_000 + b"1],", 75 * MEGABYTE, b'{"data":[', b"[]]}")
    ),
    "30 MB of digits": lambda _: plain(many(b"1", LONG // 6)),
    "36 MB of a text": lambda _: plain(many(b"a", 36 * MEGABYTE, b'["', b'"]')),
    "36 MB of a wide text": lambda _: plain(
        many(b"a", 36 * MEGABYTE, '["\N{OTTER}'.encode(), b'"]')
    ),
    "36 MB of escapes": lambda _: plain(many(rb"\ud83d\ude00", 36 * MEGABYTE, b'["', b'"]')),
    "30 MB of keys": lambda _: plain(keys(LONG // 6)),
    "an error of 1 GB": lambda _: errors(many(b"x", 1000 * MEGABYTE)),
    "a body that drips": lambda _: plain(dripping(b"[", b"1,")),
    "a head that drips": lambda _: dripping(b"HTTP/1.1 200 OK\r\nx-long: ", b"a"),
    "heads of 100 without end": lambda _: dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "honest, in base64": lambda texts: plain(vectors(texts, 3072, base64=True)),
    "honest, as numbers": lambda texts: plain(vectors(min(texts, 1000), 3072, base64=False)),
}


class Server:
    """Gives the first request of each connection a small answer, and the next one ``answer``."""

    def __init__(self, answer: Callable[[], Iterator[bytes]]) -> None:
        self._answer = answer
        self._asked = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        idle = plain(iter([b'{"data":[{"embedding":[0.5]}]}']))
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            fields = head.partition(b"\r\n\r\n")
            length = int(fields[0].lower().partition(b"content-length: ")[2].split()[0])
            rest = length - len(fields[2])
            while rest > 0:
                rest -= len(connection.recv(65536))
            self._asked += 1
            for part in idle if self._asked == 1 else self._answer():
                connection.sendall(part)


def measured(name: str, texts: int, seconds: float) -> tuple[float, float, str, int]:
    """Megabytes above idle, seconds, what the client says, and how many threads it has left."""
    server = Server(lambda: ANSWERS[name](texts))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(server.port), str(texts), str(seconds)],
        capture_output=True,
        check=True,
        env=child_env(""),
        text=True,
    )
    megabytes, took, said, threads = json.loads(child.stdout)
    return megabytes, took, said, threads


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="the deadline of a request")
    parser.add_argument("--late", type=float, default=1.0, help="seconds allowed beyond it")
    parser.add_argument("names", nargs="*", help="answers to measure (default: all)")
    args = parser.parse_args()
    failed = 0
    worst = 0.0
    names = args.names or ANSWERS
    if any(name.startswith("gzip of gzip") for name in names):
        twice(4000)  # takes its time, and must not be waited for by a client
    for name in names:
        for texts in (1, 2048):
            megabytes, took, said, threads = measured(name, texts, args.seconds)
            good = megabytes < MOST_MEGABYTES and took < args.seconds + args.late and threads == 1
            failed += not good
            worst = max(worst, megabytes)
            left = f", {threads - 1} threads left" if threads > 1 else ""
            mark = "" if good else "MISSED  "
            print(
                f"{mark}{name}, asked for {texts}: {megabytes:.0f} MB, {took:.1f} s{left}: {said}",
                flush=True,
            )
    print(f"at most {worst:.0f} MB above idle; {failed} missed the target")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
