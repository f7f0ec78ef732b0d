"""The example's agent recalls in a second session what it wrote in the first, by every surface."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[2] / "examples" / "agent_loop"
WAYS = ("tools", "mcp", "memory tool")


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    sys.path.insert(0, str(FOLDER))
    try:
        import two_sessions

        yield two_sessions
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("two")
    (home / "notes").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in ("STATE", "CACHE"):
            patch.setenv(f"COMMONPLACE_{name}_DIR", str(home / name))
        yield home


@pytest.fixture(scope="module")
def written(example: Any, home: Path) -> list[str]:
    """What the first session reported; then one change was undone."""
    lines = list(example.first_session(str(home / "notes")))
    lines.append(example.undo(str(home / "notes"), example.UNDONE))
    return lines


@pytest.fixture(scope="module")
def answers(example: Any, home: Path, written: list[str]) -> dict[str, dict[str, str]]:
    """What the second session answered, by question and way."""
    found: dict[str, dict[str, str]] = {}
    for question, way, answer in example.second_session(str(home / "notes")):
        found.setdefault(question, {})[way] = answer
    return found


def test_the_first_session_wrote_corrected_flushed_and_was_archived(
    home: Path, written: list[str]
) -> None:
    log, archive = sorted((home / "notes" / "memory").iterdir(), key=lambda file: len(file.stem))
    assert "compaction: flushed\n" in written
    assert archive.name in written[-2]
    assert "bike of Ann" in archive.read_text()
    lines = log.read_text().splitlines()
    assert "- Staging runs on port 9000." in lines
    assert "- Ines reads the tide gauge." in lines
    assert "8471" not in log.read_text()
    assert "Friday" not in log.read_text()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which port does staging run on?", "port 9000"),
        ("Where is the spare key of the workshop?", "at the bakery"),
        ("Who reads the tide gauge?", "Ines"),
        ("What colour is the bike of Ann?", "green"),
    ],
)
@pytest.mark.slow
def test_every_surface_recalls_it_with_the_right_citation(
    home: Path, answers: dict[str, dict[str, str]], question: str, words: str
) -> None:
    assert tuple(answers[question]) == WAYS
    for answer in answers[question].values():
        line, source = answer.split("\nSource: ")
        assert words in line
        cited = re.fullmatch(r"/?memor(?:y|ies)/(.+\.md)(?:#L| line )(\d+)", source)
        assert cited is not None, source
        lines = (home / "notes" / "memory" / cited[1]).read_text().splitlines()
        assert lines[int(cited[2]) - 1] == line


def test_what_was_undone_is_not_recalled(answers: dict[str, dict[str, str]]) -> None:
    for answer in answers["When is the deploy day?"].values():
        assert "Friday" not in answer
        assert answer == "I looked, and memory holds nothing on that."


@pytest.mark.slow
def test_the_whole_story_runs_as_a_program(
    example: Any, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["two_sessions.py", "--workspace", str(home / "more")])
    monkeypatch.setattr(example, "QUESTIONS", example.QUESTIONS[:1])
    (home / "more").mkdir()
    assert example.main() == 0
    assert capsys.readouterr().out.count("port 9000") == 1 + len(WAYS)


def test_it_makes_the_folder_of_the_notes(
    example: Any, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["two_sessions.py", "--workspace", str(home / "more" / "new")])
    monkeypatch.setattr(example, "QUESTIONS", ())
    assert example.main() == 0
    assert "undo" in capsys.readouterr().out
