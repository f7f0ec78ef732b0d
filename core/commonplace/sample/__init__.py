"""What to begin with: a workspace to try things on, and a plugin of each kind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SEARCHES = (
    "why did the sign go blank at night?",
    "ERR_STALE_HARMONICS",
    "传感器的交货期要多久？",
)
"""Queries the sample has an answer to: a question, an identifier, and a question in Chinese."""

_HERE = os.path.dirname(__file__)


def copy_workspace(folder: str) -> int:
    """Copy the notes into ``folder``, which must not exist yet; how many notes there are.

    Raises ``OSError`` if it cannot be written.
    """
    from shutil import copytree

    copytree(os.path.join(_HERE, "workspace"), folder)
    return sum(name.endswith(".md") for _, _, names in os.walk(folder) for name in names)


PLUGINS = {
    "backend": ("backend", "a store", "an index in one file"),
    "engine": ("backend", "an engine", "all notes in memory, gone when the process ends"),
    "provider": ("provider", "an embedding provider", "counts pairs of letters"),
    "ranker": ("ranker", "a ranker", "short pieces first"),
    "source": ("source", "a source", "text files in letters/"),
    "chunker": ("chunker", "a chunker", "a chunk for each paragraph"),
    "command": ("command", "a command", "name the longest note"),
    "tool": ("tool", "a tool for agents", "the date of today"),
}
"""The plugins to begin with: the kind of entry point, what each is, and what it does."""


UNCHECKED = frozenset({"command", "tool"})
"""Those of them that there are no conformance tests for."""


def write_plugin(kind: str, name: str, folder: str, *, api: str) -> list[str]:
    """Write a distribution with a plugin of ``kind`` (one of :data:`PLUGINS`) into ``folder``.

    ``name`` is the id of the plugin, ``api`` the version of the plugin API that it names. The
    answer is the files that were written, relative to ``folder``. Raises ``FileExistsError`` if
    ``folder`` exists and is not empty, and ``OSError`` if it cannot be written.
    """
    if os.path.isdir(folder) and os.listdir(folder):
        raise FileExistsError(folder)
    written = []
    for file, text in _files(kind, name, api):
        path = os.path.join(folder, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(text)
        written.append(file)
    return written


def distribution_of(name: str) -> str:
    """The name of the distribution with the plugin ``name``."""
    return "commonplace-" + name.replace("_", "-")


def how_to_check(kind: str, name: str) -> str:
    """The command that runs the conformance tests on the plugin; ``""`` where there are none."""
    return "" if kind in UNCHECKED else f"commonplace plugins check {PLUGINS[kind][0]}.{name}"


def _files(kind: str, name: str, api: str) -> Iterator[tuple[str, str]]:
    """Each file with its text."""
    entry, label, summary = PLUGINS[kind]
    package = distribution_of(name).replace("-", "_")
    values = {
        "example-usage": _template(kind, "usage.md").strip(),  # has others in it
        "\nexample-check": f"\n{check}" if (check := how_to_check(kind, name)) else "",
        "example-entry": entry,
        "example-kind": label[:1].upper() + label[1:],
        "example-summary": summary,
        "example-api": api,
        "example-id": name,
        "commonplace-example": distribution_of(name),
        "commonplace_example": package,
    }
    for file, template in {
        "pyproject.toml": ("pyproject.toml",),
        "README.md": ("README.md",),
        f"{package}/__init__.py": (kind, "plugin.py"),
        f"tests/test_{package.removeprefix('commonplace_')}.py": (kind, "test.py"),
    }.items():
        text = _template(*template)
        for word, value in values.items():
            text = text.replace(word, value)
        yield file, text
    yield f"{package}/py.typed", ""


def _template(*path: str) -> str:
    with open(os.path.join(_HERE, "plugins", *path) + ".template", encoding="utf-8") as stream:
        return stream.read()
