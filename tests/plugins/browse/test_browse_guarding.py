from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "127.0.0.1:8000"


def test_a_token_works_once_and_gives_a_session(make_browser: Callable[..., Any]) -> None:
    used: list[int] = []
    browser = make_browser(used=lambda: used.append(1))
    browser.headers = {}
    token = browser.keys.new_token()
    first = browser.raw("GET", f"/?token={token}")
    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert browser.client.get("/").status_code == 200
    browser.client.cookies.clear()
    assert browser.raw("GET", f"/?token={token}").status_code == 403
    assert used == [1]


def test_a_token_is_good_where_nothing_reads_the_terminal(
    make_browser: Callable[..., Any],
) -> None:
    def used() -> None:
        raise BrokenPipeError

    browser = make_browser(used=used)
    assert browser.raw("GET", f"/?token={browser.keys.new_token()}").status_code == 303


@pytest.mark.parametrize("path", ["/", "/note?path=MEMORY.md", "/health", "/?token=wrong", "/x"])
def test_nothing_is_shown_without_the_session(browser: Any, path: str) -> None:
    for headers in ({}, {"cookie": f"{browser.keys.cookie}=wrong"}):
        browser.headers = headers
        answer = browser.raw("GET", path)
        assert answer.status_code == 403
        assert "Skerry" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""]
)
def test_another_host_is_refused(browser: Any, host: str) -> None:
    answer = browser.raw("GET", "/", headers={"host": host})
    assert answer.status_code == 403


def test_every_answer_has_the_policy(browser: Any) -> None:
    for path in ("/", "/static/style.css", "/nothing", "/note?path=../x"):
        headers = browser.raw("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert (headers["referrer-policy"], headers["cache-control"]) == ("same-origin", "no-store")
    browser.headers = {}
    assert "content-security-policy" in browser.raw("GET", "/").headers


REMEMBER = {"action": "remember", "new": "The ferry leaves at noon"}


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({}, {}),  # no Origin
        ({"origin": "null"}, {}),
        ({"origin": "http://evil.example"}, {}),
        ({"origin": "http://127.0.0.1:9999"}, {}),
        ({"origin": "http://["}, {}),
        ({"origin": f"http://{HOST}", "sec-fetch-site": "cross-site"}, {}),
        ({"origin": f"http://{HOST}"}, {"csrf": "wrong"}),
        ({"origin": f"http://{HOST}"}, {"csrf": ""}),
        ({"origin": f"http://{HOST}"}, {f"field{number}": "x" for number in range(1_000)}),
    ],
)
def test_a_foreign_form_changes_nothing(
    browser: Any, memory: Any, headers: dict[str, str], fields: dict[str, str]
) -> None:
    data = {"csrf": browser.keys.csrf, **REMEMBER, **fields}
    for path in ("/preview", "/apply", "/open", "/dream/apply"):
        assert browser.raw("POST", path, data=data, headers=headers).status_code == 403
    assert not memory.writer(who="test").journal()


def test_read_only_refuses_every_change(make_browser: Callable[..., Any], memory: Any) -> None:
    browser = make_browser(read_only=True)
    for path in ("/preview", "/apply", "/open", "/dream/preview", "/dream/apply"):
        browser.post(path, 403, **REMEMBER)
    browser.get("/edit?at=MEMORY.md%23L3", 400)
    assert "/edit" not in browser.get("/note?path=MEMORY.md&view=lines")
    assert not memory.writer(who="test").journal()


def test_other_methods_and_long_bodies_are_refused(browser: Any) -> None:
    assert browser.raw("PUT", "/apply").status_code == 403
    answer = browser.post("/preview", 413, action="remember", new="x" * 1_000_001)
    assert "too long" in answer.text
