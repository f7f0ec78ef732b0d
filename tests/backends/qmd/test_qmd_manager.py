"""Searching through QMD: whole ways from files on disk to chunks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import DeclinedError, UnavailableError
from commonplace.model.documents import ScanReport
from commonplace.model.search import KeywordQuery, Query, Where
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace_qmd.engine.values import QmdError
from commonplace_qmd.settings import Limits, QmdPath, QmdSettings, Sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends.qmd.conftest import Desk

    from commonplace.model.documents import Document, DocumentRef
    from commonplace.model.search import StoredChunk

    Ask = Callable[..., list[StoredChunk]]


class NoTranscripts:
    """A source of transcripts that has none."""

    id = "sessions"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def scan(self) -> ScanReport:
        return ScanReport((), ("",))

    def read(self, ref: DocumentRef) -> Document | None:
        return None


def test_a_natural_question_finds_the_passage(desk: Desk, ask: Ask) -> None:
    manager = desk.make()
    report = manager.maintain(deadline=NEVER)
    assert (report.added, report.remaining) == (3, 0)
    (hit,) = ask(manager, "which port does the staging server listen on?")
    assert (hit.path, hit.start_line, hit.end_line) == ("MEMORY.md", 1, 3)
    assert hit.text == "# Team\n\nThe staging server listens on port 8443."
    assert (hit.source, hit.trust, hit.heading, hit.day) == ("memory", "memory", ("Team",), None)
    (hit,) = ask(manager, "walrus")
    assert (hit.path, hit.day) == ("memory/2026-10-03.md", "2026-10-03")


def test_files_outside_are_named_by_their_collection(desk: Desk, ask: Ask) -> None:
    outside = desk.root / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("A heron.")
    (outside / "one.txt").write_text("An egret.")
    manager = desk.make(
        QmdSettings(paths=(QmdPath(path=str(outside / "one.txt"), name="Birds"),)),
        extra_paths=(str(outside),),
    )
    manager.maintain(deadline=NEVER)
    (hit,) = ask(manager, "heron")
    assert (hit.path, hit.trust, hit.source) == ("qmd/custom-2-main/a.md", "external", "memory")
    (hit,) = ask(manager, "egret")
    assert hit.path == "qmd/birds/one.txt"


def test_a_file_in_two_collections_is_one_hit(desk: Desk, ask: Ask) -> None:
    manager = desk.make(extra_paths=("memory/projects",))
    manager.maintain(deadline=NEVER)
    assert [hit.path for hit in ask(manager, "otter")] == ["memory/projects/otter.md"]


def test_what_is_deleted_or_became_a_link_is_never_shown(desk: Desk, ask: Ask) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    secret = desk.root / "secret.md"
    secret.write_text("The walrus password.")
    (desk.workspace / "memory/2026-10-03.md").unlink()
    assert ask(manager, "walrus") == []
    os.symlink(secret, desk.workspace / "memory/2026-10-03.md")
    assert ask(manager, "walrus") == []


@pytest.mark.parametrize(
    "path", ["../secret.md", "a/../../secret.md", "/etc/passwd", "", "a//b.md", "x\0.md", "./a.md"]
)
def test_a_path_that_leads_out_is_not_followed(desk: Desk, ask: Ask, path: str) -> None:
    (desk.root / "secret.md").write_text("walrus")
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.qmd.documents = {("memory-dir-main", path): "walrus"}
    assert ask(manager, "walrus") == []


def test_rows_of_collections_that_are_not_ours_are_passed_over(desk: Desk, ask: Ask) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.qmd.documents["other", "a.md"] = "walrus"
    assert [hit.path for hit in ask(manager, "walrus")] == ["memory/2026-10-03.md"]


def test_filters_hold(desk: Desk, ask: Ask) -> None:
    desk.write("memory/2026-11-05.md", "Another walrus.")
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    assert len(ask(manager, "walrus")) == 2
    assert [hit.day for hit in ask(manager, "walrus after:2026-11-01")] == ["2026-11-05"]
    assert [hit.day for hit in ask(manager, "walrus before:2026-10")] == ["2026-10-03"]
    assert ask(manager, "otter after:2020-01-01") == [], "undated notes pass no date"
    assert ask(manager, "walrus path:memory/projects") == []
    assert [hit.path for hit in ask(manager, "otter path:memory/**/ot*.md")] == [
        "memory/projects/otter.md"
    ]
    assert ask(manager, "walrus", where=Where(sources=frozenset({"sessions"}))) == []
    assert ask(manager, "walrus", where=Where(sources=frozenset({"memory"})))
    assert [hit.day for hit in ask(manager, "walrus -path:memory/2026-10-*.md")] == ["2026-11-05"]
    assert ask(manager, "walrus -source:memory") == []


def test_excluded_words_exclude_passages_not_files(desk: Desk, ask: Ask) -> None:
    desk.write("memory/long.md", "# One\n\nA walrus.\n" + "\n" * 800 + "# Two\n\nA harbour.\n")
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    assert [hit.path for hit in ask(manager, "walrus -harbour")] == ["memory/long.md"]


def test_required_phrases_stand_in_the_passage(desk: Desk, ask: Ask) -> None:
    desk.write("memory/b.md", "The server listens.\n\nNo staging, but a staging\nserver, here.\n")
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    assert {hit.path for hit in ask(manager, '"staging server"')} == {"MEMORY.md", "memory/b.md"}
    assert ask(manager, '"server staging"') == []


def test_what_was_cut_off_before_it_was_filtered_is_no_empty_answer(desk: Desk, ask: Ask) -> None:
    for number in range(30):
        desk.write(f"memory/many/a{number:02}.md", "walrus walrus seal seal")
    desk.write("memory/z/rare.md", "a walrus and a seal")
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    # Deeper, for all words at once, it is there.
    assert [hit.path for hit in ask(manager, "walrus seal path:memory/z")] == ["memory/z/rare.md"]
    # For one word nothing was cut: an honest nothing.
    assert ask(manager, "walrus path:memory/nowhere") == []
    # Files that have only some of the words may lie below what QMD gave.
    with pytest.raises(DeclinedError):
        ask(manager, "walrus seal crane path:memory/nowhere")


def test_limits_bound_the_hits_and_their_text(desk: Desk, ask: Ask) -> None:
    for number in range(9):
        desk.write(f"memory/many/{number}.md", f"walrus {number}\n" + "seal " * 18)
    limits = Limits(max_results=5, max_snippet_chars=100, max_injected_chars=250)
    manager = desk.make(QmdSettings(limits=limits))
    manager.maintain(deadline=NEVER)
    hits = ask(manager, "walrus", limit=20)
    assert 3 <= len(hits) <= 5
    assert max(len(hit.text) for hit in hits) <= 100
    assert sum(len(hit.text) for hit in hits) == 250
    manager = desk.make(QmdSettings(limits=limits))
    assert len(ask(manager, "walrus", limit=2)) == 2


def test_it_never_has_longer_than_its_limit(desk: Desk) -> None:
    manager = desk.make(QmdSettings(limits=Limits(timeout_ms=1500)))
    manager.maintain(deadline=NEVER)
    seen: list[float] = []
    search = desk.qmd.search

    def watched(*args: object, deadline: Deadline, **more: object) -> object:
        seen.append(deadline.remaining())
        return search(*args, deadline=deadline, **more)  # type: ignore[arg-type]  # passed on

    desk.qmd.search = watched  # type: ignore[method-assign,assignment]  # to see the deadline
    query = Query("walrus", KeywordQuery(should=("walrus",)))
    manager.search(query, where=Where(), limit=6, deadline=NEVER)
    assert 0 < seen[0] <= 1.5


def test_an_unknown_collection_is_configured_and_searched_again(desk: Desk, ask: Ask) -> None:
    manager = desk.make(QmdSettings(sessions=Sessions(enabled=True)), source=NoTranscripts())
    manager.maintain(deadline=NEVER)
    listed = Path(desk.home().config_file)
    text = listed.read_text("utf-8")
    listed.write_text("collections: {}\n")
    # Of several sources one is asked for, so the collections are named.
    assert ask(manager, "walrus source:memory")
    assert len(desk.qmd.asked) == 2
    assert listed.read_text("utf-8") == text, "and its list is written again"


def test_a_failure_is_unavailable_and_no_empty_answer(desk: Desk, ask: Ask) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.qmd.fails["search"] = [QmdError("ended with status 1", reason="crash", hint="fix it")]
    with pytest.raises(UnavailableError) as caught:
        ask(manager, "walrus")
    assert caught.value.hint == "fix it"
    assert ask(manager, "walrus")


def test_searching_by_vectors_without_any_is_declined(desk: Desk, ask: Ask) -> None:
    manager = desk.make(QmdSettings(search_mode="vsearch"))
    manager.maintain(deadline=NEVER, embed=False)
    desk.qmd.fails["search"] = [QmdError("nothing is embedded yet", reason="no_vectors")]
    with pytest.raises(DeclinedError, match="no vectors"):
        ask(manager, "walrus")
    desk.qmd.fails["search"] = [QmdError("no model", reason="no_models")]
    with pytest.raises(UnavailableError, match="no model"):
        ask(manager, "walrus")


@pytest.mark.parametrize("mode", ["vsearch", "query"])
def test_by_meaning_the_question_goes_as_it_is_typed(desk: Desk, ask: Ask, mode: str) -> None:
    manager = desk.make(QmdSettings(search_mode=mode))  # type: ignore[arg-type]  # a literal
    manager.maintain(deadline=NEVER, embed=False)
    assert [hit.path for hit in ask(manager, "walrus -seal path:memory")] == [
        "memory/2026-10-03.md"
    ]
    asked_mode, texts, _, _ = desk.qmd.asked[-1]
    assert (asked_mode, texts) == (mode, ("walrus",))


def test_a_hit_by_meaning_shares_no_word_with_its_question(desk: Desk, ask: Ask) -> None:
    manager = desk.make(QmdSettings(search_mode="vsearch"))
    manager.maintain(deadline=NEVER, embed=False)
    desk.qmd._matching = lambda _text: [("memory-dir-main", "2026-10-03.md")]  # type: ignore[method-assign,assignment]  # as a model would
    (hit,) = ask(manager, "sea mammals")
    assert (hit.path, hit.start_line) == ("memory/2026-10-03.md", 1)


def test_closing_twice_is_fine(desk: Desk) -> None:
    manager = desk.make()
    manager.close()
    manager.close()
    assert desk.qmd.closed
