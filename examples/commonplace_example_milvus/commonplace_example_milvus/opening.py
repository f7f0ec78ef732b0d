"""Opening the store that a configuration names."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from commonplace.plugin import Lease
from commonplace_example_milvus.database import Database
from commonplace_example_milvus.lite import is_file
from commonplace_example_milvus.settings import MilvusSettings
from commonplace_example_milvus.store import MilvusStore

if TYPE_CHECKING:
    from commonplace.plugin import StoreContext


def open_store(context: StoreContext) -> MilvusStore:
    """The store of ``context``; its lock lies beside ``context.path``, where everybody finds it.

    Raises :class:`~commonplace.errors.IndexUnavailableError` where Milvus does not answer.
    """
    settings: MilvusSettings = context.config or MilvusSettings()
    folder = os.path.dirname(os.path.abspath(context.path))
    os.makedirs(folder, exist_ok=True)
    if settings.uri is None:
        # A file of this index alone, which may be moved.
        uri, prefix, lock = (
            f"{context.path}.milvus.db",
            "commonplace",
            f"{context.path}.milvus.lock",
        )
    else:
        uri, prefix = settings.uri, f"commonplace_{sha256(context.path.encode()).hexdigest()[:16]}"
        lock = os.path.join(folder, f"{settings.collection or prefix}.lock")
    database = Database(
        uri,
        token=settings.token.reveal() if settings.token else "",
        prefix=settings.collection or prefix,
        timeout=settings.timeout_seconds,
    )
    try:
        return MilvusStore(database, Lease(lock), location=_shown(uri))
    except BaseException:
        database.close()
        raise


def _shown(uri: str) -> str:
    """``uri`` without a password."""
    if is_file(uri):
        return uri
    parts = urlsplit(uri)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
