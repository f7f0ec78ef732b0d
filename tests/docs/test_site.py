"""The site of the documentation: complete, asking no other server, each page with its twin."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "mkdocs.yml"
DOCS = ROOT / "docs"
ASSETS = {("link", "href"), ("iframe", "src"), ("img", "src"), ("script", "src"), ("source", "src")}


@pytest.fixture(scope="module")
def config() -> str:
    if not CONFIG.is_file():
        pytest.skip("mkdocs.yml is part of the checkout alone")
    return CONFIG.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(config: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site: the one in ``COMMONPLACE_SITE``, else built here."""
    assert config
    if built := os.environ.get("COMMONPLACE_SITE"):
        return Path(built)
    if importlib.util.find_spec("material") is None:
        pytest.skip("needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


class Assets(HTMLParser):
    """The addresses that a browser requests by itself when it shows a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if ("rel", "canonical") not in attrs:
            self.found += [value or "" for name, value in attrs if (tag, name) in ASSETS]


def outside(address: str) -> bool:
    return re.match(r"(?:[a-z]+:)?//", address.strip(), re.IGNORECASE) is not None


def test_every_page_is_in_the_navigation(config: str) -> None:
    named = re.findall(r"(?:- |: )([\w/.-]+\.md)$", config, re.MULTILINE)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert len(named) == len(set(named))
    assert pages - set(named) == set(), "add them to nav in mkdocs.yml"
    missing = {page for page in set(named) - pages if not (ROOT / page).is_file()}
    assert missing == set()


def test_an_asset_from_elsewhere_is_noticed() -> None:
    page = (
        '<a href="https://a.example"></a><script src="//b.example/x.js"></script><img src="x.png">'
    )
    assert [one for one in Assets(page).found if outside(one)] == ["//b.example/x.js"]


@pytest.mark.slow
def test_no_page_requests_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        found = Assets(page.read_text(encoding="utf-8")).found
        assert found, page
        assert [one for one in found if outside(one)] == [], page
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", text), sheet


@pytest.mark.slow
def test_every_page_has_a_markdown_twin_and_llms_txt_lists_it(site: Path) -> None:
    pages = {page.relative_to(site).with_suffix(".md").as_posix() for page in site.rglob("*.html")}
    pages.remove("404.md")
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# commonplace\n\n> ")
    assert set(re.findall(r"\]\((.*?)\)", text)) == pages
    for page in pages:
        twin = (site / page).read_text(encoding="utf-8")
        assert twin.startswith("# "), page
        for target in re.findall(
            r"\]\((?![a-z]+:|#)([^)#\s]+\.md)", re.sub(r"(?s)```.*?```", "", twin)
        ):
            assert (site / page).parent.joinpath(target).exists(), (page, target)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["commonplace", "commonplace.plugin", "commonplace.testing"])
def test_the_reference_has_every_public_name(site: Path, door: str) -> None:
    names = importlib.import_module(door).__all__
    page = (site / "api" / f"{door.rpartition('.')[2]}.html").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<h3 id="([\w.]+)"', page))
    assert len(anchors) >= 10
    assert {f"{door}.{name}" for name in names if not name.startswith("__")} <= anchors


@pytest.mark.slow
def test_the_search_finds_settings_and_the_reference(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "embedUnasked" in index
    assert "AsyncMemory" in index


def test_docstrings_become_markdown() -> None:
    pytest.importorskip("griffe", reason="needs the extra docs")
    markdown = runpy.run_path(str(DOCS / "generate" / "docstrings.py"))["markdown"]
    assert markdown("See :class:`~a.B`, as this shows::\n\n    x = 1") == (
        "See `a.B`, as this shows:\n\n    x = 1"
    )
    assert markdown("Plain `a`.") == "Plain `a`."
    assert markdown(">>> f(\n...     1)\n2\n") == "```pycon\n>>> f(\n...     1)\n2\n```\n"
