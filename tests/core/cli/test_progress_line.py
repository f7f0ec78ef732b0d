"""Progress on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from commonplace.cli.progress import ProgressLine
from commonplace.model.reports import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == "rich":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)


@pytest.mark.usefixtures("without_rich")
def test_one_line_is_drawn_over_and_over_and_wiped_away() -> None:
    stream, clock = Terminal(), Clock()
    with ProgressLine(stream, {}, clock=clock) as progress:
        clock.now += 1
        progress(Progress(label="Indexing", completed=1, total=4))
        clock.now += 1
        progress(Progress(label="Indexing", completed=2, total=4))
        progress(Progress(label="Indexing", completed=3, total=4))  # too soon to be worth drawing
    assert stream.getvalue() == ("\rIndexing 1/4 (25 %)\x1b[K\rIndexing 2/4 (50 %)\x1b[K\r\x1b[K")


@pytest.mark.usefixtures("without_rich")
def test_an_unknown_total_is_not_made_up() -> None:
    stream, clock = Terminal(), Clock()
    with ProgressLine(stream, {}, clock=clock) as progress:
        clock.now += 1
        progress(Progress(label="Looking", completed=7, total=0))
    assert stream.getvalue().startswith("\rLooking 7\x1b[K")


@pytest.mark.usefixtures("without_rich")
def test_waiting_shows_no_number() -> None:
    stream, clock = Terminal(), Clock()
    with ProgressLine(stream, {}, clock=clock) as progress:
        clock.now += 1
        progress(Progress(label="waiting for process 12", completed=0, total=0))
        clock.now += 1
        progress(Progress(label="Indexing", completed=1, total=4))
    assert stream.getvalue().startswith("\rwaiting for process 12 ...\x1b[K\rIndexing 1/4")


def test_what_is_done_at_once_shows_nothing() -> None:
    stream, clock = Terminal(), Clock()
    with ProgressLine(stream, {}, clock=clock) as progress:
        progress(Progress(label="Indexing", completed=1, total=1))
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("stream", "env"), [(io.StringIO(), {}), (Terminal(), {"TERM": "dumb"})], ids=["pipe", "dumb"]
)
def test_a_line_now_and_then_in_pipes_and_on_dumb_terminals(
    stream: io.StringIO, env: dict[str, str]
) -> None:
    clock = Clock()
    with ProgressLine(stream, env, clock=clock) as progress:
        progress.show("Checking")
        clock.now += 14
        progress(Progress(label="Indexing", completed=1, total=4))
        assert stream.getvalue() == ""  # most work is done by then
        clock.now += 1
        progress(Progress(label="Indexing", completed=2, total=4))
        clock.now += 14
        progress(Progress(label="Indexing", completed=3, total=4))
        clock.now += 1
        progress(Progress(label="Embed\nding", completed=7, total=0))
    assert stream.getvalue() == "note: Indexing 2/4 (50 %)\nnote: Embed\ufffdding 7\n"


def test_work_that_cannot_tell_how_far_it_is_says_what_it_does() -> None:
    stream = Terminal()
    with ProgressLine(stream, {}) as progress:
        progress.show("Checking the index")
    assert stream.getvalue() == "\rChecking the index ...\x1b[K\r\x1b[K"


def test_rich_draws_a_bar() -> None:
    pytest.importorskip("rich")
    stream, clock = Terminal(), Clock()
    with ProgressLine(stream, {}, clock=clock) as progress:
        clock.now += 1
        progress(Progress(label="Indexing", completed=1, total=4))
        clock.now += 1
        progress(Progress(label="Indexing", completed=3, total=4))
    assert "Indexing" in stream.getvalue()
    assert "3/4" in stream.getvalue()


def test_richs_bar_of_who_has_waited_goes_when_the_work_begins() -> None:
    pytest.importorskip("rich")
    stream, clock = Terminal(), Clock()
    with ProgressLine(stream, {}, clock=clock) as progress:
        for label, total in (("waiting", 0), ("Indexing", 4), ("Embedding", 4)):
            clock.now += 1
            progress(Progress(label=label, completed=0, total=total))
        bar = progress._bar
        assert bar is not None
        tasks = bar._progress.tasks  # type: ignore[union-attr]  # rich is here
        assert [(t.description, t.visible) for t in tasks] == [
            ("waiting", False),
            ("Indexing", True),
            ("Embedding", True),
        ]
    assert "waiting" in stream.getvalue()
