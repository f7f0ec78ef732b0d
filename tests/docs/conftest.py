"""Pages of the documentation, and a place where what they show is installed."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from commonplace.host.discovery import CALLED, KINDS, installed
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

DOCS = Path(__file__).resolve().parents[2] / "docs"

_KIND_OF = {hook: kind for kind, hook in KINDS.items()} | {
    hook: kind for kind, hooks in CALLED.items() for hook in hooks
}


class Page(NamedTuple):
    """A page and its blocks: files by name, and others as (language, text)."""

    text: str
    files: dict[str, str]
    blocks: list[tuple[str, str]]

    def block(self, language: str) -> str:
        """The only block of that language that is no file."""
        (found,) = (text for name, text in self.blocks if name == language)
        return found


@pytest.fixture(scope="session")
def docs() -> Path:
    """The folder of the documentation."""
    return DOCS


@pytest.fixture(scope="session")
def read_page() -> Callable[[Path], Page]:
    """Take a page apart."""

    def read(path: Path) -> Page:
        text = path.read_text(encoding="utf-8")
        files: dict[str, str] = {}
        blocks: list[tuple[str, str]] = []
        pattern = r"(?:`([\w/.-]+\.\w+)`:\n\n)?^```(\w+)\n(.*?)^```$"
        for name, language, body in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
            if name:
                files[name] = body
            else:
                blocks.append((language, body))
        return Page(text, files, blocks)

    return read


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on ``sys.path``; what was imported from it is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def install(site: Path) -> Callable[..., tuple[ModuleType, PluginHost, str]]:
    """Install a module that a hook's page shows; it, a host that finds it, and its id.

    ``name`` chooses among several.
    """

    def put(page: Page, hook: str, name: str = "") -> tuple[ModuleType, PluginHost, str]:
        for file, text in page.files.items():
            (site / file).write_text(text, encoding="utf-8")
        if not name:
            (name,) = (n.removesuffix(".py") for n in page.files if not n.startswith("test_"))
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[commonplace]\n{_KIND_OF[hook]}.{name} = {name}\n")
        importlib.invalidate_caches()
        host = PluginHost(installed(None), env={})
        return importlib.import_module(name), host, name

    return put
