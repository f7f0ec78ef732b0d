"""Batch jobs of Voyage's: a third off the price, done within half a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import FileBatches

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import BatchJobs, RemoteClient

__all__ = ["voyage_batches"]


def voyage_batches(
    client: Callable[[], RemoteClient], *, parameters: dict[str, Any], prefix: str, dims: int | None
) -> BatchJobs:
    """The jobs of a provider that has these connections, and says ``parameters`` of all texts."""

    def line(custom_id: str, text: str) -> dict[str, Any]:
        return {"custom_id": custom_id, "body": {"input": [prefix + text]}}

    def wanted() -> dict[str, Any]:
        return {
            "endpoint": "/v1/embeddings",
            "completion_window": "12h",
            "request_params": parameters,
        }

    return FileBatches(client, line=line, wanted=wanted, dims=dims)
