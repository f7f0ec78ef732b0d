"""Ollama's ``/api/embed``, as its source has it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def vector_of(text: str, dims: int) -> list[float]:
    """A unit vector that depends on ``text`` alone."""
    numbers = [value - 127.5 for value in hashlib.shake_128(text.encode()).digest(dims)]
    norm = sum(value * value for value in numbers) ** 0.5
    return [value / norm for value in numbers]


class Vendor:
    """Two models are pulled; one of them makes no embeddings. A word is a token."""

    models = ("nomic-embed-text", "embeddinggemma")
    talker = "llama3.2"
    context = 256

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if (method, path) != ("POST", "/api/embed"):
            return 404, {"content-type": "text/plain"}, b"404 page not found"
        status, answer = self._answer(json.loads(body))
        kind = {"content-type": "application/json; charset=utf-8"}
        return status, kind, json.dumps(answer).encode()

    def _answer(self, request: dict[str, Any]) -> tuple[int, Any]:
        model = request["model"].removesuffix(":latest")
        if model == self.talker:
            return 501, {"error": "this model does not support embeddings"}
        if model not in self.models:
            return 404, {"error": f'model "{model}" not found, try pulling it first'}
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        if not request.get("truncate", True):
            for text in texts:
                if len(text.split()) > self.context:
                    return 400, {"error": "the input length exceeds the context length"}
        texts = [" ".join(text.split()[: self.context]) for text in texts]
        return 200, {
            "model": request["model"],
            "embeddings": [vector_of(text, request.get("dimensions") or 8) for text in texts],
            "total_duration": 14,
            "load_duration": 1,
            "prompt_eval_count": sum(len(text.split()) for text in texts),
        }
