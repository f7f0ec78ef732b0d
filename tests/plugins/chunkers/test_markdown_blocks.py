"""The scanner against hand-worked texts."""

from __future__ import annotations

import pytest

from commonplace_chunkers.scanner import NO_BORDER, Block, outline


def blocks(text: str, kind: str) -> list[tuple[int, int]]:
    return [(b.start, b.stop) for b in outline(text.split("\n")).blocks if b.kind == kind]


def headings(text: str) -> list[tuple[int, str]]:
    found = outline(text.split("\n")).blocks
    return [(b.level, b.text) for b in found if b.kind == "heading"]


def borders(text: str) -> list[int]:
    return list(outline(text.split("\n")).borders)


# --- headings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# One", [(1, "One")]),
        ("###### Six", [(6, "Six")]),
        ("####### Seven", []),
        ("#hashtag", []),
        ("   ## Indented", [(2, "Indented")]),
        ("    # Code", []),
        ("## Closed ##", [(2, "Closed")]),
        ("## Closed ####   ", [(2, "Closed")]),
        ("# C#", [(1, "C#")]),
        ("# a # b", [(1, "a # b")]),
        ("#\tTab", [(1, "Tab")]),
        ("# two  \t words", [(1, "two words")]),
        ("#", [(1, "")]),
        ("## ##", [(2, "")]),
        ("# 日本語", [(1, "日本語")]),
        ("# *kept* `marks`", [(1, "*kept* `marks`")]),
    ],
)
def test_atx_heading(line: str, expected: list[tuple[int, str]]) -> None:
    assert headings(line) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n===", [(1, "Title")]),
        ("Title\n---", [(2, "Title")]),
        ("two\nlines\n===", [(1, "two lines")]),
        ("Title\n   =  ", [(1, "Title")]),
        ("Title\n    ===", []),
        ("Title\n= =", []),
        ("Title\n\n===", []),
        ("> Title\n===", []),
        ("> Title\n> ===", [(1, "Title")]),
        ("- Title\n===", []),
        ("- Title\n  ===", [(1, "Title")]),
        ("***\n===", []),
        ("[a]: /url\n===", []),
        ("[a]: /url\n===\n===", [(1, "===")]),
        ("[a]: /url 'title' rest\n===", [(1, "[a]: /url 'title' rest")]),
        ("[a]: /url\n'not closed\n===", [(1, "'not closed")]),
        ("| a | b |\n|---|---|\n| c | d |\n===", []),
    ],
)
def test_setext_heading(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


# --- fences -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\n# no\n```", [(0, 3)]),
        ("~~~ sh ` ~~~\n# no\n~~~", [(0, 3)]),
        ("``` a`b\n# no", []),
        ("````\n```\n# no\n````\nx", [(0, 4)]),
        ("```\n~~~\n```", [(0, 3)]),
        ("```\n``` x\n```", [(0, 3)]),
        ("```\n# to the end", [(0, 2)]),
        ("```\nto the end\n", [(0, 2)]),
        ("``\n# yes", []),
        ("- ```\n  # no\n  ```\n- b", [(0, 3)]),
        ("- ```\n  ends with its item\nb", [(0, 2)]),
        ("> ```\n> ends with its quote\nb", [(0, 2)]),
        ("- > ```\n  > x\n  > ```", [(0, 3)]),
        ("-     ```\n", []),
    ],
)
def test_fence(text: str, expected: list[tuple[int, int]]) -> None:
    assert blocks(text, "fence") == expected


def test_nothing_inside_a_fence_is_structure() -> None:
    text = "```md\n# no\n- no\n\n| a |\n|---|\n---\n```\n# yes"
    assert headings(text) == [(1, "yes")]
    assert [b.kind for b in outline(text.split("\n")).blocks] == ["fence", "heading"]


# --- html ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "<!--\n# no\n\n# no\n-->",
        "<script>\n# no\n\n# no\n</script>",
        "<?php\n\n# no\n?>",
        "<!DOCTYPE\n# no\n>",
        "<![CDATA[\n\n# no\n]]>",
        "<div>\n# no",
        "</section>\n# no",
        "<my-tag a='>' b=c d>\n# no",
        "x\n<div>\n# no",
    ],
)
def test_nothing_inside_html_is_structure(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    "text", ["<!-- a -->\n# yes", "<div>\n\n# yes", "x\n<my-tag>\n# yes", "<my-tag\n# yes", "< a"]
)
def test_html_ends(text: str) -> None:
    assert [name for _, name in headings(text + "\n\n# yes")] == ["yes"] * (text.count("yes") + 1)


