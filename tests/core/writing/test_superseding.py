"""What is superseded stays what it is in Markdown, or is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commonplace.errors import WriteRefusedError
from commonplace.text.facts import superseded_in
from commonplace.writing.entries import superseded
from commonplace.writing.notefile import split_lines

TABLE = "# F\n\n| k | v |\n|---|:-:|\n| port | 80 |\n| host | a |\n"
MARK = "(superseded 2026-11-22 by: {})"


def supersede(text: str, first: int, new: str, last: int = 0) -> str:
    """``text`` with ``new`` in place of its lines ``first`` to ``last``, counted from 1."""
    lines = superseded(split_lines(text), first - 1, last or first, new, day="2026-11-22", end="\n")
    return "".join(lines)


def blocks(text: str) -> Counter[str]:
    """How often each kind of block is in ``text``; inline marks are counted, too."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inside = [child for token in tokens for child in token.children or ()]
    return Counter(token.type for token in (*tokens, *inside))


@pytest.mark.parametrize(
    ("line", "new", "old", "below"),
    [
        ("> The port is 80.", "It is 81.", "> ~~The port is 80.~~", "> It is 81."),
        ("> - port 80", "> - port 81", "> - ~~port 80~~", "> - port 81"),
        ("~5 minutes", "6 minutes", r"~~\~5 minutes~~", "6 minutes"),
        ("- in C:\\notes\\", "in D:", "- ~~in C:\\notes\\\\~~", "- in D:"),
        ("- [x] port 80", "port 81", "- [x] ~~port 80~~", "- [x] port 81"),
        ("- - port 80", "- - port 81", "- - ~~port 80~~", "- - port 81"),
    ],
)
def test_a_line_is_struck_out_behind_its_marks(line: str, new: str, old: str, below: str) -> None:
    words = below.lstrip("->[x] ") if not new.startswith("- -") else "- port 81"
    changed = supersede(f"{line}\n", 1, new)
    assert changed == f"{old} {MARK.format(words)}\n{below}\n"
    assert blocks(changed)["s_open"] == 1


def test_a_row_of_a_table_is_struck_out_cell_by_cell() -> None:
    changed = supersede(TABLE, 5, "| port | 81 |")
    mark = MARK.format(r"port \| 81")
    row = f"| ~~port~~ | ~~80~~ {mark} |"
    assert changed == TABLE.replace("| port | 80 |", f"{row}\n| port | 81 |")
    before, after = blocks(TABLE), blocks(changed)
    assert (after["table_open"], after["tr_open"]) == (1, before["tr_open"] + 1)
    assert after["td_open"] == before["td_open"] + 2
    assert superseded_in(row) == ("port~~ | ~~80", "2026-11-22")


def test_a_paragraph_below_a_table_is_none_of_its_rows() -> None:
    changed = supersede(f"{TABLE}- port 80\n", 7, "port 81")
    assert changed.endswith(f"- ~~port 80~~ {MARK.format('port 81')}\n- port 81\n")


@pytest.mark.parametrize("new", ["81", "| port |", "| port | 81 | x |", "| port | 81 |\nmore"])
def test_a_row_is_only_superseded_by_rows(new: str) -> None:
    with pytest.raises(WriteRefusedError, match="no such row") as refused:
        supersede(TABLE, 5, new)
    assert refused.value.hint == "give it 2 cells: | … | … |"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("# Facts\n", 1, "line 1 is a heading"),
        ("Facts\n=====\n", 1, "a heading"),
        ("Facts\n=====\n", 2, "a line of marks"),
        ("> ## Facts\n", 1, "a heading"),
        ("text\n\n---\n", 3, "a line of marks"),
        (TABLE, 3, "the head of a table"),
        (TABLE, 4, "a line of marks"),
        ("```sh\nport=80\n```\n", 1, "code"),
        ("```sh\nport=80\n```\n", 2, "code"),
        ("```sh\nport=80\n```\n", 3, "code"),
        ("~~~\n~~~\n", 2, "code"),
        ("---\ntitle: x\n---\n", 2, "front matter"),
        ("<div>\n", 1, "HTML"),
        ("<!-- todo -->\n", 1, "HTML"),
        ("[a]: https://example.org\n", 1, "the target of links"),
        (">\n", 1, "a line of marks"),
    ],
)
def test_what_cannot_be_struck_out_is_refused(text: str, line: int, why: str) -> None:
    with pytest.raises(WriteRefusedError, match=why) as refused:
        supersede(text, line, "new")
    assert "correct it without keeping the old" in refused.value.hint


def test_rows_are_not_superseded_with_what_is_beside_them() -> None:
    with pytest.raises(WriteRefusedError, match="only some"):
        supersede("- a\n" + TABLE.removeprefix("# F\n\n") + "\n- b\n", 5, "| a | b |", last=7)


def test_what_is_superseded_already_is_refused_with_what_holds() -> None:
    once = supersede("# Facts\n\nThe port is 8080.\n\n## Next\n", 3, "The port is 9090.")
    with pytest.raises(WriteRefusedError, match="line 3 is superseded already") as refused:
        supersede(once, 3, "The port is 9191.")
    assert refused.value.hint == "cite what took its place: line 4"
    twice = supersede(once, 4, "The port is 9191.")
    with pytest.raises(WriteRefusedError, match="line 3 is superseded already") as refused:
        supersede(twice, 3, "The port is 9292.")
    assert refused.value.hint == "cite what took its place: line 5"
    alone = "".join(split_lines(once)[:3])
    with pytest.raises(WriteRefusedError, match="already") as refused:
        supersede(alone, 3, "The port is 9191.")
    assert refused.value.hint == "cite the line that took its place"
    with pytest.raises(WriteRefusedError, match="struck out in part"):
        supersede("- ~~80~~ 81\n", 1, "82")


LINES = (
    *("- port 80", "port 80", "> port 80", "  more", "| a | b |", "|---|---|", "| 1 | 2 |"),
    *("# H", "---", "```", "~~~", "~5", "5~", "a\\", "1. [ ] x", "~~a~~ b", "<b>", "", ">", "=="),
)


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8), st.integers(0, 7))
@example(["text", "| a | b |", "|---|---|", "# H"], 3)
def test_no_block_is_lost_or_begun(lines: list[str], at: int) -> None:
    at %= len(lines)
    if not lines[at].strip():
        return
    text = "".join(f"{line}\n" for line in lines)
    new = "| 3 | 4 |" if "|" in lines[at] else "new"
    try:
        changed = supersede(text, at + 1, new)
    except WriteRefusedError:
        return
    before, after = blocks(text), blocks(changed)
    for kind in ("heading_open", "fence", "code_block", "table_open", "hr", "html_block"):
        assert before[kind] == after[kind], kind
    assert after["tr_open"] - before["tr_open"] in (0, 1)
