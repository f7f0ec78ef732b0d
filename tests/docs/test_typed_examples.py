"""Every piece of Python in the documentation passes mypy (strict) and pyright (strict)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import commonplace

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Its blocks are files of one distribution, which test_write_a_plugin.py runs.
PIECES = ROOT / "docs" / "write-a-plugin.md"
# Its blocks need SDKs that are installed apart, and are run with them.
APART = ROOT / "docs" / "sdks.md"

# The plugin that docs/conformance.md leaves to its reader.
MINE = "from typing import Any\n\n" + "".join(
    f"class My{kind}(Any):  # type: ignore[misc]\n    def __init__(self, _: object) -> None: ...\n"
    for kind in ("Chunker", "Manager", "Provider", "Ranker", "Source", "Store")
)

# What Python's own help() cannot ensure: the parameters and results that checkers see.
FACES = """\
from typing import assert_type

from commonplace import AsyncMemory, Memory, NoteText, SearchResult, Status, SyncReport


async def use() -> None:
    async with AsyncMemory.open(workspace="~/notes", watch=False) as memory:
        assert_type(memory, AsyncMemory)
        result = await memory.search("words", max_results=3)
        assert_type(result, SearchResult)
        assert_type(result.as_prompt(budget=2000, citations=False), str)
        assert_type(await memory.get("MEMORY.md", start=1, lines=2), NoteText)
        assert_type(await memory.sync(force=True), SyncReport)
        assert_type(await memory.status(deep=True), Status)
    assert_type(await AsyncMemory.open(), AsyncMemory)
    async with AsyncMemory(Memory.open()) as own:
        assert_type(own, AsyncMemory)
"""
WRONG = """\
from commonplace import AsyncMemory


async def use(memory: AsyncMemory) -> None:
    await memory.search("words", max_result=3)
    await memory.search(3)
    AsyncMemory.open(workspce="~/notes")
    (await memory.search("words")).as_prompt(4000)
"""


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder with a module for each block."""
    pattern = r"(?:`([\w.-]+\.py)`:\n\n)?^```python\n(.*?)^```$"
    for page in PAGES:
        found = (
            []
            if page in {PIECES, APART}
            else re.findall(pattern, page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        )
        for number, (name, code) in enumerate(found, 1):
            module = re.sub(r"\W", "_", page.relative_to(ROOT).with_suffix("").as_posix())
            file = tmp_path / (name or f"{module}_{number}.py")
            assert not file.exists(), f"two examples are named {name}"
            file.write_text(code, encoding="utf-8")
    (tmp_path / "mine.pyi").write_text(MINE, encoding="utf-8")
    (tmp_path / "faces.py").write_text(FACES, encoding="utf-8")
    assert len(list(tmp_path.iterdir())) > 20
    return tmp_path


def mypy(folder: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    files = sorted(str(file) for file in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_mypy_accepts_every_example(examples: Path) -> None:
    done = mypy(examples)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_refuses_wrong_calls(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    done = mypy(tmp_path)
    lines = [int(n) for n in re.findall(r"wrong\.py:(\d+): error", done.stdout)]
    assert lines == [5, 6, 7, 8], done.stdout + done.stderr


def test_pyright_accepts_every_example_and_refuses_wrong_calls(examples: Path) -> None:
    if find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    (examples / "wrong.py").write_text(WRONG, encoding="utf-8")
    ours = str(Path(commonplace.__file__).parents[1])
    config = {"typeCheckingMode": "strict", "extraPaths": [ours]}
    (examples / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--project", str(examples)], capture_output=True, text=True, check=False
    )
    found = [
        one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"
    ]
    wrong = [one for one in found if one["file"].endswith("wrong.py")]
    assert {one["range"]["start"]["line"] + 1 for one in wrong} == {5, 6, 7, 8}
    assert [one for one in found if one not in wrong] == []
