"""The errors of this provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import ProviderError

if TYPE_CHECKING:
    from commonplace.plugin import ProviderErrorKind


_WORDS = 400


def local_error(
    kind: ProviderErrorKind,
    message: str,
    *,
    hint: str = "",
    status: int | None = None,
    retry_after: float | None = None,
    secrets: tuple[str, ...] | None = None,
) -> ProviderError:
    """An error of this provider on one line; raise it.

    With ``secrets``, even none, the words are a stranger's: whatever looks like a key is taken out.
    """
    words = " ".join(message.split())
    if secrets is not None:
        from commonplace.plugin import redacted

        words = redacted(words, secrets)
    words = words[:_WORDS]
    return ProviderError(
        f"local: {words}",
        provider="local",
        kind=kind,
        status=status,
        retry_after=retry_after,
        hint=hint,
    )
