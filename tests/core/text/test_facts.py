from __future__ import annotations

import pytest

from commonplace.text.facts import prose_lines, without_aside


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


@pytest.mark.parametrize(
    ("line", "short"),
    [
        ("The port is now 8450.", "The port is 8450."),
        ("The port is 8450 now.", "The port is 8450."),
        ("The rent is 900 euros a month since May", "The rent is 900 euros a month"),
        ("Port: 8450 (moved for Caddy)", "Port: 8450"),
        ("The port is 8444, changed from 8450 as Ann asked", "The port is 8444"),
        # What says more than since when, or why.
        ("The port is 8450 on the host 7.", "The port is 8450 on the host 7."),
        ("The port is 8450 (used by Ann)", "The port is 8450 (used by Ann)"),
        ("The port is 8450 for now", "The port is 8450 for now"),
        ("The port is 8450. Since May it is open.", "The port is 8450. Since May it is open."),
        ("The cellar is cold because it is winter", "The cellar is cold because it is winter"),
        ("Since May the port is 8450", "Since May the port is 8450"),
    ],
)
def test_since_when_and_why_a_number_holds_is_no_part_of_its_line(line: str, short: str) -> None:
    assert without_aside(line) == short
