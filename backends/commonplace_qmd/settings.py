"""The section ``memory.qmd``: its keys, how a value is read, and which chats may search."""

from __future__ import annotations

import os
import re
import shlex
from math import floor, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from commonplace.plugin import Group, ScopeDeniedError, WrongValueError, expand_user, setting

if TYPE_CHECKING:
    from commonplace.plugin import Query, Reading


CAPABILITIES = frozenset(
    {"phrases", "exclusions", "paths", "dates", "tags", "lines", "cjk", "persistent", "eager"}
)
"""Not ``thai``: QMD does not segment it, so such a query is declined."""

Action = Literal["allow", "deny"]

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_PART = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"
_INTERVAL = re.compile(rf"(?:{_PART})+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _chat_type(raw: object, reading: Reading) -> str:
    text = reading.text(raw)
    if text == "dm":
        return "direct"
    if text not in ("direct", "group", "channel"):
        raise WrongValueError('must be one of "direct", "group" or "channel"')
    return text


class ScopeRule(Group):
    """A rule matches a chat that has every property it names."""

    action: Action = setting("What to do.")
    channel: str | None = setting("Channel.", default=None, key="match.channel")
    chat_type: str | None = setting(
        "Kind of chat.", default=None, key="match.chatType", read=_chat_type
    )
    key_prefix: str | None = setting(
        "Start of the normalised key.", default=None, key="match.keyPrefix"
    )
    raw_key_prefix: str | None = setting(
        "Start of the key.", default=None, key="match.rawKeyPrefix"
    )


class Scope(Group):
    """Which chats may search: the first rule that matches, else ``default``."""

    default: Action = setting("Where no rule matches.", default="allow")
    rules: tuple[ScopeRule, ...] = setting("In order.", default=())


ALLOW_DIRECT = Scope(default="deny", rules=(ScopeRule(action="allow", chat_type="direct"),))
"""The default scope: the safer of what the original documents and does."""


def path_text(raw: object, reading: Reading) -> str:
    """A path with ``~`` expanded; one that is relative starts from the workspace."""
    text = expand_user(reading.text(raw).strip(), reading.env)
    if not text:
        raise WrongValueError("must not be empty")
    return text


def command(raw: object, reading: Reading) -> str:
    """The program: the first word as a shell splits it.

    A missing path into Homebrew, as its updates leave behind, becomes ``qmd``.
    """
    try:
        words = shlex.split(reading.text(raw))
    except ValueError:
        raise WrongValueError("has a quote that is not closed") from None
    if not words:
        raise WrongValueError("must not be empty")
    program = expand_user(words[0], reading.env)
    brewed = "/homebrew/" in program.lower() or "/cellar/" in program.lower()
    return "qmd" if brewed and not os.path.exists(program) else program


def _interval(default_minutes: int, about: str) -> Any:
    """An interval, in seconds once read: ``"90s"``, ``"1h30m"``; a bare number is minutes.

    An invalid one is reported, and the default is used, as in the original.
    """

    def read(raw: object, reading: Reading) -> float:
        wanted = 'must be an interval such as "5m"'
        text = isinstance(raw, str)
        seconds = _seconds(reading.text(raw) if text else reading.number(raw, wanted))
        if seconds is None:
            reading.doubts.append(
                f'is no interval such as "5m" or "1h"; {default_minutes}m is used'
            )
            return default_minutes * 60.0
        return seconds

    return setting(
        about,
        default=default_minutes * 60.0,
        read=read,
        schema={"type": ["string", "number"]},
        shown=f'`"{default_minutes}m"`',
    )


def _seconds(raw: float | str) -> float | None:
    if isinstance(raw, int | float):
        return raw * 60.0 if isfinite(raw) and raw >= 0 else None
    text = raw.strip().lower().replace(" ", "")
    if _NUMBER.fullmatch(text):
        return float(text) * 60.0
    if not _INTERVAL.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in re.findall(_PART, text))


def _number(default: int | None, about: str, unit: str, *, least: int = 0, shown: str = "") -> Any:
    """A whole number of at least ``least``; 0 means the default.

    From a program, a number that is not positive becomes the default, and a fraction is rounded
    down.
    """

    def read(raw: object, reading: Reading) -> Any:
        wanted = f"must be a whole number of at least {least}"
        number = reading.number(raw, wanted)
        if reading.programmatic:
            return floor(number) if isfinite(number) and number >= 1 else default
        if not isfinite(number) or number != floor(number) or number < least:
            raise WrongValueError(wanted)
        return floor(number) or default

    return setting(
        about,
        default=default,
        unit=unit,
        minimum=least,
        read=read,
        schema={"type": "integer", "minimum": least},
        shown=shown,
    )


class QmdPath(Group):
    """A folder that becomes a collection."""

    path: str = setting("Folder or file.", read=path_text)
    name: str | None = setting("Name of the collection.", default=None)
    pattern: str = setting("Glob of its files.", default="**/*.md")


class Sessions(Group):
    """Transcripts exported as a collection."""

    enabled: bool = setting("Export transcripts.", default=False, widens=True)
    export_dir: str | None = setting(
        "Folder they are exported to.",
        default=None,
        path=True,
        locates=True,
        shown="`<state>/agents/<id>/qmd/sessions`",
    )
    retention_days: int | None = _number(
        None, "Age after which an export is deleted; 0 is never.", "days", shown="kept for ever"
    )


