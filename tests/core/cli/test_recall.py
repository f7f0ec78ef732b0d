"""The command ``recall``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.cli.conftest import Ran

HEADING = "## Memory Recall"


def test_it_prints_the_block(run: Callable[..., Ran], indexed: str) -> None:
    ran = run("recall", "--workspace", indexed)
    assert ran.code == 0
    assert ran.out.startswith(HEADING)
    assert '<memory path="MEMORY.md"' in ran.out


def test_it_answers_a_question_within_a_budget(run: Callable[..., Ran], indexed: str) -> None:
    ran = run("recall", "--workspace", indexed, "--query", "staging port", "--budget", "1500")
    assert "8471" in ran.out
    assert len(ran.out) <= 1500


def test_both_ways_of_asking_for_json_give_the_same(run: Callable[..., Ran], indexed: str) -> None:
    formatted = run("recall", "--workspace", indexed, "--format", "json")
    assert formatted.json == run("recall", "--workspace", indexed, "--json").json
    assert formatted.json["text"].startswith(HEADING)
    assert formatted.json["paths"] == ["MEMORY.md", "memory/2026-10-14.md"]  # the newest log


def test_a_channel_sees_no_notes(run: Callable[..., Ran], indexed: str) -> None:
    key = "agent:main:slack:channel:c1"
    ran = run("recall", "--workspace", indexed, "--session-key", key)
    assert "<memory" not in ran.out


def test_too_small_a_budget_is_refused(run: Callable[..., Ran], indexed: str) -> None:
    ran = run("recall", "--workspace", indexed, "--budget", "20")
    assert ran.code == 2
    assert "--budget 20 is too small: it must be at least 500" in ran.err
    assert f"fix: commonplace recall --workspace {indexed} --budget 500" in ran.err
    assert run("recall", "--workspace", indexed, "--budget", "500").code == 0


def test_json_names_the_notes_that_passages_are_from(run: Callable[..., Ran], indexed: str) -> None:
    ran = run("recall", "--workspace", indexed, "--query", "staging port", "--json")
    assert ran.json["paths"][0] == "MEMORY.md"
    assert len(set(ran.json["paths"])) == len(ran.json["paths"])
    assert all(f'<memory path="{path}"' in ran.json["text"] for path in ran.json["paths"])
    assert ran.json["cut"] == []


@pytest.mark.parametrize("query", ["", "  "])
def test_an_empty_question_is_a_usage_error(
    run: Callable[..., Ran], indexed: str, query: str
) -> None:
    ran = run("recall", "--workspace", indexed, "--query", query)
    assert (ran.code, ran.out) == (2, "")
    assert "the query is empty" in ran.err
