"""Value classes that are quick to define: named tuples, and records.

A named tuple is for values inside, many and short-lived. A :class:`Record` is for what the public
face returns: named fields only, so that another field can be added without breaking any caller.

Every process pays for defining each class that it imports: ``typing.NamedTuple`` compiles every
annotation only to throw the result away, and ``collections.namedtuple`` a constructor for each
class, made or not. Here a constructor is compiled when it has been called several times, as most
classes have few values in a search, and the other methods are the same for all. Type checkers see
``typing.NamedTuple`` and a frozen dataclass (by ``tuples.pyi``), and so check what is not checked
here.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

try:
    from _collections import _tuplegetter as _field  # type: ignore[import-not-found]  # CPython's
except ImportError:  # another Python than CPython

    def _field(index: int, doc: str) -> Any:
        return property(itemgetter(index), doc=doc)


_NOT_COPIED = frozenset({"__module__", "__qualname__", "__classcell__"})


class _Maker(type):
    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
        if not bases:
            return super().__new__(cls, name, bases, namespace)
        fields = tuple(namespace.get("__annotations__", ()))
        kept = {key: value for key, value in namespace.items() if key not in _NOT_COPIED}
        places = enumerate(fields)
        made = {
            **_METHODS,
            **kept,
            **{field: _field(at, f"Alias for field number {at}") for at, field in places},
            "__module__": namespace["__module__"],
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": {field: namespace[field] for field in fields if field in namespace},
        }
        return type(name, (tuple,), made)


_FEW = 8
"""So many values are made without a compiled constructor, which takes as long as 10 to 30."""

_calls: dict[type, int] = {}


def _new(cls: Any, /, *values: Any, **named: Any) -> Any:
    """Make one of the first values; the call after them compiles the constructor."""
    owner = next(base for base in cls.__mro__ if "_fields" in vars(base))
    _calls[owner] = calls = _calls.get(owner, 0) + 1
    if calls > _FEW:
        return _compiled(cls, *values, **named)
    fields = cls._fields
    given = {**cls._field_defaults, **dict(zip(fields, values)), **named}  # noqa: B905 - may be fewer
    if (
        given.keys() != set(fields)
        or not named.keys().isdisjoint(fields[: len(values)])
        or len(values) > len(fields)
    ):
        return _compiled(cls, *values, **named)  # which raises
    return tuple.__new__(cls, map(given.__getitem__, fields))


def _compiled(cls: Any, /, *values: Any, **named: Any) -> Any:
    """Compile the constructor, and let it take the place of this one."""
    owner = next(base for base in cls.__mro__ if "_fields" in vars(base))
    made = _constructor(owner._fields, tuple(owner._field_defaults.values()))
    owner.__new__ = staticmethod(made)
    _calls.pop(owner, None)
    return made(cls, *values, **named)


def _constructor(fields: tuple[str, ...], defaults: tuple[Any, ...]) -> Callable[..., Any]:
    names = ", ".join(fields)
    values = f"({names},)" if fields else "()"
    space = {"_new": tuple.__new__, "__builtins__": {}, "__name__": "namedtuple"}
    # As collections.namedtuple does it: nothing else is as quick to call. Names are identifiers.
    made: Any = eval(f"lambda _cls, {names}: _new(_cls, {values})", space)  # noqa: S307
    made.__name__ = "__new__"
    made.__defaults__ = defaults
    return made  # type: ignore[no-any-return]  # a lambda, whatever eval promises


def _make(cls: Any, values: Iterable[Any]) -> Any:
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return made


def _repr(self: Any) -> str:
    shown = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self)])  # noqa: B905
    return f"{type(self).__name__}({shown})"


_METHODS = {
    "__new__": staticmethod(_new),
    "_make": classmethod(_make),
    "_replace": _replace,
    "__replace__": _replace,
    "_asdict": lambda self: dict(zip(self._fields, self)),  # noqa: B905 - as long by construction
    "__repr__": _repr,
    "__getnewargs__": lambda self: (*self,),
}


class NamedTuple(metaclass=_Maker):
    """Stands in for ``typing.NamedTuple`` at run time; what derives from it is a plain one."""


class Record:
    """A frozen value with the fields that a class below it annotates, all given by name.

    Records of one class are equal where all fields are, and then have the same hash.
    :meth:`replace` makes a changed copy.
    """

    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(vars(cls).get("__annotations__", ()))
        cls.__init__ = _first_init  # type: ignore[method-assign]

    def replace(self, **changes: Any) -> Any:
        """A copy with ``changes``."""
        fields = self.__dict__
        if not changes.keys() <= fields.keys():
            return type(self)(**{**fields, **changes})  # which raises
        made = object.__new__(type(self))
        made.__dict__.update(fields, **changes)
        return made

    __replace__ = replace

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: replace() makes a changed copy")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: replace() makes a changed copy")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *[self.__dict__[field] for field in self._fields]))

    def __repr__(self) -> str:
        shown = ", ".join([f"{field}={self.__dict__[field]!r}" for field in self._fields])
        return f"{type(self).__name__}({shown})"


def _first_init(self: Any, /, **values: Any) -> None:
    """Fill one of the first records; the call after them compiles the constructor."""
    cls = type(self)
    _calls[cls] = calls = _calls.get(cls, 0) + 1
    if calls > _FEW:
        _compiled_init(self, **values)
        return
    given = {name: getattr(cls, name) for name in cls._fields if hasattr(cls, name)} | values
    if given.keys() != set(cls._fields):
        _compiled_init(self, **values)  # which raises
    self.__dict__.update({name: given[name] for name in cls._fields})


def _compiled_init(self: Any, /, **values: Any) -> None:
    """Compile the constructor of the class, and let it take the place of this one."""
    cls = type(self)
    given = [f"{name}=_cls.{name}" if hasattr(cls, name) else name for name in cls._fields]
    stored = ", ".join([f"{name}={name}" for name in cls._fields])
    space = {"_cls": cls, "__builtins__": {}, "__name__": cls.__module__}
    # Names of fields are identifiers. One update is the quickest way to fill a frozen instance.
    source = f"lambda self, *, {', '.join(given)}: self.__dict__.update({stored})"
    made: Any = eval(source, space)  # noqa: S307
    made.__name__, made.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
    cls.__init__ = made
    _calls.pop(cls, None)
    made(self, **values)
