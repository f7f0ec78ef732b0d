"""A ranker for standing instructions: "always ...", "never ...", "I prefer ..."."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import KeywordQuery, make_analyser, newest_first, with_step
from commonplace_ranking.patterns import pattern
from commonplace_ranking.reordering import position_note
from commonplace_ranking.rules import CUES, rules_of
from commonplace_ranking.tasks import READ, kind_of
from commonplace_ranking.topics import AMOUNTS, BROAD, topics_of_task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext
    from commonplace_ranking.rules import Rule

_KIN = 0.35
"""The cosine from which vectors say that an instruction is about the task."""
_OF_RULES = r"""(?ix)
    \b(?: always | never | prefer\w* | rules? | instructions? | guidelines? | conventions?
        | immer | niemals | regeln? | vorlieben | präferenz\w* | vorgaben?
        | toujours | jamais | règles? | préfér\w*
        | siempre | nunca | reglas? | prefier\w* )\b
    | 规则 | 偏好 | 指示 | 规定 | ルール | 好み | 규칙 | 선호
    """
_WIDE = "\u0250"
"""The first character behind the letters of Latin alphabets."""
# What the analyser, which knows English ones, leaves of them in a query, and their plurals' ends;
# and verbs that stand in any rule.
_FUNCTION_WORDS = """
    aber al alle am an auf aus avec bei bis con d da dan dans das de del dem den der des die du ein
    eine einen el en es est et ich im ist j l la las le les lo los mais mich mir mit n nach nicht
    noch nou nous nur oder par para pas por pour que qu s se sie su sur t um un una und une uns vom
    von vor we wie wir y zum zur zu für über
    use make put get keep verwenden benutzen machen usar utilizar hacer utiliser faire mettre
    使用 使う 使っ 사용 용한 용해
