"""Refused texts are remembered by index and fingerprint, and a damaged file is an empty one."""

from __future__ import annotations

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.spaces import RefusedText, RefusedTexts

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = RefusedText("a.md#L1", "no"), RefusedText("b.md#L2-L3", "content policy")


def test_each_index_and_fingerprint_has_its_own(tmp_path: Path) -> None:
    path = tmp_path / "state" / "refused.json"
    mine, yours = RefusedTexts(str(path), "mine"), RefusedTexts(str(path), "yours")
    assert mine.of("f") == {}
    mine.keep("f", {"1": ONE})
    mine.keep("g", {"2": TWO})
    yours.keep("f", {"3": TWO})
    assert (mine.of("f"), mine.of("g")) == ({"1": ONE}, {"2": TWO})
    assert (yours.of("f"), yours.of("g")) == ({"3": TWO}, {})
    mine.keep("f", {})
    assert mine.of("f") == {}
    assert mine.of("g") == {"2": TWO}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    names = sorted(entry.name for entry in path.parent.iterdir())
    assert names == ["refused.json", "refused.json.lock"]


def test_indexes_that_keep_at_once_lose_nothing_of_one_another(tmp_path: Path) -> None:
    path = str(tmp_path / "refused.json")
    begin = threading.Barrier(6, timeout=30)

    def keep(number: int) -> None:
        begin.wait()
        RefusedTexts(path, f"i{number}").keep("f", {"1": ONE})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(keep, range(6)))
    assert [RefusedTexts(path, f"i{number}").of("f") for number in range(6)] == [{"1": ONE}] * 6


def test_nothing_to_remember_makes_no_file(tmp_path: Path) -> None:
    RefusedTexts(str(tmp_path / "refused.json"), "i").keep("f", {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"i": 3}',
        b'{"i": {"f": []}}',
        b'{"i": {"f": {"1": ["place"]}}}',
        b'{"i": {"f": {"1": [1, 2], "2": "no"}}}',
    ],
)
def test_a_damaged_file_holds_nothing_and_is_written_again(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "refused.json"
    path.write_bytes(raw)
    texts = RefusedTexts(str(path), "i")
    assert texts.of("f") == {}
    texts.keep("f", {"1": ONE})
    assert texts.of("f") == {"1": ONE}


def test_a_file_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    texts = RefusedTexts(str(tmp_path / "file" / "refused.json"), "i")
    texts.keep("f", {"1": ONE})
    assert texts.of("f") == {}


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.builds(RefusedText, st.text(max_size=9), st.text(max_size=9)),
        max_size=5,
    )
)
def test_what_is_kept_is_read(held: dict[str, RefusedText]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        texts = RefusedTexts(f"{folder}/refused.json", "i")
        texts.keep("f", held)
        assert texts.of("f") == held
