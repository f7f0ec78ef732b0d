"""The JSON keys of a described class: which there are, of what type, and where they belong."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

import attrs

from commonplace.config.description import METADATA, REQUIRED, Group, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Branch", "Leaf", "Shape", "camel", "is_described"]

Names = tuple[str, ...]

_PLAIN: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "int | None": int | None,
    "str | None": str | None,
    "bool | None": bool | None,
    "tuple[str, ...]": tuple[str, ...],
}
"""Types that need no looking up: evaluating all annotations costs more than reading a file."""


class Leaf:
    """One setting: ``key`` is dotted from the root of its shape, ``names`` the same in Python."""

    __slots__ = ("_owner", "default", "key", "names", "setting")

    def __init__(
        self, key: str, names: Names, setting: Setting, default: Any, owner: type[Any]
    ) -> None:
        self.key = key
        self.names = names
        self.setting = setting
        self.default = default
        self._owner = owner

    @property
    def type(self) -> Any:
        """The type of the field, evaluated when it is asked for."""
        return _type_of(self._owner, self.names[-1])

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED


class Branch:
    """One object of a shape: ``prefix`` leads to it, with a dot at its end unless it is empty."""

    __slots__ = ("below", "prefix")

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.below: dict[str, Leaf | Branch] = {}


class Shape:
    """All keys of a described class, as a flat mapping by dotted key and as a tree.

    ``cls`` is a :class:`~commonplace.config.description.Group` or an attrs class, whose fields
    need no description; those that begin with ``_`` are left out.
    """

    def __init__(self, cls: type[Any]) -> None:
        self.leaves: dict[str, Leaf] = {}
        self.unsupported: dict[str, str] = {}
        self.root = Branch("")
        self._classes: dict[Names, type[Any]] = {}
        self._collect(cls, "", ())

    def build(self, values: Mapping[Names, Any]) -> Any:
        """An instance of the class from values by Python names; what is not given has its default.

        Raises ``TypeError`` if a value without a default is missing.
        """
        given: dict[Names, dict[str, Any]] = {(): {}}
        for names, value in values.items():
            for depth in range(1, len(names)):
                given.setdefault(names[:depth], {})
            given[names[:-1]][names[-1]] = value
        for names in sorted(given, key=len, reverse=True):
            built = self._classes[names](**given[names])
            if not names:
                return built
            given[names[:-1]][names[-1]] = built
        raise AssertionError("the root is among them")

    def _collect(self, cls: type[Any], prefix: str, names: Names) -> None:
        self._classes[names] = cls
        for key, reason in getattr(cls, "unsupported", {}).items():
            self.unsupported[prefix + key] = reason
        for name, setting, default, inner in _fields(cls):
            key = prefix + (setting.key or camel(name))
            if inner is not None and setting.read is None:
                self._collect(inner, f"{key}.", (*names, name))
            else:
                self._add(Leaf(key, (*names, name), setting, default, cls))

    def _add(self, leaf: Leaf) -> None:
        self.leaves[leaf.key] = leaf
        *parents, last = leaf.key.split(".")
        branch = self.root
        for parent in parents:
            below = branch.below.setdefault(parent, Branch(f"{branch.prefix}{parent}."))
            assert isinstance(below, Branch), f"{leaf.key} stands below another setting"
            branch = below
        branch.below[last] = leaf


def is_described(type_: Any) -> bool:
    """Whether values of ``type_`` are objects with keys of their own."""
    return isinstance(type_, type) and (issubclass(type_, Group) or attrs.has(type_))


def camel(name: str) -> str:
    """The JSON key of a Python name."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _fields(cls: type[Any]) -> Iterator[tuple[str, Setting, Any, type[Any] | None]]:
    """Name, description and default of each field, and the class of one that is an object."""
    if issubclass(cls, Group):
        for name, part in cls.fields().items():
            inner = type(part.default) if isinstance(part.default, Group) else None
            yield name, part, part.default, inner
        return
    for field in attrs.fields(cls):
        if field.name.startswith("_") or not field.init:
            continue
        default = REQUIRED if field.default is attrs.NOTHING else field.default
        if factory := getattr(default, "factory", None):
            default = factory()
        part = field.metadata.get(METADATA) or Setting("", default, {})
        type_ = _type_of(cls, field.name)
        yield field.name, part, default, type_ if is_described(type_) else None


def _type_of(cls: type[Any], name: str) -> Any:
    owner = next(base for base in cls.__mro__ if name in vars(base).get("__annotations__", {}))
    annotation = vars(owner)["__annotations__"][name]
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    alone: Any = SimpleNamespace(__annotations__={name: annotation})
    return get_type_hints(alone, vars(sys.modules[owner.__module__]))[name]
