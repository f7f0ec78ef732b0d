"""Pages of a memory with something wrong: every line of a template is rendered at least once."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from commonplace.model.documents import Finding, Fix, RootFailure
from commonplace.model.reports import BackendState, ProviderState, SyncOutcome, SyncState

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

AWAY = "the workspace cannot be listed: No such file or directory"


def test_health_says_which_folder_is_away(browser: Any, memory: Any, notes: Path) -> None:
    memory.sync()
    notes.rename(notes.parent / "elsewhere")
    for page in (browser.get("/health"), browser.get("/health?deep=1")):
        assert f"The workspace: {AWAY}" in page
        assert '<p class="figure">unknown</p>' in page


def test_health_shows_every_part_of_a_status(
    browser: Any, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = 1_767_268_800.0
    status = memory.status().replace(
        available=False,
        stale=3,
        provider="local",
        model="small",
        notices=("a notice",),
        problems=("a problem",),
        information=("some information",),
        config_files=("/etc/some.json5",),
        failed_roots=(RootFailure("more", "forbidden"),),
        links=(
            BackendState(id="first", state="failing", reason="broke", since=since, retry_in=9.0),
            BackendState(id="second", state="serving"),
        ),
        providers=(
            ProviderState(id="far", role="primary", state="failing", reason="cut", since=since),
            ProviderState(id="local", role="fallback", state="ready", model="small"),
        ),
        findings=(
            Finding("ok", "one", "is well"),
            Finding("warning", "two", "is odd", Fix("look at it")),
            Finding("problem", "three", "is bad", Fix("repair it")),
        ),
        sync_state=SyncState(
            watching="polling",
            reason="a remote disk",
            last=SyncOutcome(at=since, reasons=("watch",), error="no room"),
        ),
    )
    monkeypatch.setattr(memory, "status", lambda **_: status)
    page = _text(browser.get("/health?deep=1"))
    for shown in (
        "3 changed since",
        "a notice",
        "a problem",
        "some information",
        "/etc/some.json5",
        "more: forbidden",
        "broke",
        "in 9 s",
        "cut (since",
        "is well",
        "Fix: repair it",
        "polling (a remote disk)",
        ": no room",
    ):
        assert shown in page


def test_proposals_show_what_they_replace_and_what_is_stale(
    browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = {"text": "keep this", "source": "memory/a.md#L1", "replaces": "MEMORY.md#L3"}
    counts = {"recalls": 4, "days": 2, "questions": 3}
    found = {"path": "MEMORY.md", "steps": [{**step, **counts}], "stale": ["memory/b.md#L2"]}
    rest = {"diff": "@@ -1 +1 @@\n-old\n+new\n", "digest": "0", "logFull": True}
    monkeypatch.setattr("commonplace_browse.page.Page.run_command", lambda *_: {**found, **rest})
    page = _text(browser.get("/dream"))
    for shown in ("log of recalls is full", "recalled 4 times", "replaces MEMORY.md#L3", "b.md#L2"):
        assert shown in page


def _text(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page)))
