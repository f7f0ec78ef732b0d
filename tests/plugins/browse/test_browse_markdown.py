from __future__ import annotations

import re

import pytest

pytest.importorskip("nh3", reason="needs the extra browse")
pytest.importorskip("markdown_it", reason="needs the extra browse")

from commonplace_browse.markdown import LONGEST, plain_title, render_note, render_snippet

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/a.png)",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "<a href='java\nscript:alert(1)'>x</a>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<iframe src=//evil.example></iframe>",
    "<style>@import '//evil.example'</style>",
    "<link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form action=/apply method=post><input name=csrf><button>x</button></form>",
    "<p style='background:url(//evil.example)' onclick=alert(1) data-lines=1-9>x</p>",
    '[[x"><script>alert(1)</script>]]',
    "\ue000<script\ue001>alert(1)</script>",
]
BAD = re.compile(
    r"<(?:script|img|svg|iframe|style|link|meta|form|input|base)|\son\w+=|style=", re.IGNORECASE
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_runs_or_loads_is_gone(text: str) -> None:
    found = str(render_note(text, "a.md").html) + str(render_snippet(text, ((1, 5),), "a.md"))
    tags = re.findall(r"<[a-zA-Z/!?][^>]*>", found)
    assert not [tag for tag in tags if BAD.search(tag)]
    for address in re.findall(r'href="([^"]*)"', found):
        assert address.startswith(("/go?", "http://", "https://", "mailto:"))


def test_a_note_cannot_forge_lines() -> None:
    html = str(render_note("<p data-lines='1-9'>x</p>\n\ny", "a.md").html)
    assert re.findall(r'data-lines="([^"]*)"', html) == ["3-3"]


def test_lines_are_counted_as_notes_count_them() -> None:
    html = str(render_note("# a\r\n\nb\rc\rd\r\n\ne\n\r\r", "a.md").html)
    assert re.findall(r'data-lines="([^"]*)"', html) == ["1-1", "3-3", "5-5"]


def test_matches_are_marked_in_text_only() -> None:
    text = "A [port](http://port.example/port) and `port`"
    spots = tuple(match.span() for match in re.finditer("port", text))
    html = str(render_snippet(text, spots, "a.md"))
    assert html.count("<mark>port</mark>") == 2
    assert 'href="http://port.example/port"' in html


def test_blocks_have_the_lines_of_the_file() -> None:
    text = "---\ntags: [a]\n---\n# Title\n\nText of\ntwo lines\n\n- one\n- two\n  more\n"
    rendered = render_note(text, "a.md")
    assert rendered.properties == "tags: [a]"
    lines = re.findall(r'data-lines="([^"]*)"', str(rendered.html))
    assert lines == ["4-4", "6-7", "9-9", "10-11"]


def test_links_lead_to_notes_through_us() -> None:
    html = str(render_note("[a](b.md) and [[Tide API|it]]", "memory/x.md").html)
    assert 'href="/go?to=b.md&amp;from=memory/x.md"' in html
    assert 'href="/go?to=Tide%20API&amp;from=memory/x.md"' in html


def test_a_long_note_is_cut() -> None:
    assert not render_note("word " * LONGEST, "a.md").whole


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("How `npm install` uses `package-lock.json`", "How npm install uses package-lock.json"),
        ("Installation (via [npm](https://example.org/x))", "Installation (via npm)"),
        ("**Key** points of __init__ ~~old~~", "Key points of init old"),
        ("2 * 3 * 4 ** 2 == 48", "2 * 3 * 4 ** 2 == 48"),
        ("a_b_c [1]", "a_b_c [1]"),
    ],
)
def test_a_title_is_plain(heading: str, plain: str) -> None:
    assert plain_title(heading) == plain
