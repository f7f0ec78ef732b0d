"""Says which extra of commonplace an adapter needs, where its SDK is missing or too old."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.plugin import how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Around the imports of an SDK; an ``ImportError`` of them names the extra ``name``."""
    try:
        yield
    except ImportError as error:
        command = how_to_install(f"commonplace[{name}]")
        message = f"this adapter needs commonplace[{name}] ({error}): {command}"
        raise type(error)(message, name=error.name) from error
