"""What is installed and uninstalled leaves the same bytes in any file of each harness."""

from __future__ import annotations

import json
import os
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.plugin import parse_json5
from commonplace_harnesses.files import HarnessFiles
from commonplace_harnesses.harnesses import HARNESSES, Setup

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace_harnesses.harnesses import Target

COMMENTS = ("// note", "/* x */", '/* "memory": {\n y */', "// {")
TEXTS = ("x", "//", "a # b", '"', "é", "}", "memory")
COMMANDS = (
    *TEXTS,
    "git -C ~/src/commonplace hook run pre-commit",
    "make -C commonplace -m commonplace hook",
    "tell commonplace sessions archive --hook",
    "commonplace remember hook",
    "commonplace --hook",
)
"""Hooks of the user that are not ours."""
scalars = st.one_of(st.sampled_from(TEXTS), st.booleans(), st.none(), st.integers(0, 9))
servers = st.dictionaries(
    st.sampled_from(["other", "files", "a b"]),
    st.fixed_dictionaries(
        {"command": st.sampled_from(TEXTS), "args": st.lists(scalars, max_size=2)}
    ),
    max_size=2,
)
hooks = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(COMMANDS)})
groups = st.fixed_dictionaries({"hooks": st.lists(hooks, max_size=2)}) | hooks
events = st.dictionaries(
    st.sampled_from(["SessionStart", "sessionStart", "Stop"]),
    st.lists(groups, max_size=2),
    max_size=2,
)
plain = st.dictionaries(st.sampled_from(["theme", "projects", "model"]), scalars, max_size=2)


@st.composite
def layouts(draw: st.DrawFn, value: Any) -> str:
    """``value`` as JSON with comments, in any layout that editors leave behind."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    unit = draw(st.sampled_from(["  ", "    ", "\t"]))
    inline, comments, trailing = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())

    def gap(depth: int) -> str:
        note = draw(st.sampled_from(["", "", *COMMENTS])).replace("\n", newline) if comments else ""
        if inline and not note.startswith("//"):
            return draw(st.sampled_from(["", " "])) + note
        return f" {note}{newline}{unit * depth}" if note else f"{newline}{unit * depth}"

    def written(value: Any, depth: int) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        opener, closer = "{}" if isinstance(value, dict) else "[]"
        if not value:
            return opener + (gap(depth) if draw(st.booleans()) else "") + closer
        parts = [
            f"{json.dumps(part)}:{' ' * inline}{written(value[part], depth + 1)}"
            if isinstance(value, dict)
            else written(part, depth + 1)
            for part in value
        ]
        end = "," if comments and trailing else ""
        inside = ",".join(gap(depth + 1) + part for part in parts)
        return f"{opener}{inside}{end}{gap(depth)}{closer}"

    text = gap(0).lstrip() + written(value, 0) + draw(st.sampled_from(["", newline, newline * 2]))
    return draw(st.sampled_from(["", "\ufeff"])) + text


@st.composite
def json_files(draw: st.DrawFn, *, keys: tuple[str, ...], hooked: bool) -> str | None:
    """A file with other servers or hooks, or none, or with nothing."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([None, "{}", "{}\n", "{\n}\n", ""]))
    data = {} if hooked and keys else draw(plain)
    if hooked:
        data |= draw(st.sampled_from([{}, {"description": "d"}])) if keys else {"version": 1}
        data |= draw(st.sampled_from([{}, {"hooks": draw(events)}]))
    else:
        inner: Any = draw(servers)
        for key in reversed(keys[1:]):
            inner = {key: inner}
        data |= draw(st.sampled_from([{}, {keys[0]: {}}, {keys[0]: inner}]))
    return draw(layouts(dict(draw(st.permutations(list(data.items()))))))


TABLES = (
    'model = "x"',
    "# a comment",
    "",
    '[projects."/home/me/a b"]\ntrust_level = "trusted"',
    '[mcp_servers.other]\ncommand = "x" # why\nargs = [\n  "a", # one\n  "b",\n]\nenv.A = "b"',
    '[mcp_servers.other.env]\nB = "c"',
    '[notes]\ntext = """\n[mcp_servers.memory]\ncommand = "commonplace"\n"""',
    "[[list]]\na = 1",
)


