"""Questions for what was since, until, before and after a time, on Wednesday, 25 November 2026."""

from __future__ import annotations

from datetime import date

import pytest

from commonplace.text.analyse import make_analyser
from commonplace.text.asked_times import read_times
from commonplace.text.query import parse_query
from commonplace.text.time_hints import may_name_days

TODAY = date(2026, 11, 25)

# A line: the first and the last day (without the first: from the beginning on), and the questions.
QUESTIONS = {
    "English": """
2026-09-01..2026-11-25: since 1 September | what changed since September 1st? | since 2026-09-01
2026-10-01..2026-11-25: since October | what did we do since the beginning of October
2026-03-01..2026-11-25: bugs since March | which bugs did we have since last March
2026-11-10..2026-11-25: since 10 November
2025-12-24..2026-11-25: what happened since 24 December
2026-10-01..2026-11-25: from October on, what changed | notes from October onwards
2024-01-01..2026-11-25: which flats did we have since 2024
2026-11-24..2026-11-25: what changed since yesterday
2026-11-23..2026-11-25: what changed since Monday
..2026-03-31: until March | what was the rate until March | what did we do till the end of March
..2026-09-01: what did we do until 1 September
..2026-11-24: what did we do until yesterday
..2026-11-20: what was done until Friday
2026-11-25..2026-11-27: what is due until Friday
..2026-04-30: before May what happened | what did we decide before May? | what broke before may
..2026-08-31: which bugs did we have before 1 September
..2024-12-31: where did we live before 2025
..2026-11-15: what did we decide before last week
..2026-11-22: what was said before Monday
2026-11-01..2026-11-25: what did we decide after October | after the end of October
2026-08-04..2026-11-25: deploys after 3 August | deploys after 2026-08-03
2026-11-23..2026-11-25: what did we do after last week
2026-11-24..2026-11-25: what was done after Monday
2026-01-01..2026-11-25: what changed after 2025
2026-09-01..2026-11-25: what changed after the summer
2025-09-01..2026-11-25: what changed after the summer of 2025 | after summer 2025
2026-06-01..2026-11-25: after the spring | since the summer
..2026-04-30: what broke prior to may | bugs earlier than May
2026-05-01..2026-11-25: the rate as of may | notes starting in may
..2023-12-31: where did we live prior to 2024
2024-01-01..2026-11-25: the prices as of 2024 | notes starting from 2024
-08-01..-08-20: bugs between 1 and 20 August | bugs from 1 to 20 August
2026-08-01..2026-09-20: bugs between 1 August and 20 September 2026
-08-01..-09-20: bugs from 1 August to 20 September | bugs from August 1 until September 20
-03-01..-05-31: what did we do from March to May | what did we do between March and May
2025-11-01..2026-02-28: what did we do from November until February
2026-09-01..2026-09-30: what did we do after August and before October
2026-11-25..2026-12-03: what is due before 4 December
none: the value before the freeze | after the release | since we met | until it breaks
none: why are there no deploys after Thursday afternoon | never deploy before Monday
none: after the fall of the price | after summer school | after spring cleaning
none: the rent is up to 2000 now
none: the step before may fail | wait until done
-05-03: the day before 3 May | a week after 3 May | the weekend before 3 May
-05-03: what did we do on the Monday after 3 May
2026-11-23: the day before yesterday, what was it
""",
    "German": """
2026-09-01..2026-11-25: seit dem 1. September | was war seit 1. September
2026-10-01..2026-11-25: seit Oktober | was war ab Oktober | was war seit Anfang Oktober
2026-11-24..2026-11-25: was war seit gestern
2026-11-16..2026-11-25: was war seit letzter Woche
..2026-03-31: bis März | was war bis Ende März
..2026-09-01: was war bis zum 1. September
..2026-11-20: was haben wir bis Freitag gemacht
2026-11-25..2026-11-27: was ist bis Freitag fällig
..2026-04-30: vor Mai | was war vor Mai
..2026-08-31: was war vor dem 1. September
..2026-11-15: was war vor letzter Woche
..2026-11-22: was war vor Montag
2026-11-01..2026-11-25: was haben wir nach Oktober entschieden
2026-09-02..2026-11-25: was war nach dem 1. September
2026-11-24..2026-11-25: was war nach Montag
-03-01..-05-31: was war von März bis Mai | was war zwischen März und Mai
2026-11-08..2026-11-14: was war vor zwei Wochen
2026-09-01..2026-11-25: was war nach dem Sommer | nach dem Sommer 2026
none: vor dem Umzug | nach der Besprechung
""",
    "French": """
2026-09-01..2026-11-25: depuis le 1er septembre | à partir du 1er septembre
2026-10-01..2026-11-25: depuis octobre | à partir d'octobre
2026-11-24..2026-11-25: depuis hier
..2026-03-31: jusqu'en mars | jusqu'à fin mars
..2026-09-01: qu'a-t-on fait jusqu'au 1er septembre
..2026-04-30: avant mai
..2026-08-31: avant le 1er septembre
..2026-11-15: qu'a-t-on fait avant la semaine dernière
2026-11-01..2026-11-25: qu'a-t-on décidé après octobre
2026-09-02..2026-11-25: après le 1er septembre
-03-01..-05-31: de mars à mai
2026-11-23: avant-hier | avant hier
2026-09-01..2026-11-25: après l'été | qu'a-t-on fait après l'été 2026
2026-05-01..2026-11-25: dès mai | à partir de mai
2024-01-01..2026-11-25: dès 2024
none: avant la réunion | depuis le début
""",
    "Spanish": """
2026-09-01..2026-11-25: desde el 1 de septiembre | a partir del 1 de septiembre
2026-10-01..2026-11-25: desde octubre | a partir de octubre
2026-11-24..2026-11-25: qué hicimos desde ayer
..2026-03-31: hasta marzo | hasta finales de marzo
..2026-09-01: qué hicimos hasta el 1 de septiembre
..2026-04-30: antes de mayo
..2026-08-31: antes del 1 de septiembre
..2026-11-15: qué hicimos antes de la semana pasada
2026-11-01..2026-11-25: qué decidimos después de octubre
2026-09-02..2026-11-25: después del 1 de septiembre
-03-01..-05-31: de marzo a mayo
2026-11-23: qué hice antes de ayer
2026-09-01..2026-11-25: después del verano | qué hicimos después del verano de 2026
none: antes de la reunión | después de comer
""",
    "Italian": """
2026-09-01..2026-11-25: dal 1 settembre | a partire dal 1 settembre
2026-10-01..2026-11-25: da ottobre
2026-11-24..2026-11-25: da ieri
..2026-03-31: fino a marzo
..2026-09-01: cosa abbiamo fatto fino al 1 settembre
..2026-04-30: prima di maggio
..2026-08-31: prima del 1 settembre
2026-11-01..2026-11-25: cosa abbiamo deciso dopo ottobre
2026-09-02..2026-11-25: dopo il 1 settembre
2026-09-01..2026-11-25: dopo l'estate | cosa abbiamo fatto dopo l'estate 2026
none: prima della riunione | dopo la cena
""",
    "Portuguese": """
2026-09-01..2026-11-25: desde 1 de setembro | a partir de 1 de setembro
2026-10-01..2026-11-25: desde outubro | a partir de outubro
2026-11-24..2026-11-25: o que fizemos desde ontem
..2026-03-31: até março | até o fim de março
..2026-09-01: o que fizemos até 1 de setembro
..2026-04-30: antes de maio
..2026-08-31: antes de 1 de setembro
2026-11-01..2026-11-25: o que decidimos depois de outubro | após outubro
2026-09-02..2026-11-25: depois de 1 de setembro
2026-11-23: o que fizemos antes de ontem
2026-11-27: o que temos depois de amanhã
2026-11-16..2026-11-22: a reunião da semana passada
2026-09-01..2026-11-25: depois do verão | o que fizemos depois do verão
none: antes da reunião | depois do almoço
""",
    "Russian": """
2026-09-01..2026-11-25: с 1 сентября | что сделали начиная с 1 сентября
2026-10-01..2026-11-25: с октября | что сделали с начала октября
..2026-03-31: по март
..2026-04-30: до мая | что сделали до мая
..2026-08-31: что сделали до 1 сентября
2026-11-01..2026-11-25: что решили после октября
2026-09-02..2026-11-25: что решили после 1 сентября
-03-01..-05-31: с марта по май
2026-09-01..2026-11-25: что решили после лета
2026-05-01..2026-11-25: что сделали начиная с мая
none: до встречи | после обеда
""",
    "Chinese": """
2026-09-01..2026-11-25: 9月1日以来的变化 | 自9月1日以来
2026-10-01..2026-11-25: 十月以来 | 10月以来做了什么 | 从十月开始 | 从十月起
2026-11-16..2026-11-25: 上周以来的问题
..2026-03-31: 到三月为止 | 截至3月
..2026-04-30: 五月之前 | 5月以前发生了什么
..2026-08-31: 9月1日之前
2026-11-01..2026-11-25: 10月之后的决定 | 十月以后
2026-09-02..2026-11-25: 9月1日之后
2026-09-01..2026-11-25: 夏天之后 | 夏天以后做了什么
-03-01..-05-31: 3月到5月 | 从三月至五月
2026-08-01..2026-08-31: 三个月之前
""",
    "Japanese": """
2026-09-01..2026-11-25: 9月1日以降の変更 | 9月1日から
2026-10-01..2026-11-25: 10月以降 | 10月以来 | 10月から
2026-11-16..2026-11-25: 先週からの問題 | 先週以降
..2026-03-31: 3月まで | 3月までに決めたこと
..2026-09-01: 9月1日まで
..2026-04-30: 5月より前 | 5月以前
2026-11-01..2026-11-25: 10月の後に決めたこと | 10月より後
-03-01..-05-31: 3月から5月まで
""",
    "Korean": """
2026-09-01..2026-11-25: 9월 1일부터 | 9월 1일 이후 | 9월 1일 이후의 변경
2026-10-01..2026-11-25: 10월부터 | 10월 이후 | 10월 이래
2026-11-16..2026-11-25: 지난주부터 뭐 했어
..2026-03-31: 3월까지 | 3월까지 뭐 했어
..2026-09-01: 9월 1일까지
..2026-04-30: 5월 이전 | 5월 이전에 뭐 했어
-03-01..-05-31: 3월부터 5월까지
""",
}


