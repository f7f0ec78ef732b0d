"""Documents for the tests of chunkers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.model.documents import Document, DocumentRef

if TYPE_CHECKING:
    from collections.abc import Callable


def _document(text: str, line_map: tuple[int, ...] | None = None) -> Document:
    ref = DocumentRef("memory", "memory/note.md", "/workspace/memory/note.md", "0 0 0 0")
    return Document(ref, text, "", line_map=line_map)


@pytest.fixture(scope="session")
def document() -> Callable[..., Document]:
    """Makes a document of a text, and of a map of its lines."""
    return _document
