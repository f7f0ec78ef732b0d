"""Finds notes and passages that say nearly the same, by the shingles that they share.

Two texts are near-duplicates if the Jaccard similarity of their sets of shingles (runs of three
words) is 0.8 or more. The pairs are exact: of each set only its rarest shingles are looked up, as
two sets cannot be that similar without sharing one of these (the prefix filter of Chaudhuri, Ganti
and Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", 2006).
"""

from __future__ import annotations

import re
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple, prose_lines, split_lines
from commonplace_audit.findings import AuditFinding, NoteEdit, argument, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace_audit.findings import AuditedNote

ALIKE = 0.8
_TOKENS = re.compile(r"[^\W_]+").findall
# Written without spaces: each character counts as a word.
_UNSPACED = re.compile("([\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
_BULLET = re.compile(r"\A\s*(?:>\s*)*[-*+]\s+")
_EMPHASIS = re.compile(r"(?<![\w*`])(\*{1,3}|`)(?=[^\s*`])([^*`\n]+)(?<=[^\s*`])\1(?![\w*`])")
_RUN = 3
_SLACK = 1e-9  # of products of floats
_FEWEST = 12  # words of a passage, and of a note, that can be a duplicate
_MOST_SHARING = 200  # passages that share a rare shingle: a form that is filled in, no copy


class Passage(NamedTuple):
    """A block of lines of a note (1-based, inclusive) between empty lines and headings."""

    note: AuditedNote
    first: int
    last: int
    text: str

    @property
    def citation(self) -> str:
        """``path#L3-L9``."""
        lines = f"#L{self.first}" + (f"-L{self.last}" if self.last > self.first else "")
        return self.note.path + lines


def duplicates(notes: Sequence[AuditedNote]) -> Iterator[AuditFinding]:
    """The pairs of notes that are nearly the same; then such passages of all others."""
    sets = Shingled([_prose(note.text) for note in notes])
    same: set[tuple[str, str]] = set()
    copies: set[str] = set()
    for one, other, share in similar_pairs(sets):
        older, newer = sorted((notes[one], notes[other]), key=_age)
        same.add((older.path, newer.path))
        if folded(newer.text) == folded(older.text):
            if newer.path not in copies:  # of three that are equal, none is deleted twice
                copies.add(newer.path)
                yield AuditFinding(
                    "duplicate",
                    "warning",
                    newer.path,
                    f"the whole note says the same as {older.path}",
                    f"delete {newer.path}: it says nothing of its own",
                    (older.path,),
                    _deletion_of(newer),
                )
            continue
        yield AuditFinding(
            "duplicate",
            "warning",
            newer.path,
            f"the whole note is {_percent(share)} the same as {older.path}",
            "keep what they differ in, and delete one of them",
            (older.path,),
        )
    blocks = [passage for note in notes for passage in passages(note)]
    sets = Shingled([block.text for block in blocks])
    reported: set[str] = set()
    for one, other, share in sorted(similar_pairs(sets), key=lambda pair: (-pair[2], pair)):
        old, new = sorted((blocks[one], blocks[other]), key=lambda of: (*_age(of.note), of.first))
        if (old.note.path, new.note.path) in same or _numbers(old.text) != _numbers(new.text):
            continue  # reported above; or the same form with other values, which is no copy
        if new.citation in reported:
            continue
        reported.add(new.citation)
        equal = folded(old.text) == folded(new.text)
        yield AuditFinding(
            "duplicate",
            "warning" if equal else "info",
            new.citation,
            f"{quoted(new.text)} stands {'also' if equal else f'{_percent(share)} the same'} "
            f"in {old.citation}",
            f"commonplace forget {argument(new.citation)}" if equal else "keep the better wording",
            (old.citation,),
            NoteEdit(new.note.path, new.first, new.last) if equal else None,
        )


def passages(note: AuditedNote) -> Iterator[Passage]:
    """The blocks of a note that have words enough; an item of a list is a block."""
    block: list[tuple[int, str]] = []
    for number, line in [*prose_lines(note.text), (0, "")]:
        words = line.strip()
        gap = bool(block) and number != block[-1][0] + 1
        starts = words.startswith(("#", "- ", "* ", "+ ")) or words[:1].isdigit()
        if block and (not words or gap or starts):
            text = "\n".join(of for _, of in block)
            lead = text.lstrip().startswith(("#", "|", "~~")) or text.rstrip().endswith((":", "："))
            if not lead and _size(text) >= _FEWEST:
                yield Passage(note, block[0][0], block[-1][0], text)
            block = []
        if words:
            block.append((number, line))


def tokens(text: str) -> list[str]:
    """The words of ``text`` as they are compared; of unspaced scripts the characters."""
    return _TOKENS(_UNSPACED.sub(r" \1 ", text.casefold()))


def folded(text: str) -> str:
    """``text`` without what changes nothing: case, white space, and Markdown of lists and emphasis.

    Signs count: C++ is not C, and -5 is not 5.
    """
    lines = (_BULLET.sub("", line) for line in text.split("\n"))
    return " ".join(_EMPHASIS.sub(r"\2", " ".join(lines)).casefold().split())


def shingles(text: str) -> frozenset[str]:
    """The runs of three words of ``text``; none if it has fewer than twelve words."""
    words = tokens(text)
    if len(words) < _FEWEST:
        return frozenset()
    return frozenset(" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


class Shingled:
    """The :func:`shingles` of texts, computed at each pass, as all of them take much memory."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __iter__(self) -> Iterator[frozenset[str]]:
        return map(shingles, self._texts)


def similar_pairs(
    sets: Iterable[frozenset[str]], alike: float = ALIKE
) -> Iterator[tuple[int, int, float]]:
    """The pairs of ``sets``, by index, with a Jaccard similarity of ``alike`` (above 0) or more.

    ``sets`` is passed over twice. Exact but for sets whose rarest elements more than 200 others
    share: of these every set is compared with the 200 before it.
    """
    counts = Counter(one for of in sets for one in of)
    repeated = {one: times for one, times in counts.items() if times > 1}
    del counts
    sizes, shared = [], []
    for of in sets:
        sizes.append(len(of))
        shared.append(frozenset(one for one in of if one in repeated))
    holding: dict[str, list[int]] = {}
    # By size: what is looked up is then never smaller than what was indexed.
    for at in sorted(range(len(sizes)), key=lambda at: (sizes[at], at)):
        mine, size = shared[at], sizes[at]
        # Of the rarest elements, those that no other set has are not looked up.
        rarest = size - ceil(alike * size - _SLACK) + 1 - (size - len(mine))
        if not mine or rarest <= 0:
            continue
        prefix = sorted(mine, key=lambda one: (repeated[one], one))[:rarest]
        for other in dict.fromkeys(other for one in prefix for other in holding.get(one, ())):
            if sizes[other] >= alike * size - _SLACK:
                both = len(mine & shared[other])
                share = both / (size + sizes[other] - both)
                if share >= alike:
                    yield min(at, other), max(at, other), share
        for one in prefix:
            those = holding.setdefault(one, [])
            those.append(at)
            del those[:-_MOST_SHARING]


def _size(text: str) -> float:
    """The number of words; two characters of unspaced scripts count as one."""
    return len(tokens(text)) - len(_UNSPACED.findall(text)) / 2


def _prose(text: str) -> str:
    return "\n".join(line for _, line in prose_lines(text))


def _percent(share: float) -> str:
    """``share`` of texts that differ, if only in a sign: never all of it."""
    return f"{min(share, 0.99):.0%}"


def _numbers(text: str) -> list[str]:
    return [word for word in tokens(text) if word.isdigit()]


def _age(note: AuditedNote) -> tuple[bool, str, int, str]:
    """What is kept comes first: a note without a day, then the older day, then the shorter path.

    A copy has its original's name with more to it, or lies deeper. File times would not say: a
    checkout or a sync gives all files new ones.
    """
    return bool(note.day), note.day, len(note.path), note.path


def _deletion_of(note: AuditedNote) -> NoteEdit:
    return NoteEdit(note.path, 1, len(split_lines(note.text)), deletes_note=True)
