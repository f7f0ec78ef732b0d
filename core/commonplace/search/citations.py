"""Reads what a citation names; where nothing has that name, names the nearest note."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING

from commonplace.errors import (
    NoteNotFoundError,
    PathNotAllowedError,
    UnavailableError,
    suggest,
)
from commonplace.files.reading import (
    cut_lines,
    lacks_ending,
    read_lines,
    resolve,
    spellings,
    split_citation,
)
from commonplace.files.roots import ENDINGS, ExtraRoot, Roots, find_roots, is_link
from commonplace.host.answers import read_of, scanned
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace.config.settings import Settings
    from commonplace.model.documents import Document, DocumentRef
    from commonplace.model.plugins import Mount
    from commonplace.model.reports import NoteText
    from commonplace.protocols.parts import Source

_LONGEST_GUESS = 200
"""Characters of a path for which the nearest one is looked for."""


class Readable(NamedTuple):
    """All that may be read: notes below ``roots``, files of ``mounts``, documents of ``sources``.

    Only sources that declare ``readable`` count. ``mounts`` is called where no note has the path.
    """

    roots: Roots
    mounts: Callable[[], Iterable[Mount]]
    sources: Sequence[Source]


class _Listed:
    """The documents of sources, each of which is scanned once."""

    def __init__(self) -> None:
        self._by_source: dict[str, Sequence[DocumentRef]] = {}

    def of(self, source: Source) -> Sequence[DocumentRef]:
        """All that ``source`` finds."""
        if source.id not in self._by_source:
            self._by_source[source.id] = scanned(source).documents
        return self._by_source[source.id]


def readable_of(
    settings: Settings, *, mounts: Callable[[], Iterable[Mount]], sources: Sequence[Source]
) -> Readable:
    """What may be read by these settings."""
    search = settings.search
    roots = find_roots(settings.workspace, search.extra_paths, search.notes.rules)
    return Readable(roots, mounts, sources)


def read_cited(
    readable: Readable, path: str, start: int | None = None, lines: int | None = None
) -> NoteText:
    """``lines`` lines from line ``start`` of what ``path`` names.

    ``path`` is what a hit shows: its path, also without the ending, or a citation, whose lines
    count where none are given. Raises as :func:`~commonplace.files.reading.read_lines` does; the
    hint names the nearest note that may be read, where there is one.
    """
    failure: NoteNotFoundError | None = None
    listed = _Listed()
    readers: tuple[Callable[..., NoteText], ...] = (
        partial(read_lines, readable.roots),
        partial(_read_mounted, readable.roots.workspace, cache(lambda: tuple(readable.mounts()))),
        partial(_read_of_source, readable.sources, listed),
    )
    for read in readers:
        for spelling in spellings(path):
            try:
                return read(spelling, start, lines)
            except PathNotAllowedError:
                continue
            except NoteNotFoundError as error:
                # A guessed ending counts as the path that was typed, other guesses do not.
                typed = not spelling[:1].isspace()
                typed &= spelling.rstrip() == path.strip() or lacks_ending(path)
                if failure is None and typed:
                    failure = error
    if link := _link_in(readable.roots, path):
        raise PathNotAllowedError(
            hint=f"{link} is a symbolic link, and memory follows none in notes: put the file there "
            "itself, or add its folder to extraPaths"
        )
    nearest = _nearest(readable, listed, path, outside_too=failure is not None)
    hint = f"did you mean {nearest}?" if nearest else ""
    if failure is not None:
        raise NoteNotFoundError(str(failure), hint=hint or failure.hint)
    raise PathNotAllowedError(hint=hint)


def _link_in(roots: Roots, path: str) -> str:
    """What of ``path`` is a link, where a note could be; ``""``: nothing is."""
    for spelling in spellings(path):
        with suppress(PathNotAllowedError, OSError):
            root, relative = resolve(roots, split_citation(spelling)[0])
            location = root.base
            for part in (*root.parts, *relative.split("/")):
                location = os.path.join(location, part)
                if is_link(os.lstat(location)):
                    return roots.stored(location)
    return ""


def _read_mounted(
    workspace: str,
    mounts: Callable[[], Iterable[Mount]],
    path: str,
    start: int | None,
    lines: int | None,
) -> NoteText:
    for mount in mounts():
        below = path.rstrip().removeprefix(f"{mount.prefix}/")
        if below == path.rstrip():
            continue
        if mount.stored is None:
            roots = Roots(mount.location, [ExtraRoot(".", mount.pattern)], own=False)
            prefix = f"{mount.prefix}/"
        else:  # below the workspace, where no link may lead out
            folder = ExtraRoot(mount.stored or ".", mount.pattern)
            roots = Roots(workspace, [folder], own=False)
            below, prefix = os.path.join(mount.stored, below), ""
        try:
            return read_lines(roots, below, start, lines, prefix).replace(trust=mount.trust)
        except PathNotAllowedError:
            continue
    raise PathNotAllowedError


def _read_of_source(
    sources: Sequence[Source],
    listed: _Listed,
    path: str,
    start: int | None,
    lines: int | None,
) -> NoteText:
    whole = path.rstrip()
    bare, first, last = split_citation(whole)
    for source in sources:
        if "readable" not in source.capabilities:
            continue
        ref = _find(listed.of(source), {whole, bare})
        if ref is None:
            continue
        if start is None and lines is None and first is not None and last is not None:
            start, lines = first, last - max(1, first) + 1
        try:
            document = read_of(source, ref)
        except OSError as error:
            raise UnavailableError(
                f"{ref.path} cannot be read: {error.strerror or error}",
                hint="check its permissions and the disk",
            ) from error
        if document is None:
            raise NoteNotFoundError(f"{ref.path} is gone", hint="search again")
        note = cut_lines(ref.path, text_by_line(document), start, lines)
        return note.replace(trust=document.trust)
    raise PathNotAllowedError


def _find(refs: Sequence[DocumentRef], paths: set[str]) -> DocumentRef | None:
    for ref in refs:
        if ref.path in paths:
            return ref
    bare = [ref for ref in refs if os.path.splitext(ref.path)[0] in paths]
    return bare[0] if len(bare) == 1 else None


def text_by_line(document: Document) -> str:
    """The text of ``document`` with the line numbers that hits cite.

    Where its lines are not those of the file, a line of the file has all that was made of it, and
    is empty where nothing was.
    """
    if document.line_map is None:
        return document.text
    parts: list[list[str]] = [[] for _ in range(max(document.line_map, default=0))]
    for number, text in zip(document.line_map, document.text.split("\n"), strict=False):
        parts[number - 1].append(text)
    return "\n".join(map(_joined, parts))


def _joined(parts: list[str]) -> str:
    """One line of ``parts``; where each begins with the same speaker, the first does."""
    if len(parts) < 2:
        return "".join(parts)
    speaker, colon, _ = parts[0].partition(": ")
    prefix = f"{speaker}{colon}" if colon else ""
    return " ".join([parts[0], *(part.removeprefix(prefix) for part in parts[1:])])


def _nearest(readable: Readable, listed: _Listed, path: str, *, outside_too: bool) -> str:
    """The path of the note that was probably meant, or ``""``.

    Only names of notes that may be read are looked at, and none for a path that leads out of the
    workspace unless it is one that memory reads: the answer tells nothing of any other file.
    """
    typed = os.path.normpath(split_citation(path)[0].replace("\0", "")).replace(os.sep, "/")
    leads_out = os.path.isabs(typed) or typed.startswith((os.pardir, "~"))
    if (leads_out and not outside_too) or typed == os.curdir or len(typed) > _LONGEST_GUESS:
        return ""
    known: dict[str, str] = {}
    for source in readable.sources:
        refs = listed.of(source)
        all_of_it = "readable" in source.capabilities
        readable_refs = [ref for ref in refs if all_of_it or _is_note(readable, ref)]
        known |= {ref.path.casefold(): ref.path for ref in readable_refs}
    stem = _stem(typed)
    same = [folded for folded in known if _stem(folded) == stem]
    if near := suggest(typed.casefold(), same, 0.0):
        return known[near]
    near = suggest(typed.casefold(), known, 0.7)
    if near and suggest(stem, [_stem(near)], 0.5):  # not MEMORY.md for memory/nope.md
        return known[near]
    stems = {_stem(folded): folded for folded in known}
    near = suggest(stem, stems, 0.7)
    return known[stems[near]] if near else ""


def _is_note(readable: Readable, ref: DocumentRef) -> bool:
    try:
        resolve(readable.roots, ref.path)
    except PathNotAllowedError:
        return False
    return True


def _stem(path: str) -> str:
    name = path.rpartition("/")[2].casefold()
    return next((name.removesuffix(end) for end in ENDINGS if name.endswith(end)), name)
