from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from commonplace.resilience.deadline import NEVER, Deadline
from commonplace_qmd.engine.commands import Ended, Runs, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends.qmd.engine.conftest import House


def ran(house: House, command: str = "x", **options: object) -> Ended:
    given = {
        "env": {"PATH": os.environ["PATH"]},
        "cwd": str(house.cwd),
        "deadline": Deadline.after(60),
        "runs": Runs(),
        "cap": 100_000,
        "grace": 0.05,
        **options,
    }
    return run([str(house.command), command], **given)  # type: ignore[arg-type]  # checked at run time


def test_output_and_words_are_kept_apart(house: House) -> None:
    house.behave(x={"stdout": "[]\n", "stderr": "Warning: ä\n", "code": 7})
    assert ran(house) == Ended(7, "[]\n", "Warning: ä\n", "")


def test_it_runs_in_the_given_folder_with_nothing_to_read(house: House) -> None:
    ran(house)
    (call,) = house.calls()
    assert call["cwd"] == str(house.cwd)
    assert call["leads"]


def test_all_output_is_read_of_a_program_that_has_ended(house: House) -> None:
    text = "é" * 40_000
    house.behave(x={"stdout": text})
    assert ran(house).stdout == text


def test_what_hangs_is_ended_at_the_deadline(house: House) -> None:
    house.behave(x={"do": "hang", "stderr": "Expanding query..."})
    ended = ran(house, deadline=house.until_started())
    assert (ended.why, ended.stderr) == ("timeout", "Expanding query...")


def test_what_does_not_listen_is_killed(house: House) -> None:
    house.behave(x={"do": "deaf"})
    assert ran(house, deadline=house.until_started()).code == -9


def test_a_slow_drip_does_not_move_the_deadline(house: House) -> None:
    house.behave(x={"do": "drip"})
    assert ran(house, deadline=house.until_started()).why == "timeout"


def test_a_launcher_is_ended_with_what_it_launched(
    house: House, gone: Callable[[int], None]
) -> None:
    house.behave(x={"do": "trampoline"})
    assert ran(house, deadline=house.until_started()).why == "timeout"
    (child,) = house.notes("children")
    gone(child)


def test_who_is_left_behind_holding_the_pipes_does_not_hold_us(
    house: House, gone: Callable[[int], None]
) -> None:
    house.behave(x={"do": "orphan", "stdout": "[]\n"})
    assert ran(house) == Ended(0, "[]\n", "", "")
    (child,) = house.notes("children")
    gone(child)


def test_too_much_output_is_an_error_and_not_cut(house: House) -> None:
    house.behave(x={"do": "flood"})
    assert ran(house, cap=1000).why == "output"


def test_the_last_words_are_kept(house: House) -> None:
    house.behave(x={"stderr": "a" * 100_000 + "the end"})
    words = ran(house).stderr
    assert words.endswith("the end")
    assert len(words) == 8192


def test_closing_ends_what_runs_and_waits_for_it(house: House) -> None:
    house.behave(x={"do": "hang"})
    runs = Runs()
    got: list[Ended] = []
    thread = threading.Thread(target=lambda: got.append(ran(house, runs=runs, deadline=NEVER)))
    thread.start()
    while not (house.cwd / "started").exists():
        thread.join(0.01)
    runs.close()
    assert not runs._running
    thread.join()
    assert got[0].why == "closed"


def test_an_interruption_leaves_nothing_behind(house: House) -> None:
    house.behave(x={"do": "hang"})

    def clock() -> float:
        if (house.cwd / "started").exists():
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        ran(house, deadline=Deadline(1.0, clock))


def test_what_cannot_be_started_is_reported(house: House) -> None:
    with pytest.raises(OSError, match="No such file"):
        run(["/nowhere/qmd"], env={}, cwd=str(house.cwd), deadline=NEVER, runs=Runs(), cap=10)


def test_a_killed_program_tells_its_signal(house: House) -> None:
    house.behave(x={"do": "segv"})
    assert ran(house).code == -11


def test_nothing_is_left_open(house: House) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("open files are counted in /proc")
    ran(house)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        ran(house)
    assert len(os.listdir("/proc/self/fd")) == before
