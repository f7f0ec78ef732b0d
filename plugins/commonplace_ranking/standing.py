"""A ranker for standing instructions: "always ...", "never ...", "I prefer ..."."""

from __future__ import annotations

import re
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

from commonplace.plugin import KeywordQuery, make_analyser, with_step
from commonplace_ranking.tasks import is_task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext

_START = r"^[\s>*+#-]*(?:\d+[.)]\s*)?(?:\[[ x]\]\s*)?"
# In English, German, French, Spanish, Italian and Portuguese at the beginning of a line; in
# Chinese, Japanese and Korean, whose verbs come late, anywhere in it.
_INSTRUCTION = rf"""(?imx)
    {_START}(?:please\ |bitte\ |por\ favor,?\ )?(?:
        always | never | do\ not\ ever | don['’]t\ ever | from\ now\ on
        | (?:i|we|user|the\ user|they)\ (?:always\ |strongly\ |really\ |would\ )?prefers?
        | (?:i|we)\ (?:always|never)\ want
        | immer | nie | niemals | stets | ab\ jetzt | ich\ (?:bevorzuge|mag\ lieber|will\ immer)
        | toujours | ne\ jamais | n['’]\w+\ jamais | je\ préfère | nous\ préférons
        | siempre | nunca | jamás | prefiero | preferimos
        | sempre | mai | preferisco | prefiro )\b
    | 总是 | 總是 | 始终 | 务必 | 永远不要 | 绝不 | 绝对不要 | 千万不要 | 更喜欢 | 偏好
    | 必ず | 常に | 決して | 絶対に | の方が好き | を好む | が好み
    | 항상 | 언제나 | 절대 | 선호 | 더\ 좋아
    """
# The words of that, by which the index is asked for all instructions there are.
_CUES = """
    always never ever prefer prefers preferred now on immer nie niemals stets bevorzuge lieber jetzt
    toujours jamais préfère préférons siempre nunca jamás prefiero preferimos sempre mai preferisco
    prefiro 总是 總是 始终 务必 永远 不要 绝不 绝对 千万 更喜欢 喜欢 偏好
    必ず 常に 決して 絶対に 絶対 方が好き 好き を好む 好む が好み 好み
    항상 언제나 절대 선호 선호한다 선호해 선호함 좋아
    """
_KIN = 0.35
"""The cosine from which vectors say that an instruction is about the task."""
_ASKED = r"""(?ix)
    \b(?: always | never | prefer\w* | rules? | instructions? | guidelines? | conventions?
        | immer | niemals | regeln? | vorlieben | toujours | jamais | règles? | préfér\w*
        | siempre | nunca | reglas? | prefier\w* )\b
    | 规则 | 偏好 | 指示 | 规定 | ルール | 好み | 규칙 | 선호
    """


_LATIN = "\u0250"
"""The first character behind the letters of Latin alphabets."""
# What the analyser, which knows English ones, leaves of them in a query, and their plurals' ends.
_FUNCTION_WORDS = (
    "aber al alle am an auf aus avec bei bis con da dan dans das de del dem den der des die du ein"
    " eine einen el en es est et ich im ist la las le les lo los mais mich mir mit nach nicht noch"
    " nou nous nur oder par para pas por pour que se sie su sur um un una und une uns vom von vor"
    " we wie wir y zum zur zu für über"
)


def instruction_of(text: str) -> str:
    """The first line of ``text`` that is a standing instruction, or ``""``."""
    match = _pattern(_INSTRUCTION).search(text)
    if match is None:
        return ""
    start = text.rfind("\n", 0, match.end()) + 1
    return text[start:].partition("\n")[0].strip()


