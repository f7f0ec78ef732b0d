"""What a search may not import: its process has to be there and gone in milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Ran, Sandbox

# Apart from what the site's own start-up files import before anything of ours runs.
LISTING = """
import sys
before = set(sys.modules)
from commonplace.cli import main
code = main(sys.argv[1:])
new = set(sys.modules) - before
print("MODULES", *sorted(new), file=sys.stderr)
raise SystemExit(code)
"""

# Each with all that is below it. ``json`` is for --json alone.
FORBIDDEN = """
    asyncio attr attrs cattrs concurrent csv ctypes dataclasses datetime decimal difflib email
    filelock gettext glob hashlib http httpx importlib.metadata inspect json keyring lancedb
    locale logging markdown_it multiprocessing numpy pathlib pickle platform platformdirs pluggy
    pyjson5 random regex rich select selectors shlex shutil signal simsimd socket sqlite3
    sqlite_vec ssl statistics string subprocess tempfile threading tomllib urllib uuid xllamacpp
    zipfile
"""
OURS = """
    commonplace.aio commonplace.resilience.bounded_call commonplace.resilience.breaker
    commonplace.resilience.lock commonplace.cli.checks commonplace.cli.failure
    commonplace.cli.jsonify commonplace.cli.terminal commonplace.config.json5
    commonplace.config.resolve commonplace.config.reports commonplace.embedding.service
    commonplace.host.events commonplace.index.documents commonplace.index.indexing
    commonplace.model.chunks commonplace.health.status commonplace.testing commonplace.sync
    commonplace_chunkers.lines
    commonplace_gemini commonplace_inmemory commonplace_local commonplace_mistral
    commonplace_ollama commonplace_openai commonplace_qmd commonplace_sqlite.checking
    commonplace_sqlite.maintenance commonplace_sqlite.writing commonplace_voyage
"""


def listed(ran: Ran, name: str) -> set[str]:
    (line,) = [line for line in ran.err.splitlines() if line.startswith(name)]
    return set(line.split()[1:])


def among(modules: set[str], names: str) -> set[str]:
    return {
        module
        for module in modules
        if any(module == name or module.startswith(name + ".") for name in names.split())
    }


def search(sandbox: Sandbox, *more: str) -> Ran:
    ran = sandbox.run("search", "walrus", *more, program=("-c", LISTING))
    assert "2026-10-03.md" in ran.went_well()
    return ran


def test_a_search_of_an_index_that_is_up_to_date_imports_little(sandbox: Sandbox) -> None:
    sandbox.run_here("index").went_well()
    search(sandbox)  # remembers which plugins there are
    ran = search(sandbox)
    modules = listed(ran, "MODULES")
    assert {"apsw", "commonplace.search.search", "commonplace_sqlite.keyword"} <= modules
    assert among(modules, FORBIDDEN) == set()
    assert among(modules, OURS) == set()


@pytest.mark.parametrize("more", [("--json",), ("-n", "3", "--explain")], ids=" ".join)
def test_its_options_import_no_more_than_they_need(sandbox: Sandbox, more: tuple[str, ...]) -> None:
    sandbox.run_here("index").went_well()
    search(sandbox)
    ran = search(sandbox, *more)
    allowed = {"json"} if "--json" in more else set()
    found = among(listed(ran, "MODULES"), FORBIDDEN)
    assert {module.partition(".")[0] for module in found} == allowed


def test_nothing_is_left_to_a_background_that_would_end_with_the_process(sandbox: Sandbox) -> None:
    sandbox.run_here("index").went_well()
    for number in range(30):
        sandbox.write(f"memory/n{number}.md", "A seal.\n")
    ran = search(sandbox, "--session-key", "agent:main:new")
    (note,) = [line for line in ran.err.splitlines() if "not indexed yet" in line]
    command = f"`commonplace index --workspace {sandbox.workspace}`"
    assert f": run {command} (a search itself takes up 20 notes, " in note
    assert among(listed(ran, "MODULES"), "commonplace.sync") == set()


def test_the_list_can_find_something(sandbox: Sandbox) -> None:
    ran = search(sandbox)  # which makes the index, under its lease
    modules = listed(ran, "MODULES")
    assert {"hashlib"} <= among(modules, FORBIDDEN)
    assert "commonplace.index.indexing" in among(modules, OURS)
