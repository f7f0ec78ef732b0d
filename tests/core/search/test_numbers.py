"""Numerals of Chinese, Japanese, Korean and Thai, and the digits for them."""

from __future__ import annotations

import pytest

from commonplace.search import numbers
from commonplace.search.numbers import other_numerals

LANGUAGES = [
    (numbers._HAN, numbers._in_han),
    (numbers._KOREAN, numbers._in_korean),
    (numbers._THAI, numbers._in_thai),
]


@pytest.mark.parametrize("at", range(len(LANGUAGES)))
def test_each_number_is_read_as_it_is_written(at: int) -> None:
    numerals, ways_to_write = LANGUAGES[at]
    for number in range(1, 10_000):
        for way in ways_to_write(number):
            assert numerals.value(way) == number, way


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("60天", {"60": ["六十天"]}),
        ("用3天吧", {"3": ["用三天"]}),
        ("2个", {"2": ["二个", "两个", "兩个"]}),
        ("15人", {"15": ["十五人"]}),
        ("20人", {"20": ["二十人"]}),
        ("105円", {"105": ["一百零五円", "百五円"]}),
        ("1050元", {"1050": ["一千零五十元", "千五十元"]}),
        ("210元", {"210": ["二百一十元", "二百十元", "两百一十元", "兩百一十元"]}),
        ("60일", {"60": ["육십"]}),
        ("60 วัน", {"60": ["หกสิบ"]}),
        ("21 วัน", {"21": ["ยี่สิบเอ็ด"]}),
        ("1 วัน", {"1": ["หนึ่ง"]}),
        ("120 บาท", {"120": ["หนึ่งร้อยยี่สิบ"]}),
        ("五百万", {"五百": ["500"]}),
        ("一百零五", {"一百零五": ["105"]}),
        ("兩千三百", {"兩千三百": ["2300"]}),
        ("육십일", {"육십일": ["61", "60"]}),
        ("หกสิบเอ็ดวัน", {"หกสิบเอ็ด": ["61"]}),
    ],
)
def test_numbers_with_how_else_they_may_be_written(text: str, ways: dict[str, list[str]]) -> None:
    assert dict(other_numerals(text)) == ways


@pytest.mark.parametrize(
    "text",
    [
        "60 days",
        "12345天",
        "1,880元",
        "3.14米",
        "2026-11-28日",
        "v2天",
        "十",
        "一个",
        "百分",
        "",
        "007号",
    ],
)
def test_what_is_no_number_of_these_languages(text: str) -> None:
    assert list(other_numerals(text)) == []
