"""What the pages show while the notes are watched, as the command serves them."""

from __future__ import annotations

import io
import threading
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.plugin import Context, Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AWAY = "the workspace cannot be listed"


@pytest.mark.slow
def test_a_workspace_that_goes_away_is_missed_on_every_page(
    make_browser: Callable[..., Any],
    notes: Path,
    env: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("uvicorn", "watchfiles"):
        pytest.importorskip(name, reason="needs the extras browse and watch")
    from commonplace_browse import serving

    monkeypatch.setattr(serving, "_FIRST_SECONDS", 0.0)
    named = Namespace(workspace=str(notes), config=None, agent=None, json=False, format=None)
    context = Context(named, out=io.StringIO(), err=io.StringIO(), env=env)
    listeners: list[Callable[[], None]] = []
    with serving._open(context, listeners) as memory:
        browser = make_browser(memory=memory, listeners=listeners)
        serving._index(memory)
        for thread in threading.enumerate():
            if thread.name == "browse-index":
                thread.join(60)
        assert "<mark>port</mark>" in browser.get("/?q=port")
        assert "2026-10-12" in browser.get("/timeline")
        elsewhere = notes.rename(notes.parent / "elsewhere")
        assert AWAY in browser.get("/?q=port", 503)
        assert AWAY in browser.get("/?q=port&part=hits", 503)
        assert AWAY in browser.get("/agent?q=port")
        memory.sync()  # as the watcher asks for, seconds later
        assert AWAY in browser.get("/timeline", 503)
        assert AWAY in browser.get("/", 503)
        elsewhere.rename(notes)
        assert "<mark>port</mark>" in browser.get("/?q=port")
        memory.sync()
        assert "2026-10-12" in browser.get("/timeline")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_update_that_breaks_is_not_shown_as_under_way_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra browse")
    from commonplace_browse import serving

    class Defective:
        def watch(self) -> None:
            pass

        def sync(self, progress: Callable[[Progress], None]) -> None:
            progress(Progress(label="Indexing notes", completed=1, total=3))
            raise ZeroDivisionError

    monkeypatch.setattr(serving, "_FIRST_SECONDS", 0.0)
    under_way = serving._index(Defective())  # type: ignore[arg-type]
    for thread in threading.enumerate():
        if thread.name == "browse-index":
            thread.join(60)
    assert under_way() is None
