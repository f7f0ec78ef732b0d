"""Which chats may search: the rules of ``memory.qmd.scope``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import ScopeDeniedError

if TYPE_CHECKING:
    from commonplace.plugin import Query
    from commonplace_qmd.settings import QmdSettings, Scope, ScopeRule


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
        from commonplace_qmd.settings import QmdSettings

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
    if rule.channel is not None and rule.channel.strip().lower() != chat.channel:
        return False
    if rule.chat_type is not None and rule.chat_type != chat.kind:
        return False
    if not chat.raw.startswith(_prefix(rule.raw_key_prefix)):
        return False
    prefix = _prefix(rule.key_prefix)
    # Older configurations write the whole key here.
    key = chat.raw if prefix.startswith("agent:") else chat.normalized
    return key.startswith(prefix)


def _prefix(text: str | None) -> str:
    return text.strip().lower() if text else ""
