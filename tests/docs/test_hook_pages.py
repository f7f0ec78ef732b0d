"""There is a page for each hook, its examples run, and it names all that the hook hands over."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import attrs
import pytest

import commonplace.plugin
import commonplace.testing
from commonplace.cli.context import Command
from commonplace.config.json5 import parse_json5
from commonplace.errors import WriteRefusedError
from commonplace.host.discovery import CALLED
from commonplace.memory import Memory
from commonplace.model.documents import WatchedPath
from commonplace.model.plugins import STORE_ABILITIES
from commonplace.model.search import Hit, SearchResult
from commonplace.plugin import Hooks
from commonplace.tools.toolset import MemoryTools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from commonplace.host.host import PluginHost

    ReadPage = Callable[[Path], Any]
    Install = Callable[..., tuple[ModuleType, PluginHost, str]]

HOOKS = {name: hook for name, hook in vars(Hooks).items() if name.startswith("commonplace_")}
NOT_REGISTERING = [hook for hooks in CALLED.values() for hook in hooks]
REGISTERING = [name for name in HOOKS if name not in NOT_REGISTERING]
FACTORIES = r"`{n}register\.(\w+)\(id, factory\)`{n}: `{n}(.*?)`{n}\."

SUITES = {
    "commonplace_register_backends": {
        "tiny_store": "StoreConformance",
        "tiny_engine": "MemoryManagerConformance",
    },
    "commonplace_register_sources": {"letters": "SourceConformance"},
    "commonplace_register_chunkers": {"paragraphs": "ChunkerConformance"},
    "commonplace_register_providers": {"letter_pairs": "EmbeddingProviderConformance"},
    "commonplace_register_rankers": {"weekend": "RankerConformance"},
}
EXAMPLES = [(hook, name) for hook, suites in SUITES.items() for name in suites]


@pytest.fixture
def page_of(docs: Path, read_page: ReadPage) -> Callable[[str], Any]:
    return lambda hook: read_page(docs / "hooks" / f"{hook}.md")


def tables(text: str) -> dict[str, list[str]]:
    """The first cells of each table's rows, by the first cell of its head."""
    found: dict[str, list[str]] = {}
    for head, rows in re.findall(
        r"^\| (.+?) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, flags=re.MULTILINE
    ):
        found[head.strip("`")] = re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)
    return found


def test_each_hook_has_a_page_and_no_page_is_of_no_hook(docs: Path) -> None:
    assert sorted(path.stem for path in (docs / "hooks").iterdir()) == sorted(HOOKS)


def test_the_overview_and_the_tutorial_lead_to_each_page(docs: Path) -> None:
    overview = (docs / "plugins.md").read_text(encoding="utf-8")
    for hook in HOOKS:
        assert f"(hooks/{hook}.md)" in overview, hook


@pytest.mark.parametrize("hook", HOOKS)
def test_a_page_says_what_the_hook_hands_over(hook: str, page_of: Callable[[str], Any]) -> None:
    page = page_of(hook)
    assert page.text.startswith(f"# {hook}\n")
    given = tables(page.text)
    if hook in NOT_REGISTERING:
        _, *arguments = inspect.signature(HOOKS[hook]).parameters
        assert given["argument"] == arguments
        return
    factories = re.findall(FACTORIES.format(n="{2}"), HOOKS[hook].__doc__ or "")
    assert factories
    assert factories == re.findall(FACTORIES.format(n=""), page.text)
    contexts = [name for _, made in factories for name in re.findall(r"\b(\w+Context)\b", made)]
    if hook == "commonplace_register_rankers":
        contexts.append("RankContext")
    for name in contexts:
        context = getattr(commonplace.plugin, name)
        fields = (
            [field.name for field in attrs.fields(context)]
            if attrs.has(context)
            else list(context._fields)
        )
        assert given[name] == fields
    if hook == "commonplace_register_commands":
        assert given["member"] == [name for name in vars(Command) if not name.startswith("_")]


def test_the_page_on_sources_says_what_a_watched_path_is(page_of: Callable[[str], Any]) -> None:
    given = tables(page_of("commonplace_register_sources").text)
    assert given["WatchedPath"] == list(WatchedPath._fields)


