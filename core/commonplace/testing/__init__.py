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

This package needs pytest and hypothesis: the extra ``testing``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from commonplace.errors import how_to_install
from commonplace.lazy import lazy_exports

for _library in ("hypothesis", "pytest"):
    if find_spec(_library) is None:
        raise ImportError(
            f"commonplace.testing needs {_library}: {how_to_install('commonplace[testing]')}",
            name=_library,
        )

# Before any law is imported, so that one that is broken shows the values it compared.
_LAWS = (
    *("base", "chunker", "laws", "manager", "manager_answers", "manager_laws", "pressure"),
    *("provider", "provider_laws", "ranker", "source", "source_laws", "source_pressure", "store"),
)
import_module("pytest").register_assert_rewrite(*(f"commonplace.testing.{name}" for name in _LAWS))

__getattr__, __dir__ = lazy_exports(__name__, __file__)
