"""Times every search, and logs the slow ones."""

import logging
import time
from collections.abc import Generator

from commonplace import SearchResult
from commonplace.plugin import hookimpl

SLOW = 1.0
seconds: list[float] = []
log = logging.getLogger(__name__)


@hookimpl(wrapper=True)
def commonplace_search(query: str) -> Generator[None, SearchResult, SearchResult]:
    """Measure from before the search until it has answered or failed."""
    started = time.perf_counter()
    try:
        return (yield)
    finally:
        seconds.append(time.perf_counter() - started)
        if seconds[-1] > SLOW:
            log.warning("%.1f s for a query of %d characters", seconds[-1], len(query))
