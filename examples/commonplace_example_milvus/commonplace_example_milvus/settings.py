"""What a configuration may say of the store: the section ``memory.milvus``."""

from __future__ import annotations

from attrs import field, frozen

from commonplace.config import Secret, described

__all__ = ["MilvusSettings"]


@frozen
class MilvusSettings:
    """``memory.milvus``, resolved."""

    uri: str | None = field(
        default=None,
        metadata=described(
            "A file that ends in `.db`, kept by Milvus Lite within this process, or the address "
            "of a server or cluster, `http://host:19530`.",
            shown="a file beside the index of the builtin backend",
        ),
    )
    token: Secret | None = field(
        default=None,
        metadata=described("What the server wants to see: `user:password`, or a key."),
    )
    collection: str | None = field(
        default=None,
        metadata=described(
            "What the names of the collections begin with: letters, digits, underscores.",
            shown="one for each agent and workspace",
        ),
    )
    timeout_seconds: float = field(
        default=30.0,
        metadata=described("Time for one request that no search waits for.", unit="s", minimum=0.1),
    )
