"""The log of all changes, whose last commit says what the store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import IndexBusyError
from commonplace_example_milvus.catalogue import EMPTY, Commit, Entry, replayed
from commonplace_example_milvus.database import Fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace_example_milvus.catalogue import Catalogue
    from commonplace_example_milvus.database import Database


_LOG = "_log"
_FIELDS = Fields("seq", numbers=("build",), flags=("done",), texts=("record",))
_TRIES = 100


class Journal:
    """A collection whose rows are only added, until nothing refers to them any more.

    Milvus has no transactions; one row becomes visible as a whole. So a writer first puts entries
    and everything that belongs to them, numbered above the last commit, where no reader looks.
    Then it puts the commit, a single row. Whatever is numbered above the last commit when a writer
    takes the lease was left by a writer that did not come so far, and is swept away.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = EMPTY
        database.create(_LOG, _FIELDS)

    def latest(self) -> Commit:
        """The last commit."""
        rows = self._database.few(_LOG, "done == true", ["seq", "record"])
        if not rows:
            return Commit()
        last = max(rows, key=lambda row: int(row["seq"]))
        return Commit.of(last["seq"], last["record"])

    def read(self) -> Catalogue:
        """What the store holds as of the last commit."""
        for _ in range(_TRIES):
            commit, known = self.latest(), self._known
            if commit.seq == known.commit.seq:
                return known
            where = f"done == false and seq <= {commit.seq}"
            rows = list(self._database.rows(_LOG, where, ["seq", "build", "record"]))
            # A writer may have swept away meanwhile what this commit still needs.
            if self.latest().seq == commit.seq:
                entries = (Entry.of(row["seq"], row["build"], row["record"]) for row in rows)
                self._known = replayed(commit, entries)
                return self._known
        raise IndexBusyError("the index changes faster than it can be read", hint="try again")

    def write(self, commit: Commit, entries: Sequence[Entry] = ()) -> Catalogue:
        """Put ``entries`` and then ``commit``; what the store holds from now on."""
        before = self.read()
        rows = [_row(entry.seq, entry.build, entry.record(), done=False) for entry in entries]
        if rows:
            self._database.insert(_LOG, rows)
        self._database.insert(_LOG, [_row(commit.seq, 0, commit.record(), done=True)])
        self._known = before.after(commit, entries)
        return self._known

    def forget(self, commit: Commit) -> None:
        """Delete a commit that is no more the last."""
        self._database.delete(_LOG, f"seq in {[commit.seq]}")

    def sweep(self, catalogue: Catalogue) -> None:
        """Delete what counts no more at ``catalogue``, which is the last; the chunks go before."""
        commit = catalogue.commit
        builds = [build.id for build in commit.builds]
        waste = [entry.seq for entry in catalogue.waste if entry.version]
        deletions = [entry.seq for entry in catalogue.waste if not entry.version]
        self._database.delete(
            _LOG,
            f"seq > {commit.seq} or (done == true and seq < {commit.seq})"
            f" or (done == false and (build not in {builds} or seq in {waste}))",
        )
        # Not before what they deleted is gone, which would be there again.
        if deletions:
            self._database.delete(_LOG, f"done == false and seq in {deletions}")
        self._known = catalogue.swept()


def _row(seq: int, build: int, record: str, *, done: bool) -> dict[str, object]:
    return {"seq": seq, "build": build, "done": done, "record": record}
