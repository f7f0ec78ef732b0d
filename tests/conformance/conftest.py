from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

from commonplace.testing import StoreConformance

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.spec import Store

Verdict = tuple[str, str]
CAUGHT = pytest.StashKey[list[tuple[str, str]]]()


class Bench(StoreConformance):
    # The same examples every time, and no search for smaller ones: it is enough that one fails.
    settings = settings(
        max_examples=40,
        stateful_step_count=20,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )

    def __init__(self, open_store: Callable[[str], Store]) -> None:
        self._open_store = open_store

    def open_store(self, directory: str) -> Store:
        return self._open_store(directory)


@pytest.fixture
def verdict(request: pytest.FixtureRequest) -> Callable[[Callable[[str], Store], str], str]:
    """What a law says of a store: `kept`, `broken` or `skipped`."""

    def judge(open_store: Callable[[str], Store], law: str) -> str:
        opened: list[str] = []

        def noting(directory: str) -> Store:
            store = open_store(directory)
            opened.append(type(store).__name__)
            return store

        try:
            getattr(Bench(noting), law)()
        except pytest.skip.Exception:
            return "skipped"
        except (Exception, pytest.fail.Exception):  # noqa: BLE001  a law breaks in any way it likes
            request.config.stash.setdefault(CAUGHT, []).append((opened[0], law))
            return "broken"
        return "kept"

    return judge


@pytest.fixture
def laws() -> Callable[[type], set[str]]:
    """The names of the laws of a class."""
    return lambda subject: {name for name in vars(subject) if name.startswith("test_")}


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    caught = config.stash.get(CAUGHT, [])
    if caught and config.get_verbosity() > 0:
        terminalreporter.section("broken stores, and the law that caught each")
        for name, law in caught:
            terminalreporter.line(f"{name:30} {law}")
