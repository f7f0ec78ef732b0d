"""A memory whose embeddings a loopback server makes in the place of OpenAI."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from commonplace import Memory
from commonplace.host.host import PluginHost
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.providers.fakes.loopback import Loopback, Reply

PROVIDERS = Path(__file__).parents[2] / "providers"
KEY = "sekrit-0123456789-abcdef"
OLD = 1_700_000_000_000_000_000
DIMS = {"text-embedding-3-small": 64, "text-embedding-3-large": 96}
NOTES = {
    "MEMORY.md": "# Team\n\nThe staging server listens on port 8443.\n",
    "memory/2026-10-03.md": "# Friday\n\nMia saw a walrus at the harbour.\n",
    "memory/projects/otter.md": "# Otter\n\nThe otter project starts in May.\n",
}


def _load(path: Path) -> Any:
    """A file of another folder of tests: they are not packages, and cannot import one another."""
    spec = importlib.util.spec_from_file_location(f"shared_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_SHARED = _load(PROVIDERS / "conftest.py")
gguf, tiny_gguf = _SHARED.gguf, _SHARED.tiny_gguf  # fixtures


@define
class Clock:
    """Time that passes as a test moves it: epoch and monotonic seconds alike."""

    now: float = 1_800_000_000.0
    pauses: list[float] = field(factory=list)

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds

    @property
    def paused(self) -> float:
        """Seconds of all pauses; who may be called off makes one long pause in many short ones."""
        return sum(self.pauses)


@define
class World:
    """A workspace, its state, a vendor, and the memories that were opened on them."""

    root: Path
    vendors: dict[str, Loopback]
    clock: Clock
    env: dict[str, str]
    host: PluginHost | None = None
    opened: list[Memory] = field(factory=list)

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def vendor(self) -> Loopback:
        """The primary provider's."""
        return self.vendors["openai"]

    def write(self, path: str, text: str) -> None:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        os.utime(target, ns=(OLD, OLD))

    def open(self, **search: Any) -> Memory:
        """A memory; ``search`` are settings beside provider and address."""
        vendor = self.vendor
        settings = {
            "provider": "openai",
            "remote": {"baseUrl": f"{vendor.url}/v1", "apiKey": KEY},
            **search,
        }
        top: dict[str, Any] = {"memory": {"search": settings}}
        for name in ("models",):
            if name in settings:
                top[name] = settings.pop(name)
        if "backend" in settings:
            top["memory"]["backend"] = settings.pop("backend")
        memory = Memory.open(workspace=self.workspace, config=top, env=self.env, host=self.host)
        self.opened.append(memory)
        return memory

    def asked(self, name: str = "openai") -> int:
        """How many requests the vendor has had."""
        return len(self.vendors[name].requests)

    def texts(self, name: str = "openai") -> list[str]:
        """Every text that was sent, in the order in which requests came."""
        return [text for request in self.vendors[name].requests for text in request.json["input"]]


@pytest.fixture
def start_vendor() -> Iterator[Callable[..., Loopback]]:
    """Start a vendor by name."""
    running: list[Loopback] = []

    def start(name: str) -> Loopback:
        module = _load(PROVIDERS / "fakes" / f"{name}.py")
        random = module.vector_of

        def by_words(text: str, dims: int) -> list[float]:
            """Texts that share words are near one another."""
            words = [random(word, dims) for word in re.findall(r"\w{4,}", text.lower())]
            return [sum(column) for column in zip(random("", dims), *words, strict=True)]

        module.vector_of = by_words
        module.DIMS = DIMS
        running.append(_SHARED.Loopback(module.Vendor()))
        return running[-1]

    yield start
    for loopback in running:
        loopback.close()


@pytest.fixture
def world(
    tmp_path: Path, start_vendor: Callable[..., Loopback], monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Three notes that are not indexed, and a vendor in good health. Nothing ever sleeps."""
    clock = Clock()
    monkeypatch.setattr(
        "commonplace.embedding.building.CircuitBreaker",
        lambda *, keeper, **_: CircuitBreaker(clock=clock, monotonic=clock, keeper=keeper),
    )
    policy = partial(RetryPolicy, sleep=clock.pauses.append, jitter=lambda: 1.0)
    monkeypatch.setattr("commonplace.embedding.requests.RetryPolicy", policy)
    env = {
        "HOME": str(tmp_path / "home"),
        "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
        "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
    }
    world = World(tmp_path, {"openai": start_vendor("openai")}, clock, env)
    for path, text in NOTES.items():
        world.write(path, text)
    yield world
    for vendor in world.vendors.values():
        vendor.release()
    for memory in world.opened:
        memory.close()
        memory.host.close()


@pytest.fixture
def second(world: World, start_vendor: Callable[..., Loopback]) -> Loopback:
    """A second vendor, whose provider ``second`` can be a fallback."""
    from commonplace.plugin import ProviderContext, hookimpl
    from commonplace_openai.provider import OpenAIProvider

    vendor = start_vendor("openai")
    world.vendors["second"] = vendor

    class Second(OpenAIProvider):
        def fingerprint(self) -> str:
            return "second"

    def make(context: ProviderContext) -> Second:
        del context
        asked = ProviderContext(
            base_url=f"{vendor.url}/v1", api_key=KEY, model="text-embedding-3-large"
        )
        return Second(asked)

    class Plugin:
        @hookimpl
        def commonplace_register_providers(self, register: Any) -> None:
            register.provider("second", make, summary="another")

    world.host = PluginHost(env=world.env)
    world.host.register(Plugin(), name="second")
    return vendor


@pytest.fixture(params=_SHARED.FAULTS, ids=lambda fault: fault.name)
def fault(request: pytest.FixtureRequest) -> Any:
    """Each of what can go wrong with any server; see ``tests/providers/conftest.py``."""
    return request.param


@pytest.fixture
def reply() -> type[Reply]:
    """The class of scripted answers."""
    found: type[Reply] = _SHARED.Reply
    return found


@pytest.fixture
def reported(caplog: pytest.LogCaptureFixture) -> Callable[..., str]:
    """Everything that a person may see of things: texts and logs."""
    caplog.set_level(logging.DEBUG)

    def gather(*things: object) -> str:
        seen = [text for thing in things for text in (str(thing), repr(thing))]
        seen += [record.getMessage() + repr(record.args) for record in caplog.records]
        return "\n".join(seen)

    return gather
