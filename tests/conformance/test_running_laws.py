"""How a law runs: what a failure prints, how far a slow one is, what a profile is."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from commonplace.testing import StoreConformance
from commonplace.testing.laws import PROFILES, Laws, law
from commonplace.testing.pressure import (
    answers_alike,
    cancelled_after,
    descriptors,
    elsewhere,
    keeps_descriptors,
)
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


class Counter:
    """Counts, and says that it can."""

    capabilities = frozenset({"counts"})

    def __init__(self) -> None:
        self.number = 0

    def add(self, number: int) -> int:
        if number > 90:
            raise ValueError("too many")
        self.number += number
        return self.number


class CounterLaws(Laws):
    subject = "counter"
    hint = "look at add"
    profile: ClassVar[str] = "default"
    settings = settings(max_examples=10, database=None, derandomize=True)
    examples = 0

    def opened(self) -> AbstractContextManager[Counter]:
        from contextlib import nullcontext

        return nullcontext(Counter())

    @law()
    def test_it_adds(self, counter: Counter) -> None:
        """What is added is there.

        And nothing else.
        """
        counter.add(1)
        assert counter.add(number=2) == 4

    @law(hint="numbers above 90 are refused")
    def test_it_adds_all(self, counter: Counter) -> None:
        """Any number can be added."""
        counter.add(91)

    @law("miracles")
    def test_it_works_miracles(self, counter: Counter) -> None:
        """Whatever is asked."""

    @law(number=st.integers(0, 9))
    def test_it_is_tried_often(self, counter: Counter, number: int) -> None:
        """Each example has a counter of its own."""
        self.examples += 1
        assert counter.add(number) == number


def test_a_failure_has_the_sentence_the_last_calls_and_a_hint() -> None:
    with pytest.raises(AssertionError) as raised:
        CounterLaws().test_it_adds()
    assert raised.value.__notes__ == [
        "The law: What is added is there.\nThe last calls:\n  add(1) -> 1\n  add(number=2) -> 3",
        "Hint: look at add",
    ]


def test_a_law_may_have_a_hint_of_its_own_and_errors_are_explained_too() -> None:
    with pytest.raises(ValueError, match="too many") as raised:
        CounterLaws().test_it_adds_all()
    calls, hint = raised.value.__notes__
    assert "add(91) raised ValueError('too many')" in calls
    assert hint == "Hint: numbers above 90 are refused"


def test_what_is_not_declared_is_skipped_without_a_note() -> None:
    with pytest.raises(pytest.skip.Exception, match="does not declare miracles") as raised:
        CounterLaws().test_it_works_miracles()
    assert not hasattr(raised.value, "__notes__")


@pytest.mark.parametrize(("profile", "examples"), [("quick", 2), ("default", 10)])
def test_a_profile_says_how_many_examples(
    profile: str, examples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONPLACE_TESTING_PROFILE", profile)
    laws = CounterLaws()
    monkeypatch.setattr(CounterLaws, "profile", "")
    laws.test_it_is_tried_often()
    assert laws.examples == examples
    assert PROFILES["thorough"] * examples > PROFILES["default"] * examples


def test_an_unknown_profile_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_TESTING_PROFILE", "eager")
    laws = CounterLaws()
    monkeypatch.setattr(CounterLaws, "profile", "")
    with pytest.raises(pytest.UsageError, match=r"eager.*quick, default, thorough"):
        laws.test_it_is_tried_often()


def test_a_slow_law_says_how_far_it_is() -> None:
    said: list[str] = []
    laws = CounterLaws()
    vars(laws).update(patience=0.0, report=said.append)
    laws.test_it_is_tried_often()
    assert "CounterLaws, it is tried often: 0 s, example 10, 1 calls" in said


def test_a_deadline_is_cancelled_once_and_for_all() -> None:
    deadline = cancelled_after(2)
    assert [deadline.expired for _ in range(5)] == [False, False, True, True, True]


def test_an_answer_of_another_thread_is_noticed() -> None:
    class Shares:
        asked = 0

        def double(self, number: int) -> int:
            self.asked = number
            doubled = self.asked
            return doubled + self.asked

    subject = Shares()
    with pytest.raises(AssertionError, match="another answer"):
        answers_alike(subject, [lambda at=at: subject.double(at) for at in range(8)])  # type: ignore[misc]


def test_files_left_open_are_noticed(tmp_path: Path) -> None:
    if descriptors() is None:
        pytest.skip("this system does not list a process's open files")
    held: list[Iterator[str]] = []
    (tmp_path / "a").write_text("a")
    with pytest.raises(AssertionError, match="files are left open"):
        keeps_descriptors(lambda: held.append((tmp_path / "a").open()))
    keeps_descriptors((tmp_path / "a").read_text)
    for file in held:
        file.close()  # type: ignore[attr-defined]


class NamedStore(StoreConformance):
    def open_store(self, directory: str) -> InMemoryStore:
        return InMemoryStore()

    def _seed(self) -> str:
        return repr(hash("seed"))


@pytest.mark.slow  # it starts two processes
def test_another_process_has_another_seed() -> None:
    one, other = elsewhere(NamedStore(), InMemoryStore(), "_seed")
    assert one != other


def test_a_suite_made_within_a_function_is_asked_here_with_other_numbers() -> None:
    class Hidden(NamedStore):
        def _seed(self) -> str:
            return repr(hash("seed"))

    class Store(InMemoryStore):
        pass

    (answer,) = elsewhere(Hidden(), Store(), "_seed")
    assert answer != repr(hash("seed"))
    assert repr(hash("seed")) == Hidden()._seed()


@pytest.mark.slow  # it starts pytest
def test_the_notes_are_printed_by_pytest(tmp_path: Path) -> None:
    file = tmp_path / "test_mine.py"
    file.write_text(
        "from commonplace.testing.laws import Laws, law\n"
        "from contextlib import nullcontext\n"
        "class TestMine(Laws):\n"
        "    def opened(self): return nullcontext([1])\n"
        "    @law()\n"
        "    def test_it(self, mine):\n"
        "        'It counts.'\n"
        "        assert mine.count(1) == 2\n"
    )
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)
    for line in ("The law: It counts.", "count(1) -> 1", "Hint: the docstring of the protocol"):
        assert line in done.stdout
