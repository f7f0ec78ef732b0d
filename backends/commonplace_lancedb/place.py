"""Where the table is, and with which secrets it is opened."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from commonplace.plugin import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.plugin import Secret
    from commonplace_lancedb.settings import LanceSettings

__all__ = ["Place", "place_of"]

_FORMAT = 1
"""Of the table; part of its name, so that each version of it has a table of its own."""


@frozen
class Place:
    """One namespace of one table. ``repr`` shows no secret."""

    uri: str
    table: str
    namespace: str
    storage_options: Mapping[str, Secret] = field(factory=dict, repr=False)
    api_key: Secret | None = None
    region: str = ""
    host_override: str | None = None

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
        """Whether a service keeps the table, and looks after its indexes and versions."""
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
        options = {name: secret.reveal(env) for name, secret in self.storage_options.items()}
        given: dict[str, Any] = {"storage_options": options} if options else {}
        if self.is_service:
            given |= {"api_key": self._key(env), "region": self.region}
            if self.host_override is not None:
                given["host_override"] = self.host_override
        return given

    def secrets(self, env: Mapping[str, str] | None = None) -> list[str]:
        """What no message may hold."""
        held = [*self.storage_options.values(), *([self.api_key] if self.api_key else [])]
        found = []
        for secret in held:
            try:
                found.append(secret.reveal(env))
            except UnavailableError:
                continue
        return found

    def _key(self, env: Mapping[str, str] | None) -> str:
        if self.api_key is not None:
            return self.api_key.reveal(env)
        key = (os.environ if env is None else env).get("LANCEDB_API_KEY", "")
        if not key or self.host_override is not None:
            # A key found in the environment goes to its vendor only.
            raise UnavailableError(
                f"there is no key for {self.shown}", hint="set memory.lancedb.apiKey"
            )
        return key


def place_of(index_path: str, settings: LanceSettings) -> Place:
    """The place that ``settings`` name; by default a folder beside ``index_path``.

    The index's name, which tells agents and workspaces apart, is the namespace.
    """
    stem = os.path.splitext(index_path)[0]
    return Place(
        uri=settings.uri or f"{stem}.lance",
        table=f"{settings.table_prefix}chunks_{_FORMAT}",
        namespace=settings.namespace or os.path.basename(stem),
        storage_options=settings.storage_options,
        api_key=settings.api_key,
        region=settings.region,
        host_override=settings.host_override,
    )
