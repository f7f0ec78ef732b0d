"""Laws about what a manager answers: arms, scores, chunks, operators, filters."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import combinations, pairwise, product
from math import isfinite
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import strategies as st

from commonplace.errors import CallerError, DeclinedError
from commonplace.files.roots import day_of
from commonplace.model.search import ArmKind, Where
from commonplace.testing.base import make_put
from commonplace.testing.laws import law
from commonplace.testing.manager_laws import (
    ANSWER_LIMIT,
    ManagerLaws,
    ask,
    found,
    maintain,
    paths,
    said,
)
from commonplace.testing.strategies import HOSTILE_TOKENS, passes

if TYPE_CHECKING:
    from commonplace.model.search import Arm
    from commonplace.protocols.managers import MemoryManager


_TEXTS = (
    "the zebra",
    "zebra zebra zebra and more of the zebra",
    "okapi\n\n# Heading\n\nzebra\n\n## Deeper\n\nand okapi\n",
    "\n".join(f"line {number} of the zebra and of {'words ' * 30}" for number in range(60)),
)


class AnswerLaws(ManagerLaws):
    """Kinds, scores, order, limit, and what each chunk says of itself."""

    def _answerable(self, manager: MemoryManager) -> dict[str, str]:
        notes = {f"memory/2026-01-0{day}.md": text for day, text in enumerate(_TEXTS, 1)}
        notes["MEMORY.md"] = "a zebra without a date"
        for name, text in notes.items():
            self.notes.write(name, text)
        maintain(manager)
        return notes

    @law()
    def test_each_arm_says_what_it_is(self, manager: MemoryManager) -> None:
        """Arms have names of their own, and a kind that there is."""
        self._answerable(manager)
        arms = ask(manager, "zebra")
        assert arms, "no arm at all is no answer"
        assert max(Counter(arm.name for arm in arms).values()) == 1
        assert all(arm.name and arm.kind in get_args(ArmKind) for arm in arms)

    @law()
    def test_scores_are_of_their_kind_and_best_first(self, manager: MemoryManager) -> None:
        """Finite, best first but for ``rank``; ``bm25`` at least 0, ``cosine`` within -1 and 1."""
        self._answerable(manager)
        for arm in ask(manager, "zebra okapi"):
            scores = [item.score for item in arm.found]
            assert all(map(isfinite, scores))
            if arm.kind == "bm25":
                assert all(score >= 0 for score in scores)
            if arm.kind == "cosine":
                assert all(-1.001 <= score <= 1.001 for score in scores)
            if arm.kind != "rank":
                assert scores == sorted(scores, reverse=True)

    @law()
    def test_a_limit_only_cuts_off(self, manager: MemoryManager) -> None:
        """With a smaller limit an arm is the beginning of what it was, if it is exact."""
        self._answerable(manager)
        every = {arm.name: arm for arm in ask(manager, "zebra")}
        assert any(len(arm.found) > 1 for arm in every.values())
        for limit in (1, 2, 3):
            for arm in ask(manager, "zebra", limit=limit):
                whole = every[arm.name]
                assert len(arm.found) == min(limit, len(whole.found))
                if arm.exact and whole.exact:
                    assert _ids(arm) == _ids(whole)[:limit]

    @law()
    def test_no_chunk_comes_twice(self, manager: MemoryManager) -> None:
        """An arm names a chunk once, and an id is one chunk in all arms."""
        self._answerable(manager)
        arms = ask(manager, "zebra okapi heading")
        for arm in arms:
            assert len(set(_ids(arm))) == len(arm.found)
            places = [
                (item.chunk.path, item.chunk.start_line, item.chunk.text) for item in arm.found
            ]
            assert len(set(places)) == len(places)
        chunks = {item.chunk.id: item.chunk for item in found(arms)}
        assert all(chunks[item.chunk.id] == item.chunk for item in found(arms))

    @law()
    def test_a_chunk_knows_its_note(self, manager: MemoryManager) -> None:
        """Source, path, trust and day are those of the note, and the text is of it."""
        notes = self._answerable(manager)
        for item in found(ask(manager, "zebra")):
            chunk = item.chunk
            assert chunk.source == "memory"
            assert chunk.trust == "memory"
            assert "".join(chunk.text.split()) in "".join(notes[chunk.path].split())
            assert chunk.text.strip()
            if "dates" in self.capabilities:
                dated = chunk.path != "MEMORY.md"
                assert chunk.day == (chunk.path[7:17] if dated else None)

    @law()
    def test_each_source_keeps_its_own_trust(self, manager: MemoryManager) -> None:
        """Of two sources each hit has its own source's name, trust and text.

        So has a path that both have. An engine that knows notes alone finds nothing of the other.
        """
        notes = {"memory/a.md": "the zebra", "memory/same.md": "a zebra of mine"}
        for name, text in notes.items():
            self.notes.write(name, text)
        self.letters.texts |= {"letters/b.md": "a zebra by post", "memory/same.md": "no zebra?"}
        maintain(manager)
        texts = {("memory", path): text for path, text in notes.items()}
        texts |= {("letters", path): text for path, text in self.letters.texts.items()}
        seen = set()
        for item in found(ask(manager, "zebra")):
            key = item.chunk.source, item.chunk.path
            seen.add(key)
            assert item.chunk.trust == ("memory" if key[0] == "memory" else "external")
            assert item.chunk.text.strip() in texts[key]
        mine = {key for key in texts if key[0] == "memory"}
        assert seen in (set(texts), mine)
        for source in {source for source, _ in seen}:
            others = Where(not_sources=frozenset({"memory", "letters"} - {source}))
            for where in (Where(sources=frozenset({source})), others):
                arms = ask(manager, "zebra", where=where)
                assert {item.chunk.source for item in found(arms)} == {source}

    @law("lines")
    def test_lines_are_those_of_the_file(self, manager: MemoryManager) -> None:
        """A chunk's text is a piece of the lines that it says it stands on, and no line more."""
        notes = self._answerable(manager)
        for item in found(ask(manager, "zebra okapi")):
            chunk = item.chunk
            lines = notes[chunk.path].split("\n")
            assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
            whole = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
            assert chunk.text.strip("\n") in whole
            assert len(chunk.text.strip("\n").split("\n")) >= len(whole.strip("\n").split("\n"))

    @law()
    def test_the_same_question_gets_the_same_answer(self, manager: MemoryManager) -> None:
        """Asked again, also after a ``maintain`` that found nothing to do."""
        self._answerable(manager)
        first = said(ask(manager, "zebra okapi"))
        assert said(ask(manager, "zebra okapi")) == first
        maintain(manager)
        assert said(ask(manager, "zebra okapi")) == first

    @law()
    def test_what_is_not_there_is_not_found(self, manager: MemoryManager) -> None:
        """An unknown word, or no notes at all, gives keyword arms without hits, and no error."""
        maintain(manager)
        assert paths(ask(manager, "zebra")) == set()
        notes = self._answerable(manager)
        for arm in ask(manager, "walrus"):
            assert arm.found == () or arm.kind != "bm25"
            assert paths([arm]) <= set(notes)

    @law(text=st.text(max_size=40) | st.sampled_from(HOSTILE_TOKENS))
    def test_any_query_is_answered_or_refused(self, manager: MemoryManager, text: str) -> None:
        """Any text is answered by arms or refused as the query's fault; the next is answered."""
        self._survives(manager, text)

    @law()
    def test_a_long_query_is_answered_or_refused(self, manager: MemoryManager) -> None:
        """As above for thousands of words, and for nothing but signs."""
        self._survives(manager, "zebra " * 2_000, "".join(HOSTILE_TOKENS), '"' * 99, "-" * 99, "* ")

    @law()
    def test_undeclared_scripts_are_declined(self, manager: MemoryManager) -> None:
        """Words inside running Chinese or Thai are found, or the query raises ``DeclinedError``."""
        self.notes.write("memory/cjk.md", "昨天我们在动物园里看到了斑马和长颈鹿")
        self.notes.write("memory/thai.md", "เมื่อวานเราเห็นม้าลายที่สวนสัตว์")
        maintain(manager)
        for capability, word, path in (
            ("cjk", "斑马", "memory/cjk.md"),
            ("thai", "ม้าลาย", "memory/thai.md"),
        ):
            if capability in self.capabilities:
                assert path in paths(ask(manager, word))
            else:
                with pytest.raises(DeclinedError):
                    ask(manager, word)

    def _survives(self, manager: MemoryManager, *texts: str) -> None:
        self.index(manager, "a")
        for text in texts:
            with suppress(DeclinedError, CallerError):
                arms = ask(manager, text)
                assert paths(arms) <= {"memory/a.md"}
                assert all(len(arm.found) <= ANSWER_LIMIT for arm in arms)
        assert paths(ask(manager, "zebra")) == {"memory/a.md"}


