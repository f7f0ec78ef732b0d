"""A ranker for standing instructions: "always ...", "never ...", "I prefer ..."."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from commonplace.plugin import with_step

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
_WORDS_OF_A_TASK = 4
_QUESTION = r"""(?ix)
    ^\W*(?: what | when | where | who | whose | whom | which | why | how | is | are | was | were
        | did | does | do | has | have | had
        | wer | was | wann | wo | wohin | warum | wieso | welche[rsmn]? | wie | ist | sind | hat
        | habe | qui | que | quoi | quand | où | pourquoi | quel(?:le)?s? | combien | comment
        | est-ce | qué | quién | cuándo | cuál | cuáles | dónde | cuánto\w* | cómo | por\ qué
        | chi | cosa | dove | perché | quale | quem | onde | qual )\b
    | 什么 | 什麼 | 哪 | 谁 | 誰 | 几 | 多少 | 吗 | 何時 | どこ | いつ | なぜ | どの | か[。？?]?$
    | 언제 | 어디 | 누구 | 무엇 | 뭐 | 왜 | 까[?？]?$ | [?？]\s*$
    """
_REQUEST = r"""(?ix)
    ^\W*(?: (?:can|could|would|will)\ you | please | help | how\ (?:should|do)\ (?:i|we|you)
        | kannst\ du | bitte | wie\ soll | peux-tu | pourrais-tu | puedes | podrías )\b
    | 请 | 帮我 | してください | して下さい | 해\ ?줘 | 주세요
    """
_ASKED = r"""(?ix)
    \b(?: always | never | prefer\w* | rules? | instructions? | guidelines? | conventions?
        | immer | niemals | regeln? | vorlieben | toujours | jamais | règles? | préfér\w*
        | siempre | nunca | reglas? | prefier\w* )\b
    | 规则 | 偏好 | 指示 | 规定 | ルール | 好み | 규칙 | 선호
    """


def instruction_of(text: str) -> str:
    """The first line of ``text`` that is a standing instruction, or ``""``."""
    match = _pattern(_INSTRUCTION).search(text)
    if match is None:
        return ""
    start = text.rfind("\n", 0, match.end()) + 1
    return text[start:].partition("\n")[0].strip()


def is_task(query: str) -> bool:
    """Whether ``query`` asks for something to be done, so that an instruction may apply to it.

    It does with words such as "please", 请 or してください; or else if it is no question and has
    four words at least: fewer are words to look up.
    """
    if _pattern(_REQUEST).search(query):
        return True
    return len(query.split()) >= _WORDS_OF_A_TASK and not _pattern(_QUESTION).search(query)


class Instructions:
    """Offers one standing instruction in ``every`` hits where the query is a task, and no more.

    The best one among the candidates comes at the end of the first ``every`` hits, unless it
    stands before that already; further ones wait behind the hits that are none. A query that asks
    for rules or preferences gets all of them, in their own places, and a question gets none
    offered: there they are hits like others. Scores stay.
    """

    id = "standing"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, every: int = 6) -> None:
        if every < 1:
            raise ValueError("at most one instruction is offered in one hit")
        self._every = every

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder; each hit says what was done."""
        query = context.query.words or context.query.text
        if _pattern(_ASKED).search(query):
            note = "instructions were asked for"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        if not is_task(query):
            return [with_step(hit, self.id, hit.score, "the query is no task") for hit in hits]
        found = [at for at, hit in enumerate(hits) if instruction_of(hit.chunk.text)]
        others = [at for at in range(len(hits)) if at not in found]
        left = found.copy()
        order: list[int] = []
        offered: set[int] = set()
        while left or others:
            begun = len(order) // self._every
            room = left and len(offered) <= begun
            last = len(order) % self._every == self._every - 1
            if room and (not others or last or left[0] < others[0]):
                offered.add(left[0])
                order.append(left.pop(0))
            elif others:
                order.append(others.pop(0))
            else:
                order.append(left.pop(0))
        ranked = []
        for place, at in enumerate(order, 1):
            note = f"place {at + 1} to {place}" if at + 1 != place else "place kept"
            if at in offered:
                note = f"standing instruction, {note}"
            ranked.append(with_step(hits[at], self.id, hits[at].score, note))
        return ranked


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)  # once, and only where the ranker runs
