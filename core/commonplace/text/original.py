"""The analysis of the profile `compat`: words as SQLite's `unicode61` cuts them, or trigrams.

The terms are made here, so that every store gives the same answers and scores. They are what FTS5
makes of a text: a word of several parts (``foo_bar``), and every piece of text among trigrams, is a
phrase of terms, scored as one. Where all words together find nothing, keywords are searched for
one by one: stop words of seven languages are left out whatever the language, Chinese and
Japanese are cut into characters and pairs, and Korean words also lose their particles.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import normalize

from commonplace.model.search import KeywordQuery
from commonplace.text.languages import MARKS
from commonplace.text.query import MOST_PHRASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.model.chunks import Terms
    from commonplace.model.search import Phrase
    from commonplace.text.query import ParsedQuery


_MAX_TERMS = 256
_MAX_PHRASE = 32
_MAX_PIECE = 258
_LEAST = 3

# Pieces of fewer than three characters are searched for in these scripts alone.
_SHORT = re.compile(r"[\u3040-\u30ff\u3131-\u3163\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_WHITE = re.compile(r"\s")
_STANDS_FOR_WHITE = "\u2423"
# Of what a letter has above and below it; not the marks of kana, which make other letters.
_ACCENTS = re.compile(r"[\u0300-\u036f]")


class WordAnalyser:
    """See :class:`commonplace.text.analyse.Analyser`; words without case and accents."""

    id = "original-unicode61-1"
    terms = "original-unicode61"

    def chunk(self, text: str, *, heading: Sequence[str] = (), title: str = "") -> Terms:
        """The words of the text; heading and title are not indexed."""
        from commonplace.model.chunks import Terms

        del heading, title
        return Terms(" ".join(token for run in _runs(text) for token in _words(run)))

    def query(self, parsed: ParsedQuery) -> KeywordQuery:
        """All words and all phrases, none of what the query excludes; then the words singly."""
        return _query(parsed, _all_words, _quoted_words, whole_runs=False)

    def spans(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """The words of ``text``, also those that underscores join."""
        for match in _pattern(text).finditer(text):
            if words := _words(match.group()):
                joined = (" ".join(words),) if len(words) > 1 else ()
                yield match.start(), match.end(), (*words, *joined)

    def matches(self, text: str, wanted: frozenset[str]) -> list[tuple[int, int, frozenset[str]]]:
        """See :meth:`commonplace.text.analyse.Analyser.matches`."""
        return _wanted_of(self.spans(text), wanted)


class TrigramAnalyser:
    """See :class:`commonplace.text.analyse.Analyser`; a word is found inside longer ones, too.

    Of fewer than three characters only Chinese, Japanese and Korean is found, and where a query has
    nothing else, all that match score alike.
    """

    id = "original-trigram-1"
    terms = "original-trigram"

    def chunk(self, text: str, *, heading: Sequence[str] = (), title: str = "") -> Terms:
        """The trigrams of the text; beside them one and two characters that a query may have."""
        from commonplace.model.chunks import Terms

        del heading, title
        plain = _WHITE.sub(_STANDS_FOR_WHITE, _lower(text))
        return Terms(" ".join(_pieces(plain)), "", " ".join(_short_pieces(plain)))

    def query(self, parsed: ParsedQuery) -> KeywordQuery:
        """All words and all phrases, none of what the query excludes; then the words singly."""
        return _query(parsed, _all_pieces, _quoted_pieces, whole_runs=True)

    def spans(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """The words of ``text``, and in scripts without spaces one, two and three characters."""
        for match in _pattern(text).finditer(text):
            run, start = _lower(match.group()), match.start()
            yield start, match.end(), (" ".join(_sequence(run)),)
            if _SHORT.search(run):
                for at in range(len(run)):
                    for end in range(at + 1, min(at + _LEAST, len(run)) + 1):
                        if _SHORT.search(run[at:end]):
                            yield start + at, start + end, (run[at:end],)

    def matches(self, text: str, wanted: frozenset[str]) -> list[tuple[int, int, frozenset[str]]]:
        """See :meth:`commonplace.text.analyse.Analyser.matches`."""
        return _wanted_of(self.spans(text), wanted)


def _wanted_of(
    spans: Iterable[tuple[int, int, tuple[str, ...]]], wanted: frozenset[str]
) -> list[tuple[int, int, frozenset[str]]]:
    return [
        (start, end, wanted.intersection(terms))
        for start, end, terms in spans
        if not wanted.isdisjoint(terms)
    ]


def _query(
    parsed: ParsedQuery,
    all_of: Callable[[str], KeywordQuery],
    quoted: Callable[[Sequence[str]], tuple[Phrase, ...]],
    *,
    whole_runs: bool,
) -> KeywordQuery:
    text = " ".join((*parsed.words, *parsed.phrases))
    query, must_not = all_of(text), quoted(parsed.excluded)
    queries = ((word, all_of(word)) for word in keywords_of(text, whole_runs=whole_runs))
    return query._replace(
        must=tuple(dict.fromkeys((*query.must, *quoted(parsed.phrases)))),
        must_not=must_not,
        singly=tuple(
            (word, single._replace(must_not=must_not)) for word, single in queries if single.should
        ),
    )


def _all_words(text: str) -> KeywordQuery:
    phrases = [phrase for run in islice(_runs(text), _MAX_TERMS) if (phrase := _words(run))]
    return _weighed(phrases)._replace(must=tuple(dict.fromkeys(phrases)))


def _all_pieces(text: str) -> KeywordQuery:
    must = [_sequence(_lower(run)) for run in islice(_runs(text), _MAX_TERMS)]
    long = [phrase for phrase in must if len(phrase[0]) == _LEAST]
    query = _weighed(long or list(dict.fromkeys(must)))
    return query._replace(must=tuple(dict.fromkeys(must)), alike=not long and bool(must))


def _weighed(phrases: Sequence[Phrase]) -> KeywordQuery:
    """A query for any token of ``phrases``, each phrase scored as one."""
    should = tuple(token for phrase in phrases for token in phrase)
    several = any(len(phrase) > 1 for phrase in phrases)
    weighed = tuple(map(" ".join, phrases)) if several else ()
    return KeywordQuery(should, weighed=weighed, plain=bool(should))


def _words(run: str) -> Phrase:
    """The words of a run: underscores end them, as in the index."""
    folded = normalize("NFC", _ACCENTS.sub("", normalize("NFD", run.lower())))
    return tuple(word for word in folded.split("_") if word)


def _pieces(text: str) -> Phrase:
    return tuple(text[at : at + _LEAST] for at in range(len(text) - _LEAST + 1))


def _short_pieces(text: str) -> Iterator[str]:
    for at, character in enumerate(text):
        if _SHORT.match(character):
            yield character
        if _SHORT.search(pair := text[at : at + 2]) and len(pair) > 1:
            yield pair


def _sequence(text: str) -> Phrase:
    """The terms that stand side by side where ``text``, of lower case and without blanks, does."""
    return _pieces(text[:_MAX_PIECE]) or (text,)


def _quoted_pieces(texts: Sequence[str]) -> tuple[Phrase, ...]:
    plain = (_WHITE.sub(_STANDS_FOR_WHITE, _lower(text.strip())) for text in texts[:MOST_PHRASES])
    return tuple(_sequence(text) for text in plain if text)


def _quoted_words(texts: Sequence[str]) -> tuple[Phrase, ...]:
    found = (
        tuple(islice((word for run in _runs(text) for word in _words(run)), _MAX_PHRASE))
        for text in texts[:MOST_PHRASES]
    )
    return tuple(phrase for phrase in found if phrase)


def _runs(text: str) -> Iterator[str]:
    for match in _pattern(text).finditer(text):
        yield match.group()


def _lower(text: str) -> str:
    """``text`` in lower case, character by character, so that its length stays the same."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\w++") if text.isascii() else _wide_pattern()


