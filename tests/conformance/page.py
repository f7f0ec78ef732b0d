"""Writes docs/conformance.md from a run of the conformance tests of everything built in.

    COMMONPLACE_QMD_COMMAND=$(.ci/qmd) python tests/conformance/page.py

It rewrites what stands between the marks in the page and keeps the text around them.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from commonplace.testing.laws import Laws

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "conformance.md"
BEGIN, END = "<!-- made by tests/conformance/page.py -->", "<!-- end -->"

COLUMNS = {
    "TestInMemoryStore": "inmemory",
    "TestSqliteStore": "builtin",
    "TestLanceStore": "lancedb",
    "TestIndexedInMemory": "inmemory",
    "TestIndexedBuiltin": "builtin",
    "TestIndexedBuiltinWithVectors": "builtin with vectors",
    "TestQmd": "qmd",
    "TestOpenAI": "openai",
    "TestMistral": "mistral",
    "TestOllama": "ollama",
    "TestVoyage": "voyage",
    "TestGemini": "gemini",
    "TestLocal": "local",
    "TestSingle": "single",
    "TestEvidence": "evidence",
    "TestWeighted": "weighted",
    "TestReciprocalRank": "rrf",
    "TestRecency": "recency",
    "TestValidity": "validity",
    "TestTemporalDecay": "temporal_decay",
    "TestLexicalBoost": "lexical_boost",
    "TestMmr": "mmr",
    "TestSourceBalance": "source_balance",
    "TestExactPath": "exact_path",
    "TestImportance": "importance",
    "TestSpread": "spread",
    "TestInstructions": "standing",
    "TestTimeWords": "time_words",
    "TestRerank": "rerank",
    "TestNotes": "memory",
    "TestExtraFolder": "memory (an extra path)",
    "TestSessions": "sessions",
    "TestMarkdown": "markdown",
    "TestLines": "lines",
}
"""What the classes of the tests are called in the tables: by the ids of what they check."""

ELSEWHERE = {
    "ranker.cross_encoder": "the class of rerank, with another judge",
    "source.claude-code": "the class of sessions, with another reader",
    "source.codex": "the class of sessions, with another reader",
}
"""What is offered and has no column, and why."""


def suites() -> tuple[type[Laws], ...]:
    """All suites; imported late, for pytest wants to see to modules before they are imported."""
    from commonplace import testing

    return (
        testing.StoreConformance,
        testing.MemoryManagerConformance,
        testing.EmbeddingProviderConformance,
        testing.RankerConformance,
        testing.SourceConformance,
        testing.ChunkerConformance,
    )


class Recorder:
    """Keeps what the tests of a run said."""

    def __init__(self) -> None:
        self.said: dict[type[Laws], dict[tuple[str, str], str]] = defaultdict(dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note each law's outcome."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self._law(item, report)
        return report

    def _law(self, item: pytest.Item, report: pytest.TestReport) -> None:
        owner = item.getparent(pytest.Class)
        label = COLUMNS.get(owner.name) if owner is not None else None
        if owner is None or label is None or not isinstance(item, pytest.Function):
            return
        for suite in suites():
            if issubclass(owner.obj, suite):
                self.said[suite][item.originalname, label] = _outcome(report)


def _outcome(report: pytest.TestReport) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return report.outcome


def laws_of(suite: type[Laws]) -> list[str]:
    """The laws of a suite, in the order of its parts."""
    found = [name for part in suite.__mro__ for name in vars(part) if name.startswith("test_")]
    return list(dict.fromkeys(found))


def words_of(law: str) -> str:
    """``test_no_word_is_lost`` as *no word is lost*."""
    return law.removeprefix("test_").replace("_", " ")


def tables(recorder: Recorder) -> Iterator[str]:
    """The page's lines on what was recorded."""
    yield "## What is built in, and what each law says of it"
    for suite in suites():
        yield from _suite(suite, recorder.said[suite])
    yield "## What is broken on purpose, and the law that caught it"
    yield ""
    pairs = [pair for file in sorted(HERE.glob("test_broken_*.py")) for pair in broken_in(file)]
    yield f"{len(pairs)} in all. Each line is a test, which fails if the law does not catch it."
    yield from ("", "| broken | caught by | in |", "|---|---|---|")
    for file in sorted(HERE.glob("test_broken_*.py")):
        for broken, law in broken_in(file):
            yield f"| `{broken}` | {words_of(law)} | {file.stem.removeprefix('test_broken_')} |"
    yield ""


def broken_in(file: Path) -> list[tuple[str, str]]:
    """The pairs of what is broken and the law that catches it, of a file that tests them."""
    pairs = [
        node.elts
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Tuple) and len(node.elts) == 2
    ]
    return [
        (one.id, str(law.value))
        for one, law in pairs
        if isinstance(one, ast.Name)
        and isinstance(law, ast.Constant)
        and str(law.value).startswith("test_")
    ]


def _suite(suite: type[Laws], said: Mapping[tuple[str, str], str]) -> Iterator[str]:
    seen = {label for _, label in said}
    labels = [label for label in dict.fromkeys(COLUMNS.values()) if label in seen]
    notes: list[str] = []
    yield from ("", f"### {suite.__name__}", "")
    yield f"| law | {' | '.join(f'`{label}`' for label in labels)} |"
    yield "|---" * (len(labels) + 1) + "|"
    for law in laws_of(suite):
        cells = []
        for label in labels:
            outcome = said.get((law, label), "not run")
            if outcome not in {"passed", "failed"}:
                if outcome not in notes:
                    notes.append(outcome)
                outcome = f"skipped ({notes.index(outcome) + 1})"
            cells.append(outcome)
        yield f"| {words_of(law)} | {' | '.join(cells)} |"
    yield ""
    yield from (f"({number}) {note}  " for number, note in enumerate(notes, 1))
    if notes:
        yield ""


def main() -> int:
    """Run the tests and write the page; what pytest returns."""
    recorder = Recorder()
    tests = [
        file
        for file in ROOT.glob("tests/**/test_*_conformance.py")
        if any(f"class {owner}(" in file.read_text("utf-8") for owner in COLUMNS)
    ]
    for suite in suites():
        # Enough to tell what is kept and what is skipped; the tests themselves ask for more.
        suite.settings = settings(suite.settings, max_examples=3, stateful_step_count=5)
    arguments = ["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning", f"--rootdir={ROOT}"]
    arguments += ["-p", "no:cacheprovider", *map(str, sorted(tests))]
    status = pytest.main(arguments, plugins=[recorder])
    if status == pytest.ExitCode.OK:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        made = "\n".join(tables(recorder))
        PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n{END}{rest.partition(END)[2]}", "utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