class Update(Group):
    """When QMD updates its index. Intervals are in seconds once read."""

    interval: float = _interval(
        5,
        'Time between two updates: `"90s"`, `"5m"`, `"1h"`; a bare number is minutes; 0 is never.',
    )
    debounce_ms: int = setting(
        "Least time between two automatic updates.",
        default=15_000,
        unit="ms",
        minimum=0,
        clamp=(0, None),
    )
    on_boot: bool = setting("Update beside the first search, if files have changed.", default=True)
    wait_for_boot_sync: bool = setting("Let the first search wait for that update.", default=False)
    embed_interval: float = _interval(60, "Time between two embedding runs, in the same form.")
    command_timeout_ms: int = _number(30_000, "Time for a command such as `status`.", "ms")
    update_timeout_ms: int = _number(120_000, "Time for `update`.", "ms")
    embed_timeout_ms: int = _number(120_000, "Time for `embed`.", "ms")


class Limits(Group):
    """How much a search returns, and how long it may take."""

    max_results: int = _number(6, "Hits of a search.", "hits", least=1)
    max_snippet_chars: int = _number(700, "Length of a snippet.", "characters", least=1)
    max_injected_chars: int = _number(
        4000, "Length of all snippets together.", "characters", least=1
    )
    timeout_ms: int = _number(4000, "Time for a search.", "ms", least=1)


class QmdSettings(Group):
    """``memory.qmd``, resolved."""

    unsupported: ClassVar[dict[str, str]] = {
        "mcporter": "QMD's own server is kept running, which is what mcporter was for",
        "searchTool": "searchMode chooses the command; there is no mcporter to have tools",
    }
    standby: ClassVar[str] = "builtin"
    """The backend that stands in for this one where it is named alone."""

    command: str = setting(
        "Program; of several words, the first.",
        default="qmd",
        read=command,
        schema={"type": "string"},
    )
    search_mode: Literal["search", "vsearch", "query"] = setting(
        "Command that searches: keywords, vectors, or both and a re-ranker.", default="search"
    )
    include_default_memory: bool = setting(
        "Make collections of MEMORY.md and memory/.", default=True
    )
    paths: tuple[QmdPath, ...] = setting(
        "Further collections: `path`, `name`, `pattern` (`**/*.md`).",
        default=(),
        adds=True,
        widens=True,
    )
    sessions: Sessions = setting("Transcripts as a collection.", default=Sessions())
    update: Update = setting("Updates of the index.", default=Update())
    limits: Limits = setting("Size and time of a search.", default=Limits())
    scope: Scope = setting(
        "Which chats may search, as `session.sendPolicy`: `default`, and `rules` of `action` "
        "and `match` (`channel`, `chatType`, `keyPrefix`, `rawKeyPrefix`); the first that "
        "matches counts. A scope without `default` allows.",
        default=ALLOW_DIRECT,
        read=lambda raw, reading: reading.group(Scope, raw),
        schema={"type": "object"},
        shown="direct chats only",
    )
    extra_collections: tuple[QmdPath, ...] = setting(
        "Further collections for one agent: `path`, `name`, `pattern`; see `memorySearch`.",
        default=(),
        adds=True,
        widens=True,
    )


class Chat(NamedTuple):
    """A chat as its session key describes it.

    ``raw`` is the whole key in lower case, ``normalized`` the same without ``agent:<id>:`` (``""``
    for a sub-agent, whose key does not describe its chat). ``channel`` and ``kind`` are ``""`` if
    the key names none.
    """

    raw: str
    normalized: str
    channel: str
    kind: str


def permits(config: QmdSettings | None, query: Query) -> None:
    """Raise :class:`~commonplace.plugin.ScopeDeniedError` if this chat may not search.

    A query without a session key comes from the user of this program, who may.
    """
    if not query.session_key.strip():
        return
    if config is None:
        config = QmdSettings()
    if is_allowed(config.scope, query.session_key):
        return
    kind = chat_of(query.session_key).kind or "unknown"
    raise ScopeDeniedError(
        f"memory.qmd.scope does not let this {kind} chat search this memory",
        hint="allow it by a rule in memory.qmd.scope, or search from another chat",
    )


def is_allowed(scope: Scope, session_key: str) -> bool:
    """Whether the first rule that matches allows it, or else the default."""
    chat = chat_of(session_key)
    for rule in scope.rules:
        if _matches(rule, chat):
            return rule.action == "allow"
    return scope.default == "allow"


def chat_of(session_key: str) -> Chat:
    """Read ``session_key``: ``agent:main:telegram:group:42`` is a group on Telegram.

    A key that has ``group`` or ``channel`` in any position (behind an account, say) is not a
    direct chat, so that a private memory is not shown by mistake.
    """
    raw = session_key.strip().lower()
    parts = [part for part in raw.split(":") if part]
    if len(parts) >= 3 and parts[0] == "agent":
        parts = parts[2:]
    if parts[:1] == ["subagent"]:
        return Chat(raw, "", "", "")
    kind = next((kind for kind in ("group", "channel") if kind in parts), "direct")
    # A lone word names a chat ("main"); otherwise its channel comes before the kind.
    named = len(parts) > 1 and parts[0] not in ("group", "channel", "direct", "dm")
    return Chat(raw, ":".join(parts), parts[0] if named else "", kind)


def _matches(rule: ScopeRule, chat: Chat) -> bool:
    channel, prefix, raw_prefix = (
        text.strip().lower() if text else ""
        for text in (rule.channel, rule.key_prefix, rule.raw_key_prefix)
    )
    # Older configurations write the whole key here.
    key = chat.raw if prefix.startswith("agent:") else chat.normalized
    return (
        (rule.channel is None or channel == chat.channel)
        and (rule.chat_type is None or rule.chat_type == chat.kind)
        and key.startswith(prefix)
        and chat.raw.startswith(raw_prefix)
    )
