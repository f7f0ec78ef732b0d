"""Items of a LangGraph store: notes that hold a value as JSON, other notes, and passages."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from commonplace import NoteNotFoundError, PathNotAllowedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from commonplace import MemoryTools, NoteText, Writer

    Found = tuple[str, dict[str, Any], float | None]
    """Key, value and score."""

_MOST = 1_000  # passages that a search gives
_ITEM = re.compile(r"(?:memory|commonplace)/langgraph/([^/]+)\.md")
_NO_TEXT = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # only escaped in a note
_VALUE = re.compile(r"# [^\n]*\n\n```json\n(.*)\n```\n*", re.DOTALL)


def put_item(writer: Writer, key: str, value: Mapping[str, Any] | None) -> None:
    """Write the note of an item, or with ``None`` delete it.

    Raises ``TypeError`` or ``ValueError`` for a value that is no JSON object.
    """
    data: bytes | None = None
    if value is not None:
        text = json.dumps(dict(value), ensure_ascii=False, indent=2)
        text = _NO_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        data = f"# {' '.join(key.split())}\n\n```json\n{text}\n```\n".encode(errors="replace")
    folder = writer.log_path.rpartition("/")[0]  # where notes hide no others
    writer.change(_path(folder, key), lambda _: data, why="put into the store of LangGraph")


def read_item(tools: MemoryTools, key: str) -> Iterator[Found]:
    """The item ``key``, or the note at that path or citation."""
    return read_notes(tools, [_path("memory", key), _path("commonplace", key), key])


def read_notes(tools: MemoryTools, paths: Iterable[str]) -> Iterator[Found]:
    """The notes at ``paths``; those that are not there, or not to be read, are left out."""
    for path in paths:
        try:
            note = tools.read(path)
        except (NoteNotFoundError, PathNotAllowedError):
            continue
        whole = {"path": note.path, "trust": note.trust, "text": note.as_prompt()}
        yield _item(note) or (path, whole, None)


def search_items(tools: MemoryTools, query: str, wanted: int) -> Iterator[Found]:
    """Items and passages of other notes, best first."""
    for hit in tools.search(query, max_results=min(wanted, _MOST)).hits:
        item = next(read_notes(tools, [hit.path]), None) if _ITEM.fullmatch(hit.path) else None
        if item is not None and item[0] != hit.path:
            yield item[0], item[1], hit.score
        else:
            value = {"path": hit.path, "trust": hit.trust, "score": hit.score}
            text = hit.as_prompt(citations=tools.cited)
            yield hit.citation, value | {"text": text}, hit.score


def _item(note: NoteText) -> Found | None:
    name, content = _ITEM.fullmatch(note.path), _VALUE.fullmatch(note.text)
    try:
        value = json.loads(content[1]) if name and content else None
    except (ValueError, RecursionError):  # the person changed it
        return None
    if name is None or not isinstance(value, dict):
        return None
    return "" if name[1] == "%" else unquote(name[1], errors="surrogatepass"), value, None


def _path(folder: str, key: str) -> str:
    name = (
        quote(key, safe=" ", errors="surrogatepass").replace(".", "%2E") or "%"
    )  # a key that is empty has a name, too
    return f"{folder}/langgraph/{name}.md"
