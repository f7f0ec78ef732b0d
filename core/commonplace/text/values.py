"""Which part of a line is its value, and when two lines are one fact with two values.

And which lines have such an answer as a query asks for. All is done by comparing words.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from commonplace.text.facts import plain_line

if TYPE_CHECKING:
    from collections.abc import Mapping

NUMBER = re.compile(r"(?<!\w)(?:[-+]|[vV](?=\d))?\d+(?:[.,:/-]\d+)*(?!\w)")
"""A number, a date, a time or a version, as it stands in a line."""

_WORDS = re.compile(r"\w+").findall
# Words come first: nearly all tokens are, and to find that one is no number takes longer.
_TOKENS = re.compile(rf"[^\W\d]\w*|{NUMBER.pattern}|\w+").findall
_DIGIT = re.compile(r"\d")
# What stands before the number that is the value of a line; the first that is found counts.
_BEFORE_VALUE = (
    re.compile(r"(?:\b(?:is|are)|=)[^\w.;!?]*$", re.IGNORECASE),
    re.compile(r":[^\w.;!?]*$"),
    re.compile(r"\b(?:to|at)[^\w.;!?]*$", re.IGNORECASE),
)

_LONGEST_VALUE = 4
"""Words of a value."""
_SHORT = 3
"""Words of what an item of a list is about, and of its value, where both are short."""
_OWN_WORDS = 2
"""Words of its own that what a line is about has, at the least."""
_COPULA = re.compile(r"(?:\b(?:is|are)(?:\s+now)?|=|:)[^\w.;!?]*\Z", re.IGNORECASE)
_NAMED = re.compile(
    r"(?P<subject>[^:=]{4,80}?)(?P<mark>\s+(?:is|are)(?:\s+now)?\s+|:\s+|\s*=\s+)(?P<value>\S.*)\Z"
)
# Not those that also begin a quantity, such as "ab" (from 10 pieces on).
_SINCE = "since|as of|seit|depuis|desde|dal|dalla|sinds|sedan|siden"
_HOLDS_SINCE = re.compile(rf"(?i)(?:[(,;]\s*|\s)(?:{_SINCE})\s+\S")
_MARKS = (":", "=", "is", "are")  # one of which it has; most lines have none
_CONJUNCTIONS = re.compile(r"[,;(]|\s(?:and|or|but|because|since|when|if|that|which|who)\s")
_NAME = re.compile(r"[`\"“*_]|\b[A-Z0-9]")
_NO_VALUES = ("n/a", "and/or", "e.g", "i.e")
_OF = frozenset(("of", "for", "in", "on", "at", "from", "to", "with", "by", "about"))
# What has a name for its value, though no capital letter shows it: a branch, but not a server. Of
# that "is slow" is said as often as its name.
_HAVE_NAMES_LISTED = """
alias branch bucket channel codename compiler currency database domain editor encoding environment
extension filename format formatter hostname keyword label language linter login mode name namespace
nickname passphrase password path prefix profile protocol provider region registrar registry remote
schedule shell suffix tag theme timezone username
"""
_HAVE_NAMES = frozenset(_HAVE_NAMES_LISTED.split())
_HAVE_URLS_LISTED = """
address api base dashboard domain endpoint gateway homepage host hostname mirror origin proxy
registry remote repo repository server uri url webhook website
"""
_HAVE_URLS = frozenset(_HAVE_URLS_LISTED.split())
# What is said of anything; with what ends like a participle, an adjective or an adverb.
_STATES_LISTED = """
absent active alive alone asleep available away awful back bad behind better big black blue broken
busy cheap clean clear closed cold complete correct corrupt dead different dirty done down dry due
easy empty enough fine first free frozen full gone good great green half-done hard here hidden high
hot huge idle ill inactive incomplete incorrect invalid kaput large last late legacy live long loud
low missing mutable mine more new next nice normal off offline ok okay old on online open out
out-of-date out-of-sync outdated over overdue own past poor possible present private public quick
quiet rare read-only ready red right safe same secret short shut sick simple slow small solid sound
stable stale strange strong stuck sure tentative there thin tiny top true false unclear unique
unknown unsafe unstable up up-to-date valid weak weird well wet wrong yellow young yours
"""
_STATES = frozenset(_STATES_LISTED.split())
_STATE_ENDINGS = (
    *("ed", "ing", "ly", "able", "ible", "ful", "less", "ous", "ish"),
    *("wn", "ken", "ten", "den"),
)
_NO_STATES_LISTED = """
staging testing hourly daily nightly weekly monthly yearly
"""
_NO_STATES = frozenset(_NO_STATES_LISTED.split())


def fact_of(text: str) -> tuple[tuple[str, ...], ...]:
    """The words and numbers of a line before its value and after it; lines of one fact share them.

    The value is a number after "is", "are", "=", ":", "to" or "at", or the last word. A line has
    one value at most: what differs in any other number is another fact. Of a line without such a
    value it is all its words.
    """
    return _around(text, value_of(text))


def _around(text: str, value: re.Match[str] | None) -> tuple[tuple[str, ...], ...]:
    if value is None:
        return (_tokens(text),)
    return _tokens(text[: value.start()]), _tokens(text[value.end() :])


def value_of(text: str) -> re.Match[str] | None:
    """The number that is the value of a line, as :func:`fact_of` says, where there is one."""
    numbers = list(NUMBER.finditer(text)) if _DIGIT.search(text) else []
    for before in _BEFORE_VALUE if numbers else ():
        for number in reversed(numbers):
            if before.search(text[: number.start()]):
                return number if before is _BEFORE_VALUE[-1] else _grouped(text, number)
    if numbers and not _WORDS(text[numbers[-1].end() :]):
        return numbers[-1]
    return None


def _grouped(text: str, number: re.Match[str]) -> re.Match[str]:
    """``number`` with the numbers behind it: the groups of one of a phone, or a day and a time."""
    return _grouped_numbers().match(text, number.start()) or number


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKENS(text.casefold()))


def without_aside(text: str) -> str:
    """A line without the "now" of its value, and without since when or why its number holds."""
    now = r"\s+(?:now|currently)"
    if "now" in text or "currently" in text:
        text = re.sub(rf"(\b(?:is|are)){now}\b|(?<!\bfor)(?<!right){now}(?=\W*\Z)", r"\1", text)
    if _DIGIT.search(text) is None:
        return text
    changed = r"(?:was|(?:mov|chang|updat|rais|lower|reduc|switch|migrat)ed)"
    aside = rf"\s+(?:{_SINCE}|because|due\s+to)|\s*[,;(]\s*(?:{_SINCE}|because|{changed})"
    number = rf"(?:\b(?:is|are)\s|=|:\s)[^\w.;!?]*{NUMBER.pattern}[^,;.!?]{{0,30}}?"
    return re.sub(rf"(?i)({number})(?:{aside})\b.*", r"\1", text)


def says_since(text: str) -> bool:
    """Whether a line says since when it holds: "(since May 2026)", "seit Oktober"."""
    return _HOLDS_SINCE.search(text) is not None


Fact = tuple[object, ...]


def statement_of(text: str) -> tuple[Fact, str] | None:
    """The fact that a line states, and its value; ``None`` if it states none that can be compared.

    The value is a number, a date, a time or a version after "is", "are", "=" or ":", or else up to
    four words that look like a name: after a colon any; after "is" such as have a capital letter or
    a digit, a host or an identifier, or one word where what it is about has names (a branch, a
    region). A URL is the value of what has one. What it is about has two words of its own at least.
    """
    if text.rstrip().endswith("?"):
        return None
    found = _NAMED.match(text) if any(mark in text for mark in _MARKS) else None
    value = found["value"].rstrip(" .!").strip('`*_"“”') if found else ""
    if found and (_is_url(value) or _is_identifier(value)):
        return _named(found, value)
    number = value_of(text)
    if number is not None and _COPULA.search(text[: number.start()]):
        rest = text[number.end() :]
        if len(_WORDS(rest)) > _LONGEST_VALUE or not own_words(text[: number.start()] + rest):
            return None
        return ("number", *_around(text, number)), number[0]
    return _named(found, value) if found and "://" not in text else None


def _named(found: re.Match[str], value: str) -> tuple[Fact, str] | None:
    """What ``found``, a match of ``_NAMED``, states."""
    subject = found["subject"]
    if NUMBER.search(subject) or not own_words(subject) or value.startswith("["):
        return None
    if _is_url(value):
        named = _head(subject) in _HAVE_URLS
    elif 0 < len(_WORDS(value)) <= _LONGEST_VALUE and not _CONJUNCTIONS.search(f" {value} "):
        named = (
            found["mark"].strip() in (":", "=")
            or _NAME.search(found["value"]) is not None
            or _is_identifier(value)
            or (_head(subject) in _HAVE_NAMES and _is_lower_name(value))
        )
    else:
        named = _is_identifier(value)  # a long path is one word
    words = tuple(word.casefold() for word in _WORDS(subject))
    return (("name", words), " ".join(value.split())) if named else None


def _head(subject: str) -> str:
    """The noun that ``subject`` is: ``url`` of "The URL of the staging API"."""
    words = subject.casefold().split()  # "on-call" is one
    of = next((at for at, word in enumerate(words) if word in _OF), len(words))
    return words[of - 1].strip('`*_"“”') if of else ""


def _is_url(value: str) -> bool:
    scheme, mark, rest = value.partition("://")
    return bool(mark and rest) and scheme.isalpha() and len(value.split()) == 1


def _is_identifier(value: str) -> bool:
    """Whether ``value`` is a host, a path, an address of mail or the like: one word with signs."""
    # A version is a number, whether it has its v or not.
    plain = NUMBER.fullmatch(value) or value.casefold() in _NO_VALUES
    return not plain and _identifiers().match(value) is not None


def _is_lower_name(value: str) -> bool:
    """Whether ``value`` is one word that names something, as far as its form shows."""
    state = value in _STATES or (value.endswith(_STATE_ENDINGS) and value not in _NO_STATES)
    letters = value.replace("-", "")
    return letters.isascii() and letters.isalpha() and letters.islower() and not state


# These are compiled where lines are compared: most that import this module need neither.


@cache
def _grouped_numbers() -> re.Pattern[str]:
    return re.compile(rf"{NUMBER.pattern}(?:[ ()]{{1,2}}{NUMBER.pattern})*")  # +49 (351) 123


@cache
def _identifiers() -> re.Pattern[str]:
    return re.compile(r"(?=\S*[^\W\d])(?=\w\S*[\d@_]|\S*\w[./]\w)[\w.@/+:-]+\Z")


_SOME = "two|three|four|five|six|seven|eight|nine|ten|twelve"
_UNITS = (
    r"seconds?|secs?|s|min(?:ute)?s?|h|hours?|days?|weeks?|months?|years?|ms|km|m|miles?"
    r"|kilomet\w+|cm|mm|kg|m²|m2|qm|minut[eo][ns]?|stunden?|tagen?|wochen?|monaten?|jahren?|horas?"
    r"|d[ií]as?|semanas?|mes(?:es)?|a[ñn]os?|heures?|jours?|semaines?|mois|ans|or[ae]|giorn[oi]"
    r"|settiman[ae]|mes[ei]|ann[oi]|uur|dagen|weken|maanden|jaar"
)
_ANSWERS = {
    "amount": r"\d ?(?:k|m|million)? ?"
    r"(?:kr|[A-Z]{3}\b|€|£|zł|yen|%|[eE]uros?\b|dollars?\b|pounds?\b|francs?\b|ct\b|[cC]ents?\b"
    r"|Franken\b|reais\b|[円元원])|[$€£¥] ?\d",
    "number": rf"\d|\b(?i:{_SOME}|twice)\b",
    "measure": rf"(?i:(?:\d|\b(?:an?|one|{_SOME}|few|several)\b) ?-?(?:{_UNITS})\b)",
}
_FIRST_WORD = re.compile(r"[-*+>|#_`'\"“\s]*([^\W_]+)").match
"""Behind the marks of Markdown that a line begins with, and quotes."""
_LONGEST_ENDING = 4
"""So many letters or more behind a stem make another word: "Evaluation" is not of "Eva"."""
_MENTION = 0.3
"""What a line that begins with a name counts, where it does not go on with who that is."""
_LONGEST_ROLE = 40
"""Characters before a colon that say who someone is: "Best friend: Eva"."""


def answer_share(text: str, answer: str, weights: Mapping[str, float]) -> float:
    """The largest share (0..1) of ``weights``, by token, in a line of ``text`` with such an answer.

    A line has a token where its letters stand in it, as nearly all forms of a word begin with their
    stem. A line about a ``subject`` begins with one and goes on as "Eva: a nurse" or "Eva is", or
    names it behind a colon: "My sister: Eva". Another that begins with one counts less. Headings
    have no answer.
    """
    most = 0.0
    for line in text.split("\n"):
        lowered = line.lower()
        share = sum([weight for token, weight in weights.items() if token in lowered])
        # Few lines have words of the query, and only these are looked at for an answer.
        if share > most and line[:1] != "#":
            most = max(most, share * _answers(line, answer, weights))
    return most / sum(weights.values()) if most else 0.0


def _answers(line: str, answer: str, weights: Mapping[str, float]) -> float:
    """How well (0..1) a line answers; "Eva called" is less of an answer than "Eva: a nurse"."""
    if answer != "subject":
        return float(_pattern_of(answer).search(line) is not None)
    if at := _named_at(line, weights):
        return 1.0 if _apposition().match(line, at) else _MENTION
    role, colon, rest = line.partition(": ")
    at = _named_at(rest, weights) if colon and len(role) <= _LONGEST_ROLE else 0
    return float(bool(at) and _name_ends().match(rest, at) is not None)


def _named_at(line: str, weights: Mapping[str, float]) -> int:
    """Where the first word of ``line`` ends, if it is one of the query; else 0."""
    first = _FIRST_WORD(line.lower())
    word = first[1] if first else ""
    begun = [token for token in weights if word.startswith(token)]
    is_one = any(len(word) - len(token) < _LONGEST_ENDING for token in begun)
    return first.end() if first and is_one else 0


_MORE_NAMES = r"(?:\s+[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}[*_`\"”]*\s*"


@cache
def _apposition() -> re.Pattern[str]:
    verbs = "is|was|are|ist|war|sind|est|était|es|era|è|é"
    return re.compile(rf"{_MORE_NAMES}(?:[:|(,=–—]|-\s|(?:{verbs})\b)")


@cache
def _name_ends() -> re.Pattern[str]:
    return re.compile(rf"{_MORE_NAMES}(?:[,;(.|]|\Z)")


@cache
def _pattern_of(answer: str) -> re.Pattern[str]:
    return re.compile(_ANSWERS[answer])


_TIME = r"\d{1,2}:\d{2}(?::\d{2})?"
_WHEN = re.compile(rf"\A\W*(?:\d{{4}}-\d{{2}}-\d{{2}}(?:[ T]{_TIME})?|{_TIME})\W+")
_NOW = "now", "currently", "jetzt", "maintenant", "ahora", "agora", "adesso", "теперь", "сейчас"
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_ITEM = ("- ", "* ", "+ ")


@lru_cache(maxsize=2_048)  # what was found is found again: some 2 MB
def without_value(line: str) -> tuple[Fact, str]:
    """What a line says apart from its value, and the value; lines of one fact share the first.

    The value is that of :func:`statement_of`, "now" or not; else the number of a line that has one,
    or that of :func:`value_of`. The time at which a line begins says nothing, nor does since when
    or why the value holds. In scripts without spaces it is the name behind 是, です, 입니다 and the
    like, or else all numbers.
    """
    from commonplace.text.tokens import has_unspaced

    text = plain_line(line)
    if any(map(text.lower().__contains__, _NOW)):
        text = re.sub(rf"(?i)\b(?:{'|'.join(_NOW)})\b", "", text)
    text = text[when.end() :] if (when := _WHEN.match(text)) else text
    if has_unspaced(text):
        from commonplace.text.unspaced import statement_of_unspaced

        listed = line.lstrip().startswith(_ITEM)
        if (named := statement_of_unspaced(text, listed=listed)) is not None:
            return named
        return (_DIGITS.sub("0", text).casefold(),), " ".join(_DIGITS.findall(text))
    text = _valued().sub(r"\1", text)
    if (stated := statement_of(text) or _short_statement(line, text)) is not None:
        return stated
    if not _DIGIT.search(text) or (value := _value_in(text)) is None:
        return _tokens(text), ""
    return (_tokens(text[: value.start()]), _tokens(text[value.end() :])), value[0]


_ADDRESS = re.compile(r"\d+(?:\.\d+){3}")
_OF_A_NAME = re.compile(
    r"(?i)(?:#|[^\W\d_][^\W_]*-|\b(?:issue|ticket|bug|task|story|pr|pull request|mr|case|order"
    r"|invoice|customer|client|account|user|build|job|run|kunde|kundin|auftrag|rechnung|vorgang"
    r"|facture|commande|pedido|cliente|factura)\s(?:no\.? |nr\.? |nº )?)\Z"
)


def _value_in(text: str) -> re.Match[str] | None:
    """The only number of a line, or that of :func:`value_of`; none of a name: PAY-1432, #812."""
    numbers, stated = list(NUMBER.finditer(text)), value_of(text)
    value = numbers[0] if len(numbers) == 1 else stated
    if value is None or _OF_A_NAME.search(text, 0, value.start()):
        return None
    return None if stated is None and _ADDRESS.fullmatch(value[0]) else value


