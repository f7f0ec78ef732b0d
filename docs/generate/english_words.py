"""Writes the lists of common stems of English, from a list of words and their frequencies.

    python docs/generate/english_words.py frequency_dictionary_en_82_765.txt > \
        core/commonplace/text/english.py
    python docs/generate/english_words.py frequency_dictionary_en_82_765.txt --rarer > \
        core/commonplace/text/english_rarer.py

The list that was used is of the package symspellpy 6.10 (MIT): Google Books Ngrams (CC BY 3.0), cut
to the words of SCOWL. A stem's level is how rare it is in a passage of 100 words, from 0 (in every
one) to 15: its BM25 weight in 20,000 such passages by the largest there is, in fifteenths.
"""

from __future__ import annotations

import sys
import textwrap
from collections import Counter, defaultdict
from math import log
from pathlib import Path

import Stemmer

STEMS = 3_000
RARER = 5_000
LEAST_LETTERS = 4
WORDS = 100
PASSAGES = 20_000
HIGHEST = 15

MODULE = '''"""How rare the most frequent 3,000 stems of English are.

Written by docs/generate/english_words.py from Google Books Ngrams (CC BY 3.0), as the package
symspellpy has them.
"""

from __future__ import annotations

LEVELS = {{
{levels}
}}

HIGHEST = {highest}
"""The level of a stem that would be in no passage; 0 is in every passage of 100 words."""

RAREST = {rarest}
"""The level of what is not listed."""
'''


MODULE_OF_RARER = '''"""The tokens of the English words that come behind the most frequent 3,000.

Written by docs/generate/english_words.py from Google Books Ngrams (CC BY 3.0), as the package
symspellpy has them.
"""

from __future__ import annotations

RARER = """
{tokens}
"""
'''


def main() -> None:
    """Read the list that is named, and print a module."""
    if "--rarer" in sys.argv:
        sys.stdout.write(rarer())
        return
    stem = Stemmer.Stemmer("english", 0).stemWord
    counts: Counter[str] = Counter()
    for line in Path(sys.argv[1]).read_text(encoding="utf-8-sig").splitlines():
        word, count = line.split()
        if word.isascii() and word.isalpha():
            counts[stem(word.lower())] += int(count)
    total = counts.total()
    levels: dict[int, list[str]] = defaultdict(list)
    for common, times in counts.most_common(STEMS):
        holders = PASSAGES * (1 - (1 - times / total) ** WORDS)
        levels[round(HIGHEST * _weight(holders) / _weight(0))].append(common)
    blocks = (
        f'    {level}: """\n{textwrap.fill(" ".join(sorted(levels[level])), 96)}\n""",'
        for level in sorted(levels)
    )
    rarest = max(levels) + 1
    sys.stdout.write(MODULE.format(levels="\n".join(blocks), highest=HIGHEST, rarest=rarest))


def rarer() -> str:
    """The module of the rarer tokens, which are those of the analyser."""
    from commonplace.text.languages import english_levels
    from commonplace.text.stems import latin_stem

    stem = Stemmer.Stemmer("english", 0).stemWord
    counts: Counter[str] = Counter()
    for line in Path(sys.argv[1]).read_text(encoding="utf-8-sig").splitlines():
        word, count = line.split()
        if word.isascii() and word.isalpha():
            counts[latin_stem(word.lower(), stem, foreign=False)] += int(count)
    known = english_levels()
    tokens = [one for one, _ in counts.most_common() if one not in known]
    long = [one for one in tokens if len(one) >= LEAST_LETTERS][:RARER]
    return MODULE_OF_RARER.format(tokens=textwrap.fill(" ".join(sorted(long)), 98))


def _weight(holders: float) -> float:
    return log(1 + (PASSAGES - holders + 0.5) / (holders + 0.5))


if __name__ == "__main__":
    main()
