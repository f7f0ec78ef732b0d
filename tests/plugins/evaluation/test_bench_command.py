"""``commonplace bench``: measures, what it is compared with, and what it prints."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.cli.context import Context, UsageError
from commonplace.cli.parser import command_parser
from commonplace.errors import CallerError
from commonplace_evaluation.bench import BenchCommand, measured
from commonplace_evaluation.public import Text
from commonplace_evaluation.rivals import Fts5, Grep

if TYPE_CHECKING:
    from pathlib import Path

needs_extra = pytest.mark.skipif(
    find_spec("pygal") is None or find_spec("jinja2") is None, reason="needs the extra eval"
)
BOAT, CLASS = "The sailing boat sank.", "A class in pottery\nand one more class."


def bench(*argv: str, err: io.StringIO | None = None) -> str:
    """Run the command, whether or not the installation knows it yet; what it printed."""
    command, out = BenchCommand(), io.StringIO()
    args = command_parser(command).parse_args(argv)
    context = Context(args, out=out, err=err or io.StringIO())
    assert command.run(args, context) == 0
    return out.getvalue()


@pytest.fixture
def locomo(tmp_path: Path) -> str:
    talk: dict[str, Any] = {
        f"session_{at}": [{"speaker": "Ann", "dia_id": f"D{at}:1", "text": text}]
        for at, text in enumerate((BOAT, CLASS, "It rained.", "We met."), 1)
    }
    talk |= {f"session_{at}_date_time": f"1:56 pm on {at} May, 2023" for at in range(1, 5)}
    qa = [
        {"question": "What sank?", "evidence": ["D1:1"], "category": 4},
        {"question": "Which pottery class, and which boat?", "evidence": ["D2:1"], "category": 1},
        {"question": "Nothing?", "evidence": [], "category": 5},
    ]
    file = tmp_path / "locomo10.json"
    sample = {"sample_id": "conv-1", "conversation": talk, "qa": qa}
    file.write_text(json.dumps([sample]), encoding="utf-8")
    return str(file)


def test_bench_has_an_index_of_its_own_and_each_corpus_alone(
    home: Path, locomo: str, tmp_path: Path
) -> None:
    mine, index = tmp_path / "mine", tmp_path / "mine.sqlite"
    mine.mkdir()
    (mine / "boat.md").write_text("Which boat sank, and what pottery class?", encoding="utf-8")
    search = {
        "store": {"path": str(index)},
        "extraPaths": [str(mine)],
        "sources": ["memory", "sessions"],
        "experimental": {"sessionMemory": True},
        "sync": {"onSearch": False, "onSessionStart": False},
    }
    defaults = {"workspace": str(mine), "memorySearch": search}
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": defaults}}), encoding="utf-8")
    talks = home / ".openclaw" / "agents" / "main" / "sessions"
    talks.mkdir(parents=True)
    turn = {"role": "user", "content": [{"type": "text", "text": "Which boat sank?"}]}
    (talks / "one.jsonl").write_text(
        json.dumps({"type": "message", "message": turn}) + "\n", encoding="utf-8"
    )
    with Memory.open(config=str(config)) as memory:
        memory.sync()
        before = [hit.citation for hit in memory.search("boat").hits]
    facts = json.loads(bench("locomo", locomo, "--json", "--config", str(config)))
    assert facts["systems"]["commonplace"]["all"]["share@5"] == 1
    with Memory.open(config=str(config)) as memory:
        assert [hit.citation for hit in memory.search("boat").hits] == before != []


def test_searches_that_are_not_done_in_full_are_reported(
    home: Path, locomo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config, err = home / "vec.json5", io.StringIO()
    config.write_text("{ memory: { search: { provider: 'openai' } } }", encoding="utf-8")
    facts = json.loads(bench("locomo", locomo, "--json", "--config", str(config), err=err))
    assert facts["engine"] == "builtin"
    assert "locomo: 2 of 2 questions: searched by keywords alone: openai" in err.getvalue()


def test_more_documents_than_a_search_can_give_are_refused(home: Path, locomo: str) -> None:
    with pytest.raises(UsageError, match="--k 501: at most 500") as caught:
        bench("locomo", locomo, "--k", "1", "501")
    assert caught.value.hint == f"commonplace bench locomo {locomo} --k 500"
    assert "share@500" in bench("locomo", locomo, "--k", "500")


def test_measures_worked_by_hand() -> None:
    found = measured(frozenset("ab"), ["x", "a", "y", "b"], [1, 2, 4])
    assert found == {
        "share@1": 0,
        "share@2": 0.5,
        "share@4": 1,
        "any@1": 0,
        "any@2": 1,
        "any@4": 1,
        "all@1": 0,
        "all@2": 0,
        "all@4": 1,
    }


def test_what_it_is_compared_with() -> None:
    texts = [Text("boat", BOAT), Text("class", CLASS), Text("rain", "It rained.")]
    for rival in (Fts5(texts), Grep(texts)):
        assert rival.ranked("Which CLASS, or which boat class?", 5) == ["class", "boat"]
        assert rival.ranked('"?', 5) == []
        assert rival.ranked("pottery boat rained", 1) != []
        assert len(rival.ranked("pottery boat rained", 2)) == 2


def test_a_file_without_questions_is_an_error(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(CallerError, match="no questions"):
        bench("locomo", str(file))


def test_bench_prints_each_system_and_the_file(home: Path, locomo: str) -> None:
    facts = json.loads(bench("locomo", locomo, "--k", "1", "2", "--json"))
    assert facts["questions"] == 2
    assert facts["leftOut"] == 1
    assert len(facts["sha256"]) == 64
    assert set(facts["systems"]) == {"commonplace", "fts5", "grep"}
    ours = facts["systems"]["commonplace"]
    assert ours["all"] == {
        "n": 2,
        **{f"{name}@{k}": 1.0 for name in ("share", "any", "all") for k in (1, 2)},
    }
    assert set(ours["categories"]) == {"single-hop", "multi-hop"}
    assert facts["differences"]["grep"]["share@1"]["n"] == 2
    text = bench("locomo", locomo, "--dates", "--limit", "1")
    assert f"sha256 {facts['sha256']}" in text
    assert "A document is a session, with its day" in text
    assert "share@10" in text
    assert "commonplace less fts5, share@1:" in text
    assert not list(home.rglob("*.sqlite"))


@pytest.mark.parametrize("text", ["[]", '[{"conversation": {}, "qa": []}]'])
def test_a_file_without_questions_is_refused(home: Path, text: str) -> None:
    (home / "empty.json").write_text(text, encoding="utf-8")
    with pytest.raises(CallerError, match=r"empty\.json: there are no questions in it"):
        bench("locomo", "empty.json")


def _all_left_out(folder: Path) -> None:
    qa = [{"question": "Nothing?", "evidence": [], "category": 5}]
    sample = {"conversation": {}, "qa": qa}
    (folder / "one.json").write_text(json.dumps([sample]), encoding="utf-8")


def test_questions_that_are_all_left_out_are_counted(home: Path) -> None:
    _all_left_out(home)
    text = bench("locomo", "one.json")
    assert "locomo: 1 corpus, 0 documents, 0 questions\n" in text
    assert "1 question is left out: without evidence" in text


def test_the_folder_of_a_report_is_looked_for_first(home: Path, locomo: str) -> None:
    with pytest.raises(CallerError, match="there is no folder"):
        bench("locomo", locomo, "--html", "new/sub/r.html")
    assert not (home / "new").exists()


def test_the_file_of_the_benchmark_is_not_overwritten_by_a_report(home: Path, locomo: str) -> None:
    before = (home / locomo).read_bytes()
    with pytest.raises(CallerError, match="is there already, and no earlier file of the report"):
        bench("locomo", locomo, "--html", locomo)
    assert (home / locomo).read_bytes() == before


@needs_extra
def test_no_report_is_written_without_questions(home: Path) -> None:
    _all_left_out(home)
    err = io.StringIO()
    bench("locomo", "one.json", "--html", "report.html", err=err)
    assert "note: no report: there are no questions" in err.getvalue()
    assert not (home / "report.html").exists()


@needs_extra
def test_bench_writes_a_report(home: Path, locomo: str) -> None:
    bench("locomo", locomo, "--html", "report.html")  # relative to where it runs
    page = (home / "report.html").read_text(encoding="utf-8")
    assert "<h1>locomo: 2 questions</h1>" in page
    assert "data:image/svg+xml" in page
