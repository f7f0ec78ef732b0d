"""Commands that an installed plugin brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any

PLUGIN = """
from commonplace.plugin import hookimpl


class Hello:
    name = "hello"
    summary = "Greet a person"
    examples = ("commonplace hello Ines",)

    def configure(self, parser):
        parser.add_argument("who")

    def run(self, args, context):
        if context.json:
            context.emit({"hello": args.who})
        else:
            context.line(f"Hello {args.who}, {context.agent or 'main'} here.")
        return 0


@hookimpl
def commonplace_register_commands(register):
    register.command("hello", Hello, summary="Greet a person")
"""


@pytest.fixture
def site(tmp_path: Path) -> str:
    """A folder with two distributions installed in it: one that works and one that does not."""
    for name, source in (("hello", PLUGIN), ("broken", "import a_module_that_is_not_there")):
        (tmp_path / "site" / f"{name}-1.0.dist-info").mkdir(parents=True)
        info = tmp_path / "site" / f"{name}-1.0.dist-info"
        (tmp_path / "site" / f"{name}_plugin.py").write_text(source, encoding="utf-8")
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(
            f"[commonplace]\ncommand.{name} = {name}_plugin\n", encoding="utf-8"
        )
    return str(tmp_path / "site")


def test_it_runs_like_our_own(process: Callable[..., Run], site: str) -> None:
    ran = process("hello", "Ines", "--agent", "pip", PYTHONPATH=site)
    assert (ran.code, ran.out, ran.err) == (0, "Hello Ines, pip here.\n", "")
    assert process("--json", "hello", "Ines", PYTHONPATH=site).json == {
        "schemaVersion": 1,
        "hello": "Ines",
    }
    assert "commonplace hello Ines" in process("hello", "--help", PYTHONPATH=site).out


def test_help_lists_it_and_says_which_do_not_load(process: Callable[..., Run], site: str) -> None:
    ran = process("--help", PYTHONPATH=site)
    assert ran.code == 0
    theirs = ran.out.partition("commands of plugins:")[2].splitlines()
    assert ["hello", "Greet", "a", "person"] in [line.split() for line in theirs]
    assert any(line.split()[:4] == ["broken", "(does", "not", "load:"] for line in theirs)


@pytest.mark.slow
def test_one_that_does_not_load_hurts_only_those_who_ask_for_it(
    process: Callable[..., Run], site: str, indexed: str
) -> None:
    ran = process("broken", PYTHONPATH=site)
    assert ran.code == 1
    assert "a_module_that_is_not_there" in ran.err
    assert "Traceback" not in ran.err
    assert process("search", "--workspace", indexed, "spare key", PYTHONPATH=site).code == 0
    listed = process("plugins", PYTHONPATH=site)
    assert listed.code == 1
    doctor = process("doctor", "--workspace", indexed, PYTHONPATH=site)
    assert doctor.code == 0
    assert doctor.out.count("plugin command.broken of broken 1.0 failed: ") == 1


def test_it_is_suggested_for_a_slip(process: Callable[..., Run], site: str) -> None:
    ran = process("helo", PYTHONPATH=site)
    assert ran.code == 2
    assert "did you mean commonplace hello?" in ran.err


HOOKS = """
from commonplace.plugin import hookimpl

@hookimpl
def commonplace_before_write(path):
    raise ValueError("no judge")

@hookimpl
def commonplace_prompt_section(agent):
    return 42
"""


@pytest.mark.parametrize(
    ("kind", "command", "why"),
    [
        ("write", ("remember", "Mia drinks tea"), "commonplace_before_write of hooks (hooks 1.0)"),
        ("prompt", ("recall",), "commonplace_prompt_section of hooks (hooks 1.0)"),
    ],
)
def test_a_hook_that_fails_is_named_on_standard_error(
    process: Callable[..., Run], tmp_path: Path, kind: str, command: tuple[str, ...], why: str
) -> None:
    info = tmp_path / "site" / "hooks-1.0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "hooks.py").write_text(HOOKS, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hooks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[commonplace]\n{kind}.odd = hooks\n")
    (tmp_path / "MEMORY.md").write_text("An ant.\n")
    site = str(tmp_path / "site")
    ran = process(*command, "--workspace", str(tmp_path), PYTHONPATH=site)
    assert ran.code == 0
    assert ran.err.count(f"the hook {why} failed: ") == 1


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(
    ("kind", "command"), [("write", ("remember", "Mia drinks tea")), ("prompt", ("recall",))]
)
def test_a_hook_that_cannot_be_imported_is_named_on_standard_error(
    process: Callable[..., Run],
    tmp_path: Path,
    kind: str,
    command: tuple[str, ...],
    form: tuple[str, ...],
) -> None:
    info = tmp_path / "site" / "hooks-1.0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "hooks.py").write_text("raise ImportError('no judge here')")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hooks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[commonplace]\n{kind}.odd = hooks\n")
    (tmp_path / "MEMORY.md").write_text("An ant.\n")
    site = str(tmp_path / "site")
    why = f"plugin {kind}.odd of hooks 1.0 failed: ImportError: no judge here"
    ran = process(*command, *form, "--workspace", str(tmp_path), PYTHONPATH=site)
    assert ran.code == 0
    assert ran.err.count(why) == 1
    assert not (form and kind == "write") or why in ran.out
    status = process("status", "--workspace", str(tmp_path), PYTHONPATH=site)
    assert status.out.count(why) == 1
