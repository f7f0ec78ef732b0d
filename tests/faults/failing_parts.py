"""A memory whose every plugin fails at random: what of it is shown, and what is lost.

An engine, a source, a provider, a ranker, a chunker and hooks of a third party stand beside the
builtin ones. Of their calls some raise one of nine exceptions, give what they must not, or hang;
half of the first two after having done the work.
"""

from __future__ import annotations

import logging
import random
import re
import threading
from collections import Counter
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace import CommonplaceError, Memory
from commonplace.host.host import PluginHost
from commonplace.model.search import Arm, Found, StoredChunk
from commonplace.plugin import (
    Chunk,
    Document,
    DocumentRef,
    IndexCorruptError,
    ManagerHealth,
    ScanReport,
    SyncReport,
    UnavailableError,
    hookimpl,
    with_step,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RAISED: tuple[Callable[[], BaseException], ...] = (
    lambda: ValueError("a wrong value"),
    lambda: TypeError("a wrong type"),
    lambda: KeyError("missing"),
    lambda: OSError(5, "the disk is ill"),
    lambda: RecursionError("too deep"),
    lambda: SystemExit(3),
    KeyboardInterrupt,
    lambda: UnavailableError("it is away"),
    lambda: IndexCorruptError("it is damaged"),
)
GIVEN: tuple[Any, ...] = (None, 42, "text", object(), [1], {"a": 1}, float("nan"), b"x")
NAMES = {
    "engine": "engine",
    "source": r"tickets|t/\d could not be read",
    "provider": "letters",
    "ranker": "'same'",
    "chunker": "chunker of acme_failing",
    "hook": "commonplace_searched",
}
"""Patterns of what the words on a failure of each part name."""
COSTLY = {
    f"{part}: {manner}"
    for part in ("engine.search", "ranker.rank", "source.scan", "chunker.chunk", "provider.embed")
    for manner in ("raise", "give", "hang")
} | {"hook.searched: raise", "source.read: raise", "hook.searched: hang", "source.read: hang"}
NOTES = 40
TICKETS = 5


class Chance:
    """Draws how each call of a plugin ends; ``failed`` counts by part and manner."""

    def __init__(self, seed: int, share: float) -> None:
        self._random = random.Random(seed)
        self.share = share
        self.failed: Counter[str] = Counter()
        self.released = Event()

    def call(self, part: str, work: Callable[[], Any]) -> Any:
        """What ``work`` gives, or a failure in its place or after it."""
        draw = self._random
        if draw.random() >= self.share:
            return work()
        manner = draw.choices(("raise", "give", "hang"), (49, 49, 2))[0]
        self.failed[f"{part}: {manner}"] += 1
        if manner == "hang":
            self.released.wait(5)
            return work()
        if draw.random() < 0.5:
            work()
        if manner == "raise":
            error = draw.choice(RAISED)()
            raise error
        return draw.choice(GIVEN)


class Engine:
    """Finds one thing, and stands before the builtin backend."""

    capabilities = frozenset({"eager"})

    def __init__(self, chance: Chance) -> None:
        self._chance = chance

    def search(self, query: Any, **_: object) -> Any:
        """The one hit."""
        del query
        chunk = StoredChunk(1, "memory", "memory/0.md", 1, 1, "what the engine knows")
        arms = (Arm("engine", "opaque", (Found(chunk, 1.0),)),)
        return self._chance.call("engine.search", lambda: arms)

    def maintain(self, **_: object) -> Any:
        """Nothing to do."""
        return self._chance.call("engine.maintain", lambda: SyncReport(unchanged=1, known=1))

    def pending(self) -> Any:
        """Nothing to do."""
        return self._chance.call("engine.pending", lambda: SyncReport(unchanged=1, known=1))

    def health(self, *, deep: bool = False) -> Any:
        """All is well."""
        del deep
        return self._chance.call("engine.health", lambda: ManagerHealth(available=True))

    def close(self) -> None:
        """Nothing to let go of."""


class Tickets:
    """A source of five documents that are no files."""

    id = "tickets"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, chance: Chance) -> None:
        self._chance = chance

    def scan(self) -> Any:
        """All five."""
        refs = tuple(DocumentRef("tickets", f"t/{n}", f"t/{n}", "1") for n in range(TICKETS))
        report = ScanReport(refs, ("t",))
        return self._chance.call("source.scan", lambda: report)

    def read(self, ref: DocumentRef) -> Any:
        """A line with a word of its own."""
        number = ref.path.rpartition("/")[2]
        document = Document(ref, f"Ticket about ticketword{number}.\n", "untrusted")
        return self._chance.call("source.read", lambda: document)


