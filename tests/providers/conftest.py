"""Loopback servers in the place of vendors, and what every provider is tested with.

``fake("openai")`` loads ``fakes/openai.py``, whose class ``Vendor`` answers as the vendor does,
and serves it on a port of its own. Requests are recorded; answers can be scripted.
"""

from __future__ import annotations

import importlib.util
import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from attrs import frozen

from commonplace.embedding.requests import RequestRunner
from commonplace.resilience.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.providers.fakes.loopback import Loopback, Reply

    from commonplace.plugin import EmbeddingProvider

__all__ = ["Failure", "Loopback", "Reply", "Runs"]

HERE = Path(__file__).parent
KEY = "sekrit-0123456789-abcdef"


@cache
def _load(path: str) -> Any:
    """A file below this folder: tests are not packages, and cannot import one another."""
    name = path.replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, HERE / f"{path}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    _loopback = _load("fakes/loopback")
    Loopback, Reply = _loopback.Loopback, _loopback.Reply


@frozen
class Failure:
    """Something that goes wrong with every request, and what must come of it.

    ``kind`` is the error's, ``attempts`` how many requests are made, ``pauses`` how long was waited
    in between. Bodies repeat the key, as some servers do.
    """

    name: str
    kind: str
    reply: Reply | None = None
    attempts: int = 1
    pauses: tuple[float, ...] = ()
    seconds: float = 30.0

    def arrange(self, loopback: Loopback, patch: pytest.MonkeyPatch) -> str:
        """Make it happen; the address to be used, without a path."""
        if self.reply is not None:
            loopback.always(self.reply)
        if self.name == "not TLS":
            return loopback.url.replace("http:", "https:")
        if self.name == "no proxy":
            patch.setenv("HTTP_PROXY", "http://user:hidden-password@127.0.0.1:1")
            patch.delenv("NO_PROXY", raising=False)
            patch.delenv("no_proxy", raising=False)
            return "http://embeddings.test"
        return loopback.url


def _complaint(status: int, **headers: str) -> Reply:
    body = {"error": {"message": f"no, {KEY}, not today", "type": "x", "param": None, "code": None}}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


_PAGE = Reply(200, b"<!doctype html><p>It works!</p>", {"content-type": "text/html"})
_VECTORS = b'{"data": [{"index": 0, "embedding": [1, 2, 3]}], "embeddings": [[1, 2, 3]]}'
FAULTS = [
    Failure("401", "auth", _complaint(401)),
    Failure("403", "auth", _complaint(403)),
    Failure("404", "not_found", _complaint(404)),
    Failure("413", "too_large", _complaint(413)),
    Failure("422", "bad_request", _complaint(422)),
    Failure("429", "rate_limit", _complaint(429), 3, (0.5, 1.0)),
    Failure("429 in 2 s", "rate_limit", _complaint(429, retry_after="2"), 3, (2.0, 2.0)),
    Failure("429 in 1.5 s", "rate_limit", _complaint(429, retry_after_ms="1500"), 3, (1.5, 1.5)),
    Failure("429 in 10 min", "rate_limit", _complaint(429, retry_after="600")),
    Failure(
        "429 until a date past",
        "rate_limit",
        _complaint(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
        3,
        (0.5, 1.0),
    ),
    Failure(
        "429 until a far date",
        "rate_limit",
        _complaint(429, retry_after="Fri, 21 Oct 2185 07:28:00 GMT"),
    ),
    Failure("500", "unavailable", _complaint(500), 3, (0.5, 1.0)),
    Failure("503 in a page", "unavailable", Reply(503, _PAGE.body), 3, (0.5, 1.0)),
    Failure("hang", "timeout", Reply(manner="hang"), seconds=0.2),
    Failure("drip", "timeout", Reply(200, _VECTORS, manner="drip"), seconds=0.2),
    Failure("drip of the head", "timeout", Reply(200, _VECTORS, manner="drip-head"), seconds=0.2),
    Failure("reset", "unavailable", Reply(200, _VECTORS, manner="reset"), 3, (0.5, 1.0)),
    Failure("cut JSON", "protocol", Reply(200, _VECTORS[:40])),
    Failure("deep JSON", "protocol", Reply(200, b"[" * 200_000)),
    Failure("page", "protocol", _PAGE),
    Failure("nothing", "protocol", Reply(200, b"")),
    Failure("null", "protocol", Reply(200, None)),
    Failure("other JSON", "protocol", Reply(200, {"status": "ok"})),
    Failure("redirect", "protocol", Reply(307, b"", {"location": "http://elsewhere.test/v1"})),
    Failure("bad redirect", "protocol", Reply(302, b"", {"location": "http://[elsewhere"})),
    Failure("not TLS", "unavailable", None, 3, (0.5, 1.0)),
    Failure("no proxy", "unavailable", None, 3, (0.5, 1.0)),
]


@pytest.fixture(params=FAULTS, ids=lambda fault: fault.name)
def fault(request: pytest.FixtureRequest) -> Failure:
    """Each of what can go wrong with any server."""
    found: Failure = request.param
    return found


_TINY = _load("tiny_gguf")
gguf, tiny_gguf = _TINY.gguf, _TINY.tiny_gguf


@pytest.fixture
def fake() -> Iterator[Callable[[str], Loopback]]:
    """Start a vendor by name."""
    running: list[Loopback] = []

    def start(vendor: str) -> Loopback:
        running.append(Loopback(_load(f"fakes/{vendor}").Vendor()))
        return running[-1]

    yield start
    for loopback in running:
        loopback.close()


@pytest.fixture
def reply() -> type[Reply]:
    """The class of scripted answers."""
    return Reply


@pytest.fixture
def key() -> str:
    """A key that looks like no vendor's, so that only knowing it can keep it out of a text."""
    return KEY


class Runs(Protocol):
    """What the fixture ``runner`` gives."""

    pauses: list[float]

    def __call__(self, provider: EmbeddingProvider) -> RequestRunner:
        """What drives ``provider`` as the host does, without ever sleeping."""
        ...


@pytest.fixture
def runner() -> Runs:
    """Makes a :class:`RequestRunner` whose waits are kept in ``runner.pauses`` instead of slept."""

    class Making:
        def __init__(self) -> None:
            self.pauses: list[float] = []

        def __call__(self, provider: EmbeddingProvider) -> RequestRunner:
            policy = RetryPolicy(sleep=self.pauses.append, jitter=lambda: 1.0)
            return RequestRunner("under test", provider, policy=policy)

    return Making()


@pytest.fixture
def reported(caplog: pytest.LogCaptureFixture) -> Callable[..., str]:
    """Everything that a person may see of errors and objects: texts, chains and logs."""
    caplog.set_level(logging.DEBUG)

    def gather(*things: object) -> str:
        seen: list[str] = []
        waiting = list(things)
        while waiting:
            thing = waiting.pop()
            if thing is None:
                continue
            seen += [str(thing), repr(thing)]
            if isinstance(thing, BaseException):
                seen += [repr(thing.args), repr(vars(thing))]
                waiting += [thing.__cause__, thing.__context__]
        seen += [record.getMessage() for record in caplog.records]
        seen += [repr(record.args) for record in caplog.records]
        return "\n".join(seen)

    return gather
