"""Damages an index in random ways, uses it, and compares the answers with those of a sound index.

The indexes that are damaged are as processes leave them: closed; with a log of changes; with a log
that is written back already; and beside a journal that is not theirs. Half of the trials search,
check, index and search again; the others begin with ``doctor --fix``.
"""

from __future__ import annotations

import os
import random
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
from attrs import evolve, frozen

from commonplace import Memory
from commonplace.errors import CommonplaceError
from commonplace.plugin import Limits, PluginHost, hookimpl
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NOTES = 90
DIMS = 48
OLD = 1_700_000_000_000_000_000
PAGES = (512, 4096, 16_384)
WORDS = [
    f"{first}{second}" for first in "bdfgklmnprstvw" for second in ("ano", "elu", "iro", "uma")
]
QUERIES = (
    "bano delu firo",
    '"zebra crossing"',
    "which guma has kelu?",
    "tuma wiro source:memory after:2026-01-05",
    "note41",
    "vano -bano path:memory/a*",
)


class LetterProvider:
    """Vectors of the words of a text: no network, no model."""

    model = "letters"
    limits = Limits()
    concurrency = 1
    capabilities: frozenset[str] = frozenset()

    def fingerprint(self) -> str:
        return "letters"

    def embed(self, texts: Sequence[str], **_: object) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def close(self) -> None:
        pass

    def _vector(self, text: str) -> list[float]:
        vector = [0.01] * DIMS
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMS] += 1.0
        return vector


class Plugin:
    @hookimpl
    def commonplace_register_providers(self, register: Any) -> None:
        register.provider("letters", lambda _context: LetterProvider(), summary="letters")


def write_notes(workspace: Path, numbers: range, words: int = 60) -> None:
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    for number in numbers:
        rng = random.Random(number)
        parts = [f"# Note {number}\n\nThis is note{number}."]
        parts += [" ".join(rng.choices(WORDS, k=words)) + "." for _ in range(3)]
        if number % 17 == 0:
            parts.append("A zebra crossing at dawn.")
        name = (
            f"{'abc'[number % 3]}{number}.md"
            if number % 4
            else f"2026-01-{number % 27 + 1:02}-{number}.md"
        )
        path = workspace / "memory" / name
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        os.utime(path, ns=(OLD, OLD))


@frozen
class Place:
    """A workspace with the state that belongs to it."""

    root: Path

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def env(self) -> dict[str, str]:
        folders = ("home", "state", "cache")
        names = ("HOME", "COMMONPLACE_STATE_DIR", "COMMONPLACE_CACHE_DIR")
        return {name: str(self.root / one) for name, one in zip(names, folders, strict=True)}

    @property
    def index(self) -> Path:
        found = (self.root / "state" / "memory").glob("*.sqlite")
        (path,) = (one for one in found if one.name != "embeddings.sqlite")
        return path

    def open(self, **search: object) -> Memory:
        """A memory as a process of its own would open it; ``search`` are further settings."""
        host = PluginHost(env=self.env)
        host.register(Plugin(), name="letters")
        config = {"memory": {"search": {"provider": "letters", **search}}}
        return Memory.open(
            workspace=self.workspace, config=config, env=self.env, host=host, one_shot=True
        )


Answers = tuple[tuple[object, ...], ...]


def answers_of(place: Place) -> tuple[Answers, tuple[str, ...]]:
    """What the queries find, and all notes on it; each of another process."""
    answers: list[tuple[object, ...]] = []
    notes: list[str] = []
    for query in QUERIES:
        with place.open() as memory:
            result = memory.search(query)
        answers += [
            (query, hit.citation, hit.snippet[:40], round(hit.score, 6)) for hit in result.hits
        ]
        answers.append((query, result.provider))
        notes += result.notes
        if result.stale:
            notes.append(f"{result.stale} stale")
    return tuple(answers), tuple(notes)


def write_back(index: Path) -> None:
    """Write the log back and leave it there, as a process does that goes on."""
    connection = apsw.Connection(str(index), vfs=checked_vfs(""))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("schema_version")  # else SQLite does not know yet that there is a log
    sizes = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    assert 0 < sizes[0] == sizes[1], sizes
    connection.close()


