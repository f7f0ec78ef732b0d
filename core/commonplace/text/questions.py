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

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

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
actualmente adónde ahora al alguien algún aquel aquella aquellos aunque aún como cual cuando cuya
cuyo cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de debe deben debería debo del desde
donde dónde el ella ellas ellos en entonces entre eran eres es esa ese eso esta estaba estaban
estamos estar este esto estoy está fue fueron fui fuimos ha habrá había habían hacia hasta hemos
hubo la las le lo los mi mismo muy más mí nadie ninguna ningún nos nosotras nosotros nuestra
nuestras nuestro nuestros para pero podemos podría por porque puede pueden puedes puedo pues que
quien quiere quieren quiero quién quiénes qué se según ser si sido sobre somos también te tenemos
tengo tenía tenían tiene tienen todavía un una uno usted ustedes vosotros vuestra vuestro y ya yo
"""
_PORTUGUESE = """
ainda alguém ali ao aonde aos aquela aquele atualmente até com da das de dela delas dele deles deve
devem devo do e ela elas ele eles em então eram essa esse estamos estava estavam estou está estão eu
foi fomos foram fui havia isso isto já lhe lhes mais mas meu meus minha minhas muita muito na nas
nenhum nenhuma ninguém nos nossa nossas nosso nossos numa não nós o onde ou para pela pelo pode
podem por porque posso quais qual quando quanta quantas quanto quantos que quem quero se sem ser seu
sobre sou sua são só também tem temos tenho teve tinha tinham um uma você vocês à às
"""
_FRENCH = """
actuellement au aucun aucune auquel aurait aussi aux avaient avait avec avez avons ce cela celle
celui ces cette ceux chez combien dans depuis des doit doivent donc dont du déjà elle elles et eux
fallait faut ici ils je la le les lesquelles lesquels leur leurs lui là maintenant mais moi même ne
nos notre nous où peut peuvent peux pourquoi pouvons qu quand que quel quelle quelles quelqu quelque
quels qui rien sera serait ses sommes sont suis toi toujours très tu un une veut veux vos votre
voulait vous ça étaient étais était êtes être
"""
_GERMAN = """
aber auch auf aufs aus bei beim bereits bist bitte daher damit daran darauf darf darin darum darüber
dass davon dazu dein deine deinem deinen deiner dem den denn der derzeit des dich diese diesem
diesen dieser dieses doch durch durchs durfte dürfen dürfte eigentlich ein eine einem einen einer
eines etwas euch euer eure eurem euren für fürs gegen gegenwärtig gerade gibt habe haben hast hatte
hatten heutzutage hinter hätte hätten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer inzwischen ist
jemand jemandem jemanden jetzt kann kein keine keinem keinen keiner konnte konnten können könnte
könnten mein meine meinem meinen meiner meines mich mittlerweile momentan muss musste mussten möchte
möchten müssen müsste müssten nach neben nicht nichts noch nunmehr nur nämlich oder ohne schon sehr
sein seine seinem seinen seiner seit sich sie sind sollen sollte sollten sondern sowie ums und uns
unser unsere unserem unseren unserer unseres unter viel vom von vor wann warum weil welche welchem
welchen welcher welches wenn wer werden weshalb wessen weswegen wie wieso wieviel wievielte
wievielten wir wird wo wobei wodurch wofür wogegen woher wohin wollte wollten womit woran worauf
worin worum worüber wovon wozu wurde wurden wäre wären würde würden zu zum zur zurzeit zwischen über
übers
"""
_ITALIAN = """
abbiamo adesso agli al alla alle anche ancora attualmente aveva avevano avevo coi col cosa dagli dal
dalla dalle degli dei del della delle dello deve devo devono dobbiamo dove ebbe erano essi furono
già gli ha hai hanno il la le lo loro negli nei nel nella nelle nessuno niente nostra nostre nostri
nostro perché possiamo posso potrebbe può qualcosa qualcuno quale quali quante quanti quanto quella
quelle quelli quello questa queste questi questo sarebbe sarà se siamo sono stata stato sugli sui
sul sulla sulle un una vogliamo voglio vuole è
"""
_DUTCH = """
aan achter bent bij deden deze dit een geen geweest hebben hebt heeft het hij hoe hoeveel hun iemand
iets ik inmiddels jij jullie konden kunnen kunt maar mijn moest moesten moet moeten momenteel naar
niemand niet niets nog ons onze ook sinds tegen tegenwoordig tijdens toch tussen uit voor waar
waarheen waarmee waarom waarop waarvoor wanneer wat welk welke werd wiens wij wilde worden wordt zal
zij zijn zonder zou zouden zullen
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
    _GERMAN: "als am an ans bin bis da das die dir du eben er gab halt hat im ins ja mal man mehr "
    "mir mit nun ob so soll um waren war was wem wen wollen",
    _SPANISH: "algo ante con era he han hay mis nada por sin soy su sus tras tus",
    _FRENCH: "as car comment est ma mes mon on ont l j n par pour sa ses si son sous sur ta ton",
    _PORTUGUESE: "agora as com dos era é mesma mesmo os por sob",
    _ITALIAN: "che chi ci come con di era fra fu ho l ma mia mie mio per senza si sua suo tra",
    _DUTCH: "als ben bij dan dat de die door en had heel hem in is kon kan maar met of om op over "
    "te van was we wie wil ze",
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
_IN_NAMES = "au chez com da das dove du ella les los las nas ons sem sobre toi uno unter von"
_NAMES = frozenset(_IN_NAMES.split())
"""Words of one language alone that stand in names and titles of others: they tell no language."""


