"""Words that notes may have in the place of one that is typed: misspelled, in parts, synonyms.

And filters as other programs call them. Imported where a search lacks a word, or has such a filter.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.text.languages import english_levels, english_words
from commonplace.text.questions import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SHORT = 5
"""Words of so many letters or fewer are one letter from many others."""
_LONGEST_ENDING = 3
"""How many letters a stem may lack of a word that is taken to be spelled correctly."""
_LONG, _LONG_NAME = 6, 8
"""How many letters a word has that is hardly near to another one, and how many one that may be a
name."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_LEAST_SPLIT, _MOST_SPLIT = 7, 40
"""How many letters a word has that is searched for by its parts."""
_LEAST_FIRST, _LEAST_LAST, _LEAST_BEGINNING = 4, 3, 5
"""How many letters its parts have, and a beginning without the rest."""


def stems_of(
    spans: Callable[[str], Iterable[tuple[int, int, tuple[str, ...]]]], words: Iterable[str]
) -> dict[str, str]:
    """The token of each of ``words``, letters alone, by the ``spans`` of an analyser."""
    text = " ".join(words)
    return {text[start:end]: terms[0] for start, end, terms in spans(text)}


def one_letter_off(word: str) -> Iterator[str]:
    """``word`` with one letter mistyped, but the first: the likeliest mistakes come first."""
    indices = range(1, len(word))
    yield from (
        word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in indices if i + 1 < len(word)
    )
    yield from (word[:i] + letter + word[i:] for i in (*indices, len(word)) for letter in _LETTERS)
    yield from (word[:i] + letter + word[i + 1 :] for i in indices for letter in _LETTERS)
    yield from (word[:i] + word[i + 1 :] for i in indices)


def is_english(word: str, token: str) -> bool:
    """Whether ``word``, or its ``token``, is among the 8,000 most frequent ones of English."""
    if len(word) - len(token) > _LONGEST_ENDING:  # "defin" is also of "definately"
        return False
    return token in english_words() or word in english_levels()


def is_long(word: str) -> bool:
    """Whether it is near to the word that was meant, and hardly to another one.

    A capitalised one may be a name.
    """
    return len(word) >= (_LONG if word.islower() else _LONG_NAME)


def may_be_meant(word: str, other: str) -> bool:
    """Whether ``other``, one letter from it, may have been meant by ``word``; in lower case.

    In a short word no letter may be replaced: it is near to many by chance.
    """
    return len(word) > _SHORT or len(word) != len(other) or sorted(word) == sorted(other)


def ways_to_part(word: str) -> Iterator[tuple[str, ...]]:
    """``word`` as two words, then its beginnings: the longest come first."""
    if not _LEAST_SPLIT <= len(word) <= _MOST_SPLIT:
        return
    ends = range(len(word) - _LEAST_LAST, _LEAST_FIRST - 1, -1)
    for end in ends:
        if STOP_WORDS.isdisjoint(both := (word[:end], word[end:])):
            yield both
    yield from ((word[:end],) for end in ends if end >= _LEAST_BEGINNING)


_MEANT = {
    "after": "date day on since from seit ab nach desde depuis",
    "before": "until till bis vor hasta avant antes",
    "path": "file filename name folder dir directory datei ordner pfad",
    "tag": "tags label",
    "": "title titel heading text body author",
}
"""What filters of other programs and languages are called here; ``""``: there is none."""


_MOST_SAID = 3
_NOT_IN_SQL = "(?:NULL|EXISTS|IN|LIKE|BETWEEN|FOUND)"
"""Words that stand behind ``NOT`` in SQL and in messages."""


def of_other_searches(text: str) -> list[str]:
    """That ``NOT``, ``AND`` or an unknown filter is a word here, and what does that instead.

    Each is said once; of many, the first three.
    """
    return list(islice(dict.fromkeys(_of_other_searches(text)), _MOST_SAID))


