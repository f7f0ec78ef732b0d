"""A search and a sync stay short roads: few files are entered, and few calls stand above SQL.

Traced with ``sys.setprofile`` on the sample workspace with the default configuration, all threads
included. A change that makes a road longer needs another road, or a reason to raise a figure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "backends", "providers", "plugins")

# Stems of words in Latin letters have a room of their own, which both enter, and items of a list
# are read where lines of notes are. Whether a query may name a time is no matter of languages.
SEARCH_FILES = 35
SEARCH_FRAMES = 12
SYNC_FILES = 39

TRACED = r"""
import json, os, shutil, sys, threading
from pathlib import Path

import commonplace.sample
from commonplace import Memory

home, *folders = sys.argv[1:]
folders = tuple(folder + os.sep for folder in folders)
workspace = Path(home, "notes")
shutil.copytree(Path(commonplace.sample.__file__).parent / "workspace", workspace)
env = {"COMMONPLACE_STATE_DIR": home + "/state", "COMMONPLACE_CACHE_DIR": home + "/cache"}
env |= {"HOME": home, "PATH": os.environ["PATH"]}
files, deepest = set(), []

def profile(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(folders):
        files.add(frame.f_code.co_filename)
    elif event == "c_call" and getattr(argument, "__name__", "").startswith("execute"):
        if type(getattr(argument, "__self__", None)).__module__ != "apsw":
            return
        stack = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(folders):
                stack.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")
            frame = frame.f_back
        if len(stack) > len(deepest):
            deepest[:] = stack[::-1]

def traced(call):
    files.clear()
    deepest.clear()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {"files": sorted(files), "deepest": list(deepest)}

with Memory.open(workspace=workspace, env=env) as memory:
    memory.sync()
    memory.search("spare key")
    search = traced(lambda: memory.search("which port does the staging server use"))
    (workspace / "memory" / "new-note.md").write_text("# New\n\nA note on the ferry timetable.\n")
    sync = traced(memory.sync)
print(json.dumps({"search": search, "sync": sync}))
"""


@pytest.fixture(scope="module")
def roads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    """The files entered by a warm search and by the sync of one new note, and the deepest calls."""
    folders = [str(ROOT / folder) for folder in FOLDERS]
    ran = subprocess.run(
        [sys.executable, "-c", TRACED, str(tmp_path_factory.mktemp("roads")), *folders],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, dict[str, list[str]]] = json.loads(ran.stdout)
    return found


def test_a_warm_search_enters_few_files(roads: dict[str, dict[str, list[str]]]) -> None:
    files = roads["search"]["files"]
    assert len(files) <= SEARCH_FILES, "\n".join(files)


def test_a_warm_search_stands_a_few_calls_above_sql(
    roads: dict[str, dict[str, list[str]]],
) -> None:
    deepest = roads["search"]["deepest"]
    assert 1 < len(deepest) <= SEARCH_FRAMES, "\n".join(deepest)


def test_the_sync_of_one_note_enters_few_files(roads: dict[str, dict[str, list[str]]]) -> None:
    files = roads["sync"]["files"]
    assert len(files) <= SYNC_FILES, "\n".join(files)
