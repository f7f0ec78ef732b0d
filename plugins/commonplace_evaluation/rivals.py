"""What retrieval can be had without any memory: plain FTS5 and grep over whole documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace_evaluation.public import Text

_WORD = re.compile(r"\w+")


class Fts5:
    """SQLite's FTS5 with its default tokenizer: any of the words, ranked by its own BM25."""

    def __init__(self, documents: Sequence[Text]) -> None:
        import apsw

        self._db = apsw.Connection(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, body)")
        self._db.executemany(
            "INSERT INTO texts VALUES (?, ?)", [(text.id, text.text) for text in documents]
        )

    def ranked(self, question: str, most: int) -> list[str]:
        """The ids of the best ``most`` documents, best first."""
        words = dict.fromkeys(_WORD.findall(question))
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in words)
        found = self._db.execute(
            "SELECT id FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?", (query, most)
        )
        return [id_ for (id_,) in found]


class Grep:
    """``grep -ciw`` for each word: by distinct words found, then by lines, then in their order."""

    def __init__(self, documents: Sequence[Text]) -> None:
        self._lines = [
            (text.id, [frozenset(_WORD.findall(line.lower())) for line in text.text.split("\n")])
            for text in documents
        ]

    def ranked(self, question: str, most: int) -> list[str]:
        """The ids of the best ``most`` documents, best first; none without a word."""
        words = set(_WORD.findall(question.lower()))
        scored = []
        for at, (id_, lines) in enumerate(self._lines):
            found = [words & line for line in lines]
            distinct = len(frozenset().union(*found))
            if distinct:
                scored.append((-distinct, -sum(map(bool, found)), at, id_))
        return [id_ for *_, id_ in sorted(scored)[:most]]
