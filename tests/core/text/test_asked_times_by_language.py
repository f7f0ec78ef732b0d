"""What a query asks of times named in ten languages, asked on Wednesday, 25 November 2026."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest

from commonplace.text.analyse import make_analyser
from commonplace.text.asked_times import read_times
from commonplace.text.query import parse_query
from commonplace.text.time_hints import may_name_days

if TYPE_CHECKING:
    from commonplace.model.search import KeywordQuery

TODAY = date(2026, 11, 25)


def _read(text: str) -> tuple[KeywordQuery, tuple[str, ...]]:
    return read_times(parse_query(text), make_analyser(), lambda: TODAY)


def _days(text: str) -> tuple[tuple[str, str], ...]:
    return _read(text)[0].days


@pytest.mark.parametrize(
    "text",
    [
        *("what did I do on Tuesday", "was habe ich am Dienstag gemacht"),
        *("qu'est-ce qu'on a fait mardi ?", "qu'a-t-on décidé mardi"),
        *("qu'est-ce que j'ai dit mardi", "qué hice el martes", "o que fiz na terça"),
        *("o que aconteceu na terça-feira", "quem ligou na terça", "cosa ho fatto martedì"),
        *("cosa abbiamo deciso martedì", "chi ha chiamato martedì", "что я делал во вторник"),
        *("кто звонил во вторник", "что случилось во вторник", "что было во вторник"),
        *("周二做了什么", "火曜日に何をした", "火曜日に誰が来ましたか", "화요일에 뭐 했어"),
        *("화요일에 누가 왔어",),
    ],
)
def test_a_weekday_of_a_question_for_what_was_is_the_last_one(text: str) -> None:
    assert _days(text) == (("2026-11-24", "2026-11-24"),)


@pytest.mark.parametrize(
    "text",
    [
        *("who comes on Tuesday", "wer kommt am Dienstag", "qui vient mardi"),
        *("quién viene el martes", "quem vem na terça", "chi viene martedì"),
        *("кто придёт во вторник", "周二谁来", "火曜日に誰が来る", "화요일에 누가 와"),
    ],
)
def test_another_weekday_may_be_the_next_one(text: str) -> None:
    assert _days(text) == (("2026-11-24", "2026-11-24"), ("2026-12-01", "2026-12-01"))


@pytest.mark.parametrize(
    "text",
    [
        *("what is due in two days", "was steht in zwei Tagen an"),
        *("qu'est-ce qui est prévu dans deux jours", "qué hay en dos días"),
        *("o que temos em dois dias", "cosa abbiamo tra due giorni", "что будет через два дня"),
        *("что запланировано через 2 дня", "两天后有什么安排", "2日後の予定", "2일 후 일정"),
    ],
)
def test_a_question_for_what_will_be_names_a_day_ahead(text: str) -> None:
    assert _days(text) == (("2026-11-27", "2026-11-27"),)


@pytest.mark.parametrize(
    "text",
    [
        *("Ernesto Sabato romanzo", "как развернуть в среду разработки", "三月后半"),
        *("五月さんの誕生日", "三月に一度の点検", "十二月党人", "农历九月九"),
        *("first quarter century", "the first quarter of the file"),
        *("second quarter of the match", "premier trimestre de grossesse"),
        *("segundo trimestre del embarazo", "primeiro trimestre da gravidez", "前三季度"),
        *("3四半期連続", "3분기 연속", "第三季度假", "mardi gras", "vendredi saint"),
        *("tous les lundis", "na segunda linha", "na quarta temporada", "a sexta versão"),
        *("mi 2024", "sono fine 2024", "le 3e trim", "2 quarters", "first semester"),
        *("quarter of users", "one quarter 2025", "三月兔", "十月怀胎", "每月三日", "三日坊主"),
        *("月三日", "くじ三日", "en la segunda", "один квартал", "So und so", "Mi Band"),
        *("am Mi-Router", "토큰은 30일 후에 만료되나", "30天后的令牌", "两天后的令牌过期"),
        *("3일 후에 만료", "три дня через неделю", "истекает через 30 дней"),
    ],
)
def test_words_with_other_meanings_name_no_time(text: str) -> None:
    assert _days(text) == ()


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("지난주에 회의", "회의"),
        ("지난 한 달 동안의 매출", "매출"),
        ("10월 말에 배포", "배포"),
        ("先週の会議", "会議"),
        ("十月に会議", "会議"),
        ("上周的会议", "会议"),
        ("十月份的账单", "账单"),
        ("выручка 2025 года", "выручка"),
        ("Umsatz im dritten Quartal 2025", "Umsatz"),
        ("вчера вечером релиз", "релиз"),
        ("ayer por la tarde factura", "factura"),
        ("reunião ontem à noite", "reunião"),
    ],
)
def test_the_words_of_a_time_are_no_words_that_notes_may_lack(text: str, rest: str) -> None:
    analyser, parsed = make_analyser(), parse_query(text)
    _, texts = read_times(parsed, analyser, lambda: TODAY)
    assert " ".join(" ".join(texts).split()) == rest


def test_a_weekday_before_a_date_is_no_other_time() -> None:
    for text in ("mardi 3 mars", "mardi, le 3 mars", "martedì 3 marzo", "во вторник 3 марта"):
        assert _days(text) == (("-03-03", "-03-03"),)
    assert _days("mardi 14h") == (("2026-11-24", "2026-11-24"), ("2026-12-01", "2026-12-01"))


@pytest.mark.parametrize("text", ["지난주 회의", "im März 2025", "en été 2025", "先週のデータ"])
def test_letters_and_accents_may_be_apart(text: str) -> None:
    apart = normalize("NFD", text)
    assert may_name_days(apart)
    assert _days(apart) == _days(text) != ()


@pytest.mark.parametrize(
    "text",
    [
        *("what are we doing on Sunday?", "what's planned for Sunday", "plans for Sunday"),
        *("do we have anything on Sunday", "what will happen on Sunday", "anything due this month"),
        *("upcoming deadlines", "what's due tomorrow", "who is coming on Sunday to help"),
        *("was machen wir am Sonntag", "was ist am Sonntag los", "haben wir am Sonntag etwas vor"),
        *("was passiert am Sonntag?", "was steht nächste Woche an", "was ist am Sonntag geplant"),
        *("qu'est-ce qu'on fait dimanche ?", "que fait-on dimanche", "on a quoi dimanche"),
        *("qué hacemos el domingo", "¿qué hay el domingo?", "qué hay la próxima semana"),
        *("cosa facciamo domenica?", "cosa c'è domenica", "che programmi abbiamo per domenica"),
        *(
            "o que temos no domingo",
            "o que vamos fazer no domingo",
            "o que está marcado no domingo",
        ),
        *("что у нас в воскресенье", "какие планы на воскресенье", "что будет в воскресенье"),
        *("周日有什么安排", "这周日做什么", "下周有什么安排", "日曜日の予定は", "日曜日は何をする"),
        *("日曜日は何がありますか", "来週の予定", "일요일에 뭐 하지?", "일요일 일정"),
    ],
)
def test_a_question_for_what_will_be_is_known_by_its_tense(text: str) -> None:
    keyword, _ = _read(text)
    assert keyword.foreseen == TODAY.isoformat()
    assert keyword.days[-1][1] > TODAY.isoformat(), "days that are yet to come"


@pytest.mark.parametrize(
    "text",
    [
        *("what did we do on Sunday?", "what was decided on Sunday", "how was Sunday?"),
        *("notes from Sunday", "what's in Sunday's log", "Sunday", "what have we done on Sunday"),
        *("what does Wei want, from our talk on Tuesday", "what will be new, as of October 2025"),
        *("was haben wir am Sonntag gemacht", "was haben wir am Sonntag entschieden"),
        *("was ist am Sonntag passiert", "qu'est-ce qui s'est passé dimanche"),
        *("qué hicimos el domingo", "qué pasó el domingo", "o que fizemos no domingo"),
        *("cosa abbiamo fatto domenica", "что мы делали в воскресенье", "周日我们做了什么"),
        *(
            "日曜日に何をしましたか",
            "일요일에 뭐 했어?",
            "was wird gebraucht",
            "a plan for the move",
        ),
    ],
)
def test_no_other_question_asks_for_what_will_be(text: str) -> None:
    assert not _read(text)[0].foreseen


@pytest.mark.parametrize(
    "text",
    [
        *("what did we do on Sunday", "o que fizemos no domingo", "qué hicimos el domingo"),
        *("cosa abbiamo fatto domenica", "qué hacemos el domingo", "cosa facciamo domenica"),
        *("was machen wir am Sonntag", "plans for Sunday", "show me Sunday's log", "Sunday?"),
        *("Pläne für Sonntag", "compromissos para domingo", "планы на воскресенье"),
    ],
)
def test_what_is_on_on_a_weekday_is_a_question_for_a_time_alone(text: str) -> None:
    assert may_name_days(text)
    assert _read(text)[0].listed


def test_black_friday_is_no_weekday() -> None:
    assert _read("what is sold on the black Friday")[0].days == ()


def test_words_for_what_is_to_be_done_are_searched_for_but_not_missed() -> None:
    keyword, _ = _read("anything due next week?")
    assert keyword.listed
    assert keyword.should == ("due",)
    assert keyword.beside == keyword.instead == {"due"}
    assert _read("what was due last week")[0].should == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("what is due in November", ("2026-11-01", "2026-11-30")),
        ("what is planned in March", ("2027-03-01", "2027-03-31")),
        ("was ist im März geplant", ("2027-03-01", "2027-03-31")),
    ],
)
def test_a_month_of_what_will_be_is_the_running_one_or_the_next(
    text: str, days: tuple[str, str]
) -> None:
    assert days in _days(text)
