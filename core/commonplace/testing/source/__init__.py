"""The laws of sources, by subject; ``SourceConformance`` is all of them."""

from __future__ import annotations

from commonplace.testing.source.growing import GrowthLaws
from commonplace.testing.source.reading import ReadLaws
from commonplace.testing.source.scanning import ScanLaws

__all__ = ["SourceConformance"]


class SourceConformance(ScanLaws, ReadLaws, GrowthLaws):
    """All that a source of files promises: subclass it, name the class ``Test...``.

    ``make_source(context)`` makes the source; a registration's factory will do. The laws write
    documents below ``context.workspace``; where these are no Markdown files in ``memory/``, define
    ``file_of(name)``, a path below the workspace, and ``bytes_of(text)``, what is in the file.
    ``settings`` are Hypothesis's.
    """
