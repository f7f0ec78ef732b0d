"""Messages into today's log, for the adapters whose SDK hands over whole conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace import WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace import Writer


def remember_all(writer: Writer, texts: Iterable[str], why: str) -> None:
    """Add ``texts`` to today's log, each unless memory holds it already.

    A text that is refused for another reason keeps none of the others back; the first such
    :class:`~commonplace.WriteRefusedError` is raised at the end.
    """
    refused: list[WriteRefusedError] = []
    for text in texts:
        try:
            writer.remember(text, why=why)
        except WriteRefusedError as error:
            if error.kind != "duplicate":
                refused.append(error)
    if refused:
        raise refused[0]
