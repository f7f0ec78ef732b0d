"""Which chats may search: keys as the original makes them, rules as it reads them."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.errors import CallerError, ScopeDeniedError
from commonplace.model.search import KeywordQuery, Query
from commonplace_qmd.settings import (
    ALLOW_DIRECT,
    QmdSettings,
    Scope,
    ScopeRule,
    chat_of,
    is_allowed,
    permits,
)


@pytest.mark.parametrize(
    ("key", "normalized", "channel", "kind"),
    [
        ("agent:main:main", "main", "", "direct"),
        ("agent:main:telegram:direct:42", "telegram:direct:42", "telegram", "direct"),
        ("agent:main:telegram:dm:42", "telegram:dm:42", "telegram", "direct"),
        ("agent:main:telegram:group:-100", "telegram:group:-100", "telegram", "group"),
        ("agent:main:slack:channel:c1:thread:9", "slack:channel:c1:thread:9", "slack", "channel"),
        ("agent:main:telegram:home:group:7", "telegram:home:group:7", "telegram", "group"),
        (" Agent:Main:Discord:Channel:X ", "discord:channel:x", "discord", "channel"),
        ("telegram:group:1", "telegram:group:1", "telegram", "group"),
        ("group:1", "group:1", "", "group"),
        ("agent:main:subagent:uuid", "", "", ""),
        ("main", "main", "", "direct"),
    ],
)
def test_what_a_key_says(key: str, normalized: str, channel: str, kind: str) -> None:
    chat = chat_of(key)
    assert (chat.normalized, chat.channel, chat.kind) == (normalized, channel, kind)
    assert chat.raw == key.strip().lower()


def allow(**match: Any) -> ScopeRule:
    return ScopeRule(action="allow", **match)


def deny(**match: Any) -> ScopeRule:
    return ScopeRule(action="deny", **match)


@pytest.mark.parametrize(
    ("scope", "key", "allowed"),
    [
        (ALLOW_DIRECT, "agent:main:main", True),
        (ALLOW_DIRECT, "agent:main:whatsapp:direct:+49", True),
        (ALLOW_DIRECT, "agent:main:whatsapp:group:1", False),
        (ALLOW_DIRECT, "agent:main:slack:channel:1", False),
        (ALLOW_DIRECT, "agent:main:subagent:1", False),
        (Scope(), "agent:main:slack:channel:1", True),
        (Scope(default="deny"), "agent:main:main", False),
        # The first rule that matches counts, and all that it names must match.
        (Scope(rules=(deny(chat_type="group"), allow())), "agent:main:x:group:1", False),
        (
            Scope(default="deny", rules=(allow(channel="Slack", chat_type="channel"),)),
            "agent:a:slack:channel:1",
            True,
        ),
        (
            Scope(default="deny", rules=(allow(channel="slack", chat_type="channel"),)),
            "agent:a:slack:direct:1",
            False,
        ),
        (
            Scope(default="deny", rules=(allow(channel="slack"),)),
            "agent:a:discord:channel:1",
            False,
        ),
        (
            Scope(default="deny", rules=(allow(key_prefix="slack:channel:"),)),
            "agent:a:slack:channel:1",
            True,
        ),
        (
            Scope(default="deny", rules=(allow(key_prefix="agent:a:slack"),)),
            "agent:a:slack:channel:1",
            True,
        ),
        (
            Scope(default="deny", rules=(allow(key_prefix="agent:b:slack"),)),
            "agent:a:slack:channel:1",
            False,
        ),
        (
            Scope(default="deny", rules=(allow(raw_key_prefix="AGENT:a:"),)),
            "agent:a:slack:channel:1",
            True,
        ),
        (
            Scope(default="deny", rules=(allow(raw_key_prefix="slack:"),)),
            "agent:a:slack:channel:1",
            False,
        ),
    ],
)
def test_rules(scope: Scope, key: str, *, allowed: bool) -> None:
    assert is_allowed(scope, key) is allowed


def test_the_user_of_the_program_may_search_whatever_the_scope() -> None:
    permits(QmdSettings(scope=Scope(default="deny")), Query("x", KeywordQuery(), session_key=" "))


def test_a_denial_is_the_callers_and_names_no_key() -> None:
    query = Query("x", KeywordQuery(), session_key="agent:main:telegram:group:secret")
    with pytest.raises(ScopeDeniedError) as caught:
        permits(QmdSettings(), query)
    assert isinstance(caught.value, CallerError)
    assert "group" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.hint
