"""Reports of maintenance, and of a memory's whole condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import Record

if TYPE_CHECKING:
    from commonplace.errors import CommonplaceError
    from commonplace.model.documents import Finding, RootFailure, SpaceInfo, Trust
    from commonplace.model.groups import StatusGroups
    from commonplace.model.search import Fallback

LATER = "run `commonplace index` (a search itself takes up 20 notes, each of 1 MiB at the most)"
"""What to do about changes that a search has left, where no sync follows it."""


class Progress(Record):
    """How far a long piece of work is; ``total`` is 0 while unknown."""

    label: str
    completed: int
    total: int


ProgressCallback = Callable[[Progress], None]


class Upload(Record):
    """Texts that are about to be sent to a provider's server for the first time.

    ``host`` is its scheme, host and port; a server on this machine is none. ``texts`` counts them,
    and ``query`` tells that it is the words of a search. ``key`` says where the key stands.
    ``named`` tells that the configuration asks for it, by the provider's id, address or key;
    otherwise a key was merely found. ``declined`` tells that the answer was no before. ``never``
    says how to prevent it for good.
    """

    provider: str
    host: str
    texts: int
    key: str = ""
    named: bool = False
    declined: bool = False
    query: bool = False
    never: str = 'set memorySearch.provider to "none"'


UploadListener = Callable[[Upload], bool | None]
"""Whether texts may be sent: the answer is kept, unless it is ``None`` (not now)."""


class Embedding(Record):
    """What embedding did during a sync.

    ``embedded`` texts by ``requests`` requests, ``cached`` without any; ``cut`` were too long for
    the model and shortened. ``missing`` still have no vector, because of ``reason`` if that is a
    failure. ``batched`` of those embedded came from batch jobs, of which ``jobs`` are new;
    ``pending`` of those missing wait for one; ``batch_note`` is a line on what went wrong there.
    ``refused`` are (place, reason) of texts that the provider will not embed: they are not among
    those missing, and wait until they change. ``note`` is a line on what was found and repaired.
    """

    provider: str = ""
    embedded: int = 0
    cached: int = 0
    cut: int = 0
    requests: int = 0
    missing: int = 0
    reason: str = ""
    batched: int = 0
    jobs: int = 0
    pending: int = 0
    batch_note: str = ""
    refused: tuple[tuple[str, str], ...] = ()
    note: str = ""


class SyncReport(Record):
    """What a sync did: counts of documents, and what it had to leave.

    ``remaining`` counts changed documents that were left for later because time ran out; ``known``
    those that the index held before, in whatever state: with none it can answer nothing.
    ``deferred`` counts those of a source that says they have grown by too little to be indexed
    again before a sync is asked for; they are not among the remaining.
    ``unreadable`` are (path, reason) of files that could not be read; their old entries stay.
    ``rebuilding`` is (done, of) documents while the index is rebuilt and the previous one is
    searched; ``None`` otherwise.
    ``hidden`` counts documents that stay as they are indexed, as they could not be looked for;
    ``absent_roots`` are folders that are not there, and of which nothing is known.
    ``embedding`` is what was done for vectors, where there is a provider.
    ``opened`` counts files whose bytes were read. ``seconds`` is wall time.
    ``notices`` are lines about what the store repaired or cannot do; ``kept`` is False where
    the index was to outlive this process, and will not. ``empty`` says what sources without any
    document looked for. ``cut`` says how the index is cut, where that is not as this process's
    settings say. ``failed_backends`` are the ids of those whose index was not updated.
    """

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks_written: int = 0
    opened: int = 0
    remaining: int = 0
    known: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()
    failed_roots: tuple[RootFailure, ...] = ()
    skipped_symlinks: int = 0
    rebuilt: bool = False
    embedding: Embedding | None = None
    seconds: float = 0.0
    hidden: int = 0
    notices: tuple[str, ...] = ()
    kept: bool = True
    absent_roots: tuple[RootFailure, ...] = ()
    rebuilding: tuple[int, int] | None = None
    deferred: int = 0
    empty: tuple[str, ...] = ()
    cut: str = ""
    failed_backends: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the sync changed the index."""
        return bool(self.added or self.updated or self.removed or self.rebuilt)


class BackendState(Record):
    """One of the configured backends.

    ``state`` is ``serving``, ``standby`` (not asked, since one before it can answer) or
    ``failing``: because of ``reason``, ``since`` (epoch seconds), and to be tried again in
    ``retry_in`` seconds.
    """

    id: str
    state: Literal["serving", "standby", "failing"]
    reason: str = ""
    since: float | None = None
    retry_in: float = 0.0


