"""Keeping queries of URLs, which may hold credentials, out of what the HTTP library logs."""

from __future__ import annotations

import logging
import re

__all__ = ["hush"]

_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy")
_QUERY = re.compile(r"""(https?://[^\s"'?]+)\?[^\s"')\]]+""")


class _Veil(logging.Filter):
    """Lets every record through, without the queries of its URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        veiled = _QUERY.sub(r"\1?***", said)
        if veiled != said:
            record.msg, record.args = veiled, None
        return True


_VEIL = _Veil()


def hush() -> None:
    """Make it so, for the whole process; once is enough, and more does no harm.

    Upload addresses and those of stored results are credentials by themselves, and the library
    logs each address that is asked (at INFO), and the headers of answers (at DEBUG).
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_VEIL)
