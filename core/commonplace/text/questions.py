"""What the words of a query say of it: which say nothing, and what kind of answer it asks for.

Words that say nothing are articles, pronouns and the like, of nine languages. A query may ask for
what holds now, or for all of a series.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# Articles, pronouns, prepositions, auxiliaries, words of asking, and what an apostrophe leaves.
_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each every few for from further get
got had has have having he her here hers herself him himself his how i if in into is it its
itself just know let like many may me might more most much must my myself no nor not of off on
once only or other our ours ourselves out over own please same shall she should so some such
tell than that the their theirs them themselves then there these they think this those through
to too under until up us very want was we were what when where which while who whom whose why
will with would you your yours yourself yourselves d ll m re s t ve aren couldn didn doesn don
hadn hasn haven isn shouldn wasn weren won wouldn
"""
# Words of one language that mean something in another, or to a machine (son, sin, die, os, num),
# are left out: there is no telling which language a query is in.
_SPANISH = """
al como cual cuando de del desde donde el ella ellos en entre es esa ese eso esta este esto fue ha
la las le lo los más mi muy nos para pero por porque que qué quien se ser si sobre también te
tiene un una uno y ya yo cómo cuál cuándo dónde está quién hemos había somos eres cuánto cuánta
cuántos cuántas cuáles quiénes fueron hasta tengo tienen tenemos puedo puede podemos nuestra
nuestro
"""
_PORTUGUESE = """
ao aos com da das dele dela do e ela ele em essa esse está eu foi isso isto já mais mas na nas não
nos numa o onde ou para pela pelo por qual quando que quem são se sem ser seu sua só também tem um
uma você à estão estava quanto quanta quantos quantas quais foram temos tenho minha minhas meu
meus nós posso pode até às
"""
_FRENCH = """
au aux avec ce ces cette dans des du elle et être ils je le les leur lui mais même ne nous où qu
que quel quelle qui sera ses sont très tu un une vos votre vous combien avons avez avait étaient
était quand quels quelles pourquoi
"""
_GERMAN = """
aber auch auf aus bei dass dein deine dem den der des durch ein eine einem einen einer eines für
haben ich ihr ihre ihren ist kann können mein meine meinem meinen meiner nach nicht noch nur oder
sein seine seinen sich sie sind sollte über und uns unser unsere unseren vom von vor wann warum
welche welchem welchen welcher welches wenn wer werden wie wir wird wo wurde wurden zu zum zur
bist darf dich gibt habe hast hatte hatten mich müssen muss ohne seit sollen viel wem wen wieso
wieviel
"""
_ITALIAN = """
agli alla alle anche cosa dal dalla degli dei della delle dello dove gli ha hanno il nel nella
nelle perché quale quali quanto questa queste questi questo sono sul sulla è abbiamo quanti quante
"""
_DUTCH = """
aan bij deze dit een heeft het hoe hun ik maar mijn naar niet onze ook uit voor waar wanneer wat
welke werd wij worden wordt zijn
"""
_SCANDINAVIAN = """
att de det där eller ett fra från för hur hva hvad hvem hvilke hvilken hvordan hvornår icke ikke
inte jag jeg med mig när når och og är
"""
_RUSSIAN = """
а без был была были было быть в вы где да для до его ее её если есть же за и из или их к как какая
какие какой когда кто ли мне мы на не него нет но о об он она они от по при с так там то только ты
у что чтобы эта эти это этот я вам вас ваш ему ей ещё еще зачем им ими какого какое каком каким
каких какую кем кого кому куда меня мной мое моё моего моей мои мой моя можно над нам нас наш наша
нужно откуда под почему сколько тоже уже чего чей чем чему через во со
"""
_ARABIC = """
أن أو إلى إن التي الذي ثم عن على في قد كان كانت كل كما كيف لا لم لماذا ما متى مع من هذا هذه هل
هنا هو هي و ولا يا
"""
_EUROPEAN = f"{_SPANISH}{_PORTUGUESE}{_FRENCH}{_GERMAN}{_ITALIAN}{_DUTCH}{_SCANDINAVIAN}"

STOP_WORDS = frozenset(f"{_ENGLISH}{_EUROPEAN}{_RUSSIAN}{_ARABIC}".split())
"""Words that say nothing, in whichever language of these a text may be."""

_BESIDE_OTHERS = {
    _GERMAN: "als am an bin das die dir du er gab hat im man mit ob soll um war was",
    _SPANISH: "con han hay mis soy su sus tus",
    _FRENCH: "as comment est ma mes mon on ont par pour sa ses son sur ta ton",
    _PORTUGUESE: "as dos é os",
    _ITALIAN: "che chi come con di per si",
}
"""What says nothing beside a word of that language alone, and may mean something in another one."""


