"""The guide for authors of plugins: its commands and files are run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.json5 import parse_json5
from commonplace.plugin import API_VERSION
from commonplace.sample import PLUGINS, write_plugin

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = re.compile(r"(?:`([\w/.-]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The programs of the environment that the guide makes; pip comes from the one outside.
PROGRAMS = 'python3() { command python3 "$@" --without-pip; }\n'
PROGRAMS += 'pip() { python -m pip "$@"; }\npytest() { python -m pytest "$@"; }\n'
PROGRAMS += 'commonplace() { python -m commonplace "$@"; }\n'


@pytest.fixture
def guide(docs: Path) -> str:
    return (docs / "write-a-plugin.md").read_text(encoding="utf-8")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """What the command of the guide writes."""
    write_plugin("ranker", "pinned", str(tmp_path / "commonplace-pinned"), api=API_VERSION)
    return tmp_path / "commonplace-pinned"


def script(guide: str) -> str:
    """All commands of the guide and all its files, in their order, each file where it says."""
    lines = ["set -eu", PROGRAMS]
    for name, language, text in BLOCK.findall(guide):
        if name:
            lines.append(f"cat > {shlex.quote(name)} <<'END-OF-FILE'\n{text}END-OF-FILE")
        elif language == "console":
            commands = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
            assert commands, text
            lines += [f"echo '== {line}'\n{line}" for line in commands]
    return "\n".join(lines) + "\n"


def test_every_block_is_a_whole_file_or_a_command(guide: str, written: Path) -> None:
    blocks = BLOCK.findall(guide)
    files = {name: text for name, _, text in blocks if name}
    assert set(files) == {
        "pyproject.toml",
        "commonplace_pinned/__init__.py",
        "tests/test_pinned.py",
        "config.json5",
    }
    for name, language, text in blocks:
        if language == "python":
            assert (written / name).is_file(), "plugins new writes no such file"
            compile(text, name, "exec")
        elif language == "toml":
            assert text == (written / name).read_text(), "plugins new writes another one"
        elif not name:
            assert language == "console"
    assert parse_json5(files["config.json5"])


def test_every_kind_stands_in_the_table(guide: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| \[(commonplace_register_\w+)\]", guide, re.MULTILINE)
    assert [kind for kind, _ in rows] == list(PLUGINS)


@pytest.mark.slow
def test_the_guide_can_be_followed_to_the_letter(guide: str, tmp_path: Path) -> None:
    for module in ("pip", "hatchling"):
        pytest.importorskip(module, reason=f"needs {module} to install the plugin")
    paths = [os.path.abspath(path) for path in sys.path if os.path.isdir(path)]
    env = {key: value for key, value in os.environ.items() if not key.startswith("COMMONPLACE_")}
    env |= {
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(paths),  # commonplace and the libraries of tests
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COMMONPLACE_TESTING_PROFILE": "quick",
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    done = subprocess.run(
        ["bash", "-c", script(guide)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    steps = dict(re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", done.stdout, re.MULTILINE))
    assert "pinned" in steps["commonplace plugins"]
    assert re.search(r"\d+ passed", steps["pytest"])
    assert re.search(r"\d+ passed", steps["commonplace plugins check ranker.pinned"])
    (search,) = (text for line, text in steps.items() if line.startswith("commonplace search"))
    assert re.findall(r"memory/(\w+)\.md", search) == ["keys", "spare"]
    assert "pinned by #pinned" in search
    assert list((tmp_path / "commonplace-pinned" / "dist").glob("*.whl"))


def test_links_lead_to_files(docs: Path, guide: str, read_page: Callable[[Path], Any]) -> None:
    pages = [docs / "write-a-plugin.md", docs / "plugins.md", *(docs / "hooks").iterdir()]
    for page in pages:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", read_page(page).text):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
    headings = re.findall(r"^##+ (.*)$", guide, re.MULTILINE)
    for anchor in re.findall(r"\]\(#([\w-]+)\)", guide):
        assert anchor in {
            re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-") for heading in headings
        }
