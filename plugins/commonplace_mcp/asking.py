"""The question to the user before a note's lines are deleted, by ``input_required`` of 2026-07-28.

The call is answered by a question and a sealed state; the client asks its user, and calls again
with the answer and the state. The state fits one question alone: this tool, these arguments, and
the lines that the user saw. It is good once, and for ten minutes.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace_mcp.surface import FORGETS, MissingCapabilityError, RefusedError, text_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace_mcp.surface import Json, Question, Surface

SECONDS = 600.0
"""How long a question may be answered."""

_KEY = "forget"


class Asking:
    """Asks before ``surface`` deletes; ``clock`` gives seconds that only grow."""

    def __init__(self, surface: Surface, clock: Callable[[], float] = time.monotonic) -> None:
        self._surface = surface
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._spent: dict[str, int] = {}
        self._lock = Lock()

    def first(self, params: Mapping[str, Any], capabilities: object) -> tuple[Json | None, Any]:
        """What to answer to a call instead of running it, or ``None`` and the arguments to run.

        ``params`` are those of ``tools/call``, ``capabilities`` what the client declared.

        Raises :class:`MissingCapabilityError` if a question is needed and the client cannot ask,
        and :class:`RefusedError` for a state that is not of this question.
        """
        arguments = params.get("arguments")
        question = None
        if params.get("name") == FORGETS:
            question = self._surface.question(arguments)
        if question is None:
            return None, arguments
        if not _can_ask(capabilities):
            way = f". The user can run: {question.command}" if question.command else ""
            raise MissingCapabilityError(
                f"{FORGETS} asks the user first, and this client did not declare the "
                f"form elicitation capability{way}",
                {"requiredCapabilities": {"elicitation": {"form": {}}}},
            )
        answers, state = params.get("inputResponses"), params.get("requestState")
        if not isinstance(answers, dict) or state is None:
            return self._form(question), None
        self._check(state, question)
        if not _agreed(answers.get(_KEY)):
            return text_result("The user did not agree: nothing was deleted.", failed=True), None
        seen = {} if question.lines is None else {"was": question.lines}
        return None, {**question.arguments, **seen}

    def _form(self, question: Question) -> Json:
        schema = {
            "type": "object",
            "properties": {_KEY: {"type": "boolean", "title": "Delete these lines"}},
            "required": [_KEY],
        }
        form = {"mode": "form", "message": question.message, "requestedSchema": schema}
        return {
            "resultType": "input_required",
            "inputRequests": {_KEY: {"method": "elicitation/create", "params": form}},
            "requestState": self._sealed(question, secrets.token_hex(8), self._end()),
        }

    def _end(self) -> int:
        return int(self._clock() + SECONDS)

    def _sealed(self, question: Question, number: str, end: int) -> str:
        facts = [number, end, question.arguments, question.lines]
        text = json.dumps(facts, sort_keys=True)
        return f"{number}.{end}.{hmac.new(self._secret, text.encode(), sha256).hexdigest()}"

    def _check(self, state: object, question: Question) -> None:
        """Raise :class:`RefusedError` unless ``state`` is of ``question``; then it is spent."""
        refused = RefusedError(
            "Invalid or expired requestState: call again without it, and the user is asked again",
            {"reason": "invalid_request_state"},
        )
        try:
            number, shown, _ = str(state).split(".")
            end = int(shown)
            fits = hmac.compare_digest(self._sealed(question, number, end), str(state))
        except (ValueError, TypeError):
            raise refused from None
        with self._lock:
            now = self._clock()
            self._spent = {one: till for one, till in self._spent.items() if till > now}
            if not fits or end <= now or number in self._spent:
                raise refused
            self._spent[number] = end


def _can_ask(capabilities: object) -> bool:
    """Whether a client can show a form. The first of them said so by ``{"elicitation": {}}``."""
    asks = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(asks, dict) and ("form" in asks or "url" not in asks)


def _agreed(answer: object) -> bool:
    if not isinstance(answer, dict) or answer.get("action") != "accept":
        return False
    content = answer.get("content")
    return isinstance(content, dict) and content.get(_KEY) is True
