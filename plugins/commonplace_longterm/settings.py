"""The section ``plugins.entries.memory-lancedb.config``, under the names of the original."""

from __future__ import annotations

import os
from collections.abc import Mapping  # noqa: TC003 - read from the annotations at runtime
from typing import TYPE_CHECKING, ClassVar

from commonplace.plugin import (
    Group,
    OwnProvider,
    Probe,
    Secret,
    WrongValueError,
    how_to_install,
    setting,
)

if TYPE_CHECKING:
    from commonplace.plugin import Reading

ID = "memory-lancedb"
"""As in ``plugins.slots.memory`` and ``plugins.entries``."""

_NEEDED = ("lancedb", "pyarrow", "numpy")
_SCHEMES = ("s3", "gs", "az")
_MOST_TRIGGERS = 50


def _uri(raw: object, reading: Reading) -> str | None:
    """A folder, or the address of a bucket that LanceDB opens; ``None`` for an original's own."""
    from commonplace_longterm.original import is_originals  # a search reads these settings, too

    uri = reading.path(raw)
    scheme, found, _ = uri.partition("://")
    if found and scheme not in _SCHEMES:
        raise WrongValueError("must be a folder, or begin with s3://, gs:// or az://")
    if not found and is_originals(uri):
        reading.doubts.append(
            "holds the original's own memories and is not used; `commonplace ltm import` takes them"
        )
        return None
    return uri


def _triggers(raw: object, reading: Reading) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple):
        raise WrongValueError("must be a list of words or phrases")
    if len(raw) > _MOST_TRIGGERS:
        raise WrongValueError(f"must be at most {_MOST_TRIGGERS} words or phrases")
    found = tuple(reading.text(item).strip() for item in raw)
    if not all(found):
        raise WrongValueError("must not hold an empty phrase")
    return found


class EmbeddingSettings(Group):
    """The embedding provider of the store, where it is not the one for notes."""

    provider: str | None = setting(
        "Who makes embeddings: the id of a provider, or `none` for keywords alone.",
        default=None,
        shown="the provider for notes; `openai` if another key of this group is set",
    )
    api_key: Secret | None = setting(
        "Key: a literal or `${NAME}`.", default=None, shown="where the provider's keys are found"
    )
    model: str | None = setting("Embedding model.", default=None, shown="the provider's default")
    base_url: str | None = setting(
        "Address of the service.", default=None, shown="the vendor's", veiled=True
    )
    dimensions: int | None = setting(
        "Length of the vectors, for models that offer several.",
        default=None,
        unit="dimensions",
        minimum=1,
        shown="the model's own",
    )

    def own(self) -> OwnProvider | None:
        """The provider that is asked for, or ``None`` for the one for notes."""
        if self == EmbeddingSettings():
            return None
        return OwnProvider(
            id=self.provider or "openai",
            model=self.model or "",
            base_url=self.base_url,
            api_key=self.api_key,
            dims=self.dimensions,
        )


class LongTermSettings(Group):
    """``plugins.entries.memory-lancedb.config``, resolved."""

    unsupported: ClassVar[dict[str, str]] = {"dreaming": "nothing is consolidated unasked"}

    embedding: EmbeddingSettings = setting("The embedding provider.", default=EmbeddingSettings())
    db_path: str | None = setting(
        "Where the memories are: a folder, or `s3://`, `gs://`, `az://` and a path. The agents of "
        "one configuration share it, and each sees its own memories alone.",
        default=None,
        read=_uri,
        schema={"type": "string"},
        shown="`<state>/memory/longterm.lance`",
    )
    storage_options: Mapping[str, Secret] = setting(
        "What a bucket needs, by LanceDB's own names, such as `aws_access_key_id`. Each may be a "
        "`${NAME}` reference; none is shown.",
        default={},
    )
    auto_recall: bool = setting("Put memories that fit the user's words before them.", default=True)
    auto_capture: bool = setting("Keep what the user says that seems worth keeping.", default=False)
    capture_max_chars: int = setting(
        "Longest message that is captured.",
        default=500,
        unit="characters",
        minimum=100,
        maximum=10_000,
    )
    recall_max_chars: int = setting(
        "As much of the user's words is searched for by automatic recall.",
        default=1_000,
        unit="characters",
        minimum=100,
        maximum=10_000,
    )
    custom_triggers: tuple[str, ...] = setting(
        "Further words or phrases, at most 50, that make a message worth capturing.",
        default=(),
        read=_triggers,
        schema={"type": "array", "items": {"type": "string"}, "maxItems": _MOST_TRIGGERS},
    )

    def uri(self, state_dir: str) -> str:
        """Where the memories are."""
        return self.db_path or os.path.join(state_dir, "memory", "longterm.lance")


def probe() -> Probe:
    """Whether the libraries are installed."""
    from importlib.util import find_spec

    missing = [library for library in _NEEDED if find_spec(library) is None]
    if not missing:
        return Probe(available=True)
    return Probe(
        available=False,
        reason=f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed",
        hint=how_to_install("commonplace[lancedb]"),
    )