def stop_words_of(texts: Sequence[str]) -> Collection[str]:
    """The stop words of a query of ``texts``, in lower case.

    A word in capitals beside others is an abbreviation: "NAS" is no Portuguese article.
    """
    text = " ".join(texts)
    capitals = set[str]()
    if not (text.islower() or text.isupper()):
        capitals = {word.lower() for word in _CAPITALS(text)} - _OPERATORS
    words = set(text.lower().split()) - capitals
    languages = _stop_words_by_language().items()
    found = next((stop for only, stop in languages if not only.isdisjoint(words)), STOP_WORDS)
    return found - capitals if capitals else found


_CAPITALS = re.compile(r"\b[A-Z]{2,}\b").findall
_OPERATORS = frozenset(("and", "or", "not"))
"""What is written in capitals for other engines."""


@cache
def _stop_words_by_language() -> dict[frozenset[str], frozenset[str]]:
    """The stop words of a query in a language, by the words of that language alone."""
    lists = _ENGLISH, _SPANISH, _PORTUGUESE, _FRENCH, _GERMAN, _ITALIAN, _DUTCH, _SCANDINAVIAN
    lists_with = Counter(word for listed in lists for word in listed.split())
    return {
        frozenset(word for word in listed.split() if lists_with[word] == 1): (
            STOP_WORDS.union(beside_others.split())
        )
        for listed, beside_others in _BESIDE_OTHERS.items()
    }


_NOW_LISTED = """
now nowadays current currently latest newest recent recently lately last still heutzutage jetzt
zurzeit zuletzt gerade noch maintenant encore récemment dernièrement ahora actualmente todavía
recientemente último última últimos últimas adesso attuale ancora ultimo ultima ultimi ultime agora
atual atualmente ainda recentemente vigente сейчас теперь
"""
_NOW = frozenset(_NOW_LISTED.split())
_NOW_STEMS_LISTED = """
aktuell derzeit momentan neueste letzt actuel dernier dernièr текущ актуальн нынешн последн
"""
_NOW_STEMS = tuple(_NOW_STEMS_LISTED.split())
_NOW_PHRASES = (
    *("right now", "most recent", "at the moment", "these days", "en ce moment"),
    *("现在", "現在", "目前", "当前", "當前", "最新", "最近", "今の", "今は"),
    *("지금", "현재", "요즘", "최신", "최근"),
)
_LONGEST_QUESTION = 80
_MARKS_BESIDE = ".,;:!?¿¡\"'()"


def words_of_now(text: str) -> list[str]:
    """The words of ``text``, in lower case, that ask for what holds at present.

    By hand: to compile a pattern would cost a search a millisecond. None of a long text, which
    tells something ("but now I am alone") rather than asks for it.
    """
    if len(text) > _LONGEST_QUESTION:
        return []
    lowered = text.lower()
    words = [word.strip(_MARKS_BESIDE) for word in lowered.split()]
    said = [word for word in words if word in _NOW or word.startswith(_NOW_STEMS)]
    return said + [phrase for phrase in _NOW_PHRASES if phrase in lowered]


_SEVERAL_LISTED = """
all every each list total sum altogether history first oldest earliest longest shortest highest
lowest largest smallest average alle allen jede jeder jedes insgesamt erste ersten erster erstes
älteste verlauf durchschnitt todos todas cada primero primera tous toutes chaque premier première
tutti tutte ogni totale primo prima primeiro primeira
"""
_SEVERAL = frozenset(_SEVERAL_LISTED.split())
_SEVERAL_PHRASES_LISTED = """
how often, how many times, over time, wie oft, cuántas veces, combien de fois, quante volte,
quantas vezes, 所有, 全部, 一共, 总共, 總共, 最早, 第一次, 每次, 多少次, 历史, 歷史,
すべて, 全て, 合計, 最初, 何回, 履歴, 모든, 전부, 처음, 몇 번
"""
_SEVERAL_PHRASES = " ".join(_SEVERAL_PHRASES_LISTED.split()).split(", ")


def asks_for_several(text: str) -> bool:
    """Whether a query asks for all of a series, a sum or an extreme of it: "first", "how often".

    In the languages of :func:`words_of_now`.
    """
    lowered = text.lower()
    words = [word.strip(_MARKS_BESIDE) for word in lowered.split()]
    return not _SEVERAL.isdisjoint(words) or any(map(lowered.__contains__, _SEVERAL_PHRASES))
