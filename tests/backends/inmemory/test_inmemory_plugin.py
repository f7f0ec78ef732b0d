from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import commonplace_inmemory.plugin
from commonplace.host.host import PluginHost
from commonplace.protocols.contexts import StoreContext

if TYPE_CHECKING:
    from commonplace.model.plugins import Registration


@pytest.fixture
def registration() -> Registration[Any]:
    host = PluginHost([], env={})
    host.register(commonplace_inmemory.plugin, name="inmemory")
    return host.store("inmemory")


def test_the_store_is_offered_by_its_id(registration: Registration[Any]) -> None:
    assert registration.id == "inmemory"


def test_it_is_never_chosen_automatically(registration: Registration[Any]) -> None:
    assert registration.priority is None


def test_what_is_registered_is_what_the_store_declares(registration: Registration[Any]) -> None:
    store = registration.factory(StoreContext(path="nowhere"))
    assert store.capabilities == registration.capabilities
