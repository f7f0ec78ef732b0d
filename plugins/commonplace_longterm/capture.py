"""What of a conversation is worth keeping: rules in several languages, and how far it was read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import (
    NamedTuple,
    UnavailableError,
    instruction_in,
    read_json,
    update_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Message = Mapping[str, Any]

RECALL_TAG = "relevant-memories"
"""Of the block that automatic recall adds; text that holds it is not the user's."""

_SHORTEST, _SHORTEST_CJK = 10, 4
_MOST_EMOJI = 3


def _words(*phrases: str) -> str:
    """A pattern of whole words and phrases."""
    return rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)"


_WISHES = (
    # English, Czech, German, French
    r"prefer(?:s|red)?|i (?:really |also )?(?:like|love|hate|dislike|want|need|enjoy)|favou?rite",
    r"preferuji|mám rád[a]?|nemám rád[a]?|chci|nechci|potřebuji",
    r"ich (?:mag|bevorzuge|hasse|liebe|brauche|will|möchte)|lieblings\w*|am liebsten",
    r"je (?:préfère|déteste|veux|voudrais)|j['’](?:aime|adore)|préféré\w*",
    # Spanish, Portuguese, Italian, Dutch, Polish, Russian
    r"prefiero|me (?:gusta|encanta)|odio|quiero|necesito|favorit[oa]",
    r"prefiro|eu (?:gosto|amo|odeio|quero|preciso)|gosto de|preferid[oa]",
    r"preferisco|mi piace|odio|voglio|preferit[oa]",
    r"ik (?:hou van|haat|wil|verkies)|liever|favoriete?",
    r"wolę|lubię|uwielbiam|nie znoszę|chcę|ulubion\w+",
    r"предпочитаю|люблю|ненавижу|хочу|мне нравится|любим\w+",
)
_DECISIONS = (
    r"(?:we|i)(?:['’]ve| have)? (?:decided|agreed|chose)|decided (?:to|on)|decision|going with",
    r"(?:we|i)(?:['’]ll| will) use|from now on",
    r"rozhodl[aiy]?|rozhodli jsme|budeme používat|od teď",
    r"entschieden|beschlossen|ab jetzt|künftig",
    r"(?:on a|nous avons|j['’]ai) décidé|désormais|dorénavant|à partir de maintenant",
    r"(?:hemos|he) decidido|decidimos|decidí|de ahora en adelante|a partir de ahora",
    r"decidimos|decidi|de agora em diante|a partir de agora",
    r"(?:abbiamo|ho) deciso|d['’]ora in poi",
    r"we hebben besloten|ik heb besloten|voortaan|vanaf nu",
    r"zdecydowa\w+|postanowi\w+|od teraz",
    r"решил[аи]?|мы решили|отныне|с этого момента",
)
_REMEMBER = (
    r"remember|don['’]t forget|note that|keep in mind|always|never|important",
    r"zapamatuj|pamatuj|nezapomeň|vždy|nikdy|důležit\w+",
    r"merk(?:e)? dir|vergiss nicht|denk daran|immer|niemals|wichtig",
    r"souviens-toi|retiens|n['’]oublie pas|toujours|jamais|important",
    r"recuerda|no olvides|ten en cuenta|siempre|nunca|importante",
    r"lembre-se|lembra|não (?:se )?esqueça|sempre|nunca|importante",
    r"ricorda(?:ti)?|non dimenticare|sempre|importante",
    r"onthoud|vergeet niet|altijd|nooit|belangrijk",
    r"zapamiętaj|pamiętaj|nie zapomnij|zawsze|nigdy|ważne",
    r"запомни|помни|не забудь|всегда|никогда|важно",
)
_NAMES = (
    r"my name is|i am called|call me|is called|named",
    r"jmenuji se|jmenuje se",
    r"ich heiße|heißt|mein name ist",
    r"je m['’]appelle|s['’]appelle",
    r"me llamo|se llama|mi nombre es",
    r"me chamo|se chama|meu nome é",
    r"mi chiamo|si chiama",
    r"ik heet|heet|mijn naam is",
    r"nazywam się|mam na imię|nazywa się",
    r"меня зовут|зовут",
)
_MINE = (
    r"my [\w-]+(?: [\w-]+)? (?:is|are|was)",
    r"m(?:ůj|oje|á) \w+ je",
    r"mein(?:e|er)? \w+ (?:ist|sind|heißt)",
    r"m(?:on|a|es) \w+ (?:est|sont)",
    r"mis? \w+ (?:es|son|está)",
    r"(?:meus?|minhas?) \w+ (?:é|são)",
    r"(?:mio|mia|miei|mie) \w+ (?:è|sono)",
    r"mijn \w+ (?:is|zijn)",
    r"m(?:ój|oja|oje) \w+ (?:to|jest)",
    r"мо(?:й|я|ё|и) \w+",
)
_BEING = (
    r"is|are|was|has|have|je|má|jsou|ist|sind|hat|est|sont|es|son|está|tiene|é|são|tem|è|sono",
    r"zijn|heeft|jest|są|это|есть",
)

