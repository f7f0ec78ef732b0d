"""Recognises text that reads like an instruction to an agent instead of something to remember."""

from __future__ import annotations

import re

_GAP = r"[\W_]{1,8}"
_FEW = r"(?:\w{1,20}[\W_]{1,8}){0,4}?"

_PATTERNS = {
    "it asks to ignore instructions": r"""
        \b(?:ignore|disregard|forget|override|bypass)␣…
        (?:instructions?|prompts?|rules|guidelines|directives)\b
    """,
    "it asks to ignore instructions, in another language": r"""
        ignorier\w{0,9}\ .{0,60}(?:anweisung|regel|vorgabe)
        | ignore[zs]?\ .{0,60}(?:consignes|règles)
        | ignora\w{0,9}\ .{0,60}(?:instrucciones|instruções|istruzioni|reglas|regras|regole)
        | игнориру\w{0,9}\ .{0,60}(?:инструкц|правил)
        | ignoruj\w{0,9}\ .{0,60}(?:pokyn|instrukc|polece)
        | (?:忽略|无视|無視).{0,20}(?:指令|指示|提示|规则|規則) | 指示を(?:無視|忘れ)
        | (?:지시|명령|규칙).{0,10}무시
    """,
    "it asks not to follow the system or developer": r"""
        \b(?:do␣not|don.?t|never)␣(?:follow|obey|listen␣to)␣…
        (?:system|developer|instructions?|rules)\b
    """,
    "it quotes a system or developer message": r"""
        \b(?:system␣(?:prompt|message)|developer␣(?:message|prompt))\b
    """,
    "it has the tags of a conversation's roles": r"""
        <\s*/?\s*(?:system|assistant|developer|user|tool|instructions?|function_calls?)\b
        | <\|(?:im_start|im_end|system|user|assistant)\b
        | \[/?(?:INST|SYSTEM)\]
        | ^\W{0,8}(?:system|assistant|developer)\s*:
    """,
    "it asks to run or call something": r"""
        \b(?:run|execute|call|invoke)␣(?:(?:the|this|following)␣){0,3}
        (?:tools?|commands?|shell)\b
    """,
    "it gives the reader another role": r"""
        \b(?:you␣are␣now␣(?:an?|the|my|in|called|named)|from␣now␣on␣you
        | act␣as␣(?:an?␣)?(?:admin|root|system|developer) | new␣instructions?)\b
    """,
}
_FLAGS = re.IGNORECASE | re.MULTILINE | re.VERBOSE
_RULES = tuple(
    (reason, re.compile(pattern.replace("␣", _GAP).replace("…", _FEW), _FLAGS))
    for reason, pattern in _PATTERNS.items()
)
"""Why a text is suspected, and its pattern; no two repetitions of one can match the same text."""


def instruction_in(text: str) -> str:
    """Why ``text`` reads like an instruction to an agent, in a few words; ``""`` if it does not.

    A heuristic for text that no person has seen: it also suspects harmless sentences about
    prompts, and cannot know every wording. Whatever is read from memory is fenced all the same.
    """
    return next((reason for reason, pattern in _RULES if pattern.search(text)), "")
