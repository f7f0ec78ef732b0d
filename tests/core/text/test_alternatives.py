from __future__ import annotations

import pytest

from commonplace.text import alternatives
from commonplace.text.alternatives import is_english, may_be_meant, synonyms_of, ways_to_part
from commonplace.text.analyse import make_analyser

KNOWN = {"for", "morning", "forth", "filling", "car", "vehicle", "faucet", "railway", "doctor"}
_ANALYSER = make_analyser("standard")


def _token(word: str) -> str:
    ((_, _, terms),) = _ANALYSER.spans(word)
    return terms[0]


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("mother", "mum"),
        ("mum", "mother"),
        ("pills", "medicine"),
        ("invoices", "bill"),
        ("analyzed", "analysed"),
        ("tumour", "tumor"),
        ("favour", "favor"),
        ("utilized", "utilised"),
    ],
)
def test_a_word_has_synonyms_and_spellings_that_stem_apart(word: str, other: str) -> None:
    assert other in synonyms_of(word)


@pytest.mark.parametrize(
    "word", ["four", "pour", "mourning", "fourth", "filing", "cared", "tapes", "trained", "gps"]
)
def test_what_only_looks_like_another_word_has_no_synonym(word: str) -> None:
    assert [one for one in synonyms_of(word) if one in KNOWN] == []


def test_a_word_is_no_synonym_of_itself_and_a_group_has_each_word_once() -> None:
    for groups in alternatives._groups().values():
        for group in groups:
            assert len(group) == len(set(group)) > 1
            assert all(word == word.lower() and word.isalnum() for word in group)
    for word in alternatives._groups():
        assert word not in synonyms_of(word)
        assert len(synonyms_of(word)) == len(set(synonyms_of(word)))


def test_no_two_words_of_a_group_share_a_token() -> None:
    """Where they do, a note with one of them is found by the other anyhow."""
    groups = {tuple(group) for groups in alternatives._groups().values() for group in groups}
    alike = [group for group in groups if len({*map(_token, group)}) < len(group)]
    assert alike == []


@pytest.mark.parametrize("word", ["garbage", "afternoon", "care", "replies", "tires", "undo"])
def test_words_of_english_are_known_in_all_their_forms(word: str) -> None:
    assert is_english(word, _token(word))


@pytest.mark.parametrize("word", ["garbge", "kubernetes", "forcepush", "tommorow", "definately"])
def test_what_is_misspelled_or_a_name_is_no_word_of_english(word: str) -> None:
    assert not is_english(word, _token(word))


def test_in_a_short_word_no_letter_is_replaced() -> None:
    assert may_be_meant("deply", "deploy")
    assert may_be_meant("fisrt", "first")
    assert not may_be_meant("house", "horse")
    assert may_be_meant("dependancy", "dependency")


def test_a_word_is_parted_in_two_then_shortened() -> None:
    ways = list(ways_to_part("forcepush"))
    assert ("force", "push") in ways
    assert ways[-1] == ("force",)
    assert ("with", "out") not in list(ways_to_part("without"))
    assert not list(ways_to_part("push"))
