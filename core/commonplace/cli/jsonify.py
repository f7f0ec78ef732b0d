"""The JSON of every command; docs/json.md describes each object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commonplace.cli.streams import printable_json
from commonplace.model.documents import Finding
from commonplace.model.plugins import camel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace.copying import Copied
    from commonplace.model.reports import LeftOut, Status, SyncReport
    from commonplace.model.search import Explanation, Hit, SearchResult


SCHEMA_VERSION = 1
"""Stands in every object; it grows when a key is renamed, removed, or changes its meaning."""

_SUGGESTS = frozenset({"hint", "notes", "notices", "warnings"})
"""The keys whose texts may suggest a command; notes of people and what they hold are elsewhere."""


def document(value: object) -> object:
    """``value`` as one document of output: an object gets its ``schemaVersion``."""
    facts = plain(value)
    return {"schemaVersion": SCHEMA_VERSION, **facts} if isinstance(facts, dict) else facts


def with_suggestions(value: object, suggesting: Callable[[str], str], key: str = "") -> object:
    """``value``, plain, with the texts that may suggest a command as ``suggesting`` has them."""
    if isinstance(value, dict):
        return {name: with_suggestions(item, suggesting, name) for name, item in value.items()}
    if isinstance(value, list):
        return [with_suggestions(item, suggesting, key) for item in value]
    return suggesting(value) if key in _SUGGESTS and isinstance(value, str) else value


def dumps(value: object, encoding: str | None, *, indent: int | None = 2) -> str:
    """``value`` as JSON that a stream of ``encoding`` can take, and that steers no terminal.

    Without ``indent`` it is one line.
    """
    unicode = (encoding or "").lower().replace("-", "").startswith("utf")
    return printable_json(json.dumps(plain(value), ensure_ascii=not unicode, indent=indent))


def plain(value: object) -> Any:
    """``value`` with its objects as dictionaries in camelCase, and other sequences as lists.

    Half a character, as a name on the disk or an argument may have, becomes U+FFFD: many readers of
    JSON refuse a document that has one.
    """
    if isinstance(value, Finding):
        hint = value.fix.hint if value.fix is not None else ""
        return {"state": value.state, "name": value.name, "text": value.text, "hint": hint}
    names = _field_names(type(value))
    if names is not None:
        return {camel(name): plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    return _whole(value) if isinstance(value, str) else value


def _whole(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _field_names(cls: type) -> Iterable[str] | None:
    fields = getattr(cls, "__attrs_attrs__", None)
    if fields is not None:
        return [field.name for field in fields]
    names: Iterable[str] | None = getattr(cls, "_fields", None)
    return names


def _parts(value: object, names: str) -> dict[str, Any]:
    """The fields of ``value`` that are listed in ``names``, in camelCase."""
    return {camel(name): getattr(value, name) for name in names.split()}


def result_json(result: SearchResult, *, explain: bool) -> dict[str, Any]:
    """A search; ``results`` holds the hits under the names of the original."""
    return {
        "results": [_hit_json(hit, explain=explain) for hit in result.hits],
        **_parts(result, "backend provider model fallback stale notes warnings"),
        "unknownWords": result.unknown,
    } | ({"arms": result.arms} if explain else {})


def _hit_json(hit: Hit, *, explain: bool) -> dict[str, Any]:
    facts = _parts(hit, "path start_line end_line score snippet source citation heading trust")
    facts |= _parts(hit, "day similar earlier weak")
    return facts | {"explain": _explain_json(hit.explain)} if explain else facts


def _explain_json(explain: Explanation) -> dict[str, Any]:
    """Why a hit scores what it scores; ``parts`` sum to the score."""
    return {
        "arms": [
            _parts(arm, "arm kind raw rank evidence note coverage")
            | {"words": [{"token": token, "amount": amount} for token, amount in arm.words]}
            for arm in explain.arms
        ],
        "steps": [_parts(step, "ranker before after note") for step in explain.steps],
        "parts": [{"name": name, "amount": amount} for name, amount in explain.parts],
        "filters": explain.filters,
    }


def copied_json(copied: Copied) -> dict[str, Any]:
    """From where to where an index was copied, and the vectors of each space."""
    spaces = [
        {"space": one.space, "vectors": one.copied, "missing": one.missing} for one in copied.spaces
    ]
    return {"from": copied.of, "to": copied.to, "copied": spaces}


def report_json(report: SyncReport, warnings: Sequence[str]) -> dict[str, Any]:
    """A sync; ``warnings`` are in words what it could not do."""
    done = report.embedding
    return {
        **_parts(report, "added updated removed unchanged hidden deferred remaining"),
        "chunksWritten": report.chunks_written,
        "filesRead": report.opened,
        "rebuilt": report.rebuilt,
        "unreadable": _pairs(report.unreadable),
        **_parts(report, "failed_roots absent_roots skipped_symlinks"),
        "embedding": {**plain(done), "refused": _pairs(done.refused)} if done is not None else None,
        "seconds": report.seconds,
        "warnings": warnings,
    }


def left_out_json(left_out: LeftOut) -> dict[str, Any]:
    """What of the workspace is not searched, and how to search it."""
    facts = plain(left_out)
    del facts["workspace"], facts["tooWide"]
    return {"leftOut": {**facts, "notices": left_out.sentences()}}


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"path": path, "reason": reason} for path, reason in pairs]


def status_json(status: Status) -> dict[str, Any]:
    """The condition of a memory."""
    return {
        **_parts(status, "agent workspace backend available"),
        "backends": status.links,
        **_parts(status, "fallback search_mode requested_provider model"),
        **(plain(status.groups) if status.groups is not None else {}),
        **_parts(status, "providers spaces sources extra_paths files chunks"),
        "sourceCounts": [
            {"source": source, "files": files, "chunks": chunks}
            for source, files, chunks in status.source_counts
        ],
        "dirty": status.stale > 0,
        **_parts(status, "stale deferred"),
        "unreadable": _pairs(status.unreadable),
        **_parts(status, "failed_roots skipped_symlinks"),
        **_parts(status, "db_path db_bytes writable config_files"),
        **(left_out_json(status.left_out) if status.left_out is not None else {}),
        "sync": status.sync_state,
        "watchers": status.watchers,
        "notes": status.information,
        "warnings": status.notices,
        **_parts(status, "problems findings"),
    }
