"""Gemini's uploads and batch jobs, as Google's reference describes them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Reply = tuple[int, dict[str, str], bytes]
CREDENTIAL = "AcredentialOfTheUploadAlone"
CREATE = re.compile(r"models/([^/:]+):asyncBatchEmbedContent")
LINE = {"content", "taskType", "title", "outputDimensionality"}


class Batches:
    """A job needs ``polls`` looks; then it is in the state ``end``.

    ``embed`` answers a model's request; keys in ``refused`` fail, those in ``silent`` are nowhere.
    ``prefix`` is how states are written. ``by_host`` gives downloads by the other path alone;
    ``host`` is where uploads are sent to, if not here.
    """

    def __init__(self, embed: Callable[[str, dict[str, Any]], list[float]]) -> None:
        self.polls = 1
        self.end = "SUCCEEDED"
        self.prefix = "BATCH_STATE_"
        self.by_host = False
        self.host = ""
        self.refused: set[str] = set()
        self.silent: set[str] = set()
        self.files: dict[str, bytes] = {}
        self.operations: dict[str, dict[str, Any]] = {}
        self._embed = embed
        self._inputs: dict[str, str] = {}
        self._left: dict[str, int] = {}
        self._promised: dict[str, int] = {}

    def takes(self, path: str) -> bool:
        """Whether this part answers."""
        return path.startswith(("/upload/", "/download/")) or bool(
            re.match(r"/v1(beta)?/(files|batches|models/[^/]+:async)", path)
        )

    def is_upload(self, path: str) -> bool:
        """Whether the address alone gives leave."""
        return f"upload_id={CREDENTIAL}" in path

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        place, _, query = path.partition("?")
        if place.startswith("/upload/"):
            return self._upload(method, path, headers, body) or _gone(place)
        by_host = place.startswith("/download/")
        name = re.sub(r"^(/download)?/v1(beta)?/", "", place)
        if name.endswith(":download"):
            return self._download(name.removesuffix(":download"), query, by_host) or _gone(place)
        created = CREATE.fullmatch(name)
        if method == "POST" and created:
            return self._create(created[1], json.loads(body))
        if method == "GET" and name == "batches":
            return self._list(parse_qs(query))
        return self._named(method, name) or _gone(place)

    def _named(self, method: str, name: str) -> Reply | None:
        if method == "GET" and name in self.operations:
            self._move(name)
            return _said(self.operations[name])
        if method == "POST" and name.endswith(":cancel") and name[:-7] in self.operations:
            self._finish(name[:-7], "CANCELLED")
            return _said({})
        if method == "DELETE" and name in {**self.files, **self.operations}:
            self.files.pop(name, None)
            self.operations.pop(name, None)
            return _said({})
        return None

    def _upload(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Reply | None:
        place = path.partition("?")[0]
        command = headers.get("x-goog-upload-command", "")
        if method != "POST" or not re.fullmatch(r"/upload/v1(beta)?/files", place):
            return None
        if command == "start" and headers.get("x-goog-upload-protocol") == "resumable":
            if set(json.loads(body)) - {"file"}:
                return _refused(400, "Unknown name")
            self._promised[CREDENTIAL] = int(headers["x-goog-upload-header-content-length"])
            host = self.host or f"http://{headers['host']}"
            there = f"{host}{place}?upload_id={CREDENTIAL}&upload_protocol=resumable"
            return 200, {"x-goog-upload-url": there, "x-goog-upload-status": "active"}, b""
        if command != "upload, finalize" or not self.is_upload(path):
            return _refused(400, "Upload command is not valid.")
        if headers.get("x-goog-upload-offset") != "0" or len(body) != self._promised[CREDENTIAL]:
            return _refused(400, "Upload is not of the length that was promised.")
        name = f"files/in-{len(self.files)}-{len(body)}"
        self.files[name] = body
        held = {"name": name, "state": "ACTIVE", "sizeBytes": str(len(body)), "uri": f"x/{name}"}
        return 200, {"x-goog-upload-status": "final"}, json.dumps({"file": held}).encode()

    def _create(self, model: str, asked: dict[str, Any]) -> Reply:
        batch = asked.get("batch", {})
        config = batch.get("inputConfig") or batch.get("input_config") or {}
        file = config.get("fileName") or config.get("file_name")
        if set(asked) != {"batch"} or not batch.get("displayName") or file not in self.files:
            return _refused(400, "batch.input_config.file_name is not valid")
        name = f"batches/b{len(self.operations) + 1}"
        self._inputs[name], self._left[name] = file, self.polls
        self.operations[name] = {
            "name": name,
            "metadata": {
                "@type": "type.googleapis.com/EmbedContentBatch",
                "name": name,
                "model": f"models/{model}",
                "displayName": batch["displayName"],
                "state": f"{self.prefix}PENDING",
                "createTime": "2026-11-01T10:00:00Z",
                "batchStats": {"requestCount": "0"},
            },
        }
        return _said(self.operations[name])

    def _list(self, query: Mapping[str, list[str]]) -> Reply:
        newest = list(reversed(self.operations.values()))
        begin = int(query.get("pageToken", ["0"])[0])
        size = int(query.get("pageSize", ["10"])[0])
        page: dict[str, Any] = {"operations": newest[begin : begin + size]}
        if len(newest) > begin + size:
            page["nextPageToken"] = str(begin + size)
        return _said(page if newest else {})

    def _download(self, name: str, query: str, by_host: bool) -> Reply | None:
        if name not in self.files or by_host != self.by_host:
            return None
        if "alt=media" not in query:
            return _refused(400, "A download needs alt=media.")
        return 200, {"content-type": "application/octet-stream"}, self.files[name]

    def _move(self, name: str) -> None:
        operation = self.operations[name]
        if operation.get("done"):
            return
        self._left[name] -= 1
        if self._left[name] >= 0:
            operation["metadata"]["state"] = f"{self.prefix}RUNNING"
        else:
            self._finish(name, self.end)

    def _finish(self, name: str, end: str) -> None:
        operation = self.operations[name]
        metadata = operation["metadata"]
        metadata["state"] = f"{self.prefix}{end}"
        operation["done"] = True
        if end != "SUCCEEDED":
            operation["error"] = {"code": 13, "message": f"The batch was {end.lower()}."}
            return
        lines = [json.loads(line) for line in self.files[self._inputs[name]].split(b"\n") if line]
        made = [self._line(metadata["model"].partition("/")[2], line) for line in lines]
        kept = [line for line in made if line["key"] not in self.silent]
        file = f"files/batch-{name.partition('/')[2]}"
        self.files[file] = b"".join(json.dumps(line).encode() + b"\n" for line in kept)
        good = sum("response" in line for line in kept)
        metadata["batchStats"] = {
            "requestCount": str(len(lines)),
            "successfulRequestCount": str(good),
            "failedRequestCount": str(len(lines) - good),
        }
        metadata["output"] = {"responsesFile": file}
        operation["response"] = {"@type": "EmbedContentBatchOutput", "responsesFile": file}

    def _line(self, model: str, line: dict[str, Any]) -> dict[str, Any]:
        if set(line) != {"key", "request"} or set(line["request"]) - LINE:
            return {"key": line.get("key"), "error": {"code": 3, "message": "Unknown name"}}
        if line["key"] in self.refused:
            return {"key": line["key"], "error": {"code": 3, "message": "this text is refused"}}
        embedding = {"values": self._embed(model, line["request"])}
        return {"key": line["key"], "response": {"embedding": embedding, "tokenCount": "4"}}


def _said(body: Any) -> Reply:
    return 200, {}, json.dumps(body).encode()


def _refused(status: int, message: str) -> Reply:
    error = {"code": status, "message": message, "status": "INVALID_ARGUMENT"}
    return status, {}, json.dumps({"error": error}).encode()


def _gone(place: str) -> Reply:
    error = {"code": 404, "message": f"{place} was not found.", "status": "NOT_FOUND"}
    return 404, {}, json.dumps({"error": error}).encode()
