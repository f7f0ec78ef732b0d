"""The command line as a process: exit codes, streams, terminals, and what is imported."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli import main
from commonplace.cli.commands.search import SearchCommand

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any


def _fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(*_: object) -> int:
        raise error

    monkeypatch.setattr(SearchCommand, "run", run)


def test_an_interruption_is_one_line_and_130(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    _fail_with(monkeypatch, KeyboardInterrupt())
    ran = run("search", "x")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.strip().startswith("commonplace: interrupted")
    assert ran.err.strip().count("\n") == 0


def test_an_interruption_of_the_start_is_one_line_and_130(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--version")
    module = "commonplace.cli.streams"

    class Interrupting:
        def find_spec(self, name: str, *_: object) -> None:
            if name == module:
                monkeypatch.setitem(sys.modules, module, streams)
                raise KeyboardInterrupt

    streams = sys.modules[module]
    monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    ran = run("search", "x")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.strip().startswith("commonplace: interrupted")


def test_an_interruption_is_an_object_where_json_is_wanted(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    _fail_with(monkeypatch, KeyboardInterrupt())
    ran = run("search", "x", "--json")
    assert (ran.code, ran.err) == (130, "")
    assert ran.json["error"]["type"] == "Interrupted"
    assert "nothing is lost" in ran.json["error"]["message"]


def test_a_bug_is_one_line_and_the_way_to_its_traceback(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    _fail_with(monkeypatch, ZeroDivisionError("division by zero"))
    ran = run("search", "x")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        "commonplace: this is a bug in commonplace: ZeroDivisionError: division by zero",
        "  fix: run it again with COMMONPLACE_DEBUG=1 for the traceback to report",
    ]
    assert run("search", "x", "--json").json["error"]["type"] == "ZeroDivisionError"
    monkeypatch.setenv("COMMONPLACE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["search", "x"])


def test_trouble_with_a_file_is_named_in_words(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    _fail_with(monkeypatch, OSError(errno.ENOSPC, "No space left on device", "/full/index"))
    ran = run("search", "x")
    assert ran.code == 1
    assert ran.err == "commonplace: /full/index: No space left on device\n"


def test_a_configuration_error_shows_every_fault(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "bad.json5"
    config.write_text(
        '{ memory: { backnd: "x" },\n agents: { defaults: { memorySearch: { enabled: 3 } } } }',
        encoding="utf-8",
    )
    argv = ("search", "x", "--workspace", workspace, "--config", str(config))
    ran = run(*argv)
    assert (ran.code, ran.out) == (2, "")
    assert f"{config}:1" in ran.err
    assert f"{config}:2" in ran.err
    error = run(*argv, "--json").json["error"]
    assert error["type"] == "ConfigError"
    assert [problem["line"] for problem in error["problems"]] == [1, 2]


def test_a_pipe_that_is_closed_early_is_quiet(process: Callable[..., Run], indexed: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "commonplace", "get", "--workspace", indexed, "MEMORY.md"],
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_process_answers_as_main_does(process: Callable[..., Run], indexed: str) -> None:
    ran = process("search", "--workspace", indexed, "--json", "workshop bakery")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["results"][0]["path"] == "MEMORY.md"
    assert process("serach").code == 2
    assert process("get", "--workspace", indexed, "memory/none.md").code == 1


def test_a_name_that_the_terminal_cannot_show_does_not_end_the_program(
    process: Callable[..., Run], indexed: str
) -> None:
    env = {"PYTHONIOENCODING": "ascii"}
    ran = process("search", "--workspace", indexed, "传感器的交货期", **env)
    assert ran.code == 0
    assert "\\u4f20" in ran.out
    as_json = process("search", "--workspace", indexed, "传感器的交货期", "--json", **env)
    assert "交货期" in as_json.json["results"][0]["snippet"]


# A search may import what it uses and nothing else: each of these costs milliseconds.
HEAVY = (
    "asyncio",
    "cattrs",
    "concurrent.futures",
    "dataclasses",
    "decimal",
    "difflib",
    "filelock",
    "httpx",
    "importlib.metadata",
    "json",
    "logging",
    "numpy",
    "pathlib",
    "platformdirs",
    "pyjson5",
    "rich",
    "shutil",
    "sqlite3",
    "subprocess",
    "tempfile",
)


def test_a_search_imports_only_what_it_uses(home: Path, indexed: str) -> None:
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from commonplace.cli import main\n"
        f"assert main(['search', '--workspace', {indexed!r}, 'workshop bakery']) == 0\n"
        f"print(sorted(set({HEAVY!r}) & (set(sys.modules) - before)), file=sys.stderr)\n"
    )
    for _ in range(2):  # the first process may write the list of plugins down
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
        )
    assert done.stderr == "[]\n"
    assert "MEMORY.md" in done.stdout


# --- terminals ----------------------------------------------------------------------------------

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")


def _on_a_terminal(*argv: str, **env: str) -> str:
    """What the command line writes to a terminal."""
    leader, follower = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", *argv],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "COLUMNS": "70", **env},
    ) as child:
        os.close(follower)
        parts = []
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:  # Linux: the other end is gone
                part = b""
            if not part:
                break
            parts.append(part)
        assert child.wait() == 0
    os.close(leader)
    return b"".join(parts).decode()


def test_matches_are_highlighted_on_a_terminal(indexed: str) -> None:
    shown = _on_a_terminal("search", "--workspace", indexed, "workshop bakery")
    assert "\x1b[36mMEMORY.md\x1b[0m#L" in shown
    assert "\x1b[1;33mworkshop\x1b[0m" in shown
    assert "Rules learned the hard way" in shown


def test_citations_open_the_editor(indexed: str) -> None:
    argv = ("search", "--workspace", indexed, "workshop bakery", "-n", "1")
    shown = _on_a_terminal(*argv, VISUAL="/usr/bin/code --wait", SSH_CONNECTION="")
    link = re.search(
        r"\x1b\]8;;([^\x1b]*)\x1b\\\x1b\[36mMEMORY.md\x1b\[0m#L(\d+)-L\d+\x1b\]8;;", shown
    )
    assert link is not None
    assert link[1] == f"vscode://file{indexed}/MEMORY.md:{link[2]}"
    for env in ({"TERM": "dumb"}, {"TERM": "linux"}, {"NO_COLOR": "1"}):
        assert "]8;;" not in _on_a_terminal(*argv, **env)
    for form in ("plain", "md"):
        assert "\x1b" not in _on_a_terminal(*argv, "--format", form)


@pytest.mark.parametrize("columns", [40, 120])
def test_doctor_and_plugins_wrap_to_the_terminal(indexed: str, columns: int) -> None:
    place = os.path.join(indexed, "memory", "new.md")
    os.symlink("/etc/hostname", place)
    for command in (("doctor", "--workspace", indexed, "--verbose"), ("plugins",)):
        shown = _on_a_terminal(*command, COLUMNS=str(columns), NO_COLOR="1")
        lines = shown.rpartition("\x1b[K")[2].split("\r\n")
        assert max(map(len, lines)) <= columns
        assert len(lines) > 20


@pytest.mark.slow
def test_a_demo_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored beneath nohup
        "from commonplace.memory import Memory\n"
        "def search(*_, **__):\n"
        "    sys.__stdout__.write(f\"{len(os.listdir(os.environ['TMPDIR']))}\\n\")\n"
        "    sys.__stdout__.flush()\n"
        "    os.kill(os.getpid(), getattr(signal, sys.argv[1]))\n"
        "    signal.pause()\n"
        "Memory.search = search\n"
        "from commonplace.cli import main\n"
        "raise SystemExit(main(['demo']))\n"
    )
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            capture_output=True,
            check=False,
            encoding="utf-8",
            env={**os.environ, "TMPDIR": str(place)},
        )
        assert (done.returncode, done.stdout) == (130, "1\n")
        assert list(place.iterdir()) == []


def test_no_color_is_respected(indexed: str) -> None:
    shown = _on_a_terminal("search", "--workspace", indexed, "workshop bakery", NO_COLOR="1")
    assert "\x1b" not in shown
    assert shown.startswith("1. MEMORY.md#L")


def test_long_work_is_shown_on_a_terminal_and_wiped_away(indexed: str) -> None:
    shown = _on_a_terminal("status", "--workspace", indexed, "--deep", NO_COLOR="1")
    assert "\rChecking the index ..." in shown
    assert "\r\x1b[KMemory of main" in shown


def test_get_disarms_control_characters_on_a_terminal_only(
    run: Callable[..., Run], workspace: str
) -> None:
    with open(os.path.join(workspace, "memory", "evil.md"), "w", encoding="utf-8") as note:
        note.write("before\x1b]0;title\x07after\n")
    argv = ("get", "--workspace", workspace, "memory/evil.md")
    assert "\x1b" not in _on_a_terminal(*argv)
    assert run(*argv).out == "before\x1b]0;title\x07after\n"


def test_words_of_any_language_are_searched_for_in_the_locale_c(
    process: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    (tmp_path / "workspace" / "memory" / "sensor.md").write_text("传感器 is new.\n", "utf-8")
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ran = process("search", "传感器", "--workspace", workspace, **plain)
    assert (ran.code, ran.out.count("sensor.md")) == (0, 1)
    ran = process("remember", "湿度 is high.", "--workspace", workspace, **plain)
    assert ran.code == 0, ran.err
    assert "memory/" in process("search", "湿度", "--workspace", workspace).out