"""
_EMPTY_WORDS = frozenset(_FUNCTION_WORDS.split())


class Need(NamedTuple):
    """What a query asks for (see ``kind_of``, ``""``: no instruction), by its words and topics."""

    kind: str
    words: frozenset[str]
    topics: dict[str, int]

    @classmethod
    def of(cls, query: str, terms: Sequence[str]) -> Need:
        """That of ``query``; for advice and amounts an instruction must share a topic."""
        kind, words = kind_of(query), frozenset(filter(_tells, terms))
        topics = topics_of_task(query[:READ]) if kind else {}
        if kind == "amount":
            topics = {topic: count for topic, count in topics.items() if topic in AMOUNTS}
        return cls(kind if topics or kind == "task" else "", words, topics)


class Kinship(NamedTuple):
    """What an instruction has in common with a task: words, their letters and weight, topics.

    ``named`` is how many words of the task are of these topics. ``at`` is the line of the chunk
    that states it, from 0.
    """

    words: int = 0
    letters: int = 0
    weight: float = 0.0
    topics: tuple[str, ...] = ()
    named: int = 0
    at: int = 0

    @property
    def closeness(self) -> tuple[float, int, int]:
        """More is closer; 0 is none. A topic is as good as a word, a broad one half as good."""
        topics = sum(0.5 if topic in BROAD else 1.0 for topic in self.topics)
        return (self.weight + topics, self.named, self.letters)

    def shared(self, needed: int) -> tuple[float, str]:
        """The share of the ``needed`` words that it has, a topic counting as one, and a note."""
        share = min(1.0, (self.words + bool(self.topics)) / max(1, needed))
        notes = [f"it shares {self.words} of {needed} words"] if self.words else []
        notes += [f"it shares the topic {', '.join(self.topics)}"] if self.topics else []
        return share, " and ".join(notes).replace("and it shares", "and")


class Instructions:
    """Offers one standing instruction in ``every`` hits where the query is a task, and no more.

    - A hit is an instruction if it is of the user's notes, not of conversations, and the best match
      for the query among its lines is one.
    - For a task the closest instruction, which shares most words and topics with it, comes at the
      end of the first ``every`` hits, unless it stands before that already; the next closest one
      likewise in each further ``every``.
    - Where the backend can be asked again, it is asked for all instructions. Added are those that
      share a topic and no word, that other hits have crowded out, or that have the words in other
      forms; each is shown as its line alone.
    - For advice or an amount an instruction must share a topic; for other queries none is moved
      forward. Instructions beyond the allowed number wait behind the other hits.
    - A query that asks for rules or preferences gets all of them, in their own positions.

    Scores stay.
    """

    id = "standing"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, every: int = 6) -> None:
        if every < 1:
            raise ValueError("at most one instruction is offered in one hit")
        self._every = every
        self._analyser = make_analyser()
        self._cues: KeywordQuery | None = None

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder, and add what the backend was asked for; each hit says what was done."""
        query = context.query.words or context.query.text
        if pattern(_OF_RULES).search(query):
            note = "instructions were asked for"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        need = Need.of(query, context.query.keyword.terms)
        hits, kin, before = self._kin(hits, context, need)
        instructions = [at for at in kin if kin[at].closeness > _NONE]
        if need.kind:
            instructions.sort(key=lambda at: kin[at].closeness, reverse=True)
        order, shown = self._order(len(hits), instructions, task=bool(need.kind))
        ranked: list[Candidate] = []
        for position, at in enumerate(order):
            hit, score = hits[at], hits[at].score
            note = position_note(at, position, len(hits))
            if at >= before:
                # No better than what stands before it, and the share of the task that it has.
                share, shared = kin[at].shared(len(need.words))
                score = min(share, *(hit.score for hit in ranked), 1.0)
                note = f"asked for, {shared}"
            if need.kind and at in shown:
                note = f"standing instruction, {note}"
                hit = _at_line(hit, kin[at]) if at >= min(before, context.limit) else hit
            elif not need.kind:
                note = f"the query is no task, {note}"
            ranked.append(with_step(hit, self.id, score, note))
        return ranked

    def _kin(
        self, hits: Sequence[Candidate], context: RankContext, need: Need
    ) -> tuple[Sequence[Candidate], dict[int, Kinship], int]:
        """The hits and what the backend adds, the kinship of instructions, the number of ``hits``.

        A hit is not read where it will not be shown and is not among what the backend returns for
        the words of instructions.
        """
        before, near = len(hits), 2 * context.limit
        if not need.kind or context.further is None:
            read = range(before if need.kind else min(before, near))
            kin = {at: self._kinship(hits[at], need, whole=True) for at in read}
            return hits, kin, before
        stated = self._stated(context)
        ids = {hit.chunk.id for hit in stated}
        kin = {
            at: self._kinship(hit, need, whole=at < context.limit)
            for at, hit in enumerate(hits)
            if at < near or hit.chunk.id in ids
        }
        known = {hit.chunk.id for hit in hits}
        others = [
            (self._kinship(hit, need, whole=False), hit)
            for hit in stated
            if hit.chunk.id not in known
        ]
        # The closest; of equally close ones first those without a day, as notes that are kept up
        # have none, then the newest.
        others.sort(key=lambda other: (other[1].chunk.path, other[1].chunk.start_line))
        others.sort(key=lambda other: newest_first(other[1].chunk.day) or -_EVERGREEN)
        others.sort(key=lambda other: other[0].closeness, reverse=True)
        most = ceil(context.limit / self._every)
        others = [other for other in others[:most] if other[0].closeness > _NONE]
        kin |= {before + at: kinship for at, (kinship, _) in enumerate(others)}
        return [*hits, *(hit for _, hit in others)], kin, before

    def _stated(self, context: RankContext) -> list[Candidate]:
        """What the backend has for the words of instructions, at most 200 chunks."""
        if context.further is None:
            return []
        if self._cues is None:
            bodies = [self._analyser.chunk(cue).body for cue in CUES]
            tokens = tuple(dict.fromkeys(" ".join(bodies).split()))
            self._cues = KeywordQuery(tokens, weighed=tuple(dict.fromkeys(bodies)), plain=True)
        must_not = context.query.keyword.must_not
        return list(context.further(self._cues._replace(must_not=must_not)))

    def _order(
        self, count: int, instructions: Sequence[int], *, task: bool
    ) -> tuple[list[int], frozenset[int]]:
        """The order of ``count`` hits, and which ``instructions`` are shown, one in ``every``."""
        left, others = list(instructions), sorted(set(range(count)).difference(instructions))
        order: list[int] = []
        shown: dict[int, int] = {}  # by the run of ``every`` hits that it stands in
        while left and others:
            run, position = divmod(len(order), self._every)
            last = task and position == self._every - 1
            if run not in shown and (last or left[0] < others[0]):
                shown[run] = left[0]
                order.append(left.pop(0))
            else:
                order.append(others.pop(0))
        if left and (run := len(order) // self._every) not in shown:
            shown[run] = left[0]
        return [*order, *left, *others], frozenset(shown.values())

    def _kinship(self, hit: Candidate, need: Need, *, whole: bool) -> Kinship:
        """The kinship of the closest instruction in ``hit``.

        Of a ``whole`` hit no other line may share more words with the task. What vectors or an
        engine of its own found need not have any of the words.
        """
        rules = rules_of(hit.chunk.text) if hit.chunk.trust == "memory" else ()
        if not rules:
            return _NO_KIN
        best = max((self._kin_of(rule, need) for rule in rules), key=lambda kin: kin.closeness)
        if need.kind in {"advice", "amount"} and not best.topics:
            return _NO_KIN
        if whole and len(lines := hit.chunk.text.split("\n")) > 1:
            stating = {rule.at for rule in rules}
            rest = (line for at, line in enumerate(lines) if at not in stating)
            if any(len(self._words(line, need)) > best.words for line in rest):
                return _NO_KIN
        near = any(
            arm.kind != "bm25" and (arm.kind != "cosine" or arm.raw >= _KIN)
            for arm in hit.explain.arms
        )
        return best._replace(words=1, weight=1.0) if near and not best.words else best

    def _kin_of(self, rule: Rule, need: Need) -> Kinship:
        shared = self._words(rule.text, need)
        weight = sum(1.0 if word < _WIDE else 0.5 for word in shared)
        topics = tuple(sorted(rule.topics.intersection(need.topics)))
        named = sum(need.topics[topic] for topic in topics)
        return Kinship(len(shared), sum(map(len, shared)), weight, topics, named, rule.at)

    def _words(self, line: str, need: Need) -> list[str]:
        """The words of the task that ``line`` has."""
        body = self._analyser.chunk(line).body
        near = [word for word in need.words if f" {word[:_STEM]}" in f" {body}"]
        tokens = body.split() if near else ()
        return [word for word in near if any(_are_kin(word, token) for token in tokens)]


def _at_line(hit: Candidate, kinship: Kinship) -> Candidate:
    """``hit`` shown as the line that states the instruction."""
    line = hit.chunk.start_line + kinship.at
    return hit._replace(lines=(line, line))


def _are_kin(term: str, token: str) -> bool:
    """Whether they are one word, or forms of one by how they begin: four letters and more."""
    if term == token:
        return True
    if min(len(term), len(token)) < _STEM or term[:_STEM] != token[:_STEM] or term[0] > _WIDE:
        return False
    same = next((at for at, (a, b) in enumerate(zip(term, token, strict=False)) if a != b), None)
    length = min(len(term), len(token)) if same is None else same
    return length >= _SHARE * max(len(term), len(token))


_NO_KIN = Kinship()
_NONE = _NO_KIN.closeness
_EVERGREEN = 99_999_999
_STEM = 4
_SHARE = 0.7


def _tells(term: str) -> bool:
    """Whether a query and an instruction that share ``term`` may be about one thing.

    Function words are in any text, and so are single characters of Chinese.
    """
    return term not in _EMPTY_WORDS and (len(term) > 1 or term < _WIDE)
