"""What a command shows while a memory works: its progress, and whether it may send texts."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self, TextIO

from commonplace.cli.streams import bare, escape_of, one_line
from commonplace.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.model.reports import Progress, Upload


_DELAY = 0.5  # seconds before the line appears: shorter work needs none
_REDRAW = 0.1  # seconds between two drawings
_APART = 15.0  # seconds to the first line where nothing is drawn, and between two of them


class ProgressLine:
    """A progress callback, and a context manager that erases the line at the end.

    Drawn by rich if that is installed, else as one line of text. Where ``stream`` is no terminal,
    work that takes long is reported by a line every 15 seconds. ``clock`` gives seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        env: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._visible = stream.isatty() and env.get("TERM") != "dumb"
        self._due = clock() + (_DELAY if self._visible else _APART)
        self._bar: _RichBar | _TextBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, progress: Progress) -> None:
        """Show ``progress``, at most ten times a second."""
        if (now := self._clock()) < self._due:
            return
        if not self._visible:
            self._due = now + _APART
            self._stream.write(f"note: {_text_of(progress)}\n")
            self._stream.flush()
            return
        self._due = now + _REDRAW
        if self._bar is None:
            self._bar = _bar(self._stream)
        self._bar.draw(progress)

    def show(self, label: str) -> None:
        """Show at once that work without measurable progress runs."""
        if self._visible and self._bar is None:
            self._bar = _TextBar(self._stream)
            self._bar.write(label + " ...")

    def close(self) -> None:
        """Erase the line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _bar(stream: TextIO) -> _RichBar | _TextBar:
    try:
        return _RichBar(stream)
    except ImportError:
        return _TextBar(stream)


def _text_of(progress: Progress) -> str:
    label = one_line(progress.label)
    if progress.total:
        share = 100 * progress.completed // progress.total
        return f"{label} {progress.completed}/{progress.total} ({share} %)"
    return f"{label} {progress.completed or '...'}"


class _TextBar:
    """One line, redrawn in place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._erase = f"{escape_of(stream)}[K"

    def draw(self, progress: Progress) -> None:
        self.write(_text_of(progress))

    def write(self, text: str) -> None:
        self._stream.write(f"\r{text}{self._erase}")
        self._stream.flush()

    def close(self) -> None:
        self._stream.write(f"\r{self._erase}")
        self._stream.flush()


class _RichBar:
    """A bar with the time left, by rich."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        self._progress = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=bare(stream), force_terminal=True),
            transient=True,
        )
        self._tasks: dict[str, Any] = {}
        self._unknown: Any = None
        self._progress.start()

    def draw(self, progress: Progress) -> None:
        total = progress.total or None
        if progress.label not in self._tasks:
            if self._unknown is not None:
                # Work without a total does not report its end either.
                self._progress.update(self._unknown, visible=False)
            # Work completed before this bar must not count towards its speed.
            task = self._progress.add_task(
                one_line(progress.label), total=total, completed=progress.completed
            )
            self._tasks[progress.label] = task
            self._unknown = None if total else task
        self._progress.update(
            self._tasks[progress.label], completed=progress.completed, total=total
        )

    def close(self) -> None:
        self._progress.stop()


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
        from commonplace.embedding.consent import announcement

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