def _lines() -> list[tuple[str, str]]:
    return [
        (wanted, question)
        for lines in QUESTIONS.values()
        for line in lines.strip().split("\n")
        for wanted, _, questions in [line.partition(": ")]
        for question in questions.split(" | ")
    ]


def _days(text: str) -> tuple[tuple[str, str], ...]:
    analyser, parsed = make_analyser(), parse_query(text)
    return read_times(parsed, analyser, lambda: TODAY)[0].days


def _shown(days: tuple[tuple[str, str], ...]) -> str:
    spans = (first if first == last else f"{first}..{last}" for first, last in days)
    return ", ".join(spans).replace("0001-01-01", "") or "none"


@pytest.mark.parametrize(("wanted", "question"), _lines())
def test_a_question_names_an_open_span(wanted: str, question: str) -> None:
    assert _shown(_days(question)) == wanted
    assert wanted == "none" or may_name_days(question)


def test_the_next_one_is_meant_too_where_it_is_near() -> None:
    both = "..2025-11-30, 2026-11-25..2026-11-30"
    assert _shown(_days("the tasks before December")) == both
    assert _shown(_days("what did we do before December")) == "..2025-11-30"
    assert _shown(_days("what is due before December")) == "2026-11-25..2026-11-30"


def _terms(text: str) -> tuple[set[str], str]:
    analyser, parsed = make_analyser(), parse_query(text)
    keyword, rest = read_times(parsed, analyser, lambda: TODAY)
    return set(keyword.should) - keyword.beside, " ".join(" ".join(rest).split())


