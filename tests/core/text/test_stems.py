from __future__ import annotations

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.analyse import make_analyser
from commonplace.text.languages import STEM_FOR, STEM_OF, english_words
from commonplace.text.stems import backwards, may_be_joined, turned

_ANALYSER = make_analyser()


def _stem(word: str) -> str:
    return _ANALYSER.chunk(word).body


@pytest.mark.parametrize(
    "words",
    [
        "Küche Küchen",
        "Frau Frauen",
        "Kunde Kunden",
        "Woche Wochen",
        "Haus Häuser Häusern",
        "Buch Bücher",
        "Lehrer Lehrerin Lehrerinnen",
        "bezahlt bezahlen bezahle",
        "gekauft kaufen kauft",
        "geliefert liefern liefert",
        "gemietet mieten mietet",
        "gewartet warten",
        "abgegeben abgeben",
        "abgeholt abholen",
        "angerufen anrufen",
        "eingereicht einreichen",
        "übersetzt übersetzen übersetze",
        "Gericht Gerichte Gerichten",
        "Geschäft Geschäfte",
        "Angebot Angebote",
        "Gelegenheit Gelegenheiten",
        "arbeitet gearbeitet arbeiten Arbeit Arbeiten",
        "fattura fatture fatturas",
        "comprado comprada comprados compraron compró compra",
        "reparado reparados reparaba reparamos reparación reparaciones",
        "pagado pagada pagamos pagaron paga",
        "dormir duerme durmió durmieron",
        "vendre vendu vendue vendus",
        "perdre perdu perdue perd perdait perdaient",
        "journal journaux",
        "gâteau gâteaux",
        "naïf naïve naïves",
        "découvrir découvert découverte",
        "koop koopt kopen kocht gekocht",
        "geef geeft geven gaf gegeven",
        "muur muren",
        "betaal betaalt betaald betaalde betalen",
        "verhuurd verhuren verhuurt",
        "gehuurd huurt huren huurde",
        "uitgenodigd uitnodigen",
        "huis huizen",
        "schrijft schrijven geschreven schreef",
        "boek boekje",
        "bus bussen",
        "estado estados",
        "entrada entradas",
        "tienda tiendas",
        "gegründet gründen gründet",
        "verwendet verwenden verwende",
        "Gemeinde Gemeinden",
        "Notiz Notizen",
        "maand maanden",
        "verteld vertelde vertellen",
        "veranderd veranderen verandert",
        "serieus serieuze",
        "pago pagos pagar",
        "puesto puestos",
        "abierto abiertas",
        "cadena cadenas",
        "joven jóvenes",
        "teken tekens tekenen",
        "connu connues",
        "parfait parfaite parfaits",
        "retrait retraits",
        "verhuizen verhuizing",
        "último últimos última últimas",
        "próximo próximos",
        "escalera escaleras",
        "enfermera enfermeras enfermero",
        "carriera carriere",
        "strada strade",
        "rapido rapida rapidi rapide",
        "rozen roos",
    ],
)
def test_forms_of_a_word_of_another_language_share_a_stem(words: str) -> None:
    assert len({_stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Müller Müll",
        "Lena Leni",
        "Jan Jane",
        "Anna Anno",
        "Termin term",
        "Bauer Bau",
        "getopt opt",
        "gettext text",
        "Gericht rich",
        "docker dock",
        "Redis red",
        "sqlite sqli",
        "unset unseen",
        "Starlette starling",
        "dataset datasize",
        "kop koop",
        "bom boom",
        "perro pero",
        "costado cost",
        "Kanada Kanal",
        "getbackend backen",
        "Strandbar Strand",
        "estado esta",
        "estación está",
        "entrada entre",
        "tienda tiene",
        "quedado que",
        "cansado can",
        "Gemeinde mein",
        "gegründet grün",
        "verwendet verweist",
        "Díaz día",
        "capaz capa",
        "cabeza cabe",
        "Luiz lui",
        "Fernando fern",
        "Kommando kommen",
        "maand maan",
        "paard paar",
        "waarde waar",
        "verkeerd verkeer",
    ],
)
def test_other_words_have_other_stems(words: str) -> None:
    assert len({_stem(word) for word in words.split()}) == len(words.split())


@pytest.mark.parametrize(
    "word",
    [
        *("abgeholt", "Eingekauft", "umgezogen", "weggeworfen", "angerufen", "zurückgegeben"),
        *("kopen", "geven", "muren", "betalen", "huizen", "rozen", "brieven", "gehuurd"),
        *("Hafen", "rufen", "Hasen"),
        *("comprado", "pagamos", "vendu", "journaux", "gekocht", "huisje", "schrijven"),
    ],
)
def test_a_form_stands_where_its_token_is_looked_for(word: str) -> None:
    text = f"Paket {word}, danke."
    assert _ANALYSER.matches(text, frozenset((_stem(word),))) == [
        (6, 6 + len(word), frozenset((_stem(word),)))
    ]


def test_a_word_of_english_keeps_the_endings_of_other_languages() -> None:
    english = Stemmer.Stemmer("english").stemWord
    listed = english_words() - STEM_OF.keys() - STEM_FOR.keys()
    kept = [word for word in sorted(listed) if word.endswith(("t", "in", "en"))]
    assert len(kept) > 500
    assert [word for word in kept if _stem(word) not in {word, english(word)}] == []


@given(st.text("abcdefghijklmnopqrstuvwxyzäöüß0_", max_size=20))
def test_what_finds_a_compound_by_its_end_begins_with_that_end_turned(word: str) -> None:
    for found in backwards(word):
        assert found[:0:-1] == word
        assert found.startswith(turned(word[-4:]))


@pytest.mark.parametrize("word", ["Termin", "kitchen", "straightforward", "memory_search", "x" * 6])
def test_short_words_those_of_english_and_identifiers_are_no_compounds(word: str) -> None:
    assert not any(term.startswith(turned("")) for term in _ANALYSER.chunk(word).extra.split())


@pytest.mark.parametrize(
    ("tokens", "may"),
    [
        (("termin", "zahnarz"), True),
        (("konto", "bank"), True),
        (("port", "server", "use"), False),
        (("spare", "key"), False),
        (("termin",), False),
        (("記憶", "検索"), False),
        ((), False),
    ],
)
def test_words_of_english_alone_are_not_joined(tokens: tuple[str, ...], may: bool) -> None:
    assert may_be_joined(tokens) is may
