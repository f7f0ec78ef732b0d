"""The JSON keys of a group: which there are, of what type, and where they belong."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self, get_type_hints

from commonplace.model.plugins import REQUIRED, Group, camel
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.config.defaults import Owner
    from commonplace.model.plugins import Setting


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


class Leaf(NamedTuple):
    """One setting: ``key`` is dotted from the root of its shape, ``names`` the same in Python.

    ``group`` is the class that has the field. Where a plugin declares it, ``owner`` says which, and
    ``names`` lead to it in its class.
    """

    key: str
    names: Names
    setting: Setting
    group: type[Group]
    owner: Owner | None = None

    @property
    def type(self) -> Any:
        """The type of the field, evaluated when it is asked for."""
        return _type_of(self.group, self.names[-1])


class Branch(NamedTuple):
    """One object of a shape: ``prefix`` leads to it, with a dot at its end unless it is empty."""

    prefix: str
    below: dict[str, Leaf | Branch | Graft]


class Graft(NamedTuple):
    """A position in a shape whose keys a plugin declares; its class is looked up on first use."""

    position: str
    owner: Owner


class Shape:
    """All keys of a :class:`~commonplace.model.plugins.Group`, by dotted key and as a tree.

    ``grafts`` are positions that belong to the groups of plugins, which ``classes`` gives by
    section, ``None`` where it cannot.
    """

    def __init__(
        self,
        cls: type[Group],
        grafts: Mapping[str, Owner] | None = None,
        classes: Callable[[str], type[Group] | None] | None = None,
    ) -> None:
        self.leaves: dict[str, Leaf] = {}
        self.unsupported: dict[str, str] = {}
        self.root = Branch("", {})
        self._classes: dict[Names, type[Group]] = {}
        self._declared = classes
        self._collect(cls, "", ())
        for position, owner in (grafts or {}).items():
            branch, last = self._branch_of(position)
            branch.below[last] = Graft(position, owner)

    def grafted(self, graft: Graft) -> Leaf | Branch | None:
        """What a plugin declares at the position of ``graft``; ``None`` if that is not known."""
        lookups = (self._declared(section) for section in graft.owner.sections if self._declared)
        cls = next((found for found in lookups if found is not None), None)
        if cls is None:
            return None
        branch, last = self._branch_of(graft.position)
        del branch.below[last]
        prefix = graft.owner.key
        for leaf in Shape(cls).leaves.values():
            if not prefix or leaf.key == prefix or leaf.key.startswith(f"{prefix}."):
                below = leaf.key[len(prefix) :].lstrip(".")
                key = f"{graft.position}.{below}" if below else graft.position
                self._add(leaf._replace(key=key, owner=graft.owner))
        node = branch.below[last]
        assert not isinstance(node, Graft)
        return node

    def complete(self) -> Self:
        """Look up all that plugins declare, and put the leaves in the order of their positions."""
        ordered: dict[str, Leaf] = {}

        def walk(branch: Branch) -> None:
            for node in list(branch.below.values()):
                found = self.grafted(node) if isinstance(node, Graft) else node
                if isinstance(found, Leaf):
                    ordered[found.key] = found
                elif found is not None:
                    walk(found)

        walk(self.root)
        self.leaves = ordered
        return self

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

    def missing(self, values: Mapping[Names, Any]) -> list[Leaf]:
        """The leaves without a default that are not among ``values``, by Python names."""
        needed = (leaf for leaf in self.leaves.values() if leaf.setting.default is REQUIRED)
        return [leaf for leaf in needed if leaf.names not in values]

    def _collect(self, cls: type[Group], prefix: str, names: Names) -> None:
        self._classes[names] = cls
        for key, reason in cls.unsupported.items():
            self.unsupported[prefix + key] = reason
        for name, setting in cls.fields().items():
            key = prefix + (setting.key or camel(name))
            if isinstance(setting.default, Group) and setting.read is None:
                self._collect(type(setting.default), f"{key}.", (*names, name))
            else:
                self._add(Leaf(key, (*names, name), setting, cls))

    def _add(self, leaf: Leaf) -> None:
        self.leaves[leaf.key] = leaf
        branch, last = self._branch_of(leaf.key)
        branch.below[last] = leaf

    def _branch_of(self, key: str) -> tuple[Branch, str]:
        """The object that holds the dotted ``key``, made if need be, and the key's last part."""
        *parents, last = key.split(".")
        branch = self.root
        for parent in parents:
            below = branch.below.setdefault(parent, Branch(f"{branch.prefix}{parent}.", {}))
            assert isinstance(below, Branch), f"{key} stands below another setting"
            branch = below
        return branch, last


def is_group(type_: Any) -> bool:
    """Whether values of ``type_`` are objects with keys of their own."""
    return isinstance(type_, type) and issubclass(type_, Group)


def _type_of(cls: type[Group], name: str) -> Any:
    owner = next(base for base in cls.__mro__ if name in vars(base).get("__annotations__", {}))
    annotation = vars(owner)["__annotations__"][name]
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    alone: Any = SimpleNamespace(__annotations__={name: annotation})
    return get_type_hints(alone, vars(sys.modules[owner.__module__]))[name]
