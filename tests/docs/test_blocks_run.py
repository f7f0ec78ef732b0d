"""Every command and every piece of Python in the documentation runs, or says why it does not.

The blocks of a page run in order, each as a process of its own, in one home with the sample notes
in ``~/notes``, which is the current folder. A comment before a block, which readers do not see,
says what is special about it:

``<!-- not run: REASON -->``: the block is not run.
``<!-- not run: `LINE`: REASON -->``: that line of it is not run.
``<!-- exits 1: `LINE` -->``: that line has to exit with 1.
``<!-- run first: COMMAND -->``: what the reader has done already.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
    *sorted((ROOT / "integrations").glob("*/README.md")),
]
# Pages whose blocks need more than a home; the tests that run them.
ELSEWHERE = {
    "docs/hooks": "tests/docs/test_hook_pages.py",
    "docs/sdks.md": "tests/plugins/adapters/test_sdks_page.py",
    "docs/write-a-plugin.md": "tests/docs/test_write_a_plugin.py",
}
COMMANDS = {"console", "sh"}
DATA = {"", "ini", "json", "json5", "markdown", "text", "toml"}
BLOCK = re.compile(
    r"((?:^<!-- .*? -->\n)*)(?:^`([\w/.-]+\.py)`:\n\n)?^```(\w*)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(
    r"^<!-- (not run|exits (\d+)|run first): (?:`([^`]+)`(?:: )?)?(.*?) -->$", re.MULTILINE
)
# All that a block can call, beside what bash has itself: whatever would change the machine (pip,
# npm, systemctl ...) is not found, so that a block that names it fails until it is marked.
PROGRAMS = ("cat", "mkdir")
TIMEOUT = 300.0


class Block(NamedTuple):
    """A fenced block: its lines, and what the comments before it say."""

    language: str
    name: str
    lines: list[str]
    reason: str
    left_out: set[str]
    exits: dict[str, int]
    before: list[str]

    def script(self) -> str:
        """The commands for bash."""
        parts = list(self.before)
        for line in self.lines:
            if self.language == "console":
                if not line.startswith("$ "):
                    continue
                line = line.removeprefix("$ ")  # noqa: PLW2901
            if line in self.left_out:
                continue
            if code := self.exits.get(line):
                parts.append(f"code=0; {{ {line}\n}} || code=$?; test $code -eq {code}")
            else:
                parts.append(line)
        return "\n".join(parts)


def blocks(text: str) -> Iterator[Block]:
    for comments, name, language, body in BLOCK.findall(text):
        reason, left_out, exits, before = "", set(), {}, []
        for mark, code, line, words in MARK.findall(comments):
            if mark == "run first":
                before.append(words)
            elif mark == "not run" and line:
                assert words, f"no reason: {line}"
                left_out.add(line)
            elif mark == "not run":
                reason = words
            else:
                exits[line] = int(code)
        yield Block(language, name, body.splitlines(), reason, left_out, exits, before)


def elsewhere(page: Path) -> bool:
    return any(page.is_relative_to(ROOT / place) for place in ELSEWHERE)


def to_run(page: Path) -> list[Block]:
    found = blocks(page.read_text(encoding="utf-8"))
    return [one for one in found if one.language not in DATA and not one.reason]


TO_RUN = [page for page in PAGES if not elsewhere(page) and to_run(page)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the sample notes, and a folder with the only programs that blocks can call."""
    copy_workspace(str(tmp_path / "notes"))
    programs = tmp_path / ".programs"
    programs.mkdir()
    ours = {
        "commonplace": f'exec "{sys.executable}" -m commonplace "$@"',
        "python": f'exec "{sys.executable}" "$@"',
    }
    for name, line in ours.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    for name in PROGRAMS:
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    return tmp_path


def run(block: Block, home: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("LANG", "PYTHONPATH") if name in os.environ}
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    env = kept | nowhere | {"HOME": str(home), "PATH": str(home / ".programs"), "PIP_NO_INDEX": "1"}
    if block.language == "python":
        if block.name:
            (home / "notes" / block.name).write_text("\n".join(block.lines) + "\n", "utf-8")
        command, given = [sys.executable, "-W", "error", "-"], "\n".join(block.lines)
        env["PYTHONPATH"] = os.pathsep.join([str(home / "notes"), kept.get("PYTHONPATH", "")])
    else:
        bash = shutil.which("bash") or pytest.skip("needs bash")
        command, given = [bash, "-exuo", "pipefail", "-c", block.script()], ""
    with subprocess.Popen(
        command,
        cwd=home / "notes",
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(given, timeout=TIMEOUT)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and what it left in the background
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.slow
@pytest.mark.parametrize("page", TO_RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run(page: Path, home: Path) -> None:
    for block in to_run(page):
        done = run(block, home)
        shown = "\n".join(block.lines)
        assert done.returncode == 0, f"{shown}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_pages_run_elsewhere_have_their_test() -> None:
    assert [test for test in ELSEWHERE.values() if not (ROOT / test).is_file()] == []


def test_marks_stand_before_a_block_and_name_its_lines() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = list(blocks(text))
        languages = {one.language for one in found} - DATA - COMMANDS - {"python"}
        assert languages == set(), f"{page}: nothing runs such blocks"
        before = "".join(comments for comments, *_ in BLOCK.findall(text))
        assert MARK.findall(text) == MARK.findall(before), f"{page}: a mark before no block"
        for one in found:
            lines = {line.removeprefix("$ ") for line in one.lines}
            assert one.left_out | set(one.exits) <= lines, f"{page}: a mark names no line"


def test_a_failing_block_is_noticed(home: Path) -> None:
    page = (
        "<!-- exits 3: `exit_with 3` -->\n<!-- not run: `false`: it would fail -->\n"
        "<!-- run first: exit_with() { return $1; } -->\n"
        "```console\n$ exit_with 3\nshown\n$ false\n```\n\n"
        "```sh\nfalse\ntrue\n```\n\n```python\nraise SystemExit(2)\n```\n\n"
        "<!-- not run: a reason -->\n```sh\nfalse\n```\n"
    )
    found = list(blocks(page))
    assert [run(one, home).returncode for one in found[:3]] == [0, 1, 2]
    assert found[3].reason == "a reason"
    assert run(found[0]._replace(exits={"exit_with 3": 4}), home).returncode == 1


def test_a_block_cannot_call_what_changes_the_machine(home: Path) -> None:
    for program in ("npm", "pip", "qmd", "systemctl", "claude"):
        (block,) = blocks(f"```sh\n{program} --version\n```\n")
        assert run(block, home).returncode == 127
