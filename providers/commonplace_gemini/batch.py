"""Batch jobs of Gemini: half the price, usually done within a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from commonplace.plugin import (
    BatchLimits,
    BatchLine,
    BatchState,
    ProviderError,
    UploadedBatches,
    downloaded,
    is_same_origin,
    lines_of,
    message_of,
    numbers_of,
)
from commonplace_gemini.errors import list_of, status_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Literal

    from commonplace.plugin import Answer, Deadline, RemoteClient


_TYPE = "application/jsonl"
_PAGES = 3
_PAGE = 100
_KEPT = 4 * 86400.0  # a job ends after 48 h at the latest, and files live as long again
_STATES: dict[str, Literal["running", "done", "failed", "expired", "cancelled"]] = {
    "SUCCEEDED": "done",
    "PARTIALLY_SUCCEEDED": "done",
    "COMPLETED": "done",
    "DONE": "done",
    "FAILED": "failed",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
}


class GeminiBatches(UploadedBatches):
    """Jobs by ``asyncBatchEmbedContent``.

    A job's id is its own name and that of its input, with a space between: Google does not promise
    to return the latter again. ``make_request`` is the request for a text; with ``is_google``
    addresses for uploads are taken as they come, else their host is that of the base URL.
    """

    limits = BatchLimits(kept_seconds=_KEPT)

    def __init__(
        self,
        client: Callable[[], RemoteClient],
        *,
        model: str,
        make_request: Callable[[str], dict[str, Any]],
        dims: int | None,
        is_google: bool,
    ) -> None:
        super().__init__(client, dims=dims)
        self._model = model
        self._make_request = make_request
        self._is_google = is_google

    def begin(self, name: str, file: str, deadline: Deadline) -> str:
        """With the name as display name."""
        batch = {"displayName": name, "inputConfig": {"fileName": file}}
        path = f"models/{self._model}:asyncBatchEmbedContent"
        answer = self.request("POST", path, deadline, json_body={"batch": batch})
        return f"{self._named(answer, 'batches')} {file}"

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        """Look through the latest jobs."""
        token: dict[str, str] = {}
        for _ in range(_PAGES):
            page = self.request("GET", "batches", deadline, query={"pageSize": _PAGE, **token})
            for job in list_of(page.get("operations")):
                if _dict(_dict(job).get("metadata")).get("displayName") == name:
                    return f"{self._named(job, 'batches')} {self.taken_up(name)}".strip()
            if not page.get("nextPageToken"):
                break
            token = {"pageToken": page["nextPageToken"]}
        return None

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        """Its state, which is one level down."""
        held = self._held(job, deadline)
        metadata = _dict(held.get("metadata"))
        bare = str(metadata.get("state") or "").removeprefix("BATCH_STATE_")
        state = _STATES.get(bare.removeprefix("JOB_STATE_"), "running")
        if held.get("error"):
            reason = self.message(message_of(held))
            return BatchState("failed" if state in ("running", "done") else state, reason)
        if held.get("done") is True and state == "running":
            state = "done"
        counts = _dict(metadata.get("batchStats"))
        finished = _count(counts, "successfulRequestCount") + _count(counts, "failedRequestCount")
        return BatchState(state, "", finished, _count(counts, "requestCount"))

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        """The lines of its output."""
        file = _output(self._held(job, deadline))
        if not file:
            return
        client = self.client()
        for line in self._downloaded(client, file, deadline):
            if isinstance(line.get("key"), str):
                yield self._read(line)

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        """Stop it."""
        name = job.partition(" ")[0]
        self.request("POST", f"{name}:cancel", deadline, json_body={})

    def clean(self, job: str, *, deadline: Deadline) -> None:
        """Delete its output, its input and itself."""
        name, _, file = job.partition(" ")
        output = ""
        try:
            output = _output(self._held(job, deadline))
        except ProviderError as error:
            if error.kind != "not_found":  # it is gone already
                raise
        finally:
            for gone in (output, file, name):
                if gone:
                    self.delete(gone, deadline)

    def upload(self, name: str, lines: Mapping[str, str], deadline: Deadline) -> str:
        """In two steps: an address is requested first."""
        client = self.client()
        content = lines_of(
            {"key": id_, "request": self._one_request(text)} for id_, text in lines.items()
        )
        base = client.url("")
        before, _, version = base.path.rstrip("/").rpartition("/")
        status, headers, _ = client.fetch(
            "POST",
            base.copy_with(path=f"{before}/upload/{version}/files"),
            deadline=deadline,
            json_body={"file": {"display_name": name}},
            headers={
                "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": str(len(content)),
                "X-Goog-Upload-Header-Content-Type": _TYPE,
            },
        )
        address = headers.get("x-goog-upload-url", "")
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL:
            url = httpx.URL("")
        if not url.host:
            raise client.error("protocol", "it gave no address for an upload", status, headers)
        if not self._is_google:
            url = url.copy_with(scheme=base.scheme, host=base.host, port=base.port)
        # The address is a credential by itself, and it alone may go to another host.
        asked = client if is_same_origin(base, url) else client.bare(str(url))
        try:
            answer = asked.request(
                "POST",
                url,
                deadline=deadline,
                content=content,
                headers={
                    "X-Goog-Upload-Offset": "0",
                    "X-Goog-Upload-Command": "upload, finalize",
                    "content-type": _TYPE,
                },
            )
        finally:
            if asked is not client:
                asked.close()
        return self._named(_dict(answer.body).get("file"), "files")

    def _one_request(self, text: str) -> dict[str, Any]:
        request = self._make_request(text)
        del request["model"]  # the job's own
        return request

    def _downloaded(
        self, client: RemoteClient, file: str, deadline: Deadline
    ) -> Iterator[dict[str, Any]]:
        url = client.url(f"{file}:download")
        try:
            yield from downloaded(
                client, url.copy_merge_params({"alt": "media"}), deadline=deadline
            )
        except ProviderError as error:
            if error.kind != "not_found":
                raise
            before, _, version = client.url("").path.rstrip("/").rpartition("/")
            url = url.copy_with(path=f"{before}/download/{version}/{file}:download")
            url = url.copy_merge_params({"alt": "media"})
            yield from downloaded(client, url, deadline=deadline)

    def _read(self, line: Mapping[str, Any]) -> BatchLine:
        response = _dict(line.get("response"))
        error = ""
        if line.get("error") or not isinstance(line.get("response"), dict):
            error = message_of(line.get("error")) or "a text was not answered"
        values = _dict(response.get("embedding")).get("values")
        return self.line(line["key"], error, lambda: numbers_of(values))

    def _held(self, job: str, deadline: Deadline) -> dict[str, Any]:
        client = self.client()
        answer = client.request("GET", client.url(job.partition(" ")[0]), deadline=deadline)
        body = _dict(answer.body)
        # A failed job holds an error, and so does a proxy's answer; only the former has a name.
        if body.get("name"):
            return body
        raise self._strange(client, answer)

    def check(self, client: RemoteClient, answer: Answer) -> dict[str, Any]:
        """Any JSON object without an error."""
        if isinstance(answer.body, dict) and status_in(answer.body) is None:
            return answer.body
        raise self._strange(client, answer)

    def _strange(self, client: RemoteClient, answer: Answer) -> ProviderError:
        status = status_in(answer.body)
        if status is not None:
            return client.error_from(status, answer.headers, answer.body)
        return client.error("protocol", "the answer is none about a batch", headers=answer.headers)

    def _named(self, body: Any, kind: str) -> str:
        name = _dict(body).get("name")
        # It becomes part of an address.
        if isinstance(name, str):
            head, _, rest = name.partition("/")
            if head == kind and rest.isascii() and rest.translate(_SIGNS).isalnum():
                return name
        raise self.client().error("protocol", f"the answer names none of its {kind}")


_SIGNS = {ord(sign): "a" for sign in "-_"}


def _output(held: Mapping[str, Any]) -> str:
    metadata = _dict(held.get("metadata"))
    for part in (held.get("response"), metadata.get("output")):
        name = _dict(part).get("responsesFile")
        if isinstance(name, str) and name.startswith("files/"):
            return name
    return ""


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = str(counts.get(name, ""))  # int64 is a string in Google's JSON
    return int(value) if value.isascii() and value.isdigit() else 0


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
