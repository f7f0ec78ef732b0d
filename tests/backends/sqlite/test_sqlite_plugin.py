from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.host.host import PluginHost
from commonplace.protocols.contexts import StoreContext
from commonplace_sqlite import plugin

if TYPE_CHECKING:
    from commonplace.model.plugins import Registration


@pytest.fixture
def registration() -> Registration[Any]:
    host = PluginHost([], env={})
    host.register(plugin, name="sqlite")
    return host.store("builtin")


def test_it_is_registered_as_builtin(registration: Registration[Any]) -> None:
    assert registration.id == "builtin"
    assert registration.probe().available


def test_it_declares_what_the_store_declares(registration: Registration[Any], path: str) -> None:
    store = registration.factory(StoreContext(path=path))
    assert store.capabilities == registration.capabilities


def test_making_a_store_touches_nothing(registration: Registration[Any], path: str) -> None:
    store = registration.factory(StoreContext(path=path))
    store.close()
    assert not os.path.exists(os.path.dirname(path))
