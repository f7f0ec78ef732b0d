"""The collections of an agent, as QMD's configuration lists them, and what has changed in them."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    Root,
    RootFailure,
    Roots,
    ScanReport,
    SourceScan,
    StoredDocument,
    SyncReport,
    find_roots,
    holds_notes,
    is_storable,
    matcher,
    plan_changes,
    scan_root,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.plugin import ManagerContext, Plan, Trust
    from commonplace_qmd.home import Manifest
    from commonplace_qmd.settings import QmdSettings


PREFIX = "qmd"
"""The first part of the stored path of a file outside the workspace; its collection follows."""

NEVER_INDEXED = frozenset({"node_modules", "vendor", "dist", "build"})
"""Folders that QMD skips at any depth, like those whose names begin with a dot."""

TOOL_FOLDERS = frozenset({"venv", "__pycache__"})
"""Folders that QMD would index, and that ``index.yml`` excludes."""

_ROOT_NOTES = "{MEMORY,memory}.md"
_EVERY_NOTE = "**/*.md"
_PLAIN = re.compile(r"[^\w./ @%+=~-]")


class Collection(NamedTuple):
    """A folder as QMD knows it.

    ``root`` holds its path, with links above it followed since QMD refuses others, and the prefix
    of its files' stored paths. A folder that is ``root.own`` belongs to the agent: if it is empty,
    its notes were deleted; with any other folder the disk may not be mounted.
    """

    name: str
    root: Root
    pattern: str
    source: str = "memory"
    trust: Trust = "memory"

    @property
    def location(self) -> str:
        """The folder's absolute path."""
        return self.root.location

    @property
    def deep(self) -> bool:
        """Whether its files may lie in folders below it."""
        return "/" in self.pattern or "**" in self.pattern

    def wanted(self) -> Callable[[str], bool]:
        """A test whether a path below the folder is one of its files."""
        return wanted_by(self.pattern)

    def stored(self, relative: str) -> str:
        """The path that a hit in this file carries."""
        return f"{self.root.stored}/{relative}" if self.root.stored else relative


def collections_of(
    context: ManagerContext, config: QmdSettings, exported: str | None
) -> tuple[Collection, ...]:
    """Every collection, each folder with a pattern once, under unique names.

    ``exported`` is the folder of exported transcripts, if they are exported. Nothing is created.
    """
    names: set[str] = set()
    seen: set[tuple[str, str]] = set()
    found: list[Collection] = []
    for scoped, collection in _configured(context, config, exported):
        base = os.path.realpath(collection.root.base)
        # The folder's own path: a link is refused, and must not replace its target.
        location = os.path.join(base, *collection.root.parts)
        if (location, collection.pattern) in seen:
            continue
        seen.add((location, collection.pattern))
        name = _unique(f"{collection.name}-{context.agent}" if scoped else collection.name, names)
        root = collection.root._replace(base=base, location=location)
        if _is_outside(root.stored):
            root = root._replace(stored=f"{PREFIX}/{name}")
        found.append(collection._replace(name=name, root=root))
    return tuple(found)


def _configured(
    context: ManagerContext, config: QmdSettings, exported: str | None
) -> Iterator[tuple[bool, Collection]]:
    """Collections whose names are not unique yet, and whether the agent's id belongs to them."""
    workspace = Roots(context.workspace).workspace
    if config.include_default_memory:
        root = Root(workspace, "", workspace, (), own=True, kind="folder")
        if find_roots(workspace).whole and holds_notes(workspace):
            endings = "md,markdown,txt" if context.notes.text else "md,markdown"
            yield True, Collection("memory-dir", root, f"**/*.{{{endings}}}")
        else:
            yield True, Collection("memory-root", root, _ROOT_NOTES)
            root = root._replace(stored="memory", parts=("memory",))
            yield True, Collection("memory-dir", root, _EVERY_NOTE)
    paths = [(path.path, path.pattern, path.name) for path in config.paths]
    for extra in context.extra_paths:
        path, pattern = (extra, None) if isinstance(extra, str) else (extra.path, extra.pattern)
        paths.append((path, pattern or _EVERY_NOTE, None))
    paths += [(path.path, path.pattern, path.name) for path in config.extra_collections]
    usable = [path for path in paths if _is_usable(path[0])]
    for number, (path, pattern, name) in enumerate(usable, 1):
        root, glob = _folder(workspace, path, pattern)
        # A name that several agents may give to one folder outside is kept.
        scoped = not (name and _is_outside(root.stored))
        trust: Trust = "memory" if root.own else "external"
        yield scoped, Collection(name or f"custom-{number}", root, glob, trust=trust)
    if exported is not None:
        root, _ = _folder(workspace, exported, _EVERY_NOTE)
        yield True, Collection("sessions", root._replace(own=True), "*.md", "sessions", "session")


