"""Which files of a folder QMD takes for a pattern, and which folders it never looks into."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import ExtraRoot, Root, Roots, matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.plugin import ConfiguredPath, ManagerContext, Trust
    from commonplace_qmd.settings import QmdSettings

__all__ = [
    "NEVER_INDEXED",
    "OURS_IGNORED",
    "PREFIX",
    "Collection",
    "collections_of",
    "index_yml",
    "literal",
    "wanted_by",
]


NEVER_INDEXED = frozenset({"node_modules", "vendor", "dist", "build"})
"""Folders that QMD passes over at any depth, beside those whose names begin with a dot."""

OURS_IGNORED = frozenset({"venv", "__pycache__"})
"""Folders of tools that QMD would index, and is told not to."""

_PLAIN = re.compile(r"[^\w./ @%+=~-]")


def wanted_by(pattern: str) -> Callable[[str], bool]:
    """Whether a path below the collection's root (forward slashes) is one of ``pattern``.

    As QMD reads it, commas outside brackets and braces part several patterns.
    """
    tests = [matcher(part) for part in _parts(pattern)]
    if len(tests) == 1:
        return tests[0]
    return lambda path: any(test(path) for test in tests)


def literal(name: str) -> str:
    """A pattern for the one file called ``name``.

    What means something in a pattern is written as ``?``: QMD has two readers of patterns, and they
    do not agree on how such a character is written otherwise.
    """
    return _PLAIN.sub("?", name)


def _parts(pattern: str) -> Iterator[str]:
    depth = start = 0
    for at, character in enumerate(pattern):
        if character in "{[":
            depth += 1
        elif character in "}]" and depth:
            depth -= 1
        elif character == "," and not depth:
            yield from _part(pattern[start:at])
            start = at + 1
    yield from _part(pattern[start:])


def _part(text: str) -> Iterator[str]:
    if text.strip():
        yield text.strip()


PREFIX = "qmd"
"""What the stored path of a file outside the workspace begins with, before its collection."""

_ROOT_NOTES = "{MEMORY,memory}.md"
_EVERY_NOTE = "**/*.md"


class Collection(NamedTuple):
    """A folder as QMD knows it.

    ``root`` says where it is and how its files are opened, ``prefix`` is what their stored paths
    begin with (``""``, or ending in ``/``). ``own`` folders are the agent's, and being empty means
    that their notes were deleted; of others it may mean that their disk is not there.
    """

    name: str
    root: Root
    pattern: str
    prefix: str
    source: str = "memory"
    trust: Trust = "memory"
    own: bool = False

    @property
    def location(self) -> str:
        """The folder, with links above it followed: QMD refuses files that seem outside of it."""
        return _location(self.root)

    def steps(self) -> list[str]:
        """The folders on the way to it that may not be links, itself included."""
        base, parts = os.path.realpath(self.root.base), self.root.parts
        return [os.path.join(base, *parts[: depth + 1]) for depth in range(len(parts))]

    def wanted(self) -> Callable[[str], bool]:
        """Whether a path below the folder is one of its files."""
        return wanted_by(self.pattern)

    def stored(self, relative: str) -> str:
        """The path that a hit in this file carries."""
        return self.prefix + relative


def collections_of(
    context: ManagerContext, config: QmdSettings, exported: str | None
) -> tuple[Collection, ...]:
    """Every collection, each folder with a pattern once, under names that no two share.

    ``exported`` is the folder of exported transcripts, if there are any. Nothing is created.
    """
    return tuple(_Names(context.agent).given(_wanted(context, config, exported)))


class _Wish(NamedTuple):
    name: str
    scoped: bool
    root: Root
    pattern: str
    source: str = "memory"
    trust: Trust = "memory"
    own: bool = False


def _wanted(context: ManagerContext, config: QmdSettings, exported: str | None) -> Iterator[_Wish]:
    workspace = Roots(context.workspace).workspace
    if config.include_default_memory:
        root = Root(workspace, "", workspace, (), own=True, kind="folder")
        yield _Wish("memory-root", True, root, _ROOT_NOTES, own=True)
        root = root._replace(
            location=os.path.join(workspace, "memory"), stored="memory", parts=("memory",)
        )
        yield _Wish("memory-dir", True, root, _EVERY_NOTE, own=True)
    further = [_Given(path.path, path.pattern, path.name) for path in config.paths]
    further += map(_as_given, context.extra_paths)
    further += [_Given(path.path, path.pattern, path.name) for path in config.extra_collections]
    usable = [given for given in further if given.path.strip() and "\0" not in given.path]
    for number, path in enumerate(usable, 1):
        name = path.name
        root, pattern = _folder(workspace, path)
        # A name that several agents may give to one folder outside stays as it is.
        scoped = not (name and _is_outside(root.stored))
        yield _Wish(name or f"custom-{number}", scoped, root, pattern, trust="external")
    if exported is not None:
        root, _ = _folder(workspace, _Given(exported))
        yield _Wish("sessions", True, root, "*.md", "sessions", "session", own=True)


class _Given(NamedTuple):
    path: str
    pattern: str = _EVERY_NOTE
    name: str | None = None


def _as_given(path: str | ConfiguredPath) -> _Given:
    if isinstance(path, str):
        return _Given(path)
    return _Given(path.path, path.pattern or _EVERY_NOTE)


def _folder(workspace: str, path: _Given) -> tuple[Root, str]:
    """The folder of a configured path and the pattern in it: a file's folder, and its name."""
    root = Roots(workspace, [ExtraRoot(path.path)]).extra[0]
    if not os.path.isfile(root.location):
        return root._replace(kind="folder"), path.pattern
    folder, name = os.path.split(root.location)
    stored = root.stored.rpartition("/")[0]
    return root._replace(
        location=folder, stored=stored, parts=root.parts[:-1], kind="folder"
    ), literal(name)


