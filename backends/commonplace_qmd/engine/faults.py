"""What can go wrong with QMD, in types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.plugin import DeadlineExceededError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "QmdError",
    "QmdTimeoutError",
    "Reason",
    "RefusedError",
    "UnknownCollectionError",
]

Reason = Literal[
    "bad_json",
    "closed",
    "crash",
    "locked",
    "no_models",
    "no_vectors",
    "not_installed",
    "output_cap",
    "timeout",
    "unknown_collection",
    "wrong_runtime",
    "wrong_version",
]
"""``locked``: another process writes QMD's index; ``no_models``: a model would have to be
downloaded; ``no_vectors``: nothing is embedded yet; ``wrong_runtime``: its Node is too old."""


class QmdError(UnavailableError):
    """QMD did not do what it was asked to.

    ``output`` are the last words it wrote to its standard error, on several lines, or empty. What
    looks like a key is shown nowhere: QMD may quote what it was given.
    """

    def __init__(self, message: str, *, reason: Reason, output: str = "", hint: str = "") -> None:
        from commonplace.plugin import redacted

        super().__init__(redacted(f"qmd: {message}"), hint=hint)
        self.reason: Reason = reason
        self.output = redacted(output)


class QmdTimeoutError(QmdError, DeadlineExceededError):
    """QMD took longer than it was given, and was ended."""

    def __init__(self, message: str, *, output: str = "", hint: str = "") -> None:
        super().__init__(message, reason="timeout", output=output, hint=hint)


class RefusedError(QmdError):
    """The resident server is well, and will not do what it was asked to."""

    def __init__(self, message: str) -> None:
        super().__init__(f"refused: {message}", reason="crash")


class UnknownCollectionError(QmdError):
    """QMD does not have these ``collections``: put them into its configuration, and ask again."""

    def __init__(self, collections: Sequence[str]) -> None:
        super().__init__(
            f"collection not found: {', '.join(collections)}", reason="unknown_collection"
        )
        self.collections = tuple(collections)
