"""The laws of managers, by subject; ``MemoryManagerConformance`` is all of them."""

from __future__ import annotations

from commonplace.testing.manager.answering import AnswerLaws
from commonplace.testing.manager.filtering import FilterLaws
from commonplace.testing.manager.finding import FindingLaws
from commonplace.testing.manager.lifetime import LifetimeLaws
from commonplace.testing.manager.maintaining import MaintenanceLaws

__all__ = ["MemoryManagerConformance"]


class MemoryManagerConformance(
    FindingLaws,
    AnswerLaws,
    FilterLaws,
    MaintenanceLaws,
    LifetimeLaws,
):
    """All that an engine promises: subclass it, name the class ``Test...``, define one method.

    ``open_manager(context)`` opens the engine over ``context.workspace``, a folder whose notes the
    laws write, with its own files in ``context.state_dir``; a registration's factory will do. What
    it opens is closed by the test.

    ``capabilities`` are those of :data:`~commonplace.testing.manager.law.CAPABILITIES` that the
    registration declares (default: all). What is declared must work; what is not must be declined.
    ``settings`` are Hypothesis's, for engines that are slow to open or to be tested harder.
    """