class Instructions:
    """Offers one standing instruction in ``every`` hits where the query is a task, and no more.

    A hit counts as one if it is the user's own (of notes, not of conversations) and of its lines
    the best match for the query is an instruction. For a task the one that shares most words with
    it comes at the end of the first ``every`` hits, unless it stands before that already, and
    likewise of each further ``every``; where the backend can be asked again, it is asked for
    instructions that other hits have crowded out, or that have the words in other forms. For
    anything else none is brought forward. In both cases those that are too many wait behind the
    other hits. A query that asks for rules or preferences gets all of them, in their own places.
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

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder, and add what the backend was asked for; each hit says what was done."""
        query = context.query.words or context.query.text
        if _pattern(_ASKED).search(query):
            note = "instructions were asked for"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        wanted = frozenset(filter(_tells, context.query.keyword.terms))
        task, given = is_task(query), len(hits)
        if task and context.further is not None:
            hits = [*hits, *self._further(hits, context, wanted)]
        kin = {at: self._kinship(hit, wanted) for at, hit in enumerate(hits)}
        found = [at for at in kin if kin[at] > _NONE]
        if task:
            found.sort(key=lambda at: kin[at], reverse=True)
        order, shown = self._order(len(hits), found, task=task)
        ranked: list[Candidate] = []
        for place, at in enumerate(order, 1):
            score = hits[at].score
            note = f"place {at + 1} to {place}" if at + 1 != place else "place kept"
            if at >= given:
                # No better than what stands before it, and the share of the task that it has.
                score = min(1.0, *(hit.score for hit in ranked), kin[at][0] / max(1, len(wanted)))
                note = f"asked for, it shares {kin[at][0]} of {len(wanted)} words"
            if task and at in shown:
                note = f"standing instruction, {note}"
            elif not task:
                note = f"the query is no task, {note}"
            ranked.append(with_step(hits[at], self.id, score, note))
        return ranked

    def _order(
        self, count: int, found: Sequence[int], *, task: bool
    ) -> tuple[list[int], frozenset[int]]:
        """The order of ``count`` hits, and which of ``found`` are shown, one in ``every``."""
        left, others = list(found), sorted(set(range(count)).difference(found))
        order: list[int] = []
        shown: dict[int, int] = {}  # by the run of ``every`` hits that it stands in
        while left and others:
            run, place = divmod(len(order), self._every)
            last = task and place == self._every - 1
            if run not in shown and (last or left[0] < others[0]):
                shown[run] = left[0]
                order.append(left.pop(0))
            else:
                order.append(others.pop(0))
        if left and (run := len(order) // self._every) not in shown:
            shown[run] = left[0]
        return [*order, *left, *others], frozenset(shown.values())

    def _further(
        self, hits: Sequence[Candidate], context: RankContext, wanted: frozenset[str]
    ) -> list[Candidate]:
        """Instructions for the task that are not among ``hits``, as many as can be shown."""
        if context.further is None:
            return []
        cues = tuple(dict.fromkeys(self._analyser.chunk(_CUES).body.split()))
        query = KeywordQuery(cues, must_not=context.query.keyword.must_not, plain=True)
        known = {hit.chunk.id for hit in hits}
        found = [hit for hit in context.further(query) if hit.chunk.id not in known]
        kin = {hit.chunk.id: self._kinship(hit, wanted) for hit in found}
        found.sort(key=lambda hit: (hit.chunk.path, hit.chunk.start_line))
        found.sort(key=lambda hit: kin[hit.chunk.id], reverse=True)
        most = ceil(context.limit / self._every)
        return [hit for hit in found[:most] if kin[hit.chunk.id] > _NONE]

    def _kinship(self, hit: Candidate, wanted: frozenset[str]) -> tuple[int, int]:
        """How many of ``wanted`` the line of ``hit`` has that has most, if it is an instruction.

        The second number are the letters of these words. Both are 0 if the hit is none. What
        vectors or an engine of its own found need not have any of them.
        """
        text = hit.chunk.text
        if hit.chunk.trust != "memory" or not instruction_of(text):
            return _NONE
        most = {True: _NONE, False: _NONE}
        for line in text.splitlines():
            kind = bool(instruction_of(line))
            tokens = self._analyser.chunk(line).body.split()
            shared = [one for one in wanted if any(_are_kin(one, token) for token in tokens)]
            most[kind] = max(most[kind], (len(shared), sum(map(len, shared))))
        near = any(
            arm.kind != "bm25" and (arm.kind != "cosine" or arm.raw >= _KIN)
            for arm in hit.explain.arms
        )
        if most[True][0] < most[False][0]:
            return _NONE
        return max(most[True], (int(near), 0))


def _are_kin(term: str, token: str) -> bool:
    """Whether they are one word, or forms of one by how they begin: four letters and more."""
    if term == token:
        return True
    if min(len(term), len(token)) < _STEM or term[:_STEM] != token[:_STEM] or term[0] > _LATIN:
        return False
    same = next((at for at, (a, b) in enumerate(zip(term, token, strict=False)) if a != b), None)
    length = min(len(term), len(token)) if same is None else same
    return length >= _SHARE * max(len(term), len(token))


_NONE = (0, 0)
_STEM = 4
_SHARE = 0.7


def _tells(term: str) -> bool:
    """Whether a query and an instruction that share ``term`` may be about one thing.

    Function words are in any text, and so are single characters of Chinese.
    """
    return term not in _FUNCTION_WORDS.split() and (len(term) > 1 or term < _LATIN)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)  # once, and only where the ranker runs
