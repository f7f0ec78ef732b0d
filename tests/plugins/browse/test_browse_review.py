from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import CallerError, Hit, IndexBusyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINE = "- Staging: `puffin`, port 8471, rebuilt every Monday morning, data may vanish."


@pytest.fixture
def cited(notes: Path) -> str:
    """The citation of the line about staging."""
    lines = (notes / "MEMORY.md").read_text().split("\n")
    return f"MEMORY.md#L{lines.index(LINE) + 1}"


def test_a_change_is_made_while_the_index_cannot_be_written(
    browser: Any,
    memory: Any,
    notes: Path,
    hidden_fields: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from commonplace_browse import page

    def busy() -> None:
        raise IndexBusyError("process 1 has been writing the index for 30 s")

    monkeypatch.setattr(memory, "sync", busy)
    shown = browser.post("/preview", action="remember", kind="entry", new="Ferry at noon").text
    browser.post("/apply", 303, **hidden_fields(shown))
    freed = threading.Event()
    monkeypatch.setattr(memory, "sync", freed.wait)
    monkeypatch.setattr(page, "PATIENCE", 0.0)
    shown = browser.post("/preview", action="remember", kind="entry", new="Tram at one").text
    browser.post("/apply", 303, **hidden_fields(shown))
    freed.set()
    assert "- Ferry at noon\n- Tram at one" in (notes / "MEMORY.md").read_text()


@pytest.mark.parametrize("action", ["correct", "supersede", "forget"])
def test_a_change_is_shown_then_made_then_undone(
    browser: Any, notes: Path, cited: str, action: str, hidden_fields: Callable[..., dict[str, str]]
) -> None:
    before = (notes / "MEMORY.md").read_bytes()
    assert "port 8471" in browser.get(f"/edit?at={cited.replace('#', '%23')}")
    form = {"action": action, "at": cited, "was": LINE, "new": "Staging: port 8472", "why": "test"}
    shown = browser.post("/preview", **form).text
    assert 'class="del"' in shown
    assert (notes / "MEMORY.md").read_bytes() == before
    done = browser.post("/apply", 303, **hidden_fields(shown))
    after = (notes / "MEMORY.md").read_text()
    assert ("8472" in after) == (action != "forget")
    assert (LINE in after) is False
    page = browser.get(done.headers["location"])
    assert '<p class="done"' in page
    receipt = done.headers["location"].rpartition("=")[2]
    shown = browser.get(f"/undo?id={receipt}")
    assert 'class="add"' in shown
    browser.post("/apply", 303, **hidden_fields(shown))
    assert (notes / "MEMORY.md").read_bytes() == before


def test_what_is_new_is_remembered(
    browser: Any, notes: Path, hidden_fields: Callable[..., dict[str, str]]
) -> None:
    shown = browser.post("/preview", action="remember", kind="entry", new="Ferry at noon").text
    browser.post("/apply", 303, **hidden_fields(shown))
    assert "- Ferry at noon" in (notes / "MEMORY.md").read_text()


def test_only_what_was_shown_is_written(
    browser: Any, notes: Path, cited: str, hidden_fields: Callable[..., dict[str, str]]
) -> None:
    shown = browser.post("/preview", action="forget", at=cited, was=LINE).text
    fields = hidden_fields(shown)
    for change in ({"digest": "0" * 20}, {"action": "correct", "new": "other"}):
        browser.post("/apply", 409, **{**fields, **change})
    text = (notes / "MEMORY.md").read_text()
    (notes / "MEMORY.md").write_text(text.replace(LINE, LINE + " Changed."))
    browser.post("/apply", 409, **fields)
    assert "Changed." in (notes / "MEMORY.md").read_text()


def test_a_change_without_effect_or_sense_is_refused(browser: Any, cited: str) -> None:
    browser.post("/preview", 400, action="correct", at=cited, new=LINE)
    browser.post("/preview", 400, action="burn", at=cited)
    browser.post("/preview", 409, action="correct", at="MEMORY.md", new="x")
    browser.get("/undo?id=0000000000", 409)


def test_proposals_are_reviewed_line_by_line(
    browser: Any, memory: Any, notes: Path, hidden_fields: Callable[..., dict[str, str]]
) -> None:
    from commonplace.plugin import recall_log

    day = notes / "memory/2026-10-14.md"
    facts = ["The boiler is serviced in March", "The ladder stands behind the shed"]
    day.write_text("\n".join(f"- {fact}" for fact in facts) + "\n")
    log = recall_log(memory.settings.state_dir, memory.settings.workspace)
    for date in ("2026-10-15", "2026-10-16", "2026-10-17"):
        for fact, question in zip(facts, ("boiler serviced", "ladder shed"), strict=True):
            hit = Hit(
                path="memory/2026-10-14.md",
                start_line=1,
                end_line=2,
                score=0.9,
                snippet=f"- {fact}",
                source="memory",
            )
            log.record(f"{question} {fact.split()[-1]} {date[-1] * 3}", [hit], date)
    page = browser.get("/dream")
    assert page.count('type="checkbox"') == 2
    digest = hidden_fields(page)["digest"]
    chosen = browser.post("/dream/preview", step="2", digest=digest).text
    assert chosen.count('class="add"') == 1
    browser.post("/dream/apply", 303, **hidden_fields(chosen))
    text = (notes / "MEMORY.md").read_text()
    assert [fact in text for fact in facts].count(True) == 1
    browser.post("/dream/apply", 400, digest=digest, only="1")
    browser.post("/dream/preview", 400, digest=digest)
    assert "has changed" in browser.post("/dream/preview", 400, digest=digest, step="9").text
    now = hidden_fields(browser.get("/dream"))["digest"]
    assert "1 step" in browser.post("/dream/preview", 400, digest=now, step="9").text
    browser.post("/dream/apply", 400, digest=digest, only="x; rm")
    browser.post("/dream/apply", 400, digest="--json", only="1")


def test_a_note_opens_in_the_editor(make_browser: Callable[..., Any], tmp_path: Path) -> None:
    program = tmp_path / "note-editor"
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(0o755)
    browser = make_browser(EDITOR=str(program))
    answer = browser.post("/open", 303, path="MEMORY.md", line="3")
    assert "editor=note-editor" in answer.headers["location"]
    browser.post("/open", 404, path="../x", line="3")
    make_browser(EDITOR="").post("/open", 400, path="MEMORY.md", line="3")
    make_browser(EDITOR=str(tmp_path / "no")).post("/open", 503, path="MEMORY.md", line="3")


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("nvim -R", ["nvim", "-R", "+7", "/n/a b.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/n/a b.md:7"]),
        ("subl", ["subl", "/n/a b.md:7"]),
        ("ed", ["ed", "/n/a b.md"]),
    ],
)
def test_editors_are_given_the_line(editor: str, expected: list[str]) -> None:
    from commonplace_browse.opening import command_for

    assert command_for({"EDITOR": editor}, "/n/a b.md", 7) == expected
    with pytest.raises(CallerError):
        command_for({"EDITOR": "'"}, "/n/a.md", 7)
