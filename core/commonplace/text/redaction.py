"""Masks secrets in a text, known by the name before them, a vendor's prefix or their form.

Every rule begins at a plain word that is found first (which takes a fraction of the time of a
search by a pattern), and every pattern matches in time linear in the text: no two repetitions can
match the same text. ``redaction_rules.py`` has the forms,
``secret_words.py`` the names and the beginnings of vendors' keys.
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase

from commonplace.text.redaction_rules import LONGEST_VALUE, RULES, VALUE_KINDS, Rule, Sure
from commonplace.text.secret_words import (
    LITERALS,
    OTHER_KEYS,
    PLAIN_WORDS,
    SECRET_KEYS,
    WEAK_WORDS,
)

_LONG, _LONGEST = 18, 40
_HIDDEN = "***"
_MASK = re.compile(rf"{re.escape(_HIDDEN)}|.{{4}}…|.{{6}}….{{4}}", re.DOTALL)
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)

_PRIVATE = "PRIVATE KEY"
PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
"""Where a private key begins, or is only spoken of."""
PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
"""Where one ends."""
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{20,}")
_PEM_HIDDEN = " …redacted… "

_OPENING = ("{", "[", "(", "|", ">", "<", "|-", ">-")  # several parts, or on other lines
_AROUND = "\"'`,;:.)]}"
_CODE = re.compile(
    r"""(?x) \Z | [\w.$\[\]'"-]*[(\[{] | \$\w | [%{]{1,2}[\w\s(.-] | <[\w\s./:-]+>?
    | \.\.+ | … | \*+\Z
    | (?:process|os|self|this|settings|config|env|ctx|args|secrets|vars|var|local)\.
    | \#[0-9a-f]{3,8}\Z | =""",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?i)\.\.\.|…|(?<![^\W_])x{3}|your[_-]|replace|example|change-?me|placeholder|-here\b"
)
_NAME = re.compile(r"[\w-]*\Z")
_WORDS = re.compile(r"[^\W\d_]+(?:[_.-][^\W\d_]+)*")
_JOINED = re.compile(r"[^\W\d_]+(?:[ _.-][^\W\d_]+)+")
# Letters of scripts that are written without spaces.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
_PATHS = ("/", "./", "~/", "../", "http:", "https:", "file:")
_REST = re.compile(r"[^\s\"'\\]*")  # of a value that is longer than a pattern takes
_SHORTEST, _SIGNED, _MIXED = 4, 6, 12  # characters of what may look random
_LONGEST_NAME = 60


def redact(text: str, patterns: tuple[str, ...] = ()) -> str:
    """``text`` with every secret in it masked.

    A secret of fewer than 18 characters becomes ``***``, one of fewer than 40 keeps its first
    four, a longer one its first six and last four; a private key keeps its first and last line.
    What one of ``patterns`` matches (its first group, if it has one) is masked too. Redacting
    twice changes no more. Raises :class:`re.error` for a pattern that is no regular expression.
    """
    if _PRIVATE in text:
        text = _without_private_keys(text)
    lowered = _lower(text)
    known: dict[int, list[int]] = {}
    for rule in RULES:
        pieces: list[str] = []
        done = 0
        for start in _positions(rule, text, lowered, known):
            match = rule.pattern.match(text, start) if start >= done else None
            if match is not None and (masked := _masked(rule, match)) is not None:
                pieces += (text[done:start], masked)
                done = match.end()
                if done - start >= LONGEST_VALUE and (rest := _REST.match(text, done)) is not None:
                    done = rest.end()
        if done:
            text = "".join(pieces) + text[done:]
            lowered = _lower(text)
            known.clear()
    for pattern in _compiled(patterns):
        text = pattern.sub(_masked_own, text)
    return text


@lru_cache(maxsize=8)
def _compiled(sources: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source) for source in sources)


def _positions(rule: Rule, text: str, lowered: str, known: dict[int, list[int]]) -> list[int]:
    """Where matches of ``rule`` may begin; ``known`` has them by the words of rules before."""
    if rule.anywhere:
        if not any(start in lowered for start in rule.starts):
            return []
        return [match.start() for match in rule.pattern.finditer(text)]
    found = known.get(id(rule.starts))
    if found is None:
        positions: set[int] = set()
        for word in rule.starts:
            at = lowered.find(word)
            while at >= 0:
                positions.add(at)
                at = lowered.find(word, at + 1)
        found = known[id(rule.starts)] = sorted(positions)
    return found


