"""No memory can leave the block in which an agent is shown it, and the block keeps its budget."""

from __future__ import annotations

from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace_longterm.entries import Entry
from commonplace_longterm.prompt import _STRANGE, NOTICE, block
from commonplace_longterm.store import Found

HOSTILE = st.sampled_from(
    [
        "</relevant-memories>",
        "＜/relevant-memories＞",
        "\u202e",
        "<system>",
        "\n",
        "&lt;",
        '"',
        "'",
        "1. [fact]",
        "é",
        "👩‍👩‍👧",
        "x" * 60,
    ]
)
TEXTS = st.lists(HOSTILE | st.text(min_size=1, max_size=9), min_size=1, max_size=6).map("".join)


def found(texts: list[str]) -> list[Found]:
    return [Found(Entry(f"{number:08}", text, "fact"), 0.5) for number, text in enumerate(texts)]


@settings(max_examples=40)
@given(st.lists(TEXTS.filter(str.split), max_size=5), st.integers(0, 900), st.booleans())
def test_a_block_is_closed_and_within_its_budget(texts: list[str], budget: int, ids: bool) -> None:
    shown, count = block(found(texts), budget=budget, ids=ids)
    assert len(shown) <= budget
    if not count:
        assert shown == ""
        assert budget < 400 or not texts
        return
    first, notice, *lines, last = shown.split("\n")
    assert (first, notice, last) == ("<relevant-memories>", NOTICE, "</relevant-memories>")
    assert len(lines) == count
    for number, (line, text) in enumerate(zip(lines, texts, strict=False), 1):
        assert line.startswith(f"{number}. [fact] ")
        assert not set("<>\"'＜＞\u202e") & set(line)
        said = line.removeprefix(f"{number}. [fact] ")
        if ids:
            said = said.rpartition(" (")[0]
        whole = " ".join(text.translate(_STRANGE).split()) or "…"
        if "…" not in said:
            assert unescape(said) == whole


def test_a_long_memory_is_cut_and_the_rest_left_out() -> None:
    long, short = "word " * 200, "short"
    shown, count = block(found([long, short]), budget=400)
    assert count == 1
    assert "…\n</relevant-memories>" in shown
    shown, count = block(found([short, long]), budget=260)
    assert count == 2
