"""What is known of Gemini's embedding models without asking."""

from __future__ import annotations

from commonplace.plugin import ProviderError

__all__ = ["DEFAULT_MODEL", "Model"]

DEFAULT_MODEL = "gemini-embedding-001"
_SHORTEST, _LONGEST = 128, 3072


class Model:
    """One model by the name a person wrote: ``models/``, ``gemini/`` and ``google/`` are dropped.

    ``dims`` is the length of its vectors unless another is asked for (``None``: unknown).
    ``item_tokens`` is how much of a text it reads; it drops the rest without a word.
    ``task_in_text`` tells models that want their task written into the text from those that take
    it as ``taskType``; each ignores what the other takes, at a great loss of quality.

    Raises :class:`~commonplace.errors.ProviderError` of kind ``not_found`` for what can be no
    model's name.
    """

    __slots__ = ("dims", "item_tokens", "name", "task_in_text")

    def __init__(self, written: str) -> None:
        self.name = _bare(written) or DEFAULT_MODEL
        if not self.name.isascii() or not self.name.translate(_SIGNS).isalnum():
            raise ProviderError(
                f"gemini: {written!r} is no model's name",
                provider="gemini",
                kind="not_found",
                hint=f"set memorySearch.model to {DEFAULT_MODEL} or gemini-embedding-2",
            )
        second = self.name.startswith("gemini-embedding-2")
        self.task_in_text = second
        self.item_tokens = 8192 if second else 2048
        self.dims = _LONGEST if self.name.startswith("gemini-embedding-") else None

    def check(self, dims: int | None) -> None:
        """Raise a ``bad_request`` where vectors of this length are not offered."""
        if dims is None or self.dims is None or _SHORTEST <= dims <= _LONGEST:
            return
        raise ProviderError(
            f"gemini: {self.name} has no vectors of {dims} dimensions",
            provider="gemini",
            kind="bad_request",
            hint=f"set outputDimensionality to 768, 1536 or {_LONGEST}, or remove it",
        )


_SIGNS = {ord(sign): "a" for sign in "-._"}


def _bare(written: str) -> str:
    name = written.strip()
    head, slash, rest = name.partition("/")
    while slash and head in ("models", "gemini", "google"):
        name = rest
        head, slash, rest = name.partition("/")
    return name
