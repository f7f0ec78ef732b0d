"""The doors are whole: what a signature or docstring names is there, and stubs agree."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import inspect
import re
import typing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import commonplace
import commonplace.plugin
import commonplace.testing
from commonplace import AsyncMemory, CommonplaceError, Memory, MemoryTools, PluginHost
from commonplace.model.tuples import Record

ELSEWHERE = {*dir(builtins), *dir(typing), *dir(collections.abc), "PathLike", "os", "Settings"}
INTERNAL = {"Memory.__init__", "AsyncMemory.__init__", "ConfigError.__init__"}


DOORS = (commonplace, commonplace.plugin, commonplace.testing)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_door_and_its_stub_agree(door: Any) -> None:
    stub = Path(door.__file__).with_suffix(".pyi")
    homes = {
        str(alias.asname): str(node.module)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(homes) == sorted(door.__all__)
    assert set(door.__all__) <= {*dir(door), "__version__"}
    for name, home in homes.items():
        assert getattr(door, name) is getattr(import_module(home), name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = door.nonsense


CLASSES = [
    value
    for value in (getattr(commonplace, name) for name in dir(commonplace))
    if isinstance(value, type)
    and (value in (Memory, AsyncMemory) or issubclass(value, Record | CommonplaceError))
]


@pytest.mark.parametrize("public", CLASSES, ids=lambda public: public.__name__)
def test_every_type_that_a_public_class_names_can_be_imported(public: type) -> None:
    named = set(re.findall(r"[A-Za-z_]\w*", " ".join(annotations_of(public))))
    for text in docstrings_of(public):
        named |= set(re.findall(r":class:`~?(?:[\w.]*\.)?(\w+)`", text))
    missing = {name for name in named if name[0].isupper()} - ELSEWHERE - set(dir(commonplace))
    assert not missing


@pytest.mark.parametrize("public", [PluginHost, MemoryTools], ids=lambda public: public.__name__)
def test_every_type_that_hosts_and_tools_name_is_in_a_door(public: type) -> None:
    named = set(re.findall(r"[A-Za-z_]\w*", " ".join(annotations_of(public))))
    doors = {*dir(commonplace), *dir(commonplace.plugin)}
    inner = {"RegistryEntry", "EntryPoint", "EventBus"}  # of a host's own
    assert {name for name in named if name[0].isupper()} - ELSEWHERE - doors <= inner


def annotations_of(public: type) -> list[str]:
    found = [str(one) for one in vars(public).get("__annotations__", {}).values()]
    for name, member in methods_of(public):
        if f"{public.__name__}.{name}" not in INTERNAL:
            found += [str(one) for one in inspect.get_annotations(member).values()]
    # The values of a literal are no names; what begins with _ is not public.
    return [re.sub(r"'[^']*'|\"[^\"]*\"|\b_\w+", "", one) for one in found]


def docstrings_of(public: type) -> list[str]:
    return [public.__doc__ or "", *(member.__doc__ or "" for _, member in methods_of(public))]


def methods_of(public: type) -> list[tuple[str, Any]]:
    found = []
    for name, member in vars(public).items():
        plain = getattr(member, "__func__", getattr(member, "fget", member))
        if inspect.isfunction(plain) and (not name.startswith("_") or name == "__init__"):
            found.append((name, plain))
    return found


def test_the_memory_for_asyncio_has_the_same_methods_and_parameters() -> None:
    def shape(public: type) -> dict[str, list[inspect.Parameter]]:
        return {
            name: [
                one for one in inspect.signature(member).parameters.values() if one.name != "cls"
            ]
            for name, member in methods_of(public)
            if not name.startswith("_")
        }

    assert shape(AsyncMemory) == shape(Memory)
