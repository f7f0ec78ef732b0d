from __future__ import annotations

import hashlib
import json
import os
import sys
import tracemalloc
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.files.roots import stamp_of
from commonplace_sessions import source as source_module
from commonplace_sessions.folder import Folder, is_openclaw
from commonplace_sessions.readers import read_openclaw
from commonplace_sessions.source import TranscriptSource
from commonplace_sessions.transcript import read_transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace.model.documents import Document, DocumentRef, Stamp


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    return tmp_path / "sessions"


@pytest.fixture
def source(folder: Path) -> TranscriptSource:
    place = Folder(str(folder.parent), ("sessions",))
    return TranscriptSource("sessions", place, is_openclaw, lambda: read_openclaw)


def ref_of(source: TranscriptSource, name: str) -> DocumentRef:
    (ref,) = [ref for ref in source.scan().documents if ref.path == f"sessions/{name}"]
    return ref


def read(source: TranscriptSource, name: str) -> Document:
    document = source.read(ref_of(source, name))
    assert document is not None
    return document


def test_a_transcript_as_a_document(
    folder: Path,
    source: TranscriptSource,
    lines_of: Callable[..., bytes],
    message: Callable[..., dict[str, Any]],
) -> None:
    data = lines_of(
        {"type": "session", "id": "1"},
        message("user", "The port\nis 8443", timestamp="2026-01-31T23:59:00-02:00"),
        b"",
        message("assistant", "word " * 300),
        message("user", "TOKEN=abcdefghijklmnopqrstuvwx"),
    )
    (folder / "one.jsonl").write_bytes(data)
    document = read(source, "one.jsonl")
    lines = document.text.split("\n")
    assert lines[0] == "User: The port is 8443"
    assert lines[1].startswith("Assistant: word word")
    assert lines[2].startswith("Assistant: word word")
    assert lines[3] == "User: TOKEN=abcd…"
    assert document.line_map == (2, 4, 4, 5)
    assert document.trust == "session"
    assert document.day == date(2026, 2, 1)
    assert document.digest == hashlib.sha256(data).hexdigest()
    assert document.ref == ref_of(source, "one.jsonl")


def test_an_empty_transcript_is_an_empty_document(folder: Path, source: TranscriptSource) -> None:
    (folder / "one.jsonl").write_bytes(b"")
    document = read(source, "one.jsonl")
    assert (document.text, document.line_map, document.day) == ("", (), None)


def test_what_is_written_meanwhile_is_read_again(
    folder: Path,
    source: TranscriptSource,
    lines_of: Callable[..., bytes],
    message: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = folder / "one.jsonl"
    whole = lines_of(message("user", "first"), message("assistant", "second"))
    path.write_bytes(whole[:-10])
    before = ref_of(source, "one.jsonl")

    def late(found: os.stat_result) -> Stamp:
        stamp = stamp_of(found)
        with path.open("ab") as file:
            file.write(whole[-10:])
        return stamp

    monkeypatch.setattr(source_module, "stamp_of", late)
    document = source.read(before)
    assert document is not None
    assert document.text == "User: first\nAssistant: second"
    monkeypatch.undo()
    # The stamp is from before the rest came, so that the next scan shows a change.
    assert document.ref.stamp == before.stamp != ref_of(source, "one.jsonl").stamp


def test_half_a_line_is_left_for_later(
    folder: Path,
    source: TranscriptSource,
    lines_of: Callable[..., bytes],
    message: Callable[..., dict[str, Any]],
) -> None:
    whole = lines_of(message("user", "first"), message("assistant", "second"))
    (folder / "one.jsonl").write_bytes(whole[:-10])
    old = read(source, "one.jsonl")
    assert old.text == "User: first"
    (folder / "one.jsonl").write_bytes(whole)
    new = read(source, "one.jsonl")
    assert new.text == "User: first\nAssistant: second"
    assert new.digest != old.digest


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("fate", ["deleted", "a link", "a folder", "a pipe", "behind a link"])
def test_what_is_no_transcript_any_more_has_vanished(
    folder: Path, source: TranscriptSource, fate: str
) -> None:
    path = folder / "one.jsonl"
    path.write_text("{}")
    ref = ref_of(source, "one.jsonl")
    path.rename(folder.parent / "secret.jsonl")
    if fate == "a link":
        path.symlink_to(folder.parent / "secret.jsonl")
    elif fate == "a folder":
        path.mkdir()
    elif fate == "a pipe":
        os.mkfifo(path)
    elif fate == "behind a link":
        (folder.parent / "secret.jsonl").rename(path)
        folder.rename(folder.parent / "aside")
        folder.symlink_to(folder.parent / "aside")
    assert source.read(ref) is None


@pytest.mark.parametrize(
    "path",
    [
        "sessions/../a.jsonl",
        "sessions//a.jsonl",
        "../a.jsonl",
        "a.jsonl",
        "sessions/",
        "sessions/..",
    ],
)
def test_no_path_leads_out_of_the_folder(folder: Path, path: str) -> None:
    for place in (folder.parent / "a.jsonl", folder / "a.jsonl"):
        place.write_text("{}")
    open_to_all = TranscriptSource(
        "sessions", Folder(str(folder)), lambda _: True, lambda: read_openclaw
    )
    ref = open_to_all.scan().documents[0]
    assert open_to_all.read(ref) is not None
    assert open_to_all.read(ref._replace(path=path)) is None


def test_what_cannot_be_read_is_an_error(
    folder: Path, source: TranscriptSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "one.jsonl").write_text("{}")
    ref = ref_of(source, "one.jsonl")

    def fail(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source_module, "open_below", fail)
    with pytest.raises(PermissionError):
        source.read(ref)


def test_only_texts_are_kept_in_memory() -> None:
    said = json.dumps({"type": "message", "message": {"role": "user", "content": "yes"}}).encode()
    noise = json.dumps(
        {"type": "message", "message": {"role": "toolResult", "content": "x" * 100_000}}
    ).encode()
    longest = b'{"type": "' + b"x" * 50_000_000

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield noise + b"\n"
        for at in range(0, len(longest), 1 << 20):
            yield longest[at : at + (1 << 20)]
        yield b"\n" + said

    tracemalloc.start()
    try:
        transcript = read_transcript(pieces(), read_openclaw)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (transcript.text, transcript.line_map) == ("User: yes", (102,))
    assert peak < 45_000_000  # one line may take 32 MiB; all of it would be 60 MB
