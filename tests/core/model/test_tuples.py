"""Our quick named tuples are as ``typing`` would make them, our records as ``dataclasses``."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import typing

import pytest

from commonplace.model import documents, reports, search
from commonplace.model.tuples import NamedTuple as Quick
from commonplace.model.tuples import Record
from commonplace.protocols import contexts

CLASSES = [
    kind
    for module in (documents, reports, search, contexts)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__
]
KINDS = [kind for kind in CLASSES if issubclass(kind, tuple)]
RECORDS = [kind for kind in CLASSES if issubclass(kind, Record)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_class_is_as_typing_makes_it(kind: typing.Any) -> None:
    assert kind.__bases__ == (tuple,)
    assert kind._fields == tuple(kind.__annotations__)
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{kind.__name__}(")
    defaults = kind._field_defaults
    assert tuple(defaults) == kind._fields[len(kind._fields) - len(defaults) :]
    usual: typing.Any = typing.NamedTuple
    likeness = usual(kind.__name__, [(name, int) for name in kind._fields])
    values = range(len(kind._fields))
    assert repr(kind(*values)) == repr(likeness(*values))
    assert pickle.loads(pickle.dumps(kind(*values))) == tuple(values)


def test_there_are_classes_to_look_at() -> None:
    assert {"StoredChunk", "Where", "StoredDocument"} <= {kind.__name__ for kind in KINDS}
    assert {"Hit", "SearchResult", "SyncReport"} <= {kind.__name__ for kind in RECORDS}


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_every_record_is_as_a_frozen_dataclass_with_named_fields(kind: typing.Any) -> None:
    likeness: typing.Any = dataclasses.make_dataclass(
        kind.__name__, [(name, int) for name in kind._fields], frozen=True, kw_only=True
    )
    values = {name: at for at, name in enumerate(kind._fields)}
    made, like = kind(**values), likeness(**values)
    assert repr(made) == repr(like)
    assert made == kind(**values)
    assert hash(made) == hash(kind(**values))
    assert made != like
    first = kind._fields[0]
    assert made != made.replace(**{first: -1}) == kind(**{**values, first: -1})
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == copy.deepcopy(made) == made
    with pytest.raises(TypeError, match="nonsense"):
        made.replace(nonsense=1)
    with pytest.raises(TypeError, match="positional"):
        kind(1)
    with pytest.raises(TypeError):
        tuple(made)
    with pytest.raises(AttributeError, match="frozen"):
        setattr(made, first, 1)
    with pytest.raises(AttributeError, match="frozen"):
        delattr(made, first)


def test_a_record_needs_each_field_that_has_no_default() -> None:
    with pytest.raises(TypeError, match="missing 2 required keyword-only arguments"):
        search.SearchResult()  # type: ignore[call-arg]  # that it raises is what is tested


def test_defaults_methods_and_properties_are_kept() -> None:
    report = reports.SyncReport(added=2)
    assert report.changed
    assert report.replace(added=0) == reports.SyncReport()
    assert report.seconds == 0.0
    with pytest.raises(AttributeError):
        report.added = 3  # type: ignore[misc]  # that it cannot be set is what is tested
    with pytest.raises(TypeError):
        search.Where(nonsense=1)  # type: ignore[call-arg]  # as above


def test_a_constructor_is_as_the_usual_ones() -> None:
    maker: typing.Any = type(Quick)
    made = maker("Point", (Quick,), {"__module__": __name__, "y": 2} | FIELDS)

    class Named(made):  # type: ignore[valid-type,misc]  # a new class for each test
        pass

    first = Named(1)  # before anything of the class it derives from
    assert type(first) is Named
    assert (first, made(1), made(x=1, y=3), made._make([1, 3])) == ((1, 2), (1, 2), (1, 3), (1, 3))
    assert copy.copy(made(5)) == made(5)._replace(y=2) == (5, 2)
    assert made(1)._asdict() == {"x": 1, "y": 2}
    for wrong in (
        made,
        lambda: made(1, 2, 3),
        lambda: made(1, z=1),
        lambda: made(x=1, q=1),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError, match="Expected 2 arguments, got 1"):
        made._make([1])
    with pytest.raises(ValueError, match="unexpected field names"):
        made(1)._replace(z=1)


def test_what_derives_from_the_base_is_a_plain_named_tuple() -> None:
    maker: typing.Any = type(Quick)
    made = maker("Point", (Quick,), {"__module__": __name__, "y": 2} | FIELDS)
    assert made(1) == (1, 2)
    assert made(1).twice == 2
    assert made.__module__ == __name__
    assert type(made) is type


FIELDS = {"__annotations__": {"x": "int", "y": "int"}, "twice": property(lambda self: 2 * self.x)}
