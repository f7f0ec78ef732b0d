"""Every module says what it is for, and stays small enough to be read at one go."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.guards.conftest import Outline

MOST_LINES = 400
# 147 to read; then the writer, flush, the memory tool, plugin authors; then the second step of
# keyword ranking: the scores, the days that a question names, the words of English; the list by
# vectors, and the analysis that only `compat` imports; the border to plugins, their switches, and
# the groups of a status; where servers listen; which lines of a note say something, for all
# plugins that compare notes; and the trace of recalls, which is imported only where it is on;
# and what bounds the calls of third parties; and what joins neighbouring hits, which is imported
# only where there are some; and what copies an index to another backend;
# and a scan of some paths, and a sync of them, which are imported only by who watches;
# and reordering by a judge of relevance, for two of our rankers and those of others;
# and what is known of languages: words for times, letters, words that say nothing;
# and what a failure of a plugin is called, with the library that it lacks;
# and the words that no note has, for searches that lack one, and the numbers among these;
# and what a group may see, and small files of state that processes share;
# and times: what stands about one, how notes name it, what a query asks of it, how near a note is;
# and what notes may have instead of a word, and the rarer words of English, for searches that lack
# one; and times that are open, "since May"; and stems of words in Latin letters;
# and compounds, for queries that are not in English; and tenses, for those that name a time,
# and what notes say of what is next, for those that ask it, and a first look whether one is named.
MOST_FILES_OF_CORE = 221
MOST_FILES_OF_TESTING = 23  # one on running laws, one on threads and processes, three of such laws
MOST_OF_AN_ADAPTER = 60  # lines of code: an SDK's own ideas belong in the SDK


def test_there_is_something_to_guard(sources: list[Path], plugins: dict[str, Path]) -> None:
    assert len(sources) > 20
    assert len(plugins) > 2


def test_every_module_starts_with_a_docstring(
    sources: list[Path], outline: Callable[[Path], Outline], root: Path
) -> None:
    silent = [
        str(file.relative_to(root)) for file in sources if not outline(file).docstring.strip()
    ]
    assert silent == []


def test_no_module_is_long(sources: list[Path], root: Path) -> None:
    lengths = {
        str(file.relative_to(root)): len(file.read_text(encoding="utf-8").splitlines())
        for file in sources
    }
    assert {file: lines for file, lines in lengths.items() if lines > MOST_LINES} == {}


def test_adapters_are_thin(plugins: dict[str, Path]) -> None:
    lengths = {
        file.name: code_lines(file.read_text(encoding="utf-8"))
        for file in plugins["commonplace_adapters"].glob("*.py")
    }
    assert len(lengths) > 8
    assert {file: lines for file, lines in lengths.items() if lines > MOST_OF_AN_ADAPTER} == {}


def code_lines(text: str) -> int:
    """The lines of a module that are not empty, a comment or a docstring."""
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(
        number not in said and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in lines
    )


def test_there_are_not_more_files_than_a_newcomer_can_learn(packages: dict[str, Path]) -> None:
    core = packages["commonplace"]
    testing = list((core / "testing").rglob("*.py"))
    assert len(testing) <= MOST_FILES_OF_TESTING
    assert len(list(core.rglob("*.py"))) - len(testing) <= MOST_FILES_OF_CORE


def test_every_folder_with_code_is_a_typed_package(
    packages: dict[str, Path], plugins: dict[str, Path], sources: list[Path], root: Path
) -> None:
    assert set(plugins) <= set(packages), "a folder without __init__.py"
    untyped = [name for name, folder in packages.items() if not (folder / "py.typed").is_file()]
    assert untyped == []
    loose = {
        str(file.parent.relative_to(root))
        for file in sources
        if not (file.parent / "__init__.py").is_file()
    }
    assert loose == set(), "a folder without __init__.py"
