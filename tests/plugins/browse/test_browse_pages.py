from __future__ import annotations

import re
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, PluginUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_search_shows_hits_with_reasons_and_facets(browser: Any) -> None:
    page = browser.get("/?q=port")
    assert "<mark>port</mark>" in page
    assert 'class="bars"' in page
    assert "q=port+path%3Amemory%2Fprojects" in page
    part = browser.get("/?q=port&part=1")
    assert "<html" not in part
    assert "<mark>port</mark>" in part
    assert 'class="bars"' not in part  # why is asked for when it is opened
    typing = browser.get("/?q=port&part=hits")
    assert "<mark>port</mark>" in typing
    assert "path%3Amemory%2Fprojects" in part
    assert "path%3Amemory%2Fprojects" not in typing  # facets follow at a pause


def test_a_folded_hit_says_what_its_value_was(browser: Any, memory: Any, notes: Path) -> None:
    for day, port in ((1, 8401), (2, 8402)):
        (notes / f"memory/2026-11-0{day}.md").write_text(f"The quay relay port is {port}.\n")
    memory.sync()
    page = browser.get("/?q=quay+relay+port")
    assert "1 more like this, folded (before: 8401 (2026-11-01))" in page


def test_why_a_hit_is_there_adds_up_to_its_score(browser: Any, memory: Any) -> None:
    hit = memory.search("port path:memory").hits[0]
    why = browser.get(f"/?q=port+path:memory&part=why&at={hit.citation.replace('#', '%23')}")
    values = re.findall(r'<tr class="(?:more|less)">.*?class="value">([^<]*)<', why)
    total = re.search(r'<tr class="sum">.*?class="value">([^<]*)<', why)
    assert total is not None
    assert float(total[1]) == round(hit.score, 2)
    amounts = [float(value.replace("\N{MINUS SIGN}", "-")) for value in values]
    assert amounts
    assert abs(sum(amounts) - hit.score) <= 0.005 * (len(amounts) + 1)
    assert "<code>path:memory</code>" in why
    assert "no longer" in browser.get("/?q=port&part=why&at=gone.md%23L1")


def test_filters_are_chips_that_can_be_taken_back(browser: Any) -> None:
    page = browser.get("/?q=port+path:memory/projects")
    assert 'href="/?q=port" aria-label="without path:memory/projects"' in page
    assert "MEMORY.md#L" not in page


def test_a_mistake_is_a_page_with_a_hint(browser: Any) -> None:
    assert "There is no" not in browser.get("/?q=zzzzqqq")
    assert "To fix it" in browser.get("/note?path=nothing.md", 404)
    browser.get("/note?path=../../etc/passwd", 404)
    browser.get("/timeline?day=2026-99-99", 404)
    browser.get("/nothing", 404)


def test_a_note_is_read_and_shown_by_line(browser: Any) -> None:
    assert "<h1" in browser.get("/note?path=memory/2026-10-12.md&lines=3-4")
    lines = browser.get("/note?path=memory/2026-10-12.md&view=lines&lines=3-3")
    assert re.search(r'id="L3" class="at"', lines)
    for cited in ("L3-L5", "L1-L5"):
        leads = browser.raw("GET", f"/note?path=MEMORY.md%23{cited}").headers["location"]
        assert leads.endswith(f"#{cited.partition('-')[0]}")
        assert browser.get(leads) == browser.get(leads.replace("MEMORY.md", "./MEMORY.md"))


@pytest.mark.parametrize("text", ["", "\n", "one line", "# a\n\nb\n"])
def test_a_note_of_any_length_is_shown_under_its_path(browser: Any, notes: Path, text: str) -> None:
    (notes / "memory/short.md").write_text(text)
    assert "<h1" in browser.get("/note?path=memory/short.md")


