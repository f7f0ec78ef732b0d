"""Fixtures for the tests of every part."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.faulty_vfs import FaultyVFS

_NUMBERS = count(1)

# The speed of the machine must not matter: no test may fail by the time it takes. Where the
# environment says CI, examples are the same in every run; elsewhere each run draws new ones.
settings.register_profile(
    "patient",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="CI" in os.environ,
)
settings.load_profile("patient")
settings.register_profile("few", settings.get_profile("patient"), max_examples=25)
if "CI" in os.environ:
    # Hypothesis tries the constants of our modules that are imported by then, too: other ones in
    # each worker, by what it was given first.
    mock.patch.object(providers, "is_local_module_file", return_value=False).start()


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples in the README's test command than in the whole suite.

    And keep what Python compiles, even where the environment says otherwise: a thousand processes
    that the tests start would each compile the whole package, and take twice as long.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if "not slow" in config.getoption("markexpr"):
        settings.load_profile("few")
        os.environ.setdefault("COMMONPLACE_TESTING_PROFILE", "quick")


def pytest_sessionstart() -> None:
    """Collect tests without the garbage collector: nearly all that is made then stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Spare the garbage collector the walk over ten thousand collected tests."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture
def make_faulty_vfs() -> Callable[[], FaultyVFS]:
    """Makes a VFS for SQLite that can be made to fail; see ``tests/faults/faulty_vfs.py``."""
    # Tests are not packages, so what they share is loaded from its file.
    path = Path(__file__).parent / "faults" / "faulty_vfs.py"
    spec = importlib.util.spec_from_file_location("faulty_vfs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def make() -> FaultyVFS:
        vfs: FaultyVFS = module.FaultyVFS(f"faulty-{next(_NUMBERS)}")
        return vfs

    return make


@pytest.fixture
def faulty_vfs(make_faulty_vfs: Callable[[], FaultyVFS]) -> FaultyVFS:
    """A VFS of this test's own."""
    return make_faulty_vfs()
