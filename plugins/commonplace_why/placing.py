"""Says which words of a question a hit has, and where a passage stands among what is found."""

from __future__ import annotations

import posixpath
from math import fsum
from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import (
    CommonplaceError,
    NamedTuple,
    counted,
    make_analyser,
    parse_query,
    shown_filters,
)
from commonplace_why.replaying import ask, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace import Hit, Memory, SearchResult
    from commonplace.plugin import Explanation

State = Literal["shown", "folded", "below", "low", "filtered", "unmatched"]
"""``below``: after the hits that a search shows; ``low``: scores less than ``query.minScore``."""

_ALL = 1_000  # hits that one search may ask for
_LONGEST = 160  # characters of a line that is shown


class Words(NamedTuple):
    """The words of a question in a hit: what each gave to its score, the most first, and the rest.

    A word has its typed form, or its token where none is known. Both are empty where a backend
    does not tell.
    """

    had: tuple[tuple[str, float], ...] = ()
    lacked: tuple[str, ...] = ()


class Placing(NamedTuple):
    """Where a passage stands among what a question finds.

    ``rank`` (from 1) is among ``total`` hits, of which a search shows ``shown``; ``hit`` is the one
    that has the passage, or that it was folded into. ``above`` is the hit that stands before it:
    the one just above, of those that are not shown the last that is. ``reasons`` are sentences.
    """

    citation: str
    state: State
    total: int
    shown: int
    rank: int | None = None
    hit: Hit | None = None
    above: Hit | None = None
    above_rank: int | None = None
    reasons: tuple[str, ...] = ()

    @property
    def longer(self) -> str:
        """A sentence if the passage is longer than ``above``, so that a word counts less in it."""
        if self.hit is None or self.above is None:
            return ""
        here, there = (one.end_line - one.start_line + 1 for one in (self.hit, self.above))
        high, low = _weights(self.above.explain), _weights(self.hit.explain)
        less = any(0 < low[token] < high.get(token, 0.0) for token in low)
        counts = f"{counted(here, 'line')} here, {counted(there, 'line')} there"
        return f"a word counts less in a longer passage: {counts}" if here > there and less else ""


def placed(memory: Memory, question: str, citation: str, result: SearchResult) -> Placing:
    """Where the lines ``citation`` stand among what ``question`` finds; ``result`` is its answer.

    Raises as :meth:`Memory.search <commonplace.memory.Memory.search>` does.
    """
    shown = result.hits
    if found := _found(shown, citation):
        return _at(citation, found, shown, len(shown))
    every = ask(memory, question, max_results=_ALL, min_score=0.0).hits
    if found := _found(every, citation):
        least = memory.settings.search.query.min_score
        return _at(citation, found, every, len(shown), least=least)
    if reasons := tuple(_without(memory, question, citation)):
        return Placing(citation, "filtered", len(every), len(shown), reasons=reasons)
    unmatched = _unmatched(memory, question, citation)
    return Placing(citation, "unmatched", len(every), len(shown), reasons=(unmatched,))


def parts_by_word(
    explanation: Explanation, typed: Mapping[str, str] | None = None
) -> list[tuple[str, float]]:
    """What gave how much to the score, by word where a list counts words; the sum is the score.

    ``typed`` are words by token.
    """
    words_by_arm = {arm.arm: [one for one in arm.words if one[1] > 0] for arm in explanation.arms}
    sums: dict[str, list[float]] = {}
    for name, amount in explanation.parts:
        words = words_by_arm.get(name, [])
        whole = fsum(weight for _, weight in words)
        for token, weight in words:
            word = repr((typed or {}).get(token, token))
            sums.setdefault(word, []).append(amount * (weight / whole))
        if not words:
            sums.setdefault(name, []).append(amount)
    return [(name, fsum(amounts)) for name, amounts in sums.items()]


def words_in(explanation: Explanation, typed: Mapping[str, str]) -> Words:
    """The words of a question that a hit has and lacks; ``typed`` are words by token."""
    tokens = [token for arm in explanation.arms for token, _ in arm.words]
    words = dict.fromkeys(typed.get(token, token) for token in tokens)
    parts = dict(parts_by_word(explanation, typed))
    had = [(word, amount) for word in words if (amount := parts.get(repr(word), 0.0)) > 0]
    # Others are joinings and parts of words, which no passage need have.
    lacked = dict.fromkeys(typed[token] for token in tokens if token in typed)
    names = {word for word, _ in had}
    return Words(
        tuple(sorted(had, key=lambda one: -one[1])), tuple(w for w in lacked if w not in names)
    )


def typed_words(question: str) -> dict[str, str]:
    """The words of ``question`` by the tokens that they are searched as."""
    parsed = parse_query(question)
    typed: dict[str, str] = {}
    for text in (*parsed.words, *parsed.phrases):
        for start, end, tokens in make_analyser().spans(text):
            for token in tokens:
                typed.setdefault(token, text[start:end])
    return typed


def best_line(hit: Hit) -> str:
    """The line of the snippet with most matches, the first of these; at most 160 characters."""
    best, most, start = "", -1, 0
    for line in hit.snippet.split("\n"):
        end = start + len(line)
        matches = sum(start <= first < end for first, _ in hit.highlights)
        if line.strip() and matches > most:
            best, most = line.strip(), matches
        start = end + 1
    return best if len(best) <= _LONGEST else f"{best[: _LONGEST - 1]}…"


