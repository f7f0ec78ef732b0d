"""A QMD of the test's own: indexes what ``index.yml`` lists, and searches as QMD does."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from commonplace.model.plugins import Probe
from commonplace.model.search import Query, Where
from commonplace.protocols.contexts import ManagerContext
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_qmd.engine.values import Line, QmdStatus, Row, UnknownCollectionError, UpdateCounts
from commonplace_qmd.home import home_of
from commonplace_qmd.manager import make_manager
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.errors import CommonplaceError
    from commonplace.model.search import StoredChunk
    from commonplace.protocols.parts import Source
    from commonplace.resilience.deadline import Deadline
    from commonplace_qmd.engine.client import Qmd
    from commonplace_qmd.engine.values import Mode, QmdHome
    from commonplace_qmd.manager import QmdManager

OLD = 1_700_000_000_000_000_000  # when all notes were written: long enough ago to be settled
_DEEP = 20


class FakeQmd:
    """Stands in for :class:`commonplace_qmd.engine.Qmd`; ``asked`` are the searches it got.

    ``fails`` holds what the next calls of a method raise, first come first served.
    """

    def __init__(self, home: QmdHome) -> None:
        self.home = home
        self.documents: dict[tuple[str, str], str] = {}
        self.collections: dict[str, tuple[str, str]] = {}
        self.asked: list[tuple[Mode, tuple[str, ...], tuple[str, ...], int]] = []
        self.fails: dict[str, list[CommonplaceError]] = {}
        self.installed: set[str] = set()
        self.updates = 0
        self.embeds = 0
        self.embedded: set[str] = set()
        self.closed = 0
        self.held: list[os.stat_result] = []
        self.available = Probe(available=True)
        self.on_update: Callable[[], object] = lambda: None

    def probe(self) -> Probe:
        return self.available

    def models(self) -> frozenset[str]:
        return frozenset(self.installed)

    def update(self, *, deadline: Deadline, holding: Sequence[int] = ()) -> UpdateCounts:
        self.updates += 1
        self.held += map(os.fstat, holding)
        self.on_update()
        self._fail("update")
        before = self.documents
        self.collections = self._configured()
        # Put in place at once: as with QMD, a search meanwhile finds what has not changed.
        made = {key: text for key, text in before.items() if key[0] not in self.collections}
        for name, (folder, pattern) in self.collections.items():
            made |= {(name, path): text for path, text in _files(folder, pattern)}
        self.documents = made
        os.makedirs(os.path.dirname(self.home.index_path), exist_ok=True)
        Path(self.home.index_path).touch()
        now = self.documents
        changed = sum(key in before and before[key] != text for key, text in now.items())
        added = len(now.keys() - before.keys())
        return UpdateCounts(
            added=added,
            changed=changed,
            unchanged=len(now) - added - changed,
            removed=len(before.keys() - now.keys()),
            pending=len(set(now.values()) - self.embedded),
        )

    def embed(self, *, deadline: Deadline, holding: Sequence[int] = ()) -> None:
        self.embeds += 1
        self.held += map(os.fstat, holding)
        self._fail("embed")
        self.embedded = set(self.documents.values())

    def status(self, *, deadline: Deadline) -> QmdStatus:
        self._fail("status")
        pending = len(set(self.documents.values()) - self.embedded)
        return QmdStatus("2.8.3", len(self.documents), len(self.embedded), pending)

    def search(
        self,
        mode: Mode,
        query: str | Sequence[Line],
        *,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        texts = (query,) if isinstance(query, str) else tuple(line.text for line in query)
        self.asked.append((mode, texts, tuple(collections), limit))
        self._fail("search")
        self.collections = self._configured()
        if unknown := [name for name in collections if name not in self.collections]:
            raise UnknownCollectionError(unknown)
        scores: dict[tuple[str, str], float] = {}
        deep = limit if mode == "search" else _DEEP
        for weight, text in enumerate(texts):
            for rank, key in enumerate(self._matching(text)[:deep]):
                scores[key] = scores.get(key, 0.0) + (1 if weight else 2) / (60 + rank)
        ranked = sorted(scores, key=lambda key: (-scores[key], key))
        wanted = [key for key in ranked if not collections or key[0] in collections]
        return [Row(*key, 1 / rank, 1) for rank, key in enumerate(wanted, 1)][:limit]

    def close(self) -> None:
        self.closed += 1

    def _fail(self, what: str) -> None:
        if waiting := self.fails.get(what):
            raise waiting.pop(0)

    def _matching(self, text: str) -> list[tuple[str, str]]:
        """The documents that have all words of ``text``, as beginnings, and all its phrases."""
        terms = [_plain(phrase or word) for phrase, word in re.findall(r'"([^"]*)"|(\S+)', text)]
        found = []
        for key, body in self.documents.items():
            if all(term in f" {_plain(body)} " for term in (f" {term}" for term in terms)):
                found.append((-sum(_plain(body).count(term) for term in terms), key))
        return [key for _, key in sorted(found)]

    def _configured(self) -> dict[str, tuple[str, str]]:
        text = Path(self.home.config_dir, "index.yml").read_text("utf-8")
        found = {}
        for line in re.findall(r"^  (\S.*: \{.*\})$", text, re.MULTILINE):
            ((name, listed),) = json.loads(f"{{{line}}}").items()
            found[name] = (listed["path"], listed["pattern"])
        return found


def _files(folder: str, pattern: str) -> Iterator[tuple[str, str]]:
    from commonplace_qmd.collections import wanted_by

    wanted = wanted_by(pattern)
    for path in sorted(Path(folder).rglob("*")):
        relative = path.relative_to(folder).as_posix()
        # QMD takes a backslash for a border of folders, and then finds no such file.
        hidden = "\\" in relative or any(part.startswith(".") for part in relative.split("/"))
        if path.is_file() and not path.is_symlink() and wanted(relative) and not hidden:
            text = path.read_text("utf-8", errors="replace")
            if text.strip():
                yield relative, text


def _plain(text: str) -> str:
    han = re.sub(r"([\u3040-\u30ff\u4e00-\u9fff])", r" \1 ", text.lower())
    return " ".join(re.findall(r"\w+", han))


class Desk(NamedTuple):
    """A workspace, and a manager over a :class:`FakeQmd`; ``clock`` holds the time, in seconds."""

    root: Path
    workspace: Path
    qmd: FakeQmd
    clock: list[float]
    make: Callable[..., QmdManager]

    def write(self, path: str, text: str) -> Path:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        os.utime(target, ns=(OLD, OLD))
        return target

    def home(self, agent: str = "main") -> Any:
        return home_of(str(self.root / "state"), agent, str(self.workspace))


@pytest.fixture
def played() -> Callable[[ManagerContext], FakeQmd]:
    """Makes a QMD of the test's own for a context."""
    return lambda context: FakeQmd(home_of(context.state_dir, context.agent, context.workspace).qmd)


