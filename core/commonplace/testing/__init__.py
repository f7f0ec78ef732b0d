"""Conformance tests for the authors of plugins.

What a plugin offers is checked by a class of a few lines, which pytest collects like any other::

    from commonplace.testing import StoreConformance

    class TestMyStore(StoreConformance):
        def open_store(self, directory):
            return MyStore(f"{directory}/index")

So are engines (``MemoryManagerConformance``), embedding providers
(``EmbeddingProviderConformance``), rankers (``RankerConformance``), sources
(``SourceConformance``) and chunkers (``ChunkerConformance``); see ``docs/conformance.md``.

Every law is a test of its own, and its docstring says what is asked. What is not declared in
``capabilities`` is skipped, or has to be refused.

This package needs pytest and hypothesis: ``pip install 'commonplace[testing]'``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

for _library in ("hypothesis", "pytest"):
    if find_spec(_library) is None:
        raise ImportError(
            f"commonplace.testing needs {_library}: pip install 'commonplace[testing]'",
            name=_library,
        )

# Before any law is imported, so that one that is broken shows the values it compared.
import_module("pytest").register_assert_rewrite(
    *(
        f"commonplace.testing.{name}"
        for name in (
            "base",
            "builders",
            "chunker",
            "manager",
            "manager_answers",
            "manager_laws",
            "provider",
            "ranker",
            "source",
            "source_laws",
            "store",
        )
    )
)

if TYPE_CHECKING:
    from commonplace.testing.base import live_build, publish, search, write
    from commonplace.testing.builders import make_append, make_chunk, make_put
    from commonplace.testing.chunker import ChunkerConformance
    from commonplace.testing.manager import MemoryManagerConformance
    from commonplace.testing.provider import EmbeddingProviderConformance
    from commonplace.testing.ranker import RankerConformance
    from commonplace.testing.source import SourceConformance
    from commonplace.testing.store import StoreConformance

__all__ = [
    "ChunkerConformance",
    "EmbeddingProviderConformance",
    "MemoryManagerConformance",
    "RankerConformance",
    "SourceConformance",
    "StoreConformance",
    "live_build",
    "make_append",
    "make_chunk",
    "make_put",
    "publish",
    "search",
    "write",
]

_HOME = {
    "ChunkerConformance": "chunker",
    "EmbeddingProviderConformance": "provider",
    "MemoryManagerConformance": "manager",
    "RankerConformance": "ranker",
    "SourceConformance": "source",
    "StoreConformance": "store",
    "live_build": "driving",
    "make_append": "builders",
    "make_chunk": "builders",
    "make_put": "builders",
    "publish": "driving",
    "search": "driving",
    "write": "driving",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'commonplace.testing' has no attribute {name!r}")
    return getattr(import_module(f"commonplace.testing.{_HOME[name]}"), name)
