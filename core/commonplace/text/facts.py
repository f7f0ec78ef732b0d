"""The lines of a note that say something by themselves, and which part of such a line is its value.

Plugins that compare what notes say (proposals of lines to keep, audits, drafts of queries) share
one reading of them: what is outside front matter and code, which lines are facts, and when two
lines are one fact with two values. All is done by comparing words.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = re.compile(r"(?<!\w)(?:[-+]|[vV](?=\d))?\d+(?:[.,:/-]\d+)*(?!\w)")
"""A number, a date, a time or a version, as it stands in a line."""

_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+|^\s*#{1,6}\s+")
_BESIDE = re.compile(r"<!--.*?-->|\(Source: [^()]*\)\s*$")
_SUPERSEDED = re.compile(r"~~(.*?)~~\s*\(superseded (\d{4}-\d{2}-\d{2})?", re.DOTALL)
_LONGEST_SUCCESSOR = 80
"""Characters of the successor that a superseded text names."""
_NO_FACT = re.compile(r"^\s*(?:#{1,6}\s|```|~~~|>|\||---|<!--)")
_FENCES = ("```", "~~~")
_WORDS = re.compile(r"\w+").findall
# Words come first: nearly all tokens are, and to find that one is no number takes longer.
_TOKENS = re.compile(rf"[^\W\d]\w*|{NUMBER.pattern}|\w+").findall
_DIGIT = re.compile(r"\d")
_SOURCE = re.compile(r"\(Source: ([^()]*)#L(\d+)\)\s*$")
_SHORTEST = 12  # characters of a line that can say something by itself
# What stands before the number that is the value of a line; the first that is found counts.
_BEFORE_VALUE = (
    re.compile(r"(?:\b(?:is|are)|=)[^\w.;!?]*$", re.IGNORECASE),
    re.compile(r":[^\w.;!?]*$"),
    re.compile(r"\b(?:to|at)[^\w.;!?]*$", re.IGNORECASE),
)

_LONGEST_VALUE, _SHORT, _OWN_WORDS = 4, 3, 2  # words; the last of a subject, at the least
_COPULA = re.compile(r"(?:\b(?:is|are)(?:\s+now)?|=|:)[^\w.;!?]*\Z", re.IGNORECASE)
_NAMED = re.compile(
    r"(?P<subject>[^:=]{4,80}?)(?P<mark>\s+(?:is|are)(?:\s+now)?\s+|:\s+|\s*=\s+)(?P<value>\S.*)\Z"
)
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


class NoteLine(NamedTuple):
    """One line of a note; ``day`` is that of its daily log, ``""`` for another note.

    ``number`` is 1-based, as in citations; ``text`` is without marks of lists, comments and source.
    ``source`` cites the line of a log that it was taken from, if it says so.
    """

    path: str
    number: int
    text: str
    day: str = ""
    source: str = ""

    @property
    def citation(self) -> str:
        """``path#L3``."""
        return f"{self.path}#L{self.number}"


def plain_line(line: str) -> str:
    """``line`` without marks of lists and headings, comments, its source, and needless spaces."""
    if "<!--" in line or "(Source: " in line:
        line = _BESIDE.sub("", line)
    mark = _LIST_MARK.match(line)
    return " ".join(line[mark.end() if mark else 0 :].split())


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Number (1-based) and text of each line outside front matter and fenced code.

    They are counted as citations count them: only ``\n`` ends a line. Front matter and code that do
    not end are none and reach to the end of the note, respectively.
    """
    lines = text.split("\n")
    start = 0
    if lines[0].rstrip() in ("---", "+++"):
        ends = {lines[0].rstrip(), "..."} if lines[0][0] == "-" else {lines[0].rstrip()}
        start = next((at for at, line in enumerate(lines[1:], 2) if line.rstrip() in ends), 0)
    fence = ""
    for number, line in enumerate(lines[start:], start + 1):
        words = line.strip()
        if fence:
            # As long a mark ends it, with nothing behind: a longer fence may hold shorter ones.
            fence = "" if words.startswith(fence) and not words.strip(fence[0]) else fence
        elif words.startswith(_FENCES) and (words[0] == "~" or "`" not in words.lstrip("`")):
            fence = words[: len(words) - len(words.lstrip(words[0]))]
        else:
            yield number, line.removesuffix("\r")


def facts(path: str, text: str, day: str = "") -> list[NoteLine]:
    """The lines of a note that say something by themselves.

    Headings, quotes, code, tables, lines that are superseded, and those of fewer than 12
    characters say nothing by themselves.
    """
    found = []
    for number, line in prose_lines(text):
        if not _NO_FACT.match(line) and not _SUPERSEDED.search(line):
            plain = plain_line(line)
            if len(plain) >= _SHORTEST:
                cited = _SOURCE.search(line)
                source = f"{cited[1]}#L{cited[2]}" if cited else ""
                found.append(NoteLine(path, number, plain, day, source))
    return found


def superseded_mark(day: str, successor: str) -> str:
    """What stands behind a text that is struck out (``~~old~~``) since ``successor`` replaced it.

    ``(superseded 2026-11-01 by: new…)``; :func:`superseded_in` and :func:`successor_in` read it.
    """
    words = " ".join(successor.split())
    words = words if len(words) <= _LONGEST_SUCCESSOR else f"{words[: _LONGEST_SUCCESSOR - 1]}…"
    return f"(superseded {day} by: {words})"


def superseded_in(text: str) -> tuple[str, str] | None:
    """What of ``text`` is struck out as superseded, and the day, ``""`` where none is named.

    ``None`` where nothing has the mark; one that was written by hand may lack the day.
    """
    found = _SUPERSEDED.search(text)
    return None if found is None else (found[1], found[2] or "")


def successor_in(line: str) -> str | None:
    """How the text that replaced ``line`` begins, by the mark at its end; ``None`` without one."""
    found = _successor().search(line)
    return None if found is None else found[1]


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
    aside = rf"\s+(?:since|because|due\s+to)|\s*[,;(]\s*(?:since|because|{changed})"
    number = rf"(?:\b(?:is|are)\s|=|:\s)[^\w.;!?]*{NUMBER.pattern}[^,;.!?]{{0,30}}?"
    return re.sub(rf"(?i)({number})(?:{aside})\b.*", r"\1", text)


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
def _successor() -> re.Pattern[str]:
    return re.compile(r"\(superseded \S+ by: (.*?)…?\)[ \t\r]*\Z")


@cache
def _grouped_numbers() -> re.Pattern[str]:
    return re.compile(rf"{NUMBER.pattern}(?:[ ()]{{1,2}}{NUMBER.pattern})*")  # +49 (351) 123


@cache
def _identifiers() -> re.Pattern[str]:
    return re.compile(r"(?=\S*[^\W\d])(?=\w\S*[\d@_]|\S*\w[./]\w)[\w.@/+:-]+\Z")


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
    since = "since|because|due to|after|seit|weil|wegen|nachdem|depuis|parce que|desde|porque"
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