def compared(lower: Hit, upper: Hit, typed: Mapping[str, str]) -> list[tuple[str, float]]:
    """What ``upper`` has more (or less) than ``lower``, the most first; the sum is the difference.

    What makes less than a hundredth is put together as ``rest``.
    """
    high, low = (dict(parts_by_word(hit.explain, typed)) for hit in (upper, lower))
    names = dict.fromkeys([*high, *low])
    differences = [(name, high.get(name, 0.0) - low.get(name, 0.0)) for name in names]
    large = [one for one in differences if abs(one[1]) >= 0.01]
    rest = fsum(amount for name, amount in differences if abs(amount) < 0.01)
    large.sort(key=lambda one: -abs(one[1]))
    return [*large, ("rest", rest)] if abs(rest) >= 0.0005 else large


def _weights(explanation: Explanation) -> dict[str, float]:
    return {token: weight for arm in explanation.arms for token, weight in arm.words}


def _overlaps(citation: str, other: str) -> bool:
    path, first, last = lines_of(citation)
    of_path, start, end = lines_of(other)
    return path == of_path and start <= last and first <= end


def _found(hits: Sequence[Hit], citation: str) -> tuple[int, bool] | None:
    """The index of the hit that has ``citation``, and whether it is folded into it."""
    for at, hit in enumerate(hits):
        if _overlaps(citation, hit.citation):
            return at, False
    for at, hit in enumerate(hits):
        if any(_overlaps(citation, other) for other in hit.similar):
            return at, True
    return None


def _at(
    citation: str,
    found: tuple[int, bool],
    hits: Sequence[Hit],
    shown: int,
    *,
    least: float | None = None,
) -> Placing:
    """The place of what was ``found`` among ``hits``, of which a search shows the first ``shown``.

    ``least`` is the score that it asks for.
    """
    at, folded = found
    hit, is_shown = hits[at], at < shown
    state: State = "shown" if is_shown else "below"
    reasons = (
        ()
        if is_shown
        else (f"a search shows the first {shown}; for more: commonplace search -n N",)
    )
    if folded:
        state = "folded"
        where = "which is shown in its place" if is_shown else f"hit {at + 1}"
        reasons = (f"it says the same as {hit.citation}, {where}", *reasons)
    elif not is_shown and least is not None and hit.score < least:
        state, reasons = "low", (f"it scores less than {least:g}, query.minScore",)
    above = at - 1 if is_shown or not shown else shown - 1
    compares = above >= 0 and not folded
    return Placing(
        citation,
        state,
        len(hits),
        shown,
        rank=at + 1,
        hit=hit,
        above=hits[above] if compares else None,
        above_rank=above + 1 if compares else None,
        reasons=reasons,
    )


def _without(memory: Memory, question: str, citation: str) -> Iterator[str]:
    """What of ``question`` leaves the passage out, which its words alone would find."""
    parsed = parse_query(question)
    words = " ".join((*parsed.words, *parsed.phrases))
    conditions = list(_conditions(parsed))
    path = lines_of(citation)[0]
    if not words or not conditions or not _is_in(memory, f'{words} path:"{path}"', citation):
        return
    for condition, reason in conditions:
        if not _is_in(memory, f"{words} {condition}", citation):
            yield reason


def _is_in(memory: Memory, question: str, citation: str) -> bool:
    hits = ask(memory, question, max_results=_ALL, min_score=0.0).hits
    return _found(hits, citation) is not None


def _conditions(parsed: Any) -> Iterator[tuple[str, str]]:
    """What must hold for a hit besides its words, as typed, and what to say where it does not."""
    for text in parsed.excluded:
        yield f'-"{text}"', f"it has {text!r}, which the question excludes"
    for text in parsed.phrases:
        yield f'"{text}"', f"it does not have {text!r} side by side, as the quotes ask for"
    for shown in shown_filters(parsed.where):
        key, _, value = shown.partition(":")
        yield f'{key}:"{value}"', f"the filter {shown} leaves it out"


def _unmatched(memory: Memory, question: str, citation: str) -> str:
    """Why a passage that no filter leaves out is not found."""
    analyser = make_analyser()
    searched = {*analyser.query(parse_query(question)).should}
    typed = {token: word for token, word in typed_words(question).items() if token in searched}
    path, first, last = lines_of(citation)
    try:
        note = memory.get(path)
    except CommonplaceError as error:
        return f"its text cannot be read: {error}"
    lines = note.text.split("\n")
    name = posixpath.splitext(posixpath.basename(path))[0]
    text = "\n".join((name, *lines[max(0, first - 1) : min(last, len(lines))]))
    matches = analyser.matches(text, frozenset(typed))
    had = dict.fromkeys(typed[token] for _, _, tokens in matches for token in sorted(tokens))
    if had:
        return f"it has {', '.join(map(repr, had))}, but the index does not: commonplace index"
    words = ", ".join(map(repr, dict.fromkeys(typed.values())))
    return f"it has none of the words of the question: {words}" if words else "nothing is asked for"
