"""Exports transcripts as Markdown files, for QMD to index as a collection."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from commonplace_qmd.files import make_private_folder, read_json, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.documents import DocumentRef
    from commonplace.spec import Source

__all__ = ["Exported", "export_transcripts"]

_RECORD = ".commonplace.json"
_DAY = 86_400


class Exported(NamedTuple):
    """What an export did, in transcripts; ``unreadable`` are (path, reason)."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()


class _Entry(NamedTuple):
    """An export of ours: the source's version and stamp it was made by, and its own checksum."""

    made_by: str
    digest: str


def export_transcripts(
    source: Source, folder: str, *, retention_days: int | None, now: float
) -> Exported:
    """Bring ``folder`` up to the transcripts: one ``<id>.md`` each, which only we may read.

    Only what has changed is written. An export goes with its transcript, and when that was last
    written more than ``retention_days`` before ``now`` (epoch seconds; ``None`` keeps it for ever).
    A file that is not ours, or was changed since we wrote it, is never touched. Raises ``OSError``
    where the folder cannot be written.
    """
    make_private_folder(folder)
    record = _load(folder)
    scan = source.scan()
    wanted = _named(scan.documents, retention_days, now)
    written = unchanged = removed = 0
    unreadable: list[tuple[str, str]] = []
    for name, ref in wanted.items():
        made_by = f"{source.version} {' '.join(map(str, ref.stamp))}"
        entry = record.get(name)
        path = os.path.join(folder, name)
        if entry is not None and entry.made_by == made_by and os.path.exists(path):
            unchanged += 1
            continue
        if os.path.lexists(path) and (entry is None or _digest_at(path) != entry.digest):
            unreadable.append((ref.path, f"{name} in {folder} was not written by us, and stays"))
            continue
        try:
            document = source.read(ref)
        except OSError as error:
            unreadable.append((ref.path, error.strerror or str(error)))
            continue
        if document is None:
            continue
        title = name.removesuffix(".md")
        data = f"# Session {title}\n\n{document.text}\n".encode("utf-8", "replace")
        write_whole(path, data)
        record[name] = _Entry(made_by, _digest(data))
        written += 1
    if not scan.failed_roots:  # what was not looked for is not gone
        for name in [name for name in record if name not in wanted]:
            removed += _remove(os.path.join(folder, name), record.pop(name).digest)
    if written or removed or not os.path.exists(os.path.join(folder, _RECORD)):
        values = {name: list(entry) for name, entry in record.items()}
        write_whole(os.path.join(folder, _RECORD), json.dumps(values).encode())
    return Exported(written, unchanged, removed, tuple(unreadable))


def _named(
    refs: Iterable[DocumentRef], retention_days: int | None, now: float
) -> dict[str, DocumentRef]:
    """The transcripts to export by the names of their files, in a stable order."""
    named: dict[str, DocumentRef] = {}
    oldest = now - retention_days * _DAY if retention_days is not None else None
    for ref in sorted(refs, key=lambda ref: ref.path):
        if oldest is not None and ref.stamp[1] / 1e9 < oldest:
            continue
        base = ref.path.rpartition("/")[2].replace(".jsonl", "", 1)
        plain = re.sub(r"[^\w.-]", "_", base).lstrip(".") or "session"
        name, number = f"{plain}.md", 2
        while name in named:
            name, number = f"{plain}-{number}.md", number + 1
        named[name] = ref
    return named


def _remove(path: str, digest: str) -> int:
    if _digest_at(path) != digest:
        return 0
    with suppress(OSError):
        os.unlink(path)
    return 1


def _digest_at(path: str) -> str:
    """The checksum of a file that is not led to by a link, ``""`` where there is none."""
    if os.path.islink(path):
        return ""
    with suppress(OSError), open(path, "rb") as file:
        return _digest(file.read())
    return ""


def _load(folder: str) -> dict[str, _Entry]:
    found = read_json(os.path.join(folder, _RECORD))
    return {
        name: _Entry(str(entry[0]), str(entry[1]))
        for name, entry in found.items()
        if isinstance(entry, list) and len(entry) == 2
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
