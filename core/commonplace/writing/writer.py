"""The one way to change notes: remember, correct, supersede, forget, undo."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from commonplace.errors import CallerError, CommonplaceError, MemoryClosedError
from commonplace.errors import WriteRefusedError as Refused
from commonplace.files.reading import split_citation
from commonplace.files.roots import find_roots
from commonplace.model.receipts import ORIGINS, Receipt, lowest
from commonplace.text.query import check_numbers, check_optional_texts, check_shares, check_texts
from commonplace.writing.changing import Changer, ChangeRequest, Proposal
from commonplace.writing.entries import (
    Entry,
    added,
    cited_run,
    names_no_lines,
    removed,
    replaced,
    similar_entries,
    superseded,
)
from commonplace.writing.journal import origin_of_lines, shared_journal
from commonplace.writing.notefile import NoteFile, Places, check_workspace, read_note
from commonplace.writing.screening import (
    checked_heading,
    checked_reason,
    refuse_instruction,
    screened,
    screened_change,
)
from commonplace.writing.undoing import find_receipt, made_folders, undone_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.model.receipts import Action, Origin
    from commonplace.model.reports import NoteText, Status
    from commonplace.writing.changing import Target


class WritableMemory(Protocol):
    """What a writer needs of a :class:`~commonplace.Memory`."""

    settings: Settings
    host: PluginHost
    closed: bool

    def get(self, path: str) -> NoteText:
        """A note, or the cited lines of it."""
        ...

    def status(self) -> Status:
        """The condition of the memory."""
        ...


class Writer:
    """Changes the notes of a memory, one file at a time; made by ``Memory.writer``.

    Each change is atomic: the file is written whole beside the old one, compared with what was
    read, and put in its place under a lock; never through a link, never outside the workspace. If
    another program saves the file meanwhile, the change is made in what it saved, within limits
    (``replacing.py``) and unless it touched the same lines. Each is in a journal, with a receipt.

    ``origin`` is on whose word this writer writes: the code that makes it decides, never a text.
    Secrets are masked. Text that is not the owner's own and reads like an instruction to an agent
    is refused, or quoted in a log.

    All methods raise :class:`~commonplace.errors.WriteRefusedError` for a change that is not made
    (its ``kind`` says why), :class:`~commonplace.errors.PathNotAllowedError` for what is no note of
    the workspace, and :class:`~commonplace.errors.UnavailableError` where file or journal cannot
    be written. The notes are then unchanged. An argument of a wrong type is a
    :class:`~commonplace.errors.CallerError` that names it. Threads may share a writer.
    """

    def __init__(
        self,
        memory: WritableMemory,
        *,
        origin: Origin,
        who: str,
        allowed: bool | None,
        clock: Callable[[], float],
    ) -> None:
        check_texts(who=who)
        if allowed not in (True, False, None):
            raise CallerError(f"allowed must be True, False or None, not {allowed!r:.40}")
        settings, search = memory.settings, memory.settings.search
        self.origin: Origin = origin
        self.who = who
        self._settings = settings
        self._patterns = search.redact.patterns
        if origin not in ORIGINS:
            raise CallerError(f"there is no origin {origin!r}", hint=f"it is {', '.join(ORIGINS)}")
        self._previews = False
        self._allowed = origin == "owner" or settings.write.enabled if allowed is None else allowed
        self._memory = memory
        self._places = Places(settings, clock)
        self._changer = Changer(
            settings.workspace,
            lambda: find_roots(settings.workspace, search.extra_paths, search.notes.rules),
            shared_journal(settings.state_dir, settings.workspace),
            veto=memory.host.veto,
            clock=clock,
        )

    @property
    def log_path(self) -> str:
        """Where today's log is: ``memory/2026-01-31.md``, by the day of ``query.timeZone``.

        Where a folder of notes without ``MEMORY.md`` and ``memory/`` is the workspace, it is
        ``commonplace/2026-01-31.md``: a folder ``memory/`` would hide all other notes.
        """
        return self._places.log

    @property
    def entry_path(self) -> str:
        """Where lasting entries are: ``MEMORY.md``, or the ``memory.md`` that is there."""
        return self._places.entries

    def remember(
        self,
        text: str,
        *,
        kind: Literal["log", "entry"] = "log",
        heading: str | None = None,
        importance: float | None = None,
        source: str | None = None,
        why: str = "",
    ) -> Receipt:
        """Add ``text`` to today's log, or with ``kind="entry"`` to ``MEMORY.md``.

        It becomes an entry of a list, at the end of the file or of the section ``heading``, which
        is added where it is missing. ``importance`` (0..1) stands beside it as a comment.
        ``source`` is a citation: the text is trusted no more than what it was taken from.

        What memory holds already is refused; nearly the same is named in the receipt's notes.
        Compared are the file itself, ``MEMORY.md`` and the fourteen latest logs.
        """
        check_texts(text=text, why=why)
        check_optional_texts(heading=heading, source=source)
        check_shares(importance=importance)
        self._check_allowed()
        if kind not in ("log", "entry"):
            raise CallerError(f"there is no kind {kind!r}", hint="it is log or entry")
        origin = self._origin_with(source)
        checked = screened(text, origin, self._patterns)
        title = checked_heading(heading or "", origin, self._patterns)
        if kind == "entry":
            refuse_instruction(checked.suspicion)
        entry = Entry(checked.text, importance, checked.suspicion)
        target = self._changer.target(self.log_path if kind == "log" else self.entry_path)
        name = self._places.today if kind == "log" else "Memory"

        def plan(base: bytes | None) -> Proposal:
            note = read_note(base, target.path)
            notes = [*checked.notes, *self._compared(target.path, note, checked.text)]
            if entry.quoted:
                notes.append(f"it is quoted, as it reads like an instruction: {entry.quoted}")
            lines = added(note.lines, entry, heading=title, title=name, end=note.newline)
            return Proposal(note.with_lines(lines).data(), origin, tuple(notes))

        return self._make(target, "remember", why, plan)

    def correct(
        self,
        citation: str,
        new: str,
        *,
        was: str | None = None,
        source: str | None = None,
        why: str = "",
    ) -> Receipt:
        """Replace the cited lines (``path#L3``, ``path:3-9``) by ``new``.

        ``was`` is the text of these lines when they were read: if they have moved since, they are
        found by it; if they have changed, the correction is refused.
        """
        check_texts(new=new)
        return self._edit("correct", citation, was, new, source, why, replaced)

    def supersede(
        self,
        citation: str,
        new: str,
        *,
        since: str | None = None,
        was: str | None = None,
        source: str | None = None,
        why: str = "",
    ) -> Receipt:
        """Write ``new`` below the cited lines, and mark those as superseded by it.

        ``since`` is the day (ISO) of the mark, by default today; ``was`` is as for :meth:`correct`.
        """
        check_texts(new=new)
        change = partial(superseded, day=self._places.since(since))
        return self._edit("supersede", citation, was, new, source, why, change)

    def forget(self, citation: str, *, was: str | None = None, why: str = "") -> Receipt:
        """Delete the cited lines from their note. ``was`` is as for :meth:`correct`.

        The journal keeps them, so that :meth:`undo` can restore them.
        """

        def change(lines: Sequence[str], first: int, last: int, _: str, *, end: str) -> list[str]:
            del end
            return removed(lines, first, last)

        return self._edit("forget", citation, was, None, None, why, change)

    def undo(self, receipt: Receipt | str, *, why: str = "") -> Receipt:
        """Take a change back: its lines get the bytes that they had before it.

        ``receipt`` is a receipt or its id, of which the beginning will do where no other begins
        so, or ``"last"``: the last change that is no undo and was not undone. An undo can be undone
        by its id. Refused where the lines have changed since, or the change was undone already.
        """
        id_ = receipt.id if isinstance(receipt, Receipt) else receipt
        if not isinstance(id_, str):
            raise CallerError(f"receipt must be a receipt or its id, not {id_!r:.40}")
        check_texts(why=why)
        self._check_allowed()
        found = find_receipt(self._changer.history(settled=True), id_, self._changer)
        if ORIGINS.index(found.receipt.origin) < ORIGINS.index(self.origin):
            raise Refused(
                f"the change {found.receipt.id} was made on the word of the {found.receipt.origin}",
                kind="undone",
                hint="it can be undone on the same word: commonplace undo",
            )
        target = self._changer.target(found.receipt.path)

        def plan(base: bytes | None) -> Proposal:
            entries = self._changer.history()
            data = undone_note(entries, found, base)
            folders = 0 if data is not None else made_folders(entries, target.path)
            return Proposal(data, self.origin, undoes=found.receipt.id, folders=folders)

        return self._make(target, "undo", why, plan)

    def change(
        self, path: str, edit: Callable[[bytes | None], bytes | None], *, why: str
    ) -> Receipt:
        """Give the note at ``path`` the bytes that ``edit`` makes of its bytes.

        ``None`` stands for no file, before and after. ``edit`` runs under the lock of the
        workspace, and again if another program saves the file meanwhile; what it raises is raised.
        The lines that it adds are checked as in :meth:`remember`; one that reads like an
        instruction is refused, if it is not the owner's.
        """
        check_texts(path=path, why=why)
        if not callable(edit):
            raise CallerError(
                f"edit must be a function of the bytes of the note, not {edit!r:.40}",
                hint="return the new bytes: lambda data: (data or b'') + b'more'",
            )
        self._check_allowed()
        target = self._changer.target(path)

        def plan(base: bytes | None) -> Proposal:
            data, notes = screened_change(
                base, edit(base), target.path, self.origin, self._patterns
            )
            return Proposal(data, self.origin, notes)

        return self._make(target, "change", why, plan)

    def preview(self) -> Writer:
        """A writer like this one that writes nothing: each method returns the receipt it would.

        Such a receipt has no id. What is refused is refused here too, but for plugins' vetoes.
        """
        other = copy(self)
        other._previews = True  # noqa: SLF001 - of the same class
        return other

    def journal(self, *, path: str | None = None, limit: int | None = None) -> Sequence[Receipt]:
        """The receipts of all changes, newest first; of the note at ``path``, at most ``limit``."""
        check_optional_texts(path=path)
        check_numbers(0, limit=limit)
        if self._memory.closed:
            raise MemoryClosedError
        stored = None if path is None else self._changer.cited(split_citation(path)[0]).path
        found = [
            entry.readable_receipt
            for entry in reversed(self._changer.history(settled=True))
            if stored is None or entry.receipt.path == stored
        ]
        return found if limit is None else found[:limit]

    def origin_of(self, citation: str) -> Origin:
        """On whose word the cited text stands, by the journal and by where it is.

        Notes are the owner's, but for lines that others wrote through a writer: ``external`` while
        the journal is damaged. Raises as ``Memory.get`` does where nothing is cited.
        """
        check_texts(citation=citation)
        trust = self._memory.get(citation).trust
        if trust != "memory":
            return trust
        path, start, end = split_citation(citation)
        stored = self._changer.cited(path).path
        history = self._changer.history()
        entries = [one for one in history if one.receipt.path == stored]
        if not (history.damaged or any(one.receipt.origin != "owner" for one in entries)):
            return "owner"
        lines = self._read(stored).lines
        cited = lines if start is None or end is None else lines[max(0, start - 1) : end]
        return origin_of_lines(entries, cited, damaged=bool(history.damaged))

    # --- inside ---------------------------------------------------------------------------------

    def _edit(
        self,
        action: Action,
        citation: str,
        was: str | None,
        new: str | None,
        source: str | None,
        why: str,
        change: Callable[..., list[str]],
    ) -> Receipt:
        check_texts(citation=citation, why=why)
        check_optional_texts(was=was, source=source)
        self._check_allowed()
        path, start, end = split_citation(citation)
        if start is None or end is None:
            raise names_no_lines(path)
        target = self._changer.cited(path)
        origin = self._origin_with(source)
        checked = None if new is None else screened(new, origin, self._patterns)
        if checked is not None:
            refuse_instruction(checked.suspicion)

        def plan(base: bytes | None) -> Proposal:
            nonlocal was
            if base is None:
                missing = f"there is no note {target.path}"
                raise Refused(missing, kind="citation", hint="search for it")
            note = read_note(base, target.path)
            first, last = cited_run(note.lines, target.path, start, end, was)
            # If another program saves the file meanwhile, the lines are found by their text.
            was = "".join(note.lines[first:last])
            text = "" if checked is None else checked.text
            lines = change(note.lines, first, last, text, end=note.newline)
            notes = () if checked is None else checked.notes
            return Proposal(note.with_lines(lines).data(), origin, notes)

        return self._make(target, action, why, plan)

    def _make(
        self,
        target: Target,
        action: Action,
        why: str,
        plan: Callable[[bytes | None], Proposal],
    ) -> Receipt:
        check_workspace(self._settings.workspace, self._memory.status)
        reason = checked_reason(why, self._patterns)
        make = self._changer.preview if self._previews else self._changer.make
        return make(target, ChangeRequest(action, self.who, reason), plan)

    def _compared(self, path: str, note: NoteFile, text: str) -> list[str]:
        """Notes on entries that say nearly the same; refuses what is there already."""
        notes = []
        for other in dict.fromkeys((path, *self._places.compared())):
            lines = note.lines if other == path else self._read(other).lines
            for found in similar_entries(lines, other, text):
                if found.exact:
                    raise Refused(
                        f"memory has this already: {found.citation}",
                        kind="duplicate",
                        hint="correct or supersede that entry if something has changed",
                    )
                notes.append(f"much like {found.citation}: {found.text[:200]}")
        return notes

    def _origin_with(self, source: str | None) -> Origin:
        return self.origin if source is None else lowest(self.origin, self.origin_of(source))

    def _check_allowed(self) -> None:
        if self._memory.closed:
            raise MemoryClosedError
        if not self._allowed:
            what = f"memory is read-only for {self.who}: agents may not write"
            hint = "set memory.write.enabled to true (commonplace config set)"
            raise Refused(what, kind="disabled", hint=hint)

    def _read(self, path: str) -> NoteFile:
        """The note at ``path``; one that cannot be read has no lines."""
        with suppress(CommonplaceError, OSError):
            return self._changer.read(self._changer.target(path))
        return NoteFile()
