"""Laws of scanning, over random trees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.files.reading import read_bytes, resolve
from commonplace.files.roots import IGNORED_FOLDERS, Roots
from commonplace.files.scan import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX")

# A tree is a mapping of names: a mapping is a folder, bytes a file, a string a link to there.
Tree = dict[bytes, "Tree | bytes | str"]

_STEMS = st.sampled_from(
    [b"a", b"b", b"n\n", b"'\"", "é".encode(), "e\u0301".encode(), b"\xff", "日".encode(), b".x"]
)
_NAMES = st.builds(bytes.__add__, _STEMS, st.sampled_from([b".md", b".md", b".MD", b".txt", b""]))
_FOLDERS = st.one_of(_STEMS, _NAMES, st.sampled_from([b".git", b"venv", b"memory", b"MEMORY.md"]))
_TARGETS = st.sampled_from([".", "..", "a.md", "a", "../a", "/etc", "/etc/hostname", "nowhere"])
_LEAVES: st.SearchStrategy[Tree] = st.dictionaries(
    _NAMES, st.one_of(st.binary(max_size=8), _TARGETS), max_size=4
)


def _grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.builds(
        lambda files, folders: {**files, **folders},
        _LEAVES,
        st.dictionaries(_FOLDERS, inner, max_size=3),
    )


_TREES: st.SearchStrategy[Tree] = st.recursive(_LEAVES, _grown, max_leaves=8)


def _build(folder: bytes, tree: Mapping[bytes, Tree | bytes | str]) -> None:
    os.makedirs(folder, exist_ok=True)
    for name, item in tree.items():
        path = os.path.join(folder, name)
        if isinstance(item, str):
            os.symlink(item, path)
        elif isinstance(item, bytes):
            Path(os.fsdecode(path)).write_bytes(item)
        else:
            _build(path, item)


def _expected(folder: str, tree: Mapping[bytes, Tree | bytes | str]) -> set[str]:
    found: set[str] = set()
    for raw, item in tree.items():
        try:
            name = raw.decode()
        except UnicodeDecodeError:
            continue
        if isinstance(item, bytes) and name.endswith(".md"):
            found.add(f"{folder}/{name}")
        elif isinstance(item, dict) and not name.startswith(".") and name not in IGNORED_FOLDERS:
            found |= _expected(f"{folder}/{name}", item)
    return found


_SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_SETTINGS
@given(_TREES, _TREES)
def test_a_scan_finds_exactly_the_regular_notes_not_behind_links(memory: Tree, docs: Tree) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _build(os.fsencode(folder) + b"/memory", memory)
        _build(os.fsencode(folder) + b"/docs", docs)
        own, both = scan(Roots(folder)), scan(Roots(folder, ["docs", "memory", "."]))
        paths = [ref.path for ref in own.documents]
        assert paths == sorted(_expected("memory", memory))
        assert [ref.path for ref in both.documents] == sorted(
            _expected("memory", memory) | _expected("docs", docs)
        )
        json.dumps([failure.root for failure in both.failed_roots]).encode()


@_SETTINGS
@given(_TREES)
def test_what_a_scan_finds_can_be_read_with_the_same_stamp(tree: Tree) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _build(os.fsencode(folder) + b"/memory", tree)
        roots = Roots(folder)
        for ref in scan(roots).documents:
            for asked in (ref.path, ref.location):
                data, stamp = read_bytes(*resolve(roots, asked))
                assert data == Path(ref.location).read_bytes()
                assert stamp == ref.stamp


_COUNT = """
import os
import sys
opened = []
watching = False
def audit(event, args):
    # A folder that is opened to be listed is no file.
    is_folder = event == "open" and args[2] & getattr(os, "O_DIRECTORY", 0)
    if watching and event in ("open", "os.open") and not is_folder:
        opened.append(str(args[0]))
sys.addaudithook(audit)
from commonplace_notes import plugin
from commonplace.protocols.contexts import SourceContext
source = plugin._notes(SourceContext(sys.argv[1], "main", ("docs", "../missing")))
source.scan()
watching = True
report = source.scan()
watching = False
loaded = sorted(set(sys.modules) & set(sys.argv[2].split(",")))
import json
print(json.dumps([len(report.documents), opened, loaded]))
"""
_HEAVY = {
    "pathlib",
    "json",
    "hashlib",
    "tempfile",
    "shutil",
    "logging",
    "datetime",
    "dataclasses",
    "importlib.metadata",
    "cattrs",
    "pyjson5",
    "platformdirs",
    "filelock",
    "numpy",
    "httpx",
    "asyncio",
    "concurrent.futures",
    "rich",
    "regex",
    "click",
    "sqlite3",
    "subprocess",
    "inspect",
    "decimal",
    "glob",
    "fnmatch",
    "commonplace.files.reading",
}


def test_a_scan_opens_no_file_and_imports_nothing_heavy(tmp_path: Path) -> None:
    for path in ("MEMORY.md", "memory/a.md", "memory/deep/b.md", "docs/c.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    # The interpreter's own start may import some of these (a .pth file, a site module).
    before = subprocess.run(
        [sys.executable, "-c", "import sys, attrs, pluggy; print(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    )
    heavy = _HEAVY - set(before.stdout.split())
    done = subprocess.run(
        [sys.executable, "-c", _COUNT, str(tmp_path), ",".join(sorted(heavy))],
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(done.stdout) == [4, [], []]
    assert {"pathlib", "hashlib", "commonplace.files.reading"} <= heavy


def test_a_very_deep_tree_is_survived(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/a.md").write_text("x")
    here = os.open(tmp_path / "memory", os.O_RDONLY)
    name = "d" * 200
    for _ in range(30):  # longer than a path may be
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    report = scan(Roots(str(tmp_path)))
    assert [ref.path for ref in report.documents] == ["memory/a.md"]
    (failure,) = report.failed_roots
    assert failure.reason == "File name too long"