@pytest.fixture
def ask() -> Callable[..., list[StoredChunk]]:
    """Asks a manager as the host does; the chunks of its one arm."""
    from commonplace.resilience.deadline import Deadline

    analyser = make_analyser()

    def search(
        manager: QmdManager, text: str, *, limit: int = 6, where: Where | None = None
    ) -> list[StoredChunk]:
        parsed = parse_query(text)
        query = Query(text, analyser.query(parsed), " ".join(parsed.words))
        (arm,) = manager.search(
            query, where=where or parsed.where, limit=limit, deadline=Deadline.after(30)
        )
        assert (arm.name, arm.kind) == ("qmd", "opaque")
        assert [found.score for found in arm.found] == [
            1 / rank for rank in range(1, len(arm.found) + 1)
        ]
        return [found.chunk for found in arm.found]

    return search


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    clock = [1_800_000_000.0]
    qmd = FakeQmd(home_of(str(tmp_path / "state"), "main", str(workspace)).qmd)
    made: list[QmdManager] = []

    def make(
        config: QmdSettings | None = None,
        *,
        extra_paths: tuple[Any, ...] = (),
        source: Source | None = None,
        agent: str = "main",
    ) -> QmdManager:
        context = ManagerContext(
            workspace=str(workspace),
            agent=agent,
            state_dir=str(tmp_path / "state"),
            sources=(),
            config=config or QmdSettings(),
            extra_paths=extra_paths,
            make_source=None if source is None else (lambda _id: source),
        )
        manager = make_manager(
            context,
            env={"HOME": str(tmp_path / "home")},
            qmd=cast("Qmd", qmd),
            clock=lambda: clock[0],
        )
        made.append(manager)
        return manager

    desk = Desk(tmp_path, workspace, qmd, clock, make)
    desk.write("MEMORY.md", "# Team\n\nThe staging server listens on port 8443.\n")
    desk.write("memory/2026-10-03.md", "# Friday\n\nMia saw a walrus at the harbour.\n")
    desk.write("memory/projects/otter.md", "# Otter\n\nThe otter project starts in May.\n")
    yield desk
    for manager in made:
        manager.close()