class State(NamedTuple):
    """An index as some process left it, and what it answers."""

    name: str
    place: Place
    answers: Answers

    def restore(self) -> None:
        """Make everything but the notes as that process left it."""
        folder = self.place.root / "state"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.place.root / "as-left", folder)


def make_states(root: Path, notes: int = NOTES) -> list[State]:
    """Every state that is damaged, each in a folder of its own."""
    states: list[State] = []
    for name in ("closed", "with a log", "with a log written back"):
        place = Place(root / name.replace(" ", "-"))
        write_notes(place.workspace, range(notes))
        if name == "with a log":
            with place.open() as memory:
                memory.sync()
        with place.open() as memory:
            memory.sync()
            if name != "closed":
                for first in (5, 25, 45):
                    write_notes(place.workspace, range(first, first + 7), words=50)
                    memory.sync()
            if name == "with a log written back":
                write_back(place.index)
            if name != "closed":
                shutil.copytree(place.root / "state", place.root / "as-left")
        if name == "closed":
            shutil.copytree(place.root / "state", place.root / "as-left")
        answers, notes_on_it = answers_of(place)
        assert not notes_on_it, notes_on_it
        states.append(State(name, place, answers))
    return states


Damage = tuple[str, "Callable[[random.Random, bytearray], None]"]


