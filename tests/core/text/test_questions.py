"""What is left of a question without the words that say nothing, and the answer it asks for."""

from __future__ import annotations

import pytest

from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace.text.questions import answer_asked
from commonplace.text.values import answer_share

_ANALYSER = make_analyser()


@pytest.mark.parametrize(
    ("query", "tokens"),
    [
        ("what is the current gate code", {"current"}),
        ("who coaches the eight these days?", {"day"}),
        ("do we still rent the bus at the moment", {"still", "moment"}),
        ("was kostet der Bootsplatz derzeit", {"derzeit"}),
        ("\u73b0\u5728\u8c01\u7ba1\u94a5\u5319", {"\u73b0\u5728"}),
        ("the latest gate code", set()),
        ("what happened last", set()),
        ("\u6700\u8fd1\u7684\u6bd4\u8d5b", set()),
        ("the gate code", set()),
    ],
)
def test_words_for_the_present_tell_nothing_of_the_topic(query: str, tokens: set[str]) -> None:
    assert _ANALYSER.query(parse_query(query)).timed == tokens


def _asked(query: str) -> str:
    keyword = _ANALYSER.query(parse_query(query))
    return " ".join(term for term in keyword.should if term not in keyword.beside)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (
            "Wohin fahren wir mit ihm zwischen Weihnachten und Silvester",
            "fahren Weihnachten Silvester",
        ),
        ("Weshalb sollte man gegen Grippe impfen", "Grippe impfen"),
        ("Könnten Sie mir bitte die Rechnung zeigen", "Rechnung zeigen"),
        ("Wessen Geburtstag konnte er denn eigentlich nicht feiern", "Geburtstag feiern"),
        ("Womit bin ich beim Umzug sehr zufrieden", "Umzug zufrieden"),
        ("Wo ist das Auto gerade", "auto"),
        ("Wer ist momentan mein Steuerberater", "Steuerberater"),
        ("Wie heißt die Lehrerin inzwischen", "heißt Lehrerin"),
        ("Was ist halt eben dabei", "dabei"),
        ("Welche Miete haben wir mittlerweile", "Miete"),
        ("¿Quiénes eran nuestros vecinos entonces?", "vecinos"),
        ("¿Dónde está actualmente la llave?", "llave"),
        ("¿Con quién estaba hablando usted?", "hablando"),
        ("Où sommes-nous actuellement avec le projet", "projet"),
        ("Chez quel médecin étais-je avec eux", "médecin"),
        ("Chi era il nostro medico", "medico"),
        ("Dove sono adesso le chiavi", "chiavi"),
        ("Quais eram os nossos vizinhos ainda", "vizinhos"),
        ("Onde estão agora as chaves", "chaves"),
        ("Waarom hebben wij geen sleutel van de kelder", "sleutel kelder"),
        ("Wat is momenteel onze huur", "huur"),
    ],
)
def test_function_words_and_words_for_now_are_left_out_of_a_question(
    query: str, asked: str
) -> None:
    assert _asked(query) == _ANALYSER.chunk(asked).body


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("man page of tar", "man page tar"),
        ("halt the deploy", "halt deploy"),
        ("ER diagram of orders", "ER diagram orders"),
        ("dir listing on the er", "dir listing er"),
        ("eben etzebeth rugby", "eben etzebeth rugby"),
        ("van rental door code", "van rental door code"),
        ("algo for matching", "algo matching"),
        ("bis repetita", "bis repetita"),
        ("sous chef", "sous chef"),
        ("nun at the convent", "nun convent"),
        ("jetzt", "jetzt"),
        ("momentan", "momentan"),
        ("gegen", "gegen"),
    ],
)
def test_words_of_another_language_are_kept_and_so_is_what_stands_alone(
    query: str, asked: str
) -> None:
    assert _asked(query) == _ANALYSER.chunk(asked).body


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("Was kostet der Strom?", "strom"),
        ("was kosten Skikurse", "Skikurse"),
        ("Wie viel hat die Waschmaschine gekostet?", "Waschmaschine"),
        ("Wie viel Miete zahlen wir?", "Miete"),
        ("Wo steht das Rad", "rad"),
        ("Wie geht es Oma", "oma"),
        ("Was hat Stefan in Graz gemacht", "stefan graz"),
        ("¿Cuánto cuesta el abono?", "abono"),
        ("Combien coûte l'abonnement", "abonnement"),
        ("Quanto costa l'abbonamento", "abbonamento"),
        ("Quanto custa a assinatura", "assinatura"),
        ("Hoeveel kost het abonnement", "abonnement"),
        # Without a word that asks, or as a noun, such a word is what is asked for.
        ("Halteverbotszone Kosten", "Halteverbotszone Kosten"),
        ("Was sind die Kosten der Zone", "Kosten Zone"),
        ("Hat Yamada nicht bezahlt", "yamada bezahlt"),
        ("Wann hat Yamada bezahlt", "yamada bezahlt"),
        ("cost of the permit", "cost permit"),
        ("what did the kosten column mean", "kosten column mean"),
    ],
)
def test_verbs_that_only_frame_a_question_are_left_out(query: str, asked: str) -> None:
    assert _asked(query) == _ANALYSER.chunk(asked).body


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("was kostet der strom?", "amount"),
        ("wie viel miete zahlen wir", "amount"),
        ("wieviel hat das gekostet", "amount"),
        ("wie viele kinder hat anna", "number"),
        ("wie lange dauert der umzug", "measure"),
        ("wie alt ist leni", "measure"),
        ("wie groß ist die wohnung", "measure"),
        ("¿cuánto cuesta el abono?", "amount"),
        ("cuántos hijos tiene ana", "number"),
        ("combien coûte l'abonnement", "amount"),
        ("combien de temps dure le trajet", "measure"),
        ("combien d'enfants", "number"),
        ("quanto costa l'affitto", "amount"),
        ("quanti figli ha anna", "number"),
        ("quanto custa a assinatura", "amount"),
        ("quantos filhos tem ana", "number"),
        ("wat kost het abonnement", "amount"),
        ("hoeveel kinderen", "number"),
        ("how much is the rent", "amount"),
        ("wie geht es oma", ""),
        ("combien", ""),
        ("was the strom costing", ""),
        ("wo wohnen wir", ""),
    ],
)
def test_the_kind_of_answer_is_known_in_several_languages(query: str, answer: str) -> None:
    assert answer_asked(query) == answer


