from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

from commonplace.testing import StoreConformance

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.protocols.parts import Store
    from commonplace.testing.laws import Laws

CAUGHT = pytest.StashKey[list[tuple[str, str]]]()

# The same examples every time, and no search for smaller ones: it is enough that one fails.
QUICK = settings(
    max_examples=40,
    stateful_step_count=20,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
)

MORE = 400  # examples, where the usual number happens to meet nothing that is broken

ATTEMPTS = 5  # at a law that is broken only where two threads meet, which no machine promises


class StoreBench(StoreConformance):
    def __init__(self, open_store: Callable[[str], Store]) -> None:
        self._open_store = open_store
        self.opened_stores: list[str] = []

    def open_store(self, directory: str) -> Store:
        store = self._open_store(directory)
        self.opened_stores.append(type(store).__name__)
        return store


@pytest.fixture
def judge(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., str]:
    """What a law of a suite says of what is opened by it: `kept`, `broken` or `skipped`.

    Without ``examples`` a law is kept only if it still is with many of them.
    """

    def judged(bench: Laws, law: str, name: Callable[[], str], examples: int = 0) -> str:
        tries = ATTEMPTS if "thread" in law or "at_once" in law else 1
        vars(bench)["profile"] = "default"  # fewer examples than these would miss broken parts
        try:
            for most in (examples,) if examples else (QUICK.max_examples, MORE):
                vars(bench)["settings"] = settings(QUICK, max_examples=most)
                for _ in range(tries):
                    getattr(bench, law)()
        except pytest.skip.Exception:
            return "skipped"
        except (Exception, pytest.fail.Exception):  # noqa: BLE001  a law breaks in any way it likes
            request.config.stash.setdefault(CAUGHT, []).append((name(), law))
            record_property("caught", (bench.subject, name(), law))
            return "broken"
        return "kept"

    return judged


@pytest.fixture
def verdict(
    judge: Callable[..., str],
) -> Callable[..., str]:
    """What a law says of a store."""

    def judged(open_store: Callable[[str], Store], law: str, examples: int = 0) -> str:
        bench = StoreBench(open_store)
        said: str = judge(bench, law, lambda: bench.opened_stores[0], examples)
        return said

    return judged


@pytest.fixture
def laws() -> Callable[[type], set[str]]:
    """The names of the laws of a class, without those of its bases."""
    return lambda subject: {name for name in vars(subject) if name.startswith("test_")}


@pytest.fixture
def all_laws() -> Callable[[type], set[str]]:
    """The names of all laws of a suite."""
    return lambda suite: {name for name in dir(suite) if name.startswith("test_")}


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    caught = config.stash.get(CAUGHT, [])
    if caught and config.get_verbosity() > 0:
        terminalreporter.section("what is broken, and the law that caught it")
        for name, law in caught:
            terminalreporter.line(f"{name:30} {law}")


@pytest.hookimpl(tryfirst=True)  # before those that `-m` leaves out are
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the broken twins as slow: they are many, and only a change of a law can need them."""
    for item in items:
        if item.path.name.startswith("test_broken_"):
            item.add_marker(pytest.mark.slow)
