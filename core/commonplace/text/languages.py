"""What is known of languages: letters, frequent words, forms and spellings, and words for times."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

RADICALS = "\u2e80-\u2fd5"
"""Han radicals: symbols to Unicode, but text copied from a PDF has them in place of letters."""

UNSPACED = (
    RADICALS + "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # Han and its iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana, prolonged sound
    "\uff66-\uff9f\U0001aff0-\U0001b16f"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7ff\uffa0-\uffdc"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese
)
"""Scripts written without spaces between words, and Hangul, whose words carry their particles."""

IGNORABLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
"""Soft hyphens, joiners and direction marks: inside a word, and no part of it."""

EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
"""Pictures that people search for."""

# Combining marks. The ranges also run over letters, digits and unassigned characters that lie
# between marks, which makes them fewer; over nothing else.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7-\u05c9"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3"
    "\u07fd\u0816-\u082d\u0859-\u085b\u0897-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75"
    "\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ece\u0f18-\u0f19\u0f35"
    "\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f"
    "\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    "\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff"
    "\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099-\u309a\ua66f-\ua672"
    "\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    "\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6"
    "\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd-\U0001037a"
    "\U00010a01-\U00010a3f\U00010ae5-\U00010ae6\U00010d24-\U00010d6d\U00010eab-\U00010eac"
    "\U00010ecb-\U00010ecf\U00010ef0-\U00010f50\U00010f82-\U00010f85\U00011000-\U00011046"
    "\U00011070-\U000110ba\U000110c2\U00011100-\U00011134\U00011145-\U00011173"
    "\U00011180-\U000111c0\U000111c9-\U000111cc\U000111ce-\U000111cf\U0001122c-\U00011237"
    "\U0001123e-\U00011241\U000112df-\U000113d2\U000113e1-\U00011446\U0001145e-\U000114c3"
    "\U000115af-\U000115c0\U000115dc-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b"
    "\U0001182c-\U0001183a\U00011930-\U00011943\U000119d1-\U000119e0\U000119e4-\U00011a3e"
    "\U00011a47-\U00011a99\U00011b60-\U00011b67\U00011c2f-\U00011c3f\U00011c92-\U00011ef6"
    "\U00011f00-\U00011f42\U00011f5a\U00013440-\U0001612f\U00016af0-\U00016af4"
    "\U00016b30-\U00016b36\U00016f4f-\U00016f92\U00016fe4-\U00016ff1\U0001bc9d-\U0001bc9e"
    "\U0001cf00-\U0001cf46\U0001d127-\U0001d128\U0001d165-\U0001d169\U0001d16d-\U0001d172"
    "\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244"
    "\U0001d250-\U0001d252\U0001d25b-\U0001d25c\U0001d25f\U0001d280-\U0001d281"
    "\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001daaf"
    "\U0001e000-\U0001e136\U0001e2ae-\U0001e2ef\U0001e4ec-\U0001e5ef\U0001e6e3-\U0001e94a"
    "\U000e0100-\U000e01ef"
)
"""Combining marks; good only beside ``\\w``, for letters that lie between marks are in it too."""


@cache
def english_levels() -> dict[str, int]:
    """How rare the frequent stems of English are; see :mod:`commonplace.text.english`."""
    from commonplace.text.english import LEVELS

    return {stem: level for level, stems in LEVELS.items() for stem in stems.split()}


def rarity_of(stem: str) -> float:
    """How rare ``stem`` is in English, 0..1 (0: in every passage of 100 words)."""
    from commonplace.text.english import HIGHEST, RAREST

    return english_levels().get(stem, RAREST) / HIGHEST


@cache
def english_words() -> frozenset[str]:
    """The 8,000 most frequent words of English, most of them by their stems."""
    from commonplace.text.english_rarer import RARER

    return frozenset(RARER.split()) | english_levels().keys()


def is_vietnamese(word: str) -> bool:
    """Whether ``word`` has letters of Vietnamese alone, where marks tell other words apart."""
    return any("\u1ea0" <= letter <= "\u1ef9" or letter in "ơư" for letter in word)


def compound_spellings(compound: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """The tokens of ``compound`` beside those of its words; the last one is for the whole of it.

    ``wi-fi`` has the token of ``wifi``, as both are typed; ``4,180`` also that of ``4180``.
    """
    joined = "" if "." in compound else joined_spelling(compound)
    spellings = (stem(joined),) if joined else (compound, plainest_spelling(compound))
    return tuple(filter(None, dict.fromkeys((version_in(compound), *spellings))))


_SEPARATED = 3  # digits


def plainest_spelling(written: str) -> str:
    """``written`` as others may spell it: ``4180`` of ``4,180``, ``15.6`` of ``v15.6``."""
    if written[0] == "v" and written[1:2].isdecimal():
        return written[1:]
    return without_separators(written) or written


_MOST_PARTS, _LEAST_JOINED = 5, 4


def joined_spelling(written: str) -> str:
    """``utf8`` of ``utf-8``, a name of two to five words; ``""`` of a path, a date, a version."""
    parts = written.replace(".", "_").replace("-", "_").split("_")
    is_name = 2 <= len(parts) <= _MOST_PARTS and any(map(str.isalpha, parts))
    joined = "".join(parts) if is_name else ""
    return joined if len(joined) >= _LEAST_JOINED and joined.isalnum() and joined.isascii() else ""


def version_in(written: str) -> str:
    """``3.11`` of ``python3.11``; ``""`` of what is no name with a version behind it."""
    number = written.lstrip("abcdefghijklmnopqrstuvwxyz")
    is_version = len(written) > len(number) + 1 and "." in number and number[0].isdecimal()
    return number if is_version and number.replace(".", "").isdecimal() else ""


def without_separators(written: str) -> str:
    """``4180`` of ``4,180``, ``4.180`` and ``4,180.50``; ``""`` where no digits are in threes."""
    mark = "," if "," in written else "."
    first, *others = written.partition("." if mark == "," else ",")[0].split(mark)
    number = "".join((first, *others))
    separated = len(first) <= _SEPARATED and {_SEPARATED}.issuperset(map(len, others))
    return number if others and first and separated and _is_number(number) else ""


def with_separators(number: str) -> list[str]:
    """``4,180`` and ``4.180`` of ``4180``, as it may stand in a text; none of less digits."""
    if len(number) <= _SEPARATED or not _is_number(number):
        return []
    ends = range(len(number), 0, -_SEPARATED)
    threes = [number[max(0, end - _SEPARATED) : end] for end in ends][::-1]
    return [",".join(threes), ".".join(threes)]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


_SHORT_HASH = 7  # as git shortens them
_HEXADECIMAL = frozenset("0123456789abcdef")


def short_hash(word: str) -> str:
    """The first seven digits of a longer hash in lower case; ``""`` of another word."""
    return word[:_SHORT_HASH] if len(word) > _SHORT_HASH and is_hash(word) else ""


def is_hash(word: str) -> bool:
    """Whether ``word``, in lower case, may be a hash or its beginning.

    It has letters and digits, so that neither a number nor ``acceded`` is one.
    """
    return _HEXADECIMAL.issuperset(word) and not (word.isalpha() or word.isdecimal())


_BASE64, _KEPT = r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{128,}+", 64
_KEYS = "AAAA", "MII", "eyJ"  # of SSH, certificates, tokens: they are found by their beginning


def without_encoded(text: str) -> str:
    """``text`` with spaces for data in Base64, whose words are chance; of keys not all."""
    if all(" " in text[at : at + _KEPT] for at in range(0, len(text) - _KEPT, _KEPT)):
        return text  # as most
    return re.sub(_BASE64, _beginning, text)


def _beginning(data: re.Match[str]) -> str:
    run, part = data[0], len(data[0]) // 20  # of random data three are digits, eight are capitals
    letters = min(sum(map(str.isupper, run)), sum(map(str.islower, run)))
    is_data = letters >= 4 * part and sum(map(str.isdigit, run)) >= part  # and no path
    return run[: _KEPT * run.startswith(_KEYS)].ljust(len(run)) if is_data else run


_IRREGULAR_LISTED = """
becom:became begin:began,begun bend:bent bite:bitten bleed:bled blow:blew,blown break:broke,broken
bring:brought build:built burn:burnt buy:bought catch:caught child:children choos:chose,chosen
come:came creep:crept deal:dealt dig:dug draw:drew,drawn dream:dreamt drink:drank,drunk
drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt fight:fought
fli:flew,flown foot:feet forbid:forbade,forbidden forget:forgot,forgotten forgiv:forgave,forgiven
freez:froze,frozen get:got,gotten give:gave,given go:went,gone goos:geese grow:grew,grown
half:halves hang:hung hear:heard hide:hid,hidden hold:held keep:kept kneel:knelt knife:knives
know:knew,known lay:laid lead:led lean:leant learn:learnt leav:left lend:lent light:lit lose:lost
make:made man:men,mannen mean:meant meet:met mous:mice pay:paid person:people ride:rode,ridden
ring:rang,rung rise:risen run:ran say:said see:saw,seen seek:sought sell:sold send:sent
shake:shook,shaken shelf:shelves shine:shone shoot:shot show:shown shrink:shrank,shrunk
sing:sang,sung sink:sank,sunk sit:sat sleep:slept slide:slid speak:spoke,spoken spend:spent
spin:spun stand:stood steal:stole,stolen stick:stuck strike:struck sweep:swept swim:swam,swum
swing:swung take:took,taken teach:taught tear:tore,torn think:thought throw:threw,thrown
tooth:teeth understand:understood wake:woke,woken wear:wore,worn wife:wives win:won wolf:wolves
woman:women write:wrote,written
"""
_ABROAD_LISTED = """
prend:prise,prises,prenons,prenez,prennent,prenait
apprend:appris,apprise,apprises,apprenons,apprennent,apprenait comprend:comprenons,comprennent
reprend:repris,reprise,reprennent ouvrir:ouvert,ouverte,ouverts,ouvertes
offrir:offert,offerte,offerts,offertes couvrir:couvert,couverte,couverts
decouvrir:decouvert,decouverte,decouverts,decouvertes
recevoir:recu,recue,recus,recues,recoit,recois,recoivent venir:vient,viens,viennent,viendra,vinieron
revenir:revient,reviennent,reviendra tenir:tenu,tenue,tient,tiennent,tiendra
ecrir:ecrit,ecrite,ecrits,ecrites construir:construit,construite,construits
peind:peint,peinte,peints,peignent,peignait joind:joignent eteind:eteint,eteinte
courir:couru,courus,courue,courra dormir:dorment,duerme,duermen,durmio,durmieron
mourir:meurt,meurent boir:boit,boivent,buvait vivr:vecu,vecue payer:paie,paient,payee,payons,payait
louer:louons,louent,louait envoy:envoie,envoient,enverra nettoy:nettoie,nettoient
connaitr:connu,connue,connus,connues,connaissait vouloir:voulu,voulue,voulus,voudra,voudrait
remett:remis,remise asseoir:assis,assise nouveau:nouvelle,nouvelles,nouvel vieux:vieille,vieilles
koop:kocht,kochten,gekocht verkop:verkocht,verkochten breng:bracht,brachten,gebracht
zoek:zocht,zochten,gezocht denk:dacht,dachten,gedacht,dachte geef:gaf,gaven,gegeven neem:nam,namen
meen:meegenomen koom:kwam,kwamen,gekomen,komt aankom:aangekomen lezen:gelezen
schrijf:schreef,schreven,geschreven vind:vond,vonden,gevonden beginn:begon,begonnen
kie:koos,kozen,gekozen verlie:verloor,verloren eten:gegeten,eet krijg:kreeg,kregen,gekregen
vrag:vroeg,vroegen dragen:droeg,droegen,gedragen rijd:gereden snijd:sneed,gesneden
blijf:bleef,bleven,gebleven helpen:hielp,hielpen,geholpen slapen:sliep,sliepen lopen:liep,liepen
roep:riep,riepen vertrekk:vertrok,vertrokken brek:gebroken sprek:sprak,spraken,gesproken
afsprek:afgesproken zwemm:zwom,zwommen,gezwommen winn:gewonnen bellen:belde,belden,gebeld
stad:steden dag:dagen kind:kinderen ei:eieren
hacer:hizo,hicieron,hice,hecho,hecha,hechos,hechas,haciendo
poner:puso,pusieron,puse,puesto,puesta,puestos,puestas tener:tuvo,tuvieron,tuve
traer:trajo,trajeron,traje,traido quer:quiso,quisieron,quiere,quieren decir:dijo,dijeron,dije,dicho
volf:vuelve,vuelven perd:pierde,pierden cerrar:cierra,cierran empezar:empieza,empiezan,empece
encontrar:encuentra,encuentran,encuentro,encuentros costar:cuesta,cuestan
pedir:pide,piden,pidio,pidieron romp:roto,rotos abrir:abierto,abierta,abiertos,abiertas
escribir:escrito,escrita,escritos,escritas jugar:juega,juegan,jugue pagar:pague,pago,pagos
llegar:llegue buscar:busque,busca,buscan hablar:habla,hablan,hablo week:weken brief:brieven
bus:bussen zus:zussen les:lessen kat:katten wit:witte bed:bedden trap:trappen
"""
"""The same of French, Dutch and Spanish, where the form is no word of English or of another one
of these languages ("pris" is a price in Swedish), by the stem of the infinitive or singular."""

FORMS_OF = {
    stem: forms.split(",")
    for listed in (_IRREGULAR_LISTED, _ABROAD_LISTED)
    for stem, _, forms in (verb.partition(":") for verb in listed.split())
}
"""Irregular forms of English verbs and nouns, which no stemmer knows, by the stem of what they are
forms of. What is a word of its own, too (bit, bound, found, lives, leaves), is left out."""

STEM_OF = {form: stem for stem, forms in FORMS_OF.items() for form in forms}
"""Each of these forms, and its stem."""

# Stems and not words, so that all forms of a word stay together, in any language.
_ALIKE_LISTED = """
kubernet:k8s postgresql:postgr repositor:repo configur:config environ:env certif:cert
databas:db,dbs document:doc authent:auth administr:admin packag:pkg messag:msg,msgs paramet:param
argument:arg function:func televis:tv,tvs color:colour flavor:flavour harbor:harbour honor:honour
humor:humour labor:labour vapor:vapour rumor:rumour armor:armour favorit:favourit
behavior:behaviour neighbor:neighbour neighborhood:neighbourhood center:centr theat:theatr
liter:litr kilomet:kilometr centimet:centimetr fiber:fibr organiz:organis realiz:reali
summar:summari priorit:prioriti categor:categori licens:licenc catalog:catalogu dialog:dialogu
gray:grey tire:tyre aluminum:aluminium pajam:pyjam mold:mould
"""
STEMS_ALIKE = {
    stem: others.split(",")
    for stem, _, others in (alike.partition(":") for alike in _ALIKE_LISTED.split())
}
"""Stems of short forms that mean nothing else, and of British spellings, by the stem that stands
for them ("prod", "max", "info" and "dir" mean other things, too, in one language or another)."""

STEM_FOR = {other: stem for stem, others in STEMS_ALIKE.items() for other in others}
"""Each of these stems, and the one that stands for it."""


_BEFORE_GE_LISTED = "ab an auf aus bei ein mit nach um vor weg zu zuruck aan af mee op uit"
BEFORE_GE = _BEFORE_GE_LISTED.split()
"""What a German or Dutch participle may have before its "ge", which its token lacks."""


DOUBLED = "aa", "ee", "oo", "uu"
"""Vowels that Dutch writes twice in a closed syllable, and once in an open one."""
_IN_OPEN_SYLLABLE, _LONGEST_CLOSED = {"f": "v", "": "z"}, 4


@lru_cache(maxsize=64)  # each hit of a search asks
def sought(wanted: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Those of ``wanted`` that are not ASCII, and what stands in each word that has another one.

    Snowball's English stemmer changes at most the last letter of what it leaves, and ``dying`` and
    its like to ``die``. "abgeholt" has the token ``abhol``.
    """
    wide = frozenset([term for term in wanted if not term.isascii()])
    words = {term for term in wanted - wide if len(term) > 2 and term.isalpha()}
    needles = [word[:-2] if word.endswith("ie") else word[:-1] for word in words]
    needles += [
        f"{prefix}ge{word[len(prefix) : -1]}"
        for prefix in BEFORE_GE
        for word in words
        if word.startswith(prefix)
    ]
    needles += [
        word[:2] + _IN_OPEN_SYLLABLE.get(word[3:], word[3:])  # "koop" is also of "kopen"
        for word in words
        if word[1:3] in DOUBLED and len(word) <= _LONGEST_CLOSED
    ]
    for word in wanted:
        needles += FORMS_OF.get(word, ())
        needles += [other[: max(2, len(other) - 1)] for other in STEMS_ALIKE.get(word, ())]
        needles += with_separators(word)
        if len(word) == _SHORT_HASH and is_hash(word):  # in a longer one a digit may follow
            needles.append(word.rstrip("0123456789"))
    return wide, wanted.difference(wide, words, [""]).union(needles)