def only_qmd_searches(context: ManagerContext, config: QmdSettings) -> list[str]:
    """A line where configured folders are not searched by a backend in QMD's place."""

    def location(path: str) -> str:
        return _folder(context.workspace, path, _EVERY_NOTE)[0].location

    extra = [path if isinstance(path, str) else path.path for path in context.extra_paths]
    elsewhere = {location(path) for path in extra if _is_usable(path)}
    keys = [
        key
        for key, paths in (
            ("memory.qmd.paths", config.paths),
            ("memorySearch.qmd.extraCollections", config.extra_collections),
        )
        if any(_is_usable(one.path) and location(one.path) not in elsewhere for one in paths)
    ]
    if not keys:
        return []
    return [f"{' and '.join(keys)}: searched by QMD alone, put them into extraPaths meanwhile"]


def _is_usable(path: str) -> bool:
    return bool(path.strip()) and "\0" not in path


def _folder(workspace: str, path: str, pattern: str) -> tuple[Root, str]:
    """The folder of a configured path and its pattern: of a file, its folder and its name."""
    root = Roots(workspace, [path]).extra[0]._replace(kind="folder")
    if not os.path.isfile(root.location):
        return root, pattern
    stored = root.stored.rpartition("/")[0]
    name = os.path.basename(root.location)
    return root._replace(stored=stored, parts=root.parts[:-1]), literal(name)


def _unique(wanted: str, names: set[str]) -> str:
    plain = re.sub(r"[^a-z0-9-]", "-", wanted.lower()).strip("-") or "collection"
    name, number = plain, 2
    while name in names:
        name, number = f"{plain}-{number}", number + 1
    names.add(name)
    return name


def _is_outside(stored: str) -> bool:
    return stored.split("/", maxsplit=1)[0] == os.pardir or os.path.isabs(stored)


def wanted_by(pattern: str) -> Callable[[str], bool]:
    """A test whether a path below the collection's root (forward slashes) matches ``pattern``.

    As QMD reads it, commas outside brackets and braces separate several patterns; hidden files
    match none.
    """
    tests = [matcher(part) for part in _parts(pattern)]

    def wanted(path: str) -> bool:
        hidden = path.rpartition("/")[2].startswith(".")
        return not hidden and any(test(path) for test in tests)

    return wanted


def literal(name: str) -> str:
    """A pattern for the one file called ``name``.

    Special characters become ``?``: QMD has two readers of patterns, which escape differently.
    """
    return _PLAIN.sub("?", name)


def _parts(pattern: str) -> Iterator[str]:
    depth = start = 0
    for at, character in enumerate(f"{pattern},"):
        if character in "{[":
            depth += 1
        elif character in "}]" and depth:
            depth -= 1
        elif character == "," and (not depth or at == len(pattern)):
            if part := pattern[start:at].strip():
                yield part
            start = at + 1


def index_yml(
    collections: Sequence[Collection], *, retired: Iterable[str] = (), empty_folder: str = ""
) -> str:
    """The text of QMD's ``index.yml``; ``retired`` collections get the path ``empty_folder``.

    Each is a line of JSON, which is YAML, too, so that no name or path is taken for syntax.
    """
    ignored = [f"**/{folder}/**" for folder in sorted(TOOL_FOLDERS)]
    listed: dict[str, dict[str, object]] = {
        each.name: {"path": each.location, "pattern": each.pattern, "ignore": ignored}
        for each in collections
    }
    listed |= {name: {"path": empty_folder, "pattern": "*.md"} for name in sorted(retired)}
    quoted = partial(json.dumps, ensure_ascii=False)
    lines = [f"\n  {quoted(name)}: {quoted(each)}" for name, each in listed.items()]
    heading = "# Written by commonplace; changes are overwritten."
    return f"{heading}\ncollections:{''.join(lines) or ' {}'}\n"


_BACKSLASH = "QMD cannot index a name with a backslash: rename it"


