"""Where text may be cut: between what a reader takes for characters."""

from __future__ import annotations

# Format characters that are a cluster of their own (Control in UAX 29).
_CONTROLS = frozenset("\u00ad\u200b\u200e\u200f\u2060\ufeff")
# Letters that lean on what follows (Prepend) ...
_PREPENDED = frozenset(
    "\u0d4e\u1cf5\u1cf6\U000111c2\U000111c3\U000113d1\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02"
    "\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89"
)
# ... and on what precedes (Extend, SpacingMark) without being marks.
_LEANING = frozenset(
    "\u0e33\u0eb3\u1cf5\u1cf6\uff9e\uff9f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
)
# Controls and separators of lines: a cluster ends on both sides.
_ENDS = frozenset({"Cc", "Zl", "Zp"})
# How far back a conjunct is looked for; with more marks than that it is taken for one.
_LOOK_BACK = 32


def is_boundary(text: str, index: int, start: int = 0) -> bool:
    """Whether ``text`` may be cut before ``index``.

    True only where a grapheme cluster (UAX 29) surely ends, so that a Unicode version newer than
    this Python's would agree; some true boundaries between rare characters are called False.
    ``start`` is a known boundary, such as the last cut: nothing before it is looked at.
    """
    if index <= start or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before < "\u0300" and after < "\u0300" and "\u00ad" not in {before, after}:
        return before != "\r" or after != "\n"
    from unicodedata import category

    kind_before, kind_after = category(before), category(after)
    if kind_before in _ENDS or kind_after in _ENDS or before in _CONTROLS or after in _CONTROLS:
        return True  # not CR LF, which are both below U+0300
    if (
        kind_after[0] in "MC"
        or kind_before in {"Cf", "Cn", "Cs"}
        or after in _LEANING
        or before in _PREPENDED
        or _is_hangul_joint(before, after)
    ):
        return False
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flag_letters_before(text, index, start) % 2 == 0
    return not _may_be_conjunct(text, index, start)


def floor_boundary(text: str, index: int, lower: int = 0) -> int:
    """The largest place in ``lower..index`` where ``text`` may be cut, ``lower`` if there is none.

    ``lower`` is a known boundary, such as the last cut. Time is linear in ``index - lower``.
    """
    index = min(index, len(text))
    while index > lower and not is_boundary(text, index, lower):
        index -= 1
    return max(index, lower)


def _is_hangul_joint(before: str, after: str) -> bool:
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7ff":
        return True  # a vowel or final consonant
    if "\U00016d60" <= after <= "\U00016d6f":
        return True  # Kirat Rai vowels, which newer versions of UAX 29 treat alike
    return "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"


def _flag_letters_before(text: str, index: int, start: int) -> int:
    at = index
    while at > start and "\U0001f1e6" <= text[at - 1] <= "\U0001f1ff":
        at -= 1
    return index - at


def _may_be_conjunct(text: str, index: int, start: int) -> bool:
    """Whether the marks before ``index`` hold a virama that ties the next consonant to the last."""
    from unicodedata import category, combining

    for at in range(index - 1, max(start, index - _LOOK_BACK) - 1, -1):
        char = text[at]
        if combining(char) == 9 or char in _PREPENDED:
            return True
        kind = category(char)
        if kind[0] != "M" and kind != "Cf" and char not in _LEANING:
            return kind == "Cn"
    return index - start > _LOOK_BACK
