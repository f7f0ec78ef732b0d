"""What made a space's vectors is kept without secrets, and a file that is damaged is no harm."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from commonplace.embedding.spaces import SpaceLedger, context_as_recorded, recorded_settings
from commonplace.protocols.providers import ProviderContext

if TYPE_CHECKING:
    from pathlib import Path

CONTEXT = ProviderContext(
    model="big",
    dims=256,
    base_url="https://user:hidden@host.test/v1",
    api_key="tops3cret",
    headers={"x-key": "tops3cret"},
    query_prefix="q: ",
    options={"input_type": "passage", "model_path": "/m"},
)


def test_settings_come_back_as_they_were_with_today_s_key_and_address(tmp_path: Path) -> None:
    ledger = SpaceLedger(str(tmp_path / "state" / "spaces.json"))
    ledger.note("f1", recorded_settings("p", CONTEXT))
    ledger.note("f2", recorded_settings("p", ProviderContext()))
    assert list(ledger.entries()) == ["f1", "f2"]
    today = ProviderContext(model="small", api_key="new", options={"threads": 2})
    then = context_as_recorded(today, ledger.entries()["f1"])
    assert (then.model, then.dims, then.query_prefix) == ("big", 256, "q: ")
    assert then.options["input_type"] == "passage"
    assert (then.api_key, then.base_url, then.options["threads"]) == ("new", None, 2)


def test_no_key_and_no_address_is_kept_and_no_other_user_may_read(tmp_path: Path) -> None:
    path = tmp_path / "spaces.json"
    SpaceLedger(str(path)).note("f", recorded_settings("p", CONTEXT))
    text = path.read_text()
    assert "tops3cret" not in text
    assert "hidden" not in text
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["spaces.json", "spaces.json.lock"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"f": 1}', "[" * 5000])
def test_a_damaged_file_knows_nothing_and_is_written_again(tmp_path: Path, text: str) -> None:
    path = tmp_path / "spaces.json"
    path.write_text(text)
    ledger = SpaceLedger(str(path))
    assert ledger.entries() == {}
    ledger.note("f", {"provider": "p"})
    assert ledger.entries() == {"f": {"provider": "p"}}


def test_agents_that_note_at_once_lose_nothing_of_one_another(tmp_path: Path) -> None:
    begin = threading.Barrier(6, timeout=30)

    def note(number: int) -> None:
        begin.wait()
        SpaceLedger(str(tmp_path / "spaces.json")).note_length(f"f{number}", number + 1)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(note, range(6)))
    ledger = SpaceLedger(str(tmp_path / "spaces.json"))
    assert [ledger.length(f"f{number}") for number in range(6)] == [1, 2, 3, 4, 5, 6]


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    ledger = SpaceLedger(str(blocked / "spaces.json"))
    ledger.note("f", {"provider": "p"})
    assert ledger.entries() == {}
