"""What is built is what is here."""

from __future__ import annotations

import subprocess
import sys
from configparser import ConfigParser
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
