"""What the words of a query say of it: which say nothing, and what kind of answer it asks for.

Words that say nothing are articles, pronouns and the like, of nine languages. A query may ask for
what holds now, or for all of a series.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

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
al como cual cuando cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de del desde donde dónde
el ella ellos en entre eres es esa ese eso esta este esto está fue fueron ha había hasta hemos la
las le lo los mi muy más nos nuestra nuestro para pero podemos por porque puede puedo que quien
quién quiénes qué se ser si sobre somos también te tenemos tengo tiene tienen un una uno y ya yo
"""
_PORTUGUESE = """
ao aos até com da das de dela dele do e ela ele em essa esse estava está estão eu foi foram isso
isto já mais mas meu meus minha minhas na nas nos numa não nós o onde ou para pela pelo pode por
posso quais qual quando quanta quantas quanto quantos que quem se sem ser seu sua são só também
tem temos tenho um uma você à às
"""
_FRENCH = """
au aux avait avec avez avons ce ces cette combien dans des du elle et ils je la le les leur lui
mais même ne nous où pourquoi qu quand que quel quelle quelles quels qui sera ses sont très tu un
une vos votre vous étaient était être
"""
_GERMAN = """
aber auch auf aus bei bist darf dass dein deine dem den der des dich durch ein eine einem einen
einer eines für gibt habe haben hast hatte hatten ich ihr ihre ihren ist kann können mein meine
meinem meinen meiner mich muss müssen nach nicht noch nur oder ohne sein seine seinen seit sich
sie sind sollen sollte und uns unser unsere unseren viel vom von vor wann warum welche welchem
welchen welcher welches wenn wer werden wie wieso wieviel wir wird wo wurde wurden zu zum zur über
"""
_ITALIAN = """
abbiamo agli al alla alle anche cosa dal dalla degli dei del della delle dello dove gli ha hanno
il la le lo nel nella nelle perché quale quali quante quanti quanto questa queste questi questo se
sono sul sulla un una è
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
а без был была были было быть в вам вас ваш во вы где да для до его ее ей ему если есть еще ещё её
же за зачем и из или им ими их к как какая какие каким каких какого какое какой каком какую кем
когда кого кому кто куда ли меня мне мной мое моего моей можно мои мой моя моё мы на над нам нас
наш наша не него нет но нужно о об он она они от откуда по под почему при с сколько со так там то
тоже только ты у уже чего чей чем чему через что чтобы эта эти это этот я
"""
_ARABIC = """
أن أو إلى إن التي الذي ثم عن على في قد كان كانت كل كما كيف لا لم لماذا ما متى مع من هذا هذه هل
هنا هو هي و ولا يا
"""
_EUROPEAN = f"{_SPANISH}{_PORTUGUESE}{_FRENCH}{_GERMAN}{_ITALIAN}{_DUTCH}{_SCANDINAVIAN}"

STOP_WORDS = frozenset(f"{_ENGLISH}{_EUROPEAN}{_RUSSIAN}{_ARABIC}".split())
"""Words that say nothing, in whichever language of these a text may be."""

_BESIDE_OTHERS = {
    _GERMAN: "als am an bin das die dir du er gab hat im man mit ob soll um war was wem wen",
    _SPANISH: "con han hay mis soy su sus tus",
    _FRENCH: "as comment est ma mes mon on ont par pour sa ses son sur ta ton",
    _PORTUGUESE: "as dos é os",
    _ITALIAN: "che chi come con di ma per si",
}
"""What says nothing beside a word of that language alone, and may mean something in another one."""


_MARKS_BESIDE = ".,;:!?¿¡\"'()"
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b").findall
_STRESSED = "and or not all am are can do does how is no the what when why"
_OPERATORS = frozenset(_STRESSED.split())
"""What is written in capitals for other engines, or stressed by them."""
_ENGLISH_ALONE = (
    "about and are did does for how is my of our the what when where which who with your"
)
_OF_ENGLISH_QUERIES = frozenset(_ENGLISH_ALONE.split())
_IN_NAMES = "au com da das dove du ella les los las nas sem uno von"
_NAMES = frozenset(_IN_NAMES.split())
"""Words of one language alone that stand in names and titles of others: they tell no language."""


