"""The laws of managers hold for QMD: over one that is played, and over QMD itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar, cast

import pytest
from hypothesis import settings

from commonplace.testing.laws import law
from commonplace.testing.manager import MemoryManagerConformance
from commonplace.testing.manager_laws import ask, maintain, paths
from commonplace.testing.strategies import HOSTILE_PATHS
from commonplace_qmd.manager import make_manager
from commonplace_qmd.settings import CAPABILITIES, Limits, QmdSettings, Update

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends.qmd.conftest import FakeQmd

    from commonplace.protocols.contexts import ManagerContext
    from commonplace.protocols.managers import MemoryManager
    from commonplace_qmd.engine.client import Qmd

CONFIG = QmdSettings(
    # The laws ask for more than a chat may be given, and at once.
    limits=Limits(max_results=200, max_injected_chars=10_000_000, timeout_ms=60_000),
    update=Update(debounce_ms=0),
)


class QmdLaws(MemoryManagerConformance):
    """The laws, but for what QMD itself cannot do."""

    @law()
    def test_hostile_names_are_kept_to_the_letter(self, manager: MemoryManager) -> None:
        """All but a backslash, which QMD takes for a separator: these are reported."""
        names = [name for name in HOSTILE_PATHS if self.notes.can_name(name)]
        names = [name for name in names if name.startswith("memory/") and name.endswith(".md")]
        names = [name for name in names if "//" not in name]
        for name in names:
            self.notes.write(name, "the zebra")
        report = maintain(manager)
        reported = {path for path, _ in report.unreadable}
        assert reported == {name for name in names if "\\" in name}
        assert paths(ask(manager, "zebra")) == set(names) - reported


class TestPlayedQmd(QmdLaws):
    """Over the QMD of these tests, which is quick."""

    capabilities = CAPABILITIES - {"persistent"}
    settings = settings(max_examples=10)

    @pytest.fixture(autouse=True)
    def play(self, played: Callable[[ManagerContext], FakeQmd]) -> None:
        self._play = played

    def open_manager(self, context: ManagerContext) -> MemoryManager:
        return make_manager(
            context._replace(config=CONFIG),
            env={"HOME": context.state_dir},
            qmd=cast("Qmd", self._play(context)),
        )


@pytest.mark.qmd
class TestQmd(QmdLaws):
    """Over QMD itself, which runs a process for most of what is asked."""

    capabilities = CAPABILITIES
    settings = settings(max_examples=3)
    command: ClassVar[str]

    @pytest.fixture(autouse=True)
    def program(self) -> None:
        found = os.environ.get("COMMONPLACE_QMD_COMMAND", "")
        if not found and not os.environ.get("COMMONPLACE_REQUIRE_QMD"):
            pytest.skip("COMMONPLACE_QMD_COMMAND is not set: .ci/qmd installs QMD and prints it")
        assert found
        type(self).command = found

    def open_manager(self, context: ManagerContext) -> MemoryManager:
        config = CONFIG.evolve(command=self.command)
        return make_manager(
            context._replace(config=config), env={**os.environ, "HOME": context.state_dir}
        )
