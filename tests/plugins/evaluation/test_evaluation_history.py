"""What evaluations leave behind: figures over time, each against those before."""

from __future__ import annotations

import json
import os
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import UnavailableError
from commonplace_evaluation.history import KEPT, History, compared, history_json, history_lines
from commonplace_evaluation.measures import Span, score_query
from commonplace_evaluation.running import Outcome, Scored
from commonplace_evaluation.sets import EvalQuery

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RELEVANT = (Span("secret/plan.md", 7, 8),)


def _outcome(*hits: bool, name: str = "mine", engine: str = "builtin") -> Outcome:
    scores = tuple(
        Scored(
            EvalQuery(str(at), f"where is it {at}?", RELEVANT, "-"),
            score_query(RELEVANT, RELEVANT if hit else ()),
        )
        for at, hit in enumerate(hits)
    )
    return Outcome(name, name, scores, 3, 0.5, 0.5, engine=engine, settings="s")


def _history(folder: Path) -> History:
    ticks = count(1_700_000_000)
    env = {"COMMONPLACE_STATE_DIR": str(folder / "state")}
    return History(env, str(folder / "notes"), clock=lambda: float(next(ticks)))


def _files(folder: Path) -> list[Path]:
    return sorted((folder / "state" / "memory" / "evals").rglob("*.json"))


def test_the_last_reports_are_kept_without_queries_and_paths(tmp_path: Path) -> None:
    history = _history(tmp_path)
    for _ in range(KEPT + 3):
        history.keep(_outcome(True, False))
    reports, unreadable = history.read()
    assert [report.at for report in reports] == [1_700_000_003.0 + n for n in range(KEPT)]
    assert unreadable == 0
    assert reports[0].measures["recall@5"] == 0.5
    text = _files(tmp_path)[0].read_text(encoding="utf-8")
    assert "where" not in text
    assert "secret" not in text
    assert os.name == "nt" or _files(tmp_path)[0].stat().st_mode & 0o77 == 0


def test_a_folder_that_cannot_be_listed_or_written_is_no_empty_history(tmp_path: Path) -> None:
    history = _history(tmp_path)
    history.keep(_outcome(True))
    folder = _files(tmp_path)[0].parent
    _files(tmp_path)[0].unlink()
    folder.rmdir()
    folder.write_text("")
    with pytest.raises(UnavailableError, match="cannot be listed"):
        history.read()
    with pytest.raises(UnavailableError, match="cannot be written"):
        history.keep(_outcome(True))


def test_figures_are_rounded_once(tmp_path: Path) -> None:
    history = _history(tmp_path)
    outcome = _outcome(True)
    measures = dict.fromkeys(outcome.scores[0].measures, 0.73749)
    scored = outcome.scores[0]._replace(measures=measures)
    history.keep(outcome._replace(scores=(scored,)))
    found = history_json("w", history)
    assert history_lines(found)[1].count(" 0.737") == 2


def test_a_change_that_is_shown_as_zero_is_none(tmp_path: Path) -> None:
    history = _history(tmp_path)
    outcome = _outcome(True)
    for value in (0.7374, 0.7371, 0.7374):
        measures = dict.fromkeys(outcome.scores[0].measures, value)
        history.keep(outcome._replace(scores=(outcome.scores[0]._replace(measures=measures),)))
    cells = [line.split() for line in history_lines(history_json("w", history))[1:]]
    assert [line.count("=") for line in cells] == [2, 2, 0]
    assert not any("0.000" in cell for line in cells for cell in line)


def test_a_change_is_against_the_same_queries_of_the_same_set(tmp_path: Path) -> None:
    history = _history(tmp_path)
    history.keep(_outcome(True, False))
    history.keep(_outcome(True, True, name="other"))
    history.keep(_outcome(True, True, engine="builtin model"))
    history.keep(_outcome(True, True, True))
    first, other, better, longer = compared(history.read()[0])
    assert (first.change, other.change, other.before) == (None, None, None)
    assert better.before == first.report
    assert better.change is not None
    assert better.change["recall@5"] == 0.5
    assert longer.before == better.report
    assert longer.change is None


def test_a_damaged_report_is_counted(tmp_path: Path) -> None:
    history = _history(tmp_path)
    for _ in range(3):
        history.keep(_outcome(True))
    first, second, _ = _files(tmp_path)
    first.write_bytes(b"\xff{")
    fields = json.loads(second.read_text(encoding="utf-8"))
    fields["measures"]["ndcg@10"] = float("nan")
    second.write_text(json.dumps(fields), encoding="utf-8")
    reports, unreadable = history.read()
    assert (len(reports), unreadable) == (1, 2)
    lines = history_lines({"workspace": "w", "reports": [], "unreadable": 2})
    assert lines[-1] == "2 reports could not be read"


def _set(folder: Path) -> str:
    query = {
        "id": "key",
        "query": "who has the spare key?",
        "relevant": [{"path": "MEMORY.md", "startLine": 26, "endLine": 26}],
    }
    (folder / "mine.jsonl").write_text(json.dumps(query) + "\n", encoding="utf-8")
    return str(folder / "mine.jsonl")


def test_eval_shows_what_it_measured_before(
    run: Callable[..., Any], workspace: str, home: Path
) -> None:
    queries, own = _set(home), ("--workspace", workspace)
    assert "no evaluation of" in run("eval", "--history", *own).out
    for _ in range(2):
        assert run("eval", queries, *own).code == 0
    found = run("eval", "--history", *own, "--json").json
    newest, oldest = found["reports"]
    assert newest["at"] >= oldest["at"]
    assert newest["change"] == dict.fromkeys(newest["measures"], 0.0)
    assert (oldest["change"], newest["changed"], newest["engine"]) == (None, [], "builtin")
    assert run("eval", "--history", *own).out.splitlines()[1].split()[2:4] == ["mine", "1"]


def test_eval_says_which_arguments_it_wants(run: Callable[..., Any], workspace: str) -> None:
    nothing = run("eval", "--workspace", workspace)
    assert nothing.code == 2
    assert "TREE_OR_QUERIES" in nothing.err
    both = run("eval", "x.jsonl", "--history", "--workspace", workspace)
    assert both.code == 2


def test_a_report_that_cannot_be_kept_costs_no_result(
    run: Callable[..., Any], workspace: str, home: Path
) -> None:
    evals = home / ".local" / "state" / "commonplace" / "memory" / "evals"
    evals.parent.mkdir(parents=True)
    evals.write_text("", encoding="utf-8")
    ran = run("eval", _set(home), "--workspace", workspace, "--json")
    assert ran.code == 0
    assert ran.json["all"]["n"] == 1
    assert "mine: not kept for eval --history:" in ran.err