@cache
def _valued() -> re.Pattern[str]:
    """A line up to its value, and behind that since when or why it holds, or what is said of it."""
    mark = r"\b(?:is|are|at|to|ist|sind|est|es)\s|=|:\s"
    since = rf"{_SINCE}|because|due to|after|weil|wegen|nachdem|parce que|porque"
    clause = r"\s*[,;]\s+[^\W\d]\S*(?:\s+\S+){2}|\s*\([^\W\d]\S*\s+\S"
    return re.compile(rf"(?i)\A(.*?(?:{mark})\s*[^,;(]{{1,40}}?)(?:{clause}|\s(?:{since})\s).*\Z")


def _short_statement(line: str, text: str) -> tuple[Fact, str] | None:
    """What an item of a list states, with up to three words about a colon each: "On call: Ana"."""
    if not line.lstrip().startswith(_ITEM) or "**" in line:  # a speaker
        return None
    subject, colon, value = text.partition(": ")
    words = tuple(map(str.casefold, _WORDS(subject)))
    short = 0 < len(words) <= _SHORT and 0 < len(_WORDS(value)) <= _SHORT
    return (("name", words), value.rstrip(" .!")) if colon and short else None


def own_words(text: str) -> set[str]:
    """The words that say what ``text`` is about, if they are two at least; else none."""
    from commonplace.text.questions import STOP_WORDS

    own = {word.casefold() for word in _WORDS(text) if not word.isdigit()} - STOP_WORDS
    return own if len(own) >= _OWN_WORDS else set()
