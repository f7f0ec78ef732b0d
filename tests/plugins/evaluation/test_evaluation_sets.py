"""Sets of queries: found, read, and put into tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CallerError
from commonplace_evaluation.measures import Span, score_query
from commonplace_evaluation.running import Outcome, Scored
from commonplace_evaluation.sets import EvalQuery, find_sets, read_queries
from commonplace_evaluation.table import as_json, as_lines

if TYPE_CHECKING:
    from pathlib import Path

QUERY = {
    "id": "q1",
    "query": "where?",
    "relevant": [{"path": "a.md", "startLine": 1, "endLine": 2}],
    "category": "fact",
}


def _make(folder: Path, *lines: object) -> None:
    (folder / "workspace").mkdir(parents=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / "queries.jsonl").write_text(text, encoding="utf-8")


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="cannot be read: Is a directory"):
        read_queries(str(tmp_path))
    with pytest.raises(CallerError, match=r"nofile\.jsonl: no such file or folder"):
        find_sets(str(tmp_path / "nofile.jsonl"))
    with pytest.raises(CallerError, match=r"no queries\.jsonl there or below"):
        find_sets(str(tmp_path))


def test_sets_and_their_parts_are_found_in_order(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    _make(tree / "logs" / "two", QUERY)
    _make(tree / "logs" / "one", QUERY)
    _make(tree / "docs", QUERY, {**QUERY, "id": 2})
    found = find_sets(str(tree))
    assert [evalset.title for evalset in found] == ["docs", "logs/one", "logs/two"]
    assert [evalset.name for evalset in found] == ["docs", "logs", "logs"]
    assert [len(evalset.queries) for evalset in found] == [2, 1, 1]


def test_a_folder_or_a_file_may_be_the_set(tmp_path: Path) -> None:
    _make(tmp_path / "docs", QUERY)
    for path in (tmp_path / "docs", tmp_path / "docs" / "queries.jsonl"):
        (only,) = find_sets(str(path))
        assert only.title == "docs"
        assert only.workspace == str(tmp_path / "docs" / "workspace")
        assert only.queries[0].relevant == (Span("a.md", 1, 2),)


def test_a_queries_file_inside_a_workspace_is_a_note_not_a_set(tmp_path: Path) -> None:
    _make(tmp_path / "docs", QUERY)
    (tmp_path / "docs" / "workspace" / "queries.jsonl").write_text("", encoding="utf-8")
    assert len(find_sets(str(tmp_path))) == 1


def _lines(first: object, last: object) -> dict[str, object]:
    return {"path": "a.md", "startLine": first, "endLine": last}


SPAN = _lines(1, 2)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "x", "query": }', r"Expecting value at column 22\Z"),
        ("[]", "no object"),
        ('{"id": "1"}', "relevant"),
        ({**QUERY, "relevant": []}, "relevant"),
        ({**QUERY, "relevant": [SPAN, SPAN]}, "twice"),
        ({**QUERY, "relevant": [_lines(3, 2)]}, "startLine"),
        ({**QUERY, "relevant": [_lines(-5, 2)]}, "startLine"),
        ({**QUERY, "relevant": [_lines(1, "2")]}, "startLine"),
        ({**QUERY, "relevant": [_lines(1, True)]}, "startLine"),
        (json.dumps({**QUERY, "relevant": [_lines(1, 7)]}).replace("7", "1e999"), "startLine"),
        ({**QUERY, "query": None}, "query must be a text"),
        ({**QUERY, "query": " "}, "query must be a text"),
        ({**QUERY, "query": "\ud800"}, "half of a character"),
        ({**QUERY, "id": "q1"}, "its id 'q1' is that of line 1"),
        ({**QUERY, "lang": {}}, "lang must be a text"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_malformed_query_is_named_by_its_line(tmp_path: Path, line: object, words: str) -> None:
    if isinstance(line, dict) and words[:3] != "its":
        line = {**line, "id": "other"}
    _make(tmp_path / "docs", QUERY, line)
    with pytest.raises(CallerError, match=rf"queries\.jsonl:2: not a query: .*{words}"):
        find_sets(str(tmp_path))


def test_a_file_of_queries_is_utf_8_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    _make(tmp_path / "docs", QUERY, {**QUERY, "id": "Köln"})
    file = tmp_path / "docs" / "queries.jsonl"
    text = json.dumps(QUERY) + "\n" + json.dumps({**QUERY, "id": "Köln"}, ensure_ascii=False)
    before = find_sets(str(tmp_path))
    file.write_bytes(text.encode("utf-8-sig"))
    assert find_sets(str(tmp_path)) == before
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(CallerError, match=r"queries\.jsonl:2: not UTF-8"):
        find_sets(str(tmp_path))


def test_queries_without_a_workspace_are_about_ones_own_notes(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps({**QUERY, "lang": "en"}), encoding="utf-8")
    (only,) = find_sets(str(tmp_path / "mine.jsonl"), lambda: "/notes")
    assert (only.title, only.workspace, only.queries[0].lang) == ("mine", "/notes", "en")


def test_nothing_to_be_found_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="no queries"):
        find_sets(str(tmp_path))
    _make(tmp_path / "docs")
    with pytest.raises(CallerError, match="there are no queries in it") as caught:
        find_sets(str(tmp_path))
    assert caught.value.hint.startswith("a line is {id, query, relevant: ")


def test_a_set_without_a_workspace_is_an_error(tmp_path: Path) -> None:
    _make(tmp_path, QUERY)
    (tmp_path / "workspace").rmdir()
    with pytest.raises(CallerError, match="no workspace"):
        find_sets(str(tmp_path))


def _outcome(name: str, *kinds: tuple[str, bool]) -> Outcome:
    relevant = (Span("a.md", 1, 1),)
    return Outcome(
        name=name,
        title=name,
        scores=tuple(
            Scored(
                EvalQuery("q", "where?", relevant, kind),
                score_query(relevant, relevant if hit else ()),
            )
            for kind, hit in kinds
        ),
        notes=3,
        index_seconds=1.0,
        search_seconds=0.5,
    )


OUTCOMES = [
    _outcome("logs", ("fact", True), ("why", False)),
    _outcome("logs", ("fact", True)),
    _outcome("docs", ("fact", False)),
]


def test_json_has_means_over_queries_not_over_parts() -> None:
    facts = as_json(OUTCOMES)
    assert facts["all"]["n"] == 4
    assert facts["all"]["recall@5"] == 0.5
    assert facts["sets"]["logs"]["all"]["recall@5"] == 0.6667
    assert facts["sets"]["logs"]["categories"]["fact"] == {
        "n": 2,
        "recall@1": 1.0,
        "recall@5": 1.0,
        "recall@10": 1.0,
        "hit@5": 1.0,
        "mrr@10": 1.0,
        "ndcg@10": 1.0,
    }
    assert facts["indexSeconds"] == 3.0
    assert facts["searchSeconds"] == 1.5


def test_table_has_a_row_for_each_set_and_category() -> None:
    lines = as_lines(OUTCOMES)
    assert lines[0].split() == ["set", "queries", *list(OUTCOMES[0].scores[0].measures), "seconds"]
    assert [line.split()[0] for line in lines[1:-2]] == ["logs", "fact", "why", "docs", "all"]
    assert lines[1].split()[1:3] == ["3", "0.667"]
    assert lines[-1] == "indexing took 3.00 s"
