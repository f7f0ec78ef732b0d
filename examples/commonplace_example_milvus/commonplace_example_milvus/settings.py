"""What a configuration may say of the store: the section ``memory.milvus``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.plugin import Group, Secret, WrongValueError, expand_user, setting

if TYPE_CHECKING:
    from commonplace.plugin import Reading


def _address(raw: object, reading: Reading) -> str:
    text = reading.text(raw)
    if "://" in text:
        return text
    if not text.endswith(".db"):
        raise WrongValueError('must end in ".db", or be an address such as "http://host:19530"')
    return os.path.join(reading.base, expand_user(text, reading.env))


class MilvusSettings(Group):
    """``memory.milvus``, resolved."""

    uri: str | None = setting(
        "A file that ends in `.db`, kept by Milvus Lite within this process, or the address "
        "of a server or cluster, `http://host:19530`.",
        default=None,
        read=_address,
        schema={"type": "string"},
        shown="a file beside the index of the builtin backend",
    )
    token: Secret | None = setting(
        "What the server wants to see: `user:password`, or a key.", default=None
    )
    collection: str | None = setting(
        "What the names of the collections begin with: letters, digits, underscores.",
        default=None,
        shown="a name for each agent and workspace",
    )
    timeout_seconds: float = setting(
        "Time for one request that no search waits for.", default=30.0, unit="s", minimum=0.1
    )
