"""Transcripts for the tests of their sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace_sessions.transcript import Lines, records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace_sessions.readers import Reader

Said = tuple[str, str]


def _lines_of(*entries: object) -> bytes:
    return b"".join(
        (entry if isinstance(entry, bytes) else json.dumps(entry).encode()) + b"\n"
        for entry in entries
    )


def _message(role: str, content: object, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content}, **more}


@pytest.fixture(autouse=True)
def unmoved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of programs are in the home, whatever runs the tests."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="session")
def lines_of() -> Callable[..., bytes]:
    """The bytes of a file with these objects, one a line; bytes are lines as they are."""
    return _lines_of


@pytest.fixture(scope="session")
def message() -> Callable[..., dict[str, Any]]:
    """A message as OpenClaw records it."""
    return _message


@pytest.fixture(scope="session")
def said() -> Callable[..., list[Said]]:
    """What a reader makes of some records, as pairs of role and text without outer spaces."""

    def read(reader: Reader, *entries: object) -> list[Said]:
        def pieces() -> Iterator[bytes]:
            yield _lines_of(*entries)

        return [(found.role, found.text.strip()) for found in reader(records(Lines(pieces())))]

    return read
