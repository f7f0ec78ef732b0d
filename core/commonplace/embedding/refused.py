"""Texts that a provider will not embed, remembered so that they are not sent with every sync."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.resilience.atomic_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RefusedText", "RefusedTexts"]


class RefusedText(NamedTuple):
    """Where the text stands (``""``: not found), and what the provider said of it."""

    place: str
    reason: str


class RefusedTexts:
    """A small JSON file: for each index and fingerprint the digests of chunks, place and reason.

    ``index`` names the index that the chunks are of. Purely a help: without the file those texts
    are sent, and refused, again.
    """

    def __init__(self, path: str, index: str) -> None:
        self.path = path
        self._index = index

    def of(self, fingerprint: str) -> dict[str, RefusedText]:
        """By the digest of the chunk; empty where the file is missing or damaged."""
        held = self._held().get(self._index)
        found = held.get(fingerprint) if isinstance(held, dict) else None
        return {digest: RefusedText(*said) for digest, said in _sound(found)}

    def keep(self, fingerprint: str, texts: Mapping[str, RefusedText]) -> None:
        """Know ``texts`` and no others of this index; where that cannot be written, forget them."""
        import json

        if texts == self.of(fingerprint):
            return
        held = self._held()
        own = held.get(self._index)
        own = {**(own if isinstance(own, dict) else {}), fingerprint: texts}
        held[self._index] = {name: found for name, found in own.items() if found}
        with contextlib.suppress(OSError):
            write_whole(
                self.path, json.dumps({name: found for name, found in held.items() if found})
            )

    def _held(self) -> dict[str, Any]:
        try:
            # Opened first: as long as nothing was refused, nobody pays for a parser.
            with open(self.path, encoding="utf-8") as file:
                import json

                held = json.load(file)
        except (OSError, ValueError, RecursionError):
            return {}
        return held if isinstance(held, dict) else {}


def _sound(found: Any) -> list[tuple[str, tuple[str, str]]]:
    if not isinstance(found, dict):
        return []
    return [
        (digest, (said[0], said[1]))
        for digest, said in found.items()
        if isinstance(said, list) and len(said) == 2 and all(isinstance(part, str) for part in said)
    ]
