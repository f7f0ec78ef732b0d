"""OpenAI's ``/embeddings`` and batches, as its reference describes them."""

from __future__ import annotations

import base64
import hashlib
import json
import runpy
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_BATCHES = runpy.run_path(str(Path(__file__).with_name("batches.py")))["FileBatches"]
KEY = "sekrit-0123456789-abcdef"
DIMS = {"text-embedding-3-small": 8, "text-embedding-3-large": 16, "text-embedding-ada-002": 8}
KEYS = {"model", "input", "encoding_format", "dimensions", "user"}
SHORTENABLE = {"text-embedding-3-small", "text-embedding-3-large"}


def vector_of(text: str, dims: int) -> list[float]:
    """A unit vector that depends on ``text`` alone, and not on the machine."""
    raw = hashlib.shake_128(text.encode()).digest(2 * dims)
    numbers = [value - 32767.5 for (value,) in struct.iter_unpack("<H", raw)]
    norm = sum(value * value for value in numbers) ** 0.5
    return [value / norm for value in numbers]


class Vendor:
    """Answers with short vectors, so that tests are quick; everything else is valid."""

    key: str | None = KEY
    base64 = True
    most = 2048
    most_tokens = 300_000
    strict = True

    def __init__(self) -> None:
        self.batches = FILE_BATCHES(
            check=self._line_refusal,
            answer=lambda line, _: (
                self._refusal(line["body"]) or (200, self._embedded(line["body"]))
            ),
            begin=lambda asked: (
                None if asked.get("completion_window") == "24h" else "Invalid 'completion_window'"
            ),
            complain=lambda words: complaint(words, "invalid_request_error"),
        )

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if path.startswith(("/v1/files", "/v1/batches")) and self._admits(headers):
            answered: tuple[int, dict[str, str], bytes] = self.batches.respond(
                method, path.removeprefix("/v1"), headers, body
            )
            return answered
        status, answer = self._answer(method, path.partition("?")[0], headers, body)
        extra = {"content-type": "application/json", "x-request-id": "req_1"}
        return status, extra, json.dumps(answer).encode()

    def _answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Any]:
        is_batch = path.startswith(("/v1/files", "/v1/batches"))
        if not is_batch and (method, path) != ("POST", "/v1/embeddings"):
            return 404, complaint(f"Invalid URL ({method} {path})", "invalid_request_error")
        if not self._admits(headers):
            shown = headers.get("authorization", "")[-4:]
            words = f"Incorrect API key provided: sk-abc***{shown}."
            return 401, complaint(words, "invalid_request_error", "invalid_api_key")
        try:
            request = json.loads(body)
        except ValueError:
            return 400, complaint("We could not parse the JSON body", "invalid_request_error")
        refusal = self._refusal(request)
        return refusal or (200, self._embedded(request))

    def _admits(self, headers: Mapping[str, str]) -> bool:
        return self.key is None or headers.get("authorization") == f"Bearer {self.key}"

    def _line_refusal(self, line: dict[str, Any]) -> str | None:
        if set(line) != {"custom_id", "method", "url", "body"}:
            return "The request has missing or unknown keys."
        if (line["method"], line["url"]) != ("POST", "/v1/embeddings"):
            return "The provided URL does not match the batch endpoint."
        if line["body"].get("model") not in DIMS:
            return f"The provided model '{line['body'].get('model')}' is not supported."
        return None

    def _refusal(self, request: dict[str, Any]) -> tuple[int, Any] | None:
        if self.strict and request.keys() - KEYS:
            return 400, complaint("Unrecognized request argument supplied", "invalid_request_error")
        model = request.get("model")
        if model not in DIMS and self.strict:
            words = f"The model `{model}` does not exist or you do not have access to it."
            return 404, complaint(words, "invalid_request_error", "model_not_found")
        if "dimensions" in request and model not in SHORTENABLE and self.strict:
            words = "This model does not support specifying dimensions."
            return 400, complaint(words, "invalid_request_error")
        texts = request.get("input")
        return self._too_much([texts] if isinstance(texts, str) else texts)

    def _too_much(self, texts: Any) -> tuple[int, Any] | None:
        if not isinstance(texts, list) or not texts or not all(texts):
            return 400, complaint("'$.input' is invalid.", "invalid_request_error")
        if len(texts) > self.most:
            words = f"'$.input' is invalid: array too long, maximum length {self.most}"
            return 400, complaint(words, "invalid_request_error", "array_above_max_length")
        counts = [len(text.split()) for text in texts]
        if max(counts) > 8192:
            words = (
                "This model's maximum context length is 8192 tokens, however you requested "
                f"{max(counts)} tokens ({max(counts)} in your prompt). Please reduce your prompt."
            )
            return 400, complaint(words, "invalid_request_error")
        if sum(counts) > self.most_tokens:
            words = f"Requested {sum(counts)} tokens, max {self.most_tokens} tokens per request"
            return 400, complaint(words, "max_tokens_per_request", "max_tokens_per_request")
        return None

    def _embedded(self, request: dict[str, Any]) -> dict[str, Any]:
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        dims = request.get("dimensions") or DIMS.get(request["model"], 8)
        packed = request.get("encoding_format") == "base64" and self.base64
        data = []
        for index, text in enumerate(texts):
            vector: Any = vector_of(text, dims)
            if packed:
                vector = base64.b64encode(struct.pack(f"<{dims}f", *vector)).decode()
            data.append({"object": "embedding", "index": index, "embedding": vector})
        tokens = sum(len(text.split()) for text in texts)
        return {
            "object": "list",
            "model": request["model"],
            "data": data,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }


def complaint(message: str, type_: str, code: str | None = None) -> dict[str, Any]:
    """An error body."""
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}
