"""The commands of hints do what they say when they are copied to a shell."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from commonplace_audit.contradictions import contradictions
from commonplace_audit.findings import argument
from commonplace_audit.findings import audited as note

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_audit.auditing import Audit

OTHER = "to do/It's $5.md"
LONG = " ".join(f"word{number}" for number in range(40))


@pytest.mark.parametrize(
    ("kind", "notes"),
    [
        ("stale", {OTHER: "# A\n\n- [ ] pay the rent by 2026-04-01\n"}),
        ("secret", {OTHER: "# A\n\npassword: hunter2trombone99X\n"}),
        ("duplicate", {"a.md": f"# A\n\n{LONG}\n\n{LONG[::-1]}\n", OTHER: f"# B\n\n{LONG}\n"}),
    ],
)
def test_the_lines_are_one_argument_whatever_their_path_holds(
    audited: Callable[..., Audit], kind: str, notes: dict[str, str]
) -> None:
    (finding,) = audited(notes, kind).findings
    assert finding.citation == f"{OTHER}#L3"
    commands = re.findall(r"commonplace forget (.+?)(?:, or|$)", finding.hint)
    assert [shlex.split(words) for words in commands] == [[finding.citation]]


@pytest.mark.parametrize("value", ["`db4.example.net`", '"Otter"', "$DB4"])
def test_a_shell_finds_nothing_to_replace_in_the_new_text(value: str) -> None:
    notes = [
        note("MEMORY.md", "# Facts\n\n- The staging host is db3.example.net.\n"),
        note("my log/2026-11-10.md", f"- The staging host is {value}.\n", day="2026-11-10"),
    ]
    (finding,) = contradictions(notes)
    words = shlex.split(finding.hint.partition(": commonplace ")[2])
    assert words[-1] == f"The staging host is {value}."
    assert finding.hint.endswith(f" '{words[-1]}'")  # single quotes: all in them is text


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("MEMORY.md#L3", "MEMORY.md#L3"),
        ("C#.md#L3-L9", "C#.md#L3-L9"),
        ("#inbox.md#L1", "'#inbox.md#L1'"),
        ("my notes.md#L3", "'my notes.md#L3'"),
        ("it's.md", "'it'\"'\"'s.md'"),
    ],
)
def test_a_word_is_quoted_only_where_a_shell_would_read_it_otherwise(word: str, shown: str) -> None:
    assert argument(word) == shown
    assert shlex.split(f"x {shown}", comments=False) == ["x", word]
