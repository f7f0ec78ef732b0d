"""Which words of a text are of what was, and which of what will be.

Of questions, and of notes that name a day. Imported only for a query that may name a time.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING

from commonplace.text.day_spans import BUDDHIST, MONTHS, THAI_MONTHS, THAI_SHORT
from commonplace.text.day_words import WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Iterator


@cache
def _compiled(form: str) -> re.Pattern[str]:
    """What few of the processes need, on first use."""
    return re.compile(form, re.IGNORECASE)


# Words of questions for what was. "Scheduled" and its like ask for what will be, and "was" is a
# German word, too.
PAST_VERBS = re.compile(
    r"\b(?:did|was(?!\s+(?:ist|sind|habe|hat|steht|kommt|mach|muss|müssen|wird|gibt|passiert|läuft))"
    r"|were|had|went|came|got|made|said|ran|saw|done|been|(?!schedul|plann|expect|need)\w{3,}ed"
    r"|war|waren|hatten?|wurden?|gab|ging|kam|(?!geplant)ge\w{2,}(?:t|en)"
    r"|(?:habe?n?|has?t|ist|sind)\b.*\b(?!geplant|vorgesehen|angesetzt)(?:\w{3,}iert|(?:\w*ge|be|ver|ent|er|zer)\w{3,}(?:t|en))"
    r"|était|étaient|avons|avez|s['’]est|fue|fueron|hice|hizo|pasó|era|\w{2,}imos|fizemos|tivemos"
    r"|fomos|\w{2,}ó"
    r"|(?:(?:on|il|elle|qui)\s+a|ai|ont|a-t-(?:on|il|elle)|ai-je)\s+(?:fait|dit|vu|eu|mis|pris|\w{3,}é)"
    r"|(?:ho|ha|hanno|abbiamo|è|sono)\s+\w{2,}[ts][oaie]|fiz|fez|foi|foram|\w{2,}ou|\w{3,}[ei]u"
    r"|был[аио]?|(?:с?дела|случи|произо|сказа|обсу|реши|звони|при|писа|виде|получи|купи|отправи)"
    r"\w{0,5}л(?:[аио]|ся|ась|ись|ось)?)\b"
    r"|[了過过]|した|った|でした|[했었았였갔왔]",
    re.IGNORECASE,
)
# Verbs of notes for what was, of which questions may have some for what will be ("is rent paid").
_NARRATED = (
    r"\b(?:ate|began|bought|broke|brought|built|caught|chose|drove|dug|fell|felt|flew|forgot|found"
    r"|gave|grew|heard|held|knew|left|lost|met|paid|rode|sang|sat|sent|slept|spent|spoke|stood|swam"
    r"|taught|thought|threw|t(?:old|ook)|woke|won|wore|wrote|blieb|fand|fuhr|las|rief|sah|schlief"
    r"|schrieb|spielten?|machten?|kauften?|trafen|(?:siamo|sommes)\s+\w{2,}[tiés]+"
    r"|\w{3,}(?:aient|amos|aron|ieron|ava(?:no|mo)?))\b"
    r"|た(?=[、,\s]|\Z)"
)
# Words of questions for what will be.
PLANNED = re.compile(
    r"\b(?:will|['’]ll|going\s+to|planned|plans|scheduled|due|upcoming|coming|comes"
    r"|geplant|fällig|wird|werden|kommt|kommen|prévue?s?|va|vont|allons|previst[oa]s?|viene|vamos"
    r"|vai|vão|marcad[oa]s?|будет|будем|запланировано|предстоит|планы)\b"
    r"|安排|计划|計劃|打算|(?<![重主需摘])要(?![求点點])|予定|예정|계획|일정",
    re.IGNORECASE,
)
# Those of the present tense ask for it where nothing but a time is asked for: "what do we have on
# Monday". Without one of all these "in two days" is how long something takes.
PRESENT = re.compile(
    r"\b(?:happens?|happening|anything|what['’]?s|what\s+is|(?:do|have|am|are)\s+(?:i|we|you)"
    r"|passiert|steht|stehen|was\s+(?:ist|habe)|machen?\s+(?:ich|wir)|habe?n?\s+(?:ich|wir)|hay|tengo"
    r"|tenemos|hacemos|pasa|qu['’]est-ce|(?:fait|faisons|a)-(?:t-)?(?:on|nous)|on\s+(?:fait|a)"
    r"|abbiamo|facciamo|c['’]è|temos|fazemos|há|делаем|(?:что|есть)\s+(?:у|ли)\s+(?:нас|меня))\b"
    r"|有什[么麼]|有啥|[做干]什[么麼]|干[嘛啥]|ます|[すあ]る|하지|할까|있[어나니]",
    re.IGNORECASE,
)
_OF_NOTES = r"\b(?:log|notes?|journal|diary|minutes|entr(?:y|ies)|\w*notiz\w*|tagebuch)\b"


def is_foreseen(text: str, *, alone: bool) -> bool:
    """Whether ``text`` asks for what will be; ``alone``: it asks for nothing but a time."""
    if PAST_VERBS.search(text) or _compiled(_OF_NOTES).search(text):
        return False
    return bool(PLANNED.search(text) or (alone and PRESENT.search(text)))


# Of "when is the next …" the words for that, and those for when.
_NEXT = (
    r"\b(?:next(?![.-]\w)|nächste[nrms]?|kommende[nrms]?|prochaine?s?|pr[óo]xim[oa]s?|prossim[oaie]"
    r"|следующ\w{2,3}|ближайш\w{2,3})\b"
    r"|下一?[次回]|下一?[个個場场]|次の|次回の?|今度の|다음|(?:ครั้ง)?(?:ต่อไป|ถัดไป)|(?:ครั้ง|คราว|รอบ)หน้า"
)
_WHEN = (
    r"\A\W*(?:next|when)\s|\b(?:when(?:['’]s|\s+(?:is|are|do|does|will))|(?:what|which)\s+(?:time|day|date)|wann|(?:um\s+)?wie\s?viel\s+uhr"
    r"|an\s+welchem\s+tag|quand|(?:à\s+)?quelle\s+heure|quel\s+jour|cu[áa]ndo|(?:a\s+)?qué\s+(?:hora|día)"
    r"|quando|(?:a\s+)?che\s+(?:ora|giorno)|(?:a\s+)?que\s+(?:horas?|dia)|когда|во\s+сколько|какой\s+день)\b"
    r"|(?:什[么麼]|啥)?[时時][候间間]|何[时時日]|[几幾][点點号號]|哪[一]?天|いつ|언제|몇\s?시|며칠|เมื่อไห?ร่?|วันไหน|กี่โมง"
)


def next_asked(text: str) -> tuple[int, int] | None:
    """Where ``text`` has the word "next" if it asks when that is; ``None``: it does not."""
    word = _compiled(_NEXT).search(text)
    if (
        word is None
        or _compiled(_WHEN).search(text) is None
        or PAST_VERBS.search(text)
        or _compiled(_OF_NOTES).search(text)
    ):
        return None
    return word.span()


# Of questions for what is on such a day again and again.
_HABIT = re.compile(
    r"\b(?:usual(?:ly)?|always|normally|typical(?:ly)?|generally|regularly|every|each"
    r"|immer|normalerweise|üblicherweise|gewöhnlich|meistens|jede[nrs]?|toujours|habituellement"
    r"|d['’]habitude|chaque|normalmente|siempre|habitualmente|cada|sempre|di\s+solito|ogni"
    r"|geralmente|costumo|toda|обычно|всегда|кажд\w{2,3})\b"
    r"|通常|平[时時]|一般|[总總]是|[每毎]|いつも|普段|ふだん|大抵|たいてい|보통|항상|늘|매주|평소",
    re.IGNORECASE,
)


_EACH_WEEKDAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|\w+tags|mittwochs"
    r"|(?:lun|mar|mercre|jeu|vendre|same)dis|dimanches|los\s+(?:lunes|martes|miércoles|jueves|viernes)"
    r"|(?:sábado|domingo)s|по\s+\w+[ая]м)\b",
    re.IGNORECASE,
)


def is_habit(text: str) -> bool:
    """Whether ``text`` is of what is again and again: "usually on Monday", "on Mondays"."""
    return bool(_HABIT.search(text) or _EACH_WEEKDAY.search(text))


# The German "was" is "what".
_ASKED_IN_GERMAN = r"\A\W*was\b(?=.*\b(?:wir|ich|man|am|jede[nrs]?)\b)"


def asks_for_habit(text: str) -> bool:
    """Whether ``text`` asks for what is again and again, and not for what was."""
    return is_habit(text) and PAST_VERBS.search(_compiled(_ASKED_IN_GERMAN).sub("", text)) is None


def habits_in(text: str) -> list[tuple[int, int]]:
    """Where ``text`` has a word such as "usually"."""
    return [match.span() for match in _HABIT.finditer(text)]


def is_habit_of_a_weekday(text: str, _day: str | None = None) -> bool:
    """Whether ``text`` says what is on a weekday again and again."""
    return is_habit(text) and _compiled(_A_WEEKDAY).search(text) is not None


_A_WEEKDAY = (
    rf"\b(?:{'|'.join(WEEKDAYS)})|[周週][一二三四五六日天]|星期|礼拜|禮拜"
    "|[月火水木金土日]曜|[월화수목금토일]요일"
)
_END_OF_SENTENCE = r"[.!?](?=\s|\Z)|[。！？;；\n]"
_ENDS = re.compile(_END_OF_SENTENCE)
# "Moved the review to Friday": what stands before a day that is ahead, whatever the verb.
_TOWARDS = (
    r"\b(?:for|to|until|till|by|next|für|bis|auf|zum|nächste[nrms]?|kommende[nrms]?|pour|d['’]ici"
    r"|jusqu['’](?:à|au)|para|hasta|próximo|per|entro|fino\s+a|até|на|до|к)\s+(?:the\s+|el\s+|o\s+)?\Z"
)


def tells_of_past(text: str, start: int, end: int) -> bool:
    """Whether the sentence of ``text`` with the day at ``start`` to ``end`` tells what was then."""
    first = max((stop.end() for stop in _ENDS.finditer(text, 0, start)), default=0)
    stop = _ENDS.search(text, end)
    before, sentence = text[first:start], text[first : stop.start() if stop else len(text)]
    was = PAST_VERBS.search(sentence) or _compiled(_NARRATED).search(sentence)
    return bool(was) and not (PLANNED.search(sentence) or _compiled(_TOWARDS).search(before))


MONTH_NUMBERS = {name: number for number, names in MONTHS.items() for name in names}
"""Months (1..12) by their names in scripts with spaces, in lower case."""
THAI_NUMBERS = {
    name: number for names in (THAI_MONTHS, THAI_SHORT) for number, name in enumerate(names, 1)
}
"""Months by their Thai names. Thai has no spaces between words, and marks that are no letters: its
patterns cannot look for the ends of words."""
_IN_THAI = "|".join(map(re.escape, THAI_NUMBERS))
_WORD = r"(?P<name>[^\W\d_]{3,10})\b\.?"
_DAY, _YEAR = r"(?P<day>\d\d?)(?!\d)", r"(?P<year>20\d\d)(?!\d)"
_MONTH, _LATE = r"(?P<month>\d\d?)(?!\d)", r"(?P<day>1[3-9]|2\d|3[01])(?!\d)"
_ERA, _THAI_YEAR = r"\s*(?:พ\.?ศ\.?|ค\.?ศ\.?|ปี)?\s*", r"(?P<year>(?:20|25|๒๕)\d\d|[6-9๖-๙]\d)"
_FIRST, _END = r"(?<![\w./-])", r"(?![\w/-]|\.\d|\s*(?:of|von|de|di)\b|\s*[%\"″])"
# "3/18" may be three of eighteen.
_SURE = r"1[0-2]|0\d|(?<=\b(?:on|by|am|le) )\d|(?<=\b(?:due|bis) )\d"
# To read all forms of times takes a hundred times as long.
_DATES = (
    rf"(?<!\d){_YEAR}[-/](?P<month>\d\d)[-/]{_DAY}",
    rf"(?<![\w.:/]){_DAY}(?:st|nd|rd|th|er|\.|º)?(?:\s+(?:of|de))?\s+{_WORD}(?:,?\s+(?:de\s+)?{_YEAR})?",
    rf"\b{_WORD}\s+{_DAY}(?![:.]\d)(?:st|nd|rd|th)?(?:,?\s+{_YEAR})?",
    rf"(?<![\w.]){_DAY}\.\s?(?P<month>\d\d?)\.(?:\s?{_YEAR})?(?![\w-])",
    rf"(?:{_YEAR}\s*[年년]\s*)?(?P<month>\d\d?)\s*[月월]\s*{_DAY}\s*[日号號일]",
    rf"(?<![\d.,/-]){_DAY}\s*(?P<thai>{_IN_THAI})\.?(?:{_ERA}{_THAI_YEAR}(?![\d:.]))?",
    # Day first, but where the second number can be no month.
    rf"{_FIRST}{_DAY}/{_MONTH}/(?P<year>(?:20|25)?\d\d){_END}",
    rf"{_FIRST}{_MONTH}/{_LATE}/(?P<year>(?:20)?\d\d){_END}",
    rf"{_FIRST}(?!24/7){_LATE}/{_MONTH}{_END}",
    rf"{_FIRST}(?P<month>{_SURE})/{_LATE}{_END}",
    rf"{_FIRST}(?=0|\d\d/0)(?P<day>0\d|1[0-2])/(?P<month>0\d|1[0-2]){_END}",
)
_HALF_A_YEAR = timedelta(183)


def dates_ahead(text: str, day: str | None, today: date) -> Iterator[date]:
    """The days from ``today`` on that ``text``, of ``day`` (ISO) where it has one, has dates of.

    A date without a year is that nearest to the day of its text, or to today. A year may be of the
    Buddhist era. "5/12" may be of two months, or a part of something: it names none.
    """
    seen_from = date.fromisoformat(day) if day else today
    for form in _DATES:
        for match in _compiled(form).finditer(text):
            groups = match.groupdict()
            number = MONTH_NUMBERS.get(groups.get("name", "").lower(), 0)
            number = number or THAI_NUMBERS.get(groups.get("thai", ""), 0)
            month = int(groups.get("month") or number)
            own = _year_of(groups.get("year") or "")
            for year in [own] if own else range(today.year - 1, today.year + 2):
                try:
                    named = date(year, month, int(groups["day"]))
                except ValueError:  # a number or a word of something else
                    continue
                is_near = bool(own) or abs(named - seen_from) <= _HALF_A_YEAR
                if named >= today and is_near:
                    yield named


_CENTURY = 2000


def _year_of(digits: str) -> int:
    """The year that ``digits`` name, of either era; 0: none.

    Of two digits those above 60 are of the Buddhist era: 2569 is 2026.
    """
    year = int(digits or 0)
    if 60 <= year < 100:
        year += 2500
    elif 0 < year < 100:
        year += _CENTURY
    return year - BUDDHIST if year >= 2500 else year