def _flip(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _flips(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.randint(2, 64)):
        _flip(rng, data)


def _cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _cut_between_pages(rng: random.Random, data: bytearray) -> None:
    page = rng.choice(PAGES)
    del data[rng.randrange(len(data) // page + 1) * page :]


def _page(rng: random.Random, data: bytearray, size: int) -> slice:
    begin = rng.randrange(max(1, len(data) // size)) * size
    return slice(begin, min(begin + size, len(data)))


def _zeroed(rng: random.Random, data: bytearray) -> None:
    at = _page(rng, data, rng.choice(PAGES))
    data[at] = bytes(at.stop - at.start)


def _noise(rng: random.Random, data: bytearray) -> None:
    at = _page(rng, data, rng.choice(PAGES))
    data[at] = rng.randbytes(at.stop - at.start)


def _swapped(rng: random.Random, data: bytearray) -> None:
    size = rng.choice(PAGES)
    one, other = _page(rng, data, size), _page(rng, data, size)
    data[one], data[other] = data[other], data[one]


def _copied(rng: random.Random, data: bytearray) -> None:
    size = rng.choice(PAGES)
    one, other = _page(rng, data, size), _page(rng, data, size)
    data[one] = data[other]


def _longer(rng: random.Random, data: bytearray) -> None:
    data += rng.randbytes(rng.randint(1, 40_000))


DAMAGES: tuple[Damage, ...] = (
    ("a bit flipped", _flip),
    ("bits flipped", _flips),
    ("cut", _cut),
    ("cut between pages", _cut_between_pages),
    ("a page zeroed", _zeroed),
    ("a page of noise", _noise),
    ("pages swapped", _swapped),
    ("a page over another", _copied),
    ("longer", _longer),
)


def damage(rng: random.Random, index: Path) -> str:
    """Damage the files of an index in one way; returns which."""
    targets = [one for one in (index, Path(f"{index}-wal")) if one.is_file() and one.stat().st_size]
    kind = rng.random()
    if kind < 0.06:
        return _add_journal(rng, index)
    if kind < 0.10:
        Path(f"{index}-shm").write_bytes(rng.randbytes(rng.randint(0, 70_000)))
        return "shm: noise"
    if kind < 0.13 and len(targets) > 1:
        targets[1].unlink()
        return "log: gone"
    target = rng.choice(targets)
    name, change = rng.choice(DAMAGES)
    data = bytearray(target.read_bytes())
    change(rng, data)
    target.write_bytes(data)
    return f"{'file' if target == index else 'log'}: {name}"


def _add_journal(rng: random.Random, index: Path) -> str:
    """Leave a journal beside the file: noise, or one that SQLite would write back."""
    journal = Path(f"{index}-journal")
    if rng.random() < 0.3:
        journal.write_bytes(rng.randbytes(rng.randint(0, 70_000)))
        return "journal: noise"
    size, nonce = 16_384, rng.getrandbits(32)
    pages = index.stat().st_size // size
    count = rng.randint(1, 4)
    header = bytes.fromhex("d9d505f920a163d7") + b"".join(
        number.to_bytes(4, "big") for number in (count, nonce, pages, 512, size)
    )
    data = header.ljust(512, b"\0")
    for _ in range(count):
        content = rng.randbytes(size)
        total = (nonce + sum(content[at] for at in range(size - 200, 0, -200))) % 2**32
        data += rng.randint(1, pages).to_bytes(4, "big") + content + total.to_bytes(4, "big")
    journal.write_bytes(data)
    return "journal: of other pages"


@frozen
class Outcome:
    """What became of one damage. ``result`` is a word of ``GOOD``, or one that is not."""

    state: str
    damage: str
    result: str
    detail: str = ""


GOOD = (
    "right at once",
    "embedded in part",
    "rebuilt by the search",
    "rebuilt by index",
    "fixed by doctor",
)
"""``embedded in part``: right but for vectors that were lost with the end of the log; until the
next ``index``, as the status says."""


def run_trial(state: State, seed: int) -> Outcome:
    """Damage ``state`` by ``seed``, use it, and say what became of it."""
    rng = random.Random(seed)
    state.restore()
    outcome = Outcome(state.name, damage(rng, state.place.index), "")
    try:
        result, detail = (_searched if rng.random() < 0.5 else _fixed)(state, state.place)
    except CommonplaceError as error:
        result, detail = "failed for good", f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        result, detail = "a foreign exception", f"{type(error).__name__}: {error}"
    if "Error:" in detail and result in GOOD:
        result = "a foreign exception"
    return evolve(outcome, result=result, detail=detail)


def _searched(state: State, trial: Place) -> tuple[str, str]:
    first: Answers = ()
    notes: tuple[str, ...] = ()
    failure = ""
    try:
        first, notes = answers_of(trial)
    except CommonplaceError as error:
        failure = f"{type(error).__name__}: {error}"
    with trial.open() as memory:
        spaces = memory.status(deep=True).spaces
    in_part = any(space.covered < space.chunks for space in spaces)
    if not (failure or notes or in_part) and first != state.answers:
        return "a wrong answer", _difference(first, state.answers)
    with trial.open() as memory:
        report = memory.sync()
    again, said = answers_of(trial)
    if again != state.answers:
        return "wrong for good", f"{_difference(again, state.answers)} {said} {report}"
    if failure:
        return "rebuilt by index", failure.replace("Error:", ":")
    if notes:
        return "rebuilt by the search", "; ".join(dict.fromkeys(notes))
    return ("right at once" if first == state.answers else "embedded in part"), ""


def _fixed(state: State, trial: Place) -> tuple[str, str]:
    with trial.open() as memory:
        found = _found_by_doctor(memory)
        for finding in memory.status(deep=True).findings:
            if (
                finding.state == "problem"
                and finding.fix is not None
                and finding.fix.run is not None
            ):
                finding.fix.run()
        memory.sync()
    with trial.open() as memory:
        left = [one for one in memory.status(deep=True).findings if one.state == "problem"]
    if left:
        return "not fixed by doctor", f"{left[0].name}: {left[0].text}"
    answers, notes = answers_of(trial)
    if answers != state.answers:
        return "wrong after doctor", f"{_difference(answers, state.answers)} {notes}"
    if not found and any("damaged" in note for note in notes):
        return "missed by doctor", "; ".join(notes)
    return ("fixed by doctor" if found else "right at once"), "; ".join(notes)


def _found_by_doctor(memory: Memory) -> list[str]:
    status = memory.status(deep=True)
    found = [one.text for one in status.findings if one.state == "problem"]
    return found + [notice for notice in status.notices if "set aside" in notice]


def _difference(ours: Answers, right: Answers) -> str:
    extra = [one for one in ours if one not in right]
    missing = [one for one in right if one not in ours]
    return f"too many ({len(extra)}): {extra[:1]}; missing ({len(missing)}): {missing[:1]}"


def run_trials(root: Path, trials: int, *, seed: int = 1, notes: int = NOTES) -> Iterator[Outcome]:
    """The outcomes of so many damages, of all states in turns."""
    states = make_states(root, notes)
    for number in range(trials):
        yield run_trial(states[number % len(states)], seed + number)
