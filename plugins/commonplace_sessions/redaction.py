"""Masks secrets in a text.

Secrets are values of names that end in KEY, TOKEN, SECRET, PASSWORD or PASSWD (assignments,
JSON fields, options of commands), credentials of HTTP headers and of addresses, private keys in
PEM form, and tokens with their vendors' prefixes. Every pattern is searched in time
linear in the text: no two repetitions can match the same text.
"""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

_LONG = 18
_KEPT_AT_START, _KEPT_AT_END = 6, 4
_HIDDEN = "***"
_MASK = re.compile(rf"{re.escape(_HIDDEN)}|.{{{_KEPT_AT_START}}}….{{{_KEPT_AT_END}}}", re.DOTALL)

_VALUE = r"""
    (?: "(?P<double>(?:[^"\\]|\\.){1,500})"
    | '(?P<single>(?:[^'\\]|\\.){1,500})'
    | \\+["'](?P<escaped>[^"'\\]{1,500})(?=\\)
    | [\\"'`]{0,8}(?P<plain>[^\s"'`\\][^\s"]*)
    )
"""

_NAMED = re.compile(
    rf"""(?isx)
    (?P<word> key | token | secret | password | passwd ) (?![a-z0-9_])
    \\* ["'`]? \s* (?P<sign>[:=]{{1,3}}>?) \s* {_VALUE}
    """
)
_OPTION = re.compile(
    rf"""(?isx)
    (?<![\w-]) -- (?: [a-z0-9_-]{{0,40}} [_-] )? (?: api[_-]?key | token | secret | passw(?:or)?d )
    \s+ (?!--) {_VALUE}
    """
)
_HEADER = re.compile(
    r"""(?ix)
    authorization \\* ["']? \s* [:=] \s* \\* ["']?
    (?: (?: bearer | basic | token ) \s+ )? (?P<plain>[^\s"'\\]+)
    """
)
_BEARER = re.compile(r"(?i)(?<![a-z0-9_])bearer\s+(?P<plain>[a-z0-9._~+/=-]{18,})")
_ADDRESS = re.compile(r"://[^\s/:@]{0,100}:(?P<plain>[^\s/@]{1,500})@")
_PREFIXED = re.compile(
    r"""(?ix)
    (?<![a-z0-9_])
    (?P<plain> sk-[a-z0-9_-]{8,}
    | (?: sk | rk ) _ (?: live | test ) _[a-z0-9]{10,}
    | gh[pousr]_[a-z0-9]{20,}
    | github_pat_[a-z0-9_]{20,}
    | glpat-[a-z0-9_-]{16,}
    | xox[baprs]-[a-z0-9-]{10,}
    | xapp-[a-z0-9-]{10,}
    | gsk_[a-z0-9_-]{10,}
    | aiza[a-z0-9_-]{20,}
    | pplx-[a-z0-9_-]{10,}
    | npm_[a-z0-9]{10,}
    | hf_[a-z0-9]{20,}
    | akia[a-z0-9]{16}
    | eyj[a-z0-9_-]{6,}\.eyj[a-z0-9_-]{6,}\.[a-z0-9_-]*
    )
    """
)
_TELEGRAM = re.compile(r"(?<![A-Za-z0-9_])(?:bot)?(?P<plain>[0-9]{6,}:[A-Za-z0-9_-]{20,})")


class _Rule(NamedTuple):
    """``starts`` are the beginnings of every match of ``pattern``, in lower case.

    Finding plain words first takes a fraction of the time.
    """

    starts: tuple[str, ...]
    pattern: re.Pattern[str]


_RULES = (
    _Rule(("key", "token", "secret", "passw"), _NAMED),
    _Rule(("--",), _OPTION),
    _Rule(("authorization",), _HEADER),
    _Rule(("bearer",), _BEARER),
    _Rule(("://",), _ADDRESS),
    _Rule(
        (
            *("sk-", "sk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
            *("glpat-", "xox", "xapp-", "gsk_", "aiza", "pplx-", "npm_", "hf_", "akia", "eyj"),
        ),
        _PREFIXED,
    ),
)
_BEFORE_COLON = tuple(f"{digit}:" for digit in range(10))

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)

_KINDS = ("plain", "double", "single", "escaped")

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{20,}")
_PEM_HIDDEN = " …redacted… "

_OPENING = ("{", "[", "(", "|", ">")  # the value has several parts, or is on other lines
_PROSE_KEY = re.compile(r"[A-Za-z]?[a-z]*key\Z")
_LONGEST_NAME = 40


def redact(text: str) -> str:
    """``text`` with every secret in it masked.

    A secret of 18 characters or more keeps its first six and last four, a shorter one becomes
    ``***``; a private key keeps its first and last line. Redacting twice changes no more.
    """
    if "PRIVATE KEY-----" in text:
        text = _without_private_keys(text)
    lowered = _lower(text)
    if any(sign in lowered for sign in _BEFORE_COLON):
        text = _TELEGRAM.sub(_masked, text)
        lowered = _lower(text)
    for starts, pattern in _RULES:
        pieces: list[str] = []
        done = 0
        for start in _positions(lowered, starts):
            match = pattern.match(text, start) if start >= done else None
            if match is not None:
                pieces += (text[done:start], _masked(match))
                done = match.end()
        if done:
            text = "".join(pieces) + text[done:]
            lowered = _lower(text)
    return text


def _positions(text: str, words: tuple[str, ...]) -> list[int]:
    found: list[int] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            found.append(at)
            at = text.find(word, at + 1)
    return sorted(found)


def _lower(text: str) -> str:
    """``text`` in lower case, with every character at its position."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)


def _masked(match: re.Match[str]) -> str:
    groups = match.groupdict()
    kind = next(name for name in _KINDS if groups.get(name))
    secret = match[kind]
    if secret in _OPENING or _MASK.fullmatch(secret):
        return match[0]
    if "word" in groups and _is_prose(match, secret):
        return match[0]
    start, end = (at - match.start() for at in match.span(kind))
    return match[0][:start] + _mask(secret) + match[0][end:]


def _mask(secret: str) -> str:
    if len(secret) < _LONG:
        return _HIDDEN
    return f"{secret[:_KEPT_AT_START]}…{secret[-_KEPT_AT_END:]}"


def _is_prose(match: re.Match[str], value: str) -> bool:
    """Whether this is a key of another kind: ``the key: patience``, ``monkey: Bob``."""
    if match["word"].lower() != "key":
        return False
    before = match.string[max(0, match.start() - _LONGEST_NAME) : match.end("word")]
    name = re.search(r"[\w-]*\Z", before)
    assert name is not None, "the pattern matches the empty string"
    if _PROSE_KEY.match(name[0]) is None or name[0].lower().startswith("api"):
        return False
    random = any(map(str.isdigit, value)) or (len(value) >= _LONG and value.isalnum())
    return not random


def _without_private_keys(text: str) -> str:
    pieces: list[str] = []
    at = 0
    while (begin := _PEM_BEGIN.search(text, at)) is not None:
        pieces.append(text[at : begin.end()])
        at = begin.end()
        end = _PEM_END.search(text, at)
        if end is None:
            # Truncated: only what looks like the key is masked.
            pieces.append(_PEM_BODY.sub(_HIDDEN, text[at:]))
            at = len(text)
        else:
            pieces.append(_PEM_HIDDEN + end[0])
            at = end.end()
    return "".join(pieces) + text[at:]