@pytest.mark.parametrize(
    ("answer", "line", "has_one"),
    [
        ("amount", "Strom: 16,9 ct/kWh ab 1.9.", True),
        ("amount", "Strom: 80 Euro", True),
        ("amount", "Strom: 1.385 € brutto", True),
        ("amount", "Strom: 90 Franken", True),
        ("amount", "Strom: Zähler 123", False),
        ("measure", "Strom: 3 Wochen", True),
        ("measure", "Strom: 84 m²", True),
        ("measure", "Strom: 2 años", True),
        ("measure", "Strom: 84 Punkte", False),
    ],
)
def test_answers_of_these_kinds_are_known_in_several_languages(
    answer: str, line: str, has_one: bool
) -> None:
    assert answer_share(line, answer, {"strom": 1.0}) == float(has_one)


@pytest.mark.parametrize(
    ("query", "units"),
    [
        ("1430 Euro", "euro"),
        ("Rechnung über 1.430,00 Euros", "euros"),
        ("25 Prozent Rabatt", "Prozent"),
        ("25 percent off", "percent"),
        ("25 por ciento de descuento", "ciento"),
        ("100 Quadratmeter Wohnung", "Quadratmeter"),
        ("100 square metres", "metres"),
        ("50 Cent pro Wort", "Cent"),
        ("20000 Yen für den Katalog", "Yen"),
        ("a bill of 30 dollars", "dollars"),
        ("the fine was 40 pounds", "pounds"),
        ("40 Pfund Mahnspesen", "Pfund"),
        ("90 Franken Gebühr", "Franken"),
        ("120 dólares de multa", "dólares"),
        ("30 pour cent de remise", "cent"),
        ("Wie viele Quadratmeter hat die Wohnung", "Quadratmeter"),
        ("Wie viel Prozent Rabatt", "Prozent"),
        ("how many square feet is the flat", ""),
        # Without an amount such a word is what is asked for.
        ("Euro", ""),
        ("Einführung vom Euro", ""),
        ("cent os install", ""),
        ("pounds and dollars", ""),
        ("50 Cent", "Cent"),
    ],
)
def test_units_in_words_beside_an_amount_may_be_signs_in_notes(query: str, units: str) -> None:
    keyword = _ANALYSER.query(parse_query(query))
    words = {*_ANALYSER.chunk(query).body.split()} & keyword.beside
    assert words == {*_ANALYSER.chunk(units).body.split()} - {""}
    assert words <= {*keyword.should}
