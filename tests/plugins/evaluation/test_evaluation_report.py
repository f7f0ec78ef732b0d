"""Reports: one file, complete in itself."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

needs_extra = pytest.mark.skipif(
    find_spec("pygal") is None or find_spec("jinja2") is None, reason="needs the extra eval"
)
HOSTILE = "</script><img src=https://evil.example/x onerror=alert(1)>"


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    relevant = [{"path": "MEMORY.md", "startLine": 26, "endLine": 26}]
    facts = [
        {"id": "key", "query": "who has the spare key?", "relevant": relevant, "category": "fact"},
        {"id": "x", "query": HOSTILE, "relevant": relevant, "category": HOSTILE, "lang": "en"},
    ]
    (tmp_path / "q").mkdir()
    file = tmp_path / "q" / "mine.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in facts), encoding="utf-8")
    (tmp_path / "q" / "few.json5").write_text(
        "{ memory: { search: { query: { minScore: 0.99 } } } }", encoding="utf-8"
    )
    return file


@pytest.mark.parametrize(
    ("path", "words"), [("new/sub/r.html", "there is no folder"), (".", "is a folder")]
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_measured(
    run: Callable[..., Any], queries: Path, workspace: str, home: Path, path: str, words: str
) -> None:
    ran = run("eval", str(queries), "--workspace", workspace, "--html", path)
    assert (ran.code, ran.out) == (1, "")
    assert words in ran.err
    assert "queries" not in ran.err
    assert not (home / "new").exists()


class _Links(HTMLParser):
    """Collects what a browser would fetch for a page, that of pictures in it included."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.asked_for: list[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            head, _, data = (value or "").partition(",")
            if name.startswith("on"):
                self.asked_for.append(f"{name}={value}")
            elif head == "data:image/svg+xml;base64":
                picture = _Links()
                picture.feed(base64.b64decode(data).decode())
                self.pictures += 1
                self.tags |= picture.tags
                self.asked_for += picture.asked_for
            elif "href" in name or name in ("src", "srcset", "action", "data"):
                self.asked_for.append(str(value))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style":
            self.asked_for += re.findall(r"url\([^)]*\)|@import[^;]*", data)


@needs_extra
def test_a_report_asks_for_nothing_and_escapes_everything(
    run: Callable[..., Any], workspace: str, tmp_path: Path, queries: Path
) -> None:
    report = tmp_path / "report.html"
    argv = ("eval", str(queries), "--workspace", workspace, "--html", str(report))
    for more in ((), ("--compare", str(queries.parent / "few.json5"))):
        report.unlink(missing_ok=True)
        assert run(*argv, *more).code == 0
        page = report.read_text(encoding="utf-8")
        assert "default-src 'none'" in page
        links = _Links()
        links.feed(page)
        assert links.asked_for == []
        assert links.pictures > 0
        assert "table" in links.tags
        assert "script" not in links.tags
        assert "onerror" in page  # as text
    assert "few.json5 against current" in page
    assert "MEMORY.md#L26" in page


@needs_extra
def test_a_report_says_what_answered_and_what_stands_against_its_figures(
    run: Callable[..., Any], workspace: str, tmp_path: Path, queries: Path
) -> None:
    relevant = [{"path": "memory/gone.md", "startLine": 1, "endLine": 1}]
    lost = json.dumps({"id": "lost", "query": "who is gone?", "relevant": relevant})
    queries.write_text(queries.read_text(encoding="utf-8") + lost, encoding="utf-8")
    report = tmp_path / "report.html"
    argv = ("eval", str(queries), "--workspace", workspace, "--html", str(report))
    for more in ((), ("--compare", str(queries.parent / "few.json5"))):
        report.unlink(missing_ok=True)
        ran = run(*argv, *more)
        page = report.read_text(encoding="utf-8")
        assert "answered by builtin" in page
        assert "1 relevant note is not in" in ran.err
        assert "1 relevant note is not in" in page


def test_without_the_extra_the_command_says_what_to_install(
    run: Callable[..., Any],
    workspace: str,
    tmp_path: Path,
    queries: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    report = tmp_path / "report.html"
    ran = run("eval", str(queries), "--workspace", workspace, "--html", str(report))
    assert ran.code == 1
    assert "commonplace[eval]" in ran.err
    assert not report.exists()