@st.composite
def toml_files(draw: st.DrawFn) -> str | None:
    """Tables in any order, without a final line end or with several."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([None, "", "\n"]))
    parts = draw(st.lists(st.sampled_from(TABLES), max_size=5, unique=True))
    text = "\n".join(sorted(parts, key=lambda part: part[:1] == "["))
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


def files_of(target: Target, harness: str) -> st.SearchStrategy[str | None]:
    if hasattr(target.edit, "table"):
        return toml_files().filter(is_toml)
    keys = getattr(target.edit, "keys", ())
    hooked = hasattr(target.edit, "items")
    known = ("description",) if harness == "codex" else ()
    return json_files(keys=known if hooked else keys[:-1], hooked=hooked).filter(is_json)


def is_toml(text: str | None) -> bool:
    try:
        tomllib.loads((text or "").removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return False
    return True


def is_json(text: str | None) -> bool:
    return isinstance(parse_json5((text or "").removeprefix("\ufeff")), dict)


@pytest.mark.parametrize("harness", HARNESSES)
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_installing_and_uninstalling_leaves_the_same_bytes(
    harness: str, count: int, tmp_path: Path
) -> None:
    env = {"HOME": str(tmp_path)}
    options = ("--workspace", str(tmp_path / 'the "notes"'))
    setup = Setup(("/opt/x y/commonplace",), options, "memory", "user", str(tmp_path), env)
    moved = setup._replace(options=("--workspace", "/elsewhere"))
    files = HarnessFiles(
        str(tmp_path), str(tmp_path / "state" / "made.json"), follow_links=False, new_mode=0o600
    )
    targets = HARNESSES[harness].targets(setup)
    paths = [target.paths[-1] for target in targets]

    @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
    @given(texts=st.tuples(*(files_of(target, harness) for target in targets)))
    def round_trip(texts: tuple[str | None, ...]) -> None:
        for path, text in zip(paths, texts, strict=True):
            put(path, text)
        for wanted in (setup, moved, moved):  # installed, changed in its place, left alone
            again = all("/elsewhere" in read(path) for path in paths)
            for target in HARNESSES[harness].targets(wanted):
                change = files.installed(target)
                assert (change.action == "none") == again
                files.apply([change])
            for path, text in zip(paths, texts, strict=True):
                now = read(path)
                assert ("/elsewhere" in now) == (wanted is moved)
                assert now.startswith("\ufeff") == (text or "").startswith("\ufeff")
                assert "\r\n" not in now or "\n" not in now.replace("\r\n", "")
        for target in reversed(targets):
            files.apply([files.uninstalled(target)])
        assert tuple(map(read, paths)) == tuple(text or "" for text in texts)
        assert [os.path.exists(path) for path in paths] == [text is not None for text in texts]
        assert all(os.stat(p).st_mode & 0o777 == 0o640 for p in paths if os.path.exists(p))

    round_trip()


def test_installations_at_once_lose_nothing_that_another_found(tmp_path: Path) -> None:
    record = str(tmp_path / "state" / "made.json")
    begin = threading.Barrier(6, timeout=30)

    def files_and_target(number: int) -> tuple[HarnessFiles, Target]:
        home = str(tmp_path / str(number))
        setup = Setup(("/opt/commonplace",), (), "memory", "user", home, {"HOME": home})
        files = HarnessFiles(home, record, follow_links=False, new_mode=0o600)
        return files, HARNESSES["cursor"].targets(setup)[0]

    def install(number: int) -> None:
        files, target = files_and_target(number)
        put(target.paths[-1], "{}\n")
        begin.wait()
        files.apply([files.installed(target)])

    def uninstall(number: int) -> str:
        files, target = files_and_target(number)
        begin.wait()
        files.apply([files.uninstalled(target)])
        return read(target.paths[-1])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(install, range(6)))
        assert list(pool.map(uninstall, range(6))) == ["{}\n"] * 6
    assert read(record) == "{}\n"


def put(path: str, text: str | None) -> None:
    if os.path.lexists(path):
        os.unlink(path)
    if text is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(path, 0o640)


def read(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
