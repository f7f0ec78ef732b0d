from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from commonplace.text.analyse import make_analyser
from commonplace.text.tokens import (
    cut,
    find_groups,
    groups,
    has_unspaced,
    identifier_parts,
    pieces,
    plain_run_pattern,
    run_pattern,
    run_tokens,
    units,
)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("memorySearch", ["memory", "Search"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseHTTPResponse", ["parse", "HTTP", "Response"]),
        ("ERR_MODULE_NOT_FOUND", ["ERR", "MODULE", "NOT", "FOUND"]),
        ("snake_case", ["snake", "case"]),
        ("utf8Decode", ["utf8", "utf", "8", "Decode"]),
        ("python3", ["python", "3"]),
        ("800px", ["800", "px"]),
        ("a0V", ["a0", "V"]),
        ("v15A", ["v15", "15", "A"]),
        ("URLs", []),
        ("word", []),
        ("Word", []),
        ("WORD", []),
        ("12345", []),
        ("a828e60", []),
        ("4DF1E2", []),
        ("имя_файла", ["имя", "файла"]),
        ("größeWert", []),
    ],
)
def test_parts_of_identifiers(word: str, parts: list[str]) -> None:
    assert identifier_parts(word) == parts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no-unused-vars, memory.search.", ["no-unused-vars", "memory.search"]),
        ("see src/a.py: line 3", ["see", "src/a.py", "line", "3"]),
        ("C++ and C#, not a#b or ++i", ["C++", "and", "C#", "not", "a", "b", "or", "i"]),
        ("a--b ... -c-", ["a", "b", "c"]),
        ("4,180, 1,2 and 12,3456", ["4,180", "1", "2", "and", "12", "3456"]),
        ("für 4,180 Ärzte, 1,5", ["für", "4,180", "Ärzte", "1", "5"]),
        ("__init__ me@example.com", ["__init__", "me@example.com"]),
        ("नमस्ते, दुनिया", ["नमस्ते", "दुनिया"]),
        ("non\u2011breaking API方案。次", ["non\u2011breaking", "API方案", "次"]),
        ("done ✅🦞", ["done", "✅", "🦞"]),
    ],
)
def test_groups(text: str, found: list[str]) -> None:
    assert groups(text) == found


_DATA = base64.b64encode(b"".join(sha256(bytes([n])).digest() for n in range(9))).decode()


def test_data_in_base64_has_no_words() -> None:
    line = f"before ![a pump](data:image/png;base64,{_DATA}) behind"
    places = list(find_groups(line))
    assert [group for _, group in places] == groups(line)
    assert groups(line) == ["before", "a", "pump", "data:image/png", "base64", "behind"]
    assert all(line.startswith(group, at) for at, group in places)
    assert groups(f"{_DATA[9:-9]}\n\n{_DATA[8:]}") == []  # as a drawing is kept, or a chunk cut


def test_a_key_is_found_by_its_beginning() -> None:
    key = f"AAAAB3NzaC1yc2E{_DATA}"
    assert groups(f"ssh-rsa {key} mia@haus") == ["ssh-rsa", *groups(key[:64]), "mia@haus"]


@pytest.mark.parametrize(
    "text",
    [
        "/Users/mia/Projects" * 20,
        "src/main/java/ServiceFactoryBean/AbstractServiceFactoryBeanImpl2/" * 3,
        "3fa94c1d0b7e" * 20,
        "a" * 300,
        "7Q" * 60,
    ],
)
def test_what_is_long_and_no_data_is_read_to_its_end(text: str) -> None:
    assert "".join(groups(text)) == text.strip("/")


def test_a_group_is_cut_where_the_manner_of_writing_changes() -> None:
    assert list(cut("API方案-v1.2")) == [(0, "API", False), (3, "方案", True), (6, "v1.2", False)]
    assert list(cut("plain")) == [(0, "plain", False)]


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("検索", ["検", "索"]),
        ("น้ำ", ["น้ำ"]),
        ("เปิดไฟ", ["เปิ", "ด", "ไฟ"]),
        ("ｶﾞｷ", ["ｶﾞ", "ｷ"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", ["\u1112\u1161\u11ab", "\u1100\u116e\u11a8"]),
        ("ភ្នំ", ["ភ្នំ"]),
    ],
)
def test_units_hold_all_that_belongs_to_a_letter(run: str, found: list[str]) -> None:
    assert list(units(run)) == found


def test_runs_become_pairs_and_a_lone_letter_itself() -> None:
    assert run_tokens("検索方") == (["検索", "索方"], "検索方")
    assert run_tokens("猫") == ("猫", ())


def test_scripts_without_spaces_are_noticed() -> None:
    assert has_unspaced("the 方案")
    assert has_unspaced("한국")
    assert not has_unspaced("naïve Привет हिन्दी")


def test_what_is_read_as_a_run_in_one_go_is_one() -> None:
    letters = [
        chr(code) for code in range(0x80, 0xD800) if plain_run_pattern().fullmatch(chr(code))
    ]
    assert len(letters) > 30_000
    assert all(map(run_pattern().fullmatch, letters))
    assert run_pattern().fullmatch("".join(letters))


@pytest.mark.parametrize(
    "text", ["ปี ๒๕๖๘", "٢٥٦٨", "۲۵۶۸", "२५६८", "২৫৬৮", "２５６８", "۲۵68", "ປີ ໒໕໖໘", "𞥒𞥕𞥖𞥘"]
)
def test_digits_of_all_scripts_are_found_as_ours(text: str) -> None:
    analyser = make_analyser()
    assert "2568" in analyser.chunk(text).body.split()
    places = [text[start:end] for start, end, _ in analyser.matches(text, frozenset(("2568",)))]
    assert places == [text.rsplit(maxsplit=1)[-1]]


def test_digits_behind_letters_are_ours_too() -> None:
    assert [token for *_, token, _, _ in pieces("بند٤", 0, str)] == ["بند4"]
