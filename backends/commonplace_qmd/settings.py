"""The section ``memory.qmd``: every key of the original, described once."""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from commonplace.plugin import described
from commonplace_qmd.readers import (
    ALLOW_DIRECT,
    Scope,
    command,
    interval_reader,
    or_default,
    path_text,
    scope,
)

__all__ = [
    "Limits",
    "Mcporter",
    "QmdPath",
    "QmdSettings",
    "Sessions",
    "Update",
]

_SECONDS_PER_MINUTE = 60.0


def _number(default: int, about: str, unit: str, *, positive: bool = False) -> Any:
    """A whole number where 0 makes no sense: it stands for the default, or is a fault."""
    return field(
        default=default,
        metadata=described(
            about,
            unit=unit,
            minimum=1 if positive else 0,
            read=or_default(default, positive=positive),
            schema={"type": "integer", "minimum": 1 if positive else 0},
        ),
    )


@frozen
class QmdPath:
    """A folder that becomes a collection."""

    path: str = field(metadata=described("Folder or file.", read=path_text))
    name: str | None = field(default=None, metadata=described("Name of the collection."))
    pattern: str = field(default="**/*.md", metadata=described("Glob of its files."))


@frozen
class Mcporter:
    """What the original asks QMD through the mcporter daemon by; read, and without effect."""

    enabled: bool = field(
        default=False,
        metadata=described("No effect: QMD's own server is kept running instead of mcporter's."),
    )
    server_name: str = field(default="qmd", metadata=described("No effect."))
    start_daemon: bool = field(default=True, metadata=described("No effect."))


@frozen
class Sessions:
    """Transcripts exported as a collection."""

    enabled: bool = field(default=False, metadata=described("Export transcripts."))
    export_dir: str | None = field(
        default=None,
        metadata=described(
            "Folder they are exported to.",
            path=True,
            shown="`<state>/agents/<id>/qmd/sessions`",
        ),
    )
    retention_days: int | None = field(
        default=None,
        metadata=described(
            "Age after which an export is deleted; 0 is never.",
            unit="days",
            read=or_default(None),
            schema={"type": "integer", "minimum": 0},
            shown="kept for ever",
        ),
    )


@frozen
class Update:
    """When QMD brings its own index up to the files. Intervals are in seconds once read."""

    interval: float = field(
        default=5 * _SECONDS_PER_MINUTE,
        metadata=described(
            'Time between two updates: `"90s"`, `"5m"`, `"1h"`; a bare number is minutes; 0 is '
            "never.",
            read=interval_reader(5),
            schema={"type": ["string", "number"]},
            shown='`"5m"`',
        ),
    )
    debounce_ms: int = field(
        default=15_000,
        metadata=described(
            "Least time between two updates that nobody asked for.",
            unit="ms",
            minimum=0,
            clamp=(0, None),
        ),
    )
    on_boot: bool = field(
        default=True, metadata=described("Update beside the first search, if files have changed.")
    )
    wait_for_boot_sync: bool = field(
        default=False, metadata=described("Let the first search wait for that update.")
    )
    embed_interval: float = field(
        default=60 * _SECONDS_PER_MINUTE,
        metadata=described(
            "Time between two embedding runs, in the same form.",
            read=interval_reader(60),
            schema={"type": ["string", "number"]},
            shown='`"60m"`',
        ),
    )
    command_timeout_ms: int = _number(30_000, "Time for a command such as `status`.", "ms")
    update_timeout_ms: int = _number(120_000, "Time for `update`.", "ms")
    embed_timeout_ms: int = _number(120_000, "Time for `embed`.", "ms")


@frozen
class Limits:
    """How much a search may give back, and how long it may take."""

    max_results: int = _number(6, "Hits of a search.", "hits", positive=True)
    max_snippet_chars: int = _number(700, "Length of a snippet.", "characters", positive=True)
    max_injected_chars: int = _number(
        4000, "Length of all snippets together.", "characters", positive=True
    )
    timeout_ms: int = _number(4000, "Time for a search.", "ms", positive=True)


@frozen
class QmdSettings:
    """``memory.qmd``, resolved."""

    command: str = field(
        default="qmd",
        metadata=described(
            "Program; of several words, the first.", read=command, schema={"type": "string"}
        ),
    )
    search_mode: Literal["search", "vsearch", "query"] = field(
        default="search",
        metadata=described("Command that searches: keywords, vectors, or both and a re-ranker."),
    )
    search_tool: str | None = field(
        default=None, metadata=described("No effect, as `mcporter`.", shown="by the mode")
    )
    mcporter: Mcporter = field(factory=Mcporter)
    include_default_memory: bool = field(
        default=True, metadata=described("Make collections of MEMORY.md and memory/.")
    )
    paths: tuple[QmdPath, ...] = field(
        default=(),
        metadata=described(
            "Further collections: `path`, `name`, `pattern` (`**/*.md`).", adds=True
        ),
    )
    sessions: Sessions = field(factory=Sessions)
    update: Update = field(factory=Update)
    limits: Limits = field(factory=Limits)
    scope: Scope = field(
        default=ALLOW_DIRECT,
        metadata=described(
            "Which chats may search, as `session.sendPolicy`: `default`, and `rules` of `action` "
            "and `match` (`channel`, `chatType`, `keyPrefix`, `rawKeyPrefix`); the first that "
            "matches counts. A scope without `default` allows.",
            read=scope,
            schema={"type": "object"},
            shown="direct chats only",
        ),
    )
    extra_collections: tuple[QmdPath, ...] = field(
        default=(),
        metadata=described(
            "Filled from `memorySearch.qmd.extraCollections` of the agent.", adds=True
        ),
    )
