from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commonplace.testing import SourceConformance
from commonplace_sessions.plugin import TranscriptSettings, _source

if TYPE_CHECKING:
    from commonplace.plugin import Source, SourceContext


class TestSessions(SourceConformance):
    def make_source(self, context: SourceContext) -> Source:
        return _source("sessions", context)

    def growth(self, size: int, messages: int) -> TranscriptSettings:
        return TranscriptSettings(delta_bytes=size, delta_messages=messages)

    def file_of(self, name: str) -> str:
        return f"sessions/{name}.jsonl"

    def bytes_of(self, text: str) -> bytes:
        message = {"role": "user", "content": text}
        return json.dumps({"type": "message", "message": message}).encode() + b"\n"