class Vectors:
    """Vectors of a text's letters."""

    concurrency = 1
    capabilities: frozenset[str] = frozenset()

    def __init__(self, chance: Chance, limits: Any) -> None:
        self._chance = chance
        self._limits = limits

    @property
    def model(self) -> Any:
        """Its name."""
        return self._chance.call("provider.model", lambda: "letters")

    @property
    def limits(self) -> Any:
        """Such that a hang ends soon."""
        return self._chance.call("provider.limits", lambda: self._limits)

    def fingerprint(self) -> Any:
        """Always the same."""
        return self._chance.call("provider.fingerprint", lambda: "letters")

    def embed(self, texts: Any, **_: object) -> Any:
        """How often each of eight letters is there."""
        made = [[1.0 + text.count(letter) for letter in "aeiounrt"] for text in texts]
        return self._chance.call("provider.embed", lambda: made)

    def close(self) -> None:
        """Nothing to let go of."""


class Same:
    """A ranker that changes nothing."""

    id = "same"
    stage = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, chance: Chance) -> None:
        self._chance = chance

    def rank(self, hits: Any, context: Any) -> Any:
        """The hits as they came."""
        del context
        kept = [with_step(hit, self.id, hit.score) for hit in hits]
        return self._chance.call("ranker.rank", lambda: kept)


