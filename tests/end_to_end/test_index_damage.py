"""An index that is damaged in any way is rebuilt, and gives no wrong answer meanwhile."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from commonplace_sqlite.checking import damaged_indexes
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def damages(load: Callable[[str], Any]) -> Any:
    """What damages indexes; see ``tests/faults/index_damage.py``."""
    return load("faults/index_damage.py")


@pytest.mark.parametrize(("trials", "notes"), [(30, 90)])
def test_random_damage_ends_in_right_answers(
    damages: Any, tmp_path: Path, trials: int, notes: int
) -> None:
    outcomes = list(damages.run_trials(tmp_path, trials, notes=notes))
    bad = [outcome for outcome in outcomes if outcome.result not in damages.GOOD]
    assert bad == [], Counter(outcome.result for outcome in outcomes)
    assert len(outcomes) == trials


# Rows that no damaged page can have, but a mistake in the program could write.
UNREADABLE = {
    "tokens": "UPDATE text_1 SET body = x'789c0102'",
    "the dictionary of tokens": "UPDATE text_1 SET text = 'other words'",
    "a text": "UPDATE text_1 SET text = CAST(x'ff41' AS TEXT)",
    "bytes of a text": "UPDATE text_1 SET text = x'ff'",
    "headings": "UPDATE chunk_1 SET heading = x'ff'",
    "a path": "UPDATE document_1 SET plain = 0, path = x'ff' WHERE id = 1",
    "a lost text": "DELETE FROM text_1",
}


@pytest.mark.parametrize("row", UNREADABLE)
@pytest.mark.parametrize("first", ["search", "index", "index --force"])
def test_rows_that_cannot_be_read_are_damage(
    damages: Any, tmp_path: Path, row: str, first: str
) -> None:
    place = damages.Place(tmp_path)
    damages.write_notes(place.workspace, range(3))
    with place.open() as memory:
        memory.sync()
        before = memory.search("note1 note2").hits
    connection = apsw.Connection(str(place.index), vfs=checked_vfs(""))
    connection.execute(UNREADABLE[row])
    connection.close()
    with place.open() as memory:
        if first == "search":
            result = memory.search("note1 note2")
            assert result.hits == before
            assert any("it was set aside as" in note for note in result.notes)
        else:
            memory.sync(force=first == "index --force")
    with place.open() as memory:
        assert memory.search("note1 note2").hits == before
        assert memory.status(deep=True).problems == ()
    assert len(damaged_indexes(str(place.index)).kept()) <= 1


def test_a_search_rebuilds_what_is_damaged_also_where_searches_update_nothing(
    damages: Any, tmp_path: Path
) -> None:
    place = damages.Place(tmp_path)
    damages.write_notes(place.workspace, range(3))
    with place.open() as memory:
        memory.sync()
        before = memory.search("note1").hits
    connection = apsw.Connection(str(place.index), vfs=checked_vfs(""))
    connection.execute(UNREADABLE["tokens"])
    connection.close()
    with place.open(sync={"onSearch": False}) as memory:
        result = memory.search("note1")
    assert result.hits == before
    assert any("it was set aside as" in note for note in result.notes)
