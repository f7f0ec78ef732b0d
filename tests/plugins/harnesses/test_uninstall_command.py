"""The command uninstall where servers of several names are, or none of the name that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace_harnesses.harnesses import HARNESSES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]

HOOKS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
}


def files_in(home: Path) -> dict[str, bytes]:
    """The files of harnesses, by their paths."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.relative_to(home).parts[0][:1] == "."
    }


@pytest.mark.parametrize("harness", HARNESSES)
def test_uninstalling_a_name_that_is_not_there_says_so(
    harness: str, home: Path, commonplace: Run
) -> None:
    missing = "note: nothing is installed under the name memory"
    assert commonplace("uninstall", harness)[2] == f"{missing}\n"
    commonplace("install", harness, "--name", "b")
    before = files_in(home)
    for words in ((), ("--dry-run",)):
        code, out, err = commonplace("uninstall", harness, *words)
        assert (code, f"{missing}; there is: b\n" in err) == (0, True)
        assert ("there is nothing to change" in err) == bool(words)
        assert "---" not in out
    assert files_in(home) == before


@pytest.mark.parametrize("harness", HOOKS)
def test_hooks_stay_while_another_server_has_their_memory(
    harness: str, home: Path, commonplace: Run
) -> None:
    hooks = home / HOOKS[harness]
    commonplace("install", harness, "--name", "a", "--agent", "x")
    commonplace("install", harness, "--name", "b")
    before = hooks.read_bytes()
    assert "note: the hooks stay, for b\n" in commonplace("uninstall", harness, "--name", "a")[2]
    assert hooks.read_bytes() == before
    commonplace("install", harness, "--name", "a", "--agent", "x")  # the hooks are those of a now
    err = commonplace("uninstall", harness, "--name", "a")[2]
    assert "the hooks were those of a; to have hooks, install again one of: b\n" in err
    assert not hooks.exists()
    assert commonplace("uninstall", harness, "--name", "b")[2] == ""
    assert files_in(home) == {}
