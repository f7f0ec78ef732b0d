"""The backend ``qmd`` is offered, and says honestly that it cannot serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import PluginUnavailableError
from commonplace.spec import ManagerContext
from commonplace_qmd import plugin
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from commonplace.model.plugins import Registration


class Collected:
    """A registry that keeps what it is handed."""

    def __init__(self) -> None:
        self.registrations: list[Registration[Any]] = []

    def add(self, registration: Registration[Any]) -> None:
        self.registrations.append(registration)


def offered() -> Registration[Any]:
    registry = Collected()
    plugin.commonplace_register_managers(registry)
    (registration,) = registry.registrations
    return registration


def test_it_is_offered_with_its_config_and_never_chosen_by_itself() -> None:
    registration = offered()
    assert registration.id == "qmd"
    assert registration.config is QmdSettings
    assert registration.priority is None
    assert registration.capabilities == frozenset()


def test_its_probe_and_its_factory_say_the_same() -> None:
    registration = offered()
    probe = registration.probe()
    assert not probe.available
    assert "not part of this version" in probe.reason
    context = ManagerContext(workspace="/w", agent="main", state_dir="/s", sources=())
    with pytest.raises(PluginUnavailableError) as caught:
        registration.factory(context)
    assert (str(caught.value), caught.value.mend) == (probe.reason, probe.mend)
    assert "builtin" in probe.mend