def _of_other_searches(text: str) -> Iterator[str]:
    if '"' in text or text.isupper():
        return
    here = {name: ours for ours, names in _MEANT.items() for name in names.split()}
    names = "|".join(here)
    no = rf"NOT\s+(?!{_NOT_IN_SQL}\b)(\w[^\s()]*)"
    pattern = rf"(?<![^\s(])(?:{no}|(AND)(?=\s)|((?i:{names})):(?=[^\s/:]))"
    for excluded, required, name in re.findall(pattern, text):
        if left_out := excluded.rstrip(".,;:!?"):
            what = "what passes that filter" if ":" in left_out else "what has that word"
            yield f"NOT is a word here: -{left_out} leaves out {what}"
        elif required:
            yield 'AND is a word here: more of the words count more, a "phrase" must be there'
        else:
            ours = here[name.lower()]
            how = (
                f"use {ours}:" if ours else "the filters are path:, tag:, source:, after:, before:"
            )
            yield f"{name}: is no filter, and was searched for as a word: {how}"


def synonyms_of(word: str) -> list[str]:
    """What else notes may call ``word``, in lower case."""
    forms = [word, re.sub("(?<=[shxz])es$", "", word)]
    forms += [word.removesuffix("s")] if len(word) > _LONGEST_ENDING else []  # "gps" is no doctor
    groups = [group for form in forms for group in _groups().get(form, ())]
    others = [other for group in groups for other in group if other not in forms]
    return [one for one in dict.fromkeys(others) if one not in STOP_WORDS]


@cache
def _groups() -> dict[str, list[list[str]]]:
    groups: dict[str, list[list[str]]] = {}
    for line in _SYNONYMS.strip().splitlines():
        group = line.split()
        for word in group:
            groups.setdefault(word, []).append(group)
    return groups


# In either direction, and whatever the context: a word with a second meaning is in no group of its
# first one, unless notes about people and their work rarely use the second.
_SYNONYMS = """
mum mom mother mama
dad father papa
kid child
grandma grandmother granny
grandpa grandfather grandad
wife spouse
husband spouse
colleague coworker teammate
boss manager supervisor
employee staff
supplier vendor
doctor physician gp
hospital clinic
medicine medication drug pill
illness disease sickness
ill sick unwell
vaccination jab
car vehicle automobile
bike bicycle
motorbike motorcycle
lorry truck
plane aircraft
holiday vacation trip
journey trip travel
hotel accommodation
luggage baggage suitcase
flat apartment
garden yard
rubbish trash garbage waste
sofa couch
wardrobe closet
fridge refrigerator
cooker stove oven
tap faucet
lift elevator
heating heater radiator boiler
mobile cellphone smartphone phone
telephone phone
computer laptop pc
film movie
photo picture photograph
supermarket groceries
buy purchase
price cost fee
salary wage income
rent lease
loan mortgage credit
debt owe
bill invoice
refund reimbursement
money cash
cheap inexpensive
expensive costly
discount rebate
subscription membership
profession occupation
company firm business employer
appointment meeting
schedule timetable calendar
task todo ticket
bug defect issue problem
error failure exception
outage downtime incident
fix repair solve resolve
workaround fix solution
broken faulty defective
delete remove erase
modify alter edit change
refuse reject decline
allow permit
forbid prohibit ban
answer reply response
suggest propose recommend
favourite preferred
food meal dish
dinner supper
beverage drink
sweets candy
biscuit cookie
shoe sneaker footwear
clothes garment
trousers pants
jumper sweater pullover
coat jacket
glasses spectacles
teacher tutor instructor
pupil student
exam test
university college
town city
street road
wrong incorrect
dangerous risky
safe secure
dog puppy
cat kitten
wedding marriage
gym workout exercise
folder directory
configuration settings
config settings
production prod
authentication login
auth login
authorization permission
login signin
password passphrase credential
javascript js
typescript ts
application app
wifi wlan wireless
internet broadband
website site homepage
mail email
sms message
chat conversation
deployment release rollout
rollback revert
upgrade update
backup snapshot
restore recovery
alert alarm notification
function method
argument parameter
disk storage
cpu processor
latency delay
quota limit
frontend ui
developer programmer engineer
lawyer attorney solicitor
accountant bookkeeper
guest visitor
parcel package
offence offense
cheque check
analyse analyze
analysed analyzed
analysing analyzing
favour favor
endeavour endeavor
tumour tumor
analogue analog
metre meter
paralysed paralyzed
utilise utilize
utilised utilized
fuelled fueled
"""
