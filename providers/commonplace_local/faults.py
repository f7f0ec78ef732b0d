"""The errors of this provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.embedding.redact import redacted
from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from commonplace.errors import ProviderErrorKind

__all__ = ["fault"]

_WORDS = 400


def fault(
    kind: ProviderErrorKind,
    message: str,
    *,
    mend: str = "",
    status: int | None = None,
    retry_after: float | None = None,
    secrets: tuple[str, ...] = (),
) -> ProviderError:
    """An error of this provider on one line, without ``secrets``; raise it."""
    words = redacted(" ".join(message.split()), secrets)[:_WORDS]
    return ProviderError(
        f"local: {words}",
        provider="local",
        kind=kind,
        status=status,
        retry_after=retry_after,
        mend=mend,
    )
