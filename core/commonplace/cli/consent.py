"""Asks, or says, that texts are about to be sent to a provider's server for the first time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from commonplace.embedding.consent import announcement
from commonplace.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from commonplace.model.reports import Upload


class UploadQuestion:
    """The ``on_upload`` of the memory that a command opens, asked on ``err`` and ``source``.

    What the configuration asks for, and everything with ``yes``, is said and not asked; so is a key
    that was merely found where there is no terminal to ask on, or ``ask`` is false. ``pause`` is
    called before anything is written.
    """

    def __init__(
        self,
        err: TextIO,
        *,
        yes: bool = False,
        ask: bool = True,
        source: TextIO | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self._err = err
        self._yes = yes
        self._source = source or sys.stdin
        self._asks = ask and err.isatty() and self._source.isatty()
        self._pause = pause

    def __call__(self, upload: Upload) -> bool | None:
        """The answer; ``None`` where it cannot be asked for now."""
        if upload.declined and not self._yes:
            return None
        if upload.named or self._yes or not self._asks:
            self._pause()
            self._err.write(f"note: {announcement(upload)}\n")
            return True
        return None if upload.query else self._ask(upload)

    def _ask(self, upload: Upload) -> bool | None:
        self._pause()
        write = self._err.write
        write(
            f"{counted(upload.texts, 'text')} of your notes would be sent to {upload.provider} at"
            f" {upload.host}, to search by meaning.\n"
            f"  key:      {upload.key}; no configuration names it\n"
            "  without:  search is by keywords, and nothing leaves this machine\n"
            '  for good: remote.consent: "yes" or "no" in the configuration, or --yes\n'
            "Send them? [y/N] "
        )
        self._err.flush()
        answer = self._source.readline()
        if not answer:
            write("\n")
            return None
        return answer.strip().lower() in {"y", "yes"}
