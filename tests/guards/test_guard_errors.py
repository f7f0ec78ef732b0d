"""Errors of every class can be handed from process to process, and copied."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from commonplace import CommonplaceError, ConfigProblem
from commonplace_qmd.engine.values import UnknownCollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SAMPLES: dict[str, object] = {
    "Sequence[ConfigProblem]": (ConfigProblem("openclaw.json", 3, "memory", "unknown key"),),
    "Sequence[str]": ["notes", "logs"],
    "int | None": 503,
    "float | None": 1.5,
    "bool | None": True,
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def test_an_error_is_the_same_after_a_copy_or_a_pickle(
    sources: list[Path], packages: dict[str, Path]
) -> None:
    roots = sorted({folder.parent for folder in packages.values()})
    for file in sources:
        if re.search(r"^class \w+\(.*Error", file.read_text(encoding="utf-8"), re.MULTILINE):
            root = next(one for one in roots if file.is_relative_to(one))
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
    classes = [one for one in below(CommonplaceError) if one.__module__.split(".")[0] in packages]
    assert UnknownCollectionError in classes
    assert len(classes) > 25
    for error_class in classes:
        error = sample(error_class)
        error.add_note("the next one failed, too")
        for way, remake in WAYS.items():
            again = remake(error)
            assert type(again) is error_class, way
            assert str(again) == str(error), way
            assert again.args == error.args, way
            assert vars(again) == vars(error), way


def test_what_a_command_refuses_says_how_to_correct_it(sources: list[Path], root: Path) -> None:
    checked, silent = 0, []
    for file in sources:
        if not file.is_relative_to(root / "plugins") and "cli" not in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id in ("CallerError", "UsageError", "WorkspaceError"):
                checked += 1
                if not any(keyword.arg == "hint" for keyword in node.keywords):
                    silent.append(f"{file.relative_to(root)}:{node.lineno}")
    assert checked > 100
    assert silent == []


def below(error_class: type[CommonplaceError]) -> Iterator[type[CommonplaceError]]:
    """The class and all below it."""
    yield error_class
    for one in error_class.__subclasses__():
        yield from below(one)


def sample(error_class: type[CommonplaceError]) -> CommonplaceError:
    """An error with a value other than the default for everything it takes."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in inspect.signature(error_class).parameters.items():
        value = SAMPLES.get(parameter.annotation, f"some {name}")
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    return error_class(*positional, **named)
