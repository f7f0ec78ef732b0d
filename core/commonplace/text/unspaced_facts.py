"""Facts in Chinese, Japanese and Korean: what a line is about, and the name that is its value.

Without spaces there are no words to count. So a subject needs three letters, a value is short, and
what reads like a sentence or a state is no value: the particles and endings of verbs and adjectives
give those away.
"""

from __future__ import annotations

import re

_SHORTEST = 3  # letters of a subject that is specific: 负责人, 담당자
_LONGEST = 20  # of a subject
_LONGEST_VALUE = 12

_SUBJECT = rf"(?P<subject>[^\s，,。；;、？?！!：:=]{{{_SHORTEST},{_LONGEST}}}?)"
_SPACED_SUBJECT = rf"(?P<subject>[^，,。；;、？?！!：:=]{{{_SHORTEST},{_LONGEST}}}?)"
_ONE = rf"(?P<value>[\w.@/+-]{{1,{_LONGEST_VALUE}}})"
_END = r"[。.!！]?\s*\Z"

# 不是, 但是 and the like say something else than "is"; so do 因为 and 认为.
_CHINESE = re.compile(
    rf"{_SUBJECT}(?:现在|現在|目前|已经|已經|已)?"
    r"(?:(?:改|换|換|设|設|定)(?:为|為|成)了?|(?<![不但还還只就都也于於可总總要算若正便老或])是|"
    r"(?<![认認因作成以称稱分行])[为為])"
    rf"\s*{_ONE}{_END}"
)
_JAPANESE = re.compile(rf"{_SUBJECT}は(?:今|現在)?\s*{_ONE}(?:です|だ|である){_END}")
_KOREAN = re.compile(
    rf"{_SPACED_SUBJECT}[은는]\s+(?:이제\s+|지금\s+)?"
    rf"(?P<value>[\w.@/+-]{{2,{_LONGEST_VALUE}}}?)(?:이다|입니다|이에요|예요){_END}"
)
_COLON = re.compile(rf"{_SPACED_SUBJECT}\s*[：:=]\s*{_ONE}{_END}")

# Chinese particles, adverbs and auxiliaries; no name has them but by chance.
_SENTENCE = re.compile(
    "[的了着过過吗嗎呢吧很太不没沒在被把要会會能应應该該谁誰]|什么|什麼|哪|怎|多少|几|幾"
)
# Kana that ends verbs and adjectives. Names are written in the other scripts, but for の and さん.
_KANA = re.compile("[\u3041-\u3096]")
_ALLOWED_KANA = re.compile("の|さん|くん|ちゃん")
_STATES = re.compile(
    r"(?:完了|失敗|成功|不在|必要|不要|便利|不便|重要|順調|可能|不可|大丈夫|元気|有効|無効|正常|異常|停止|"
    r"未定|中止|延期|最高|最悪|無理|簡単|複雑|安全|危険|綺麗|面倒|大変|残念|問題|..+[中済的前後]|"
    r"何|誰|どこ|いつ|"
    r"정상|비정상|실패|성공|완료|필요|불필요|가능|불가능|중단|예정|최고|최악|문제|필수|아직|누구|무엇|어디|언제|"
    r"그대로|마찬가지|다행|움직|..+[중적것])\Z"
)
# What is another thing each time: today, this, I, the problem, the reason.
_OF_THE_TIME = re.compile(
    r"\A(?:今天|明天|昨天|今日|明日|昨日|这|這|那|我|你|他|她|它|今週|来週|今回|これ|それ|あれ|私|僕|"
    r"오늘|내일|어제|이것|그것|저것|우리|저희|저는|나는)|"
    r"(?:问题|問題|原因|结果|結果|目的|意思|情况|情況|想法|建议|建議|重点|重點|理由|感想|문제|원인|이유|결과|목적)\Z"
)


def stated_in(text: str) -> tuple[str, str] | None:
    """The subject and the value of a line with letters of these scripts, if it states a fact."""
    for pattern in (_COLON, _CHINESE, _JAPANESE, _KOREAN):
        if found := pattern.match(text):
            subject, value = found["subject"].strip(), found["value"].rstrip(".")
            if pattern is _COLON and not _is_long(subject):
                continue
            return (subject.casefold(), value) if _is_fact(subject, value) else None
    return None


def _is_long(subject: str) -> bool:
    return len(re.sub(r"\W", "", subject)) >= _SHORTEST


def _is_fact(subject: str, value: str) -> bool:
    kana = _KANA.search(_ALLOWED_KANA.sub("", value))
    state = _SENTENCE.search(value) or _STATES.match(value)
    return bool(value) and not (kana or state or _OF_THE_TIME.search(subject))
