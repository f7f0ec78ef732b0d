"""A ranker for what says of itself that it no longer holds: struck-out lines, retired documents."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import count, takewhile
from typing import TYPE_CHECKING

from commonplace.plugin import STOP_WORDS, NamedTuple, with_step
from commonplace_ranking.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from commonplace.plugin import Analyser, Candidate, RankContext, StoredChunk

_KEYS = frozenset(
    ("status", "statut", "estado", "stato", "状态", "狀態", "状態", "ステータス", "상태")
)
_HINTS = ("tatus", "tatut", "stado", "tato", "uperseded_by", "uperseded-by", "STATUS")
"""Each text in ASCII that states a status has one of them: to search for them takes 1 µs a hit."""
_ALL_HINTS = (*_HINTS, "状态", "狀態", "状態", "ステータス", "상태")
_BEHIND = (":", "：", "=", "\n", "\r")
"""One of them follows a key, after marks of emphasis."""
_HEAD = 500
"""Characters of a text among which the key of its status must be."""
_BY_KEYS = ("superseded_by", "superseded-by")
_EMPTY = frozenset(("", "null", "~", "none", "false", "[]", '""', "''"))
# English, then German, French, Spanish, Italian and Portuguese, as far as they have others: how a
# status begins that says so. Not "retired", "rejected" and the like: these hold, of people and of
# applications.
_RETIRED_LISTED = """
superseded superceded deprecated obsol outdated veraltet überholt abgelöst ersetzt remplac dépass
périm déprécié reemplazad sustituid derogad superad deprecad sostituit superat deprecat substituíd
ultrapassad descontinuad 废弃 廢棄 废止 廢止 取代 替代 弃用 棄用 过时 過時 作废 作廢 廃止 非推奨
置き換え 폐기 대체 사용중단
"""
_RETIRED = (*_RETIRED_LISTED.split(), "replaced by", "사용 중단")
_LATER = ("superseded by", "superceded by")
"""What stands behind another status, too: "accepted, superseded by ADR 7"."""

_PAST_LISTED = """
old older oldest previous previously prior before earlier former formerly history historical
original originally past changed status
alt alte altem alten alter altes früher frühere früheren früherer vorher vorherige vorherigen zuvor
damals ursprünglich ehemals ehemalige ehemaligen bisherige bisherigen verlauf historie
ancien ancienne anciens anciennes avant précédent précédente précédents auparavant autrefois
historique vieux vieille antes anterior anteriores anteriormente viejo vieja antiguo antigua
antiguos antiguas previo previa historial prima precedente precedenti vecchio vecchia storico
antigo antiga velho velha histórico
"""
_PAST_WORDS = frozenset(_PAST_LISTED.split()) | _KEYS
_PAST_PHRASES_LISTED = """
used to, back then, 以前, 之前, 原来, 原來, 旧, 舊, 过去, 過去, 历史, 歷史, 曾经, 曾經, 先前, 当初,
當初, 前の, 元の, 昔, 履歴, 이전, 예전, 과거, 옛, 원래, 전에, 废弃, 取代, 过时, 廃止, 폐기
"""
_PAST_PHRASES = tuple(" ".join(_PAST_PHRASES_LISTED.split()).split(", "))
_PAST_STEMS = (*_RETIRED, "supersed", "superced", "deprecat")
_QUOTES = frozenset('"“„«「『＂')
_MARKS_BESIDE = ".,;:!?¿¡'()"

_SOON = 60
"""Days ahead in which a day without a year is taken to be yet to come."""
_NEVER = ("not superseded", "not superceded", "never superseded")
_ALONE = (
    r"[^\W\d_]+(?:\s+(?:by|in|since|on|as|of|von|durch|par|por|da|seit|am)\b|\s*(?:[^\w\s]|\d|\Z))"
    r"|[^\x00-\u024f]"
)

_FIRST = 8
"""Lines with words below the headings among which a status is one of the document or section."""
_MARKS = " \t\r>*+-#|"
_NEAR = 5
"""Characters behind a key in which its mark stands."""
_EMPHASIS = " \t*_`\"'[](){}"
_STRUCK = r"~~(?=\S)(?:(?!~~).)+~~"
_PARTS = r"(?<=\w)[.;|]\s+|(?<=\w)\s+[|·]\s+"
_LISTED = r"[ \t>|]*+(?:[-*+]|\d{1,9}[.)])?[ \t]*+(?:\[[ xX]\][ \t]*+)?"
_STRUCK_LINE = rf"{_LISTED}(?:{_STRUCK}[ \t.,;|]*)+(?:\(.*\)[ \t.|]*)?(?:<!--.*)?\r?\Z"
_SAME = 40
"""Characters by which the successor that a struck line names is known again."""


class Retired(NamedTuple):
    """A document, or what stands below ``heading`` in it, that line ``line`` says is superseded."""

    heading: tuple[str, ...]
    line: int


class Validity:
    """Lowers what says of itself that it is superseded: score x (1 - weight).

    - A chunk whose line with the most words of the query is struck out, wholly (``~~...~~``, also
      with a remark in parentheses behind it, as ``correct --supersede`` writes), unless it has the
      successor that this line names.
    - A document whose front matter has a status such as ``superseded`` or ``deprecated``, or
      ``superseded_by``; and what stands below a heading that such a status follows, among the first
      8 lines or below a heading of its own. The line is seen where its chunk is one of the hits.

    Nothing is lowered where the query asks for what held before ("old", "history", "superseded"),
    quotes, or names a time that is over.
    """

    id = "validity"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, weight: float = 0.3) -> None:
        if not 0 <= weight <= 1:
            raise ValueError("a weight is 0 to 1")
        self._factor = 1 - weight

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply the factor; each hit says why or why not."""
        if reason := asks_for_the_past(context):
            return [with_step(hit, self.id, hit.score, reason) for hit in hits]
        statuses: dict[tuple[str, str], list[Retired]] = {}  # by source and path
        struck = set()
        wanted: frozenset[str] | None = None
        for hit in hits:
            chunk = hit.chunk
            if retired := retired_by(chunk):
                statuses.setdefault((chunk.source, chunk.path), []).append(retired)
            if "~~" in chunk.text:
                wanted = _wanted(context) if wanted is None else wanted
                if is_struck(chunk, wanted):
                    struck.add(chunk.id)
        ranked = []
        for hit in hits:
            chunk, note = hit.chunk, ""
            if statuses and (of_document := statuses.get((chunk.source, chunk.path))):
                lines = [retired.line for retired in of_document if _is_below(chunk, retired)]
                note = f"line {min(lines)} says that it is superseded" if lines else ""
            if chunk.id in struck:
                note = "what matches is struck out"
            if note:
                score, note = hit.score * self._factor, f"x {self._factor:.3f}, {note}"
                ranked.append(with_step(hit, self.id, score, note))
            else:
                ranked.append(with_step(hit, self.id, hit.score, "not superseded"))
        return ranked