# What asks, and the verbs that say nothing beside it: the note has the price of what "kostet".
# Notes say what someone "heißt".
_FRAMING = {
    _GERMAN: """
was wieviel viel: kosten kostet kostete gekostet;
viel wieviel: zahlen zahle zahlt zahlst zahlten bezahlen bezahle bezahlt gezahlt ausgegeben;
was wie wo wohin woher wer wann wieso warum welche welcher welches: geht gehen ging gegangen macht
mache machen machst gemacht getan tun tut steht stehen stand liegt liegen lag;
was: brauche brauchen brauchst braucht
""",
    _SPANISH: """
cuánto cuanto cuánta: cuesta cuestan costó costaron costaba pagamos;
qué cómo: hace hacer hizo hicimos hago
""",
    _FRENCH: "combien: coûte coûtent coûté coûtait; que qu quoi comment: fait faire faites",
    _PORTUGUESE: "quanto quanta: custa custam custou custava; que: faz fez",
    _ITALIAN: "quanto quanta: costa costano costato costava; cosa come: fatto fare",
    _DUTCH: "hoeveel wat: kost kosten kostte gekost; wat hoe waar: doet gedaan staat ligt",
}


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
        for language in _languages():
            frames = [verbs for asking, verbs in language.frames if not asking.isdisjoint(words)]
            framing = {verb for verbs in frames for verb in verbs if not verbs.isdisjoint(words)}
            if framing or not language.alone.isdisjoint(words):
                found = language.stop_words | (framing - _nouns_of(text))
                break
    return found - capitals if capitals else found


def _nouns_of(text: str) -> set[str]:
    """The capitalised words of ``text``, in lower case, but for the first: "die Kosten"."""
    _, *others = text.split() or [""]
    return {word.strip(_MARKS_BESIDE).lower() for word in others if word[:1].isupper()}


class _Language(NamedTuple):
    """The words of a language alone, the stop words of its queries, and what frames these."""

    alone: frozenset[str]
    stop_words: frozenset[str]
    frames: list[list[frozenset[str]]]


@cache
def _languages() -> list[_Language]:
    lists = _ENGLISH, _SPANISH, _PORTUGUESE, _FRENCH, _GERMAN, _ITALIAN, _DUTCH, _SCANDINAVIAN
    lists_with = Counter(word for listed in lists for word in set(listed.split()))
    return [
        _Language(
            frozenset(
                word
                for word in listed.split()
                if lists_with[word] == 1 and len(word) > 2 and word not in _NAMES
            ),
            STOP_WORDS.union(beside_others.split()),
            [
                [frozenset(words.split()) for words in frame.split(":")]
                for frame in _FRAMING[listed].split(";")
            ],
        )
        for listed, beside_others in _BESIDE_OTHERS.items()
    ]


