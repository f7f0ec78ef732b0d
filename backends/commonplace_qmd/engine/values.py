"""The values and errors that the engine returns, and the reading of QMD's results."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import DeadlineExceededError, NamedTuple, UnavailableError, redacted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_SHOWN = 160
_NO_SCORE = 1e300
_SCHEME = "qmd://"
_SURROGATE = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"\?index=[^/?#.]+\Z")
_NOTHING = re.compile(
    r"^\s*(?:(?:warn(?:ing)?|info|qmd)\s*:\s*)*no results(?: found)?\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ARRAY = re.compile(r"^[ \t]*\[", re.MULTILINE)

Mode = Literal["search", "vsearch", "query"]
"""Keywords (BM25), vectors, or both with what models there are."""

ModelKind = Literal["embed", "rerank", "generate"]
"""A model embeds texts, re-ranks the best rows, or expands queries."""


class Line(NamedTuple):
    """A line of a typed query: ``lex`` words, a ``vec`` question or a ``hyde`` invented answer."""

    kind: Literal["lex", "vec", "hyde"]
    text: str


class QmdHome(NamedTuple):
    """The absolute paths of one agent's QMD.

    ``config_dir`` holds ``index.yml``, ``index_path`` is the SQLite file, ``cache_home`` becomes
    ``XDG_CACHE_HOME`` (its ``qmd/models`` holds the models), and ``cwd`` is the working directory:
    a ``.qmd`` in it, or in a folder above it, would replace this configuration.
    """

    config_dir: str
    index_path: str
    cache_home: str
    cwd: str

    @property
    def models_dir(self) -> str:
        """The folder of QMD's models, or a link to one that homes share."""
        return f"{self.cache_home}/qmd/models"

    @property
    def variables(self) -> dict[str, str]:
        """The environment by which ``qmd`` finds these paths, and prints without colours."""
        return {
            "QMD_CONFIG_DIR": self.config_dir,
            "XDG_CACHE_HOME": self.cache_home,
            "INDEX_PATH": self.index_path,
            "NO_COLOR": "1",
        }


class Row(NamedTuple):
    """One result of a search; rows come best first.

    ``path`` is relative to the root of ``collection``, verbatim. ``score``, as QMD rounds it,
    compares only with those of the same answer. ``line`` is QMD's guess at the best line, 1-based;
    it is 1 where QMD has no guess, ``None`` where it gives no line.
    """

    collection: str
    path: str
    score: float
    line: int | None


class QmdStatus(NamedTuple):
    """What ``qmd status`` reports; ``pending`` counts texts without vectors."""

    version: str
    documents: int
    vectors: int
    pending: int


class UpdateCounts(NamedTuple):
    """Documents of all collections, by what an update did; ``pending`` as in :class:`QmdStatus`."""

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
    """A call of QMD failed.

    ``output`` is the end of its standard error, or empty. What looks like a key is redacted, as
    QMD may quote its environment.
    """

    def __init__(self, message: str, *, reason: Reason, output: str = "", hint: str = "") -> None:
        super().__init__(redacted(f"qmd: {message}"), hint=hint)
        self.reason: Reason = reason
        self.output = redacted(output)


class QmdTimeoutError(QmdError, DeadlineExceededError):
    """QMD exceeded its time limit, and was ended."""

    def __init__(self, message: str, *, output: str = "", hint: str = "") -> None:
        super().__init__(message, reason="timeout", output=output, hint=hint)


class RefusedError(QmdError):
    """The resident server works, and refused this request."""

    def __init__(self, message: str) -> None:
        super().__init__(f"refused: {message}", reason="crash")


class UnknownCollectionError(QmdError):
    """QMD's configuration lacks these ``collections``."""

    def __init__(self, collections: Sequence[str]) -> None:
        super().__init__(
            f"collection not found: {', '.join(collections)}", reason="unknown_collection"
        )
        self.collections = tuple(collections)


def read_output(stdout: str, stderr: str) -> list[Row]:
    """The rows that a successful command printed; raises :class:`QmdError` for anything else."""
    found = list(_arrays(stdout))
    if found:
        # An empty list may come from a library; one of rows is QMD's.
        return read_results(next(filter(None, found), []))
    # Older forms of "nothing found". Any other silence is a failure that was not reported.
    if _NOTHING.search(stdout) or (not stdout.strip() and _NOTHING.search(stderr)):
        return []
    raise _bad(f"no list of results but {_shown(stdout)}", stderr)


def read_results(value: object) -> list[Row]:
    """The rows of a list of results; raises :class:`QmdError`."""
    if not isinstance(value, list):
        raise _bad(f"no list of results but {_shown(value)}")
    return [_row(item) for item in value]


def _arrays(stdout: str) -> Iterator[list[Any]]:
    """The lists of objects in ``stdout``, to which libraries print as well."""
    decoder = json.JSONDecoder()
    end = 0
    for match in _ARRAY.finditer(stdout):
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(stdout, match.end() - 1)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            yield value


def _row(item: object) -> Row:
    if not isinstance(item, dict):
        raise _bad(f"a result that is no object: {_shown(item)}")
    file, score, line = item.get("file"), item.get("score"), item.get("line")
    if not isinstance(file, str):
        raise _bad(f"a result without a file: {_shown(item)}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) < _NO_SCORE:
        raise _bad(f"a result without a score: {_shown(item)}")
    try:
        collection, path = parse_uri(file)
    except ValueError as error:
        raise _bad(f"a result that {error}") from None
    if not isinstance(line, int) or isinstance(line, bool) or line < 1:
        line = None
    return Row(collection, path, float(score), line)


def parse_uri(text: str) -> tuple[str, str]:
    """The collection of ``text``, and the path relative to its root, as it is on disk.

    The command line prints ``qmd://notes/a b.md``, with ``?index=name`` behind it for a named
    index, and MCP ``notes/a b.md``; neither encodes anything. Raises ``ValueError`` for a text
    that names no file.
    """
    rest = text
    if text.startswith(_SCHEME):
        rest = _INDEX.sub("", text[len(_SCHEME) :])
    collection, _, path = rest.partition("/")
    if not collection or not path or "\0" in rest or _SURROGATE.search(rest):
        raise ValueError(f"names no file: {text[:200]!r}")
    return collection, path


def _shown(value: object) -> str:
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return repr(text[:_SHOWN]) if text else "nothing"


def _bad(message: str, stderr: str = "") -> QmdError:
    return QmdError(f"answered {message}", reason="bad_json", output=stderr)
