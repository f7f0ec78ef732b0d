"""The section ``memory.lancedb``: where the table is, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - read from the annotations at runtime
from typing import TYPE_CHECKING

from attrs import field, frozen

from commonplace.plugin import (
    Secret,
    WrongValueError,
    described,
)

if TYPE_CHECKING:
    from commonplace.plugin import Reading

__all__ = ["LanceSettings"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _uri(raw: object, reading: Reading) -> str:
    """A folder, or an address with a scheme that LanceDB opens."""
    uri = reading.path(raw)
    scheme, found, _ = uri.partition("://")
    if found and scheme not in {"s3", "gs", "az", "db"}:
        raise WrongValueError("must be a folder, or begin with s3://, gs://, az:// or db://")
    return uri


def _name(raw: object, reading: Reading) -> str:
    text = reading.text(raw).strip()
    if not _NAME.fullmatch(text):
        raise WrongValueError("must be letters, digits, dots, dashes and underscores")
    return text


def _address(raw: object, reading: Reading) -> str:
    text = reading.text(raw).strip().rstrip("/")
    if not re.fullmatch(r"https?://[^\s/@]+(/[^\s@]*)?", text):
        raise WrongValueError("must be an address such as https://lancedb.example.com")
    return text


@frozen
class LanceSettings:
    """``memory.lancedb``, resolved."""

    uri: str | None = field(
        default=None,
        metadata=described(
            "Where the table is: a folder, or `s3://bucket/path`, `gs://bucket/path`, "
            "`az://container/path`, or `db://name` for LanceDB Cloud and Enterprise.",
            read=_uri,
            schema={"type": "string"},
            shown="a folder `.lance` beside the index of the builtin backend",
        ),
    )
    storage_options: Mapping[str, Secret] = field(
        factory=dict,
        metadata=described(
            "What the object store needs, by LanceDB's own names: `aws_access_key_id`, "
            "`aws_secret_access_key`, `aws_region`, `aws_endpoint`, `google_service_account`, "
            "`azure_storage_account_name` ... Each may be a `${NAME}` reference; none is shown.",
        ),
    )
    api_key: Secret | None = field(
        default=None,
        metadata=described(
            "Key for `db://`. Without it `LANCEDB_API_KEY` serves, unless `hostOverride` names "
            "another address.",
        ),
    )
    region: str = field(default="us-east-1", metadata=described("Region for `db://`."))
    host_override: str | None = field(
        default=None,
        metadata=described(
            "Address that serves `db://` in place of LanceDB Cloud.",
            read=_address,
            schema={"type": "string"},
        ),
    )
    namespace: str | None = field(
        default=None,
        metadata=described(
            "Whose chunks these are among all that share the table: every query asks for these "
            "alone. Two machines that name the same one share one memory.",
            read=_name,
            schema={"type": "string"},
            shown="name of the index file: agent and checksum of the workspace's path",
        ),
    )
    table_prefix: str = field(
        default="commonplace_",
        metadata=described("Beginning of the table's name.", read=_name, schema={"type": "string"}),
    )
    read_consistency_interval: float = field(
        default=0.0,
        metadata=described(
            "Age up to which what was last seen of other writers serves a search; 0 looks anew "
            "each time.",
            unit="seconds",
            minimum=0,
            maximum=600,  # what is seen then still has to be there: see _KEPT in upkeep.py
        ),
    )
    vector_index_rows: int = field(
        default=50_000,
        metadata=described(
            "Vectors of one space from which an approximate index is made of them; fewer are "
            "compared one by one, exactly.",
            unit="vectors",
            minimum=1_000,
        ),
    )