@cache
def _wide_pattern() -> re.Pattern[str]:
    return re.compile(rf"\w[\w{MARKS}]*+")


_MOST_KEYWORDS = 64

_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u3131-\u3163]")
_PARTS = re.compile(r"[a-z0-9_]+|[\u30a0-\u30ff]+|[\u4e00-\u9fff]+|[\u3040-\u309f]{2,}")
# What is neither a letter, a digit, a mark nor an underscore ends a word.
_ENDS = re.compile(rf"[^\w{MARKS}]+")

_PARTICLES_OF_KOREAN = """
에서 으로 에게 한테 처럼 같이 보다 까지 부터 마다 밖에 대로 은 는 이 가 을 를 의 에 로 와 과 도 만
"""
_PARTICLES = sorted(_PARTICLES_OF_KOREAN.split(), key=len, reverse=True)
_SHORTEST_STEM = 2
_SHORTEST_WORD = 3


def keywords_of(text: str, *, whole_runs: bool = False) -> list[str]:
    """The different keywords of ``text`` in their order, at most 64.

    Words of stop words, of fewer than three ASCII letters and of digits alone are left out. With
    ``whole_runs`` Chinese characters that stand together are one word, for an index of trigrams.
    """
    found: dict[str, None] = {}
    for token in _tokens(text.lower(), whole_runs=whole_runs):
        if len(found) == _MOST_KEYWORDS:
            break
        if token not in _STOP_WORDS and not _is_noise(token):
            found[token] = None
    return list(found)


def _is_noise(token: str) -> bool:
    if token.isascii() and token.isalpha():
        return len(token) < _SHORTEST_WORD
    return not any(character.isalpha() for character in token)


