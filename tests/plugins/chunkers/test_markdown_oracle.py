"""The scanner against markdown-it-py, on generated texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commonplace_chunkers.scanner import NO_BORDER, outline

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.slow

PARSER = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table")

Found = dict[str, list[tuple[object, ...]]]


def expected(text: str) -> Found:
    lines = text.split("\n")
    found: Found = {"headings": [], "fences": [], "lists": [], "tables": []}
    tokens = PARSER.parse(text)
    for at, token in enumerate(tokens):
        start, stop = token.map or (0, 0)
        if token.type == "heading_open":
            words = " ".join(tokens[at + 1].content.split())
            place = (start, stop, int(token.tag[1]), token.level > 0, words)
            found["headings"].append(place)
        elif token.type == "fence":
            found["fences"].append((start, stop))
        elif token.type == "table_open" and not token.level:
            found["tables"].append((start, stop))
        elif token.type.endswith("list_open") and not token.level:
            while not lines[stop - 1].strip(" \t"):  # blank lines after a list are not its own
                stop -= 1
            found["lists"].append((start, stop))
    return {kind: sorted(places, key=repr) for kind, places in found.items()}


def actual(text: str) -> Found:
    found: Found = {"headings": [], "fences": [], "lists": [], "tables": []}
    for block in outline([line.removesuffix("\r") for line in text.split("\n")]).blocks:
        if block.kind == "heading":
            place = (block.start, block.stop, block.level, block.depth > 0, block.text)
            found["headings"].append(place)
        elif block.kind == "fence" or not block.depth:
            found[f"{block.kind}s"].append((block.start, block.stop))
    return {kind: sorted(places, key=repr) for kind, places in found.items()}


# --- well-formed documents, deeply nested ---------------------------------------------------------

words = st.lists(
    st.sampled_from(
        ["a", "note", "v2", "naïve", "日本", "ไทย", "`x`", "*em*", "[l](u)", "C#", "a|b"]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)
plain = st.builds("w{}".format, words)
code = st.lists(
    st.sampled_from(["# no", "- no", "", "    x", "===", "---", "| a |", "|---|", "<div>", "> no"]),
    max_size=4,
)


def _fence(mark: str, info: str, body: Sequence[str]) -> list[str]:
    return [mark + info, *body, mark]


def _table(width: int, rows: int) -> list[str]:
    return ["| a " * width + "|", "|---" * width + "|", *["| b " * width + "|"] * rows]


leaves: st.SearchStrategy[list[str]] = st.one_of(
    st.lists(plain, min_size=1, max_size=3),
    st.builds("{} {}".format, st.sampled_from(["#", "##", "######"]), words).map(lambda h: [h]),
    st.builds(lambda text, mark: [text, mark], plain, st.sampled_from(["===", "-", "---"])),
    st.builds(_fence, st.sampled_from(["```", "~~~~"]), st.sampled_from(["", "py", " a b"]), code),
    st.builds(_table, st.integers(1, 3), st.integers(0, 3)),
    st.builds(lambda body: ["<!--", *body, "-->"], code),
    st.builds(lambda body: ["<div>", *[line for line in body if line], "</div>"], code),
    st.sampled_from(
        [["***"], ["_ _ _"], ["    # code"], ["[ref]: /url 'title'"], ["[ref]:", "/u"]]
    ),
)


def _join(parts: Sequence[Sequence[str]]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        lines += ["", *part] if lines else part
    return lines


def _items(mark: str, items: Sequence[Sequence[str]]) -> list[str]:
    lines: list[str] = []
    for item in items:
        first, *rest = item
        lines.append(mark + first)
        lines += [" " * len(mark) + line if line else "" for line in rest]
    return lines


def _containers(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    contents = st.lists(inner, min_size=1, max_size=3).map(_join)
    return st.one_of(
        st.builds(lambda lines: [f"> {line}" for line in lines], contents),
        st.builds(
            _items,
            st.sampled_from(["- ", "* ", "+   ", "1. ", "7) ", "10.  "]),
            st.lists(contents, min_size=1, max_size=3),
        ),
    )


documents = st.lists(st.recursive(leaves, _containers, max_leaves=8), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(documents, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]))
def test_agrees_on_documents(parts: list[list[str]], line_end: str, last: str) -> None:
    text = "\n".join(_join(parts)) + last
    assert actual(text.replace("\n", line_end)) == expected(text)


@settings(max_examples=150, deadline=None)
@given(documents)
def test_a_quote_around_it_all_changes_only_the_depth(parts: list[list[str]]) -> None:
    lines = _join(parts)
    bare, quoted = outline(lines), outline([f"> {line}" for line in lines])
    kept = [block for block in bare.blocks if block.kind in {"heading", "fence", "table"}]
    assert [block for block in quoted.blocks if block.kind in {"heading", "fence", "table"}] == [
        block._replace(depth=block.depth + 1) for block in kept
    ]
    deeper = [rank if rank == NO_BORDER else rank + 2 for rank in bare.borders]
    assert list(quoted.borders) == [0, *deeper[1:]]


# --- lines thrown together ------------------------------------------------------------------------

LINES = [
    *("", "", "a", "b c", "# h", "## h ##", "#", "#x", "```", "```", "~~~", "````", "``` a`b"),
    *("===", "---", "-- ", "=", "- - -", "***", "_ _ _", "a | b", "| a | b |", "| a", "a\\|b | c"),
    *("[a]: b", "[a]: <b> 't'", "[a]:", 'b "t"', '"t', 't"', "[a", "b]: c", "'x'", "(x", "a)"),
    *("<div>", "</div>", "<!-- x", "x -->", "<a>", "<pre>", "</pre>", "<?php", "?>", "<a b='c'"),
    *("a\\", "é 字", "+", "1.", "2.", "-"),
]
ROWS = ["|---|---|", "--- | ---", "|-|", ":-:|-", "---"]
MARKS = ["- ", "- ", "* ", "+ ", "1. ", "2. ", "1) ", "> ", "> ", ">", "-   ", "10. ", "-     "]
# An indentation of four or more stands only before words, and rows of tables stand at the edge:
# otherwise markdown-it-py differs from CommonMark (see the last tests of test_markdown_blocks).
jumble = st.lists(
    st.one_of(
        st.builds(
            lambda indent, marks, line: indent + "".join(marks) + line,
            st.sampled_from(["", "", "", " ", "  ", "   "]),
            st.lists(st.sampled_from(MARKS), max_size=3),
            st.sampled_from(LINES),
        ),
        st.builds(
            lambda indent, line: indent + line,
            st.sampled_from(["    ", "     ", "      ", "\t", " \t"]),
            st.sampled_from(["a", "b c", "é", "a | b", "[a]: b", '"t"']),
        ),
        st.builds(
            lambda marks, line: "".join(marks) + line,
            st.lists(st.sampled_from(["> ", ">"]), max_size=2),
            st.sampled_from(ROWS),
        ),
        st.sampled_from(["-\ta", "1.\ta", "#\ta", "-\t", "\t", "   "]),
    ),
    max_size=12,
).map("\n".join)

EMPTY_ITEM_FAR_FROM_NEXT = re.compile(r"^.*(?:[-+*]|\d[.)])[ \t]*\n(?:[ \t>]*\n){2}", re.MULTILINE)


@settings(max_examples=300, deadline=None)
@given(jumble)
def test_agrees_on_lines_thrown_together(text: str) -> None:
    assume(not EMPTY_ITEM_FAR_FROM_NEXT.search(f"{text}\n"))
    assert actual(text) == expected(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="#`~-=*+>|:_<!1. )[]\\\"'ab\n\n", max_size=40))
def test_agrees_on_marks_thrown_together(text: str) -> None:
    assume(not re.search(r"^.*(?:    |\t|\n {1,3}[|:-])", text, re.MULTILINE))
    assume(not EMPTY_ITEM_FAR_FROM_NEXT.search(f"{text}\n"))
    assert actual(text) == expected(text)


@pytest.mark.parametrize(
    "text",
    [
        "- a\n\n      # code\n\n  # heading\n",
        "1. a\n\n   ```\n   # no\n   ```\n\n   b\n2. c",
        "> - a\n> - b\nlazy\n> # h\n\n# h",
        "> ```\nnot code\n> # h",
        "- a\n > b\n  > c\n   > d\n",
        "a\n- b\n===\n",
        "* a\n - b\n  + c\n   1. d\n",
        "- a\n - b\n  - c\n   - d\n    - e\n",
        "  - a\n\n    b\n\n c",
        "[a]:\n/url\n'title\nmore'\n# h",
        "[a]: /url 'title'\n[b]: /url\n    code\n# h",
        '[a]: /url\n  "t"\n===\n',
        "[\na\n]: /url\n===\n===",
        "<div\n# no\n\n# yes",
        "<a\n===\n",
        "x\n<!-- -->\n===",
        "- <div>\n# yes",
        "- <!--\n\n  # no\n\n  -->\n# yes",
        "| a | b |\n|---|---|\n| c\n> q",
        "a | b\n:-:|-\nrow\n2. x",
        "- a | b\n  -|-\n  c | d\n\n  e | f",
        "- a\n- b | c\n---|---",
        "# a | b\n---|---\nx",
        "-   \n\n   a\n-\n  b\n",
        "1.      code\n\n   a\n",
        "~~~~    ruby startline=3 $%@#$\n# no\n~~~~~~~\n# yes",
        "``` ```\n===",
        "\f\n# h\n\f# h",
        "a\u2028# no\n\x85# no",
        "\u00a0# no\n# \u00a0yes\u00a0",
        "\ufeff# no",
        "***bold*** text\n* * *\n** not a rule",
        "-\n-\n- \n",
        "- \n  # h\n",
    ],
)
def test_agrees_on_nasty_texts(text: str) -> None:
    assert actual(text) == expected(text)
