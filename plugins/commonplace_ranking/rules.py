"""Which lines state a standing instruction, and the words by which the index is asked for them.

"Always ...", "never ...", "I prefer ..." and what amounts to them: "I'm vegetarian", "we do not
use tabs". English, German, French and Spanish, a little Italian and Portuguese, at the beginning of
a line; Chinese, Japanese and Korean, whose verbs come late, anywhere in it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from commonplace_ranking.patterns import pattern
from commonplace_ranking.topics import topics_of_rule

# List markers, a box, a label such as "**Units:**".
_START = (
    r"[\s>*+#-]*(?:\d+[.)]\s*)?(?:\[[ x]\]\s*)?(?:\*{0,2}[\w /-]{1,30}:\*{0,2}\s+)?"
    r"(?:please\ |bitte\ |s['’]il\ (?:te|vous)\ plaît,?\ |por\ favor,?\ )?"
)
_PAST = r"(?:\w+ed|was|were|had|did|went|got|saw|knew|came|took|met|made|said|thought|been)\b"
_ENGLISH = rf"""
    always | never | do\ not\ ever | don['’]t\ ever | from\ now\ on | prefers? | dislikes?
    | hates? | avoids? | allergic\ to
    | (?:strict(?:ly)?\ )?(?:vegetarian|vegan|pescatarian)(?=\W*$|[,;.]\ |\ and\ )
    | (?:i|we|user|the\ user|they)\ (?:always\ |strongly\ |really\ |would\ )?prefers?
    | (?:i|we)\ (?:always|never)\ (?!{_PAST})\w+
    | (?:i|we|user|the\ user)\ (?:do\ not|don['’]t|doesn['’]t|does\ not|cannot|can['’]t|won['’]t)
        \ (?:eat|drink|like|want|use|fly|drive|tolerate|stand)
    | (?:i|we|user|the\ user)\ (?:hates?|dislikes?|avoids?)
    | (?:i['’]m|i\ am|we['’]re|we\ are|user\ is|the\ user\ is)\ (?:\w+\ ){{0,2}}?(?:vegetarians?
        |vegans?|pescatarians?|allergic|intolerant|diabetic|colou?r[\ -]?blind|left[\ -]?handed)
    | my\ (?:preferred|favou?rite)
    | [\w'’-]+(?:\ [\w'’-]+){{0,3}}\ (?:must|should|may|can)\ (?:always|never)
"""
_NO_GERMAN = (
    "der|die|das|den|dem|es|er|sie|ich|wir|man|was|wer|wie|wo|wann|warum|noch|fast|auch|für|nur|ja|und"
    "|aber|oder|weil|dass|wenn|so|war|ist|hat|dort|hier|da|schon|doch|beinahe|ein|eine"
)
_GERMAN = rf"""
    immer | nie | niemals | stets | ab\ jetzt | bevorzugt
    | ich\ (?:bevorzuge|mag\ lieber|will\ immer) | wir\ bevorzugen | ich\ hasse
    | ich\ (?:esse|trinke|vertrage|mag|möchte|will|nutze|fliege)
        \ (?:keine?[nm]?|nie|niemals|nicht|lieber|immer|nur)
    | (?:ich|wir)\ (?!war|hatte|habe|bin|sind|wurde|konnte|kam|ging|sah)\w+
        \ (?:immer|nie|niemals|stets)
    | ich\ bin\ (?:\w+\ ){{0,2}}?(?:vegetarier\w*|veganer\w*|vegetarisch|vegan|allergisch
        |diabetiker\w*)
    | (?!(?:{_NO_GERMAN})\b)[\w-]+\ (?:bitte\ )?(?:immer|nie|niemals|stets)
