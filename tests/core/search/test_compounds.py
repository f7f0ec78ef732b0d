"""What notes write in one word is found by its parts, and by how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest

from commonplace import Memory
from commonplace.errors import DeclinedError, UnavailableError
from commonplace.model.search import Arm, KeywordQuery, Query
from commonplace.search.compounds import ending_in, with_compounds
from commonplace.text.analyse import make_analyser
from commonplace.text.stems import turned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ANALYSER = make_analyser()

COMPOUNDS = """
Laternenfest Laternen Fest|Wasserrohr Wasser Rohr|Kinderwagen Kind Wagen|Winterreifen Winter Reifen
Blumenkasten Blume Kasten|Hundeschule Hund Schule|Landkarte Land Karte
Steuerbescheid Steuer Bescheid|Hotelzimmer Hotel Zimmer|Umzugsfirma Umzug Firma
Zahnarzttermin Zahnarzt Termin|Rechnungsnummer Rechnung Nummer
Gerichtsdolmetscher Gericht Dolmetscher|Ärztekammer Arzt Kammer
Häuserblock Haus Block|Straßenbahnhaltestelle Straßenbahn Haltestelle|Fußballplatz Fußball Platz
Preiserhöhungen Preis Erhöhung|waterleiding water leiding|fietsenwinkel fiets winkel
badrumsfönster badrum fönster
"""
CASES = [case.split() for case in COMPOUNDS.replace("\n", "|").strip("|").split("|")]
IDS = [compound for compound, _, _ in CASES]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("compounds")
    notes = home / "notes" / "memory"
    notes.mkdir(parents=True)
    for at, (compound, _, _) in enumerate(CASES):
        (notes / f"{at}.md").write_text(f"# Notiz {at}\n\nWegen {compound} gefragt.\n", "utf-8")
    (notes / "x.md").write_text("# Anderes\n\nSonne, Mond und Sterne.\n", "utf-8")
    env = {"HOME": str(home), "COMMONPLACE_STATE_DIR": str(home / "state")}
    with Memory.open(workspace=home / "notes", env=env) as memory:
        memory.sync()
        yield memory


def first(memory: Memory, query: str, among: int = 3) -> list[str]:
    return [hit.path.removeprefix("memory/") for hit in memory.search(query).hits[:among]]


@pytest.mark.parametrize("at", range(len(CASES)), ids=IDS)
def test_two_words_find_what_is_written_in_one(memory: Memory, at: int) -> None:
    _, one, other = CASES[at]
    for query in (f"{other} für {one}", f"{one} {other}"):
        assert first(memory, query, 1) == [f"{at}.md"]


@pytest.mark.parametrize("at", range(len(CASES)), ids=IDS)
def test_a_word_that_no_note_has_finds_what_ends_in_it(memory: Memory, at: int) -> None:
    assert f"{at}.md" in first(memory, CASES[at][2])


@pytest.mark.parametrize("word", ["Straße", "Fuß", "Hotel", "Winter", "Land"])
def test_a_word_that_no_note_has_finds_what_begins_with_it(memory: Memory, word: str) -> None:
    result = memory.search(word)
    assert word.lower()[:4] in result.hits[0].snippet.lower()
    assert any("searched for" in note for note in result.notes)


@pytest.mark.parametrize("form", ["{} für {}?", "{}, {}", "Wo: »{}« ({})!", "{}/{}"])
def test_marks_beside_two_words_are_no_part_of_them(memory: Memory, form: str) -> None:
    assert first(memory, form.format("Termin", "Zahnarzt"), 1) == [
        f"{IDS.index('Zahnarzttermin')}.md"
    ]
    decomposed = normalize("NFD", form.format("Erhöhung", "Preis"))
    assert first(memory, decomposed, 1) == [f"{IDS.index('Preiserhöhungen')}.md"]


@pytest.mark.parametrize("query", ["Which winter?", "who's Winter", "the Land", "what is a hotel"])
def test_a_question_in_english_finds_nothing_that_begins_with_a_word_of_english(
    memory: Memory, query: str
) -> None:
    result = memory.search(query)
    assert not result.hits
    assert not any("searched for" in note for note in result.notes)


def test_what_is_no_compound_of_both_words_is_not_asked_for(memory: Memory) -> None:
    assert first(memory, "Mond Zimmer") == [f"{IDS.index('Hotelzimmer')}.md", "x.md"][::-1]


@pytest.mark.parametrize("query", ["Termin Zahnarzt Oktober", "Termin beim Zahnarzt im Oktober"])
def test_a_note_of_a_day_with_the_compound_has_a_word_of_the_query(
    tmp_path: Path, query: str
) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    (notes / "2026-10-05.md").write_text("# Log\n\nZahnarzttermin verschoben.\n", "utf-8")
    (notes / "2026-10-06.md").write_text("# Log\n\nRegen.\n", "utf-8")
    (notes / "bank.md").write_text("Termin bei der Bank, Zahnarzt krank\n", "utf-8")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=tmp_path / "notes", env=env, clock=lambda: 1.8e9) as memory:
        memory.sync()
        result = memory.search(query)
    assert (result.hits[0].path, result.notes) == ("memory/2026-10-05.md", ())


def test_the_note_on_unknown_words_says_that_their_compound_was_searched_for(
    memory: Memory,
) -> None:
    (note, *_) = memory.search("Firma Umzug").notes
    assert note == "no note has 'Firma': searched for 'umzugsfirma' instead"


PARTS = {
    "Kellernummer": "Kellerabteil Nummer 9",
    "Gartenpacht": "Schrebergarten, Pacht im Jahr",
    "Mietkaution": "Mietvertrag unterschrieben, Kaution überwiesen",
    "Geigenlehrerin": "Geigenunterricht, Lehrerin Szabó",
    "Heizungsfehler": "Heizungskeller: Fehler an der Therme",
    "fietsslot": "fietsenstalling, slot is kapot",
    "cykellås": "cykelställ, lås på baksidan",
}
OTHERS = ["Pachtvertrag", "Fahrlehrerin", "Kautionen", "Nummerierung", "slotgracht", "Fehlerquote"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("parts")
    notes = home / "notes" / "memory"
    notes.mkdir(parents=True)
    texts = [*PARTS.values(), *(f"{other} gesehen." for other in OTHERS)]
    texts += ["We plant two plants a year.", "Backups run every night."]
    for at, text in enumerate(texts):
        (notes / f"{at}.md").write_text(f"{text}\n", "utf-8")
    env = {"HOME": str(home), "COMMONPLACE_STATE_DIR": str(home / "state")}
    with Memory.open(workspace=home / "notes", env=env) as memory:
        memory.sync()
        yield memory


@pytest.mark.parametrize("compound", [*PARTS])
def test_a_compound_that_no_note_has_finds_a_note_with_both_of_its_parts(
    parts: Memory, compound: str
) -> None:
    assert first(parts, compound, 1) == [f"{[*PARTS].index(compound)}.md"]


@pytest.mark.parametrize("query", ["what is the Kellernummer", "Kellerkatze", "Wolkennummer"])
def test_a_compound_is_not_parted_in_english_nor_where_notes_lack_one_part(
    parts: Memory, query: str
) -> None:
    (word,) = [one for one in parts.search(query).unknown if len(one.word) > 6]
    assert "nummer" not in word.instead


def test_two_words_are_joined_where_notes_have_them_in_one(parts: Memory) -> None:
    assert [one.instead for one in parts.search("the back up").unknown] == [("backup",)]


def test_two_words_are_not_joined_where_notes_have_a_word_with_the_same_stem(
    parts: Memory,
) -> None:
    # "planto" has the stem of "plants".
    assert [one.instead for one in parts.search("what did I plan to buy").unknown] == [(), ()]


WORDS = {"zahnarzttermin": 3, "umzugstermin": 5, "terminator": 2}


def look_up(text: str, limit: int = 50) -> Mapping[str, int]:
    tokens = {turned(word): count for word, count in WORDS.items()} | WORDS
    return {token: n for token, n in tokens.items() if token.startswith(text)}


def test_compounds_come_by_how_many_chunks_have_them() -> None:
    assert ending_in("termin", ANALYSER, look_up) == ["umzugstermin", "zahnarzttermin"]
    assert ending_in("min", ANALYSER, look_up) == []
    assert ending_in("", ANALYSER, look_up) == []


def test_the_backend_is_asked_once_more_with_the_compound() -> None:
    asked: list[Query] = []

    def ask(query: Query) -> tuple[Arm, ...]:
        asked.append(query)
        return (Arm("again", "bm25", ()),)

    query = Query("Termin Zahnarzt", KeywordQuery(should=("termin", "zahnarz")))
    arms = (Arm("keyword", "bm25", (), tokens_beginning=look_up),)
    wider, again, notes = with_compounds(query, arms, ["Termin Zahnarzt"], ANALYSER, ask)
    assert wider.keyword.should == ("termin", "zahnarz", "zahnarzttermin")
    assert wider.keyword.beside == {"zahnarzttermin"}
    assert (asked, [arm.name for arm in again], notes) == ([wider], ["again"], ())


@pytest.mark.parametrize("error", [UnavailableError("it is busy"), DeclinedError("it is busy")])
def test_the_first_answer_holds_where_compounds_cannot_be_looked_up(
    error: UnavailableError | DeclinedError,
) -> None:
    def broken(text: str, limit: int) -> Mapping[str, int]:
        raise error

    def ask(query: Query) -> tuple[Arm, ...]:
        raise AssertionError

    query = Query("Termin Zahnarzt", KeywordQuery(should=("termin", "zahnarz")))
    arms = (Arm("keyword", "bm25", (), tokens_beginning=broken),)
    answer = with_compounds(query, arms, ["Termin Zahnarzt"], ANALYSER, ask)
    assert answer == (query, arms, ("similar words could not be looked up: it is busy",))


def test_a_store_without_a_vocabulary_is_asked_once() -> None:
    query = Query("Termin Zahnarzt", KeywordQuery(should=("termin", "zahnarz")))
    arms = (Arm("keyword", "bm25", ()),)
    assert with_compounds(query, arms, ["Termin"], ANALYSER, lambda _: ()) == (query, arms, ())