def asks_for_the_past(context: RankContext) -> str:
    """Why nothing is lowered for this query; ``""`` where it asks for what holds."""
    query = context.query
    if not _QUOTES.isdisjoint(query.text):
        return "no change: the query quotes"
    if query.keyword.days:
        from datetime import UTC, datetime

        # What was before yesterday in UTC is over everywhere.
        yesterday, soon = (
            datetime.fromtimestamp(context.now + days * 86_400, UTC).date().isoformat()
            for days in (-1, _SOON)
        )
        if any(_is_over(last, yesterday, soon) for _, last in query.keyword.days):
            return "no change: the query names a time"
    lowered = (query.words or query.text).lower()
    words = [word.strip(_MARKS_BESIDE) for word in lowered.split()]
    of_the_past = not _PAST_WORDS.isdisjoint(words) or any(
        word.startswith(_PAST_STEMS) for word in words
    )
    if of_the_past or any(map(lowered.__contains__, _PAST_PHRASES)):
        return "no change: the query asks for what held before"
    return ""


def _is_over(day: str, yesterday: str, soon: str) -> bool:
    """Whether ``day`` is over; one without a year is, unless it is ``soon``."""
    from commonplace.plugin import is_yearly  # few queries name days

    if not is_yearly(day):
        return day < yesterday
    first, last = yesterday[4:], soon[4:]
    return not (first <= day <= last if first <= last else day >= first or day <= last)


def retired_by(chunk: StoredChunk) -> Retired | None:
    """What the status that ``chunk`` states retires, if it states one that does.

    Only the beginning of a document or of a section states the status of it, and only where it
    states one: a list of things has the status of each.
    """
    text, heading = chunk.text, chunk.heading
    if (chunk.start_line > 1 and not text.startswith("#")) or not _may_state(text):
        return None
    if chunk.start_line == 1 and text[:3] in ("---", "+++") and (line := _front_matter(text)):
        return Retired((), line)
    if chunk.start_line > 1 and _plain(text.partition("\n")[0]) not in map(_plain, heading):
        return None  # a comment in code
    stated = list(_stated(text, listed=chunk.day is None))
    # Those below one heading count as one: "Accepted", and below it "Superseded by ADR 7".
    alone = len({key_line for key_line, _, _, _ in stated}) == 1
    lines = [at for _, at, near, value in stated if alone and near and _is_retired(value)]
    if not lines:
        return None
    own = heading[:-1] if heading and _plain(heading[-1]) in _KEYS else heading
    return Retired(own, chunk.start_line + lines[0] - 1)


@lru_cache(maxsize=1_024)  # the candidates of one search are those of others
def _may_state(text: str) -> bool:
    """Whether it may have a status: the lines of most texts need not be read."""
    head = text[:_HEAD]
    for hint in _HINTS if head.isascii() else _ALL_HINTS:
        at = head.find(hint)
        while at >= 0:
            behind = at + len(hint)
            if head[behind : behind + _NEAR].lstrip(_EMPHASIS).startswith(_BEHIND):
                lower = head.lower()
                return any(map(lower.__contains__, _RETIRED))
            at = head.find(hint, behind)
    return False