"""
_NO_FRENCH = "il|elle|on|ils|elles|ce|ça|est|presque|depuis|pour|et|mais|comme|a|sont|était|qui|que"
_FRENCH = rf"""
    toujours | ne\ (?:\w+\ )?jamais | n['’]\w+\ jamais | préfère | je\ préfère | je\ déteste
    | nous\ préférons
    | je\ (?:ne\ |n['’])(?:mange|bois|veux|prends|supporte|utilise|digère|aime)\ (?:pas|plus|jamais)
    | je\ suis\ (?:\w+\ )?(?:végétari\w+|végan\w*|végétalien\w*|allergique|intolérant\w*|diabétique)
    | (?!(?:{_NO_FRENCH})\b)[\w-]+\ toujours
"""
_NO_SPANISH = "él|ella|casi|es|está|para|desde|como|y|pero|que|fue|son|era|ellos"
_SPANISH = rf"""
    siempre | nunca | jamás | prefiero | prefiere | preferimos | odio | detesto | no\ \w+\ nunca
    | no\ (?:como|bebo|tomo|uso|quiero|puedo\ (?:comer|tomar)|me\ gustan?)
    | (?:yo\ )?soy\ (?:\w+\ )?(?:vegetarian\w|vegan\w|alérgic\w|intolerante|celíac\w|diabétic\w)
    | (?!(?:{_NO_SPANISH})\b)[\w-]+\ (?:siempre|nunca)
"""
_OTHERS = "sempre | mai | preferisco | prefiro"
_LATIN = rf"""(?ix)
    {_START}
    (?: {_ENGLISH} | {_GERMAN} | {_FRENCH} | {_SPANISH} | {_OTHERS} )\b
"""
_WIDE = r"""(?x)
    总是 | 總是 | 始终 | 务必 | 永远不要 | 绝不 | 绝对不要 | 千万不要 | 切勿 | 一律 | 更喜欢 | 偏好
    | 吃素 | [我户他她]是?素食 | 对.{1,8}过敏 | 我(?:从来)?不(?:吃|喝|喜欢|用|坐) | 我(?:讨厌|从不)
    | 必ず | 常に | 決して | 絶対に | いつも | の方が好き | を好む | が好み
    | (?:する|しない)こと[。]?$
    | アレルギー(?:が|です|だ|持ち) | (?:ベジタリアン|ヴィーガン|ビーガン|菜食)(?:です|だ|主義)
    | が(?:嫌い|苦手|好き(?:です|だ|[。]?$))
    | [はを](?:食べ|飲ま|飲め)(?:ない|ません|られない|られません)
    | 항상 | 언제나 | 절대 | 선호 | 더\ 좋아 | 채식 | 비건 | 알레르기[가를]
    | [못안]\ (?:먹|마시|마신) | 싫어 | 지\ (?:말\ 것|마)
"""
# Of longer words in scripts without spaces only the pair of letters that few other words have.
_CUES = """
    always never ever prefer immer nie niemals stets bevorzuge bevorzugen bevorzugt prefiere lieber
    hasse toujours jamais préfère préférons déteste siempre nunca jamás prefiero preferimos
    odio detesto sempre mai preferisco prefiro hate dislike avoid favourite
    now_on don_t_eat don_t_drink don_t_like don_t_want don_t_use my_favorite
    vegetarian vegan pescatarian allergic intolerant diabetic
    vegetarier vegetarierin veganer veganerin allergisch esse trinke vertrage
    végétarien végétarienne végane allergique vegetariano vegetariana vegano vegana
    alérgico alérgica bebo tomo
    总是 總是 始终 务必 永远 绝不 绝对 千万 切勿 一律 更喜 喜欢 偏好 吃素 素食 过敏 不吃 不喝
    讨厌 从不 必ず 常に 決し 絶対 つも 好き 好む 好み レル ルギ ジタ 菜食 嫌い 苦手
    항상 언제 제나 절대 선호 좋아 채식 비건 알레 레르 싫어
"""
CUES = tuple(cue.replace("_", " ") for cue in _CUES.split())
"""The words, and words side by side, by which the index is asked for all instructions there are."""

# One of these stands in every line of Latin letters that the pattern takes: most lines have none.
_SIGN_WORDS = """
    always never ever prefer prefers now not don't doesn't cannot can't won't hate hates dislike
    dislikes avoid avoids preferred favourite favorite vegetarian vegetarians vegan vegans
    pescatarian pescatarians allergic intolerant diabetic blind colour-blind color-blind
    colourblind colorblind handed left-handed immer nie niemals stets jetzt bevorzuge bevorzugen
    bevorzugt prefiere hasse kein keine keinen keinem nicht lieber nur vegetarier vegetarierin
    veganer veganerin vegetarisch allergisch diabetiker diabetikerin toujours jamais préfère
    préférons déteste pas plus végétarien végétarienne végan végane végétalien végétalienne
    allergique intolérant intolérante diabétique siempre nunca jamás prefiero preferimos odio
    detesto no vegetariano vegetariana vegano vegana alérgico alérgica intolerante celíaco celíaca
    diabético diabética sempre mai preferisco prefiro
"""
_SIGNS = frozenset(_SIGN_WORDS.split())


class Rule(NamedTuple):
    """A line that states an instruction: its number in the text from 0, its text, its topics."""

    at: int
    text: str
    topics: frozenset[str]


@lru_cache(maxsize=1024)
def rules_of(text: str) -> tuple[Rule, ...]:
    """The lines of ``text`` that are standing instructions; those of recent texts are kept."""
    wide = not text.isascii()
    plain = text.lower().replace(".", " ").replace(",", " ").replace("\u2019", "'").split("\n")
    lines = text.split("\n")
    rules = []
    for at, line in enumerate(plain):
        latin = not _SIGNS.isdisjoint(line.split()) and pattern(_LATIN).match(lines[at])
        if latin or (wide and pattern(_WIDE).search(lines[at])):
            rule = lines[at].strip()
            rules.append(Rule(at, rule, topics_of_rule(rule)))
    return tuple(rules)
