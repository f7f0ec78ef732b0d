"""docs/json.md lists the keys and types of every command's JSON, no more and no less."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, MemoryTools
from commonplace.cli import main
from commonplace.cli.commands.watch import SyncPrinter
from commonplace.cli.context import Context
from commonplace.cli.jsonify import copied_json, document, report_json, result_json, status_json
from commonplace.cli.parser import command_parser
from commonplace.copying import Copied, CopiedSpace
from commonplace.errors import IndexReadOnlyError, PluginUnavailableError
from commonplace.model.documents import Finding, Fix, RootFailure, SpaceInfo
from commonplace.model.groups import (
    BatchesState,
    CacheState,
    EmbeddingState,
    KeywordState,
    StatusGroups,
    VectorState,
)
from commonplace.model.reports import (
    BackendState,
    Embedding,
    LeftOut,
    ProviderState,
    Status,
    SyncEvent,
    SyncOutcome,
    SyncReport,
    SyncState,
    WatchingProcess,
)
from commonplace.model.search import Fallback, SearchResult, UnknownWord
from commonplace.sample import copy_workspace
from commonplace_evaluation.bench import BenchCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"
AT = 1_700_000_000.0
FALLBACK = Fallback(part="qmd", reason="not installed", since=AT)
REPORT = SyncReport(
    unreadable=(("a.md", "Permission denied"),),
    failed_roots=(RootFailure("x", "Permission denied"),),
    absent_roots=(RootFailure("y", "no such folder"),),
    embedding=Embedding(provider="p", refused=(("a.md#L1", "too long"),)),
)
STATUS = Status(
    agent="main",
    workspace="/notes",
    backend="builtin",
    available=True,
    requested_provider="auto",
    provider=None,
    model=None,
    search_mode="keyword",
    sources=("memory",),
    extra_paths=(),
    files=1,
    chunks=1,
    source_counts=(("memory", 1, 1),),
    db_path="/index",
    db_bytes=1,
    stale=0,
    writable=True,
    failed_roots=REPORT.failed_roots,
    unreadable=REPORT.unreadable,
    fallback=FALLBACK,
    providers=(ProviderState(id="p", role="primary", state="ready", since=AT),),
    spaces=(SpaceInfo("s", 3, 1, 1),),
    links=(BackendState(id="builtin", state="serving", since=AT),),
    watchers=(WatchingProcess(pid=7, since=1.0, program="commonplace watch"),),
    sync_state=SyncState(
        since=AT, due_in=1.5, last=SyncOutcome(at=AT, reasons=("watch",), failing_since=AT)
    ),
    findings=(Finding("warning", "check", "x", Fix("do it")),),
    left_out=LeftOut(looked_for="notes", workspace="/notes", folders=(".git",)),
    groups=StatusGroups(
        vector=VectorState(enabled=True, state="ready"),
        fts=KeywordState(enabled=True, state="ready"),
        cache=CacheState(enabled=True, state="ready"),
        batch=BatchesState(enabled=True, state="ready"),
        provider=EmbeddingState(id="openai", requested="openai", state="ready"),
    ),
)
TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
    "array of strings": lambda value: _is_array_of(str, value),
    "array of objects": lambda value: _is_array_of(dict, value),
    "any": lambda _: True,
}


def _is_array_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def documented() -> dict[str, list[dict[str, str]]]:
    """The tables under each heading: types by key."""
    tables: dict[str, list[dict[str, str]]] = {}
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]:
        name, _, text = section.partition("\n")
        for table in text.split("| key | type | meaning |\n|---|---|---|\n")[1:]:
            rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", table, re.MULTILINE)
            tables.setdefault(name, []).append({key: kind.strip() for key, kind in rows})
    return tables


def values(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of ``value`` as the page writes it, with its value."""
    if isinstance(value, dict):
        for name, item in value.items():
            path = f"{key}.{name}" if key else name
            yield path, item
            yield from values(item, path)
    elif isinstance(value, list):
        for item in value:
            yield from values(item, f"{key}[]")