def stop_words_of(texts: Sequence[str]) -> Collection[str]:
    """The stop words of a query of ``texts``, in lower case.

    A word in capitals beside others is an abbreviation: "NAS" is no Portuguese article.
    """
    text = " ".join(texts)
    capitals = set[str]()
    if not (text.islower() or text.isupper()):
        capitals = {word.lower() for word in _CAPITALS(text)} - _OPERATORS
    words = {word.strip(_MARKS_BESIDE) for word in text.lower().split()} - capitals
    found = STOP_WORDS
    if _OF_ENGLISH_QUERIES.isdisjoint(words):
        languages = _stop_words_by_language().items()
        found = next((stop for only, stop in languages if not only.isdisjoint(words)), STOP_WORDS)
    return found - capitals if capitals else found


@cache
def _stop_words_by_language() -> dict[frozenset[str], frozenset[str]]:
    """The stop words of a query in a language, by the words of that language alone."""
    lists = _ENGLISH, _SPANISH, _PORTUGUESE, _FRENCH, _GERMAN, _ITALIAN, _DUTCH, _SCANDINAVIAN
    lists_with = Counter(word for listed in lists for word in set(listed.split()))
    return {
        frozenset(
            word
            for word in listed.split()
            if lists_with[word] == 1 and len(word) > 2 and word not in _NAMES
        ): STOP_WORDS.union(beside_others.split())
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


def words_of_now(text: str) -> list[str]:
    """The words of ``text``, in lower case, that ask for what holds at present.

    By hand: to compile a pattern would cost a search a millisecond. None of a long text, which
    tells something ("but now I am alone") rather than asks for it.
    """
    if len(text) > _LONGEST_QUESTION:
        return []
    lowered = text.lower()
    words = [word.strip(_MARKS_BESIDE) for word in lowered.split()]
    now_words = [word for word in words if word in _NOW or word.startswith(_NOW_STEMS)]
    return now_words + [phrase for phrase in _NOW_PHRASES if phrase in lowered]


_EARLIEST_LISTED = """
first oldest earliest originally initially erste erstes ersten erster älteste
ältesten ältester ursprünglich ursprüngliche ursprünglichen anfangs première premier originalement
initialement primera primero originalmente inicialmente originariamente inizialmente
primeira primeiro первый первая первое первого изначально сначала
"""
_EARLIEST = frozenset(_EARLIEST_LISTED.split())
_EARLIEST_PHRASES = (
    *(
        "最早",
        "第一次",
        "最初",
        "起初",
        "当初",
        "初めて",
        "처음",
        "최초",
        "plus ancien",
        "más antigu",
    ),
    *("più vecchi", "più antic", "mais antig"),
)
_NOT_EARLIEST_LISTED = """
first name, first aid, first of all, at first sight, first floor, first thing, first class,
first-class, first grade, first person, first choice, first half, first quarter, first week,
first line, erste hilfe, erster hilfe, ersten hilfe, erste klasse, ersten klasse, ersten stock,
erste stock, première classe, primera clase, primera planta, primera persona, primeira classe,
первая помощь, первый этаж
"""
_NOT_EARLIEST = " ".join(_NOT_EARLIEST_LISTED.split()).split(", ")


def asks_for_earliest(text: str) -> bool:
    """Whether a query asks for what was first: "the first load test", "originally".

    As :func:`words_of_now`, of short texts only.
    """
    if len(text) > _LONGEST_QUESTION:
        return False
    lowered = text.lower()
    words = [word.strip(_MARKS_BESIDE) for word in lowered.split()]
    has_one = not _EARLIEST.isdisjoint(words) or any(map(lowered.__contains__, _EARLIEST_PHRASES))
    return has_one and not any(map(lowered.__contains__, _NOT_EARLIEST))


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
    has_one = not _SEVERAL.isdisjoint(words) or any(map(lowered.__contains__, _SEVERAL_PHRASES))
    return has_one or asks_for_earliest(text)


_SOME = "two|three|four|five|six|seven|eight|nine|ten|twelve"
_UNITS = (
    r"seconds?|secs?|s|min(?:ute)?s?|h|hours?|days?|weeks?|months?|years?|ms|km|m|miles?"
    r"|kilomet\w+"
)
_ANSWERS = {
    "amount": r"\d ?(?:k|m|million)? ?"
    r"(?:kr|[A-Z]{3}\b|€|£|zł|yen|%|euros?\b|dollars?\b|pounds?\b|francs?\b)|[$€£¥] ?\d",
    "number": rf"\d|\b(?i:{_SOME}|twice)\b",
    "measure": rf"(?i:(?:\d|\b(?:an?|one|{_SOME}|few|several)\b) ?-?(?:{_UNITS})\b)",
}
_PRICES = frozenset(("cost", "costs", "price", "prices"))
_OF_A_SUBJECT = re.compile(
    r"\W*(?:(?:who|what)(?:['’]?s| is| are)|wer (?:ist|sind)|was ist|qui est"
    r"|qui[eé]n es|chi è|quem é) "
)
_FIRST_WORD = re.compile(r"[-*+>|#_`'\"“\s]*([^\W_]+)").match
"""Behind the marks of Markdown that a line begins with, and quotes."""
_LONGEST_ENDING = 4
"""So many letters or more behind a stem make another word: "Evaluation" is not of "Eva"."""


def answer_asked(text: str) -> str:
    """The kind of answer that a query asks for; ``""``: none that has a form.

    In English, ``amount`` of money ("how much", "price"), ``number`` ("how many"), ``measure``, a
    number with a unit ("how long", "how old", "how far"). ``subject``: what someone or something is
    ("who is Eva", "wer ist", "qui est", "quién es", "chi è", "quem é").
    """
    words = [word.strip(_MARKS_BESIDE) for word in text.lower().split()]
    how = {word for before, word in pairwise(words) if before == "how"}
    if "much" in how or not _PRICES.isdisjoint(words):
        return "amount"
    if "many" in how:
        return "number"
    if not how.isdisjoint(("long", "old", "far")):
        return "measure"
    return "subject" if _OF_A_SUBJECT.match(text.lower()) else ""


def answer_share(text: str, answer: str, weights: Mapping[str, float]) -> float:
    """The largest share (0..1) of ``weights``, by token, in a line of ``text`` with such an answer.

    A line has a token where its letters stand in it, as nearly all forms of a word begin with their
    stem. A line about a ``subject`` begins with one. Headings have no answer.
    """
    most = 0.0
    for line in text.split("\n"):
        lowered = line.lower()
        share = sum([weight for token, weight in weights.items() if token in lowered])
        # Few lines have words of the query, and only these are looked at for an answer.
        if share > most and line[0] != "#" and _is_answer(line, answer, weights):
            most = share
    return most / sum(weights.values()) if most else 0.0


def _is_answer(line: str, answer: str, weights: Mapping[str, float]) -> bool:
    if answer != "subject":
        return _pattern_of(answer).search(line) is not None
    first = _FIRST_WORD(line.lower())
    word = first[1] if first else ""
    begun = [token for token in weights if word.startswith(token)]
    return any(len(word) - len(token) < _LONGEST_ENDING for token in begun)


@cache
def _pattern_of(answer: str) -> re.Pattern[str]:
    return re.compile(_ANSWERS[answer])


_MEANT = {
    "after": "date day since from seit ab nach desde depuis",
    "before": "until till bis vor hasta avant antes",
    "path": "file filename name folder dir directory datei ordner pfad",
    "tag": "tags label",
    "": "title titel heading text body author",
}
"""What filters of other programs and languages are called here; ``""``: there is none."""


def of_other_searches(text: str) -> Iterator[str]:
    """That ``NOT``, ``AND`` or an unknown filter is a word here, and what does that instead."""
    if '"' in text or text.isupper():
        return
    here = {name: ours for ours, names in _MEANT.items() for name in names.split()}
    names = "|".join(here)
    pattern = rf"(?<![^\s(])(?:NOT\s+(\w+)|(AND)(?=\s)|((?i:{names})):(?=[^\s/:]))"
    for left_out, required, name in re.findall(pattern, text):
        if left_out:
            yield f"NOT is a word here: -{left_out} leaves out what has that word"
        elif required:
            yield 'AND is a word here: more of the words count more, a "phrase" must be there'
        else:
            ours = here[name.lower()]
            how = (
                f"use {ours}:" if ours else "the filters are path:, tag:, source:, after:, before:"
            )
            yield f"{name}: is no filter, and was searched for as a word: {how}"
