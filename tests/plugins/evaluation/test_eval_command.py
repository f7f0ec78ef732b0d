"""``commonplace eval``, by the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

Run = Any


def _evalset(folder: Path, workspace: str) -> None:
    folder.mkdir(parents=True)
    shutil.copytree(workspace, folder / "workspace")
    queries = [
        ("key", "who has the spare key?", "MEMORY.md", 26, "person"),
        ("harmonics", "ERR_STALE_HARMONICS", "memory/2026-10-07.md", 8, "identifier"),
        ("nonsense", "zyxwvut", "MEMORY.md", 1, "identifier"),
    ]
    (folder / "queries.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "id": f"{folder.name}-{id_}",
                    "query": query,
                    "relevant": [{"path": path, "startLine": line, "endLine": line}],
                    "category": category,
                    "lang": "en",
                }
            )
            + "\n"
            for id_, query, path, line, category in queries
        ),
        encoding="utf-8",
    )


def test_eval_measures_each_set_and_writes_its_results(
    run: Callable[..., Run], workspace: str, tmp_path: Path, home: Path
) -> None:
    for name in ("first/one", "first/two", "second"):
        _evalset(tmp_path / "tree" / name, workspace)
    out = tmp_path / "results.jsonl"
    argv = ("eval", str(tmp_path / "tree"), "--out", str(out), "--budget", "2000")
    ran = run(*argv, "--json")
    assert ran.code == 0
    assert ran.json["all"]["n"] == 9
    assert ran.json["sets"]["first"]["all"]["n"] == 6
    assert ran.json["sets"]["first"]["categories"]["person"]["recall@10"] == 1
    assert ran.json["sets"]["second"]["categories"]["identifier"]["recall@10"] == 0.5
    assert 0 < ran.json["all"]["budget"] <= 1
    assert [line.split(":")[0] for line in ran.err.splitlines()] == [
        "[1/3] first/one",
        "[2/3] first/two",
        "[3/3] second",
    ]
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 9
    assert all(len(line["results"]) <= 10 for line in lines)
    assert set(lines[0]["results"][0]) == {"path", "startLine", "endLine", "score"}
    # Neither the sets nor the user's own index were touched.
    assert not list(home.rglob("*.sqlite"))
    text = run(*argv)
    assert text.out.splitlines()[0].split()[:3] == ["set", "queries", "recall@1"]


def test_a_budget_reads_notes_in_any_encoding_and_endless_runs(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    notes = tmp_path / "set" / "workspace"
    (notes / "memory").mkdir(parents=True)
    text = "Der Schlüssel liegt über der Tür.\r\nSüß und grün.\r\n"
    for name, encoding in (("MEMORY.md", "cp1252"), ("memory/b.md", "utf-16")):
        (notes / name).write_bytes(text.encode(encoding))
    relevant = [{"path": "MEMORY.md", "startLine": 1, "endLine": 10**18}]
    query = {"id": "key", "query": "Schlüssel Tür", "relevant": relevant}
    (tmp_path / "set" / "queries.jsonl").write_text(json.dumps(query), encoding="utf-8")
    measured = run("eval", str(tmp_path / "set"), "--budget", "5", "--json").json["all"]
    assert (measured["budget"], measured["recall@1"]) == (1, 1)


def test_relevant_lines_after_the_end_of_a_note_are_reported(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    notes = tmp_path / "set" / "workspace"
    notes.mkdir(parents=True)
    (notes / "MEMORY.md").write_text("# Otters\n\nThe otter sleeps.\n", encoding="utf-8")
    queries = [
        {
            "id": str(first),
            "query": "otter",
            "relevant": [{"path": "MEMORY.md", "startLine": first, "endLine": 400}],
        }
        for first in (1, 3, 4, 400)
    ]
    lines = "".join(json.dumps(query) + "\n" for query in queries)
    (tmp_path / "set" / "queries.jsonl").write_text(lines, encoding="utf-8")
    ran = run("eval", str(tmp_path / "set"))
    assert ran.code == 0
    assert (
        "2 runs of relevant lines begin after the end of the note, so no search can find them: "
        "MEMORY.md#L4 (it has 3 lines), MEMORY.md#L400 (it has 3 lines)"
    ) in ran.err


def test_a_set_is_searched_with_its_own_transcripts_and_no_others(
    run: Callable[..., Run], tmp_path: Path, home: Path
) -> None:
    talks = tmp_path / "set" / "workspace" / "sessions", home / ".openclaw/agents/main/sessions"
    for folder, words in zip(talks, ("The otter sleeps.", "The otter wakes."), strict=True):
        folder.mkdir(parents=True)
        turn = {"role": "user", "content": [{"type": "text", "text": words}]}
        line = json.dumps({"type": "message", "message": turn})
        (folder / f"{len(words)}.jsonl").write_text(line + "\n", encoding="utf-8")
    relevant = [{"path": "sessions/17.jsonl", "startLine": 1, "endLine": 1}]
    query = {"id": "otter", "query": "otter", "relevant": relevant}
    (tmp_path / "set" / "queries.jsonl").write_text(json.dumps(query), encoding="utf-8")
    search = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"memory": {"search": search}}), encoding="utf-8")
    argv = ("eval", str(tmp_path / "set"), "--config", str(config), "--json")
    measured = run(*argv)
    assert measured.json["all"]["recall@1"] == 1
    assert "set: 1 note, 1 query" in measured.err


def test_eval_leaves_a_configured_index_as_it_is(
    run: Callable[..., Run], workspace: str, tmp_path: Path, home: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    mine, index = tmp_path / "mine", tmp_path / "mine.sqlite"
    more = tmp_path / "more"
    for folder in (mine, more):
        folder.mkdir()
        text = f"The spare key lies under the walrus called {folder.name}.\n"
        (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    search = {
        "store": {"path": str(index)},
        "extraPaths": [str(more)],
        "sync": {"onSearch": False, "onSessionStart": False},
    }
    defaults = {"workspace": str(mine), "memorySearch": search}
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": defaults}}), encoding="utf-8")
    given = ("--config", str(config), "--json")
    assert run("index", *given).code == 0
    before = index.read_bytes()
    ran = run("eval", str(tmp_path / "set"), "--out", str(tmp_path / "results.jsonl"), *given)
    assert ran.code == 0
    assert "walrus" not in ran.out
    assert "more/MEMORY.md" not in (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert index.read_bytes() == before
    # Queries on one's own notes have all that the configuration adds to them.
    own = home / "own.jsonl"
    own.write_text(
        json.dumps(
            {
                "id": "key",
                "query": "walrus called more",
                "relevant": [{"path": "../more/MEMORY.md", "startLine": 1, "endLine": 1}],
            }
        ),
        encoding="utf-8",
    )
    assert run("eval", str(own), *given).json["all"]["recall@5"] == 1
    assert index.read_bytes() == before


def test_eval_measures_what_the_reference_script_does(
    run: Callable[..., Run], workspace: str, tmp_path: Path, reference: Any
) -> None:
    tree, out = tmp_path / "tree", tmp_path / "results.jsonl"
    for name in ("first", "second"):
        _evalset(tree / name, workspace)
    ours = run("eval", str(tree), "--out", str(out), "--budget", "900", "--json").json
    queries, results = reference.load_queries(str(tree)), reference.load(str(out))
    theirs, missing = reference.score(queries, results, budget=900)
    assert missing == 0
    assert ours["all"] == theirs["all"]
    one = reference.load_queries(str(tree / "first"))
    theirs, _ = reference.score(one, results, budget=900)
    first = ours["sets"]["first"]
    assert {"all": first["all"], **first["categories"]} == theirs


def test_eval_without_notes_says_so(
    run: Callable[..., Run], tmp_path: Path, workspace: str
) -> None:
    _evalset(tmp_path / "set", workspace)
    shutil.rmtree(tmp_path / "set" / "workspace")
    (tmp_path / "set" / "workspace").mkdir()
    ran = run("eval", str(tmp_path / "set"), "--json")
    assert ran.code == 0
    assert "note: no notes were indexed in" in ran.err
    assert ran.json["all"]["recall@10"] == 0
    history = run("eval", "--history", "--workspace", str(tmp_path / "set" / "workspace"))
    assert "0.000" not in history.out


KEYLESS = "{ memory: { search: { provider: 'openai' } } }"
"""A provider that cannot be used, as the environment has no key for it."""


def test_searches_that_are_not_done_in_full_are_reported(
    run: Callable[..., Run], workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    _evalset(tmp_path / "set", workspace)
    file = tmp_path / "set" / "queries.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("spare key?", "spare key? after:2026-13-45"), encoding="utf-8")
    for name, config in (("vec.json5", KEYLESS), ("none.json5", "{}")):
        (tmp_path / name).write_text(config, encoding="utf-8")
    ran = run("eval", str(tmp_path / "set"), "--config", str(tmp_path / "vec.json5"), "--json")
    assert "note: set: 3 of 3 queries: searched by keywords alone: openai" in ran.err
    assert "note: set: 1 of 3 queries: after:2026-13-45 is not understood" in ran.err
    assert "zyxwvut" not in ran.err
    assert (ran.json["engine"], ran.json["sets"]["set"]["engine"]) == ("builtin", "builtin")
    configs = [str(tmp_path / name) for name in ("none.json5", "vec.json5")]
    ran = run("eval", str(tmp_path / "set"), "--compare", *configs)
    assert "vec.json5: set: 3 of 3 queries: searched by keywords alone: openai" in ran.err
    assert "none.json5: set: 3 of 3" not in ran.err


def test_messages_on_single_queries_are_counted_after_the_first(
    run: Callable[..., Run], workspace: str, home: Path
) -> None:
    relevant = [{"path": "MEMORY.md", "startLine": 26, "endLine": 26}]
    lines = [
        json.dumps({"id": day, "query": f"key after:2026-13-{day}", "relevant": relevant})
        for day in range(10, 17)
    ]
    (home / "q.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = run("eval", "q.jsonl", "--workspace", workspace)
    assert ran.err.count("q: 1 of 7 queries: after:2026-13-1") == 5
    assert "note: q: and 2 other messages" in ran.err


def test_messages_on_the_words_of_single_queries_are_left_out(
    run: Callable[..., Run], workspace: str, home: Path
) -> None:
    Path(workspace, "memory/errors.md").write_text(
        'ERROR: relation "ledger" does not exist (SQLSTATE 42P01)\n\nThe "users" table was moved.\n'
    )
    Path(workspace, "memory/users.md").write_text('The "users" table was moved.\n')
    queries = (
        'ERROR: relation "users" does not exist (SQLSTATE 42P01)',
        "go test -race ./quota",
        'the "quoted walrus"',
        "xyzzy plugh key",
    )
    relevant = [{"path": "MEMORY.md", "startLine": 26, "endLine": 26}]
    lines = [json.dumps({"id": query, "query": query, "relevant": relevant}) for query in queries]
    (home / "q.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert "of 4 queries" not in run("eval", "q.jsonl", "--workspace", workspace).err


def _configs(folder: Path) -> list[str]:
    """A configuration that finds little, and the default one."""
    texts = {"few.json5": "{ memory: { search: { query: { minScore: 0.8 } } } }", "new.json5": "{}"}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in texts]


@pytest.mark.parametrize("option", ["--out", "--html"])
@pytest.mark.parametrize("name", ["queries.jsonl", "workspace/MEMORY.md", "other.html"])
def test_a_file_that_eval_did_not_write_is_not_overwritten(
    run: Callable[..., Run], workspace: str, tmp_path: Path, option: str, name: str
) -> None:
    _evalset(tmp_path / "set", workspace)
    (tmp_path / "set" / "other.html").write_text("<html>mine</html>", encoding="utf-8")
    file = tmp_path / "set" / name
    before = file.read_bytes()
    ran = run("eval", str(tmp_path / "set"), option, str(file))
    assert (ran.code, file.read_bytes()) == (1, before)
    assert "is there already, and no earlier file of" in ran.err
    assert "[1/1]" not in ran.err


def test_earlier_results_are_kept_until_there_are_new_ones(
    run: Callable[..., Run], workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _evalset(tmp_path / "set", workspace)
    out = tmp_path / "results.jsonl"
    argv = ("eval", str(tmp_path / "set"), "--out", str(out))
    out.touch()
    assert run(*argv).code == 0
    before = out.read_text(encoding="utf-8")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("commonplace.Memory.search", interrupted)
        assert run(*argv).code != 0
    assert out.read_text(encoding="utf-8") == before
    assert run(*argv).code == 0
    both = run("eval", str(tmp_path / "set"), "--out", "one", "--html", "./one")
    assert (both.code, "--out and --html name one file" in both.err) == (2, True)


def test_a_folder_that_is_not_there_is_named_before_the_work(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    new = tmp_path / "new"
    ran = run("eval", str(tmp_path / "set"), "--out", str(new / "results.jsonl"))
    assert ran.code == 1
    assert f"there is no folder {new}" in ran.err
    assert "fix: make it, or name another" in ran.err
    assert "[1/1]" not in ran.err
    assert not new.exists()
    made = run("eval", "--make", "5", str(new / "q.jsonl"), "--workspace", workspace)
    assert made.code == 0
    assert f"note: made the folder {new}" in made.err


def test_two_configurations_are_compared_query_by_query(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    few, new = _configs(tmp_path)
    argv = ("eval", str(tmp_path / "set"), "--compare", new, few)
    found = run(*argv, "--json").json
    assert found["baseline"] == "new.json5"
    assert list(found["configurations"]) == ["new.json5", "few.json5"]
    (comparison,) = found["comparisons"]
    recall = comparison["all"]["recall@10"]
    assert recall["n"] == 3
    assert recall["before"] > recall["after"]
    assert recall["low"] <= recall["difference"] < 0
    assert (recall["better"], recall["worse"]) == (0, 1)
    assert set(comparison["categories"]) == {"identifier", "person"}
    assert set(comparison["languages"]) == {"en"}
    (lost,) = comparison["worst"]
    assert lost["query"] == "ERR_STALE_HARMONICS"
    assert [result["relevant"] for result in lost["before"]["results"]].count(True) == 1
    assert "keyword: bm25" in lost["before"]["results"][0]["why"][0]
    text = run(*argv).out
    assert "few.json5 against new.json5" in text
    assert "few.json5: none relevant in 10" in text


def test_one_configuration_is_compared_with_that_in_force(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    ran = run("eval", str(tmp_path / "set"), "--compare", _configs(tmp_path)[1])
    assert "new.json5 against current" in ran.out
    assert "no query lost" in ran.out


def test_a_configuration_may_be_called_as_the_one_in_force(
    run: Callable[..., Run], workspace: str, tmp_path: Path, home: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    (home / "current").write_text("{}", encoding="utf-8")
    compared = run("eval", str(tmp_path / "set"), "--compare", "current", "--json").json
    assert set(compared["configurations"]) == {"current", "./current"}


def test_a_configuration_that_is_wrong_is_named_before_anything_is_measured(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    new = _configs(tmp_path)[1]
    ran = run("eval", str(tmp_path / "set"), "--compare", new, str(tmp_path / "none.json5"))
    assert ran.code == 2
    assert "none.json5" in ran.err
    assert "[1/1]" not in ran.err
    broken = tmp_path / "broken.json5"
    broken.write_text("{ memory: { search: { providr: 'x' } } }", encoding="utf-8")
    for given in ((), ("--config", new)):
        ran = run("eval", str(tmp_path / "set"), "--compare", new, str(broken), *given)
        assert ran.code == 2
        assert f"fix: run `commonplace config --config {broken} check`" in ran.err
    twice = run("eval", str(tmp_path / "set"), "--compare", new, new)
    assert twice.code == 1
    assert "twice" in twice.err
    both = run("eval", str(tmp_path / "set"), "--compare", new, "--out", "x")
    assert both.code == 1


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("--tune --html t.html --compare x.json5", "--tune goes without --compare and --html"),
        ("--tune --out t.jsonl --budget 5", "--tune goes without --out and --budget"),
        ("--make 5 --tune", "--make goes without --tune"),
        ("--history --make 5", "--history goes without --make"),
        ("--worst 3", "--worst is for the queries that --compare and --html explain"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    run: Callable[..., Run], home: Path, argv: str, words: str
) -> None:
    ran = run("eval", "q.jsonl", *argv.split())
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert [file.name for file in home.iterdir() if file.is_file()] == []


def test_queries_about_ones_own_notes_need_no_copy_of_them(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    queries = tmp_path / "set" / "queries.jsonl"
    (tmp_path / "mine").mkdir()
    queries = queries.rename(tmp_path / "mine" / "mine.jsonl")
    ran = run("eval", str(queries), "--workspace", workspace, "--json")
    assert ran.json["sets"]["mine"]["all"]["n"] == 3
    assert f"measured on {workspace}" in ran.err


def test_a_path_may_begin_with_the_current_folder(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    before = run("eval", str(tmp_path / "set"), "--json").json["all"]
    queries = tmp_path / "set" / "queries.jsonl"
    text = queries.read_text(encoding="utf-8")
    queries.write_text(text.replace('"path": "', '"path": "./'), encoding="utf-8")
    ran = run("eval", str(tmp_path / "set"), "--json")
    assert ran.json["all"] == before
    assert "relevant note" not in ran.err


def test_queries_about_notes_that_are_gone_are_named(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    _evalset(tmp_path / "set", workspace)
    (tmp_path / "set" / "workspace" / "memory" / "2026-10-07.md").unlink()
    ran = run("eval", str(tmp_path / "set"))
    assert ran.code == 0
    assert "1 relevant note is not in" in ran.err
    assert "memory/2026-10-07.md" in ran.err
