"""What a plugin may offer, and what it is told when it offers something else."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from commonplace.errors import PluginConflictError
from commonplace.host.registry import KindRegistry
from commonplace.model.plugins import Credentials, Probe, Registration


@frozen
class Config:
    size: int = 1


GOOD: Registration[dict[str, int]] = Registration(
    id="good",
    summary="does something",
    factory=dict,
    config=Config,
    priority=3,
    capabilities=frozenset({"keyword"}),
    extra="vectors",
    credentials=Credentials(env=("KEY",)),
    ready=lambda _context: Probe(available=True),
)


def registry(**claims: str) -> KindRegistry:
    return KindRegistry("ranker", "mine (d 1.0)", lambda id_: claims.get(id_, ""))


def test_registrations_are_kept_by_id_in_their_order() -> None:
    mine = registry()
    other = GOOD._replace(id="also-good", config=None, priority=None, extra=None)
    mine.add(GOOD)
    mine.add(other)
    assert list(mine.offered.items()) == [("good", GOOD), ("also-good", other)]


def test_an_id_offered_twice_names_the_plugin() -> None:
    mine = registry()
    mine.add(GOOD)
    with pytest.raises(PluginConflictError, match=r"^ranker 'good' is offered twice by mine"):
        mine.add(GOOD)


def test_an_id_somebody_else_has_names_both() -> None:
    mine = registry(good="theirs (e 2.0)")
    with pytest.raises(PluginConflictError) as caught:
        mine.add(GOOD)
    assert "theirs (e 2.0)" in str(caught.value)
    assert "mine (d 1.0)" in str(caught.value)
    assert caught.value.hint
    assert not mine.offered


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"id": 7}, TypeError, "strings"),
        ({"id": "Good"}, ValueError, "an id is"),
        ({"id": ""}, ValueError, "an id is"),
        ({"id": "a.b"}, ValueError, "an id is"),
        ({"summary": None}, TypeError, "strings"),
        ({"summary": " "}, ValueError, "one line"),
        ({"summary": "two\nlines"}, ValueError, "one line"),
        ({"factory": "dict"}, TypeError, "factory of 'good'"),
        ({"probe": True}, TypeError, "probe of 'good'"),
        ({"ready": True}, TypeError, "ready of 'good'"),
        ({"credentials": "KEY"}, TypeError, "must be Credentials"),
        ({"config": Config()}, TypeError, "attrs class"),
        ({"config": dict}, TypeError, "attrs class"),
        ({"priority": True}, TypeError, "whole number"),
        ({"priority": 1.5}, TypeError, "whole number"),
        ({"capabilities": {"keyword"}}, TypeError, "frozenset"),
        ({"capabilities": frozenset({1})}, TypeError, "frozenset"),
        ({"extra": ""}, ValueError, "extra of 'good'"),
        ({"extra": 1}, ValueError, "extra of 'good'"),
    ],
)
def test_a_malformed_registration_is_refused(
    changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    mine = registry()
    with pytest.raises(error, match=words):
        mine.add(GOOD._replace(**changes))
    assert not mine.offered


def test_what_is_no_registration_is_refused() -> None:
    anything: Any = {"id": "good"}
    with pytest.raises(TypeError, match=r"mine \(d 1\.0\) must add a Registration"):
        registry().add(anything)