# Chinese, Japanese and Korean write no spaces: phrases stand anywhere.
_CJK_WISHES = (
    r"我(?:最|很|也|比较|不)?(?:喜欢|喜歡|偏好|讨厌|討厭|爱|愛|想要|需要)|偏好"
    r"|私は?.{0,20}(?:好き|嫌い|欲しい|必要)|好みは|が好き|が嫌い"
    r"|나는.{0,20}(?:좋아|싫어|원해|필요)|좋아해|싫어해"
)
_CJK_DECISIONS = (
    r"决定|決定|以后(?:都)?用|以後(?:都)?用|今後は|ことにした|ことにする|결정했|앞으로는"
)
_CJK_REMEMBER = (
    r"记住|記住|记下|記下|别忘|別忘|总是|總是|从不|從不|永远|永遠|重要"
    r"|覚えて|記憶して|忘れないで|いつも|絶対に?|기억해|잊지 ?마|항상|절대|중요"
)
_CJK_NAMES = r"我叫|名字(?:是|叫)|他叫|她叫|名前は|と申します|이름은|라고 해"
_CJK_MINE = r"我的.{1,20}是|私の.{1,20}は|내 .{1,20}(?:이야|입니다)"
_CJK_BEING = r"是|です|ます|입니다|이에요|예요"

_PHONE = r"(?<!\w)\+?\d(?:[ ()./-]{0,2}\d){9,14}(?!\w)"
_MAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"


def _rule(words: Sequence[str], anywhere: str) -> re.Pattern[str]:
    return re.compile(f"{_words(*words)}|{anywhere}", re.IGNORECASE)


_PREFERENCE = _rule(_WISHES, _CJK_WISHES)
_DECISION = _rule(_DECISIONS, _CJK_DECISIONS)
_ENTITY = _rule(_NAMES, f"{_CJK_NAMES}|{_PHONE}|{_MAIL}")
_MY_FACT = _rule(_MINE, _CJK_MINE)
_FACT = _rule((*_MINE, *_BEING), f"{_CJK_MINE}|{_CJK_BEING}")
_REMINDER = _rule(_REMEMBER, _CJK_REMEMBER)

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EMOJI = re.compile(r"[\U0001f300-\U0001faff\u2600-\u27bf]")

# Beside what core knows: what harmless notes say, too, and a memory of one line can do without.
_INJECTION = re.compile(
    r"""(?isx)
    \b(?:run|execute|call|invoke)\b .{0,40} \b(?:tool|command)\b
    | <\s*/?\s*(?:memory|function|relevant-memories)\b
    | 系统提示|系統提示|システムプロンプト|시스템\ 프롬프트
    """
)


def looks_like_instructions(text: str) -> bool:
    """Whether ``text`` seems to give orders to the agent instead of saying something."""
    forms = (text, " ".join(text.split()))
    return any(instruction_in(form) or _INJECTION.search(form) for form in forms)


