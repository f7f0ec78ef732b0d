"""``commonplace plugins new`` and ``plugins check``: plugins to begin with, held to the laws."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import commonplace
from commonplace.cli.commands import authoring
from commonplace.host.discovery import CALLED, KINDS
from commonplace.plugin import API_VERSION, Registration
from commonplace.sample import PLUGINS, UNCHECKED, write_plugin
from commonplace.testing.check import NotCheckableError, suite_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.cli.conftest import Ran

SKIPPED_LAW = "selecting changes no score"


def distribution(kind: str, folder: Path) -> Path:
    """A distribution of ``kind``, as ``plugins new`` writes it."""
    made = folder / f"commonplace-my-{kind}"
    write_plugin(kind, f"my-{kind}", str(made), api=API_VERSION)
    return made


# --- new --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PLUGINS)
def test_a_new_plugin_is_a_whole_distribution(
    kind: str, run: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = run("plugins", "new", kind, "night_owl", "--dir", str(tmp_path), "--json")
    assert (ran.code, ran.err) == (0, "")
    folder = tmp_path / "commonplace-night-owl"
    assert ran.json["folder"] == str(folder)
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert files == set(ran.json["files"])
    assert "commonplace_night_owl/py.typed" in files
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in files}
    assert [name for name, text in texts.items() if re.search("example[-_]", text)] == []
    for name, text in texts.items():
        if name.endswith(".py"):
            compile(text, name, "exec")
            assert len(text.splitlines()) < 200
    project: dict[str, Any] = tomllib.loads(texts["pyproject.toml"])["project"]
    assert project["name"] == "commonplace-night-owl"
    plugin = f"{PLUGINS[kind][0]}.night_owl"
    assert plugin == ran.json["plugin"]
    assert project["entry-points"]["commonplace"] == {
        f"api.{API_VERSION}": "commonplace_night_owl",
        plugin: "commonplace_night_owl",
    }
    check = f"commonplace plugins check {plugin}"
    steps = texts["README.md"].partition("\npytest\n")[2].partition("```")[0]
    assert steps == ("" if kind in UNCHECKED else f"{check}\n")
    assert (check in ran.json["next"]) is (kind not in UNCHECKED)


def test_a_check_is_suggested_for_the_kinds_that_have_laws() -> None:
    registration = Registration("x", summary="x", factory=SimpleNamespace)
    refused = set()
    for kind in set(PLUGINS) - {"provider", "source"}:  # those make one to see what it can do
        role = {"backend": "store", "engine": "manager"}.get(kind, kind)
        try:
            suite_of(role, registration)
        except NotCheckableError:
            refused.add(kind)
    assert refused == UNCHECKED
    assert suite_of("ranker", registration).registered_as == "x"


def test_there_is_one_to_begin_with_for_every_kind_that_registers() -> None:
    assert {kind for kind, *_ in PLUGINS.values()} == set(KINDS)
    assert set(PLUGINS).isdisjoint(CALLED)


def test_it_says_what_to_do_next(run: Callable[..., Ran], home: Path) -> None:
    ran = run("plugins", "new", "ranker", "commonplace-owls")
    assert ran.code == 0
    assert (home / "commonplace-owls" / "commonplace_owls" / "__init__.py").is_file()
    steps = ran.out.partition("next:\n")[2]
    assert "cd commonplace-owls\n" in steps
    assert f'{sys.executable} -m pip install -e ".[test]"\n' in steps
    assert "commonplace plugins check ranker.owls\n" in steps


@pytest.mark.parametrize(
    ("words", "code", "error", "fix"),
    [
        (("new",), 2, "takes a kind and a name", "commonplace plugins new ranker"),
        (("new", "ranker"), 2, "takes a kind and a name", "commonplace plugins new ranker"),
        (("new", "rankr", "x"), 2, "no kind of plugin named 'rankr'", "did you mean ranker?"),
        (("new", "ranker", "Short"), 2, "'Short' is no name", "lower-case letters"),
        (("new", "ranker", "../up"), 2, "'../up' is no name", "lower-case letters"),
        (("new", "ranker", "9lives"), 2, "'9lives' is no name", "lower-case letters"),
        (("new", "ranker", "x" * 41), 2, "is no name", "lower-case letters"),
        (("new", "ranker", "mmr"), 1, "there is a ranker 'mmr' already", "another name"),
        (("new", "command", "search"), 1, "there is a command 'search' already", "another name"),
        (("check",), 2, "takes the id of a plugin", "commonplace plugins check ranker"),
        (("check", "a", "b"), 2, "takes the id of a plugin", "commonplace plugins check ranker"),
        (("check", "mnr"), 1, "there is no plugin 'mnr'", "did you mean mmr?"),
        (("check", "qqqqqqq"), 1, "there is no plugin 'qqqqqqq'", "commonplace plugins lists"),
        (("check", "ranker.mnr"), 1, "there is no plugin 'ranker.mnr'", "did you mean mmr?"),
        (("check", "ranker.nope"), 1, "there is no plugin 'ranker.nope'", "commonplace plugins"),
        (("check", "sessions"), 1, "several plugins are named", "source.sessions"),
        (("check", "rank.mmr"), 1, "no kind of plugin named 'rank'", "plugins check ranker"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else "",
)
def test_a_mistake_is_explained(
    words: tuple[str, ...], code: int, error: str, fix: str, run: Callable[..., Ran]
) -> None:
    ran = run("plugins", *words)
    assert ran.code == code
    assert error in ran.err
    assert fix in ran.err


def test_nothing_is_written_over(run: Callable[..., Ran], home: Path) -> None:
    (home / "commonplace-owls").mkdir()
    (home / "commonplace-owls" / "mine.py").write_text("mine")
    ran = run("plugins", "new", "ranker", "owls")
    assert ran.code == 1
    assert "exists and is not empty" in ran.err
    assert os.listdir(home / "commonplace-owls") == ["mine.py"]
    (home / "file").write_text("mine")
    ran = run("plugins", "new", "ranker", "owls", "--dir", "file")
    assert ran.code == 1
    assert "fix: choose another folder by --dir" in ran.err


# --- check ------------------------------------------------------------------------------------


def test_without_the_libraries_of_tests_it_says_what_to_install(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authoring, "find_spec", lambda _: None)
    ran = run("plugins", "check", "ranker.mmr")
    assert ran.code == 1
    assert "the conformance tests need pytest" in ran.err
    assert "commonplace[testing]" in ran.err


def messages(*found: dict[str, Any]) -> Callable[..., Any]:
    return lambda *_: iter(found)


def law(name: str, result: str, reason: str = "") -> dict[str, Any]:
    return {"law": name, "meaning": "", "result": result, "seconds": 0.5, "reason": reason}


def test_laws_are_listed_with_result_and_time(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        {"total": 3},
        law("one", "passed"),
        law("two", "failed", "why"),
        law("three", "skipped"),
    ]
    monkeypatch.setattr(authoring, "_messages", messages(*found))
    ran = run("plugins", "check", "mmr")
    assert ran.code == 1
    assert "passed     0.50 s  one\n" in ran.out
    assert "failed     0.50 s  two\n" in ran.out
    assert "failed: two\n" in ran.out
    assert "  why\n" in ran.out
    assert ran.out.endswith("1 passed, 1 failed, 1 skipped\n")
    as_json = run("plugins", "check", "mmr", "--json")
    assert (as_json.code, as_json.json["passed"]) == (1, False)
    assert as_json.json["laws"] == found[1:]


def test_tests_that_end_early_are_no_success(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authoring, "_messages", messages({"total": 2}, law("one", "passed")))
    ran = run("plugins", "check", "mmr")
    assert ran.code == 1
    assert "ended early: 1 of 2 laws were tried" in ran.err


@pytest.mark.parametrize(
    ("plugin", "words"),
    [("provider.openai", "may use the network"), ("command.eval", "no conformance tests for a")],
    ids=["remote", "command"],
)
def test_what_cannot_be_checked_says_why(plugin: str, words: str, run: Callable[..., Ran]) -> None:
    ran = run("plugins", "check", plugin)
    assert ran.code == 1
    assert words in ran.err
    assert "fix: " in ran.err


@pytest.mark.slow
def test_one_that_does_not_load_is_no_plugin_without_laws(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "newer-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: newer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[commonplace]\napi.99.0 = m\nranker.newer = m\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = run("plugins", "check", "newer")
    assert ran.code == 1
    assert "it needs version 99.0 of the plugin API" in ran.err
    assert "fix: update commonplace" in ran.err


@pytest.mark.slow
def test_one_that_cannot_be_made_says_why(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "unmade-1.0.dist-info"
    info.mkdir()
    (tmp_path / "unmade_plugin.py").write_text(
        "from commonplace.plugin import hookimpl\n"
        "@hookimpl\n"
        "def commonplace_register_providers(register):\n"
        "    register.provider('unmade', lambda context: 1 / 0, summary='unmade')\n"
    )
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: unmade\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[commonplace]\nprovider.unmade = unmade_plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = run("plugins", "check", "provider.unmade")
    assert ran.code == 1
    assert "provider 'unmade' could not be made: ZeroDivisionError: division by zero" in ran.err


@pytest.mark.slow
def test_a_builtin_plugin_is_checked(run: Callable[..., Ran]) -> None:
    ran = run("plugins", "check", "ranker.mmr", "--json")
    assert (ran.code, ran.json["passed"]) == (0, True)
    results = {law["law"]: law["result"] for law in ran.json["laws"]}
    assert len(results) > 10
    assert set(results.values()) == {"passed", "skipped"}
    assert results[SKIPPED_LAW] == "passed"
    assert all(law["meaning"] for law in ran.json["laws"])


# --- all kinds, installed ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a distribution of each kind."""
    folder = tmp_path_factory.mktemp("made")
    for kind in PLUGINS:
        distribution(kind, folder)
    return folder


