"""What all laws of managers stand on: an engine over a workspace of its own."""

from __future__ import annotations

from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from commonplace.model.search import Query
from commonplace.protocols.contexts import ManagerContext
from commonplace.testing.driving import EVERYWHERE
from commonplace.testing.law import Laws, law
from commonplace.testing.workspace import PlainSource, Workspace
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.model.search import Where
    from commonplace.protocols.managers import MemoryManager

__all__ = ["CAPABILITIES", "ManagerLaws", "law", "question"]

CAPABILITIES = frozenset(
    {"phrases", "exclusions", "paths", "dates", "lines", "cjk", "thai", "persistent"}
)
"""What an engine may be able to do.

``phrases`` and ``exclusions`` of a query, ``paths`` and ``dates`` of a filter, ``cjk`` (Chinese,
Japanese, Korean) and ``thai``: words inside running text. ``lines``: a chunk says where it stands.
``persistent``: what is indexed is there for whoever opens the same ``state_dir``.
"""


class ManagerLaws(Laws):
    """What all laws of managers stand on."""

    subject: ClassVar[str] = "manager"

    capabilities: ClassVar[frozenset[str]] = CAPABILITIES
    """Those of :data:`CAPABILITIES` that the registration declares."""

    notes: Workspace
    """The workspace of the manager that a law is looking at."""

    directory: str

    def open_manager(self, context: ManagerContext) -> MemoryManager:
        """Open the engine over ``context.workspace`` that keeps its state in ``state_dir``."""
        raise NotImplementedError(f"{type(self).__name__} has to define open_manager(context)")

    def declared(self, subject: Any) -> frozenset[str]:
        """What the class says, for a manager itself does not."""
        del subject
        return self.capabilities

    @contextmanager
    def opened(self) -> Iterator[MemoryManager]:
        """A manager over an empty workspace."""
        with TemporaryDirectory(prefix="commonplace-") as self.directory:
            self.notes = Workspace(f"{self.directory}/workspace")
            with self.opened_again() as manager:
                yield manager

    @contextmanager
    def opened_again(self, state_dir: str = "") -> Iterator[MemoryManager]:
        """A manager over this law's workspace, with its ``state_dir`` or another."""
        context = ManagerContext(
            workspace=self.notes.path,
            agent="main",
            state_dir=state_dir or f"{self.directory}/state",
            sources=(PlainSource(self.notes.path),),
        )
        with closing(self.open_manager(context)) as manager:
            yield manager


def question(text: str, where: Where = EVERYWHERE) -> tuple[Query, Where]:
    """``text`` as the host asks it: filters in it come on top of ``where``."""
    parsed = parse_query(text)
    query = Query(text, make_analyser().query(parsed), " ".join(parsed.words))
    return query, parsed.where if where == EVERYWHERE else where
