"""Prints the letters of traditional Chinese, each before its simplified one, for ``unspaced.py``.

    python docs/generate/chinese_letters.py

The lines belong into ``core/commonplace/text/unspaced.py``. It asks ``uconv`` of ICU (Debian's
``icu-devtools``; 72.1 was used) for the simplified form of each letter, by the transform
Traditional-Simplified of CLDR (Unicode License V3). Of these it keeps the frequent ones, which are
in the first level of Big5 and their simplified form in that of GB 2312.
"""

from __future__ import annotations

import subprocess
import sys

FORMS = "裏里爲为衆众啓启羣群峯峰綫线麪面牀床"
"""Other traditional forms of frequent letters that the above lack: Hong Kong writes 裏, not 裡."""
FIRST_LEVEL = (0xA4, 0xC7)
BEHIND_FIRST_LEVEL = 0xD8
ROW = 44


def letters_of_big5() -> list[str]:
    """The letters of the first level of Big5: what is frequent in Taiwan."""
    second = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
    rows = [bytes((first, at)) for first in range(*FIRST_LEVEL) for at in second]
    letters = dict.fromkeys(row.decode("big5", "ignore") for row in rows)
    return [one for one in letters if "\u4e00" <= one <= "\u9fff"]


def is_frequent_in_china(letter: str) -> bool:
    """Whether ``letter`` is of the first level of GB 2312."""
    row = letter.encode("gb2312", "ignore")
    return bool(row) and row[0] < BEHIND_FIRST_LEVEL


def main() -> None:
    """Print the pairs, and the simplified letters that traditional Chinese has, too."""
    letters = letters_of_big5()
    command = ["uconv", "-f", "utf-8", "-t", "utf-8", "-x", "Traditional-Simplified"]
    typed = "\n".join(letters).encode()
    done = subprocess.run(command, input=typed, capture_output=True, check=True)  # noqa: S603 - fixed
    simplified = done.stdout.decode().split("\n")
    pairs = [
        (one, other)
        for one, other in zip(letters, simplified, strict=True)
        if one != other and len(other) == 1 and is_frequent_in_china(other)
    ]
    pairs += zip(FORMS[::2], FORMS[1::2], strict=True)
    in_both = sorted({other for _, other in pairs}.intersection(letters))
    for name, text in (
        ("_OTHER_SCRIPT", "".join(one + other for one, other in pairs)),
        ("_IN_BOTH", "".join(in_both)),
    ):
        rows = [text[at : at + ROW] for at in range(0, len(text), ROW)]
        sys.stdout.write("\n".join([f"{name} = (", *[f'    "{row}"' for row in rows], ")\n"]))


if __name__ == "__main__":
    main()
