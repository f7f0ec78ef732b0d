"""The completion scripts, asked by the shells themselves."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli.commands.completion import bash_script, fish_script, zsh_script
from commonplace.cli.commands.man import Argument, Catalog, CommandFacts, catalog
from commonplace.cli.parser import BUILTIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any

SHELLS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}

has = pytest.mark.parametrize(
    "shell",
    [
        pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"no {name}"))
        for name in SHELLS
        for missing in [not shutil.which(name) and not os.environ.get("COMMONPLACE_REQUIRE_SHELLS")]
    ],
)

_START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
_SETUP = {
    "bash": "PS1=; bind 'set completion-ignore-case off'; bind 'set bell-style none'\n",
    "zsh": "PS1=; unsetopt beep; autoload -Uz compinit; compinit -u -D\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one of each, to complete from."""
    for name in ("notes", "other dir"):
        (tmp_path / "here" / name).mkdir(parents=True)
    for name in ("note.md", "plain.json5"):
        (tmp_path / "here" / name).write_text("x", encoding="utf-8")
    return tmp_path / "here"


class Shell:
    """Types lines into a shell on a terminal and returns the words that were completed."""

    def __init__(self, name: str, folder: Path, facts: Catalog) -> None:
        self.name = name
        self._folder = folder
        self._script = folder.parent / f"completion.{name}"
        self._script.write_text(SHELLS[name](facts), encoding="utf-8")

    def completed(self, line: str) -> list[str]:
        """The words of ``line`` after TAB was pressed at its end, without the program."""
        if self.name == "fish":
            return self._fish(line)
        # The command itself writes its words, and ends the shell: there is nothing to wait for.
        answer = self._folder.parent / "answer"
        setup = (
            f"source {self._script}\ncommonplace() {{ printf '%s\\n' \"$@\" > {answer}; exit; }}\n"
        )
        typed = _SETUP[self.name] + setup + f"{line}\t\ncommonplace none\n"
        self._type(typed)
        return answer.read_text(encoding="utf-8").splitlines()

    def _type(self, typed: str) -> None:
        main, other = pty.openpty()
        env = {"PATH": os.environ["PATH"], "HOME": str(self._folder.parent), "TERM": "dumb"}
        process = subprocess.Popen(
            _START[self.name], stdin=other, stdout=other, stderr=other, env=env, cwd=self._folder,
            start_new_session=True,
        )  # fmt: skip
        os.close(other)
        try:
            os.write(main, typed.encode())
            while True:
                try:
                    if not os.read(main, 4096):
                        break
                except OSError:  # the shell has closed its end
                    break
            process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()
            os.close(main)

    def _fish(self, line: str) -> list[str]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {self._script}; complete -C {line!r}"],
            cwd=self._folder, env={"PATH": os.environ["PATH"], "HOME": str(self._folder.parent)},
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        assert done.stderr == ""
        return [row.partition("\t")[0] for row in done.stdout.splitlines()]


CASES = [
    ("commonplace stat", "status"),
    ("commonplace search --max-r", "--max-results"),
    ("commonplace config sch", "schema"),
    ("commonplace --workspace notes stat", "status"),
    ("commonplace config show --chan", "--changed"),
    ("commonplace completion fi", "fish"),
    ("commonplace recall --format js", "json"),
    ("commonplace recall --format=js", "json"),
    ("commonplace get no", "note.md"),
    ("commonplace status --config pl", "plain.json5"),
    ("commonplace status --workspace no", "notes"),
    ("commonplace search -n 3 --expl", "--explain"),
    ("commonplace help stat", "status"),
    ("commonplace search -- no", "no"),
    ("commonplace recall --budget no", "no"),
]


@pytest.mark.slow
@has
def test_the_shell_itself_completes(shell: str, folder: Path) -> None:
    typing = Shell(shell, folder, catalog(os.environ))
    for line, wanted in CASES:
        found = typing.completed(line)
        if shell == "fish":
            named = [word.rpartition("=")[2].rstrip("/") for word in found]
            assert wanted in named or (wanted == "no" and not found), (line, found)
            if line.startswith("commonplace get"):
                assert set(named) == {"note.md", "notes"}
            elif line.startswith("commonplace status --workspace"):
                assert named == ["notes"]
        elif line == "commonplace get no":
            assert found[-1] == "note", found  # note.md, and the folder notes
        else:
            assert found[-1].rpartition("=")[2].rstrip("/") == wanted, (line, found)


@has
def test_a_script_is_valid(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(SHELLS[shell](catalog(os.environ)), encoding="utf-8")
    subprocess.run([shell, "-n", str(script)], check=True, timeout=60)


@has
def test_what_a_plugin_says_of_its_command_runs_nothing(shell: str, folder: Path) -> None:
    odd = 'it\'s $(touch ran) `touch ran` [a] "b" \\c: d; e'
    arguments = (
        Argument(("--pick",), "X", odd, "choice", ("fine", "$(touch ran)", "`touch ran`")),
        Argument((), "KIND", odd, "choice", ("good",)),
    )
    facts = Catalog((CommandFacts("odd", odd, (), arguments),), ())
    typing = Shell(shell, folder, facts)
    for line, wanted in (
        ("commonplace od", "odd"),
        ("commonplace odd --pick f", "fine"),
        ("commonplace odd go", "good"),
    ):
        assert typing.completed(line)[-1].rpartition("=")[2] == wanted
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_it_is_printed_with_every_command(run: Callable[..., Run], shell: str) -> None:
    ran = run("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    for name in (*BUILTIN, "eval"):
        assert name in ran.out
    for option in ("max-results", "workspace", "version"):
        assert option in ran.out
    assert run("completion", shell, "--json").json == {
        "schemaVersion": 1,
        "shell": shell,
        "script": ran.out,
        "missing": [],
    }


def test_a_plugin_that_does_not_load_is_left_out_with_a_note(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    from commonplace.errors import PluginUnavailableError

    def broken(name: str, _: object) -> None:
        raise PluginUnavailableError(f"{name} does not load", hint="update it")

    monkeypatch.setattr("commonplace.cli.commands.man.plugin_command", broken)
    ran = run("completion", "bash")
    assert ran.code == 0
    assert "note: eval is left out: eval does not load" in ran.err
    assert "'eval " not in ran.out


def test_a_shell_that_is_not_known_is_a_usage_error(run: Callable[..., Run]) -> None:
    ran = run("completion", "tcsh")
    assert ran.code == 2
    assert "choose from" in ran.err