def _is_below(chunk: StoredChunk, retired: Retired) -> bool:
    return chunk.heading[: len(retired.heading)] == retired.heading


def _front_matter(text: str) -> int:
    """The line of front matter that says that the document is superseded; 0: none does."""
    opening, *lines = text.split("\n")
    for at, line in enumerate(lines, 2):
        if line.rstrip() in (opening.rstrip(), "..."):
            break
        key, _, value = line.partition("=" if opening[0] == "+" else ":")
        key, value = key.strip("\"' \t").lower(), value.strip().lower()
        if key in _KEYS and key == line[: len(key)].lower() and _is_retired(value):
            return at
        if key in _BY_KEYS and value not in _EMPTY:
            return at
    return 0


def _stated(text: str, *, listed: bool) -> Iterator[tuple[int, int, bool, str]]:
    """Each status of a text: the line of its key, its own (from 1), if it is near, its value.

    It is near the beginning, or below a heading that is the key. In an item of a list it counts
    only where ``listed`` is set: in a log each item is of another thing.
    """
    from commonplace.plugin import prose_lines  # compiles patterns that few searches need

    below = words = 0
    for at, line in prose_lines(text):
        plain = line.strip(_MARKS)
        if not plain:
            continue
        if line.startswith("#"):
            below = at if _plain(line) in _KEYS else 0
            continue
        words += 1
        if below:
            yield below, at, words <= _FIRST, plain
        else:
            value = _value_of(line) if listed or not _is_item(line) else None
            if value is not None:
                yield at, at, words <= _FIRST, value


def _value_of(line: str) -> str | None:
    """The value of a status in ``line``: ``Status: x``, or ``Date: 2026-05-01. Status: x``."""
    plain = line.strip(_MARKS).replace("：", ":")
    # An item of a list that says more is of a thing.
    for part in [plain] if _is_item(line) else pattern(_PARTS).split(plain):
        key, mark, value = part.partition(":")
        key = key.strip(_EMPHASIS).lower()
        if not mark or " " in key:
            return None
        if key in _KEYS:
            return value
    return None


def _is_item(line: str) -> bool:
    return line.lstrip().startswith(("- ", "* ", "+ "))


def _is_retired(value: str) -> bool:
    """Whether a status says so, without what of it is struck out."""
    value = value.lower()
    if "~~" in value:
        value = pattern(_STRUCK).sub("", value)
    plain = value.strip(_EMPHASIS).lstrip("已被")
    if any(map(value.__contains__, _LATER)):
        return not any(map(value.__contains__, _NEVER))
    # "Deprecated endpoints removed" says it of something else.
    return plain.startswith(_RETIRED) and pattern(_ALONE).match(plain) is not None


def _plain(heading: str) -> str:
    return " ".join(heading.strip(f"{_EMPHASIS}#:").lower().split())


def _wanted(context: RankContext) -> frozenset[str]:
    """The words of the query by which lines are compared."""
    query = context.query.keyword
    every = frozenset(query.selective or query.should)
    return every - query.beside - STOP_WORDS or every


def is_struck(chunk: StoredChunk, wanted: frozenset[str]) -> bool:
    """Whether all those lines of ``chunk`` are struck out that hold the most of ``wanted``.

    Headings and code do not count, and a line whose successor is in the chunk is not struck
    out. Where no line holds any of them, all lines must be.
    """
    from commonplace.plugin import prose_lines

    lines = {
        at: line
        for at, line in prose_lines(chunk.text)
        if line.strip(_MARKS) and not line.startswith("#")
    }
    struck = {at for at, line in lines.items() if pattern(_STRUCK_LINE).match(line)}
    if not struck:
        return False
    matched: dict[int, set[str]] = {}  # of ``wanted``, by line
    number, before = 1, 0
    for start, _, tokens in _analyser().matches(chunk.text, wanted):
        number, before = number + chunk.text.count("\n", before, start), start
        matched.setdefault(number, set()).update(tokens)
    most = max((len(matched.get(at, ())) for at in lines), default=0)
    best = [at for at in lines if len(matched.get(at, ())) == most]
    if not struck.issuperset(best):
        return False
    unstruck = " ".join(" ".join(line.split()) for at, line in lines.items() if at not in struck)
    return not any(map(unstruck.__contains__, _successors(lines, struck, best)))


def _successors(lines: dict[int, str], struck: set[int], best: list[int]) -> Iterator[str]:
    """How the successors of ``best`` begin: the last line of a struck run names its successor."""
    from commonplace.plugin import successor_in

    for first in best:
        run = takewhile(struck.__contains__, count(first))
        named = (successor_in(lines[at]) for at in run)
        if (successor := next((text for text in named if text is not None), None)) is not None:
            yield successor[:_SAME]


@cache
def _analyser() -> Analyser:
    from commonplace.plugin import make_analyser  # few searches need one

    return make_analyser()
