"""When a growing transcript is read again by an automatic sync."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from commonplace_sessions import source as source_module
from commonplace_sessions.folder import Folder, is_openclaw
from commonplace_sessions.readers import read_openclaw
from commonplace_sessions.source import TranscriptSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.model.documents import DocumentRef, Stamp

    Entries = Callable[..., bytes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    return tmp_path / "sessions" / "one.jsonl"


@pytest.fixture
def said(lines_of: Entries, message: Callable[..., dict[str, Any]]) -> bytes:
    return lines_of(message("user", "Where do walruses live?"))


def source_with(path: Path, growth: tuple[int, int]) -> TranscriptSource:
    place = Folder(str(path.parent.parent), ("sessions",))
    return TranscriptSource("sessions", place, is_openclaw, lambda: read_openclaw, growth)


def ref_of(source: TranscriptSource) -> DocumentRef:
    (ref,) = source.scan().documents
    return ref


def unsettled(stamp: Stamp) -> Stamp:
    size, _, _, inode = stamp.split()
    return f"{size} -1 -1 {inode}"


@pytest.mark.parametrize(
    ("growth", "messages", "expected"),
    [
        ((10_000, 3), 2, False),
        ((10_000, 3), 3, True),
        ((150, 50), 1, False),
        ((150, 50), 2, True),
        ((0, 50), 1, True),
        ((10_000, 0), 1, True),
        ((0, 0), 1, True),
    ],
)
@pytest.mark.parametrize("settled", [True, False])
def test_it_is_due_once_it_has_grown_by_enough(
    path: Path, said: bytes, growth: tuple[int, int], messages: int, expected: bool, settled: bool
) -> None:
    assert 75 <= len(said) < 150
    path.write_bytes(said * 5)
    source = source_with(path, growth)
    before = ref_of(source).stamp if settled else unsettled(ref_of(source).stamp)
    with path.open("ab") as file:
        file.write(said * messages)
    assert source.due(ref_of(source), before) is expected


def test_half_a_line_is_no_message(path: Path, said: bytes) -> None:
    path.write_bytes(said)
    source = source_with(path, (10_000, 1))
    before = ref_of(source).stamp
    with path.open("ab") as file:
        file.write(said[:-1])
    assert not source.due(ref_of(source), before)
    with path.open("ab") as file:
        file.write(said[-1:])
    assert source.due(ref_of(source), before)


@pytest.mark.parametrize("fate", ["shrunk", "rewritten", "replaced", "gone", "of no known size"])
def test_what_is_not_the_file_it_was_is_always_due(path: Path, said: bytes, fate: str) -> None:
    path.write_bytes(said * 2)
    source = source_with(path, (10_000, 50))
    before = ref_of(source).stamp
    if fate == "shrunk":
        path.write_bytes(said)
    elif fate == "rewritten":
        path.write_bytes(said[::-1] * 2)
    elif fate == "replaced":
        other = path.with_name("two.jsonl")
        other.write_bytes(said * 3)
        other.replace(path)
    else:
        path.write_bytes(said * 3)
    ref = ref_of(source)
    if fate == "gone":
        path.unlink()
    assert source.due(ref, "-1 -1 -1 -1" if fate == "of no known size" else before)


def test_what_cannot_be_opened_is_due(
    path: Path, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(said)
    source = source_with(path, (10_000, 50))
    before = ref_of(source).stamp
    path.write_bytes(said * 2)
    ref = ref_of(source)

    def fail(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(source_module, "open_below", fail)
        assert source.due(ref, before)
    assert not source.due(ref, before)


def test_only_what_is_new_is_read_and_only_below_the_bytes_asked_for(
    path: Path, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(said * 10_000)
    source = source_with(path, (100_000, 50))
    before = ref_of(source).stamp
    read: list[int] = []

    def counted(opened: int, size: int) -> bytes:
        piece = real(opened, size)
        read.append(len(piece))
        return piece

    real = os.read
    monkeypatch.setattr(os, "read", counted)
    with path.open("ab") as file:
        file.write(said * 2)
    assert not source.due(ref_of(source), before)
    assert sum(read) == len(said) * 2
    read.clear()
    with path.open("ab") as file:
        file.write(said * 2_000)
    assert source.due(ref_of(source), before)
    assert read == []
