"""Mistral's ``/v1/embeddings``, as its reference and other projects' measurements describe it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "sekrit-0123456789-abcdef"
DIMS = {"mistral-embed": 8, "codestral-embed": 12}
KEYS = {
    "model",
    "input",
    "output_dimension",
    "output_dtype",
    "encoding_format",
    "metadata",
}


def vector_of(text: str, dims: int) -> list[float]:
    """A vector that depends on ``text`` alone, not of unit length."""
    return [value - 127.5 for value in hashlib.shake_128(text.encode()).digest(dims)]


class Vendor:
    """Answers with short vectors, so that tests are quick; everything else is valid."""

    key = KEY
    most = 256

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        status, answer = self._answer(method, path, headers, body)
        return status, {"content-type": "application/json"}, json.dumps(answer).encode()

    def _answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Any]:
        if (method, path) != ("POST", "/v1/embeddings"):
            return 404, {"detail": "Not Found"}
        if headers.get("authorization") != f"Bearer {self.key}":
            return 401, {"detail": "Unauthorized"}
        request = json.loads(body)
        return self._refusal(request) or (200, self._embedded(request))

    def _refusal(self, request: dict[str, Any]) -> tuple[int, Any] | None:
        if extra := sorted(request.keys() - KEYS):
            where = {"loc": ["body", extra[0]], "type": "extra_forbidden"}
            return 422, {"detail": [{**where, "msg": "Extra inputs are not permitted"}]}
        model = request["model"]
        if model not in DIMS:
            return 400, complaint(f"Invalid model: {model}", "invalid_model", "1500")
        if "output_dimension" in request and model == "mistral-embed":
            words = "This model does not support output_dimension"
            return 400, complaint(words, "invalid_request_error", "3051")
        if len(request["input"]) > self.most:
            words = "Too many inputs in request, split into more batches."
            return 400, complaint(words, "invalid_request_error", "3210")
        if sum(len(text.split()) for text in request["input"]) > 16_384:
            words = "Too many tokens in batch. Max is 16384 tokens."
            return 400, complaint(words, "invalid_request_error", "3210")
        return None

    def _embedded(self, request: dict[str, Any]) -> dict[str, Any]:
        dims = request.get("output_dimension") or DIMS[request["model"]]
        tokens = sum(len(text.split()) for text in request["input"])
        return {
            "id": "embd-1",
            "object": "list",
            "model": request["model"],
            "data": [
                {"object": "embedding", "index": index, "embedding": vector_of(text, dims)}
                for index, text in enumerate(request["input"])
            ],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 0, "total_tokens": tokens},
        }


def complaint(message: str, type_: str, code: str, status: int = 400) -> dict[str, Any]:
    """An error body."""
    return {
        "object": "error",
        "message": message,
        "type": type_,
        "param": None,
        "code": code,
        "raw_status_code": status,
    }
