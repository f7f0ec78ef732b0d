"""The pages in a real Chromium: typing, keys, changes, hostile notes, accessibility."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PAGES = (
    *("/", "/?q=port", "/?q=zzzqqq", "/note?path=MEMORY.md&lines=3-4", "/timeline"),
    *("/note?path=MEMORY.md&view=lines", "/timeline?day=2026-10-12", "/agent?q=port", "/changes"),
    *(
        "/edit?at=MEMORY.md%23L3",
        "/dream",
        "/health?deep=1",
        "/health?audit=all&wait=1",
        "/note?path=nothing",
    ),
)


RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def missing(reason: str) -> Any:
    """Skip, or fail where CI says that a browser must be there."""
    if os.environ.get("COMMONPLACE_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    try:
        import nh3  # noqa: F401 - asks only whether it is there
        import starlette  # noqa: F401 - as above
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        missing(f"needs Playwright and the extra browse: {error}")
    if not os.path.exists(CHROMIUM):
        missing(f"needs {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


class Site:
    """A running ``commonplace browse``, and pages of it in Chromium."""

    def __init__(self, chromium: Any, address: str, announced: Any, notes: Path) -> None:
        self.base = address.partition("/?")[0]
        self.notes = notes
        self._chromium = chromium
        self._address = address
        self._announced = announced
        self._cookies: list[Any] = []

    def page(self, **options: Any) -> Any:
        """A page with the session; ``requests`` and ``errors`` of its context are recorded."""
        context = self._chromium.new_context(**options)
        if self._cookies:
            context.add_cookies(self._cookies)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.requested = []
        page.errors = []
        context.on("request", lambda request: page.requested.append(request.url))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("dialog", lambda dialog: (page.errors.append("dialog"), dialog.dismiss()))
        if not self._cookies:
            page.goto(self._address)
            self._cookies = context.cookies()
        return page


@pytest.fixture(scope="module")
def serve(
    chromium: Any,
    tmp_path_factory: pytest.TempPathFactory,
    keep_evaluations: Callable[[dict[str, str], str], None],
) -> Iterator[Callable[..., Site]]:
    running: list[subprocess.Popen[str]] = []

    def start(notes: Path, *arguments: str) -> Site:
        home = tmp_path_factory.mktemp("home")
        editor = home / "my-editor"
        editor.write_text(f'#!/bin/sh\necho "$@" > {home}/opened\n')
        editor.chmod(0o755)
        env = {
            **{key: value for key, value in os.environ.items() if "COMMONPLACE" not in key},
            "HOME": str(home),
            "EDITOR": str(editor),
            "COMMONPLACE_STATE_DIR": str(home / "state"),
            "COMMONPLACE_CACHE_DIR": str(home / "cache"),
        }
        keep_evaluations(env, str(notes))
        command = [sys.executable, "-m", "commonplace", "browse", "--no-open", *arguments]
        server = subprocess.Popen(
            [*command, "--workspace", str(notes)], env=env, stdout=subprocess.PIPE, text=True
        )
        running.append(server)
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        return Site(chromium, found[0], server.stdout, notes)

    yield start
    for server in running:
        server.terminate()
        server.wait(30)
        assert server.stdout is not None
        server.stdout.close()


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    notes = tmp_path_factory.mktemp("site") / "notes"
    copy_workspace(str(notes))
    return serve(notes)


def test_results_follow_each_key(site: Site) -> None:
    page = site.page()
    page.goto(site.base)
    page.wait_for_selector("#q:focus")  # autofocus comes with the first frame
    page.keyboard.type("port of staging")
    page.wait_for_selector(".hit mark")
    page.wait_for_url("**/?q=port+of+staging")
    assert page.title().startswith("port of staging")
    page.click("summary:has-text('Why')")
    page.wait_for_selector(".bars svg")  # asked for when it is opened
    page.click(".facet a:has-text('memory/projects')")
    page.wait_for_selector(".chip:has-text('path:memory/projects')")
    assert "MEMORY.md#" not in page.inner_text("#results")
    assert page.errors == []


def test_facets_of_the_last_query_are_out_of_reach_until_those_of_the_new_one_are_there(
    site: Site,
) -> None:
    page = site.page()
    page.goto(f"{site.base}/?q=port")
    held: list[Any] = []
    page.route("**/*part=1*", lambda route: held.append(route))  # noqa: PLW0108 - it gets marked
    page.fill("#q", "spare key")
    page.wait_for_selector(".facets[inert]", state="attached")
    page.locator("summary:has-text('Why')").first.click()  # also ends the typing
    page.wait_for_url("**/?q=spare+key")
    page.wait_for_selector(".bars svg")
    assert page.locator(".facets[inert]").count() == 1
    assert len(held) == 1
    held[0].continue_()
    page.wait_for_selector(".facets:not([inert])", state="attached")
    links = page.locator(".facet a").evaluate_all("all => all.map(one => one.href)")
    assert links
    assert all("q=spare+key+" in link for link in links)
    assert page.errors == []


def test_facets_are_asked_for_once_where_a_click_follows_a_pause_of_typing(site: Site) -> None:
    page = site.page()
    page.goto(f"{site.base}/?q=port")
    held: list[Any] = []
    page.route("**/*part=1*", lambda route: held.append(route))  # noqa: PLW0108 - it gets marked
    page.fill("#q", "spare key")
    page.wait_for_url("**/?q=spare+key")  # the pause, which asks for them
    page.locator("summary:has-text('Why')").first.click()
    page.wait_for_selector(".bars svg")
    assert len(held) == 1
    held[0].continue_()
    page.wait_for_selector(".facets:not([inert])", state="attached")
    assert page.errors == []


def test_everything_is_reached_by_keys(site: Site) -> None:
    page = site.page()
    page.goto(f"{site.base}/?q=port")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("e")
    assert page.locator(".hit").first.locator(".bars").is_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/note?**")
    for key, path in (("t", "timeline"), ("a", "agent"), ("c", "changes"), ("p", "dream")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**/{path}")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("d")
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.keyboard.press("/")
    page.wait_for_url(f"{site.base}/")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.errors == []


def test_a_line_is_corrected_after_its_diff_was_shown_and_undone(site: Site) -> None:
    note = site.notes / "MEMORY.md"
    before = note.read_bytes()
    page = site.page()
    page.goto(f"{site.base}/note?path=MEMORY.md")
    page.locator("li:has-text('spare key')").hover()
    page.locator("li:has-text('spare key') .tools a").click()
    page.fill("#new", "- The spare key is under the third stone.")
    page.click("button[value=correct]")
    page.wait_for_selector(".diff .add:has-text('third stone')")
    assert note.read_bytes() == before
    page.click("text=Write it")
    page.wait_for_selector(".done")
    assert b"third stone" in note.read_bytes()
    page.click(".done >> text=Undo")
    page.wait_for_selector(".diff .del:has-text('third stone')")
    page.click("text=Write it")
    page.wait_for_selector(".done")
    assert note.read_bytes() == before


def test_a_note_opens_in_the_editor(site: Site) -> None:
    page = site.page()
    page.goto(f"{site.base}/note?path=MEMORY.md")
    page.click("text=Open in editor")
    page.wait_for_selector(".done:has-text('my-editor')")


def test_a_day_of_the_year_is_a_click_away(site: Site) -> None:
    page = site.page()
    page.goto(f"{site.base}/timeline?year=2026")
    page.locator(".heat a").first.click()
    page.wait_for_url("**/timeline?day=2026-10-05")
    assert page.locator(".prose").first.is_visible()


def test_the_chart_of_evaluations_stays_in_its_card(site: Site) -> None:
    for width in (360, 1200):
        page = site.page(viewport={"width": width, "height": 800})
        page.goto(f"{site.base}/health")
        assert page.locator(".evaluations tbody tr").count() == 2
        card, plot = (page.locator(one).bounding_box() for one in (".trend", ".plot svg"))
        assert card["y"] < plot["y"]
        assert plot["y"] + plot["height"] < card["y"] + card["height"]
        assert plot["x"] + plot["width"] < card["x"] + card["width"]
        assert page.locator(".plot .last").count() == 2
        assert page.errors == []


@pytest.mark.parametrize("look", ["light", "dark", "narrow", "plain"])
def test_no_page_has_a_barrier(site: Site, look: str) -> None:
    axe = os.environ.get("COMMONPLACE_AXE", "")
    if not os.path.isfile(axe):
        missing("needs axe-core from npm: its axe.min.js in COMMONPLACE_AXE")
    with open(axe, encoding="utf-8") as file:
        source = file.read()
    page = site.page(
        color_scheme="dark" if look == "dark" else "light",
        viewport={"width": 360 if look == "narrow" else 1200, "height": 800},
        java_script_enabled=True,
        bypass_csp=True,  # axe is injected; our own policy holds for all else
    )
    if look == "plain":
        page.route("**/page.js", lambda route: route.abort())
    found = []
    for path in PAGES if look == "light" else PAGES[1:11:2]:
        page.goto(site.base + path)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.evaluate(source)
        report = page.evaluate(f"axe.run({{ runOnly: {list(RULES)} }})")
        found += [
            f"{path}: {one['id']}: {node['html'][:150]}"
            for one in report["violations"]
            for node in one["nodes"][:2]
        ]
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            found.append(f"{path}: {wide} pixels too wide")
    assert found == []


def test_reading_works_without_scripts(site: Site) -> None:
    page = site.page(java_script_enabled=False)
    page.goto(site.base)
    page.fill("#q", "spare key")
    page.click("form.search button")
    page.wait_for_selector(".hit mark")
    page.locator(".why summary").first.click()
    assert page.locator(".bars").first.is_visible()
    page.locator(".hit h3 a").first.click()
    page.wait_for_selector(".note")
    for path in PAGES[:-1]:
        assert page.goto(site.base + path).status == 200


HOSTILE = (
    "<script>document.title='ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    "<img src='http://evil.test/{n}.png'>",
    "![x](http://evil.test/{n}.png)",
    "<svg onload=\"document.title='ran'\"><script>document.title='ran'</script></svg>",
    "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe>",
    "<iframe src=http://evil.test/{n}></iframe>",
    "<style>@import 'http://evil.test/{n}.css'; body {{ display: none }}</style>",
    "<link rel=stylesheet href=http://evil.test/{n}.css>",
    "<link rel=prefetch href=http://evil.test/{n}>",
    "<meta http-equiv=refresh content='0;url=http://evil.test/{n}'>",
    "<base href=http://evil.test/>",
    "<object data=http://evil.test/{n}></object><embed src=http://evil.test/{n}>",
    "<video src=http://evil.test/{n} autoplay></video><audio src=http://evil.test/{n}></audio>",
    '<p style="background:url(http://evil.test/{n})">x</p>',
    "<details open ontoggle=\"document.title='ran'\">x</details>",
    "<math><mtext><table><mglyph><style><img src=x onerror=\"document.title='ran'\"></style>",
    "<form action=/apply><input autofocus onfocus=\"document.title='ran'\">",
    "[x](javascript:document.title='ran')",
    "<a href=\" java&#x09;script:document.title='ran'\" data-open>x</a>",
    "[[\"><script>document.title='ran'</script>]]",
    "```html\n<script>document.title='ran'</script>\n```",
    "| a |\n|---|\n| <img src=x onerror=\"document.title='ran'\"> |",
    "<x-y is=z onclick=\"document.title='ran'\" data-lines=1-1 data-item>x</x-y>",
    "\ue000<script\ue001>document.title='ran'</script>",
)


def test_a_hundred_hostile_notes_run_and_load_nothing(
    serve: Callable[..., Site], tmp_path: Path
) -> None:
    notes = tmp_path / "hostile"
    (notes / "memory").mkdir(parents=True)
    for number in range(100):
        attack = HOSTILE[number % len(HOSTILE)].format(n=number)
        front = f"---\ntitle: {attack.splitlines()[0]}\ntags: [<b>x]\n---\n" if number % 2 else ""
        text = f"{front}# Note {number} {attack.splitlines()[0]}\n\nneedle {number}\n\n{attack}\n"
        name = f"2026-01-{number % 28 + 1:02} {number} <img src=x onerror=document.title='ran'>.md"
        if number % 4 == 0:
            name = f"2026-01-{number % 28 + 1:02}-{number}.md"
        (notes / "memory" / name).write_text(text)
    site = serve(notes)
    page = site.page()
    shown = 0
    addresses = [f"/note?path={quote(f'memory/{name}')}" for name in os.listdir(notes / "memory")]
    addresses += [f"/?q=needle+{number}" for number in range(0, 100, 10)]
    addresses += [f"/timeline?day=2026-01-{day:02}" for day in range(1, 29, 3)]
    for address in (
        *addresses,
        "/?q=needle&most=100",
        "/agent?q=needle",
        "/health?deep=1&audit=1&wait=1",
    ):
        answer = page.goto(site.base + address)
        shown += answer.status == 200
        assert page.title() != "ran"
    page.goto(f"{site.base}/")
    page.wait_for_selector("#q:focus")  # autofocus comes with the first frame
    page.keyboard.type("needle onerror")
    page.wait_for_selector(".hit")
    assert page.title() != "ran"
    assert shown == len(addresses) + 3
    assert page.errors == []
    assert [url for url in page.requested if not url.startswith(site.base)] == []


def test_the_policy_stops_what_the_sanitiser_would_miss(site: Site) -> None:
    page = site.page()
    page.goto(f"{site.base}/")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend',"
        ' `<img src="http://evil.test/x.png" onerror="document.title=\'ran\'">`)'
    )
    page.evaluate("fetch('http://evil.test/y').catch(() => 0)")
    assert page.title() != "ran"


def test_read_only_offers_no_change(serve: Callable[..., Site], site: Site) -> None:
    page = serve(site.notes, "--read-only").page()
    base = page.url.rstrip("/")
    for path in ("/note?path=MEMORY.md", "/note?path=MEMORY.md&view=lines", "/changes"):
        page.goto(base + path)
        assert page.locator("form[method=post], .tools, .change").count() == 0
