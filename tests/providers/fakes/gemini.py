"""Gemini's embedding calls, as Google's reference describes them."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

BATCHES = runpy.run_path(str(Path(__file__).with_name("gemini_batches.py")))["Batches"]
KEY = "sekrit-0123456789-abcdef"
FULL = 3072
BODY_BYTES = 4_194_304
MODELS = {"gemini-embedding-001", "gemini-embedding-2"}
FIELDS = {"model", "content", "taskType", "title", "outputDimensionality"}
TASKS = {
    *("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "SEMANTIC_SIMILARITY", "CLASSIFICATION"),
    *("CLUSTERING", "QUESTION_ANSWERING", "FACT_VERIFICATION", "CODE_RETRIEVAL_QUERY"),
}
PATH = re.compile(r"/v1(?:beta)?/models/([^/:]+):(embedContent|batchEmbedContents)")


def vector_of(model: str, task: str, text: str, dims: int) -> list[float]:
    """As long as asked for; of length 1 where the model gives such, which 001 seldom does."""
    seen = f"{model}\n{'' if model == 'gemini-embedding-2' else task}\n{text}"
    raw = hashlib.shake_128(seen.encode()).digest(2 * FULL)
    whole = [value - 32767.5 for (value,) in struct.iter_unpack("<H", raw)]
    kept = whole[:dims]
    measured = kept if model == "gemini-embedding-2" else whole
    norm = sum(value * value for value in measured) ** 0.5
    return [round(value / norm, 7) for value in kept]


class Vendor:
    """Truncates without a word, fuses the parts of a content, and has no index in its answers."""

    key = KEY

    def __init__(self) -> None:
        self.batches = BATCHES(embedded)

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        try:
            if self.batches.takes(path):
                if not self.batches.is_upload(path):
                    self._admit(headers)
                answered: tuple[int, dict[str, str], bytes] = self.batches.respond(
                    method, path, headers, body
                )
                return answered
            answer = self._answer(method, path, headers, body)
        except Refusal as refusal:
            return refusal.status, {}, json.dumps({"error": refusal.error}).encode()
        return 200, {}, json.dumps(answer).encode()

    def _answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        called = PATH.fullmatch(path)
        if method != "POST" or called is None:
            raise Refusal(404, "NOT_FOUND", f"{path} was not found on this server.")
        self._admit(headers)
        model, call = called.groups()
        if model not in MODELS:
            words = f"models/{model} is not found for API version v1beta, or is not supported."
            raise Refusal(404, "NOT_FOUND", words)
        if len(body) > BODY_BYTES:
            raise Refusal(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit.")
        request = json.loads(body)
        if call == "embedContent":
            return {"embedding": {"values": embedded(model, request)}}
        requests = request.get("requests")
        if set(request) != {"requests"} or not requests:
            raise Refusal(400, "INVALID_ARGUMENT", "BatchEmbedContentsRequest.requests: missing")
        if len(requests) > 100:
            words = "BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch"
            raise Refusal(400, "INVALID_ARGUMENT", words)
        for one in requests:
            if one.get("model") != f"models/{model}":
                words = "BatchEmbedContentsRequest.requests: model must match the request's"
                raise Refusal(400, "INVALID_ARGUMENT", words)
        return {"embeddings": [{"values": embedded(model, one)} for one in requests]}

    def _admit(self, headers: Mapping[str, str]) -> None:
        key = headers.get("x-goog-api-key")
        if key is None and "authorization" not in headers:
            words = "Method doesn't allow unregistered callers. Please use API Key."
            raise Refusal(403, "PERMISSION_DENIED", words)
        if key is not None and key != self.key:
            raise Refusal(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"},
            )


class Refusal(Exception):  # noqa: N818 - not an error of the fake, but its answer
    def __init__(self, status: int, name: str, message: str, *details: Any) -> None:
        self.status = status
        self.error = {"code": status, "message": message, "status": name}
        if details:
            self.error["details"] = list(details)


def embedded(model: str, request: dict[str, Any]) -> list[float]:
    unknown = set(request) - FIELDS
    if unknown:
        words = f'Invalid JSON payload received. Unknown name "{unknown.pop()}"'
        raise Refusal(400, "INVALID_ARGUMENT", words)
    task = request.get("taskType", "")
    if task and task not in TASKS:
        raise Refusal(400, "INVALID_ARGUMENT", f"Invalid value at 'task_type': {task}")
    if "title" in request and task != "RETRIEVAL_DOCUMENT":
        raise Refusal(400, "INVALID_ARGUMENT", "title is only for RETRIEVAL_DOCUMENT")
    dims = request.get("outputDimensionality", FULL)
    if not 128 <= dims <= FULL:
        raise Refusal(400, "INVALID_ARGUMENT", "output_dimensionality must be in 128..3072")
    text = "".join(part["text"] for part in request["content"]["parts"])
    return vector_of(model, task, text, dims)