def _lower(text: str) -> str:
    """``text`` in lower case, with every character at its position."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)


def _masked(rule: Rule, match: re.Match[str]) -> str | None:
    """The match with its secret masked; ``None`` if there is none in it."""
    groups = match.groupdict()
    kind = next(name for name in VALUE_KINDS if groups.get(name))
    secret = match[kind]
    if secret in _OPENING or _MASK.match(secret):
        return None
    if rule.sure is not Sure.FORM and _is_ordinary(rule, match, kind, secret):
        return None
    start, end = (at - match.start() for at in match.span(kind))
    return match[0][:start] + _mask(secret) + match[0][end:]


def _masked_own(match: re.Match[str]) -> str:
    group = 1 if match.re.groups and match[1] is not None else 0
    secret = match[group]
    if not secret or _MASK.fullmatch(secret):
        return match[0]
    start, end = (at - match.start() for at in match.span(group))
    return match[0][:start] + _mask(secret) + match[0][end:]


def _mask(secret: str) -> str:
    if len(secret) < _LONG:
        return _HIDDEN
    if len(secret) < _LONGEST:
        return f"{secret[:4]}…"
    return f"{secret[:6]}…{secret[-4:]}"


def _is_ordinary(rule: Rule, match: re.Match[str], kind: str, secret: str) -> bool:  # noqa: PLR0911 - a list of cases
    """Whether the value is code or prose: ``token=get()``, ``Token: a unit``, ``monkey: Bob``."""
    value = secret.strip(_AROUND)
    if value.lower() in LITERALS or _CODE.match(value) or _EXAMPLE.search(value):
        return True
    groups = match.groupdict()
    word = (groups.get("word") or "").lower()
    assigned = groups.get("sign") in {"=", "＝"}
    name = _name_before(match)
    if word == "key" and _opens_no_door(name, value):
        return True
    if word and word in value.lower().replace("_", "") and _WORDS.fullmatch(value):
        return True  # password=user_password
    if looks_random(value):
        return False
    if rule.sure is Sure.RANDOM or word in WEAK_WORDS:
        return True
    if name.isupper() and assigned:
        return False  # SECRET="two words"
    plain = word in PLAIN_WORDS
    if kind != "plain":
        return plain and _JOINED.fullmatch(value) is not None
    if name.lower() != word:
        return False  # db_password
    if assigned:
        return plain and _WORDS.fullmatch(value) is not None
    return plain or _UNSPACED.match(value) is not None or _goes_on(match.string, match.end())


def _name_before(match: re.Match[str]) -> str:
    """The whole identifier that the match's word ends: ``db_password``."""
    if "word" not in match.groupdict():
        return ""
    before = match.string[max(0, match.start() - _LONGEST_NAME) : match.end("word")]
    name = _NAME.search(before)
    assert name is not None, "the pattern matches the empty string"
    return name[0]


def _goes_on(text: str, at: int) -> bool:
    """Whether more words of a sentence follow on the line."""
    rest = text[at : at + _LONGEST_NAME].split("\n", 1)[0].lstrip(" \t")
    return rest[:1].isalpha()


def _opens_no_door(name: str, value: str) -> bool:
    """Whether it is a key of another kind: ``the key: patience``, ``primary_key=id``."""
    lowered = name.lower()
    if any(part in lowered for part in OTHER_KEYS):
        return True
    if any(part in lowered for part in SECRET_KEYS) or name.isupper():
        return False
    return not (
        (any(map(str.isdigit, value)) and len(value) >= _SHORTEST)
        or (len(value) >= _LONG and value.isalnum())
    )


def looks_random(value: str) -> bool:
    """Whether it is no word of prose: letters with digits or signs, or a long mixture of cases."""
    foreign = _UNSPACED.search(value)
    value = value[: foreign.start()] if foreign else value  # パスワードは…です
    if len(value) < _SHORTEST or value.startswith(_PATHS):
        return False
    letters = any(map(str.isalpha, value))
    if any(map(str.isdigit, value)):
        return letters or len(value) >= _LONG
    if not letters:
        return False
    if value.isalnum():
        mixed = value != value.lower() and value[1:] != value[1:].lower() and value != value.upper()
        return len(value) >= _LONG or (mixed and len(value) >= _MIXED)
    return (
        value.isascii() and len(value) >= _SIGNED and any(sign in value for sign in "!#$%^&*+=~?@")
    )


def _without_private_keys(text: str) -> str:
    pieces: list[str] = []
    at = 0
    while (begin := PEM_BEGIN.search(text, at)) is not None:
        pieces.append(text[at : begin.end()])
        at = begin.end()
        end = PEM_END.search(text, at)
        if end is None:
            # Truncated: only what looks like the key is masked.
            pieces.append(_PEM_BODY.sub(_HIDDEN, text[at:]))
            at = len(text)
        else:
            pieces.append(_PEM_HIDDEN + end[0])
            at = end.end()
    return "".join(pieces) + text[at:]
