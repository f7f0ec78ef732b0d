"""Configurations that share an index: which one cuts it, and what the other one reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import PluginUnavailableError
from commonplace.index.builds import Cut, SharedChunking

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.protocols.parts import Chunker

ONE, TWO = Cut("markdown", 200, 32), Cut("lines", 400, 80)


class Named:
    """A chunker that is known by the cut it was made for."""

    def __init__(self, cut: Cut) -> None:
        self.fingerprint = repr(cut)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "main.sqlite.chunking"


def shared(record: Path, own: Cut) -> SharedChunking:
    def make(cut: Cut) -> Chunker:
        return Named(cut)  # type: ignore[return-value]  # passes for a chunker

    return SharedChunking(str(record), own, make)


def used(record: Path, own: Cut, **options: bool) -> tuple[Cut, str]:
    chunker, note = shared(record, own).choose(**options)
    return (ONE if chunker.fingerprint == repr(ONE) else TWO), note


def test_a_new_setting_cuts_the_index_with_the_next_whole_sync(record: Path) -> None:
    assert used(record, ONE) == (ONE, "")
    cut, note = used(record, TWO)
    assert cut == ONE
    assert note.startswith(
        "chunking.strategy is lines here and markdown in the index, "
        "chunking.tokens is 400 here and 200 in the index, "
    )
    assert note.endswith(": `commonplace index` cuts the notes again")
    assert used(record, TWO, whole=True) == (TWO, "")
    assert used(record, TWO) == (TWO, "")


def test_one_that_was_replaced_gives_way_until_it_is_forced(record: Path) -> None:
    used(record, ONE, whole=True)
    used(record, TWO, whole=True)
    for _ in range(3):
        cut, note = used(record, ONE, whole=True)
        assert (cut, "another configuration" in note) == (TWO, True)
        assert used(record, TWO, whole=True) == (TWO, "")
    assert used(record, ONE, whole=True, force=True) == (ONE, "")
    assert used(record, TWO, whole=True)[0] == ONE


def test_looking_writes_nothing(record: Path) -> None:
    assert used(record, ONE, writes=False) == (ONE, "")
    assert not record.exists()


@pytest.mark.parametrize("text", ["", "markdown 200\n", "markdown many 32\n", "\udcff"])
def test_a_damaged_record_is_none(record: Path, text: str) -> None:
    record.write_text(text, errors="surrogateescape")
    assert used(record, ONE, whole=True) == (ONE, "")
    assert record.read_text() == "markdown 200 32\n"


def test_a_chunker_that_is_not_installed_here_is_not_used(record: Path) -> None:
    used(record, TWO, whole=True)
    used(record, ONE, whole=True)

    def make(cut: Cut) -> Chunker:
        if cut == ONE:
            raise PluginUnavailableError("there is no chunker 'markdown'")
        return Named(cut)  # type: ignore[return-value]  # passes for a chunker

    chunker, note = SharedChunking(str(record), TWO, make).choose(whole=True)
    assert (chunker.fingerprint, note) == (repr(TWO), "")
