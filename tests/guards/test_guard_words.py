"""Code and docs use the standard words of docs/architecture.md, not the retired ones."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = (".py", ".pyi", ".md", ".toml")

# Retired, as a pattern, and what to write. A blank stands for any white space; a word counts
# inside an identifier too, between underscores.
TEXT = {
    r"mend(?:s|ed|ing|er)?": "fix, hint",
    r"remed(?:y|ies)": "fix, hint",
    r"anew": "rebuild, re-index",
    r"upkeep": "sync, maintenance",
    r"look(?:s|ed|ing)? after": "maintain, health",
    r"who(?:ever)? (?:answers|serves)": "active backend",
    r"whoever": "the actor's name",
    r"(?:nobody|somebody)": "the actor's name, or no ...",
    r"shall": "must, will",
    r"(?:bring|brings|bringing|brought) (?:\w+ ){0,4}up to": "update, sync",
    r"(?:is|are) as (?:it|they) (?:was|were)": "unchanged",
    r"(?:not )?as (?:it|they) should be": "problems",
    r"otherwise than": "unlike",
    r"until it is interrupted": "until you press Ctrl-C",
    r"told": "report, message",
    r"(?:tells?|speaks?) of": "report, describe",
    r"hurry": "probe",
    r"recipes?": "fingerprint",
}
# Class names: whole, also of private classes, or as one of the words of a name in CamelCase.
WHOLE = {"Turn", "Link", "Fault"}
PARTS = {
    *("Complaint", "Doubt", "Means", "Mender", "Pace", "Remedy", "Rounds", "Serving", "Standing"),
    *("Survey", "Trouble", "Upkeep"),
}

# The retired words in a place where they are lawful: file, and what a line there holds.
LAWFUL = {
    "tests/guards/test_guard_words.py": "",
    "core/commonplace/text/questions.py": "shall",  # a word of the language
    "docs/architecture.md": "| ",  # the list of words
}

_GAP = r"[\s#]+"
_PATTERNS = [
    (
        re.compile("(?<![A-Za-z])(?:" + words.replace(" ", _GAP) + ")(?![a-z])"),
        better,
    )
    for words, better in TEXT.items()
]
_ANY = re.compile(
    f"(?<![A-Za-z])(?:{'|'.join(words.replace(' ', _GAP) for words in TEXT)})(?![a-z])"
)  # one search, for most files have none
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)
_WORDS_OF_A_NAME = re.compile(r"[A-Z][a-z0-9]*")


@cache
def tracked() -> tuple[str, ...]:
    """The paths of all files of the repository that hold words of ours."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    return tuple(
        path for path in listed.stdout.split("\0") if path.endswith(SUFFIXES) and _is_ours(path)
    )


def _is_ours(path: str) -> bool:
    others = ("core/commonplace/sample/workspace/", "core/commonplace/text/english")
    return not path.startswith(others) and (ROOT / path).is_file()


def retired(path: str) -> list[str]:
    """Each retired word in the file, with its line and what to write."""
    text = (ROOT / path).read_text("utf-8")
    lines, lowered = text.splitlines(), text.lower()
    found = []
    for pattern, better in _PATTERNS if _ANY.search(lowered) else ():
        for match in pattern.finditer(lowered):
            line = lowered.count("\n", 0, match.start()) + 1
            if path in LAWFUL and LAWFUL[path] in lines[line - 1]:
                continue
            found.append(f"{path}:{line}: {' '.join(match[0].split())!r}: {better}")
    if path.endswith(".py"):
        found += [f"{path}:{line}: class {name}" for line, name in _classes(text)]
    return found


def _classes(text: str) -> list[tuple[int, str]]:
    return [
        (text.count("\n", 0, match.start(1)) + 1, match[1])
        for match in _CLASS.finditer(text)
        if match[1].lstrip("_") in WHOLE or PARTS & set(_WORDS_OF_A_NAME.findall(match[1]))
    ]


def test_no_retired_word_is_used() -> None:
    found = [line for path in tracked() for line in retired(path)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("x = mend_all()", "mend"),
        ("# made anew", "anew"),
        ('"bring the\nindex up to the notes"', "bring the index up to"),
        ("is_told = 1", "told"),
    ],
)
def test_a_retired_word_is_found_in_names_and_texts(text: str, word: str) -> None:
    assert _ANY.search(text)
    matches = [match[0] for pattern, _ in _PATTERNS if (match := pattern.search(text))]
    assert [" ".join(match.split()) for match in matches] == [word]


@pytest.mark.parametrize("text", ["amend", "recommend", "manewver", "marshall", "tombolder"])
def test_words_that_contain_one_are_lawful(text: str) -> None:
    assert not any(pattern.search(text) for pattern, _ in _PATTERNS)


@pytest.mark.parametrize("name", ["Link", "_Turn", "CareSurvey", "_Standing"])
def test_a_retired_class_is_found_with_and_without_an_underscore(name: str) -> None:
    assert _classes(f"x = 1\n\nclass {name}:\n    pass\n") == [(3, name)]


@pytest.mark.parametrize("name", ["Links", "TurnOrder", "_Outstanding"])
def test_a_class_with_another_name_is_lawful(name: str) -> None:
    assert _classes(f"class {name}:\n    pass\n") == []