@pytest.mark.parametrize(
    "text",
    [
        *("bugs between 1 and 20 August", "bugs since 1 September", "bugs since October"),
        *("bugs until March", "bugs before 3 May", "bugs after 2026-08-03", "bugs since 2024"),
        *("bugs from 1 August to 20 September", "bugs from October on", "bugs since last week"),
    ],
)
def test_neither_numbers_nor_words_of_a_span_count_as_words(text: str) -> None:
    assert _terms(text) == ({"bug"}, "bugs")


@pytest.mark.parametrize(
    "text",
    [
        "who was designer before April joined",
        "order to June",
        "carta a Julio",
        "what do we owe to Jan",
        "talk with Tom and April",
        "laptop bis 2000 euro",
        "auto service ab 2000 km",
    ],
)
def test_names_of_people_and_amounts_are_no_times(text: str) -> None:
    assert _days(text) == ()


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("2025-01-01..2025-12-31", "Hotel in Rom vor einem Jahr"),
        ("2024-01-01..2024-12-31", "was war vor 2 Jahren"),
        ("-05-01..-07-31", "von Mai bis Juli"),
        ("-05-01..-07-31", "entre mayo y julio"),
        ("-04-01..-06-30", "from April to June"),
    ],
)
def test_spans_of_months_and_years_ago_are_closed(wanted: str, text: str) -> None:
    assert _shown(_days(text)) == wanted