def _keys(arms: tuple[Arm, ...]) -> set[tuple[str, str]]:
    return {(item.chunk.source, item.chunk.path) for item in found(arms)}


def _ids(arm: Arm) -> list[int | str]:
    return [item.chunk.id for item in arm.found]


_DAYS = (None, "2025-12-31", "2026-01-30", "2026-01-31", "2026-02-01")
_NOTES: dict[str, str | None] = {
    "MEMORY.md": None,
    "memory/a.md": None,
    "memory/deep/er/a.md": None,
    "memory/2026-01-30.md": "2026-01-30",
    "memory/2026-01-31.md": "2026-01-31",
    "memory/deep/2026-02-01-trip.md": "2026-02-01",
}
_GLOBS = (*_NOTES, "memory", "memory/*", "memory/**", "*.md", "**/a.md", "memory/*/a.md", "no")

_ZOO: tuple[str, ...] = ("zoo",)
_TOGETHER = Where(
    sources=frozenset({"memory"}),
    paths=("memory/*.md",),
    after="2026-01-01",
    before="2026-01-31",
    not_paths=("memory/*-old.md",),
    not_sources=frozenset({"letters"}),
    tags=_ZOO,
    not_tags=("done",),
)
_NEEDS = {"after": "dates", "before": "dates", "paths": "paths", "not_paths": "paths"}
_NEEDS |= {"tags": "tags", "not_tags": "tags"}
_TAGGED = {
    **dict.fromkeys(("2026-01-15", "deep/2026-01-15", "2026-01-15-old", "undated"), _ZOO),
    **dict.fromkeys(("2025-12-31", "2026-02-01"), _ZOO),
    "2026-01-17": (),
    "2026-01-18": ("zoo", "done"),
}
"""Tags by name: one passes all filters together; for each other filter one fails that alone."""