@pytest.mark.parametrize("hook", REGISTERING)
def test_a_page_names_the_suite_that_holds_the_laws(
    hook: str, page_of: Callable[[str], Any]
) -> None:
    page = page_of(hook)
    suites = SUITES.get(hook)
    if suites is None:
        assert "There is no suite" in page.text
        return
    for suite in suites.values():
        assert suite in commonplace.testing.__all__
        assert f"`commonplace.testing.{suite}`" in page.text


def test_every_suite_is_on_a_page() -> None:
    suites = {name for name in commonplace.testing.__all__ if name.endswith("Conformance")}
    assert suites == {suite for named in SUITES.values() for suite in named.values()}


@pytest.mark.slow
@pytest.mark.parametrize(("hook", "name"), EXAMPLES)
def test_an_example_keeps_the_laws(
    hook: str, name: str, page_of: Callable[[str], Any], install: Install, site: Path
) -> None:
    page = page_of(hook)
    install(page, hook, name)
    assert f"test_{name}.py" in page.files
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py"],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ passed", done.stdout)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace that has something for every example."""
    folder = tmp_path / "notes"
    for name, text in {
        "MEMORY.md": "The ant carries a leaf.\n",
        "memory/2026-10-10.md": "A Saturday.\n\nThe ant rests.\n",
        "letters/aunt.txt": "Dear ant, come and see us.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def ask(notes: Path, tmp_path: Path) -> Callable[[PluginHost, Any], SearchResult]:
    """Index the notes and search them, with all that a host has and a configuration says."""

    def answer(host: PluginHost, config: dict[str, Any]) -> SearchResult:
        env = {
            "HOME": str(tmp_path),
            "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
            "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
        }
        with Memory.open(workspace=notes, config=config, env=env, host=host) as memory:
            memory.sync()
            return memory.search("ant", max_results=9)

    return answer


PROOFS: dict[str, Callable[[SearchResult, str], bool]] = {
    "commonplace_register_backends": lambda result, id_: result.backend == id_,
    "commonplace_register_sources": lambda result, id_: id_ in {h.source for h in result.hits},
    "commonplace_register_chunkers": lambda result, _: (
        {hit.snippet.strip() for hit in result.hits} >= {"The ant rests."}
    ),
    "commonplace_register_providers": lambda result, id_: result.provider == id_,
    "commonplace_register_rankers": lambda result, id_: (
        "a weekend" in {s.note for h in result.hits for s in h.explain.steps if s.ranker == id_}
    ),
}


@pytest.mark.parametrize(("hook", "name"), EXAMPLES)
def test_an_example_serves_where_it_is_configured(
    hook: str,
    name: str,
    page_of: Callable[[str], Any],
    install: Install,
    ask: Callable[[PluginHost, Any], SearchResult],
) -> None:
    page = page_of(hook)
    _, host, id_ = install(page, hook, name)
    (written,) = (
        text for language, text in page.blocks if language == "json5" and f'"{name}"' in text
    )
    config = parse_json5(written)
    result = ask(host, config)
    assert len(result.hits) >= 2
    assert PROOFS[hook](result, id_)
    assert [info.state for info in host.plugins() if info.name.endswith(f".{id_}")] == ["loaded"]


def test_a_command_runs_as_its_page_says(
    page_of: Callable[[str], Any], install: Install, site: Path, notes: Path, tmp_path: Path
) -> None:
    hook = "commonplace_register_commands"
    page = page_of(hook)
    _, _, name = install(page, hook)
    (line,) = re.findall(r"^\$ commonplace (.*)$", page.block("console"), re.MULTILINE)
    env = {k: v for k, v in os.environ.items() if not k.startswith("COMMONPLACE_")}
    env |= {
        "PYTHONPATH": str(site),
        "HOME": str(tmp_path),
        "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
        "COMMONPLACE_WORKSPACE": str(notes),
    }
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", *line.split()],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert line.split()[0] == name
    assert json.loads(done.stdout)["longest"] == str(notes / "memory" / "2026-10-10.md")


def test_an_agent_has_the_tool_that_the_page_offers(
    page_of: Callable[[str], Any], install: Install, notes: Path, tmp_path: Path
) -> None:
    hook = "commonplace_register_tools"
    module, host, _ = install(page_of(hook), hook)
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=notes, env=env, host=host) as memory:
        tools = MemoryTools(memory)
        assert [tool.name for tool in tools.definitions][2:] == ["today"]
        assert tools.call("today", {}).data == {"date": module.date.today().isoformat()}
        assert tools.call("today", {"day": 3}).failed


def test_listeners_hear_of_syncs_and_searches(
    page_of: Callable[[str], Any],
    install: Install,
    ask: Callable[[PluginHost, Any], SearchResult],
) -> None:
    config = {"memory": {"backend": "inmemory"}}
    synced, host, _ = install(page_of("commonplace_synced"), "commonplace_synced")
    ask(host, config)
    assert host.close(timeout=60)
    assert synced.totals["added"] == 2


def test_listeners_hear_of_questions_without_an_answer(
    page_of: Callable[[str], Any], install: Install
) -> None:
    searched, host, _ = install(page_of("commonplace_searched"), "commonplace_searched")
    bus = host.events
    assert bus is not None
    bus.searched(
        "ant",
        SearchResult(
            hits=(
                Hit(
                    path="a.md", start_line=1, end_line=1, score=1.0, snippet="ant", source="memory"
                ),
            ),
            backend="inmemory",
        ),
    )
    bus.searched("bee", SearchResult(hits=(), backend="inmemory"))
    assert host.close(timeout=60)
    assert searched.unanswered == ["bee"]


def test_a_query_is_rewritten_before_it_is_parsed(
    page_of: Callable[[str], Any],
    install: Install,
    notes: Path,
    ask: Callable[[PluginHost, Any], SearchResult],
) -> None:
    module, host, _ = install(page_of("commonplace_rewrite_query"), "commonplace_rewrite_query")
    module.MEANINGS["ant"] = "meeting"
    (notes / "memory" / "m.md").write_text("The meeting is on Monday.\n")
    result = ask(host, {"memory": {"backend": "inmemory"}})
    assert [hit.path for hit in result.hits] == ["memory/m.md"]


def test_a_wrapper_adds_to_the_results_of_few_hits(
    page_of: Callable[[str], Any],
    install: Install,
    ask: Callable[[PluginHost, Any], SearchResult],
    notes: Path,
) -> None:
    _, host, _ = install(page_of("commonplace_search"), "commonplace_search")
    config = {"memory": {"backend": "inmemory"}}
    assert ask(host, config).notes == ()
    (notes / "memory" / "2026-10-10.md").unlink()
    assert "ask in fewer words" in ask(host, config).notes


def test_a_change_is_refused_by_the_first_reason(
    page_of: Callable[[str], Any], install: Install, notes: Path
) -> None:
    _, host, _ = install(page_of("commonplace_before_write"), "commonplace_before_write")
    config = {"memory": {"backend": "inmemory", "write": {"enabled": True}}}
    with Memory.open(workspace=notes, config=config, host=host) as memory:
        agent = memory.writer(origin="agent", who="test")
        assert agent.remember("The meeting is on Monday.").path.startswith("memory/")
        with pytest.raises(WriteRefusedError, match="only its owner edits") as refused:
            agent.remember("The meeting is on Tuesday.", kind="entry")
        assert refused.value.kind == "veto"
        assert memory.writer(who="test").remember("It is on Tuesday.", kind="entry").id


@pytest.mark.parametrize("hook", ["commonplace_degraded", "commonplace_recovered"])
def test_listeners_hear_of_what_stops_and_works_again(
    hook: str, page_of: Callable[[str], Any], install: Install
) -> None:
    module, host, _ = install(page_of(hook), hook)
    bus = host.events
    assert bus is not None
    bus.degraded("voyage", "the network is down")
    bus.degraded("qmd", "it does not start")
    bus.recovered("qmd")
    assert host.close(timeout=60)
    assert list(module.unwell) == (
        ["voyage", "qmd"] if hook == "commonplace_degraded" else ["voyage"]
    )


def test_the_page_of_backends_names_all_that_a_store_can_declare(docs: Path) -> None:
    text = (docs / "hooks" / "commonplace_register_backends.md").read_text("utf-8")
    listed = text.partition("What is not declared in `capabilities` (")[2].partition(")")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == STORE_ABILITIES
