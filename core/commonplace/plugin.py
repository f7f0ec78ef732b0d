"""The one import of plugin authors: hooks, protocols, the values that cross them, and helpers.

Whatever a plugin needs of commonplace is here, in :mod:`commonplace` (the public face) or in
:mod:`commonplace.testing` (the conformance tests). Every other module is private and may change
with any release; a need that these three do not meet is a defect of theirs.

Names are imported on first use: a search pays only for what it uses. The stub lists them.
"""

from __future__ import annotations

from commonplace.lazy import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, __file__)
