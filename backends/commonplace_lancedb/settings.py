"""The section ``memory.lancedb``: where the table is, and how it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping  # noqa: TC003 - read from the annotations at runtime
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from commonplace.plugin import Group, Secret, UnavailableError, WrongValueError, setting

if TYPE_CHECKING:
    from commonplace.plugin import Reading


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


class LanceSettings(Group):
    """``memory.lancedb``, resolved."""

    uri: str | None = setting(
        "Where the table is: a folder, or `s3://bucket/path`, `gs://bucket/path`, "
        "`az://container/path`, or `db://name` for LanceDB Cloud and Enterprise.",
        default=None,
        read=_uri,
        schema={"type": "string"},
        locates=True,
        shown="a folder `.lance` beside the index of the builtin backend",
    )
    storage_options: Mapping[str, Secret] = setting(
        "What the object store needs, by LanceDB's own names: `aws_access_key_id`, "
        "`aws_secret_access_key`, `aws_region`, `aws_endpoint`, `google_service_account`, "
        "`azure_storage_account_name` ... Each may be a `${NAME}` reference; none is shown.",
        default={},
    )
    api_key: Secret | None = setting(
        "Key for `db://`. Without it `LANCEDB_API_KEY` serves, unless `hostOverride` names "
        "another address.",
        default=None,
    )
    region: str = setting("Region for `db://`.", default="us-east-1")
    host_override: str | None = setting(
        "Address that serves `db://` in place of LanceDB Cloud.",
        default=None,
        read=_address,
        schema={"type": "string"},
    )
    namespace: str | None = setting(
        "Whose chunks these are among all that share the table: every query asks for these "
        "alone. Two machines that name the same one share one memory.",
        default=None,
        read=_name,
        schema={"type": "string"},
        locates=True,
        shown="name of the index file: agent and checksum of the workspace's path",
    )
    table_prefix: str = setting(
        "Beginning of the table's name.",
        default="commonplace_",
        read=_name,
        schema={"type": "string"},
    )
    read_consistency_interval: float = setting(
        "Age up to which a search uses the last known version of the table; 0 checks for "
        "a newer one each time, in a bucket after 0.2 seconds.",
        default=0.0,
        unit="seconds",
        minimum=0,
        maximum=600,
    )
    held_megabytes: int = setting(
        "Of a table in a bucket, how large the rows of the namespace may be to be held in memory "
        "by each process that searches or indexes: a search then reads what is new, and compares "
        "all vectors. 0 holds none.",
        default=512,
        unit="MB",
        minimum=0,
        maximum=100_000,
    )
    cache_megabytes: int = setting(
        "Room in the cache folder for rows of buckets that are held in memory: a process that "
        "starts reads them from there, and from the bucket what is new. 0 keeps none on disk.",
        default=1_000,
        unit="MB",
        minimum=0,
        maximum=100_000,
    )
    vector_index_rows: int = setting(
        "Vectors of one space from which an approximate index of them is built; fewer are "
        "compared one by one, exactly.",
        default=50_000,
        unit="vectors",
        minimum=1_000,
    )


_PATIENCE = {"client_retry_timeout": "30"}
"""Seconds after which a request to a bucket is not sent again; LanceDB's own 180 add up."""

_FORMAT = 1
"""Of the table; part of its name, so that each version of it has a table of its own."""


@frozen
class Location:
    """One namespace of one table. ``repr`` shows no secret."""

    uri: str
    table: str
    namespace: str
    settings: LanceSettings = field(repr=False)

    @property
    def folder(self) -> str | None:
        """The folder on this machine, if it is one."""
        return None if "://" in self.uri else self.uri

    @property
    def lock(self) -> str | None:
        """The file that writers of the namespace on this machine lock, where there can be one."""
        folder = self.folder
        return None if folder is None else os.path.join(folder, f"{self.namespace}.lock")

    @property
    def is_service(self) -> bool:
        """Whether a service keeps the table, and maintains its indexes and versions."""
        return self.uri.startswith("db://")

    @property
    def shown(self) -> str:
        """For people, without what may stand before an ``@`` in an address."""
        return re.sub(r"(?<=://)[^/@]*@", "", self.uri)

    def arguments(self, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What ``lancedb.connect`` is given besides the address, secrets in the clear.

        Raises :class:`~commonplace.errors.UnavailableError` for a reference to a variable that is
        not set, and for a service without a key.
        """
        options = {
            name: secret.reveal(env) for name, secret in self.settings.storage_options.items()
        }
        if self.folder is None and not self.is_service:
            named = {name.lower() for name in options}
            options |= {name: value for name, value in _PATIENCE.items() if name not in named}
        keywords: dict[str, Any] = {"storage_options": options} if options else {}
        if self.is_service:
            keywords |= {"api_key": self._key(env), "region": self.settings.region}
            if self.settings.host_override is not None:
                keywords["host_override"] = self.settings.host_override
        return keywords

    def secrets(self, env: Mapping[str, str] | None = None) -> list[str]:
        """What no message may hold."""
        key = self.settings.api_key
        configured = [*self.settings.storage_options.values(), *([key] if key else [])]
        texts = []
        for secret in configured:
            try:
                texts.append(secret.reveal(env))
            except UnavailableError:
                continue
        return texts

    def _key(self, env: Mapping[str, str] | None) -> str:
        if self.settings.api_key is not None:
            return self.settings.api_key.reveal(env)
        key = (os.environ if env is None else env).get("LANCEDB_API_KEY", "")
        if not key or self.settings.host_override is not None:
            # A key found in the environment goes to its vendor only.
            raise UnavailableError(
                f"there is no key for {self.shown}", hint="set memory.lancedb.apiKey"
            )
        return key


def location_of(index_path: str, settings: LanceSettings) -> Location:
    """The location that ``settings`` name; by default a folder beside ``index_path``.

    The index's name, which tells agents and workspaces apart, is the namespace.
    """
    stem = os.path.splitext(index_path)[0]
    return Location(
        uri=settings.uri or f"{stem}.lance",
        table=f"{settings.table_prefix}chunks_{_FORMAT}",
        namespace=settings.namespace or os.path.basename(stem),
        settings=settings,
    )
