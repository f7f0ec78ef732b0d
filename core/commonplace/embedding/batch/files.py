"""Batch jobs by files of JSON lines, uploaded with texts and downloaded with vectors."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

import httpx

from commonplace.embedding.http.answers import AnswerError, Asked, loads
from commonplace.embedding.http.errors import message_of
from commonplace.embedding.http.provider import vectors_of
from commonplace.errors import ProviderError
from commonplace.protocols.providers import BatchLimits, BatchLine, BatchState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from commonplace.embedding.http.client import Answer, RemoteClient
    from commonplace.resilience.deadline import Deadline


_STATES: dict[str, Literal["running", "done", "failed", "expired", "cancelled"]] = {
    "completed": "done",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
_PAGES = 3
_PAGE = 100
_METADATA = "commonplace"


class UploadedBatches:
    """Batch jobs whose lines are uploaded as a file, and whose results are downloaded as one.

    A vendor's class adds ``find``, ``poll``, ``collect``, ``cancel`` and ``clean`` to the methods
    that raise ``NotImplementedError`` here. ``client`` gives the connection; ``dims`` is the length
    that vectors must have, if one is asked for.
    """

    limits = BatchLimits()

    def __init__(self, client: Callable[[], RemoteClient], *, dims: int | None) -> None:
        self.client = client
        self._dims = dims
        self._uploaded: dict[str, str] = {}

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        """Upload the lines, unless they were, and begin."""
        file = self._uploaded.get(name) or self.upload(name, lines, deadline)
        self._uploaded[name] = file
        try:
            job = self.begin(name, file, deadline)
        except ProviderError as error:
            if error.kind not in ("rate_limit", "unavailable", "timeout"):
                del self._uploaded[name]
                self.delete(file, deadline)
            raise
        del self._uploaded[name]
        return job

    def upload(self, name: str, lines: Mapping[str, str], deadline: Deadline) -> str:
        """Upload ``lines`` (custom id -> text); the file's id."""
        raise NotImplementedError

    def begin(self, name: str, file: str, deadline: Deadline) -> str:
        """Begin a job; its id."""
        raise NotImplementedError

    def check(self, client: RemoteClient, answer: Answer) -> dict[str, Any]:
        """The body of an answer about batch jobs; raises for any other."""
        raise NotImplementedError

    def delete(self, path: str, deadline: Deadline) -> None:
        """Delete a file or job; errors are ignored, since it expires by itself."""
        with suppress(ProviderError):
            self.request("DELETE", path, deadline)

    def request(
        self,
        method: str,
        path: str,
        deadline: Deadline,
        *,
        query: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """One checked request; ``options`` as those of :meth:`RemoteClient.request`."""
        client = self.client()
        url = client.url(path)
        if query:
            url = url.copy_merge_params(query)
        return self.check(client, client.request(method, url, deadline=deadline, **options))

    def taken_up(self, name: str) -> str:
        """Forget the upload of a job that :meth:`find` has found; its file's id, or ``""``."""
        return self._uploaded.pop(name, "")

    def line(self, id_: str, error: str, read: Callable[[], Sequence[float]]) -> BatchLine:
        """The result of one text: ``error``, else what ``read`` returns, or its ``ValueError``."""
        if not error:
            try:
                vector = read()
            except ValueError as wrong:
                error = str(wrong)
            else:
                if self._dims is None or len(vector) == self._dims:
                    return BatchLine(id_, vector)
                error = f"{self._dims} dimensions were asked for, and {len(vector)} came back"
        return BatchLine(id_, error=self.message(error))

    def message(self, words: str) -> str:
        """``words`` on one line and without secrets."""
        return str(self.client().error("bad_request", words)) if words else ""


class FileBatches(UploadedBatches):
    """Jobs by ``/files`` and ``/batches``, a form that OpenAI made common.

    ``line`` makes the line of a custom id and its text; ``wanted`` are the fields of a job besides
    file and name.
    """

    def __init__(
        self,
        client: Callable[[], RemoteClient],
        *,
        line: Callable[[str, str], dict[str, Any]],
        wanted: Mapping[str, Any],
        dims: int | None,
    ) -> None:
        super().__init__(client, dims=dims)
        self._line = line
        self._wanted = wanted

    def upload(self, name: str, lines: Mapping[str, str], deadline: Deadline) -> str:
        """Upload the lines in a form with one file."""
        from secrets import token_hex

        content = lines_of(self._line(id_, text) for id_, text in lines.items())
        # Stated here, since a content type among the user's headers would replace httpx's own.
        boundary = token_hex(16)
        answer = self.request(
            "POST",
            "files",
            deadline,
            data={"purpose": "batch"},
            files={"file": (f"{name}.jsonl", content, "application/jsonl")},
            headers={"content-type": f"multipart/form-data; boundary={boundary}"},
        )
        return self._id_of(answer)

    def begin(self, name: str, file: str, deadline: Deadline) -> str:
        """Begin a job that has its name in its metadata."""
        body = {"input_file_id": file, "metadata": {_METADATA: name}, **self._wanted}
        return self._id_of(self.request("POST", "batches", deadline, json_body=body))

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        """Look through the latest jobs; ``None`` too if the server cannot list them."""
        after: dict[str, Any] = {}
        for _ in range(_PAGES):
            query = {"limit": _PAGE, **after}
            try:
                page = self.request("GET", "batches", deadline, query=query)
            except ProviderError as error:
                if error.kind == "not_found":
                    return None
                raise
            jobs = [job for job in page.get("data") or () if isinstance(job, dict)]
            for job in jobs:
                if (job.get("metadata") or {}).get(_METADATA) == name:
                    self.taken_up(name)
                    return self._id_of(job)
            if not jobs or not page.get("has_more"):
                break
            after = {"after": jobs[-1].get("id")}
        return None

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        """The state of the job."""
        batch = self.request("GET", f"batches/{job}", deadline)
        counts = batch.get("request_counts") or {}
        return BatchState(
            _STATES.get(str(batch.get("status")), "running"),
            self.message(_reason(batch)),
            _count(counts.get("completed")) + _count(counts.get("failed")),
            _count(counts.get("total")),
        )

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        """The lines of its output, then those of its errors."""
        batch = self.request("GET", f"batches/{job}", deadline)
        client = self.client()
        for name in ("output_file_id", "error_file_id"):
            if not (file := batch.get(name)):
                continue
            for line in downloaded(client, client.url(f"files/{file}/content"), deadline=deadline):
                if isinstance(line.get("custom_id"), str):
                    yield self._read(line)

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        """Stop it; what was finished by then stays."""
        self.request("POST", f"batches/{job}/cancel", deadline, content=b"")

    def clean(self, job: str, *, deadline: Deadline) -> None:
        """Delete its input, its output and its errors."""
        batch = self.request("GET", f"batches/{job}", deadline)
        for name in ("input_file_id", "output_file_id", "error_file_id"):
            if batch.get(name):
                self.delete(batch[name], deadline)

    def delete(self, path: str, deadline: Deadline) -> None:
        """Delete a file."""
        super().delete(f"files/{path}", deadline)

    def check(self, client: RemoteClient, answer: Answer) -> dict[str, Any]:
        """A job or a list of them; anything else is an error, perhaps one with status 200."""
        body = answer.body
        if isinstance(body, dict) and (body.get("id") or body.get("data") is not None):
            return body
        if message_of(body):  # proxies pass on an upstream's error with a status of 200
            raise client.error_from(502, answer.headers, body)
        raise client.error("protocol", "the answer is none about a batch", headers=answer.headers)

    def _read(self, line: Mapping[str, Any]) -> BatchLine:
        response = line.get("response")
        response = response if isinstance(response, dict) else {}
        body = response.get("body")
        error = ""
        if line.get("error") or response.get("status_code") != 200:
            error = message_of(line.get("error") or body) or "a text was not answered"
        return self.line(line["custom_id"], error, lambda: vectors_of(body, 1)[0])

    def _id_of(self, body: Mapping[str, Any]) -> str:
        id_ = body.get("id")
        # It becomes part of an address.
        if isinstance(id_, str) and id_.isascii() and id_.translate(_SIGNS).isalnum():
            return id_
        raise self.client().error("protocol", "the answer has no id that can be one")


_SIGNS = {ord(sign): "a" for sign in "-_:"}


def _reason(batch: Mapping[str, Any]) -> str:
    errors = batch.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else errors
    return message_of(listed)


def _count(value: Any) -> int:
    return value if type(value) is int else 0


_HOPS = 5
_ONE_TEXT = Asked(1)
_FRAME = 400  # bytes, more than any vendor's line has besides its text
_BREAKS = re.compile("[\x85\u2028\u2029]")  # JSON lets them stand, and some readers split at them


def lines_of(objects: Iterable[object]) -> bytes:
    """A line of JSON for each, in UTF-8, without a blank line."""
    return b"".join(_encoded(one) + b"\n" for one in objects)


def grouped(
    ids: Iterable[str], texts: Mapping[str, str], limits: BatchLimits
) -> Iterator[tuple[str, ...]]:
    """``ids`` of ``texts``, in order, in groups whose lines one job may hold."""
    group: list[str] = []
    size = 0
    for id_ in ids:
        more = len(_encoded(texts[id_])) + _FRAME
        if group and (len(group) >= limits.lines or size + more > limits.bytes):
            yield tuple(group)
            group, size = [], 0
        group.append(id_)
        size += more
    if group:
        yield tuple(group)


def downloaded(client: RemoteClient, url: httpx.URL, *, deadline: Deadline) -> Iterator[Any]:
    """The objects of a file of JSON lines, fetched whole before the first is given.

    Redirects are followed, to another host without any credential, but never from https to http.
    Lines that are no JSON objects are left out. Raises
    :class:`~commonplace.errors.ProviderError`.
    """
    with TemporaryFile() as file:  # vectors alone are in it, and it has no name
        _fetch(client, url, file, deadline)
        file.seek(0)
        while line := file.readline(_ONE_TEXT.bytes):  # of a longer one, parts that are no JSON
            try:
                value = loads(bytearray(line), _ONE_TEXT)
            except (ValueError, AnswerError):
                continue
            if isinstance(value, dict):
                yield value


def is_same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    """Whether credentials for one may go to the other."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def _fetch(client: RemoteClient, url: httpx.URL, file: BinaryIO, deadline: Deadline) -> None:
    home = url
    for _ in range(_HOPS):
        fetcher = client if is_same_origin(home, url) else client.bare(str(url))
        try:
            status, headers, _ = fetcher.fetch("GET", url, deadline=deadline, into=file)
        finally:
            if fetcher is not client:
                fetcher.close()
        if status < 300:
            return
        try:
            target = url.join(headers["location"])
        except httpx.InvalidURL:
            raise client.error("protocol", "it redirects to what is no address", status) from None
        if target.scheme not in ("http", "https") or (url.scheme, target.scheme) == (
            "https",
            "http",
        ):
            raise client.error("protocol", "it redirects to an address that is not safe", status)
        url = target
    raise client.error("protocol", "it redirects again and again")


def _encoded(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = _BREAKS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text.encode("utf-8", "replace")
