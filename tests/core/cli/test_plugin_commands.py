"""Commands that an installed plugin brings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace._version import __version__
from commonplace.errors import how_to_install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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


FAULTY = """
import os
from commonplace.plugin import hookimpl

MODE = os.environ.get("MODE", "")


class Odd(BaseException):
    pass


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Faulty:
    name = "faulty"
    summary = "Fail"
    examples = ("commonplace faulty",)

    def __init__(self):
        if MODE == "factory":
            raise RuntimeError("boom")

    def configure(self, parser):
        if MODE == "configure":
            raise RuntimeError("boom")
        if MODE == "clash":
            parser.add_argument("--json")
        if MODE == "percent":
            parser.add_argument("--x", help="100% of it")

    def run(self, args, context):
        if MODE == "run":
            raise RuntimeError("boom")
        if MODE == "odd":
            raise Odd("boom")
        if MODE == "wordless":
            raise Wordless
        if MODE in {"library", "unknown"}:
            __import__("frobnicate" if MODE == "library" else "quuxify")
        if MODE == "exit":
            raise SystemExit(3)
        return {"text": "well", "none": None, "part": 3}.get(MODE, 0)


@hookimpl
def commonplace_register_commands(register):
    register.command("faulty", Faulty, summary="Fail")
"""

METADATA = """Metadata-Version: 2.1
Name: faulty-parts
Version: 2.0
Provides-Extra: fast
Requires-Dist: frobnicate>=1; extra == 'fast'
"""


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """A folder with a distribution installed in it, whose command fails as MODE says."""
    info = tmp_path / "faults" / "faulty_parts-2.0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "faulty_plugin.py").write_text(FAULTY, encoding="utf-8")
    (info / "METADATA").write_text(METADATA, encoding="utf-8")
    (info / "entry_points.txt").write_text("[commonplace]\ncommand.faulty = faulty_plugin\n")
    return str(info.parent)


@pytest.fixture
def failing(
    faulty: str, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Run]]:
    """Runs a command line where that command fails as the mode says, in this process."""
    monkeypatch.syspath_prepend(faulty)

    def failing(mode: str, *argv: str) -> Run:
        monkeypatch.setenv("MODE", mode)
        sys.modules.pop("faulty_plugin", None)
        return run(*argv)

    yield failing
    sys.modules.pop("faulty_plugin", None)


@pytest.mark.parametrize(
    ("mode", "argv", "words"),
    [
        ("factory", ("faulty",), "RuntimeError: boom"),
        ("configure", ("faulty",), "RuntimeError: boom"),
        ("clash", ("faulty",), "conflicting option string: --json"),
        ("percent", ("faulty", "--help"), "Error: "),
        ("run", ("faulty",), "RuntimeError: boom"),
        ("odd", ("faulty",), "Odd: boom"),
        ("wordless", ("faulty",), "Wordless"),
        ("text", ("faulty",), "TypeError: it ended with 'well', which is no exit code"),
    ],
)
def test_a_fault_of_its_own_is_named_as_the_plugins(
    failing: Callable[..., Run], mode: str, argv: tuple[str, ...], words: str
) -> None:
    ran = failing(mode, *argv)
    assert ran.code == 1
    first, fix = ran.err.splitlines()
    start = "commonplace: command 'faulty' of faulty_plugin (faulty-parts 2.0) failed: "
    assert first.startswith(start)
    assert words in first
    assert fix.startswith("  fix: this is a bug in faulty-parts: run it again with COMMONPLACE_DEB")


def test_a_library_that_it_lacks_is_named_with_the_extra(failing: Callable[..., Run]) -> None:
    ran = failing("library", "faulty")
    assert ran.code == 1
    assert "No module named 'frobnicate'" in ran.err
    assert f"  fix: {how_to_install('faulty-parts[fast]')}\n" in ran.err
    ran = failing("unknown", "--json", "faulty")
    assert ran.json["error"]["hint"] == "install quuxify, which faulty-parts needs"


@pytest.mark.parametrize(("mode", "code"), [("none", 0), ("", 0), ("part", 3), ("exit", 3)])
def test_how_it_ends_is_the_exit_code(
    process: Callable[..., Run], faulty: str, mode: str, code: int
) -> None:
    ran = process("faulty", PYTHONPATH=faulty, MODE=mode)
    assert (ran.code, ran.out, ran.err) == (code, "", "")


def test_a_traceback_of_it_is_for_those_who_ask(process: Callable[..., Run], faulty: str) -> None:
    ran = process("faulty", PYTHONPATH=faulty, MODE="run", COMMONPLACE_DEBUG="1")
    assert 'raise RuntimeError("boom")' in ran.err


@pytest.mark.parametrize("mode", ["clash", "configure", "factory"])
def test_completion_leaves_out_one_that_fails(failing: Callable[..., Run], mode: str) -> None:
    ran = failing(mode, "completion", "bash")
    assert ran.code == 0
    assert "note: faulty is left out: command 'faulty' of faulty_plugin (faulty-" in ran.err


def offer(folder: Path, distribution: str, *entries: str) -> None:
    """Install a distribution with these entry points of the module with the command `hello`."""
    info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    module = f"{distribution.replace('-', '_')}_plugin"
    (folder / f"{module}.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = "".join(f"{entry} = {module}\n" for entry in entries)
    (info / "entry_points.txt").write_text(f"[commonplace]\n{lines}")


def test_one_that_needs_another_api_is_no_unknown_command(
    process: Callable[..., Run], tmp_path: Path
) -> None:
    offer(tmp_path / "site", "new-parts", "api.9.0", "command.hello")
    why = f"it needs version 9.0 of the plugin API, and commonplace {__version__} offers "
    ran = process("hello", "Ines", PYTHONPATH=str(tmp_path / "site"))
    assert ran.code == 1
    assert f"command 'hello' of new-parts 1.0 failed to load: {why}" in ran.err
    assert "fix: update commonplace, or install an older new-parts\n" in ran.err
    listed = process("--help", PYTHONPATH=str(tmp_path / "site")).out
    assert (
        f"hello       (does not load: command 'hello' of new-parts 1.0 failed to load: {why}"
        in (listed)
    )


def test_one_of_the_name_of_a_command_of_core_is_failed(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path / "site", "acme-shad", "command.search")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    ran = run("plugins", "--no-probe", "--json")
    assert ran.code == 1
    (found,) = [info for info in ran.json["plugins"] if info["name"] == "command.search"]
    assert (found["state"], found["distribution"]) == ("failed", "acme-shad")
    assert "'search' is a command of core" in found["error"]
    listed = run("--help").out
    assert "search      (does not load: command 'search' of acme-shad 1.0 failed" in listed


def test_one_that_two_distributions_offer_is_no_unknown_command(
    process: Callable[..., Run], tmp_path: Path
) -> None:
    for name in ("one-parts", "two-parts"):
        offer(tmp_path / "site", name, "command.hello")
    site = str(tmp_path / "site")
    ran = process("hello", "Ines", PYTHONPATH=site)
    assert ran.code == 1
    assert "command.hello is offered by " in ran.err
    assert all(name in ran.err for name in ("one-parts 1.0", "two-parts 1.0"))
    assert "hello       (does not load: command.hello is" in process("--help", PYTHONPATH=site).out
    ran = process("hello", "Ines", PYTHONPATH=site, COMMONPLACE_DISABLE_PLUGINS="two-parts")
    assert (ran.code, ran.out) == (0, "Hello Ines, main here.\n")


def test_one_of_the_name_of_a_builtin_plugin_harms_nothing(
    run: Callable[..., Run], workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("backend.builtin", "source.memory", "chunker.markdown", "ranker.evidence")
    offer(tmp_path / "site", "acme-shad", *names)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = run("search", "--json", "--workspace", workspace, "staging port")
    assert (found.code, found.json["notes"]) == (0, [])
    assert found.json["results"]
    ran = run("doctor", "--workspace", workspace)
    for name in names:
        assert f"{name} is built in, and its id cannot be taken: choose another one" in ran.out
    assert "switch it off: COMMONPLACE_DISABLE_PLUGINS=acme-shad\n" in ran.out


TALKATIVE = """\
from commonplace.plugin import hookimpl

print("imported")


@hookimpl
def commonplace_rewrite_query(query):
    print("asked for", query)
"""


def test_what_a_plugin_prints_is_no_part_of_the_result(
    run: Callable[..., Run], workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path / "site", "acme-talk", "query.talk")
    (tmp_path / "site" / "acme_talk_plugin.py").write_text(TALKATIVE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    ran = run("search", "--json", "--workspace", workspace, "staging port")
    assert ran.json["results"]
    assert "imported\nasked for staging port\n" in ran.err