class WatchingProcess(Record):
    """A process that watches the notes, ``since`` (epoch seconds); ``program`` is what it runs."""

    pid: int
    since: float
    program: str = ""


class Status(Record):
    """The condition of one agent's memory, for people, scripts and agents.

    ``backend`` is active. ``stale`` counts files that changed since they were indexed, -1 when
    the tree was not looked at; ``deferred`` those that have grown by too little to be indexed
    again before a sync is asked for, and ``unreadable`` are (path, reason) of those that cannot be
    read. ``db_path`` and ``db_bytes`` are of the derived index. ``files``, ``chunks``, ``db_bytes``
    and ``writable`` are ``None`` where the backend does not say: it fails, say.
    ``notices`` are one-line words on all problems and on what was repaired, each
    with its reason; ``problems`` are what a deep check found.

    ``provider`` and ``model`` would embed a query now (``None``: none, search is by keyword), as
    far as is known without asking, and ``fallback`` says in whose place. ``search_mode`` is
    ``hybrid``, ``vector`` or ``keyword``. ``providers`` are those configured, ``spaces`` all that
    the index holds vectors in, each with how much it covers. ``links`` are the chain of backends.
    ``sync_state`` tells what syncs the index in this process, if anything has, and ``watchers``
    which other processes on this machine watch the notes.
    ``findings`` are the results of a deep check, good or not; their fixes work as long as the
    memory is open. ``information`` are lines of the backend on what works. ``left_out`` counts what
    of the workspace is not searched. ``groups`` are the states of vector and keyword search, of the
    embedding cache and of batch jobs.
    """

    agent: str
    workspace: str
    backend: str
    available: bool
    requested_provider: str
    provider: str | None
    model: str | None
    search_mode: str
    sources: tuple[str, ...]
    extra_paths: tuple[str, ...]
    files: int | None
    chunks: int | None
    source_counts: tuple[tuple[str, int, int], ...]
    db_path: str
    db_bytes: int | None
    stale: int
    writable: bool | None
    config_files: tuple[str, ...] = ()
    failed_roots: tuple[RootFailure, ...] = ()
    skipped_symlinks: int = 0
    fallback: Fallback | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    providers: tuple[ProviderState, ...] = ()
    spaces: tuple[SpaceInfo, ...] = ()
    links: tuple[BackendState, ...] = ()
    deferred: int = 0
    sync_state: SyncState | None = None
    findings: tuple[Finding, ...] = ()
    information: tuple[str, ...] = ()
    left_out: LeftOut | None = None
    watchers: tuple[WatchingProcess, ...] = ()
    groups: StatusGroups | None = None
    unreadable: tuple[tuple[str, str], ...] = ()


_NARROWER = "name a folder in it with --workspace"


class LeftOut(Record):
    """What of a workspace is not searched.

    ``looked_for`` says what is, and ``searched`` counts it. ``notes`` counts other files that end
    as notes do, ``texts`` those that end in ``.txt``, ``ignored`` those that git ignores, and
    ``capitals`` those that end as notes but in capitals (``.MD``); ``folders`` are the names of
    folders that were not entered. ``at_least`` says that there may be more, since counting ended
    early. ``whole`` says that the folder is taken as it is, ``too_wide`` that it never is, since it
    holds the home folder.
    """

    looked_for: str
    workspace: str
    searched: int = 0
    notes: int = 0
    texts: int = 0
    ignored: int = 0
    capitals: int = 0
    folders: tuple[str, ...] = ()
    at_least: bool = False
    whole: bool = False
    too_wide: bool = False

    def sentences(self) -> tuple[str, ...]:
        """What was left out and how to search it, for people; none if nothing was."""
        lines = []
        if self.notes:
            notes = self._counted(self.notes, "other .md file")
            hint = _NARROWER if self.too_wide else self._setting('extraPaths: ["."]')
            lines.append(f"looked for {self.looked_for}; {notes} ignored; to search them: {hint}")
        if self.texts:
            texts = self._counted(self.texts, ".txt file")
            hint = self._setting("notes: { text: true }")
            lines.append(f"{texts} ignored; to search such: {hint}")
        if self.ignored:
            lines.append(
                f"{self._counted(self.ignored, 'note')} ignored, as git ignores them; "
                "to search them: set memory.search.notes.gitignore to false"
            )
        if self.capitals:
            files = self._counted(self.capitals, "file")
            lines.append(
                f"{files} ignored, as the name ends in capitals (.MD, .Markdown); to search such: "
                "rename them to .md"
            )
        if self.folders:
            names = ", ".join(self.folders[:4])
            more = len(self.folders) - 4
            names += f" and {more} more" if more > 0 else ""
            lines.append(f"folders not searched, as hidden or of tools: {names}")
        return tuple(lines)

    def nothing_found(self) -> tuple[str, ...]:
        """The same for a workspace in which there is no note."""
        lines = list(self.sentences())
        if not self.notes:
            place = f"looked for {self.looked_for} in {self.workspace}"
            wide = f"as the home folder is never searched as a whole; {_NARROWER}"
            lines.insert(0, f"{place}, {wide}" if self.too_wide else place)
        return (f"there are no notes yet: {lines[0]}", *lines[1:])

    def _setting(self, text: str) -> str:
        place = self.workspace.rstrip("/")  # of the root of a disk, nothing is left
        return f"put {{ memory: {{ search: {{ {text} }} }} }} into {place}/commonplace.json5"

    def _counted(self, number: int, thing: str) -> str:
        words = f"at least {number}" if self.at_least else f"{number}"
        return f"{words} {thing} was" if number == 1 else f"{words} {thing}s were"


