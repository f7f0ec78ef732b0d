"""Whatever happens to files, settings and processes: the index is as one made from scratch.

``SOAK_EXAMPLES`` is how many histories are tried of each backend, if not a few.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest
from hypothesis import Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace import Memory
from commonplace.index.manager import IndexedMemoryManager
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.faults.changing_files import ChangingFiles, Meddler
    from tests.faults.index_rows import IndexRows

    from commonplace.model.search import Hit

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("SOAK_EXAMPLES", "0"))
STEPS = 30

PATHS = (
    *("MEMORY.md", "memory/a.md", "memory/b.md", "memory/2026-01-31.md", "memory/in/a.md"),
    *("memory/in/deep/a.md", "memory/über/🦭 Ü.md", "notes/a.md", "../shelf/a.md"),
)
FOLDERS = ("memory", "memory/in", "memory/in/deep", "memory/away", "notes", "../shelf")
EXTRA = ("notes", "../shelf")

# No two share a stem, or three letters that follow one another.
WORDS = ("walrus", "heron", "otter", "pigeon", "quokka", "badger", "ibex", "zebu")
ODD = ("", "```", "- [ ] 部署", "新的API方案在周三上线。", "é\u0301 🦭\t|x|", "a" * 300)
LINES = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    st.sampled_from(WORDS).map("## {}".format),
    st.sampled_from(ODD),
)
TEXTS = st.lists(LINES, max_size=14).map("\n".join)
NUMBERS = st.integers(0, 99)  # of a file, among those that are there
MOMENTS = st.integers(1, 6)


class Tools(NamedTuple):
    """What a machine is handed; ``offset`` is what its clock is wrong by, in nanoseconds."""

    index_rows: Callable[[Path], IndexRows]
    rights_hold: Callable[[], AbstractContextManager[None]]
    make_files: Callable[[Path], ChangingFiles]
    meddler: Meddler
    offset: list[int]
    counts: dict[str, int]


class History(RuleBasedStateMachine):
    """Files, settings, and an index of them."""

    def __init__(self, tools: Tools, backend: str) -> None:
        super().__init__()
        self.tools, self.backend = tools, backend
        self.directory = TemporaryDirectory(prefix="commonplace-")
        self.root = Path(self.directory.name)
        self.files = tools.make_files(self.root)
        self.crashes = 0
        self.search: dict[str, Any] = {"provider": "none"}
        self.memory = self.open_memory()
        tools.offset[:] = [0]
        tools.counts["examples"] += 1

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.is_as_from_scratch()
        finally:
            self.files.open_all()
            self.memory.close()
            self.directory.cleanup()

    @invariant()
    def step(self) -> None:
        self.tools.counts["steps"] += 1

    # What happens to files.

    @initialize(texts=st.lists(TEXTS, min_size=3, max_size=len(PATHS)), said=st.booleans())
    def begin(self, texts: list[str], said: bool) -> None:
        for path, text in zip(PATHS, texts, strict=False):
            self.files.put(path, text)
        if said:
            self.files.say("walrus")

    @rule(path=st.sampled_from(PATHS), text=TEXTS)
    def write(self, path: str, text: str) -> None:
        self.files.put(path, text)

    @rule(number=NUMBERS, text=TEXTS)
    def replace(self, number: int, text: str) -> None:
        self.files.replace(self.files.pick(number), text)

    @rule(number=NUMBERS, line=LINES)
    def append(self, number: int, line: str) -> None:
        self.files.append(self.files.pick(number), line)

    @rule(
        number=NUMBERS,
        words=st.permutations(("walrus", "pigeon", "quokka", "badger")),
        keep_time=st.booleans(),
        known=st.booleans(),
    )
    def exchange(self, number: int, words: list[str], keep_time: bool, known: bool) -> None:
        """Words change, the size does not, and perhaps not even the time."""
        path = self.files.pick(number)
        self.files.append(path, words[0])
        if known:
            self.memory.sync()
        self.files.exchange(path, words, words[1], keep_time=keep_time)

    @rule(number=NUMBERS, seconds=st.sampled_from((-(10**8), -3600, 0, 3600)))
    def touch(self, number: int, seconds: int) -> None:
        self.files.touch(self.files.pick(number), seconds)

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        self.files.delete(self.files.pick(number))

    @rule(number=NUMBERS, other=st.sampled_from(PATHS))
    def rename(self, number: int, other: str) -> None:
        self.files.rename(self.files.pick(number), other)

    @rule(one=st.sampled_from(FOLDERS), other=st.sampled_from(FOLDERS))
    def rename_folder(self, one: str, other: str) -> None:
        self.files.rename_folder(one, other)

    @rule(path=st.sampled_from((*PATHS, *FOLDERS)))
    def close(self, path: str) -> None:
        self.files.close(path)

    @rule()
    def open_all(self) -> None:
        self.files.open_all()

    @precondition(lambda self: self.backend == "builtin")
    @rule(word=st.sampled_from(WORDS))
    def say(self, word: str) -> None:
        self.files.say(word)

    # What happens to the index.

    @rule(force=st.booleans())
    def sync(self, force: bool) -> None:
        """A sync that has all the time it needs; after it, nothing is left to do."""
        with self.tools.rights_hold():
            report = self.memory.sync(force=force)
            again = self.memory.sync()
        assert again.remaining == 0
        if not self.files.closed:
            assert report.unreadable == ()
            if not report.hidden:  # else a rebuild is not shown: the old index knows of more
                assert report.remaining == 0
                assert not again.changed

    @rule(most=st.sampled_from((0, 1, 3)), seconds=st.sampled_from((0.0, 0.003, 60.0)))
    def sync_partly(self, most: int, seconds: float) -> None:
        """One that may do little, or has no time."""
        deadline = Deadline.after(seconds)
        with self.tools.rights_hold():
            report = self.memory._backends().maintain(at_most=most or None, deadline=deadline)
        note(f"left {report.remaining}")

    @rule(force=st.booleans(), path=st.sampled_from(PATHS), moment=MOMENTS, text=TEXTS)
    def write_meanwhile(self, force: bool, path: str, moment: int, text: str) -> None:
        """Between the scan and the reading, a file is written."""
        self.meddled_with(moment, partial(self.files.put, path, text), force=force)

    @rule(force=st.booleans(), number=NUMBERS, moment=MOMENTS)
    def delete_meanwhile(self, force: bool, number: int, moment: int) -> None:
        """Between the scan and the reading, a file goes."""
        path = self.files.pick(number)
        self.meddled_with(moment, partial(self.files.delete, path), force=force)

    @rule(force=st.booleans(), moment=MOMENTS)
    def interrupted(self, force: bool, moment: int) -> None:
        with suppress(KeyboardInterrupt):
            self.meddled_with(moment, interrupt, force=force)

    @rule()
    def reopen(self) -> None:
        """The process ends and another begins."""
        self.memory.close()
        self.memory = self.open_memory()

    @rule()
    def crash(self) -> None:
        """The process is killed: all there is for the next is what lies in the folder just now."""
        killed = self.state
        self.crashes += 1
        if killed.exists():
            shutil.copytree(killed, self.state)
        self.reopen()

    @rule(tokens=st.sampled_from((25, 60, 200)), strategy=st.sampled_from(("markdown", "lines")))
    def cut_otherwise(self, tokens: int, strategy: str) -> None:
        """Another chunking is configured, for all who use the index."""
        for record in self.root.rglob("*.chunking"):
            record.unlink()
        chunking = {"tokens": tokens, "overlap": tokens // 5, "strategy": strategy}
        self.search["chunking"] = chunking
        self.reopen()

    @rule(extra=st.sets(st.sampled_from(EXTRA)), sessions=st.booleans())
    def look_elsewhere(self, extra: set[str], sessions: bool) -> None:
        """Other extra paths are configured, and other sources."""
        self.search["extraPaths"] = sorted(extra)
        self.search["sources"] = ["memory", "sessions"] if sessions else ["memory"]
        self.search["experimental"] = {"sessionMemory": sessions}
        self.reopen()

    @precondition(lambda self: self.backend == "builtin")
    @rule(profile=st.sampled_from(("default", "compat")))
    def tokenize_otherwise(self, profile: str) -> None:
        """A tokenizer is configured that needs an index of its own."""
        self.search["ranking"] = {"profile": profile}
        self.search["store"] = {"fts": {"tokenizer": "trigram"}}
        self.reopen()

    @rule(hours=st.sampled_from((-24, -1, 0)))
    def set_the_clock(self, hours: int) -> None:
        """The clock is set back, or right again."""
        self.tools.offset[:] = [hours * 3_600 * 10**9]

    # What may be seen of it.

    @rule(words=st.lists(st.sampled_from((*WORDS, "方案")), min_size=1, max_size=3))
    def look(self, words: list[str]) -> None:
        """What is shown once stood in that file; it is all there is now, unless it is said."""
        with self.tools.rights_hold():
            found = self.memory.search(" ".join(words), max_results=200, min_score=0.0)
        hits = [hit for hit in found.hits if hit.source == "memory"]
        for hit in hits:
            assert any(stands_in(hit, text) for text in self.files.versions[hit.path]), hit
        if found.stale or self.files.closed:
            return
        if not any((self.files.workspace / name).exists() for name in ("MEMORY.md", "memory")):
            return  # any other folder is taken as it is: see test_any_folder.py
        roots = (*self.search.get("extraPaths", ()), "memory")
        texts = self.files.texts(["MEMORY.md", *(f"{root}/" for root in roots)])
        assert all(stands_in(hit, texts[hit.path]) for hit in hits)
        if self.search.get("ranking", {}).get("profile") != "compat":
            wanted = {path for path, text in texts.items() if any(word in text for word in words)}
            assert {hit.path for hit in hits} == wanted, (len(found.hits), found.notes)

    @precondition(lambda self: not self.files.closed)
    @rule()
    def is_as_from_scratch(self) -> None:
        """After one sync, the index is what one made of the same files is, row by row."""
        self.files.open_all()
        for path in EXTRA:  # a disk that is away hides what it holds; here all are back
            self.files.put(f"{path}/here.md", "pigeon\n")
        self.memory.sync()
        scratch = self.root / "scratch"
        with self.open_memory(scratch) as other:
            other.sync()
            if self.backend == "builtin":
                unlike = self.rows_in(self.state).unlike(self.rows_in(scratch))
                assert not unlike, unlike
            else:
                assert said_by(self.memory) == said_by(other)
        shutil.rmtree(scratch, ignore_errors=True)  # a backend may keep nothing

    # How it is done.

    @property
    def state(self) -> Path:
        return self.root / f"state{self.crashes}"

    def open_memory(self, state: Path | None = None) -> Memory:
        env = {
            "HOME": str(self.root / "home"),
            "OPENCLAW_STATE_DIR": str(self.files.openclaw),
            "COMMONPLACE_STATE_DIR": str(state or self.state),
            "COMMONPLACE_CACHE_DIR": str(self.root / "cache"),
        }
        # Files with the same text are hits of their own here.
        search = {**self.search, "query": {"fold": False, **self.search.get("query", {})}}
        config = {"memory": {"backend": self.backend, "search": search}}
        return Memory.open(workspace=self.files.workspace, env=env, config=config)

    def rows_in(self, state: Path) -> IndexRows:
        (found,) = (state / "memory").glob("*.sqlite")
        return self.tools.index_rows(found)

    def meddled_with(self, moment: int, act: Callable[[], None], *, force: bool) -> None:
        self.tools.meddler.at(moment, act)
        try:
            with self.tools.rights_hold():
                self.memory.sync(force=force)
        finally:
            self.tools.meddler.rest()


def interrupt() -> None:
    signal.default_int_handler(signal.SIGINT, None)  # raised by no statement, as by Ctrl-C


def stands_in(hit: Hit, text: str) -> bool:
    """Whether every line that ``hit`` shows stands in ``text``."""
    return all(line.strip() in text for line in hit.snippet.splitlines())


def said_by(memory: Memory) -> dict[str, list[str]]:
    """The places of every word there is."""
    return {
        word: sorted(hit.citation for hit in memory.search(word, max_results=200).hits)
        for word in WORDS
    }


@pytest.fixture
def tools(
    index_rows: Callable[[Path], IndexRows],
    load: Callable[[str], Any],
    meddler: Meddler,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> Iterator[Tools]:
    offset, counts = [0], {"examples": 0, "steps": 0}
    defaults = IndexedMemoryManager.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock_ns", lambda: time.time_ns() + offset[0])
    rights_hold = load("faults/rights.py").rights_hold
    make_files = load("faults/changing_files.py").ChangingFiles
    yield Tools(index_rows, rights_hold, make_files, meddler, offset, counts)
    for name, number in counts.items():
        record_property(name, number)


@pytest.mark.parametrize(
    ("backend", "examples"),
    [("inmemory", 8), ("builtin", 40)],
)
def test_an_index_follows_its_files(tools: Tools, backend: str, examples: int) -> None:
    machine = cast("type[History]", partial(History, tools, backend))
    history = settings(max_examples=EXAMPLES or examples, stateful_step_count=STEPS)
    if EXAMPLES:  # a soak tells what it found at once: making it shorter takes minutes
        history = settings(history, phases=(Phase.reuse, Phase.generate))
    run_state_machine_as_test(machine, settings=history)