class _Names:
    """Gives each collection a name of its own, and leaves out what was there before."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._names: set[str] = set()
        self._places: set[tuple[str, str]] = set()

    def given(self, wishes: Iterable[_Wish]) -> Iterator[Collection]:
        for wish in wishes:
            # By its own name: a link is refused, and must not stand for what it leads to.
            place = (_location(wish.root), wish.pattern)
            if place in self._places:
                continue
            self._places.add(place)
            name = self._name(f"{wish.name}-{self._agent}" if wish.scoped else wish.name)
            yield Collection(
                name,
                wish.root,
                wish.pattern,
                _prefix(wish.root.stored, name),
                wish.source,
                wish.trust,
                wish.own,
            )

    def _name(self, wanted: str) -> str:
        plain = re.sub(r"[^a-z0-9-]", "-", wanted.lower()).strip("-") or "collection"
        name, number = plain, 2
        while name in self._names:
            name, number = f"{plain}-{number}", number + 1
        self._names.add(name)
        return name


def _prefix(stored: str, name: str) -> str:
    """Paths inside the workspace are relative to it, others are told by their collection."""
    if _is_outside(stored):
        return f"{PREFIX}/{name}/"
    return f"{stored}/" if stored else ""


def _location(root: Root) -> str:
    return os.path.join(os.path.realpath(root.base), *root.parts)


def _is_outside(stored: str) -> bool:
    return stored.split("/", maxsplit=1)[0] == os.pardir or os.path.isabs(stored)


def index_yml(
    collections: Sequence[Collection], *, retired: Iterable[str] = (), nowhere: str = ""
) -> str:
    """The text of the file; collections called ``retired`` are led to the empty ``nowhere``.

    Strings are written as JSON, which YAML reads alike, so that no name or path can mean more.
    """
    lines = ["# Written by commonplace; changes are overwritten.", "collections:"]
    for collection in collections:
        ignored = [f"**/{folder}/**" for folder in sorted(OURS_IGNORED)]
        lines += _entry(collection.name, collection.location, collection.pattern, ignored)
    for name in sorted(retired):
        lines += _entry(name, nowhere, "*.md", [])
    if len(lines) == 2:
        lines[1] += " {}"
    return "\n".join(lines) + "\n"


def _entry(name: str, location: str, pattern: str, ignored: Sequence[str]) -> list[str]:
    lines = [
        f"  {_text(name)}:",
        f"    path: {_text(location)}",
        f"    pattern: {_text(pattern)}",
    ]
    if ignored:
        lines += ["    ignore:", *(f"      - {_text(glob)}" for glob in ignored)]
    return lines


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
