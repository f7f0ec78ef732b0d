"""No command line that can be typed ends in a traceback, or in words about a bug."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from tests.faults.command_lines import fault_of, home, lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.core.cli.conftest import Ran


@pytest.mark.parametrize("number", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_generated_command_lines_end_in_errors_for_their_user(number: int, tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    with home(tmp_path / "user"):
        found = {shlex.join(argv): fault for argv in lines(number, 1) if (fault := fault_of(argv))}
    assert found == {}


@pytest.mark.parametrize("command", ["index", "status", "list", "recent", "doctor"])
def test_an_empty_argument_is_explained(command: str, run: Callable[..., Ran]) -> None:
    ran = run(command, "")
    assert ran.code == 2
    assert "unrecognized arguments" in ran.err
    assert f"fix: commonplace {command} --help" in ran.err
