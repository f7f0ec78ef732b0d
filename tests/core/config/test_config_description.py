"""Groups of settings: frozen values whose parts describe themselves."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.config.search import SearchSettings
from commonplace.config.shape import Shape
from commonplace.model.plugins import Group, camel, setting


class Inner(Group):
    """Inside."""

    number: int = setting("A number.", default=1)


class Outer(Group):
    """Outside."""

    name: str = setting("A name.")
    inner: Inner = setting("Inside.", default=Inner())
    seen: str = setting("Seen.", default="", veiled=True)


class Named(Group):
    """Keys in camelCase, one of another name, and a part that is no setting."""

    inner: Inner = setting("Inside.", default=Inner())
    a_long_name: int = setting("", default=2)
    parts: tuple[str, ...] = setting("Parts.", default=(), key="p.q")
    _private: int = 0


def test_parts_not_given_have_their_defaults() -> None:
    outer = Outer(name="x")
    assert (outer.name, outer.inner.number) == ("x", 1)
    assert outer == Outer(name="x", inner=Inner(number=1))
    assert outer != Outer(name="y")
    assert outer != "x"
    assert hash(outer) == hash(Outer(name="x"))


def test_a_group_cannot_be_changed_but_evolved() -> None:
    outer = Outer(name="x")
    with pytest.raises(AttributeError, match="frozen"):
        outer.name = "y"  # type: ignore[misc]  # that it cannot be set is what is tested
    with pytest.raises(AttributeError, match="frozen"):
        del outer.name
    assert outer.evolve(name="y", inner=Inner(number=2)) == Outer(name="y", inner=Inner(number=2))
    assert outer.name == "x"


def test_wrong_parts_are_refused() -> None:
    with pytest.raises(TypeError, match="has no nmae"):
        Outer(nmae="x")  # type: ignore[call-arg]  # that it is refused is what is tested
    with pytest.raises(TypeError, match="needs name"):
        Outer()  # type: ignore[call-arg]  # as above


def test_repr_shows_what_may_be_seen() -> None:
    assert repr(Outer(name="x", seen="hush")) == "Outer(name='x', inner=Inner(number=1))"


def test_groups_can_be_copied() -> None:
    outer = Outer(name="x", inner=Inner(number=2))
    assert copy.deepcopy(outer) == outer
    assert pickle.loads(pickle.dumps(SearchSettings(model="m"))) == SearchSettings(model="m")


def test_keys_of_a_group() -> None:
    leaves = Shape(Named).leaves
    assert list(leaves) == ["inner.number", "aLongName", "p.q"]
    assert leaves["p.q"].setting.default == ()
    assert leaves["p.q"].setting.about == "Parts."
    built = Shape(Named).build({("inner", "number"): 5, ("parts",): ("a",)})
    assert built == Named(inner=Inner(number=5), parts=("a",))


def test_building_from_nothing_gives_the_defaults() -> None:
    assert Shape(SearchSettings).build({}) == SearchSettings()
    with pytest.raises(TypeError):
        Shape(Outer).build({})


@given(st.lists(st.text("abc", min_size=1), min_size=1))
def test_camel_case_can_be_read_back(words: list[str]) -> None:
    name = camel("_".join(words))
    assert "".join(f"_{c.lower()}" if c.isupper() else c for c in name) == "_".join(words)


def test_a_trailing_underscore_is_no_part_of_the_key() -> None:
    assert camel("lambda_") == "lambda"
