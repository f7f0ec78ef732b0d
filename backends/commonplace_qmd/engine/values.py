"""The values that go in and out of the engine."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import DeadlineExceededError, NamedTuple, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "Line",
    "LineKind",
    "Mode",
    "ModelKind",
    "QmdError",
    "QmdHome",
    "QmdStatus",
    "QmdTimeoutError",
    "Reason",
    "RefusedError",
    "Row",
    "UnknownCollectionError",
    "UpdateCounts",
    "parse_uri",
    "read_output",
    "read_results",
]


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


Reason = Literal[
    "bad_json",
    "closed",
    "crash",
    "locked",
    "no_models",
    "no_vectors",
    "not_installed",
    "output_cap",
    "timeout",
    "unknown_collection",
    "wrong_runtime",
    "wrong_version",
]
"""``locked``: another process writes QMD's index; ``no_models``: a model would have to be
downloaded; ``no_vectors``: nothing is embedded yet; ``wrong_runtime``: its Node is too old."""


class QmdError(UnavailableError):
    """QMD did not do what it was asked to.

    ``output`` are the last words it wrote to its standard error, on several lines, or empty. What
    looks like a key is shown nowhere: QMD may quote what it was given.
    """

    def __init__(self, message: str, *, reason: Reason, output: str = "", hint: str = "") -> None:
        from commonplace.plugin import redacted

        super().__init__(redacted(f"qmd: {message}"), hint=hint)
        self.reason: Reason = reason
        self.output = redacted(output)


class QmdTimeoutError(QmdError, DeadlineExceededError):
    """QMD took longer than it was given, and was ended."""

    def __init__(self, message: str, *, output: str = "", hint: str = "") -> None:
        super().__init__(message, reason="timeout", output=output, hint=hint)


class RefusedError(QmdError):
    """The resident server is well, and will not do what it was asked to."""

    def __init__(self, message: str) -> None:
        super().__init__(f"refused: {message}", reason="crash")


class UnknownCollectionError(QmdError):
    """QMD does not have these ``collections``: put them into its configuration, and ask again."""

    def __init__(self, collections: Sequence[str]) -> None:
        super().__init__(
            f"collection not found: {', '.join(collections)}", reason="unknown_collection"
        )
        self.collections = tuple(collections)


_SCHEME = "qmd://"
_HALF = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"\?index=[^/?#.]+\Z")


def parse_uri(text: str) -> tuple[str, str]:
    """The collection of ``text``, and the path relative to its root, as it is on disk.

    The command line writes ``qmd://notes/a b.md``, with ``?index=name`` behind it for an index that
    has a name, and MCP ``notes/a b.md``; neither encodes anything. Raises ``ValueError`` for what
    names no file.
    """
    rest = text
    if text.startswith(_SCHEME):
        rest = _INDEX.sub("", text[len(_SCHEME) :])
    collection, _, path = rest.partition("/")
    if not collection or not path or "\0" in rest or _HALF.search(rest):
        raise ValueError(f"names no file: {text[:200]!r}")
    return collection, path


_HEADER = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@ \(\d{1,9} before, \d{1,9} after\)(?:\n|\Z)")
_NOTHING = re.compile(
    r"^\s*(?:(?:warn(?:ing)?|info|qmd)\s*:\s*)*no results(?: found)?\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ARRAY = re.compile(r"^[ \t]*\[", re.MULTILINE)
_EXCERPT = 160


def read_output(output: str, words: str) -> list[Row]:
    """The rows on the standard output of a command that succeeded.

    ``words`` is what it wrote to standard error. Raises
    :class:`~commonplace_qmd.engine.values.QmdError` for whatever is no list of rows.
    """
    found = list(_arrays(output))
    if found:
        # An empty list may be of somebody else's; one of rows is ours.
        return read_results(next(filter(None, found), []))
    # Older forms of "nothing found". Any other silence is a failure that was not reported.
    if _NOTHING.search(output) or (not output.strip() and _NOTHING.search(words)):
        return []
    raise _bad(f"no list of results but {_shown(output)}", words)


def read_results(value: object, *, numbered: bool = False) -> list[Row]:
    """The rows of a list of results; ``numbered`` if their snippets are, as those of MCP."""
    if not isinstance(value, list):
        raise _bad(f"no list of results but {_shown(value)}")
    return [_row(item, numbered=numbered) for item in value]


def _arrays(output: str) -> Iterator[list[Any]]:
    """The lists of objects in ``output``, in which libraries print what they like."""
    decoder = json.JSONDecoder()
    end = 0
    for match in _ARRAY.finditer(output):
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(output, match.end() - 1)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            yield value


def _row(item: object, *, numbered: bool) -> Row:
    if not isinstance(item, dict):
        raise _bad(f"a result that is no object: {_shown(item)}")
    file, score = item.get("file"), item.get("score")
    if not isinstance(file, str):
        raise _bad(f"a result without a file: {_shown(item)}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not _is_finite(score):
        raise _bad(f"a result without a score: {_shown(item)}")
    try:
        collection, path = parse_uri(file)
    except ValueError as error:
        raise _bad(f"a result that {error}") from None
    line = _line(item.get("line"))
    snippet = _snippet(item.get("snippet"))
    if numbered and line is not None:
        snippet = _unnumbered(snippet, line)
    start = lines = None
    if header := _HEADER.match(snippet):
        start, lines = int(header[1]), int(header[2])
        snippet = snippet[header.end() :]
    return Row(
        collection=collection,
        path=path,
        score=float(score),
        line=line,
        start=start,
        lines=lines,
        title=_snippet(item.get("title")),
        docid=_snippet(item.get("docid")),
        snippet=snippet,
    )


def _is_finite(score: float) -> bool:
    try:
        return isfinite(score)
    except OverflowError:
        return False


def _line(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        return None
    return value


def _snippet(value: object) -> str:
    if not isinstance(value, str):
        return ""
    # JavaScript cuts between the halves of a character, and writes the half.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unnumbered(snippet: str, first: int) -> str:
    """``snippet`` without the numbers: they start at the best line, yet count the header too."""
    lines = snippet.split("\n")
    prefixes = [f"{first + place}: " for place in range(len(lines))]
    if not all(line.startswith(prefix) for line, prefix in zip(lines, prefixes, strict=True)):
        return snippet
    pairs = zip(lines, prefixes, strict=True)
    return "\n".join(line[len(prefix) :] for line, prefix in pairs)


def _shown(value: object) -> str:
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return repr(text[:_EXCERPT]) if text else "nothing"


def _bad(message: str, words: str = "") -> QmdError:
    return QmdError(f"answered {message}", reason="bad_json", output=words)
