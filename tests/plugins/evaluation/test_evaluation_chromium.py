"""A report in a real Chromium: it opens from disk, asks for nothing, and has no barrier."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli import main
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def missing(reason: str) -> Any:
    """Skip, or fail where CI says that a browser must be there."""
    if os.environ.get("COMMONPLACE_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if find_spec("pygal") is None or find_spec("jinja2") is None:
        missing("needs the extra eval")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        missing(f"needs Playwright: {error}")
    if not os.path.exists(CHROMIUM):
        missing(f"needs {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A report of measures, and one of a comparison."""
    folder = tmp_path_factory.mktemp("reports")
    notes = str(folder / "notes")
    copy_workspace(notes)
    (folder / "few.json5").write_text(
        "{ memory: { search: { query: { minScore: 0.99 } } } }", encoding="utf-8"
    )
    queries, few = str(folder / "own" / "mine.jsonl"), str(folder / "few.json5")
    found = [folder / "measured.html", folder / "compared.html"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        common = ("--workspace", notes)
        assert main(("eval", "--make", "20", queries, *common)) == 0
        assert main(("eval", queries, "--html", str(found[0]), *common)) == 0
        compare = ("--compare", few, "--html", str(found[1]))
        assert main(("eval", queries, *compare, *common)) == 0
    return found


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_a_report_opens_from_disk(chromium: Any, reports: list[Path], look: str) -> None:
    context = chromium.new_context(
        color_scheme="dark" if look == "dark" else "light",
        viewport={"width": 360 if look == "narrow" else 1200, "height": 800},
        bypass_csp=True,  # axe is injected; the report's own policy is tested without it below
    )
    page = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    found = []
    for report in reports:
        page.goto(report.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        shown = "[...document.images].every(one => one.complete && one.naturalWidth > 100)"
        assert page.evaluate(shown)
        assert page.locator("table").count() >= 1
        if page.evaluate("document.documentElement.scrollWidth - innerWidth") > 0:
            found.append(f"{report.name}: too wide")
        axe = os.environ.get("COMMONPLACE_AXE", "")
        if not os.path.isfile(axe):
            missing("needs axe-core from npm: its axe.min.js in COMMONPLACE_AXE")
        page.evaluate(Path(axe).read_text(encoding="utf-8"))
        barriers = page.evaluate(f"axe.run({{ runOnly: {RULES} }})")["violations"]
        found += [
            f"{report.name}: {one['id']}: {one['nodes'][0]['html'][:150]}" for one in barriers
        ]
    context.close()
    assert found == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_nothing_in_a_report_runs_or_complains(chromium: Any, reports: list[Path]) -> None:
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    for report in reports:
        page.goto(report.as_uri())
        page.locator("summary").first.click() if page.locator("summary").count() else None
        assert page.locator("img").first.is_visible()
    page.close()
    assert said == []