class NoteText(Record):
    """Lines of a note: ``start_line`` is the 1-based line of the first; ``total_lines`` of all.

    ``trust`` says whose text it is, as that of a hit does.
    """

    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    trust: Trust = "memory"

    def as_prompt(self) -> str:
        """The lines as an agent is shown them: below a line saying that they are data, fenced."""
        from commonplace.model.prompt import DATA_NOTICE, fenced

        lines = f"{self.start_line}-{self.end_line}"
        return (
            f"{DATA_NOTICE}\n\n{fenced(self.text, path=self.path, lines=lines, trust=self.trust)}"
        )


Reason = Literal[
    "demand", "start", "session-start", "search", "watch", "interval", "post-compaction"
]
"""Why a sync is made: it was asked for; watching began; a session did; a search met changed
files; a file changed; its time had come; a session was compacted."""

WatchMode = Literal["native", "polling", "off"]
"""Who notices changed files: the operating system, repeated scans, or no part.
"""


class SyncEvent(Record):
    """A sync that ended, or could not be made.

    ``report`` says what was done, or ``error`` why nothing was: one of them is there. ``paths`` are
    the absolute paths whose change was noticed, where that is known; ``at`` is when it ended, in
    epoch seconds.
    """

    reasons: tuple[Reason, ...]
    at: float
    report: SyncReport | None = None
    error: CommonplaceError | None = None
    paths: tuple[str, ...] = ()
    force: bool = False


SyncListener = Callable[[SyncEvent], None]


class SyncOutcome(Record):
    """How the last sync of this process ended, ``at`` epoch seconds, and why it was made.

    ``error`` is what was wrong, in one line, and ``failing_since`` when that began.
    """

    at: float
    reasons: tuple[Reason, ...]
    added: int = 0
    updated: int = 0
    removed: int = 0
    error: str = ""
    failing_since: float | None = None


class SyncState(Record):
    """Who keeps the index up to the files in this process.

    ``watching`` with its ``reason``, where it is not as good as it could be, ``since`` (epoch
    seconds) and over how many ``folders``. ``running`` are the reasons of the sync under way;
    ``waiting`` counts the changed paths that wait for the next one, which is due in ``due_in``
    seconds (``None``: none is). ``full_scan_in`` is in how many seconds all files are compared
    again (``None``: no sync since the last time has looked at reported changes alone).
    """

    watching: WatchMode = "off"
    reason: str = ""
    since: float | None = None
    folders: int = 0
    running: tuple[Reason, ...] = ()
    waiting: int = 0
    due_in: float | None = None
    full_scan_in: float | None = None
    last: SyncOutcome | None = None


class ProviderState(Record):
    """A configured embedding provider, asked nothing.

    ``role`` is ``primary`` or ``fallback``. Of ``chunks`` chunks ``covered`` have a vector in its
    ``space`` (``""`` while it has none). ``state`` is ``ready``, ``failing``, ``probing`` (failing,
    and tried again by the next call) or ``unusable``; ``reason`` says why, ``since`` when (epoch
    seconds), and ``work`` at what: ``queries`` or ``documents``. It is tried again in ``retry_in``
    seconds.
    """

    id: str
    role: str
    state: str
    model: str = ""
    space: str = ""
    covered: int = 0
    chunks: int = 0
    reason: str = ""
    since: float | None = None
    work: str = ""
    retry_in: float = 0.0
