from __future__ import annotations

import pytest

from commonplace.text.facts import (
    facts,
    prose_lines,
    successor_in,
    superseded_in,
    superseded_mark,
    without_aside,
    without_value,
)


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Log retention is 14 days", "Log retention is 30 days, Priya wanted it for audits"),
        ("Log retention is 14 days", "Log retention is 30 days since Priya asked"),
        ("The wifi password is Tulip-77", "The wifi password is Azahar-1950 (changed by Leo)"),
        ("Deploy day is Thursday", "Deploy day is Tuesday, Sam wants it so"),
        ("Der Port ist 8080", "Der Port ist 9090, weil Caddy 8080 hat"),
        ("- On call: Ana Ruiz", "- On call: Bob Lee"),
        ("- Owner: Ana", "- Owner: Bob."),
        ("Der Testport ist 8080", "Der Testport ist jetzt 8443"),
        ("le port de test est 8080", "le port de test est maintenant 8443"),
        ("el puerto es 8080", "el puerto es ahora 8443"),
        ("порт стенда 8080", "порт стенда теперь 8443"),
        ("- 온콜: 민재", "- 온콜: 도현"),
        ("- 值班：张三", "- 值班：李四"),
    ],
)
def test_lines_that_differ_in_a_value_and_in_what_is_said_of_it_are_one_fact(
    before: str, after: str
) -> None:
    (fact, old), (same, new) = without_value(before), without_value(after)
    assert fact == same
    assert old
    assert new
    assert old != new


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- **Maria**: Thanks, John", "- **Maria**: Good night"),
        ("Maria: Thanks", "Maria: Good night"),
        ("- Paid: 20 EUR (Leo)", "- Paid: 30 EUR (Mia)"),
        ("- Dentist is at 9, Leo", "- Dentist is at 10, Mia"),
    ],
)
def test_lines_about_two_people_or_things_are_two_facts(one: str, other: str) -> None:
    assert without_value(one)[0] != without_value(other)[0]


@pytest.mark.parametrize("end", ["", " ", "\t\r"])
@pytest.mark.parametrize("new", ["port 8080", "a (b) by: c", "x" * 80, "", "two\n  lines"])
def test_the_mark_of_a_superseded_line_is_read_as_it_is_written(new: str, end: str) -> None:
    line = f"- ~~The port is 80~~ {superseded_mark('2026-11-22', new)}{end}"
    assert superseded_in(line) == ("The port is 80", "2026-11-22")
    assert successor_in(line) == " ".join(new.split())
    assert facts("a.md", line) == []


def test_the_mark_names_the_beginning_of_a_long_successor() -> None:
    mark = superseded_mark("2026-11-22", "words " * 20)
    assert mark.endswith(" words w…)")
    assert successor_in(mark) == ("words " * 20)[:79]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("~~old~~ (superseded by new)", ("old", "")),
        ("~~a~~ and ~~b~~(superseded 2026-11-22)", ("a~~ and ~~b", "2026-11-22")),
        ("~~old\nlines~~\n(superseded 2026-11-22 by: new)", ("old\nlines", "2026-11-22")),
        ("~~old~~", None),
        ("old (superseded 2026-11-22 by: new)", None),
    ],
)
def test_a_mark_may_be_written_by_hand(text: str, found: tuple[str, str] | None) -> None:
    assert superseded_in(text) == found


@pytest.mark.parametrize("line", ["~~old~~ (superseded 2026-11-22)", "~~old~~", ""])
def test_a_line_may_name_no_successor(line: str) -> None:
    assert successor_in(line) is None
