"""The tree of errors: what each means for a chain of parts that can stand in for one another.

::

    CommonplaceError
     ├─ UnavailableError            a part cannot work now: try the next one
     │    ├─ DeadlineExceededError  it took too long
     │    ├─ IndexUnavailableError  the derived index cannot be read or written
     │    │    ├─ IndexBusyError        another process holds the writer lease
     │    │    ├─ IndexCorruptError     the file is damaged
     │    │    ├─ IndexNewerError       a newer version wrote it; left untouched
     │    │    └─ IndexReadOnlyError    it can be read, not written
     │    ├─ ProviderError          an embedding provider did not give vectors
     │    └─ PluginUnavailableError a plugin is not installed, or failed to load
     ├─ DeclinedError               a healthy part cannot answer *this* honestly: try the next one
     └─ CallerError                 the caller is wrong: stop, no part could do better
          ├─ ConfigError            every fault of a configuration at once
          ├─ PathNotAllowedError    one answer for all that memory may not read
          ├─ NoteNotFoundError      an allowed path where there is no note
          ├─ MemoryDisabledError    the configuration switched memory off
          ├─ MemoryClosedError      the memory was closed, perhaps while it was asked
          ├─ PluginConflictError    two plugins claim one id
          ├─ ScopeDeniedError       the asking chat may not search this memory
          ├─ WriteRefusedError      a change of a note that memory does not make
          └─ WorkspaceError         the workspace is missing or not a folder

Nothing below :class:`CallerError` may be swallowed by a fallback, and no empty result stands
for any of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonplace.model.plugins import ConfigProblem


class CommonplaceError(Exception):
    """Root of all errors that commonplace raises on purpose.

    ``str(error)`` is one line for a person: what is wrong. ``hint`` is one line on how to put it
    right, or ``""`` where there is nothing to be done. An error of any class below can be copied
    and pickled, whatever its ``__init__`` takes: a pool of processes hands it over as it is.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        # By default a copy is made by ``type(self)(*self.args)``, which only suits some classes.
        return _remade, (type(self), self.args), self.__dict__.copy()


def _remade(made: type[CommonplaceError], args: tuple[object, ...]) -> CommonplaceError:
    """An error of class ``made`` with ``args``, without its ``__init__``."""
    return made.__new__(made, *args)


def reason_of(error: CommonplaceError) -> str:
    """The error in one line, with how to fix it where it says so.

    After it stand its notes, which say why other parts could not take the place of the one that
    failed.
    """
    words = f"{error} ({error.hint})" if error.hint else str(error)
    return "; ".join([words, *getattr(error, "__notes__", ())])


def suggest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The one of ``known`` that is most similar to ``word``, at least by ``cutoff``; or ``""``."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1, cutoff=cutoff)), "")


def counted(number: int, thing: str, things: str = "") -> str:
    """``1 note``, ``2 notes``; ``things`` where more of them do not end with an s alone."""
    return f"{number} {thing}" if number == 1 else f"{number} {things or f'{thing}s'}"


def how_to_install(requirement: str) -> str:
    """The command that adds ``requirement`` (``commonplace[vectors]``) to this very Python.

    It works before commonplace is published, too: what is installed already is not looked for.
    """
    import os
    import sys
    from shlex import quote

    def has(name: str) -> bool:
        return os.path.isfile(os.path.join(sys.prefix, name))

    what, pip = f"'{requirement}'", os.path.join(os.path.dirname(sys.executable), "pip")
    if has("pipx_metadata.json"):
        return f"pipx runpip {requirement.partition('[')[0]} install {what}"
    if has("uv-receipt.toml"):  # uv's environments have no pip
        return f"uv pip install --python {quote(sys.executable)} {what}"
    if os.path.isfile(pip):
        return f"{quote(pip)} install {what}"
    return f"{quote(sys.executable)} -m pip install {what}"


class UnavailableError(CommonplaceError):
    """A part cannot work now; a chain tries the next one and counts it against this one."""


