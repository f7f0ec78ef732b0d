"""Voyage's ``/embeddings`` and batches, as its reference describes them."""

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
SERIES_4 = ("voyage-4-large", "voyage-4", "voyage-4-lite")
FLEXIBLE = (*SERIES_4, "voyage-3-large", "voyage-3.5", "voyage-3.5-lite", "voyage-code-3")
FIXED = ("voyage-finance-2", "voyage-law-2")
FIELDS = {
    *("model", "input", "input_type", "truncation"),
    *("output_dimension", "output_dtype", "encoding_format"),
}
PROMPTS = {
    None: "",
    "query": "Represent the query for retrieving supporting documents: ",
    "document": "Represent the document for retrieval: ",
}
CONTEXT = 32_000
LISTS = 1000


def vector_of(model: str, text: str, dims: int) -> list[float]:
    """A unit vector, the same from every model of series 4."""
    space = "voyage-4" if model in SERIES_4 else model
    raw = hashlib.shake_128(f"{space}\n{text}".encode()).digest(2 * dims)
    numbers = [value - 32767.5 for (value,) in struct.iter_unpack("<H", raw)]
    norm = sum(value * value for value in numbers) ** 0.5
    return [value / norm for value in numbers]


class Vendor:
    """Counts a token for each two characters, which is more than most people would guess."""

    key = KEY
    tokens = 120_000

    def __init__(self) -> None:
        self.batches = FILE_BATCHES(
            check=lambda line: (
                None
                if set(line) == {"custom_id", "body"} and set(line["body"]) == {"input"}
                else "extra fields not permitted"
            ),
            answer=self._line,
            begin=self._beginning,
            complain=lambda words: {"detail": words},
        )

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if path.startswith("/storage/"):
            stored: tuple[int, dict[str, str], bytes] = self.batches.stored(path, headers)
            return stored
        is_batch = path.startswith(("/v1/files", "/v1/batches"))
        if not is_batch and (method, path) != ("POST", "/v1/embeddings"):
            return 404, {}, b'{"detail": "Not Found"}'
        if headers.get("authorization") != f"Bearer {self.key}":
            return 401, {}, b'{"detail": "Provided API key is invalid."}'
        if is_batch:
            answered: tuple[int, dict[str, str], bytes] = self.batches.respond(
                method, path.removeprefix("/v1"), headers, body
            )
            return answered
        return self._embeddings(body)

    def _embeddings(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        request = json.loads(body)
        if set(request) - FIELDS or not isinstance(request.get("input"), list):
            wrong = [{"loc": ["body"], "msg": "extra fields not permitted", "type": "value_error"}]
            return 422, {}, json.dumps({"detail": wrong}).encode()
        refusal = self._refusal(request)
        if refusal:
            return 400, {}, json.dumps({"detail": refusal}).encode()
        return 200, {}, json.dumps(answer(request)).encode()

    def _line(self, line: dict[str, Any], batch: dict[str, Any]) -> tuple[int, Any]:
        request = {**batch["request_params"], **line["body"]}
        refusal = self._refusal(request)
        return (400, {"detail": refusal}) if refusal else (200, answer(request))

    def _beginning(self, asked: dict[str, Any]) -> str | None:
        if asked.get("completion_window") != "12h":
            return "Argument 'completion_window' is not valid."
        if set(asked.get("request_params", {})) - FIELDS or "model" not in asked["request_params"]:
            return "Argument 'request_params' is not valid."
        return None

    def _refusal(self, request: dict[str, Any]) -> str | None:
        model, texts = request.get("model"), request["input"]
        if model not in (*FLEXIBLE, *FIXED):
            return f"Model {model} is not supported. Supported models are {FLEXIBLE}."
        if request.get("input_type") not in PROMPTS:
            return "Argument 'input_type' is not valid."
        offered = (256, 512, 1024, 2048) if model in FLEXIBLE else ()
        if request.get("output_dimension") not in (None, *offered):
            return "Argument 'output_dimension' is not valid."
        if len(texts) > LISTS:
            return f"The batch size limit is {LISTS}. Your batch size is {len(texts)}."
        return self._too_much(texts, truncated=request.get("truncation", True))

    def _too_much(self, texts: list[str], *, truncated: bool) -> str | None:
        counts = [-(-len(text) // 2) for text in texts]
        if truncated:
            counts = [min(count, CONTEXT) for count in counts]
        if max(counts) > CONTEXT:
            return (
                f"The example at index {counts.index(max(counts))} in your batch has too many"
                " tokens and does not fit into the model's context window."
            )
        if sum(counts) > self.tokens:
            return (
                f"The max allowed tokens per submitted batch is {self.tokens}. Your batch has"
                f" {sum(counts)} tokens. Please lower the number of tokens in the batch."
            )
        return None


def answer(request: dict[str, Any]) -> dict[str, Any]:
    dims = request.get("output_dimension") or 1024
    prompt = PROMPTS[request.get("input_type")]
    data = []
    for index, text in enumerate(request["input"]):
        vector: Any = vector_of(request["model"], prompt + text[: 2 * CONTEXT], dims)
        if request.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{dims}f", *vector)).decode()
        data.append({"object": "embedding", "embedding": vector, "index": index})
    tokens = sum(len(text) // 2 for text in request["input"])
    return {
        "object": "list",
        "model": request["model"],
        "data": data,
        "usage": {"total_tokens": tokens},
    }