def test_a_day_is_shown_without_the_note_that_was_deleted(browser: Any, notes: Path) -> None:
    assert "2026-10-12.md" in browser.get("/timeline?day=2026-10-12")
    (notes / "memory/2026-10-12.md").unlink()
    assert "Nothing is of this day" in browser.get("/timeline?day=2026-10-12")


def test_notes_that_change_while_they_are_listed_are_listed_again() -> None:
    from commonplace_browse.library import Library

    class Changing:
        """Hears of a change while it lists its notes for the first time."""

        sync_state = None
        listed = 0

        def notes(self) -> tuple[Any, ...]:
            self.listed += 1
            if self.listed == 1:
                library.forget()
            return ()

    memory: Any = Changing()
    library = Library(memory, clock=lambda: 0.0)
    for _ in range(3):
        library.refs()
    assert memory.listed == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only there a name need not be UTF-8")
def test_a_folder_whose_name_is_no_text_is_browsed(
    make_browser: Callable[..., Any], notes: Path, env: dict[str, str]
) -> None:
    named = notes.rename(notes.parent / "no\udcfftes")
    with Memory.open(workspace=named, env=env) as memory:
        browser = make_browser(memory=memory)
        for path in ("/", "/health", "/note?path=MEMORY.md"):
            assert "no?tes" in browser.get(path)


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("projects/tide-api.md", "/note?path=memory%2Fprojects%2Ftide-api.md"),
        ("Tide-API", "/note?path=memory%2Fprojects%2Ftide-api.md"),
        ("../MEMORY", "/note?path=MEMORY.md"),
        ("nowhere.md", "/?q=nowhere"),
    ],
)
def test_links_of_notes_find_notes(browser: Any, name: str, leads: str) -> None:
    answer = browser.raw("GET", "/go", params={"to": name, "from": "memory/2026-10-12.md"})
    assert answer.headers["location"] == leads


def test_the_timeline_has_days_and_former_values(browser: Any, memory: Any) -> None:
    memory.writer(who="test").correct("MEMORY.md#L3", "Former is gone")
    page = browser.get("/timeline?year=2026")
    assert page.count("<rect") > 365
    assert 'href="/timeline?day=2026-10-12"' in page
    assert "The sleepy sign" in browser.get("/timeline?day=2026-10-12")
    today = memory.writer(who="test").journal()[0]
    assert today.id
    latest = browser.get("/timeline")
    assert "Skerry is four people" in latest
    assert "Former is gone" in latest


def test_today_on_the_timeline_is_that_of_the_memory(
    make_browser: Any, notes: Path, env: dict[str, str]
) -> None:
    pytest.importorskip("starlette", reason="needs the extra browse")
    (notes / "memory/2031-05-05.md").write_text("The lease ends.\n", encoding="utf-8")
    with Memory.open(
        workspace=notes, env=env, clock=lambda: 1_935_835_200.0
    ) as later:  # 2031-05-06
        page = make_browser(memory=later).get("/timeline")
    assert "<h1>2031</h1>" in page


def test_the_timeline_opens_with_no_year_to_come(browser: Any, notes: Path) -> None:
    (notes / "memory/2999-01-01.md").write_text("The lease ends.\n", encoding="utf-8")
    page = browser.get("/timeline")
    assert "<h1>2999</h1>" not in page
    assert 'href="/timeline?year=2999"' in page


@pytest.mark.slow
def test_a_long_note_is_shown_by_line_and_its_day_says_that_it_is_cut(
    browser: Any, notes: Path
) -> None:
    text = "".join(f"- line {number} of a long log\n" for number in range(9_000))
    (notes / "memory/2026-02-03.md").write_text(text, encoding="utf-8")
    page = browser.get("/note?path=memory/2026-02-03.md&lines=8500-8500")
    assert '<ol class="lines" start="8401">' in page
    assert '<li id="L8500" class="at">' in page
    assert page.count("<li id=") == 1_000  # of the last 2,000 lines
    assert "read all of it" in browser.get("/timeline?day=2026-02-03")
    assert "read all of it" not in browser.get("/timeline?day=2026-10-12")