def _tokens(text: str, *, whole_runs: bool) -> Iterator[str]:
    for segment in _ENDS.split(text):
        if not segment:
            continue
        if _KANA.search(segment):
            yield from _of_japanese(segment, whole_runs=whole_runs)
        elif _HAN.search(segment):
            yield from _of_chinese(segment, whole_runs=whole_runs)
        elif _HANGUL.search(segment):
            yield from _of_korean(segment)
        else:
            yield segment


def _of_japanese(segment: str, *, whole_runs: bool) -> Iterator[str]:
    for part in _PARTS.findall(segment):
        yield part
        if _HAN.match(part) and not whole_runs:
            yield from _pairs(part)


def _of_chinese(segment: str, *, whole_runs: bool) -> Iterator[str]:
    if whole_runs:
        yield from re.findall(rf"{_HAN.pattern}+", segment)
        return
    characters = "".join(_HAN.findall(segment))
    yield from characters
    yield from _pairs(characters)


def _pairs(characters: str) -> Iterator[str]:
    return (characters[at : at + 2] for at in range(len(characters) - 1))


def _of_korean(word: str) -> Iterator[str]:
    stem = _without_particle(word)
    if stem not in _STOP_WORDS:
        yield word
        if stem and (not _HANGUL.search(stem) or len(stem) >= _SHORTEST_STEM):
            yield stem


def _without_particle(word: str) -> str:
    """``word`` without the longest particle at its end; ``""`` where it has none."""
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) > len(particle):
            return word[: -len(particle)]
    return ""


# Pronouns, articles, auxiliaries, prepositions, vague times and things, words of asking.
_ENGLISH = """
a an the this that these those i me my we our you your he she it they them is are was were be been
being have has had do does did will would could should can may might in on at to for of with by from
about into through during before after above below between under over and or but if then because as
while when where what which who how why yesterday today tomorrow earlier later recently ago just now
thing things stuff something anything everything nothing please help find show get tell give
"""
_SPANISH = """
el la los las un una unos unas este esta ese esa yo me mi nosotros nosotras tu tus usted ustedes
ellos ellas de del a en con por para sobre entre y o pero si porque como es son fue fueron ser estar
haber tener hacer ayer hoy mañana antes después despues recientemente que qué cómo cuando cuándo
donde dónde favor ayuda
"""
_PORTUGUESE = """
o a os as um uma uns umas este esta esse essa eu me meu minha nós nos você vocês ele ela eles elas
de do da em com por para sobre entre e ou mas se porque como é são foi foram ser estar ter fazer
ontem hoje amanhã antes depois recentemente que quê quando onde favor ajuda
"""
_ARABIC = """
ال و أو لكن ثم بل أنا نحن هو هي هم هذا هذه ذلك تلك هنا هناك من إلى الى في على عن مع بين ل ب ك كان
كانت يكون تكون صار أصبح يمكن ممكن بالأمس امس اليوم غدا الآن قبل بعد مؤخرا لماذا كيف ماذا متى أين هل
فضلا ساعد
"""
_KOREAN = """
은 는 이 가 을 를 의 에 에서 로 으로 와 과 도 만 까지 부터 한테 에게 께 처럼 같이 보다 마다 밖에
대로 나 나는 내가 나를 너 우리 저 저희 그 그녀 그들 이것 저것 그것 여기 저기 거기 있다 없다 하다
되다 이다 아니다 보다 주다 오다 가다 것 거 등 수 때 곳 중 분 잘 더 또 매우 정말 아주 많이 너무
좀 왜 어떻게 뭐 언제 어디 누구 무엇 어떤 어제 오늘 내일 최근 지금 아까 나중 전에 제발 부탁
"""
_JAPANESE = """
これ それ あれ この その あの ここ そこ あそこ する した して です ます いる ある なる できる の
こと もの ため そして しかし また でも から まで より だけ なぜ どう 何 いつ どこ 誰 どれ 昨日
今日 明日 最近 今 さっき 前 後 ください
"""
_CHINESE = """
的 了 着 过 得 地 吗 呢 吧 啊 呀 嘛 啦 我 我们 你 你们 他 她 它 他们 这 那 这个 那个 这些 那些
在 是 有 和 与 或 但 但是 因为 所以 如果 虽然 而 也 都 就 还 要 会 能 可以 想 把 被 让 给 对 向
从 到 用 跟 比 很 太 最 什么 怎么 为什么 哪 哪里 哪个 谁 几 多少 昨天 今天 明天 刚才 最近 以前
之前 之后 以后 现在 东西 事情 事 请 帮 帮忙 告诉
"""

_STOP_WORDS = frozenset(
    f"{_ENGLISH}{_SPANISH}{_PORTUGUESE}{_ARABIC}{_KOREAN}{_JAPANESE}{_CHINESE}".split()
)