_NOW_LISTED = """
now nowadays current currently latest newest recent recently lately last still heutzutage jetzt
zurzeit zuletzt gerade noch maintenant encore récemment dernièrement ahora actualmente todavía
recientemente último última últimos últimas adesso attuale ancora ultimo ultima ultimi ultime agora
atual atualmente ainda recentemente vigente сейчас теперь inzwischen mittlerweile gegenwärtig
attualmente momenteel tegenwoordig inmiddels
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


_RECENT_LISTED = """
latest newest recent lately last letzt neueste zuletzt récemment dernier dernièr recientemente últim
ultim recentemente последн 最新 最近 최신 최근
"""
_RECENT = ("most recent", *_RECENT_LISTED.split())


_EARLIEST_LISTED = """
first oldest earliest originally initially erste erstes ersten erster älteste
ältesten ältester ursprünglich ursprüngliche ursprünglichen anfangs première premier originalement
initialement primera primero originalmente inicialmente originariamente inizialmente
primeira primeiro первый первая первое первого изначально сначала
"""
_EARLIEST = frozenset(_EARLIEST_LISTED.split())
_EARLIEST_PHRASES = (
    *("最早", "第一次", "最初", "起初", "当初", "初めて", "처음", "최초", "plus ancien"),
    *("más antigu", "più vecchi", "più antic", "mais antig"),
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
all every each list total sum altogether history longest shortest highest lowest largest smallest
average alle allen jede jeder jedes insgesamt verlauf durchschnitt todos todas cada tous toutes
chaque tutti tutte ogni totale primo prima
"""
_SEVERAL = frozenset(_SEVERAL_LISTED.split())
_SEVERAL_PHRASES_LISTED = """
how often, how many times, over time, wie oft, cuántas veces, combien de fois, quante volte,
quantas vezes, 所有, 全部, 一共, 总共, 總共, 每次, 多少次, 历史, 歷史, すべて, 全て, 合計, 何回,
履歴, 모든, 전부, 몇 번
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


_ASKED_LISTED = """
amount: how much, cost, costs, price, prices, kostet, kosten, kostete, gekostet, preis, preise,
wie viel, wieviel, cuesta, cuestan, costó, precio, precios, cuánto pagamos, coûte, coûtent, coûté,
quanto costa, quanto costano, prezzo, prezzi, custa, custam, custou, preço, preços, kost;
measure: how long, how old, how far, wie lang, wie lange, wie alt, wie weit, wie groß, wie gross,
wie hoch, wie schwer, cuánto tiempo, cuántos años, combien de temps, quanto tempo, quanti anni,
quantos anos, hoe lang, hoe oud, hoe ver, hoe groot;
number: how many, wie viele, wie vielen, wieviele, cuántos, cuántas, combien de, quanti, quante,
quantos, quantas, hoeveel
"""
_ASKED = [
    (kind.strip(), [f" {phrase.strip()} " for phrase in phrases.split(",")])
    for kind, _, phrases in (line.partition(":") for line in _ASKED_LISTED.split(";"))
]
_PRICES_ASIAN = "多少钱", "多少錢", "いくら", "얼마"
_OF_A_SUBJECT = re.compile(
    r"\W*(?:(?:who|what)(?:['’]?s| is| are)|wer (?:ist|sind)|was ist|qui est"
    r"|qui[eé]n es|chi è|quem é) "
)


def answer_asked(text: str) -> str:
    """The kind of answer that a query asks for; ``""``: none that has a form.

    ``amount`` of money ("how much", "was kostet"), ``number`` ("how many", "cuántos"),
    ``measure``, a number with a unit ("how long", "wie alt"). ``subject``: what someone or
    something is ("who is Eva", "wer ist", "qui est", "quién es", "chi è", "quem é").
    """
    lowered = text.lower()
    words = [word.strip(_MARKS_BESIDE) for word in lowered.replace(" d'", " de ").split()]
    spaced = f" {' '.join(words)} "
    for kind, phrases in _ASKED:
        if any(map(spaced.__contains__, phrases)):
            return kind
    if not text.isascii() and any(map(text.__contains__, _PRICES_ASIAN)):
        return "amount"
    return "subject" if _OF_A_SUBJECT.match(lowered) else ""


_UNIT_LISTED = """
euro euros prozent percent pourcent procent percento ciento cento yen dollar dollars dólar dólares
dollari pfund pound pounds libras sterling franken francs francos franchi rappen cent cents céntimos
centavos quadratmeter quadratmetern metre metres meter meters metros cuadrados quadrados
mètres carrés metri quadri quadrati vierkante kilometer kilometern kilometers kilometres kilómetros
quilômetros kilomètres chilometri kilogramm kilogram kilograms kilo kilos grad degrees grados graus
"""
_UNIT_WORDS = frozenset(_UNIT_LISTED.split())
_COUNTING_LISTED = "viel viele vielen many much cuántos cuántas combien quanti quantos hoeveel"
_COUNTING = frozenset(_COUNTING_LISTED.split())
_BETWEEN = frozenset(("por", "per", "pour", "de", "square"))


def words_beside(text: str) -> list[str]:
    """The words of ``text``, in lower case, that no note need have: for now, and units of amounts.

    A note has "1.430 €" for "1430 Euro". By itself a unit is what is asked for.
    """
    words = [word.strip(_MARKS_BESIDE) for word in text.lower().split()]
    units, counted = list[str](), False
    for before, word in pairwise(["", *words]):
        counted = before[-1:].isdigit() or before in _COUNTING or counted
        counted = counted and (word in _UNIT_WORDS or word in _BETWEEN)
        units += [word] if counted and word in _UNIT_WORDS else []
    return words_of_now(text) + units


def may_be_foreign(texts: Iterable[str]) -> bool:
    """Whether a query of ``texts`` has no word that tells English."""
    text = " ".join(texts).lower().replace("'", " ").replace("\u2019", " ")  # "what's" has "what"
    return _OF_ENGLISH_QUERIES.isdisjoint([word.strip(_MARKS_BESIDE) for word in text.split()])


def tokens_beside(
    text: str, tokens_of: Callable[[str], Iterable[str]]
) -> tuple[frozenset[str], frozenset[str]]:
    """The tokens of :func:`words_beside`; and of those that ask for the present, not for the last.

    A note without "now" may hold now all the same, and one that says "now" may be old.
    """
    words, none = words_beside(text), frozenset[str]()
    if not words:
        return none, none
    present = [word for word in words_of_now(text) if not word.startswith(_RECENT)]
    return none.union(*map(tokens_of, words)), none.union(*map(tokens_of, present))
