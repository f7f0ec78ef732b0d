from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import PluginUnavailableError
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


@pytest.mark.parametrize("tokenizer", ["unicode61", "trigram"])
def test_sqlites_tokenizers_are_known(
    registration: Registration[Any], path: str, tokenizer: str
) -> None:
    registration.factory(StoreContext(path=path, tokenizer=tokenizer)).close()


def test_another_tokenizer_is_refused(registration: Registration[Any], path: str) -> None:
    with pytest.raises(PluginUnavailableError, match="'porter'") as caught:
        registration.factory(StoreContext(path=path, tokenizer="porter"))
    assert "unicode61" in caught.value.hint
