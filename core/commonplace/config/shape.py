"""The JSON keys of a described class: which there are, of what type, and where they belong."""

from __future__ import annotations

from typing import Any, get_type_hints

import attrs

from commonplace.config.description import METADATA, REQUIRED, Group, Setting

__all__ = ["Branch", "Leaf", "Shape", "build", "camel", "is_described"]


class Leaf:
    """One setting: ``key`` is dotted from the root of its shape, ``names`` the same in Python."""

    __slots__ = ("default", "key", "names", "setting", "type")

    def __init__(
        self, key: str, names: tuple[str, ...], setting: Setting, type_: Any, default: Any
    ) -> None:
        self.key = key
        self.names = names
        self.setting = setting
        self.type = type_
        self.default = default

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

    ``cls`` is a :class:`~commonplace.config.description.Group` or an attrs class, whose fields need
    no description; those that begin with ``_`` are left out.
    """

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.leaves: dict[str, Leaf] = {}
        self.unsupported: dict[str, str] = {}
        _collect(cls, "", (), self)
        self.root = Branch("")
        for key, leaf in self.leaves.items():
            *parents, last = key.split(".")
            branch = self.root
            for parent in parents:
                below = branch.below.setdefault(parent, Branch(f"{branch.prefix}{parent}."))
                assert isinstance(below, Branch), f"{key} stands below another setting"
                branch = below
            branch.below[last] = leaf


def is_described(type_: Any) -> bool:
    """Whether values of ``type_`` are objects with keys of their own."""
    return isinstance(type_, type) and (issubclass(type_, Group) or attrs.has(type_))


def camel(name: str) -> str:
    """The JSON key of a Python name."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def build(cls: type[Any], values: dict[tuple[str, ...], Any]) -> Any:
    """An instance of ``cls`` from values by Python names; what is not given has its default.

    Raises ``TypeError`` if a value without a default is missing.
    """
    hints = get_type_hints(cls)
    below: dict[str, dict[tuple[str, ...], Any]] = {}
    given: dict[str, Any] = {}
    for (name, *rest), value in values.items():
        if rest:
            below.setdefault(name, {})[tuple(rest)] = value
        else:
            given[name] = value
    for name, inner in below.items():
        given[name] = build(hints[name], inner)
    return cls(**given)


def _collect(cls: type[Any], prefix: str, names: tuple[str, ...], shape: Shape) -> None:
    hints = get_type_hints(cls)
    for key, reason in getattr(cls, "unsupported", {}).items():
        shape.unsupported[prefix + key] = reason
    for name, setting, default in _fields(cls):
        key = prefix + (setting.key or camel(name))
        if is_described(hints[name]) and setting.read is None:
            _collect(hints[name], f"{key}.", (*names, name), shape)
        else:
            shape.leaves[key] = Leaf(key, (*names, name), setting, hints[name], default)


def _fields(cls: type[Any]) -> list[tuple[str, Setting, Any]]:
    if issubclass(cls, Group):
        return [(name, part, part.default) for name, part in cls.fields().items()]
    found = []
    for field in attrs.fields(cls):
        if field.name.startswith("_") or not field.init:
            continue
        default = REQUIRED if field.default is attrs.NOTHING else field.default
        if factory := getattr(default, "factory", None):
            default = factory()
        part = field.metadata.get(METADATA) or Setting("", default, {})
        found.append((field.name, part, default))
    return found
