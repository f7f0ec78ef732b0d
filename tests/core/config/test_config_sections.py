"""Plugins' own sections, read into their groups."""

from __future__ import annotations

from collections.abc import Mapping  # the fields are read by their types
from typing import TYPE_CHECKING, Any, Literal

import pytest

from commonplace.config.secret import Secret  # as above
from commonplace.model.plugins import Group, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem


class Pool(Group):
    """An object inside."""

    size: int = setting("", default=4)
    idle_seconds: float = setting("", default=1.5)


class Mine(Group):
    """A section as a stranger writes it: types and defaults, hardly a description."""

    uri: str = setting("")
    mode: Literal["fast", "safe"] = setting("", default="safe")
    token: Secret | None = setting("", default=None)
    pool: Pool = setting("", default=Pool())
    pools: tuple[Pool, ...] = setting("", default=())
    labels: Mapping[str, int] = setting("", default={})
    anything: Any = setting("", default=None)
    even: int = setting("Even.", default=2, minimum=0)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if self.even % 2:
            raise ValueError(f"{self.even} is odd")


class Checked(Group):
    """A section with a check of one value."""

    name: str = setting("", default="a")

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if len(self.name) > 3:
            raise ValueError(f"{self.name} is too long")


def config(section: Any) -> dict[str, Any]:
    return {"memory": {"backend": "mine", "mine": section}}


def classes(name: str) -> type | None:
    return {"memory.mine": Mine, "plugins.entries.x.config": Checked}.get(name)


def test_a_section_is_read_by_its_types(load: Callable[..., Settings]) -> None:
    section = {
        "uri": "x",
        "mode": "fast",
        "token": "${T}",
        "pool": {"idleSeconds": 3},
        "pools": [{"size": 1}],
        "labels": {"a": 1},
        "anything": {"goes": [1]},
    }
    read = load(config=config(section), sections=classes).section_values["memory.mine"]
    assert (read.uri, read.mode, read.even) == ("x", "fast", 2)
    assert read.token.reveal({"T": "t"}) == "t"
    assert read.pool == Pool(size=4, idle_seconds=3.0)
    assert read.pools == (Pool(size=1),)
    assert read.labels == {"a": 1}
    assert read.anything == {"goes": [1]}


def test_all_problems_of_a_section_are_reported(
    problems: Callable[..., list[ConfigProblem]],
) -> None:
    section = {
        "uri": 1,
        "mode": "slow",
        "pool": {"sise": 1},
        "pools": [{"size": "x"}, 3],
        "labels": {"a": "b"},
        "even": -2,
    }
    found = problems(config=config(section), sections=classes)
    assert [problem.key for problem in found] == [
        "memory.mine.uri",
        "memory.mine.mode",
        "memory.mine.pool.sise",
        "memory.mine.pools[0].size",
        "memory.mine.pools[1]",
        "memory.mine.labels.a",
        "memory.mine.even",
    ]
    assert "did you mean 'pool.size'?" in found[2].message


@pytest.mark.parametrize("content", [config({}), {"memory": {"backend": "mine"}}])
def test_what_has_no_default_must_be_there(
    content: Any, problems: Callable[..., list[ConfigProblem]]
) -> None:
    (problem,) = problems(config=content, sections=classes)
    assert (problem.key, problem.message) == ("memory.mine.uri", "is missing")


def test_a_plugins_own_check_refuses_without_quoting(
    problems: Callable[..., list[ConfigProblem]],
) -> None:
    (problem,) = problems(config=config({"uri": "x", "even": 30_303}), sections=classes)
    assert problem.key == "memory.mine"
    assert "30303" not in problem.message
    entry = {"plugins": {"entries": {"x": {"config": {"name": "far too long"}}}}}
    (other,) = problems(config=entry, sections=classes)
    assert other.message == "is refused by its plugin (ValueError)"


def test_the_classes_of_the_chain_and_of_what_is_there_are_asked_for(
    load: Callable[..., Settings],
) -> None:
    asked: list[str] = []
    content = {
        "memory": {"backend": ["one", "two"], "three": {}},
        "plugins": {"entries": {"x": {"config": {}}}},
    }

    def note(name: str) -> None:
        asked.append(name)

    settings = load(config=content, sections=note)
    assert asked == [
        "memory.one",
        "memory.two",
        "memory.three",
        "plugins.entries.x.config",
    ]
    assert settings.section_values == {}


def test_a_chosen_backend_without_a_section_has_its_defaults(
    load: Callable[..., Settings],
) -> None:
    settings = load(
        config={"memory": {"backend": "p"}}, sections=lambda name: Pool if name[-1] == "p" else None
    )
    assert settings.section_values == {"memory.p": Pool()}


def test_a_backend_that_is_named_alone_has_the_standby_that_it_declares(
    load: Callable[..., Settings],
) -> None:
    class Declared(Group):
        standby = "other"

    def declared(name: str) -> type | None:
        return Declared if name == "memory.mine" else None

    def chain(backend: Any) -> tuple[str, ...]:
        return load(config={"memory": {"backend": backend}}, sections=declared).backends

    assert chain("mine") == ("mine", "other")
    assert chain(["mine"]) == ("mine",)
    assert chain("third") == ("third",)
    assert chain("qmd") == ("qmd", "builtin"), "a plugin that cannot be loaded"


def test_a_group_serves_as_well_as_an_attrs_class(
    load: Callable[..., Settings], problems: Callable[..., list[ConfigProblem]]
) -> None:
    class Own(Group):
        size: int = setting("A size.", default=3, minimum=1)

    def own(name: str) -> type | None:
        return Own if name == "memory.mine" else None

    settings = load(config=config({"size": 5}), sections=own)
    assert settings.section_values["memory.mine"] == Own(size=5)
    (wrong,) = problems(config=config({"size": 0}), sections=own)
    assert wrong.key == "memory.mine.size"
