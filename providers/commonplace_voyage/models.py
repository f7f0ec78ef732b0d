"""What is known of Voyage's models without asking."""

from __future__ import annotations

from commonplace.plugin import ProviderError

__all__ = ["DEFAULT_MODEL", "Model"]

DEFAULT_MODEL = "voyage-4-large"
_DIMS = 1024
_OFFERED = (256, 512, 1024, 2048)
_FIXED = ("voyage-finance-2", "voyage-law-2")
_FLEXIBLE = ("voyage-4", "voyage-3-large", "voyage-3.5", "voyage-code-3")
_TOKENS = {
    "voyage-4": 320_000,
    "voyage-3.5": 320_000,
    "voyage-2": 320_000,
    "voyage-4-lite": 1_000_000,
    "voyage-3.5-lite": 1_000_000,
}
_SHORT_CONTEXT = ("voyage-law-2", "voyage-code-2")


class Model:
    """One model by the name a person wrote; ``voyage/`` and ``voyageai/`` are dropped.

    ``dims`` is the length of its vectors unless another is asked for (``None``: unknown);
    ``sent`` is the one to ask for, if any. ``tokens`` may be in a request, ``item_tokens`` in a
    text. ``space`` is what its vectors are comparable in: all of series 4 share one.

    Raises :class:`~commonplace.errors.ProviderError` of kind ``bad_request`` where vectors of
    ``dims`` are not offered.
    """

    __slots__ = ("dims", "item_tokens", "name", "sent", "space", "tokens")

    def __init__(self, written: str, dims: int | None = None) -> None:
        name = written.strip().removeprefix("voyage/").removeprefix("voyageai/") or DEFAULT_MODEL
        flexible = any(name == known or name.startswith(f"{known}-") for known in _FLEXIBLE)
        offered = _OFFERED if flexible else (_DIMS,) if name in _FIXED else ()
        if dims is not None and offered and dims not in offered:
            raise ProviderError(
                f"voyage: {name} has no vectors of {dims} dimensions",
                provider="voyage",
                kind="bad_request",
                hint=f"set outputDimensionality to one of {', '.join(map(str, offered))},"
                " or remove it",
            )
        self.name = name
        self.dims = dims or (_DIMS if offered else None)
        self.sent = None if name in _FIXED else dims
        self.space = "voyage-4" if name == "voyage-4" or name.startswith("voyage-4-") else name
        self.tokens = _TOKENS.get(name, 120_000)
        self.item_tokens = 16_000 if name in _SHORT_CONTEXT else 32_000