LETTERS = "[\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\u4e00-\u9fff\uac00-\ud7a3]"
"""Those of scripts without spaces of which each is a unit of its run."""
FIRST_LETTER = "\u3005"


@cache
def plain_text(run: str) -> re.Pattern[str]:
    """Text of ASCII, marks that part words, and letters that match ``run``."""
    marks = (
        "\xa0\xab\xb7\xbb\u2013-\u2027\u2190-\u21ff\u2500-\u25ff\u3000-\u3003\u3008-\u3020\u30fb"
        "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff64"
    )
    # Whether signs of C# and C++ belong to a name depends on what is beside them. With
    # "*+" nothing of several runs matches before Python 3.11.5.
    return re.compile(
        rf"(?:[\0-\"$-*,-\x7f{marks}]++|(?:{run})++|(?<![^\0-\x7f])[+#](?![^\0-\x7f]))*"
    )


_FIRST_OTHER_DIGIT = "\u0660"  # beyond ASCII, that NFKC leaves as it is


def in_our_digits(word: str) -> str:
    """``word`` with ASCII digits: Arabic, Thai and the scripts of India have their own, too."""
    if max(word, default="") < _FIRST_OTHER_DIGIT:
        return word
    return "".join([str(int(sign)) if sign.isdecimal() else sign for sign in word])


def composed(text: str) -> str:
    """``text`` with each accent in one character with its letter, as words for times have them."""
    if text.isascii():
        return text
    from unicodedata import normalize  # an ASCII query does without

    return normalize("NFC", text)