class CollectionScan(NamedTuple):
    """What a scan found below one collection.

    With ``report.failed_roots``, part of the folder could not be listed: QMD must not update the
    collection, or would drop what it does not see, so ``report`` has no documents then. ``skipped``
    are folders with wanted files that QMD never indexes, ``refused`` files that it cannot index.
    """

    collection: Collection
    report: ScanReport
    skipped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether QMD may update this collection."""
        return bool(self.report.complete_roots)


class Changes(NamedTuple):
    """What the collections hold now, compared with what the last update found.

    ``known`` counts the documents of the last update. ``exports`` are transcripts whose export is
    out of date, ``deferred`` those that have grown by too little to be exported again.
    """

    scans: tuple[CollectionScan, ...]
    plan: Plan
    known: int
    exports: int = 0
    deferred: int = 0

    @property
    def size(self) -> int:
        """How many files need an update."""
        return self.plan.size + self.exports

    @property
    def incomplete(self) -> frozenset[str]:
        """The names of collections that could not be scanned to the end."""
        return frozenset(scan.collection.name for scan in self.scans if not scan.complete)

    def report(self) -> SyncReport:
        """The same as a report on what an update would do."""
        reports = [scan.report for scan in self.scans]
        return SyncReport(
            unchanged=self.plan.unchanged,
            remaining=self.size,
            known=self.known,
            hidden=self.plan.hidden,
            # Collections of one folder fail alike.
            failed_roots=tuple(dict.fromkeys(one for each in reports for one in each.failed_roots)),
            absent_roots=tuple(dict.fromkeys(one for each in reports for one in each.absent_roots)),
            unreadable=tuple((path, _BACKSLASH) for scan in self.scans for path in scan.refused),
            deferred=self.deferred,
            skipped_symlinks=sum(report.skipped_symlinks for report in reports),
        )


def find_changes(collections: Sequence[Collection], workspace: str, manifest: Manifest) -> Changes:
    """Scan every collection and compare with ``manifest``; no file is opened."""
    scans = tuple(
        scan_collection(collection, workspace, known=bool(manifest.get(collection.name)))
        for collection in collections
    )
    stored = [
        StoredDocument(name, path, "", stamp, "")
        for name, files in manifest.items()
        for path, stamp in files.items()
    ]
    plan = plan_changes(
        stored,
        [SourceScan(scan.collection.name, scan.report, "") for scan in scans],
        configured=[collection.name for collection in collections],
    )
    return Changes(scans, plan, known=len(stored))


def scan_collection(
    collection: Collection, workspace: str, *, known: bool = False
) -> CollectionScan:
    """Scan one collection, of which files are ``known`` to QMD or not.

    A missing folder of which no file is known is absent, any other one failed.
    """
    root, source = collection.root, collection.source
    if not is_storable(root.location):
        reason = "its name is not valid UTF-8: rename it to have it indexed"
        report = ScanReport((), (), (RootFailure(root.stored, reason, source),))
        return CollectionScan(collection, report)
    skipped: list[str] = []
    matches = collection.wanted()

    def wanted(path: str) -> bool:
        return is_storable(path) and matches(path)

    def enters(folder: str) -> bool:
        name = folder.rpartition("/")[2]
        if not collection.deep or name.startswith(".") or not is_storable(name):
            return False
        if name in NEVER_INDEXED and _holds_wanted(collection, folder):
            skipped.append(collection.stored(folder))
        return name not in NEVER_INDEXED and name not in TOOL_FOLDERS

    report = scan_root(
        root._replace(suffix="", wanted=wanted, enters=enters),
        source=collection.name,
        workspace=workspace if root.own and source == "memory" else "",
    )
    failed = tuple(each._replace(source=source) for each in report.failed_roots)
    absent = tuple(each._replace(source=source) for each in report.absent_roots)
    if failed or absent:
        links = report.skipped_symlinks
        report = ScanReport((), (), (*failed, *absent), links)
        if not (known or os.path.lexists(root.location)):
            report = ScanReport((), (), failed, links, absent)
    # QMD takes a backslash for a separator.
    refused = tuple(ref.path for ref in report.documents if "\\" in ref.path)
    documents = tuple(ref for ref in report.documents if "\\" not in ref.path)
    report = report._replace(documents=documents)
    return CollectionScan(collection, report, tuple(skipped), refused)


def _holds_wanted(collection: Collection, folder: str) -> bool:
    wanted = collection.wanted()
    try:
        with os.scandir(os.path.join(collection.location, folder)) as entries:
            return any(wanted(f"{folder}/{entry.name}") for entry in entries)
    except OSError:
        return False