def category_of(text: str) -> str:
    """The category that the words of ``text`` suggest."""
    for category, rule in (
        ("preference", _PREFERENCE),
        ("decision", _DECISION),
        ("entity", _ENTITY),
        ("fact", _FACT),
    ):
        if rule.search(text):
            return category
    return "other"


def is_worth_keeping(text: str, *, longest: int, triggers: Sequence[str] = ()) -> bool:
    """Whether a message of the user is to be captured.

    It has a fitting length, is no markup, no summary and no instruction, and holds one of the
    phrases that people use for what they want remembered, or one of ``triggers``.
    """
    shortest = _SHORTEST_CJK if _CJK.search(text) else _SHORTEST
    if not shortest <= len(text) <= longest:
        return False
    if f"<{RECALL_TAG}" in text or (text.startswith("<") and "</" in text):
        return False
    if ("**" in text and "\n-" in text) or len(_EMOJI.findall(text)) > _MOST_EMOJI:
        return False
    if looks_like_instructions(text):
        return False
    folded = text.casefold()
    return any(trigger.casefold() in folded for trigger in triggers) or any(
        rule.search(text) for rule in (_PREFERENCE, _DECISION, _REMINDER, _ENTITY, _MY_FACT)
    )


def user_texts(message: Message) -> Iterator[str]:
    """The texts of a message of the user; of another role there are none."""
    if message.get("role") != "user":
        return
    content = message.get("content")
    if isinstance(content, str):
        yield content.strip()
    elif isinstance(content, list | tuple):
        for part in content:
            if isinstance(part, dict) and part.get("type") in {"text", "input_text"}:
                text = part.get("text")
                if isinstance(text, str):
                    yield text.strip()


_MOST_CHATS = 500


class Position(NamedTuple):
    """How far a conversation was read: so many messages, of which the last had this digest."""

    messages: int
    mark: str


class Cursor:
    """Remembers, in the file at ``path``, how far each conversation was read.

    The file holds digests, never texts. One that cannot be read or written costs a second look at
    messages, of which no memory comes twice.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def start(self, chat: str, messages: Sequence[Message]) -> int:
        """The index of the first message that was not read.

        A conversation may have lost its beginning by a compaction: then the last message that was
        read is looked for. Where it is gone, all messages are new.
        """
        known = _positions(read_json(self._path)).get(_key(chat))
        if known is None:
            return 0
        marks = [mark_of(message) for message in messages]
        if marks[known.messages - 1 : known.messages] == [known.mark]:
            return known.messages
        return next((i + 1 for i in reversed(range(len(marks))) if marks[i] == known.mark), 0)

    def move(self, chat: str, messages: Sequence[Message], count: int) -> None:
        """Remember that the first ``count`` messages were read."""
        if not count:
            return
        mark = mark_of(messages[count - 1])

        def change(record: Mapping[str, Any]) -> Mapping[str, Position]:
            known = _positions(record)
            known.pop(_key(chat), None)  # the newest stand last
            known[_key(chat)] = Position(count, mark)
            return dict(list(known.items())[-_MOST_CHATS:])

        with suppress(UnavailableError):
            update_json(self._path, change)


def _positions(record: Mapping[str, Any]) -> dict[str, Position]:
    try:
        return {str(key): Position(int(count), str(mark)) for key, (count, mark) in record.items()}
    except (ValueError, TypeError):
        return {}


def mark_of(message: Message) -> str:
    """A digest of a message."""
    whole = json.dumps([message.get("role"), message.get("content")], default=str)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cursor_path(state_dir: str, agent: str) -> str:
    """The file of an agent's cursors."""
    name = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in agent)
    return os.path.join(state_dir, "memory", "longterm", f"{name}.cursors.json")


def _key(chat: str) -> str:
    return hashlib.sha256(chat.encode("utf-8", "surrogatepass")).hexdigest()[:16]
