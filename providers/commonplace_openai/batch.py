"""Batch jobs of OpenAI's: half the price, done within a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import FileBatches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.plugin import BatchJobs, RemoteClient

__all__ = ["openai_batches"]

_URL = "/v1/embeddings"


def openai_batches(
    client: Callable[[], RemoteClient],
    *,
    body: Callable[[Sequence[str]], dict[str, Any]],
    dims: int | None,
) -> BatchJobs:
    """The jobs of a provider that has these connections, and sends ``body`` for texts."""

    def line(custom_id: str, text: str) -> dict[str, Any]:
        said = body([text])
        said["input"] = said["input"][0]
        return {"custom_id": custom_id, "method": "POST", "url": _URL, "body": said}

    def wanted() -> dict[str, Any]:
        return {"endpoint": _URL, "completion_window": "24h"}

    return FileBatches(client, line=line, wanted=wanted, dims=dims)