def test_the_lines_of_a_long_note_are_read_page_by_page(browser: Any, notes: Path) -> None:
    import html

    numbers = range(1, 9_001)
    text = "\n".join(f"- line {number} of a long log" for number in numbers)
    (notes / "memory/2026-02-03.md").write_text(text, encoding="utf-8")
    (notes / "memory/short.md").write_text("one line\n", encoding="utf-8")
    page = browser.get("/note?path=memory/2026-02-03.md")
    seen = re.findall(r'<li id="L(\d+)"', page)
    assert "Earlier lines" not in page
    while later := re.search(r'href="([^"]*)">Later lines', page):
        page = browser.get(html.unescape(later[1]))
        seen += re.findall(r'<li id="L(\d+)"', page)
        assert page.count("Earlier lines") == 1
    assert seen == [str(number) for number in numbers]
    earlier = re.search(r'href="([^"]*)">← Earlier lines', page)
    assert earlier is not None
    assert '<li id="L8000">' in browser.get(html.unescape(earlier[1]))
    assert '<li id="L9000">' in browser.get("/note?path=memory/2026-02-03.md&lines=99999-99999")
    assert ">1 line<" in browser.get("/note?path=memory/short.md")


def test_what_my_agent_sees_is_exactly_the_recall(browser: Any, memory: Any) -> None:
    import html

    for query, budget in (("", 8000), ("which port has staging?", 900)):
        page = browser.get(f"/agent?q={query}&budget={budget}")
        found = re.search(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
        assert found is not None
        expected = memory.recall(query=query or None, budget=budget).text
        assert html.unescape(found[1]) == expected


def test_health_names_the_backend_and_audits_when_asked(browser: Any, notes: Path) -> None:
    (notes / "memory/a.md").write_text("# A\n\nSee [[mising-note]] and [the plan](plan.md).\n")
    assert "mising-note" not in browser.get("/health")
    page = browser.get("/health?deep=1")
    assert "builtin" in page
    assert "mising-note" not in page
    page = browser.get("/health?audit=1&wait=1")
    assert re.search(r'id="broken-links">Broken links <span class="count">2<', page)
    assert "mising-note" in page
    assert 'href="/edit?at=memory/a.md%23L3"' in page


def test_health_shows_how_evaluations_changed(
    browser: Any, notes: Path, env: dict[str, str], keep_evaluations: Callable[..., None]
) -> None:
    page = browser.get("/health")
    assert f"commonplace eval mine.jsonl --workspace {notes}" in page
    keep_evaluations(env, str(notes))
    page = browser.get("/health")
    assert page.count("<td>mine</td>") == 2
    assert 'aria-label="mine, 2 evaluations: Recall@5 from 0.500 to 1.000' in page
    assert re.search(r'1\.000 <span class="delta up">\+0\.500<', page)
    assert "where is it?" not in page


def test_a_chart_has_the_runs_of_the_present_queries() -> None:
    pytest.importorskip("jinja2", reason="needs the extra browse")
    from commonplace_browse.evaluations import evaluations

    def report(at: int, name: str, score: float, change: float | None) -> dict[str, Any]:
        measures = {"recall@5": score, "ndcg@10": score}
        changes = None if change is None else dict.fromkeys(measures, change)
        rest = {"queries": 9, "engine": "builtin", "changed": ["settings"]}
        return {"at": at, "set": name, "measures": measures, "change": changes, **rest}

    reports = [
        report(5, "a", 0.7, -0.1),
        report(4, "b", 0.5, None),
        report(3, "a", 0.8, None),
        report(2, "a", 0.1, 0.0),
    ]
    found = evaluations(lambda *_: {"reports": reports, "unreadable": 1})
    (chart,) = found.charts
    assert (chart.set, chart.top, chart.bottom) == ("a", "0.80", "0.70")
    assert [point[:2] for point in chart.lines[0].points] == [(0.0, 0.0), (640.0, 120.0)]
    changes = [row.figures[0].change for row in found.rows]
    assert changes == ["\N{MINUS SIGN}0.100", "", "", "="]
    assert [row.figures[0].worse for row in found.rows] == [True, False, False, False]


def test_health_is_shown_where_evaluations_are_switched_off(
    browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: str) -> None:
        raise PluginUnavailableError("eval is switched off")

    monkeypatch.setattr("commonplace_browse.page.Page.run_command", run)
    page = browser.get("/health")
    assert "The evaluations are not shown: eval is switched off" in page
    assert "Audit the notes" in page


def test_a_long_audit_is_waited_for_by_the_page_not_by_the_reader(browser: Any) -> None:
    from commonplace_browse.condition import Audits

    ended, asked = threading.Event(), []

    def run(*arguments: str) -> dict[str, Any]:
        asked.append(arguments)
        assert ended.wait(30)
        if len(asked) > 1:
            raise PluginUnavailableError("audit is switched off")
        return {"findings": [], "notes": 3, "silenced": 0, "unreadable": []}

    audits = Audits(run)
    assert audits.result(searched=False, patience=0) is None
    assert audits.result(searched=False, patience=0) is None
    ended.set()
    found = audits.result(searched=False, patience=30)
    assert found is not None
    assert (found.notes, len(asked)) == (3, 1)
    with pytest.raises(PluginUnavailableError, match="switched off"):
        audits.result(searched=False, patience=30)
    # Which of the two a page shows depends on the machine: a page that waits has the findings.
    assert "notes were read" in browser.get("/health?audit=1&wait=1")


def test_an_audit_that_no_thread_could_begin_is_begun_by_the_next_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("jinja2", reason="needs the extra browse")
    from commonplace_browse.condition import Audits

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    audits = Audits(lambda *_: {"findings": [], "notes": 3, "silenced": 0, "unreadable": []})
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            audits.result(searched=False, patience=0)
    found = audits.result(searched=False, patience=5)
    assert found is not None
    assert found.notes == 3


def test_a_finding_shows_its_proposal_and_the_older_note() -> None:
    pytest.importorskip("jinja2", reason="needs the extra browse")
    from commonplace_browse.condition import audited

    asked: list[tuple[str, ...]] = []
    finding = {
        "kind": "contradiction",
        "severity": "warning",
        "citation": "a.md#L1",
        "text": "differs",
        "hint": "",
        "others": ["b.md#L2"],
        "diff": "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-old\n+new\n",
    }

    def run(*arguments: str) -> dict[str, Any]:
        asked.append(arguments)
        missed = [{"path": "c.md", "reason": "not text"}]
        return {"findings": [finding] * 60, "notes": 3, "silenced": 1, "unreadable": missed}

    found = audited(run, searched=False)
    assert [(kind.title, kind.number, len(kind.findings)) for kind in found.kinds] == [
        ("Contradictions", 60, 50)
    ]
    assert [line.kind for line in found.kinds[0].findings[0].diff] == ["del", "add"]
    assert found.unreadable == (("c.md", "not text"),)
    audited(run, searched=True)
    assert "unfound" not in asked[0][2]
    assert asked[1] == ("audit",)


def test_conversations_stand_on_the_day_of_their_file(
    browser: Any, memory: Any, tmp_path: Path
) -> None:
    import os

    talk = tmp_path / "talk.jsonl"
    talk.write_text("{}")
    os.utime(talk, (1_767_268_800, 1_767_268_800))  # 2026-01-01, 12:00 UTC
    listed = memory.notes()
    ref = listed[0]._replace(source="chats", path="chats/talk.jsonl", location=str(talk))
    memory.notes = lambda: (*listed, ref)
    page = browser.get("/timeline?day=2026-01-01")
    assert "chats/talk.jsonl" in page
