"""The piece of a file that answers best."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_qmd.passages import Passage, best_passage

ANALYSER = make_analyser()


def best(text: str, query: str, *, size: int = 56, line: int | None = None) -> Passage | None:
    asked = ANALYSER.query(parse_query(query))
    return best_passage(text, asked, ANALYSER, size=size, line=line)


LONG = """\
# Servers

The staging server is old.

## Ports

Nothing here.
The staging server listens on port 8443.
And on 8080.

```
# no heading
```

## Walrus

A walrus."""


def test_the_lines_with_most_words() -> None:
    found = best(LONG, "which port does the staging server listen on?")
    assert found is not None
    assert (found.start_line, found.end_line) == (8, 9)
    assert found.text == "The staging server listens on port 8443.\nAnd on 8080."
    assert found.heading == ("Servers", "Ports")


def test_it_begins_at_its_heading_where_there_is_room() -> None:
    found = best(LONG, "walrus", size=200)
    assert found is not None
    assert (found.start_line, found.end_line) == (15, 17)
    assert found.heading == ("Servers", "Walrus")


def test_rare_words_count_more() -> None:
    text = "\n".join(["server server server", *["server"] * 30, "walrus"])
    found = best(text, "server walrus", size=20)
    assert found is not None
    assert "walrus" in found.text


def test_without_any_word_it_is_where_the_engine_says() -> None:
    found = best(LONG, "sea mammals", line=17, size=12)
    assert found is not None
    assert (found.start_line, found.text) == (17, "A walrus.")
    for line in (None, 0, -3, 999):
        assert best(LONG, "sea mammals", line=line) is not None


def test_a_line_that_is_too_long_is_cut_around_its_match() -> None:
    found = best("x " * 2000 + "walrus " + "y " * 2000, "walrus", size=100)
    assert found is not None
    assert (found.start_line, found.end_line) == (1, 1)
    assert "walrus" in found.text
    assert len(found.text) <= 100


def test_a_phrase_must_be_there_and_an_excluded_word_must_not() -> None:
    text = "staging then server\n" + "\n" * 100 + "the staging server\n" + "\n" * 100 + "a server"
    found = best(text, '"staging server"')
    assert found is not None
    assert found.start_line == 102
    assert best(text, '"server staging"') is None
    found = best(text, "server -staging")
    assert found is not None
    assert found.text == "a server"
    assert best("staging server", "server -staging") is None


def test_of_a_huge_file_the_part_around_the_engines_line_is_looked_at() -> None:
    lines = ["filler words of no worth"] * 60_000
    lines[50_000] = "a walrus"
    found = best("\n".join(lines), "walrus", line=49_990)
    assert found is not None
    assert "a walrus" in found.text
    assert found.start_line <= 50_001 <= found.end_line


@given(st.text("ab \n#`wr\r", max_size=200), st.integers(1, 80))
def test_it_is_always_a_piece_of_its_lines(text: str, size: int) -> None:
    found = best(text, "ab wr", size=size)
    assert found is not None
    lines = text.split("\n")
    assert 1 <= found.start_line <= found.end_line <= len(lines)
    assert len(found.text) <= size
    assert found.text in "\n".join(lines[found.start_line - 1 : found.end_line])
