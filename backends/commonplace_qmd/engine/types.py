"""The values that go in and out of the engine."""

from __future__ import annotations

from typing import Literal

from commonplace.plugin import NamedTuple

__all__ = ["Line", "LineKind", "Mode", "ModelKind", "QmdHome", "QmdStatus", "Row", "UpdateCounts"]

Mode = Literal["search", "vsearch", "query"]
"""Keywords (BM25), vectors, or both with what models there are."""

LineKind = Literal["lex", "vec", "hyde"]

ModelKind = Literal["embed", "rerank", "generate"]
"""What a model of QMD's is for: vectors, the last order of the best rows, and other wordings."""


class Line(NamedTuple):
    """One line of a typed query: ``lex`` words, a ``vec`` question or a ``hyde`` made-up answer."""

    kind: LineKind
    text: str


class QmdHome(NamedTuple):
    """Where one agent's QMD lives; absolute paths, all of them ours.

    ``config_dir`` holds ``index.yml``, ``index_path`` is the SQLite file, ``cache_home`` becomes
    ``XDG_CACHE_HOME`` (its ``qmd/models`` holds the models), and ``cwd`` is the folder that QMD
    runs in: neither it nor any folder above it may have a ``.qmd``, which would take over.
    """

    config_dir: str
    index_path: str
    cache_home: str
    cwd: str

    @property
    def models_dir(self) -> str:
        """Where QMD keeps its models: a folder, or a link to one that homes share."""
        return f"{self.cache_home}/qmd/models"


class Row(NamedTuple):
    """One result, best first, whichever way QMD was asked.

    ``path`` is relative to the root of ``collection``, verbatim. ``score`` is what QMD said, two
    decimals: it orders the rows of one answer and compares with no other answer, as its meaning
    changes with the way QMD was asked (1/rank, or a squashed BM25 that may well be 0). ``line`` is
    where QMD believes the best line to be, 1-based; it is 1 where it does not know. The snippet,
    without its header, was cut at 300 characters; it holds the ``lines`` lines from ``start``.
    ``docid`` is not unique: files of the same text share it.
    """

    collection: str
    path: str
    score: float
    line: int | None
    start: int | None
    lines: int | None
    title: str
    docid: str
    snippet: str


class QmdStatus(NamedTuple):
    """``pending`` are texts without vectors."""

    version: str
    documents: int
    vectors: int
    pending: int


class UpdateCounts(NamedTuple):
    """What an update did, in documents, over all collections.

    ``pending`` are texts that have no vectors yet.
    """

    added: int
    changed: int
    unchanged: int
    removed: int
    pending: int
