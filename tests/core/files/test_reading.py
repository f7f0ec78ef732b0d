from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.files.reading import decode, read_bytes, resolve
from commonplace.files.roots import Roots
from commonplace.files.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.model.documents import Stamp


def read(workspace: Path, path: str) -> tuple[bytes, Stamp]:
    return read_bytes(*resolve(Roots(str(workspace)), path))


def test_bytes_come_with_the_stamp_a_scan_sees(workspace: Path) -> None:
    data, stamp = read(workspace, "MEMORY.md")
    assert data == b"# Memory\n"
    assert stamp == scan(Roots(str(workspace))).documents[0].stamp


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 3_000_000])
def test_every_size_is_read_whole(workspace: Path, size: int) -> None:
    data = os.urandom(size)
    (workspace / "MEMORY.md").write_bytes(data)
    assert read(workspace, "MEMORY.md")[0] == data


def test_short_reads_are_put_together(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "MEMORY.md").write_bytes(b"0123456789" * 10)
    real = os.read
    monkeypatch.setattr(os, "read", lambda fd, n: real(fd, min(n, 7)))
    assert read(workspace, "MEMORY.md")[0] == b"0123456789" * 10


class Meddler:
    """Changes a file just after each of its first ``times`` reads."""

    def __init__(self, file: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads = 0
        self._file = file
        self._times = times
        self._read = os.read
        monkeypatch.setattr(os, "read", self)

    def __call__(self, fd: int, n: int) -> bytes:
        piece = self._read(fd, n)
        self.reads += 1
        if self.reads <= self._times:
            with open(self._file, "ab") as stream:
                stream.write(b"+")
            os.utime(self._file, ns=(0, self.reads))
        return piece


def test_a_file_that_changes_while_it_is_read_is_read_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"x")
    Meddler(note, 1, monkeypatch)
    data, stamp = read(workspace, "MEMORY.md")
    assert data == b"x+"
    assert stamp == scan(Roots(str(workspace))).documents[0].stamp


def test_a_file_that_never_rests_keeps_a_stamp_from_before(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"x")
    meddler = Meddler(note, 1_000, monkeypatch)
    data, stamp = read(workspace, "MEMORY.md")
    assert data.startswith(b"x")
    assert meddler.reads < 20
    assert stamp != scan(Roots(str(workspace))).documents[0].stamp


@pytest.mark.skipif(sys.platform == "win32", reason="there /dev is not")
def test_descriptors_are_closed(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory/a/b/c.md")
    (workspace / "memory/link").symlink_to("a")
    os.mkfifo(workspace / "memory/pipe.md")
    before = len(os.listdir("/dev/fd"))
    for path in ("a/b/c.md", "link/b/c.md", "pipe.md", "none.md", "a/none/c.md", "a/b/c.md/d.md"):
        try:
            read(workspace, f"memory/{path}")
        except Exception:  # noqa: BLE001 - which one is the affair of other tests
            continue
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"plain\r\nlines\n", "plain\r\nlines\n"),
        ("日記 é 🦜".encode(), "日記 é 🦜"),
        (codecs.BOM_UTF8 + b"x", "x"),
        (codecs.BOM_UTF8 * 2 + b"x", "\ufeffx"),
        (codecs.BOM_UTF8, ""),
        ("é\n".encode("utf-16"), "é\n"),
        (codecs.BOM_UTF16_BE + "é🦜\n".encode("utf-16-be"), "é🦜\n"),
        ("é\n".encode("utf-32"), "é\n"),
        (codecs.BOM_UTF16_LE + b"a\0b", "a\ufffd"),
        (b"caf\xe9!", "café!"),
        (codecs.BOM_UTF8 + b"caf\xe9!", "café!"),
        (b"nul\0byte", "nul\0byte"),
        (b"form\x0cfeed\x85\xe2\x80\xa8", "form\x0cfeed…\u2028"),
        ("Grüße, 5 €: «déjà vu»".encode("cp1252"), "Grüße, 5 €: «déjà vu»"),
        ("Grüße – ".encode() + "façade".encode("latin-1"), "Grüße – façade"),
        ("été".encode("latin-1"), "été"),
        ("a note, and a Café".encode("utf-16-le"), "a note, and a Café"),
        ("a note, and a Café".encode("utf-16-be"), "a note, and a Café"),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    "data",
    [
        "привет, как дела".encode("cp1251"),
        "привет, как дела".encode("koi8-r"),
        "Zażółć gęślą jaźń".encode("cp1250"),
        "こんにちは世界".encode("shift_jis"),
        "你好世界".encode("gbk"),
        "Καλημέρα κόσμε".encode("cp1253"),
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"\x00\x80",
        bytes(range(256)),
    ],
)
def test_what_is_no_text_is_named_and_never_guessed(data: bytes) -> None:
    with pytest.raises(OSError, match="save it as UTF-8"):
        decode(data)


@pytest.mark.parametrize("control", [b"\x00", b"\x08", b"\x0e", b"\x1f", b"\x7f"])
def test_a_long_file_that_is_no_text_is_refused_before_its_letters_are_counted(
    monkeypatch: pytest.MonkeyPatch, control: bytes
) -> None:
    # An image of a megabyte took a second, in each search.
    monkeypatch.setattr("commonplace.files.reading.looks_western", pytest.fail)
    with pytest.raises(OSError, match="save it as UTF-8"):
        decode(b"caf\xe9 " + control)


@given(st.binary())
def test_decoding_gives_text_that_can_be_stored_or_says_that_it_is_none(data: bytes) -> None:
    with suppress(OSError):
        decode(data).encode()
    decode(codecs.BOM_UTF16_LE + data).encode()
    decode(codecs.BOM_UTF32_BE + data).encode()


# Hypothesis would try all of Unicode for the letters of a code page.
WESTERN = [sign for sign in bytes(range(256)).decode("cp1252", "ignore") if sign.isalpha()]


@given(st.text(WESTERN, max_size=1))
def test_western_words_of_one_byte_a_letter_are_read(word: str) -> None:
    text = f"a longer line of plain words before it: {word} and after it"
    assert decode(text.encode("cp1252")) == text


@given(st.text())
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(codecs.BOM_UTF8 + text.encode()) == text
    if not text.startswith("\ufeff"):
        assert decode(text.encode()) == text
