"""commonplace: the memory of AI agents, kept in plain Markdown files.

>>> from commonplace import Memory
>>> with Memory.open(workspace="~/notes") as memory:  # doctest: +SKIP
...     for hit in memory.search("which port does the staging server use?").hits:
...         print(hit.citation, hit.snippet)

Names are imported on first use, so that ``import commonplace`` costs nothing. The stub lists them.
"""

from __future__ import annotations

from commonplace.lazy import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, __file__)
