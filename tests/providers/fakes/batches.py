"""``/files`` and ``/batches``, as OpenAI's reference describes them, and Voyage's copies them."""

from __future__ import annotations

import json
from email.parser import BytesParser
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Reply = tuple[int, dict[str, str], bytes]


class FileBatches:
    """A job needs ``polls`` looks; then it is in the state ``end``.

    ``check`` says what is wrong with a line, ``answer`` gives a line's (status, body), ``begin``
    says what is wrong with a job's beginning. Ids in ``refused`` fail, those in ``silent`` are
    nowhere in the results. With ``storage`` a download is redirected to there.
    """

    def __init__(
        self,
        *,
        check: Callable[[dict[str, Any]], str | None],
        answer: Callable[[dict[str, Any], dict[str, Any]], tuple[int, Any]],
        begin: Callable[[dict[str, Any]], str | None],
        complain: Callable[[str], Any],
    ) -> None:
        self.polls = 1
        self.end = "completed"
        self.refused: set[str] = set()
        self.silent: set[str] = set()
        self.storage = ""
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self._check, self._answer, self._begin = check, answer, begin
        self._complain = complain
        self._left: dict[str, int] = {}

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """``path`` begins behind the version."""
        place, _, query = path.partition("?")
        kind, *parts = place.strip("/").split("/")
        answered = None
        if kind == "files":
            answered = self._of_files(method, parts, headers, body)
        elif kind == "batches":
            answered = self._of_batches(method, parts, parse_qs(query), body)
        return answered or self._said(404, self._complain(f"No such thing: {method} {place}"))

    def _of_files(
        self, method: str, parts: list[str], headers: Mapping[str, str], body: bytes
    ) -> Reply | None:
        match [method, *parts]:
            case ["POST"]:
                return self._upload(headers, body)
            case ["GET", id_, "content"] if id_ in self.files:
                if self.storage:
                    there = f"{self.storage}/storage/{id_}?X-Signature=signed-{id_}"
                    return 307, {"location": there}, b""
                return 200, {"content-type": "application/octet-stream"}, self.files[id_][1]
            case ["GET", id_] if id_ in self.files:
                return self._said(200, self._file(id_))
            case ["DELETE", id_] if id_ in self.files:
                del self.files[id_]
                return self._said(200, {"id": id_, "object": "file", "deleted": True})
        return None

    def _of_batches(
        self, method: str, parts: list[str], query: Mapping[str, list[str]], body: bytes
    ) -> Reply | None:
        match [method, *parts]:
            case ["POST"]:
                return self._create(json.loads(body))
            case ["GET"]:
                return self._list(query)
            case ["GET", id_] if id_ in self.batches:
                self._move(id_)
                return self._said(200, self.batches[id_])
            case ["POST", id_, "cancel"] if id_ in self.batches and not body:
                self.batches[id_]["status"] = "cancelling"
                return self._said(200, self.batches[id_])
        return None

    def stored(self, path: str, headers: Mapping[str, str]) -> Reply:
        """What a storage gives: credentials of others are refused, as S3 does."""
        id_ = path.rpartition("/")[2].partition("?")[0]
        if "authorization" in headers or f"signed-{id_}" not in path:
            return 400, {}, b"<Error>Only one auth mechanism allowed</Error>"
        return 200, {"content-type": "binary/octet-stream"}, self.files[id_][1]

    def _upload(self, headers: Mapping[str, str], body: bytes) -> Reply:
        head = f"content-type: {headers.get('content-type', '')}\r\n\r\n".encode()
        message = BytesParser().parsebytes(head + body)
        if message.get_content_type() != "multipart/form-data" or not message.is_multipart():
            return self._said(400, self._complain("multipart/form-data is expected"))
        fields: dict[str, tuple[str | None, bytes]] = {}
        for part in message.get_payload():
            name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]  # parts of a multipart are messages
            fields[str(name)] = (part.get_filename(), part.get_payload(decode=True))  # type: ignore[union-attr, assignment]  # as above
        if fields.get("purpose", (None, b""))[1] != b"batch" or "file" not in fields:
            return self._said(400, self._complain("'purpose' must be 'batch', and 'file' given"))
        name, content = fields["file"]
        if not name or not name.endswith(".jsonl"):
            return self._said(400, self._complain("Invalid file format for Batch API: .jsonl"))
        return self._said(200, self._file(self._keep(name, content)))

    def _create(self, asked: dict[str, Any]) -> Reply:
        wrong = self._begin(asked)
        metadata = asked.get("metadata") or {}
        if len(metadata) > 16 or any(len(k) > 64 or len(v) > 512 for k, v in metadata.items()):
            wrong = "Invalid 'metadata'"
        if asked.get("endpoint") != "/v1/embeddings":
            wrong = "Invalid value for 'endpoint'"
        if asked.get("input_file_id") not in self.files:
            wrong = "Invalid 'input_file_id': no such file"
        if wrong:
            return self._said(400, self._complain(wrong))
        id_ = f"batch_{len(self.batches) + 1}"
        self._left[id_] = self.polls
        self.batches[id_] = {
            "id": id_,
            "object": "batch",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "created_at": 1_790_000_000 + len(self.batches),
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            **asked,
        }
        return self._said(200, self.batches[id_])

    def _list(self, query: Mapping[str, list[str]]) -> Reply:
        newest = list(reversed(self.batches.values()))
        if "after" in query:
            ids = [batch["id"] for batch in newest]
            newest = newest[ids.index(query["after"][0]) + 1 :]
        most = int(query.get("limit", ["20"])[0])
        if most > 100:
            return self._said(400, self._complain("'limit' must be at most 100"))
        page = {"object": "list", "data": newest[:most], "has_more": len(newest) > most}
        return self._said(200, page)

    def _move(self, id_: str) -> None:
        batch = self.batches[id_]
        if batch["status"] == "cancelling":
            self._finish(batch, "cancelled")
        if batch["status"] not in ("validating", "in_progress", "finalizing"):
            return
        self._left[id_] -= 1
        if self._left[id_] >= 0:
            batch["status"] = "in_progress"
            return
        self._finish(batch, self.end)

    def _finish(self, batch: dict[str, Any], end: str) -> None:
        lines = self.files[batch["input_file_id"]][1].split(b"\n")
        wrong = self._wrong(lines)
        if wrong is not None or end == "failed":
            data = [wrong or {"code": "rejected", "message": "rejected", "line": 1, "param": None}]
            batch.update(status="failed", errors={"object": "list", "data": data})
            return
        asked = [json.loads(line) for line in lines if line]
        done = len(asked) if end == "completed" else len(asked) // 2
        good: list[Any] = []
        bad: list[Any] = []
        for place, line in enumerate(asked):
            if line["custom_id"] in self.silent:
                continue
            if place >= done:
                error = {"code": f"batch_{end}", "message": "This request was not executed."}
                bad.append({"custom_id": line["custom_id"], "response": None, "error": error})
                continue
            status, body = self._answer(line, batch)
            if line["custom_id"] in self.refused:
                status, body = 400, self._complain("this text is refused")
            response = {"status_code": status, "request_id": f"r{place}", "body": body}
            kept = good if status == 200 else bad
            kept.append({"custom_id": line["custom_id"], "response": response, "error": None})
        counts = {"total": len(asked), "completed": len(good), "failed": len(bad)}
        batch.update(status=end, request_counts=counts)
        good.reverse()  # in any order
        for name, kept in (("output_file_id", good), ("error_file_id", bad)):
            if kept:
                content = b"".join(json.dumps(line).encode() + b"\n" for line in kept)
                batch[name] = self._keep(f"{batch['id']}_{name}.jsonl", content)

    def _wrong(self, lines: list[bytes]) -> dict[str, Any] | None:
        seen: set[str] = set()
        if lines and not lines[-1]:
            lines = lines[:-1]
        for number, raw in enumerate(lines, 1):
            try:
                line = json.loads(raw)
                message = self._check(line)
            except ValueError:
                line, message = {}, "This line is not parseable as valid JSON."
            if line.get("custom_id") in seen:
                message = "The custom_id for this request is a duplicate of another request."
            seen.add(line.get("custom_id"))
            if message:
                return {"code": "invalid", "message": message, "line": number, "param": None}
        return None if lines else {"code": "empty_file", "message": "The file is empty."}

    def _keep(self, name: str, content: bytes) -> str:
        id_ = f"file-{len(self.files) + len(self.batches) + 1}-{len(content)}"
        self.files[id_] = (name, content)
        return id_

    def _file(self, id_: str) -> dict[str, Any]:
        name, content = self.files[id_]
        return {
            "id": id_,
            "object": "file",
            "bytes": len(content),
            "created_at": 1_790_000_000,
            "filename": name,
            "purpose": "batch",
            "status": "processed",
        }

    def _said(self, status: int, body: Any) -> Reply:
        return status, {"content-type": "application/json"}, json.dumps(body).encode()