class DeadlineExceededError(UnavailableError):
    """The time allowed for a call ran out."""


class IndexUnavailableError(UnavailableError):
    """The derived index cannot be read or written; the notes are not touched."""


class IndexBusyError(IndexUnavailableError):
    """Another process, or thread, holds the writer lease and did not let go in time.

    ``holder`` names it in a few words for people, such as ``process 1234 (commonplace index)``;
    it is ``""`` where that is not known.
    """

    def __init__(self, message: str, *, holder: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.holder = holder


class IndexCorruptError(IndexUnavailableError):
    """The index file is damaged or cut short."""


class IndexNewerError(IndexUnavailableError):
    """A newer version of commonplace wrote the index; it is left as it is."""


class IndexReadOnlyError(IndexUnavailableError):
    """The index can be read but not written."""


class PluginUnavailableError(UnavailableError):
    """A plugin that was asked for is not installed, is switched off, or failed to load."""


ProviderErrorKind = Literal[
    "auth",
    "quota",
    "rate_limit",
    "too_large",
    "bad_request",
    "not_found",
    "unavailable",
    "timeout",
    "protocol",
]
"""What went wrong with an embedding request; only ``rate_limit``, ``unavailable`` and ``timeout``
may pass by themselves, and ``too_large`` may pass in halves."""


class ProviderError(UnavailableError):
    """An embedding provider did not give vectors.

    ``retry_after`` are seconds the server asked to be left alone, ``status`` is the HTTP status
    and ``request_id`` the server's own name of the request, where there are any. ``retry`` is what
    the server itself says of trying again (``None``: nothing, and the kind decides). The message
    never holds a key.
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        kind: ProviderErrorKind,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        retry: bool | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.provider = provider
        self.kind: ProviderErrorKind = kind
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id
        self.retry = retry


class DeclinedError(CommonplaceError):
    """A healthy part cannot answer this honestly; a chain tries the next one, counting nothing."""


class CallerError(CommonplaceError):
    """The caller is wrong; every part would have to refuse."""


class ConfigError(CallerError):
    """A configuration is wrong.

    ``problems`` holds all of them, not the first: each with file, line, key path and message.
    """

    def __init__(
        self, message: str, *, problems: Sequence[ConfigProblem] = (), hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class PathNotAllowedError(CallerError):
    """Memory may not read this path. The words are the same for every reason: no oracle.

    ``hint`` may name a note that memory may read.
    """

    def __init__(self, *, hint: str = "") -> None:
        super().__init__(
            "path not allowed: memory reads notes: MEMORY.md and memory/ (all .md files of a "
            "folder that has neither) and configured extra paths",
            hint=hint
            or "pass the path of a note as a search result has it: memory/2026-01-31.md#L3-L9",
        )


class NoteNotFoundError(CallerError):
    """The path is one that memory may read, but no note is there."""


class MemoryDisabledError(CallerError):
    """The configuration switched memory off."""


class MemoryClosedError(CallerError):
    """The memory was closed, by this thread or by another one while it was asked."""

    def __init__(self) -> None:
        super().__init__("this memory is closed", hint="open another one")


class PluginConflictError(CallerError):
    """Two plugins claim the same id."""


class ScopeDeniedError(CallerError):
    """The asking chat may not search this memory: the configuration restricts it to some chats."""


WriteRefusedKind = Literal[
    "disabled",
    "duplicate",
    "instruction",
    "veto",
    "changed",
    "citation",
    "text",
    "not_text",
    "encoding",
    "path",
    "undone",
]
"""Why a change was refused: ``changed`` are the lines since they were read, ``undone`` is a change
that cannot be taken back (again), ``encoding`` is that of the note, which lacks a character."""


class WriteRefusedError(CallerError):
    """Memory does not make this change; the notes are unchanged. ``kind`` says why."""

    def __init__(self, message: str, *, kind: WriteRefusedKind, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind: WriteRefusedKind = kind


class WorkspaceError(CallerError):
    """The workspace is missing, or is not a folder."""
