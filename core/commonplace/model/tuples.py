"""Named tuples that are quick to define.

Every process pays for defining each class that it imports, and ``typing.NamedTuple`` compiles every
annotation only to throw the result away. This takes half as long. Type checkers shall see
``typing.NamedTuple``, and thereby check what is not checked here::

    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from commonplace.model.tuples import NamedTuple
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = ["NamedTuple"]

_NOT_COPIED = frozenset({"__module__", "__qualname__", "__classcell__"})


class _Maker(type):
    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
        if not bases:
            return super().__new__(cls, name, bases, namespace)
        fields = namespace.get("__annotations__", {})
        defaults = [namespace[field] for field in fields if field in namespace]
        module = namespace["__module__"]
        # What mypy and ruff miss here, literal names and types, is what this does without.
        made: type = namedtuple(  # type: ignore[misc]  # noqa: PYI024
            name, fields, defaults=[*defaults], module=module
        )
        for key, value in namespace.items():
            if key not in fields and key not in _NOT_COPIED:
                setattr(made, key, value)
        return made


class NamedTuple(metaclass=_Maker):
    """Stands in for ``typing.NamedTuple`` at run time; what derives from it is a plain one."""
