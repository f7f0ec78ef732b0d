from __future__ import annotations

import pytest

from commonplace.text.facts import prose_lines


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("one\n```\ncode\n```\ntwo", [1, 5]),
        ("one\n```sh\ncode\n```sh\nmore\n```\ntwo", [1, 7]),
        ("````md\n```\ncode\n```\n````\ntwo", [6]),
        ("~~~\n```\n~~~\ntwo", [4]),
        ("```code``` in a line\ntwo", [1, 2]),
        ("~~~ `sh`\ncode\n~~~\ntwo", [4]),
        ("one\n```\ncode that does not end", [1]),
        ("---\ntitle: x\n---\none", [4]),
    ],
)
def test_prose_lines_are_outside_code_and_front_matter(text: str, numbers: list[int]) -> None:
    assert [number for number, _ in prose_lines(text)] == numbers