def pattern(key: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", r"[^.]+", re.escape(key)))


def check(table: dict[str, str], *outputs: dict[str, Any]) -> None:
    """Compare ``outputs``, which together have every key, with a table of the page."""
    opaque = [key for key, kind in table.items() if kind.startswith("any")]
    seen = set()
    for output in outputs:
        assert output["schemaVersion"] == 1
        found = [(key, value) for key, value in values(output) if key != "schemaVersion"]
        for key, value in found:
            if any(re.match(pattern(at).pattern + r"[.\[]", key) for at in opaque):
                continue
            names = [name for name in table if pattern(name).fullmatch(key)]
            assert names, f"{key} is not on the page"
            kinds = table[names[0]].removesuffix(", optional").split(" or ")
            assert any(TYPES[kind](value) for kind in kinds), f"{key}: {value!r} is no {kinds}"
            seen.add(names[0])
        for name, kind in table.items():
            if "[]" not in name and "." not in name and "optional" not in kind:
                assert name in output, f"{name} is missing"
    assert set(table) - seen == set(), "on the page, and never printed"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Runs a command with ``--json`` on the sample notes and returns its object."""
    for name in list(os.environ):
        if name.startswith(("COMMONPLACE_", "OPENCLAW_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    copy_workspace(str(tmp_path / "notes"))
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "notes"))

    def run(*argv: str) -> dict[str, Any]:
        capsys.readouterr()
        main([*argv, "--json"])
        output: dict[str, Any] = json.loads(capsys.readouterr().out)
        return output

    return run


def constructed(value: dict[str, Any]) -> dict[str, Any]:
    """A value that cannot be brought about here, printed as a command does."""
    output: dict[str, Any] = json.loads(json.dumps(document(value)))
    return output


PLACE = {"agent": "main", "workspace": "/notes"}


@pytest.fixture
def bad_config(tmp_path: Path) -> str:
    file = tmp_path / "bad.json5"
    file.write_text("{ memory: { backnd: 1 } }", encoding="utf-8")
    return str(file)


def test_search(run: Callable[..., dict[str, Any]]) -> None:
    run("index")
    (table,) = documented()["search"]
    unknown = (UnknownWord(word="deply", suggestion="deploy", instead=("deploy",)),)
    result = SearchResult(hits=(), backend="builtin", fallback=FALLBACK, unknown=unknown)
    fallen = result_json(result, explain=True)
    check(table, run("search", "tide", "--explain"), constructed({**PLACE, **fallen}))


def test_get(run: Callable[..., dict[str, Any]]) -> None:
    check(documented()["get"][0], run("get", "MEMORY.md"))


def test_changes_of_notes(run: Callable[..., dict[str, Any]]) -> None:
    (table,) = documented()["remember, correct, forget, undo"]
    note = {"notes": ["much like a.md#L1: a"]}
    written = run("remember", "The ferry leaves at noon", "--importance", "0.5")
    check(table, written, written | note, run("correct", written["citation"], "It leaves at one"))
    check(table, run("forget", written["citation"]), run("undo"))
    check(documented()["journal"][0], run("journal"))


def test_index(run: Callable[..., dict[str, Any]]) -> None:
    (table,) = documented()["index"]
    report = {**PLACE, **report_json(REPORT, ["x"])}
    copied = copied_json(Copied("builtin", "lancedb", REPORT, (CopiedSpace("openai", 3, 1),)))
    check(table, run("index"), constructed(report | copied | {"next": "commonplace config set"}))


def test_init(run: Callable[..., dict[str, Any]]) -> None:
    (table,) = documented()["init"]
    check(table, run("init", "notes", "--dry-run"), run("init", "notes"), run("init", "notes"))


def test_status(run: Callable[..., dict[str, Any]]) -> None:
    (table,) = documented()["status"]
    check(table, run("status", "--index"), run("status"), constructed(status_json(STATUS)))


def test_doctor(run: Callable[..., dict[str, Any]]) -> None:
    (table,) = documented()["doctor"]
    check(table, run("doctor", "--fix", "--dry-run"), run("doctor"))


def test_watch() -> None:
    out = io.StringIO()
    args = Namespace(json=True, workspace=None, config=None, agent=None)
    context = Context(args, out=out, err=io.StringIO(), env={})
    printer = SyncPrinter(context, "/notes")
    context.emit_line({"event": "start", "report": report_json(REPORT, [])})
    printer.watching(SyncState(watching="polling", reason="asked for", since=AT, folders=2))
    printer.event(
        SyncEvent(reasons=("watch",), at=AT, report=SyncReport(added=1), paths=("/notes/a.md",))
    )
    printer.event(SyncEvent(reasons=("watch",), at=AT, error=IndexReadOnlyError("x", hint="y")))
    check(documented()["watch"][0], *map(json.loads, out.getvalue().splitlines()))


def test_config(run: Callable[..., dict[str, Any]], bad_config: str) -> None:
    tables = documented()
    check(tables["config show"][0], run("config", "show"))
    key = "remote.apiKey"
    check(tables["config set"][0], run("config", "set", key, "x"), run("config", "unset", key))
    wrong = run("config", "check", "--config", bad_config)
    check(tables["config check"][0], run("config", "check"), wrong)
    check(tables["config path"][0], run("config", "path"))
    assert "schemaVersion" not in run("config", "schema")


def test_sessions(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-zoo"
    folder.mkdir(parents=True)
    said = {"type": "user", "message": {"role": "user", "content": "My bike is green."}}
    (folder / "3f2b.jsonl").write_text(json.dumps(said), encoding="utf-8")
    tables = documented()
    for action in ("list", "show", "archive"):
        session = () if action == "list" else ("3f2b",)
        check(tables[f"sessions {action}"][0], run("sessions", action, *session))


def test_list(run: Callable[..., dict[str, Any]]) -> None:
    check(documented()["list"][0], run("list"), run("recent"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the service is systemd's")
def test_watch_install(run: Callable[..., dict[str, Any]]) -> None:
    table = documented()["watch --install"][0]
    check(table, run("watch", "--install"), run("watch", "--uninstall"))


def test_plugins(run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    before = run("plugins")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    check(documented()["plugins"][0], before, run("plugins", "--no-probe"))


def test_plugins_new_and_check(
    run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    law = {"law": "x", "meaning": "x", "result": "failed", "seconds": 0.1, "reason": "x"}
    found = [{"total": 1}, law]
    monkeypatch.setattr("commonplace.cli.commands.authoring._messages", lambda *_: iter(found))
    tables = documented()
    check(tables["plugins new"][0], run("plugins", "new", "ranker", "owls"))
    check(tables["plugins check"][0], run("plugins", "check", "ranker.mmr"))


def test_completion_and_man(
    run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str, _: object) -> None:
        raise PluginUnavailableError(f"{name} does not load", hint="update it")

    monkeypatch.setattr("commonplace.cli.commands.man.plugin_command", broken)
    check(documented()["completion"][0], run("completion", "bash"))
    check(documented()["man"][0], run("man"))


def test_demo(run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONPLACE_WORKSPACE")
    check(documented()["demo"][0], run("demo", "--into", "demo"))


def test_eval(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "notes", tmp_path / "set" / "workspace")
    relevant = [{"path": "MEMORY.md", "startLine": 1, "endLine": 99}]
    query = {"id": "q", "query": "spare key", "relevant": relevant}
    (tmp_path / "set" / "queries.jsonl").write_text(json.dumps(query) + "\n", encoding="utf-8")
    check(documented()["eval"][0], run("eval", "set"))
    kept = run("eval", "--history", "--workspace", "set/workspace")
    check(documented()["eval --history"][0], kept)
    for name, least in (("new", 0), ("few", 0.99)):
        config = {"memory": {"search": {"query": {"minScore": least}}}}
        (tmp_path / f"{name}.json").write_text(json.dumps(config), encoding="utf-8")
    compared = run("eval", "set", "--compare", "new.json", "few.json")
    check(documented()["eval --compare"][0], compared)
    check(documented()["eval --make"][0], run("eval", "--make", "3", "made.jsonl"))


def test_bench(tmp_path: Path) -> None:
    session = [{"speaker": "Ann", "dia_id": "D1:1", "text": "The boat sank."}]
    asked = [{"question": "What sank?", "evidence": ["D1:1"], "category": 4}]
    sample = {"sample_id": "x", "conversation": {"session_1": session}, "qa": asked}
    (tmp_path / "locomo10.json").write_text(json.dumps([sample]), encoding="utf-8")
    command, out = BenchCommand(), io.StringIO()
    args = command_parser(command).parse_args(["locomo", str(tmp_path / "locomo10.json"), "--json"])
    command.run(args, Context(args, out=out, err=io.StringIO()))
    check(documented()["bench"][0], json.loads(out.getvalue()))


def test_dream(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(exist_ok=True)
    log = notes / "memory/2026-01-31.md"
    log.write_text("- The staging port is 8444.\n", encoding="utf-8")
    (notes / "MEMORY.md").write_text(
        "- The staging port is 8443.\n- Ann has the key.\n", encoding="utf-8"
    )
    config = {"memory": {"recalls": {"enabled": True}}}
    with Memory.open(workspace=notes, config=config) as memory:
        for day in range(3):
            tools = MemoryTools(memory, clock=lambda now=day * 86_400.0: now)  # type: ignore[misc]
            for question in ("which staging port?", "staging port please"):
                tools.call("memory_search", {"query": question})
    check(documented()["dream"][0], run("dream"), run("dream", "--apply"))


def test_audit(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "notes" / "MEMORY.md").write_text(
        "- [Ann](gone.md)\n- The staging port is 1.\n", encoding="utf-8"
    )
    (tmp_path / "notes" / "memory").mkdir(exist_ok=True)
    log = tmp_path / "notes" / "memory" / "2026-01-31.md"
    log.write_text("- The staging port is 2.\n", encoding="utf-8")
    (tmp_path / "notes" / "memory" / "image.md").write_bytes(b"\x89PNG\x00\x01\xff\xfe\x00")
    check(documented()["audit"][0], run("audit"))


def test_why(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "MEMORY.md").write_text("- The staging port is 8443.\n", encoding="utf-8")
    asked = {"query": "staging port"}
    for text in (True, False):
        config = {"memory": {"recalls": {"trace": True, "text": text}}}
        with Memory.open(workspace=notes, config=config) as memory:
            MemoryTools(memory).call("memory_search", asked)
    (notes / "MEMORY.md").write_text("- The staging port is 8444.\n", encoding="utf-8")
    tables = documented()
    check(tables["why CITATION"][0], run("why", "MEMORY.md#L1"))
    check(tables["why QUERY"][0], run("why", "staging port"))
    table = tables["why QUERY CITATION"][0]
    (notes / "memory").mkdir(exist_ok=True)
    (notes / "memory/a.md").write_text("Where the port stands\nis a story.\n", encoding="utf-8")
    questions = ("staging port", "staging port path:memory/a.md")
    cited = ("MEMORY.md#L1", "memory/a.md#L1")
    check(table, *[run("why", question, path) for question in questions for path in cited])


def test_install(run: Callable[..., dict[str, Any]]) -> None:
    (table,) = documented()["install"]
    check(table, run("install", "codex", "--dry-run"), run("uninstall", "codex"))


@pytest.mark.slow
def test_ltm(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    pytest.importorskip("lancedb")
    (tmp_path / "mine.md").write_text("- Tea at five.\n- We use Helix.\n", encoding="utf-8")
    tables = documented()
    check(tables["ltm import"][0], run("ltm", "import", "mine.md"))
    check(tables["ltm list"][0], run("ltm", "list"), run("ltm", "search", "tea"))
    check(tables["ltm stats"][0], run("ltm", "stats"))
    check(tables["ltm export"][0], run("ltm", "export", "out.md"))
    (first, *_) = run("ltm", "export")["memories"]
    check(tables["ltm forget"][0], run("ltm", "forget", first["id"]))


def test_qmd_env(run: Callable[..., dict[str, Any]]) -> None:
    check(documented()["qmd env"][0], run("qmd", "env"))


def test_errors(run: Callable[..., dict[str, Any]], bad_config: str, tmp_path: Path) -> None:
    table, disabled = documented()["Errors"]
    table.pop("error.notes")
    check(table, run("get", "../x.md"), run("search", "x", "--config", bad_config))
    off = tmp_path / "off.json5"
    off.write_text('{ plugins: { slots: { memory: "none" } } }', encoding="utf-8")
    check(disabled, run("search", "x", "--config", str(off)))