class Whole:
    """A chunker that makes one chunk of each document."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance

    @property
    def fingerprint(self) -> Any:
        """Always the same."""
        return self._chance.call("chunker.fingerprint", lambda: "whole 1")

    def chunk(self, document: Document) -> Any:
        """All lines."""
        lines = document.text.count("\n") + 1
        return self._chance.call("chunker.chunk", lambda: [Chunk(1, lines, document.text, ())])


class Plugin:
    """Registers all of them."""

    def __init__(self, chance: Chance, limits: Any) -> None:
        self.chance = chance
        self.limits = limits

    @hookimpl
    def commonplace_register_backends(self, register: Any) -> None:
        """The engine."""
        register.manager("engine", lambda _: Engine(self.chance), summary="for tests")

    @hookimpl
    def commonplace_register_sources(self, register: Any) -> None:
        """The tickets."""
        register.source("tickets", lambda _: Tickets(self.chance), summary="for tests")

    @hookimpl
    def commonplace_register_providers(self, register: Any) -> None:
        """The vectors."""
        make = lambda _: Vectors(self.chance, self.limits)  # noqa: E731 - as its neighbours
        register.provider("letters", make, summary="for tests")

    @hookimpl
    def commonplace_register_rankers(self, register: Any) -> None:
        """The ranker."""
        register.ranker("same", lambda _: Same(self.chance), summary="for tests")

    @hookimpl
    def commonplace_register_chunkers(self, register: Any) -> None:
        """The chunker."""
        register.chunker("whole", lambda _: Whole(self.chance), summary="for tests")

    @hookimpl
    def commonplace_searched(self) -> Any:
        """Listens to searches."""
        return self.chance.call("hook.searched", lambda: None)

    @hookimpl
    def commonplace_synced(self) -> Any:
        """Listens to syncs."""
        return self.chance.call("hook.synced", lambda: None)


class Outcome(NamedTuple):
    """What a run came to; each text names a search, a sync or a note.

    ``refused`` are syncs that raised, with their reason: the index is unchanged.
    """

    searches: int
    syncs: int
    failed: Counter[str]
    served: Counter[str]
    raised: list[str]
    refused: list[str]
    silent: list[str]
    lost: list[str]


CONFIG: dict[str, Any] = {
    "memory": {
        "backend": ["engine", "builtin"],
        "fallback": {"standby": "warm"},  # builtin has all notes before the first failure
        "search": {
            "provider": "letters",
            "sources": ["memory", "tickets"],
            "chunking": {"strategy": "whole"},
            "ranking": {"chain": ["evidence", "same"]},
        },
    }
}


def run(
    folder: Path, *, searches: int, seed: int, share: float, installed: Any, limits: Any
) -> Outcome:
    """Search and sync by turns, ten searches for a sync; then look for every note, all being well.

    ``folder`` gets the notes and the state.
    """
    notes = folder / "notes" / "memory"
    notes.mkdir(parents=True)
    for number in range(NOTES):
        (notes / f"{number}.md").write_text(f"The note about noteword{number}.\n")
    chance, draw = Chance(seed, 0.0), random.Random(seed)
    host = PluginHost(installed, env={})
    host.register(Plugin(chance, limits), name="acme_failing")
    env = {"HOME": str(folder), "COMMONPLACE_STATE_DIR": str(folder / "state")}
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("commonplace").addHandler(handler)
    served: Counter[str] = Counter()
    raised, refused, silent, lost, syncs = [], [], [], [], 0
    try:
        with Memory.open(workspace=folder / "notes", config=CONFIG, env=env, host=host) as memory:
            memory.sync()
            chance.share = share
            for at in range(searches):
                if at % 10 == 0:
                    number = draw.randrange(NOTES, NOTES + 10)
                    (notes / f"{number}.md").write_text(f"Written at {at}: noteword{number}.\n")
                    syncs += 1
                    try:
                        memory.sync()
                    except CommonplaceError as error:
                        refused.append(f"sync {at}: {error!r}")
                number = draw.randrange(NOTES)
                before = chance.failed.copy()
                try:
                    result = memory.search(f"noteword{number}")
                except Exception as error:  # noqa: BLE001 - counted and shown
                    raised.append(f"search {at}: {error!r} {getattr(error, '__notes__', ())}")
                    continue
                failed = chance.failed - before
                served[result.backend] += 1
                found = {hit.path for hit in result.hits}
                if result.backend == "builtin" and f"memory/{number}.md" not in found:
                    lost.append(f"search {at}: memory/{number}.md; {result.notes}")
                parts = _telling(failed, result)
                unsaid = _unsaid(memory, result, logged, parts)
                if unsaid:
                    silent.append(f"search {at}: {sorted(unsaid)} {failed}")
            chance.share = 0.0
            chance.released.set()
    finally:
        host.close()
        logging.getLogger("commonplace").removeHandler(handler)
    lost += _missing(folder, env, host_of=lambda: _well(installed, limits))
    return Outcome(searches, syncs, chance.failed, served, raised, refused, silent, lost)


def _telling(failed: Counter[str], result: Any) -> set[str]:
    """The parts whose failures cost this answer something.

    The engine's do where another backend served, those of the index's parts where builtin did, and
    the provider's where the query got no vector. What an event's hook gives costs nothing, nor does
    a fingerprint or a limit that is there when it is asked for again; a source may read nothing.
    """
    parts = {name.partition(".")[0] for name in failed.keys() & COSTLY}
    if result.backend != "builtin":
        return parts - {"engine", "source", "chunker", "provider"}
    return parts if result.provider is None else parts - {"provider"}


def _unsaid(memory: Memory, result: Any, logged: list[str], parts: set[str]) -> set[str]:
    """Those of ``parts`` whose failures nothing says.

    A call that was given up goes on beside the search, and is logged when its own time is over.
    """
    unsaid = parts
    for _ in range(10):
        said = _said(memory, result, logged)
        unsaid = {part for part in parts if not re.search(NAMES[part], said)}
        if not unsaid:
            break
        threading.Event().wait(0.1)
    return unsaid


def _said(memory: Memory, result: Any, logged: list[str]) -> str:
    """What the answer, the status and the log, where a part stands once, say of failures."""
    status = memory.status()
    states = (*status.links, *(one for one in status.providers if one.state != "ready"))
    words = (result.notes, result.fallback, status.notices, status.failed_roots, states, logged)
    return str(words)


def _well(installed: Any, limits: Any) -> PluginHost:
    host = PluginHost(installed, env={})
    host.register(Plugin(Chance(0, 0.0), limits), name="acme_failing")
    return host


def _missing(folder: Path, env: dict[str, str], host_of: Callable[[], PluginHost]) -> list[str]:
    """The notes and tickets that the builtin index lacks once every part works."""
    config = {"memory": {**CONFIG["memory"], "backend": "builtin"}}
    wanted = {
        f"memory/{path.name}": f"noteword{path.stem}"
        for path in (folder / "notes" / "memory").iterdir()
    }
    wanted |= {f"t/{number}": f"ticketword{number}" for number in range(TICKETS)}
    host = host_of()
    with (
        closing(host),
        Memory.open(workspace=folder / "notes", config=config, env=env, host=host) as memory,
    ):
        memory.sync()
        return [
            path
            for path, word in wanted.items()
            if path not in {hit.path for hit in memory.search(word).hits}
        ]
