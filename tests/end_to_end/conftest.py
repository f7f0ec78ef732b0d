"""A workspace, and the command line run on it as a new user runs it: as a process of its own."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.changing_files import Meddler
    from tests.faults.index_rows import IndexRows

OLD = 1_700_000_000_000_000_000  # when all notes were written: long enough ago to be settled
MODULE = ("-m", "commonplace")
TESTS = Path(__file__).parents[1]

# What the user of this sandbox has not set; a stream without a buffer fails at another moment.
_SET = ("COMMONPLACE", "OPENCLAW", "PYTHONUNBUFFERED")


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    def failed_well(self, code: int = 1) -> str:
        """What it says, after seeing that it is one line and its hint, and no traceback."""
        assert self.code == code, self
        lines = self.err.splitlines()
        assert len(lines) == 2, self.err
        assert lines[0].startswith("commonplace: "), self.err
        assert lines[1].startswith("  fix: "), self.err
        assert "bug in commonplace" not in self.err
        return self.err

    def went_well(self) -> str:
        """What it printed, after seeing that it was done and that nothing went wrong unseen."""
        assert self.code == 0, self
        assert "Traceback" not in self.err
        assert "bug in commonplace" not in self.err
        return self.out


class Sandbox:
    """A home of its own for the command line, and a workspace with a few notes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = root / "workspace"
        self.state = root / "state"
        self.env = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(_SET) and not name.endswith("_API_KEY")
            },
            "HOME": str(root / "home"),
            "COMMONPLACE_STATE_DIR": str(self.state),
            "COMMONPLACE_CACHE_DIR": str(root / "cache"),
            # A process with its hands tied must not leave half a compiled module behind.
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "100",
        }
        self.write("MEMORY.md", "# Team\n\nThe staging server listens on port 8443.\n")
        self.write("memory/2026-10-03.md", "# Friday\n\nMia saw a walrus at the harbour.\n")
        self.write("memory/projects/otter.md", "# Otter\n\nThe otter project starts in May.\n")

    def write(self, path: str, text: str) -> Path:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        os.utime(target, ns=(OLD, OLD))
        return target

    def write_many(self, count: int) -> None:
        """``count`` notes of two chunks or more, each of which has the word walrus."""
        for number in range(count):
            parts = (
                f"# Note {number}\n\n" + f"The walrus {number} met seal {number % 7}. " * 20,
                f"## Later\n\n{number} walrus and {number % 11} cranes. " * 40,
            )
            self.write(f"memory/many/n{number:04}.md", "\n\n".join(parts) + "\n")

    def notes(self) -> dict[str, tuple[bytes, int, int]]:
        """Every file of the workspace: its bytes, its time and its mode."""
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        }

    @property
    def index(self) -> Path:
        """The index file, once there is one."""
        (found,) = (self.state / "memory").glob("*.sqlite")
        return found

    def derived(self) -> list[str]:
        """The names of all files beside the index, which is called ``index`` here."""
        names = [path.name for path in self.state.rglob("*") if path.is_file()]
        return sorted(name.replace(self.index.name, "index") for name in names)

    def start(
        self, *arguments: str, program: tuple[str, ...] = MODULE, **env: str
    ) -> subprocess.Popen[str]:
        """``commonplace ARGUMENTS`` in the background; ``program`` is what Python is to run."""
        return subprocess.Popen(
            [sys.executable, *program, *arguments, "--workspace", str(self.workspace)],
            env={**self.env, **env},
            cwd=os.sep,  # a folder on Python's path that no process writes to
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, *arguments: str, program: tuple[str, ...] = MODULE, **env: str) -> Ran:
        """``commonplace ARGUMENTS`` to its end."""
        process = self.start(*arguments, program=program, **env)
        out, err = process.communicate()
        return Ran(process.returncode, out, err)

    def run_here(self, *arguments: str) -> Ran:
        """The same in this process, for tests in which nothing depends on a process of its own."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
        command = [*arguments, "--workspace", str(self.workspace)]
        environment = patch.dict(os.environ, self.env, clear=True)
        with environment, redirect_stdout(out), redirect_stderr(err):
            code = main(command)
        for stream in (out, err):
            stream.seek(0)
        return Ran(code, out.read(), err.read())


def pytest_itemcollected(item: pytest.Item) -> None:
    """What holds for each backend is shown quickly for the builtin one, and slowly for all."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if parameters.get("backend") in ("inmemory", "lancedb"):
        item.add_marker(pytest.mark.slow)


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


@pytest.fixture(scope="session")
def load() -> Callable[[str], Any]:
    """Load a file below ``tests`` as a module: they are not packages, and cannot be imported."""

    def load(path: str) -> Any:
        name = path.removesuffix(".py").replace("/", "_")
        spec = importlib.util.spec_from_file_location(name, TESTS / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def index_rows(load: Callable[[str], Any]) -> Callable[[Path], IndexRows]:
    """All that an index file says of files; see ``tests/faults/index_rows.py``."""
    found: Callable[[Path], IndexRows] = load("faults/index_rows.py").index_rows
    return found


@pytest.fixture(scope="session")
def meddler(load: Callable[[str], Any]) -> Meddler:
    """The one of this process; see ``tests/faults/changing_files.py``."""
    found: Meddler = load("faults/changing_files.py").Meddler()
    return found
