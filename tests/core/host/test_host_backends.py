"""Probes fail alone, and what a backend reports of its health is checked."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import PluginUnavailableError, UnavailableError
from commonplace.fallback.backend import Backend
from commonplace.host.backends import answer_of, checked_health
from commonplace.model.documents import SpaceInfo, StoreHealth
from commonplace.model.plugins import Probe
from commonplace.protocols.contexts import ManagerHealth

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT = 0.02


def raises(error: BaseException) -> Callable[..., Any]:
    def give(*_: object) -> Any:
        raise error

    return give


PROBES: dict[str, Callable[..., Any]] = {
    "raises": raises(KeyError("x")),
    "exits": raises(SystemExit(2)),
    "interrupts": raises(KeyboardInterrupt()),
    "none": lambda: None,
    "a truth": lambda: True,
    "no truth": lambda: Probe(available="yes"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", [*PROBES, "hangs"])
def test_a_probe_that_fails_says_that_the_part_is_not_available(name: str) -> None:
    done = Event()
    probe = (PROBES | {"hangs": lambda: done.wait(30)})[name]
    with pytest.raises(PluginUnavailableError, match="the probe of acme"):
        answer_of(probe, "acme", seconds=SHORT if name == "hangs" else 5)
    done.set()
    assert answer_of(lambda: Probe(available=True), "acme").available


WELL = ManagerHealth(
    available=True, store=StoreHealth("here", 3, 9), spaces=(SpaceInfo("s", 2, 3, 9),)
)
_WELL: Any = WELL
_STORE: Any = StoreHealth
HEALTHS: dict[str, Any] = {
    "nothing": None,
    "a truth": True,
    "no reason": _WELL._replace(reason=None),
    "lines as text": _WELL._replace(notices="all is well"),
    "lines that are none": _WELL._replace(information=(None,)),
    "findings that are none": _WELL._replace(findings=("all well",)),
    "another store": _WELL._replace(store="well"),
    "a count of nothing": _WELL._replace(store=_STORE("here", None, 9)),
    "a count that is none": _WELL._replace(store=_STORE("here", float("nan"), 9)),
    "spaces that are none": _WELL._replace(spaces=("s",)),
}


@pytest.mark.parametrize("name", HEALTHS)
def test_what_no_health_may_be_is_an_engine_that_is_not_available(name: str) -> None:
    assert checked_health(WELL) is WELL
    engine: Any = SimpleNamespace(
        health=lambda **_: HEALTHS[name], pending=lambda: None, close=lambda: None
    )
    backend = Backend("acme", lambda: engine)
    health = backend.health()
    assert not health.available
    assert health.reason.startswith("acme failed: ")
    with pytest.raises(UnavailableError, match="acme failed: TypeError: it gave a NoneType"):
        backend.pending()