class FilterLaws(ManagerLaws):
    """``Where``, and the operators of a query."""

    def _spread(self, manager: MemoryManager) -> None:
        for name in _NOTES:
            self.notes.write(name, "the zebra is here")
        maintain(manager)

    @law("paths")
    def test_paths_restrict(self, manager: MemoryManager) -> None:
        """Found is what one of the globs matches and none of the unwanted, however many."""
        self._spread(manager)
        none = tuple(f"no/{number}/*.md" for number in range(120))
        several = (_GLOBS[:4], ("no", "*.txt", "**/er/*", "MEMORY.md"), (*none, "memory/a.md"))
        for globs in (*((glob,) for glob in _GLOBS), *pairwise(_GLOBS), *several):
            self._agrees(manager, Where(paths=globs))
        for globs in several:
            self._agrees(manager, Where(not_paths=globs))
        self._agrees(manager, Where(paths=("memory", "x"), not_paths=("memory/deep", "**/a.md")))

    @law("dates")
    def test_dates_restrict(self, manager: MemoryManager) -> None:
        """Found is what lies between the dates, both included; undated notes pass no date."""
        self._spread(manager)
        for after, before in product(_DAYS, repeat=2):
            self._agrees(manager, Where(after=after, before=before))

    @law("tags")
    def test_tags_restrict(self, manager: MemoryManager) -> None:
        """Found is what has all tags, in its text or its front matter; some lie below others."""
        self.notes.write("memory/a.md", "the zebra of the #zoo")
        self.notes.write("memory/b.md", "---\ntags: [zoo/africa, work]\n---\nthe zebra")
        self.notes.write("memory/c.md", "the zebra is in no zoo")
        maintain(manager)
        for tags, names in {
            ("zoo",): {"memory/a.md", "memory/b.md"},
            ("zoo/africa",): {"memory/b.md"},
            ("zoo", "work"): {"memory/b.md"},
            ("zo",): set(),
        }.items():
            assert paths(ask(manager, "zebra", where=Where(tags=tags))) == names
        for tags, names in {
            ("zoo",): {"memory/c.md"},
            ("zoo/africa",): {"memory/a.md", "memory/c.md"},
        }.items():
            assert paths(ask(manager, "zebra", where=Where(not_tags=tags))) == names

    @law("dates")
    def test_front_matter_tells_the_day_where_the_name_does_not(
        self, manager: MemoryManager
    ) -> None:
        """The name of a note comes first."""
        self.notes.write("memory/a.md", "---\ndate: 2026-01-31\n---\nthe zebra")
        self.notes.write("memory/2026-02-01.md", "---\ndate: 2026-01-31\n---\nthe zebra")
        maintain(manager)
        for day, name in (("2026-01-31", "memory/a.md"), ("2026-02-01", "memory/2026-02-01.md")):
            assert paths(ask(manager, "zebra", where=Where(after=day, before=day))) == {name}

    @law()
    def test_sources_restrict(self, manager: MemoryManager) -> None:
        """Where other sources are asked for, nothing of this one is found."""
        self._spread(manager)
        assert paths(ask(manager, "zebra", where=Where(frozenset({"memory"})))) == set(_NOTES)
        assert paths(ask(manager, "zebra", where=Where(frozenset({"memory", "x"})))) == set(_NOTES)
        assert paths(ask(manager, "zebra", where=Where(frozenset({"elsewhere"})))) == set()
        assert paths(ask(manager, "zebra", where=Where(frozenset()))) == set()

    @law("paths")
    def test_a_filter_looks_past_better_matches(self, manager: MemoryManager) -> None:
        """Filters come before ranking: the one note that passes is found behind many better."""
        for number in range(30):
            self.notes.write(f"memory/many/{number}.md", "zebra zebra zebra")
        self.notes.write("memory/one.md", f"one zebra among {'other words ' * 40}")
        maintain(manager)
        for arm in ask(manager, "zebra", where=Where(paths=("memory/one.md",)), limit=1):
            assert paths([arm]) == {"memory/one.md"}

    @law()
    def test_undeclared_filters_are_declined(self, manager: MemoryManager) -> None:
        """Who cannot filter by path, date or tag raises ``DeclinedError`` where it is asked for."""
        self._spread(manager)
        for capability, where in (
            ("paths", Where(paths=("memory/a.md",))),
            ("dates", Where(after="2026-01-30")),
            ("tags", Where(tags=("zoo",))),
        ):
            if capability not in self.capabilities:
                with pytest.raises(DeclinedError):
                    ask(manager, "zebra", where=where)

    @law("phrases")
    def test_phrases_stand_side_by_side(self, manager: MemoryManager) -> None:
        """Found by ``"zebra okapi"`` is only what has these words next to each other, in order."""
        self.notes.write("memory/phrase.md", "a zebra okapi and more")
        self.notes.write("memory/turned.md", "an okapi zebra and more")
        self.notes.write("memory/apart.md", "a zebra and an okapi")
        maintain(manager)
        assert paths(ask(manager, '"zebra okapi"')) == {"memory/phrase.md"}
        assert paths(ask(manager, '"okapi walrus"')) == set()

    @law("exclusions")
    def test_excluded_words_are_not_there(self, manager: MemoryManager) -> None:
        """Found by ``zebra -okapi`` is nothing that has the word ``okapi``."""
        self.notes.write("memory/both.md", "a zebra and an okapi")
        self.notes.write("memory/one.md", "a zebra alone")
        maintain(manager)
        assert paths(ask(manager, "zebra -okapi")) == {"memory/one.md"}

    @law()
    def test_undeclared_operators_are_declined(self, manager: MemoryManager) -> None:
        """Who knows no phrases or no exclusions raises ``DeclinedError`` where they are asked."""
        self.notes.write("memory/both.md", "a zebra and an okapi")
        maintain(manager)
        for capability, text in (("phrases", '"zebra okapi"'), ("exclusions", "zebra -okapi")):
            if capability not in self.capabilities:
                with pytest.raises(DeclinedError):
                    ask(manager, text)

    @law()
    def test_filters_that_are_set_together_must_all_be_passed(self, manager: MemoryManager) -> None:
        """Of any two that it can do, and of all of them, none is ignored for another."""
        notes = {f"memory/{name}.md": tags for name, tags in _TAGGED.items()}
        days = {path: str(day_of(path) or "") or None for path in notes}
        puts = [make_put(path, day=days[path], tags=tags) for path, tags in notes.items()]
        puts.append(make_put("memory/2026-01-19.md", source="letters", day="2026-01-19", tags=_ZOO))
        for put in puts:
            text = " ".join(("the zebra", *(f"#{tag}" for tag in put.tags)))
            if put.source == "memory":
                self.notes.write(put.path, text)
            else:  # an engine that knows notes alone finds nothing of it
                self.letters.texts[put.path] = text
        maintain(manager)
        known = _keys(ask(manager, "zebra"))
        assert {("memory", path) for path in notes} <= known
        can = [name for name in Where._fields if _NEEDS.get(name, "") in {"", *self.capabilities}]
        sizes = (len(can), 2 if self.scale() >= 1 else len(can) - 1)
        sets = [names for size in sizes for names in combinations(can, size)]
        together = [Where(**{name: getattr(_TOGETHER, name) for name in names}) for names in sets]
        both = frozenset({"memory", "letters"})  # that one is wanted alone, or the other unwanted
        together += [Where(both, not_sources=_TOGETHER.not_sources)]
        together += [Where(_TOGETHER.sources, not_sources=frozenset({"elsewhere"}))]
        for where in together:
            expected = {(put.source, put.path) for put in puts if passes(put, where)}
            assert _keys(ask(manager, "zebra", where=where)) == expected & known, where

    def _agrees(self, manager: MemoryManager, where: Where) -> None:
        expected = {path for path, day in _NOTES.items() if passes(make_put(path, day=day), where)}
        assert paths(ask(manager, "zebra", where=where)) == expected, where
