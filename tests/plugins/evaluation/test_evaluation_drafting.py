"""Queries drafted from notes."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from commonplace_evaluation.drafting import as_jsonl, draft_queries
from commonplace_evaluation.measures import Span
from commonplace_evaluation.sets import read_queries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOTES = {
    "a.md": """---
title: The harbour pilot station
---
# Repairs of the winter boat

The winter boat got another propeller from the yard beside the lighthouse.

```
propeller boat winter yard lighthouse another code
```
""",
    "b.md": """# Suppliers

- The yard beside the lighthouse delivers within eleven days, mostly before noon.
- The rope comes from SK-LR20 in Bergen, eleven metres each, mostly tarred.
- 样机的电缆只有五米，北京时间九点以后再打电话。
""",
}


def test_each_query_names_the_lines_that_hold_its_words() -> None:
    drafts = {draft.query: draft for draft in draft_queries(NOTES, 20)}
    heading = drafts["Repairs of the winter boat"]
    assert heading.kind == "draft-heading"
    assert heading.relevant == Span("a.md", 4, 10)
    assert drafts["SK-LR20"].relevant == Span("b.md", 4, 4)
    words = [draft for draft in drafts.values() if draft.kind == "draft-words"]
    assert {draft.relevant.path for draft in words} == {"a.md", "b.md"}
    for draft in words:
        line = NOTES[draft.relevant.path].split("\n")[draft.relevant.start_line - 1].lower()
        assert all(word in line for word in draft.query.split())
    chinese = next(draft for draft in words if draft.relevant == Span("b.md", 5, 5))
    assert chinese.query in NOTES["b.md"]
    # Neither front matter nor blocks of code give a query.
    lines_of_a = {draft.relevant.start_line for draft in words if draft.relevant.path == "a.md"}
    assert lines_of_a == {6}


def test_a_heading_that_is_a_date_is_no_query() -> None:
    dates = [
        "Wednesday, 2 September 2026",
        "Mittwoch, den 2. September 2026",
        "2026年9月2日 水曜日",
    ]
    notes = {f"{at}.md": f"# {words}\n\nWe met.\n" for at, words in enumerate(dates)}
    notes["x.md"] = "# The boat show of 2 September 2026\n\nWe met.\n"
    assert [draft.query for draft in draft_queries(notes, 20)] == [
        "The boat show of 2 September 2026"
    ]


def test_the_same_notes_give_the_same_queries_and_no_more_than_asked_for() -> None:
    assert draft_queries(NOTES, 3) == draft_queries(dict(reversed(NOTES.items())), 3)
    assert len(draft_queries(NOTES, 3)) == 3
    assert draft_queries({}, 3) == []


def test_words_that_stand_together_twice_and_secrets_give_no_query() -> None:
    line = "The yard beside the lighthouse delivers propellers quickly.\n"
    assert draft_queries({"a.md": line, "b.md": line}, 5) == []
    key = "- the staging password server token api_key=sk-" + "a1B2" * 12 + " stays hidden\n"
    assert draft_queries({"a.md": key}, 5) == []


@pytest.mark.parametrize(
    "line",
    [
        "अनुबंध की अवधि बढ़ाकर तीन साल कर दी गई है और भुगतान हर महीने होगा।",
        "คุยกับ Jonas Miller เรื่อง proxy server ใหม่ ที่ Berlin office garden",
        "กรุงเทพมหานครเป็นเมืองหลวงที่ใหญ่ที่สุดของประเทศไทย",
        "Le cafe\u0301 pre\u0300s du lac ferme tre\u0300s to\u0302t demain soir",
    ],
)
def test_words_of_a_query_keep_their_marks(line: str) -> None:
    drafts = draft_queries({"a.md": f"{line}\n"}, 5)
    assert drafts
    for word in (word for draft in drafts for word in draft.query.split()):
        before, _, after = line.casefold().partition(word.casefold())
        assert not unicodedata.category(word[0]).startswith("M")
        assert not unicodedata.category((after or " ")[0]).startswith("M")
        assert not before.endswith(("ใ", "เ", "ไ"))


def test_masked_secrets_and_who_said_a_line_are_in_no_query() -> None:
    text = (
        "User: deploy atlas with key sk-pro…4cQ1 before Friday evening\n"
        "Assistant: restarted harbour gateway behind lantern tower\n"
    )
    words = {word for draft in draft_queries({"a.md": text}, 20) for word in draft.query.split()}
    assert {"atlas", "harbour"} <= words
    assert not words & {"user", "assistant", "sk-pro", "4cq1", "4cQ1"}


def test_drafts_are_read_back_as_queries(tmp_path: Path) -> None:
    drafts = draft_queries(NOTES, 20)
    (tmp_path / "queries.jsonl").write_text(as_jsonl(drafts), encoding="utf-8")
    queries = read_queries(str(tmp_path / "queries.jsonl"))
    assert [query.text for query in queries] == [draft.query for draft in drafts]
    assert {query.lang for query in queries} == {"-", "zh"}


def test_eval_make_writes_a_file_that_eval_measures(
    run: Callable[..., Any], workspace: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine" / "queries.jsonl"
    made = run("eval", "--make", "12", str(file), "--workspace", workspace, "--json")
    assert made.code == 0
    assert made.json["queries"] == 12
    assert "a smoke test" in made.err
    measured = run("eval", str(file), "--workspace", workspace, "--json").json
    assert measured["all"]["n"] == 12
    assert measured["all"]["recall@10"] > 0.9
    kept = file.read_bytes()
    again = run("eval", "--make", "12", str(file), "--workspace", workspace)
    assert again.code == 1
    assert "is there already" in again.err
    assert file.read_bytes() == kept
    assert all(json.loads(line)["relevant"] for line in kept.decode().splitlines())


def test_eval_make_without_notes_says_so(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run(
        "eval", "--make", "5", str(tmp_path / "q.jsonl"), "--workspace", str(tmp_path / "empty")
    )
    assert ran.code == 1
    assert "no queries can be drafted from 0 notes" in ran.err
    assert not (tmp_path / "q.jsonl").exists()
