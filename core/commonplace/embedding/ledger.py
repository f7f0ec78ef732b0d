"""What is known of the makers of vectors: their settings, and how long their vectors are."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from commonplace.resilience.atomic_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.protocols.providers import ProviderContext

__all__ = ["SpaceLedger", "as_made", "maker_of"]

_FIELDS = ("model", "dims", "query_prefix", "document_prefix")
_LENGTH = "length"
_OPTIONS = ("input_type", "query_input_type", "document_input_type")


def maker_of(provider: str, context: ProviderContext) -> dict[str, Any]:
    """What decides the vectors that ``provider`` makes, without its key and address."""
    return {
        "provider": provider,
        **{name: getattr(context, name) for name in _FIELDS},
        **{name: context.options.get(name) for name in _OPTIONS},
    }


def as_made(context: ProviderContext, maker: Mapping[str, Any]) -> ProviderContext:
    """``context`` with what decided the vectors then."""
    from attrs import evolve

    options = {**context.options, **{name: maker.get(name) for name in _OPTIONS}}
    fields = {name: maker[name] for name in _FIELDS if name in maker}
    return evolve(context, options=options, **fields)


class SpaceLedger:
    """A small JSON file: for each fingerprint the provider's id, model, lengths and prompt forms.

    No key is in it. Purely a help: without it, embeddings of a former model answer nothing until
    the new ones are made, and a server that begins to give vectors of another length is found out
    only when it is asked for documents.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def makers(self) -> dict[str, dict[str, Any]]:
        """By fingerprint; empty where the file is missing or damaged."""
        import json

        try:
            with open(self.path, encoding="utf-8") as file:
                held = json.load(file)
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(held, dict):
            return {}
        return {key: maker for key, maker in held.items() if isinstance(maker, dict)}

    def length(self, fingerprint: str) -> int | None:
        """How many dimensions the last vectors had that were seen of it."""
        found = self.makers().get(fingerprint, {}).get(_LENGTH)
        return found if isinstance(found, int) and found > 0 else None

    def saw(self, fingerprint: str, length: int) -> None:
        """A vector of ``length`` dimensions came back."""
        self.note(fingerprint, {_LENGTH: length})

    def note(self, fingerprint: str, maker: Mapping[str, object]) -> None:
        """Keep ``maker``; where that cannot be written, nothing is lost but the help."""
        import json

        makers = self.makers()
        known = makers.get(fingerprint, {})
        maker = {**known, **maker}
        if known == maker:
            return
        with contextlib.suppress(OSError):
            write_whole(self.path, json.dumps({**makers, fingerprint: dict(maker)}))
