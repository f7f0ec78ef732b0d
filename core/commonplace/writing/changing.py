"""One change of one note: under the lock, compared with what was read, recorded, and atomic.

The order makes files and journal agree whenever the process ends: the journal records the change,
the draft is written whole, draft and file change places, the journal marks the change as done, the
draft is deleted. The next holder of the lock settles what was left without a mark: the draft then
holds what the file was, unless the change was not made.
"""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from commonplace.errors import (
    IndexBusyError,
    IndexReadOnlyError,
    PathNotAllowedError,
    UnavailableError,
)
from commonplace.errors import WriteRefusedError as Refused
from commonplace.files.left_out import holds_notes
from commonplace.files.reading import lacks_ending, resolve, spellings
from commonplace.files.roots import OWN, check_workspace
from commonplace.model.receipts import Receipt
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.lock import Lease
from commonplace.writing.journal import Journal, JournalEntry, JournalError, around, digest_of
from commonplace.writing.notefile import changed_lines, comparable, read_note, split_lines
from commonplace.writing.replacing import (
    missing_folders,
    opened_folder,
    remove_folders,
    unavailable,
    undecided,
    without_journal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.files.roots import Roots
    from commonplace.model.receipts import Action, Origin
    from commonplace.writing.journal import History
    from commonplace.writing.notefile import NoteFile
    from commonplace.writing.replacing import Folder

_ATTEMPTS = 50
_WAIT_SECONDS = 10.0
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class Target(NamedTuple):
    """A note that may be written: its stored path, and the names that lead to it."""

    path: str
    parts: tuple[str, ...]


class Proposal(NamedTuple):
    """The bytes that a file is to have (``None``: no file), and what the receipt says of it.

    ``folders`` of those above go with the file, from the innermost, if they are empty then.
    """

    data: bytes | None
    origin: Origin
    notes: tuple[str, ...] = ()
    undoes: str = ""
    folders: int = 0


class ChangeRequest(NamedTuple):
    """Which action is asked for, by whom and why, whatever the file holds when it is taken."""

    action: Action
    who: str
    why: str


class Changer:
    """Changes the notes of one workspace, one after the other.

    ``find`` gives its roots as they are now. ``veto`` gives the reason why a change must not be
    made, or ``""``; its list gets notes on plugins that failed. ``clock`` gives epoch seconds.
    """

    def __init__(
        self,
        workspace: str,
        find: Callable[[], Roots],
        journal: Journal,
        *,
        veto: Callable[[Receipt, list[str]], str],
        clock: Callable[[], float],
    ) -> None:
        self.workspace = workspace
        self.journal = journal
        self._find = find
        self._lease = Lease(f"{journal.path}.lock", what="notes")
        self._veto = veto
        self._clock = clock

    def target(self, path: str) -> Target:
        """The note at ``path``, as :func:`~commonplace.files.reading.resolve` takes it.

        Raises :class:`~commonplace.errors.PathNotAllowedError` for what is no note, and
        :class:`~commonplace.errors.WriteRefusedError` for one outside the workspace, and where
        writing it would hide all other notes.
        """
        roots = self._find()
        stored = roots.stored_below(*resolve(roots, path))
        parts = tuple(stored.split("/"))
        if parts[0] == os.pardir or os.path.isabs(stored):
            why = f"{stored} is outside the workspace, and extra paths there are only read"
            raise Refused(why, kind="path", hint="change it in an editor")
        if roots.whole and parts[0] in OWN and holds_notes(self.workspace):
            raise Refused(
                f"{parts[0]} would hide the other notes of this folder: where it is, only it and "
                "memory/ are searched",
                kind="path",
                hint=f"write to another path, or create {parts[0]} by hand if that is wanted",
            )
        return Target(stored, parts)

    def cited(self, path: str) -> Target:
        """As :meth:`target` for a note that is there, whose ``path`` may lack its ending.

        Where none is there, it is what the path would be of, with no blank before it.
        """
        targets: list[Target] = []
        for spelling in spellings(path):
            try:
                target = self.target(spelling)
            except PathNotAllowedError:
                continue
            if os.path.lexists(os.path.join(self.workspace, *target.parts)):
                return target
            if not spelling[:1].isspace() and (spelling == path.strip() or lacks_ending(path)):
                targets.append(target)
        return targets[0] if targets else self.target(path.strip())

    def read(self, target: Target) -> NoteFile:
        """The note as it is now, without lines if it is not there; raises as :meth:`make` does."""
        *above, name = target.parts
        with opened_folder(self.workspace, above, make=False) as folder:
            return read_note(folder.read(name) if folder is not None else None, target.path)

    def make(
        self, target: Target, change: ChangeRequest, plan: Callable[[bytes | None], Proposal]
    ) -> Receipt:
        """Give the file at ``target`` what ``plan`` makes of its bytes (``None``: no file).

        If another program saves the file meanwhile, ``plan`` is called again with what it saved.
        Raises what ``plan`` raises, :class:`~commonplace.errors.WriteRefusedError` for a veto and
        for what is no regular file, and :class:`~commonplace.errors.UnavailableError` where the
        file or the journal cannot be written; the file is then unchanged.
        """
        with self.locked(target.path):
            for _ in range(_ATTEMPTS):
                receipt = self._attempt(target, change, plan)
                if receipt is not None:
                    return receipt
        raise UnavailableError(
            f"{target.path} is changed faster than it can be written",
            hint="try again when the other program is done",
        )

    def preview(
        self, target: Target, change: ChangeRequest, plan: Callable[[bytes | None], Proposal]
    ) -> Receipt:
        """The receipt that :meth:`make` would return now, without an id; nothing is written.

        Raises as :meth:`make` does for what can be known before writing.
        """
        *above, name = target.parts
        try:
            with opened_folder(self.workspace, above, make=False) as folder:
                base = folder.read(name) if folder is not None else None
        except OSError as error:
            raise unavailable(error, target.path) from error
        return self._entry(target, change, base, plan(base)).readable_receipt.replace(id="")

    def history(self, *, settled: bool = False) -> History:
        """All changes; ``settled`` first finds out whether the last one was made.

        Raises :class:`~commonplace.errors.UnavailableError` where the journal cannot be read.
        """
        try:
            last, marked = self.journal.last() if settled else (None, True)
            if last is not None and not marked:
                with suppress(UnavailableError), self.locked(self.journal.path):
                    pass
            return self.journal.entries()
        except OSError as error:
            raise UnavailableError(
                f"the journal of changes cannot be read: {error.strerror or error}",
                hint=f"see that this user may read {self.journal.path}",
            ) from error

    @contextmanager
    def locked(self, what: str) -> Iterator[None]:
        """Hold the lock of the workspace, with the journal settled.

        Raises :class:`~commonplace.errors.UnavailableError`; ``OSError`` becomes one on ``what``.
        """
        check_workspace(self.workspace)
        try:
            with self._lease.held(_WAIT_SECONDS):
                self._tidy()
                yield
        except IndexReadOnlyError as error:  # the lock, which is beside the journal
            raise without_journal(
                error.__cause__ or error, what, self.journal.path, error.hint
            ) from error
        except IndexBusyError as error:
            words = f"{what} cannot be written: {error}"
            raise UnavailableError(words, hint=error.hint) from error
        except JournalError as error:
            hint = f"make {os.path.dirname(self.journal.path)} and what is in it writable"
            raise without_journal(error, what, self.journal.path, hint) from error
        except OSError as error:
            raise unavailable(error, what) from error

    def _attempt(
        self, target: Target, change: ChangeRequest, plan: Callable[[bytes | None], Proposal]
    ) -> Receipt | None:
        *above, name = target.parts
        with opened_folder(self.workspace, above, make=False) as folder:
            base = folder.read(name) if folder is not None else None
        proposal = plan(base)
        entry = self._entry(target, change, base, proposal)
        if entry.was == entry.becomes:
            return entry.readable_receipt.replace(id="")
        failed: list[str] = []
        if reason := self._veto(entry.readable_receipt, failed):
            raise Refused(f"a plugin refuses this change: {reason}", kind="veto")
        entry = entry.noting(failed)
        with opened_folder(self.workspace, above, make=proposal.data is not None) as folder:
            if folder is None:
                return None  # it has just gone: what is there is read again
            self.journal.intend(entry)
            try:
                made = _commit(folder, name, entry, base, proposal.data)
            except BaseException as error:
                with suppress(OSError, UnavailableError):
                    if self._settle(entry, own=True) and isinstance(error, OSError):
                        return entry.readable_receipt
                raise
            if not made:
                return entry.readable_receipt if self._settle(entry, own=True) else None
            with suppress(OSError):  # the next writer sees from the files that it was done
                self.journal.done(entry.receipt.id)
                folder.delete(_draft(entry))
        remove_folders(self.workspace, above, proposal.folders)
        return entry.readable_receipt

    def _entry(
        self, target: Target, change: ChangeRequest, base: bytes | None, proposal: Proposal
    ) -> JournalEntry:
        old = read_note(base, target.path).lines
        new = read_note(proposal.data, target.path).lines
        before, after = changed_lines(old, new)
        receipt = Receipt(
            id=secrets.token_hex(5),
            action=change.action,
            path=target.path,
            before=before,
            after=after,
            who=change.who,
            origin=proposal.origin,
            when=self._clock(),
            why=change.why,
            notes=proposal.notes,
            undoes=proposal.undoes,
            created=base is None,
            deleted=proposal.data is None,
        )
        beside = around(old, before.start - 1, before.end)
        missing = missing_folders(self.workspace, target.parts[:-1])
        return JournalEntry(receipt, digest_of(base), digest_of(proposal.data), beside, missing)

    def _tidy(self) -> None:
        """Settle the last change, and delete its draft; raises what :meth:`_settle` raises."""
        entry, marked = self.journal.last()
        if entry is not None and marked:
            self._clear(entry)
        elif entry is not None and os.listdir(self.workspace):  # else its disk may be away
            self._settle(entry)

    def _settle(self, entry: JournalEntry, *, own: bool = False) -> bool:
        """Find out from the files whether a change was made, mark it, and return that.

        Raises ``OSError`` where the journal cannot be written, but for an ``own`` change that was
        made; ``UnavailableError`` where the files cannot be read: it then stays undecided.
        """
        parts = entry.receipt.path.split("/")
        try:
            with opened_folder(self.workspace, parts[:-1], make=False) as folder:
                made = folder is not None and self._was_made(folder, parts[-1], entry)
        except Refused:  # what is there now is no note: the change is lost with it
            made = False
        except OSError as error:
            if error.errno not in _GONE:
                raise undecided(error, entry.receipt.path) from error
            made = False
        try:
            (self.journal.done if made else self.journal.void)(entry.receipt.id)
        except JournalError:
            if not (made and own):
                raise
        else:
            self._clear(entry)  # not before: without a mark, the draft is what decides
        return made

    def _clear(self, entry: JournalEntry) -> None:
        """Delete the draft of a change that is marked."""
        *above, _ = entry.receipt.path.split("/")
        with suppress(OSError, Refused), opened_folder(self.workspace, above, make=False) as folder:
            if folder is not None:
                folder.delete(f"{_draft(entry)}.part", _draft(entry))

    def _was_made(self, folder: Folder, name: str, entry: JournalEntry) -> bool:
        draft = _draft(entry)
        beside, there = _state(folder, draft), _state(folder, name)
        if beside == "":  # not written yet; or, where no two files can change places, used up
            made = there == entry.becomes
        elif folder.is_same(draft, name):
            made = True
        elif beside == entry.becomes:
            made = False
        elif beside == entry.was:
            made = True
        else:
            made = self._put_back(folder, name, entry)
        return made

    def _put_back(self, folder: Folder, name: str, entry: JournalEntry) -> bool:
        """Restore what another program saved just before our draft took its place.

        If it saved the file once more since then, that version stays, the earlier one is kept
        aside, and the answer is whether the change is in what stays.
        """
        draft = _draft(entry)
        try:
            folder.swap(draft, name)
        except FileNotFoundError:
            folder.create(draft, name)
            return False
        if _state(folder, draft) in ("", entry.becomes):
            return False
        folder.swap(draft, name)
        self.journal.keep(entry.receipt.id, name, folder.read(draft) or b"")
        later = map(comparable, read_note(folder.read(name), entry.receipt.path).lines)
        before, after = (
            set(split_lines(comparable(run.text)))
            for run in (entry.receipt.before, entry.receipt.after)
        )
        there = set(later)
        return (after - before) <= there and there.isdisjoint(before - after)


def _commit(
    folder: Folder, name: str, entry: JournalEntry, base: bytes | None, data: bytes | None
) -> bool:
    """Let the file have ``data`` if it still has ``base``; whether that was done."""
    draft = _draft(entry)
    replaced = False  # whether the draft now holds what the file was
    try:
        if data is None:
            folder.move(name, draft)
            replaced = True
        else:
            folder.write_draft(draft, data, like=name)
            if folder.read(name) != base:
                return False
            if base is None:
                folder.create(draft, name)
            else:
                replaced = folder.swap(draft, name)
    except (FileExistsError, FileNotFoundError):
        return False
    if replaced and folder.read(draft) != base:
        return False
    folder.flush()
    return True


def _draft(entry: JournalEntry) -> str:
    """The name of the draft: hidden, and not that of a note."""
    return f".commonplace-{entry.receipt.id}.draft"


def _state(folder: Folder, name: str) -> str:
    try:
        return digest_of(folder.read(name))
    except Refused:
        return "other"  # stands for the digest of what is no regular file
