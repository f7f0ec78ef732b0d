"""What is built is what is here."""

from __future__ import annotations

import re
import subprocess
import sys
from configparser import ConfigParser
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """A wheel built from the checkout."""
    for tool in ("build", "hatchling"):
        try:
            version(tool)
        except PackageNotFoundError:
            pytest.skip(f"{tool} is not installed")
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target)]
    answer = subprocess.run(
        [*command, str(root)], cwd=target, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (file,) = target.glob("*.whl")
    with ZipFile(file) as archive:
        yield archive


def test_every_file_of_every_package_is_in_the_wheel(
    wheel: ZipFile, packages: dict[str, Path]
) -> None:
    here = {
        file.relative_to(folder.parent).as_posix()
        for folder in packages.values()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    built = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert here - built == set(), "not packaged"
    assert built - here == set(), "packaged without a reason"


def test_every_package_says_that_it_is_typed(wheel: ZipFile, packages: dict[str, Path]) -> None:
    assert {f"{name}/py.typed" for name in packages} <= set(wheel.namelist())


def test_the_wheel_has_our_entry_points(wheel: ZipFile, project: dict[str, Any]) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")]
    parser = ConfigParser(delimiters=("=",))
    parser.read_string(wheel.read(name).decode())
    assert dict(parser["commonplace"]) == project["project"]["entry-points"]["commonplace"]


def test_the_stubs_that_are_read_at_run_time_are_in_it(wheel: ZipFile) -> None:
    doors = {
        "commonplace/__init__.pyi",
        "commonplace/plugin.pyi",
        "commonplace/testing/__init__.pyi",
    }
    assert doors <= set(wheel.namelist())


def test_its_metadata_says_who_what_and_where(wheel: ZipFile, root: Path) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = message_from_bytes(wheel.read(name))
    assert metadata["Author"] == "commonplace contributors"
    assert metadata["License-Expression"] == "MIT"
    assert len(metadata.get_all("Classifier", [])) >= 10
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL", []))
    assert urls.keys() >= {"Repository", "Documentation", "Changelog", "Issues"}
    assert all(url.startswith(urls["Repository"]) for url in urls.values())
    readme = str(metadata.get_payload())
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) > 10
    for link in links:
        assert link.startswith(("https://", "#")), link
        if link.startswith(urls["Repository"]):
            path = link.removeprefix(f"{urls['Repository']}/blob/main/").partition("#")[0]
            assert (root / path).exists(), link
    assert (root / "README.md").read_text("utf-8").count("](") == len(links)


@pytest.mark.parametrize("options", [["-O"], ["-OO"]], ids=" ".join)
def test_it_runs_without_asserts(
    wheel: ZipFile, tmp_path: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel.extractall(tmp_path / "site")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("The spare key is under the mat.\n")
    for name in ("STATE_DIR", "CACHE_DIR"):
        monkeypatch.setenv(f"COMMONPLACE_{name}", str(tmp_path / name))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    command = [sys.executable, *options, "-m", "commonplace", "search", "--workspace", "notes"]
    answer = subprocess.run(
        [*command, "spare key"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "under the mat" in answer.stdout, answer.stderr


def test_in_a_zip_archive_it_fails_with_a_reason(wheel: ZipFile, tmp_path: Path) -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1]); import commonplace"
    answer = subprocess.run(
        [sys.executable, "-c", program, str(wheel.filename)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = answer.stderr.splitlines()[-1]
    assert said.startswith("ImportError: commonplace cannot run from a zip archive (")
    assert said.endswith("): install it with pip")
