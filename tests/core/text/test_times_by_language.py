"""Plain questions for times in ten languages, each asked on Wednesday, 25 November 2026."""

from __future__ import annotations

from datetime import date

import pytest

from commonplace.text.days import times_of
from commonplace.text.time_hints import may_name_days

TODAY = date(2026, 11, 25)

# A line: the first and the last day (without a year: of any), and the questions for them.
QUESTIONS = {
    "English": """
-07-01..-09-30: what did we ship in the third quarter? | what did we do in Q3?
2025-07-01..2025-09-30: revenue in the third quarter of 2025 | revenue in Q3 2025
2025-07-01..2025-09-30: Q3/2025 goals | the 3rd quarter of last year
-01-01..-03-31: goals for the first quarter
2025-10-01..2025-12-31: fourth quarter 2025 results
-10-01..-10-10: what did we do in early October
-10-11..-10-20: mid-October deploys
-10-21..-10-31: the outage in late October | at the end of October, what broke
2026-10-01..2026-10-10: in early October 2026
2025-10-21..2025-10-31: end of October 2025
2026-11-24: what did I do on Tuesday | what did I do last Tuesday
2026-11-24: what did I write yesterday evening
2026-11-17: what did we decide Tuesday a week ago | what was said a week ago on Tuesday
2026-11-17: what did I do on Tuesday last week
2026-11-10: what was said on Tuesday two weeks ago
2026-11-13: what did we ship on Friday a week ago
2026-11-18: what did I do a week ago today | what did I do today a week ago
2026-11-18..2026-11-23: who called a few days ago
2026-11-18..2026-11-25: what changed in the past week
2026-11-22..2026-11-25: what changed in the last 3 days
2026-10-25..2026-11-25: what changed in the past month
2026-11-08..2026-11-14: two weeks ago, what was it
2026-11-23..2026-11-25: what changed since Monday
2026-11-21..2026-11-22: what did we do last weekend
-10-01..-10-07: in the first week of October
-05-01..-05-10: in early May, who came
-05-21..-05-31: end of May
2024-01-01..2024-06-30: sales in the first half of 2024
2024-01-01..2024-04-30: in early 2024
none: the third quarter of the game | a quarter of the users | the second try failed
none: who is May Meyer
2026-08-01..2026-08-31: three months ago, where
2026-10-03: notes of 2026-10-03
-10-03: notes of 3rd October
2026-11-09..2026-11-15: the week before last
""",
    "German": """
-07-01..-09-30: was haben wir im dritten Quartal gemacht | drittes Quartal
2025-07-01..2025-09-30: Umsatz im dritten Quartal 2025 | Umsatz im 3. Quartal 2025
2025-07-01..2025-09-30: im dritten Quartal des letzten Jahres | Q3 2025
-01-01..-03-31: erstes Quartal Ziele
2025-10-01..2025-12-31: Zahlen des vierten Quartals 2025
-10-01..-10-10: was war Anfang Oktober | was lief Anfang des Monats Oktober
-10-11..-10-20: Mitte Oktober
-10-21..-10-31: Ende Oktober
2025-10-21..2025-10-31: Ende Oktober 2025
2026-11-24: was war am Dienstag | was habe ich am Dienstagabend gemacht
2026-11-24: was war letzten Dienstag | was war gestern Abend
2026-11-17: was war Dienstag vor einer Woche | was war am Dienstag vor einer Woche
2026-11-17: was war letzte Woche Dienstag
2026-11-10: was war am Dienstag vor zwei Wochen
2026-11-18: was war heute vor einer Woche
2026-11-13: was war am Freitag vor einer Woche
2026-11-18..2026-11-23: wer rief vor ein paar Tagen an | wer rief vor einigen Tagen an
2026-11-22..2026-11-25: was war in den letzten drei Tagen
2026-11-23..2026-11-25: was war seit Montag
2026-11-21..2026-11-22: was war letztes Wochenende
-10-01..-10-07: in der ersten Woche im Oktober
-05-01..-05-10: Anfang Mai
-05-21..-05-31: Ende Mai
2024-01-01..2024-04-30: Anfang 2024
2024-09-01..2024-12-31: Ende 2024
2026-11-08..2026-11-14: vor zwei Wochen
2026-11-09..2026-11-15: vorletzte Woche
none: So geht das | die Mi Band App | dienstags Sport | morgens um acht
2026-10-01..2026-10-31: was war letzten Monat
2025-01-01..2025-12-31: was war letztes Jahr
2026-07-01..2026-09-30: was war letztes Quartal
-10-03: am 3. Oktober
2026-11-01..2026-11-30: was war diesen Monat
2026-11-23..2026-11-29: was war diese Woche
""",
    "French": """
-07-01..-09-30: qu'a-t-on fait au troisième trimestre
2025-07-01..2025-09-30: chiffre d'affaires du troisième trimestre 2025 | le 3e trimestre 2025
2025-07-01..2025-09-30: le 3ème trimestre de 2025 | troisième trimestre de l'année dernière
-01-01..-03-31: objectifs du premier trimestre
2025-10-01..2025-12-31: quatrième trimestre 2025
-10-01..-10-10: qu'est-ce qu'on a fait début octobre | au début d'octobre
-10-11..-10-20: la panne de mi-octobre
-10-21..-10-31: fin octobre | à la fin du mois d'octobre
2025-10-21..2025-10-31: fin octobre 2025
2026-11-24: qu'est-ce que j'ai fait mardi ? | qu'a-t-on dit mardi soir | le mardi
2026-11-24: mardi dernier | hier soir
2026-11-17: mardi il y a une semaine | mardi de la semaine dernière | la semaine dernière, mardi
2026-11-17: le mardi de la semaine dernière
2026-11-10: mardi il y a deux semaines
2026-11-18: aujourd'hui il y a une semaine
none: tous les mardis | chaque mardi | mardi gras
2026-11-18..2026-11-23: il y a quelques jours
2026-11-22..2026-11-25: ces trois derniers jours
2026-11-18..2026-11-25: les sept derniers jours
2026-11-08..2026-11-14: il y a deux semaines
2026-11-16..2026-11-22: la semaine dernière
2026-11-21..2026-11-22: le week-end dernier
2026-10-01..2026-10-31: le mois dernier
2025-01-01..2025-12-31: l'année dernière | l'an dernier
2026-07-01..2026-09-30: le trimestre dernier
2026-11-23: avant-hier
-10-01..-10-07: la première semaine d'octobre
-05-01..-05-10: début mai
-05-21..-05-31: fin mai
2024-01-01..2024-04-30: début 2024
2026-12-01: mardi prochain
-10-03: le 3 octobre
2026-11-23..2026-11-29: cette semaine
2026-08-01..2026-08-31: il y a trois mois
""",
    "Spanish": """
-07-01..-09-30: qué hicimos en el tercer trimestre
2025-07-01..2025-09-30: ingresos del tercer trimestre de 2025 | 3er trimestre de 2025
2025-07-01..2025-09-30: tercer trimestre del año pasado
-01-01..-03-31: objetivos del primer trimestre
2025-10-01..2025-12-31: cuarto trimestre de 2025
-10-01..-10-10: a principios de octubre
-10-11..-10-20: a mediados de octubre
-10-21..-10-31: a finales de octubre | a fines de octubre
2025-10-21..2025-10-31: a finales de octubre de 2025
2026-11-24: qué hice el martes | el martes pasado | el pasado martes | ayer por la tarde | ayer
2026-11-17: el martes hace una semana | el martes de la semana pasada
2026-11-18: hoy hace una semana
none: todos los martes | los martes | la segunda vez
2026-11-18..2026-11-23: hace unos días | hace algunos días
2026-11-22..2026-11-25: en los últimos tres días
2026-11-18..2026-11-25: en los últimos siete días
2026-11-08..2026-11-14: hace dos semanas
2026-11-16..2026-11-22: la semana pasada
2026-11-21..2026-11-22: el fin de semana pasado
2026-10-01..2026-10-31: el mes pasado
2025-01-01..2025-12-31: el año pasado
2026-07-01..2026-09-30: el trimestre pasado
2026-11-23: anteayer
-10-01..-10-07: la primera semana de octubre
-05-01..-05-10: a principios de mayo
-05-21..-05-31: a finales de mayo
-05-01..-05-31: en mayo
2024-01-01..2024-04-30: a principios de 2024
2024-09-01..2024-12-31: a finales de 2024
2026-12-01: el próximo martes
-10-03: el 3 de octubre
2026-11-23..2026-11-29: esta semana
2026-11-23..2026-11-25: desde el lunes
2026-08-01..2026-08-31: hace tres meses
2026-11-13: el viernes hace una semana
""",
    "Portuguese": """
-07-01..-09-30: o que fizemos no terceiro trimestre
2025-07-01..2025-09-30: receita do terceiro trimestre de 2025 | 3º trimestre de 2025
2025-07-01..2025-09-30: terceiro trimestre do ano passado
-01-01..-03-31: metas do primeiro trimestre
2025-10-01..2025-12-31: quarto trimestre de 2025
-10-01..-10-10: no início de outubro | no começo de outubro
-10-11..-10-20: em meados de outubro
-10-21..-10-31: no final de outubro | no fim de outubro
2025-10-21..2025-10-31: no final de outubro de 2025
2026-11-24: o que fiz na terça | o que fiz na terça-feira | o que fiz na última terça
2026-11-24: na terça passada | ontem à noite | ontem à tarde
2026-11-23: o que fiz na segunda? | na segunda-feira | anteontem
none: o que decidimos na segunda reunião | na quinta versão do plano | na quarta tentativa
none: todas as terças
2026-11-17: terça-feira da semana passada | na terça da semana passada
2026-11-17: terça-feira há uma semana
2026-11-18: hoje há uma semana
2026-11-18..2026-11-23: há alguns dias | há poucos dias | alguns dias atrás
2026-11-22..2026-11-25: nos últimos três dias
2026-11-18..2026-11-25: nos últimos sete dias
2026-11-08..2026-11-14: há duas semanas | duas semanas atrás
2026-11-16..2026-11-22: na semana passada
2026-11-21..2026-11-22: no fim de semana passado
2026-10-01..2026-10-31: no mês passado
2025-01-01..2025-12-31: no ano passado
2026-07-01..2026-09-30: no trimestre passado
-10-01..-10-07: na primeira semana de outubro
-05-01..-05-10: no início de maio
2024-01-01..2024-04-30: no início de 2024
2024-09-01..2024-12-31: no final de 2024
2026-12-01: próxima terça
-10-03: em 3 de outubro | dia 3 de outubro
2026-11-23..2026-11-29: esta semana
2026-11-23..2026-11-25: desde segunda-feira
2026-08-01..2026-08-31: há três meses
""",
    "Italian": """
-07-01..-09-30: cosa abbiamo fatto nel terzo trimestre
2025-07-01..2025-09-30: ricavi del terzo trimestre 2025 | 3º trimestre del 2025
2025-07-01..2025-09-30: terzo trimestre dell'anno scorso
-01-01..-03-31: obiettivi del primo trimestre
2025-10-01..2025-12-31: quarto trimestre del 2025
-10-01..-10-10: a inizio ottobre | all'inizio di ottobre
-10-11..-10-20: a metà ottobre
-10-21..-10-31: a fine ottobre | alla fine di ottobre
2025-10-21..2025-10-31: a fine ottobre 2025
2026-11-24: cosa ho fatto martedì | cosa ho fatto martedì sera | martedì scorso
2026-11-24: lo scorso martedì | ieri sera | ieri pomeriggio
2026-11-17: martedì della settimana scorsa | martedì di una settimana fa
2026-11-18: oggi una settimana fa
none: ogni martedì | tutti i martedì | il sabato del villaggio
2026-11-18..2026-11-23: qualche giorno fa | alcuni giorni fa
2026-11-22..2026-11-25: negli ultimi tre giorni
2026-11-18..2026-11-25: negli ultimi sette giorni
2026-11-08..2026-11-14: due settimane fa
2026-11-16..2026-11-22: la settimana scorsa
2026-11-21..2026-11-22: lo scorso fine settimana | il fine settimana scorso
2026-10-01..2026-10-31: il mese scorso
2025-01-01..2025-12-31: l'anno scorso
2026-07-01..2026-09-30: il trimestre scorso | lo scorso trimestre
2026-11-23: l'altro ieri | ieri l'altro
-10-01..-10-07: nella prima settimana di ottobre
-05-01..-05-10: a inizio maggio
2024-01-01..2024-04-30: all'inizio del 2024
2024-09-01..2024-12-31: alla fine del 2024
2026-12-01: martedì prossimo
-10-03: il 3 ottobre
2026-11-23..2026-11-29: questa settimana
2026-11-23..2026-11-25: da lunedì
2026-08-01..2026-08-31: tre mesi fa
""",
    "Russian": """
-07-01..-09-30: что мы сделали в третьем квартале
2025-07-01..2025-09-30: выручка за третий квартал 2025 года | 3 квартал 2025
2025-07-01..2025-09-30: в 3-м квартале 2025 года | итоги третьего квартала 2025
2025-07-01..2025-09-30: в третьем квартале прошлого года
-01-01..-03-31: цели на первый квартал
2025-10-01..2025-12-31: четвёртый квартал 2025 | четвертый квартал 2025
-10-01..-10-10: в начале октября
-10-11..-10-20: в середине октября
-10-21..-10-31: в конце октября
2025-10-21..2025-10-31: в конце октября 2025 года
2026-11-24: что я делал во вторник | в прошлый вторник | в минувший вторник | вчера вечером
2026-11-17: во вторник на прошлой неделе | во вторник неделю назад
2026-11-18: сегодня неделю назад
2026-11-20: в пятницу
none: по вторникам | каждый вторник
2026-11-18..2026-11-23: несколько дней назад
2026-11-22..2026-11-25: за последние три дня | за последние 3 дня
2026-11-18..2026-11-25: за последнюю неделю | за последние семь дней
2026-11-08..2026-11-14: две недели назад | 2 недели назад
2026-11-16..2026-11-22: на прошлой неделе
2026-11-21..2026-11-22: в прошлые выходные
2026-10-01..2026-10-31: в прошлом месяце
2025-01-01..2025-12-31: в прошлом году
2026-07-01..2026-09-30: в прошлом квартале
2026-11-23: позавчера
-10-01..-10-07: в первую неделю октября
-05-01..-05-10: в начале мая
-05-21..-05-31: в конце мая
-05-01..-05-31: в мае
2024-01-01..2024-04-30: в начале 2024 года
2024-09-01..2024-12-31: в конце 2024
2026-12-01: в следующий вторник
-10-03: 3 октября
2026-11-23..2026-11-29: на этой неделе
2026-11-23..2026-11-25: с понедельника
2026-08-01..2026-08-31: три месяца назад | 3 месяца назад
2026-11-22: три дня назад
-10-01..-10-31: что было в октябре
""",
    "Chinese": """
-07-01..-09-30: 第三季度做了什么 | 三季度的目标
2025-07-01..2025-09-30: 2025年第三季度的收入 | 2025年三季度 | 去年第三季度 | 2025年Q3
-01-01..-03-31: 第一季度
-10-01..-10-31: 十月做了什么 | 十月份
-12-01..-12-31: 十二月的会议
-10-03: 十月三日发生了什么 | 十月三号
2026-10-01..2026-10-31: 二〇二六年十月 | 上个月
2026-10-03: 二〇二六年十月三日
2025-10-01..2025-10-31: 去年十月
-10-01..-10-10: 十月初做了什么 | 十月上旬 | 10月初
-10-11..-10-20: 十月中旬
-10-21..-10-31: 十月底 | 十月末 | 十月下旬 | 10月底
2025-10-21..2025-10-31: 2025年10月底
2026-11-24: 周二做了什么 | 这周二 | 星期二的会议 | 昨天晚上
2026-11-17: 上周二
2026-11-18..2026-11-23: 几天前谁来过
2026-11-22..2026-11-25: 最近三天 | 过去3天
2026-11-18..2026-11-25: 最近一周
2026-10-25..2026-11-25: 最近一个月
2026-11-08..2026-11-14: 两周前 | 两个星期前
2026-11-16..2026-11-22: 上周 | 上个星期
2026-11-21..2026-11-22: 上周末
2025-01-01..2025-12-31: 去年
2026-07-01..2026-09-30: 上季度 | 上个季度
2026-11-23: 前天
-10-01..-10-07: 十月第一周
2024-01-01..2024-04-30: 2024年初
2024-09-01..2024-12-31: 2024年底
2026-12-01: 下周二
2026-11-23..2026-11-29: 本周
none: 一月一次 | 五月天的歌 | 十月怀胎 | 第三季度假村 | 三日游 | 每周二的例会 | 农历八月十五
none: 第二季的剧情
2026-08-01..2026-08-31: 三个月前
-05-01..-05-31: 五月的账单
""",
    "Japanese": """
-07-01..-09-30: 第3四半期に何をした | 第三四半期の売上
2025-07-01..2025-09-30: 2025年第3四半期の売上 | 2025年の第3四半期 | 昨年の第3四半期
-01-01..-03-31: 第1四半期の目標
-10-01..-10-31: 十月に何をした | 10月に
-10-03: 十月三日の会議
2026-10-01..2026-10-31: 二〇二六年十月 | 先月
-10-01..-10-10: 10月上旬 | 10月初め | 10月の初めに | 10月初旬
-10-11..-10-20: 10月中旬 | 10月半ば
-10-21..-10-31: 10月下旬 | 10月末 | 10月の終わり
2025-10-21..2025-10-31: 2025年10月末
2026-11-24: 火曜日に何をした | 火曜の会議 | 今週の火曜日 | この前の火曜日 | 昨日の夜
2026-11-17: 先週の火曜日 | 先週火曜
2026-11-18..2026-11-23: 数日前に
2026-11-22..2026-11-25: ここ3日間 | 過去3日間 | 最近3日
2026-11-18..2026-11-25: この1週間 | ここ一週間
2026-10-25..2026-11-25: この1か月 | 過去1ヶ月
2026-11-08..2026-11-14: 2週間前 | 二週間前
2026-11-16..2026-11-22: 先週
2026-11-21..2026-11-22: 先週末 | 先週の週末
2025-01-01..2025-12-31: 去年 | 昨年
2026-07-01..2026-09-30: 前四半期
2026-11-23: 一昨日
-10-01..-10-07: 10月の第1週 | 10月第一週
2024-01-01..2024-04-30: 2024年初め
2024-09-01..2024-12-31: 2024年末
2026-12-01: 来週の火曜日
2026-11-23..2026-11-29: 今週
none: 毎週火曜日 | 三日坊主 | 三月ぶり
2026-08-01..2026-08-31: 3か月前 | 三ヶ月前
-05-01..-05-31: 五月の請求書
""",
    "Korean": """
-07-01..-09-30: 3분기에 뭐 했어 | 제3분기
2025-07-01..2025-09-30: 2025년 3분기 매출 | 작년 3분기 | 지난해 3분기 매출
-01-01..-03-31: 1분기 목표
-10-01..-10-31: 10월에 뭐 했어 | 10월 한 달
-10-03: 10월 3일 회의
-10-01..-10-10: 10월 초에 | 10월초 | 10월 초순
-10-11..-10-20: 10월 중순에
-10-21..-10-31: 10월 말에 | 10월말 | 10월 하순
2025-10-21..2025-10-31: 2025년 10월 말
2026-11-24: 화요일에 뭐 했어 | 지난 화요일 | 이번 주 화요일 | 어제 저녁에
2026-11-17: 지난주 화요일
2026-11-18..2026-11-23: 며칠 전에
2026-11-22..2026-11-25: 최근 3일 | 최근 3일간 | 지난 3일 동안
2026-11-18..2026-11-25: 지난 일주일 | 지난 일주일 동안 | 최근 일주일간
2026-10-25..2026-11-25: 지난 한 달 | 최근 한 달간
2026-09-25..2026-11-25: 최근 두 달
2026-11-08..2026-11-14: 2주 전 | 두 주 전
2026-11-16..2026-11-22: 지난주에 | 저번 주에 | 지난 주에
2026-11-21..2026-11-22: 지난 주말에
2026-10-01..2026-10-31: 지난달에 | 지난달
2025-01-01..2025-12-31: 작년에 | 지난해
2026-07-01..2026-09-30: 지난 분기
2026-11-23: 그저께
-10-01..-10-07: 10월 첫째 주 | 10월 첫 주
2024-01-01..2024-04-30: 2024년 초
2024-09-01..2024-12-31: 2024년 말
2026-12-01: 다음 주 화요일
2026-11-23..2026-11-29: 이번 주
none: 매주 화요일
2026-08-01..2026-08-31: 3개월 전 | 석 달 전 | 세 달 전
2026-11-11..2026-11-25: 지난 2주 | 최근 2주간
2025-10-01..2025-10-31: 작년 10월
2024-01-01..2024-12-31: 2024년에
""",
}


def _lines(language: str) -> list[tuple[list[tuple[str, str]], str]]:
    """The days that are wanted, at most one time, and the question."""
    found = []
    for line in QUESTIONS[language].strip().splitlines():
        days, _, questions = line.partition(": ")
        first, _, last = days.partition("..")
        wanted = [] if days == "none" else [(first, last or first)]
        found += [(wanted, question) for question in questions.split(" | ")]
    return found


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_plain_question_names_the_days_that_are_meant(language: str) -> None:
    wrong = {}
    for wanted, question in _lines(language):
        times = times_of(question, lambda: TODAY, asked=True)
        days = list(dict.fromkeys(time.days for time in times))
        if days != wanted or (wanted and not may_name_days(question)):
            wrong[question] = days
    assert wrong == {}
