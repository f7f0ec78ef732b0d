"""Processes that are killed (``kill -9``) at any moment: nothing is lost, nothing needs repair.

``SOAK_KILLS`` is how many are killed, if not twenty.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from commonplace import Memory
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.end_to_end.conftest import Sandbox
    from tests.faults.index_rows import IndexRows

    from commonplace.model.search import Hit

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("SOAK_KILLS", "20"))
NOTES = 230  # more than are written in one transaction
KEY = "sekrit-0123456789-abcdef"
MANNERS = ("write", "sync", "file", "time")


class Scenario(NamedTuple):
    """What is done, from which state, and from which share of the work on it is killed."""

    name: str
    arguments: tuple[str, ...]
    state: str
    from_share: float = 0.0
    embeds: bool = False


SCENARIOS = (
    Scenario("first index", ("index",), "none"),
    Scenario("first search", ("search", "walrus"), "none"),
    Scenario("changes", ("index",), "before"),
    Scenario("rebuild", ("index", "--force"), "after"),
    Scenario("activation", ("index", "--force"), "after", from_share=0.8),
    Scenario("other tokenizer", ("index",), "compat"),
    Scenario("embedding", ("index",), "after", embeds=True),
    Scenario("embedding again", ("index", "--force"), "embedded", embeds=True),
)


class Course(NamedTuple):
    """How a scenario goes without a kill: what it counts, how long it takes, what it makes.

    ``files`` are the names of all that it leaves.
    """

    counts: dict[str, int]
    seconds: float
    rows: IndexRows
    files: list[str]


class Yard:
    """A workspace that has changed, indexes of it in several states, and how each scenario goes."""

    def __init__(
        self,
        sandbox: Sandbox,
        killable: Path,
        index_rows: Callable[[Path], IndexRows],
        vendor: str,
    ) -> None:
        self.sandbox, self.killable, self.index_rows = sandbox, killable, index_rows
        self.before: dict[str, str] = {}
        self.cache = sandbox.root / "cache"
        self.configs = {
            "plain": self._config("plain", provider="none"),
            "compat": self._config(
                "compat",
                provider="none",
                ranking={"profile": "compat"},
                store={"fts": {"tokenizer": "trigram"}},
            ),
            "embed": self._config(
                "embed",
                provider="openai",
                remote={"baseUrl": f"{vendor}/v1", "apiKey": KEY},
            ),
        }
        self._write_notes()
        self._make_states()
        self.notes = sandbox.notes()
        self.courses = {scenario.name: self._course(scenario) for scenario in SCENARIOS}

    def _config(self, name: str, **search: Any) -> str:
        file = self.sandbox.root / f"{name}.json5"
        file.write_text(json.dumps({"memory": {"search": search}}), encoding="utf-8")
        return str(file)

    def _write_notes(self) -> None:
        for number in range(NOTES):
            self.sandbox.write(f"memory/n{number}.md", _note(number, "seal"))

    def _make_states(self) -> None:
        sandbox = self.sandbox
        (sandbox.root / "none").mkdir()
        self._index("plain", "before")
        self.before = self.texts()
        for number in range(0, NOTES, 3):
            sandbox.write(f"memory/n{number}.md", _note(number, "crane"))
        for number in range(1, NOTES, 10):
            (sandbox.workspace / f"memory/n{number}.md").unlink()
        for number in range(NOTES, NOTES + 30):
            sandbox.write(f"memory/new/n{number}.md", _note(number, "crane"))
        self._index("plain", "after")
        self._index("compat", "compat")
        self._index("embed", "embedded")

    def _index(self, config: str, state: str) -> None:
        ran = self.sandbox.run(
            "index",
            "--config",
            self.configs[config],
            COMMONPLACE_STATE_DIR=str(self.sandbox.root / state),
            COMMONPLACE_CACHE_DIR=str(self.cache),
        )
        ran.went_well()

    def texts(self) -> dict[str, str]:
        workspace = self.sandbox.workspace
        return {
            str(path.relative_to(workspace)): path.read_text(encoding="utf-8")
            for path in workspace.rglob("*.md")
        }

    def _course(self, scenario: Scenario) -> Course:
        self.lay_out(scenario)
        begun = time.monotonic()
        process = self.start(scenario, "write", 0)
        said = process.communicate()
        seconds = time.monotonic() - begun
        assert process.returncode == 0, said
        counts = json.loads((self.sandbox.root / "counts").read_text(encoding="utf-8"))
        return Course(counts, seconds, self.rows(), self.files())

    def lay_out(self, scenario: Scenario) -> None:
        """Start again from the state of the scenario."""
        shutil.rmtree(self.sandbox.state, ignore_errors=True)
        shutil.copytree(self.sandbox.root / scenario.state, self.sandbox.state)

    def start(self, scenario: Scenario, counted: str, at: int) -> subprocess.Popen[str]:
        program = (str(self.killable), counted, str(at), str(self.sandbox.root / "counts"))
        config = self.configs["embed" if scenario.embeds else "plain"]
        return self.sandbox.start(*scenario.arguments, "--config", config, program=program)

    def open(self, scenario: Scenario) -> Memory:
        config = self.configs["embed" if scenario.embeds else "plain"]
        sandbox = self.sandbox
        return Memory.open(workspace=sandbox.workspace, config=config, env=sandbox.env)

    def rows(self) -> IndexRows:
        (index,) = (self.sandbox.state / "memory").glob("main-*.sqlite")
        return self.index_rows(index)

    def files(self) -> list[str]:
        """The names of all files beside the index, and of what is no whole cache.

        Without what a kill may leave: a draft, which goes when its file is written again, and a
        journal of a file that was not complete yet, which is never read.
        """
        left = [path for path in self.sandbox.state.rglob("*") if path.is_file()]
        # Which plugins there are is remembered by where a program looks for them: a draft of that
        # goes when a program that looks in the same places writes it again, which we are not.
        left += [path for path in self.cache.iterdir() if ".txt" not in path.suffixes]
        return sorted(path.name for path in left if not path.name.endswith((".tmp", "-journal")))


def _note(number: int, animal: str) -> str:
    return (
        f"# Note {number}\n\nThe walrus met {animal} {number % 7}.\n\n## Later\n\n{number} came.\n"
    )


@pytest.fixture(scope="module")
def yard(
    tmp_path_factory: pytest.TempPathFactory,
    load: Callable[[str], Any],
    index_rows: Callable[[Path], IndexRows],
) -> Iterator[Yard]:
    sandbox = load("end_to_end/conftest.py").Sandbox(tmp_path_factory.mktemp("killed"))
    vendor = load("providers/fakes/openai.py").Vendor()
    loopback = load("providers/fakes/loopback.py").Loopback(vendor)
    killable = Path(load("faults/killable.py").__file__)
    yield Yard(sandbox, killable, index_rows, loopback.url)
    loopback.close()


def kill_once(yard: Yard, scenario: Scenario, manner: str, rng: random.Random) -> str:
    """Let a scenario go until it is killed; where that was."""
    course = yard.courses[scenario.name]
    share = rng.uniform(scenario.from_share, 1)
    while True:
        yard.lay_out(scenario)
        if manner == "time":
            process = yard.start(scenario, "write", 0)
            with suppress(subprocess.TimeoutExpired):
                process.wait(course.seconds * share)
            process.kill()
            place = f"after {course.seconds * share:.3f} s"
        else:
            at = 1 + int(course.counts[manner] * share)
            process = yard.start(scenario, manner, at)
            place = f"at {manner} {at} of {course.counts[manner]}"
        said = process.communicate()
        if process.returncode == -signal.SIGKILL:
            return place
        assert process.returncode == 0, said
        share *= 0.8  # it was done before: how much there is to do is not always the same


def goes_on(yard: Yard, scenario: Scenario) -> None:
    """A search needs no repair by hand; the next sync makes what one from scratch makes."""
    course = yard.courses[scenario.name]
    now = yard.texts()
    with yard.open(scenario) as memory:
        found = memory.search("walrus", max_results=20)
        assert len(found.hits) == 20
        for hit in found.hits:
            versions = [now, yard.before] if found.stale else [now]
            assert any(_stands_in(hit, texts.get(hit.path, "")) for texts in versions), hit
        assert not [note for note in found.notes if "aside" in note or "locked" in note]
        # A killed process holds nothing: no other has to wait.
        report = memory._backends().maintain(deadline=NEVER, wait=0)
        assert (report.remaining, report.unreadable, report.notices) == (0, (), ())
        if scenario.embeds:
            assert report.embedding is not None
            assert report.embedding.missing == 0
        assert not memory.sync().changed
    unlike = yard.rows().unlike(course.rows)
    assert not unlike, unlike
    assert yard.files() == course.files
    assert yard.sandbox.notes() == yard.notes


def _stands_in(hit: Hit, text: str) -> bool:
    return all(line.strip() in text for line in hit.snippet.splitlines())


def test_each_course_ends_where_one_from_scratch_does(yard: Yard) -> None:
    scratch = yard.courses["first index"].rows
    for scenario in SCENARIOS:
        rows = yard.courses[scenario.name].rows
        assert len(rows.vectors) == (len({row[1] for row in rows.chunks}) if scenario.embeds else 0)
        assert not rows._replace(vectors=scratch.vectors).unlike(scratch)


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_anywhere(
    yard: Yard, number: int, record_property: Callable[[str, object], None]
) -> None:
    scenario = SCENARIOS[number % len(SCENARIOS)]
    manner = MANNERS[(number + number // len(SCENARIOS)) % len(MANNERS)]
    place = kill_once(yard, scenario, manner, random.Random(number))
    record_property("scenario", scenario.name)
    record_property("manner", manner)
    record_property("place", place)
    goes_on(yard, scenario)
