"""A folder of installed distributions that tests fill as they like."""

from __future__ import annotations

import importlib
import os
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on ``sys.path``; modules that were imported from it are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def add_module(site: Path) -> Callable[[str, str], None]:
    """Write a module into the site folder."""

    def add(name: str, source: str) -> None:
        (site / f"{name}.py").write_text(dedent(source))
        importlib.invalidate_caches()

    return add


@pytest.fixture
def add_distribution(site: Path) -> Callable[..., Path]:
    """Write the metadata of a distribution; the answer is its metadata folder."""

    def add(
        name: str,
        entries: Mapping[str, str],
        *,
        version: str = "1.0",
        folder: Path = site,
        suffix: str = "dist-info",
    ) -> Path:
        info = folder / f"{name.replace('-', '_')}-{version}.{suffix}"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nName: not this one\n"
        )
        lines = [f"{key} = {value}" for key, value in entries.items()]
        text = "\n".join(["[console_scripts]", "x = y:z", "", "[commonplace]", *lines, ""])
        (info / "entry_points.txt").write_text(text)
        return info

    return add


@pytest.fixture
def settle() -> Callable[[Path], None]:
    """Give a folder a modification time well in the past, another one with each call."""
    ages = iter(range(1_000, 9_000))

    def apply(folder: Path) -> None:
        when = folder.stat().st_mtime - next(ages)
        os.utime(folder, (when, when))

    return apply