# --- lists and tables ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b\n\n- c\n\npara", [(0, 4)]),
        ("- a\n* b\n+ c", [(0, 1), (1, 2), (2, 3)]),
        ("1. a\n2) b", [(0, 1), (1, 2)]),
        ("- a\nlazy\n\npara", [(0, 2)]),
        ("para\n2. not a list", []),
        ("para\n1. a list", [(1, 2)]),
        ("para\n-\n", []),
        ("- a\n\n\n  still in it\n", [(0, 4)]),
        ("-\n\n  not in it", [(0, 1)]),
        ("-\n  in it", [(0, 2)]),
        ("- a\n***\n- b", [(0, 1), (2, 3)]),
        ("- - -", []),
        ("1234567890. no", []),
        ("-no", []),
        ("- a\n  - b\n    - c\n- d", [(0, 4)]),
        ("* **bold** text\n* **more**", [(0, 2)]),
        ("-\ta\n\n\tb\n", [(0, 3)]),
        ("[a]: /url\n2. a list", [(1, 2)]),
    ],
)
def test_top_level_lists(text: str, expected: list[tuple[int, int]]) -> None:
    found = outline(text.split("\n")).blocks
    assert [(b.start, b.stop) for b in found if b.kind == "list" and not b.depth] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\n\nx", [(0, 3)]),
        ("a | b\n-|-\n1\nnot a row | but taken as one\n- x", [(0, 4)]),
        ("| a | b |\n|---|", []),
        ("| a \\| b |\n|---|", [(0, 2)]),
        ("a\n---", []),
        ("| a |\n| b |", []),
        ("para\n| a |\n|---|", [(1, 3)]),
        ("| a |\n|---|\n# h", [(0, 2)]),
        ("| a |\n|---|\n    code", [(0, 2)]),
        ("- | a |\n  |---|\n  | b |", [(0, 3)]),
        ("> | a |\n> |---|\n| b |", [(0, 2)]),
        ("> | a |\n|---|", []),
        ("- a\nlazy | line\n  ---|---", []),
    ],
)
def test_tables(text: str, expected: list[tuple[int, int]]) -> None:
    assert blocks(text, "table") == expected


# --- front matter -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: x\n# comment\n\ntags: [a]\n---\n# yes",
        '---\n"quoted key": x\n...\n# yes',
        '+++\ntitle = "x"\n+++\n# yes',
        "+++\n[section]\n# comment\n+++\n# yes",
    ],
)
def test_front_matter(text: str) -> None:
    stop = text.split("\n").index("# yes")
    assert outline(text.split("\n")).blocks == [
        Block("front matter", 0, stop, 0),
        Block("heading", stop, stop + 1, 0, 1, "yes"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "---\n\n# yes\n\n---\n",
        "---\n# yes\n---\n",
        "---\nsome words\n---\n",
        "---\ntitle: never closed\n\n# yes",
        "\n---\ntitle: not at the start\n---\n",
        " ---\ntitle: indented\n---\n",
        "---",
        "---\n",
        "",
    ],
)
def test_not_front_matter(text: str) -> None:
    assert blocks(text, "front matter") == []


# --- borders ------------------------------------------------------------------------------------


def test_borders_rank_lines_by_how_deep_the_block_lies_that_begins_there() -> None:
    inside = NO_BORDER
    text = "para\nmore\n\n- item\n  more\n- item\n\n  para\n  - sub\n\n> quote\n>\n> para\n***"
    assert borders(text) == [
        *(0, inside, inside),
        *(0, inside, 1, inside, 2, 2, inside),
        *(0, inside, 2, 0),
    ]


def test_a_table_and_a_fence_have_no_borders_inside() -> None:
    assert borders("| a |\n|---|\n| b |") == [0, NO_BORDER, NO_BORDER]
    assert borders("```\na\n\nb\n```\nc") == [0, *[NO_BORDER] * 4, 0]


# --- where markdown-it-py leaves CommonMark -------------------------------------------------------


def test_a_quote_mark_indented_by_four_does_not_go_on_with_a_quote() -> None:
    assert headings(">\n    > # no") == []
    assert headings("> a\n    > # no") == []


def test_an_indented_line_goes_on_lazily_even_if_it_looks_like_a_block() -> None:
    assert blocks("  1) a\n    > still in the item", "list") == [(0, 2)]


def test_empty_items_far_apart_are_one_list() -> None:
    assert blocks("1.\n\n\n2.", "list") == [(0, 4)]


def test_deeply_nested_markers_are_text() -> None:
    assert headings("> " * 30 + "# yes") == [(1, "yes")]
    assert headings("> " * 40 + "# no") == []
