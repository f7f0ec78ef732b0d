from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import IndexUnavailableError
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


def test_a_path_that_is_no_utf8_is_refused_with_what_to_do(
    registration: Registration[Any], path: str
) -> None:
    odd = os.fsdecode(os.fsencode(os.path.dirname(path)) + b"/n\xff/main.sqlite")
    with pytest.raises(IndexUnavailableError, match="opens no path that is not UTF-8") as raised:
        registration.factory(StoreContext(path=odd))
    assert "COMMONPLACE_STATE_DIR" in raised.value.hint