@pytest.fixture(scope="module")
def python(made: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Python of an environment in which all of them are installed, beside this one's libraries."""
    for module in ("pip", "hatchling"):
        pytest.importorskip(module, reason=f"needs {module} to install the plugins")
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (site,) = (folder / "lib").glob("python3*/site-packages")
    paths = [os.path.abspath(path) for path in sys.path if os.path.isdir(path)]
    (site / "outer.pth").write_text("\n".join(paths) + "\n")
    executable = str(folder / "bin" / "python")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    folders = [word for path in made.iterdir() for word in ("-e", str(path))]
    command = [executable, "-m", "pip", "install", *options, *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return executable


@pytest.fixture
def outside(python: str, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a module of that environment in a folder."""

    def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COMMONPLACE_"))}
        env |= {"HOME": str(tmp_path), "COMMONPLACE_TESTING_PROFILE": "quick"}
        command = [python, "-m", *words]
        return subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLUGINS)
def test_a_new_plugin_passes_its_tests_and_is_found(
    kind: str, made: Path, outside: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    folder = made / f"commonplace-my-{kind}"
    done = outside("pytest", "-q", "-p", "no:cacheprovider", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)
    listed = json.loads(outside("commonplace", "plugins", "--json", folder=folder).stdout)
    states = {info["name"]: info["state"] for info in listed["plugins"]}
    assert states[f"{PLUGINS[kind][0]}.my-{kind}"] == "loaded"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["provider", "source"])
def test_an_installed_plugin_is_checked(
    kind: str, made: Path, outside: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = outside("commonplace", "plugins", "check", f"my-{kind}", folder=made)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_broken_plugin_fails_by_the_law_that_it_breaks(
    made: Path, outside: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    module = made / "commonplace-my-provider" / "commonplace_my_provider" / "__init__.py"
    sound = module.read_text()
    assert ":{self.dims}" in sound
    try:
        module.write_text(sound.replace(":{self.dims}", ""))
        done = outside("commonplace", "plugins", "check", "my-provider", folder=made)
    finally:
        module.write_text(sound)
    assert done.returncode == 1
    assert "failed: other vectors have another fingerprint\n" in done.stdout
    assert "all variants differ" in done.stdout


@pytest.mark.slow
def test_new_plugins_are_clean_and_typed(made: Path, tmp_path: Path) -> None:
    for module in ("mypy", "ruff"):
        pytest.importorskip(module, reason=f"needs {module}")
    ours = Path(commonplace.__file__).parents[1]
    for folder in sorted(made.iterdir()):
        for action in (["check"], ["format", "--check"]):
            command = [sys.executable, "-m", "ruff", *action, "--no-cache", "."]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{folder.name}: {done.stdout}"
    paths = [str(path) for path in made.iterdir()]
    if ours.name != "site-packages":
        paths.append(str(ours))
    files = [str(file) for file in made.rglob("*.py")]
    options = ["--strict", "--follow-imports", "silent", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *options, *files],
        env={**os.environ, "MYPYPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
