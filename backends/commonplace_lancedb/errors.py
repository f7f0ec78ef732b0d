"""Errors of LanceDB and the storage below it, translated to those of commonplace."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.plugin import (
    CommonplaceError,
    DeadlineExceededError,
    IndexCorruptError,
    IndexReadOnlyError,
    IndexUnavailableError,
    redacted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.plugin import Deadline
    from commonplace_lancedb.settings import Location


_LONGEST = 200

_CONFLICT = re.compile(
    r"(?i)divide by zero|commit conflict|concurrent (commit|writer|transaction)|preempted"
    r"|conflicting|retryable|already exists|Provided schema does not match existing table schema"
)
"""Lance's own words for two commits that cannot both be, or for two that make the table at a time;
and those that the condition of ``Committer.commit`` brings about."""

_REFUSED = (
    r"SignatureDoesNotMatch|InvalidAccessKey|AccessDenied|ExpiredToken|InvalidToken|Unauthorized"
    r"|Unauthenticated|Forbidden|status:? (code:? )?(401|403)|http status: 40[13]|credential"
)
_UNREACHABLE = (
    r"Connection refused|connect error|error trying to connect|dns error|ConnectError"
    r"|error sending request|timed out|timeout|kind: Connect|connect_failures=[1-9]"
)

_DAMAGED = (
    r"decode Protobuf|invalid wire type|file size is too small|failed to fill whole buffer"
    r"|invalid magic|not appear to be a Lance file|corrupt|Not found: \S+\.(lance|manifest|txn|idx)"
)

_REBUILD = "run `commonplace index`: a damaged table in a folder is set aside and rebuilt"

_NETWORK = "check the network, memory.lancedb.uri and the address in its storageOptions"

_KINDS: tuple[tuple[str, type[IndexUnavailableError], str, str], ...] = (
    (
        _REFUSED,
        IndexUnavailableError,
        "refused the credentials",
        "check memory.lancedb.storageOptions and memory.lancedb.apiKey",
    ),
    (
        r"NoSuchBucket|bucket does not exist|ContainerNotFound",
        IndexUnavailableError,
        "has no such bucket",
        "create the bucket, or check memory.lancedb.uri",
    ),
    (
        _UNREACHABLE,
        IndexUnavailableError,
        "cannot be reached",
        _NETWORK,
    ),
    (
        r"Failed to resolve region",
        IndexUnavailableError,
        "cannot be reached: the region of the bucket is unknown",
        "set aws_region in memory.lancedb.storageOptions, and check the network",
    ),
    (
        r"No space left|os error 28|disk quota",
        IndexUnavailableError,
        "cannot be written: the disk is full",
        "free some space and try again",
    ),
    (
        r"Permission denied|Read-only file system|os error (1|13|30)\b",
        IndexReadOnlyError,
        "cannot be written",
        "make the folder and what is in it writable",
    ),
    (
        _DAMAGED,
        IndexCorruptError,
        "is damaged",
        _REBUILD,
    ),
)


class UnknownError(IndexUnavailableError):
    """LanceDB failed in words that mean nothing to us: whether it is damaged is seen by reading."""


class ConflictError(Exception):
    """Another writer has changed what a commit was based on: to be retried."""


@contextmanager
def translated(location: Location, deadline: Deadline | None = None) -> Iterator[None]:
    """Turn what LanceDB raises into an error of ours, or :class:`ConflictError`."""
    try:
        yield
    except (CommonplaceError, ConflictError):
        raise
    except Exception as error:  # noqa: BLE001 - LanceDB raises whatever class comes to hand
        if deadline is not None and deadline.expired:
            raise DeadlineExceededError("the search took longer than its deadline") from None
        words = str(error)
        if _CONFLICT.search(words):
            raise ConflictError from None
        raise _error_of(words, location) from None


def _error_of(words: str, location: Location) -> IndexUnavailableError:
    for pattern, kind, saying, hint in _KINDS:
        if re.search(f"(?i){pattern}", words):
            return kind(f"the LanceDB at {location.shown} {saying}", hint=hint)
    line = redacted(words.splitlines()[0] if words else "no reason given", location.secrets())
    if len(line) > _LONGEST:
        line = f"{line[:_LONGEST]}..."
    return UnknownError(
        f"the LanceDB at {location.shown} cannot be used: {line}",
        hint="check memory.lancedb and what it names",
    )


def unreachable(location: Location, why: str) -> IndexUnavailableError:
    """What to raise for a bucket or a service that does not answer."""
    return IndexUnavailableError(
        f"the LanceDB at {location.shown} cannot be reached: {why}", hint=_NETWORK
    )


def damaged(location: Location) -> IndexCorruptError:
    """What to raise for a table that cannot be read."""
    return IndexCorruptError(f"the LanceDB at {location.shown} is damaged", hint=_REBUILD)


def is_missing_table(error: Exception, table: str) -> bool:
    """Whether ``error`` says that there is no such table yet, and nothing worse."""
    return bool(re.search(rf"(?i)table '?{re.escape(table)}'? was not found", str(error)))


def closed(location: Location) -> IndexUnavailableError:
    """What to raise for a store that is closed."""
    return IndexUnavailableError(f"the LanceDB at {location.shown} is closed", hint="open it again")
