"""Finds links between notes that lead nowhere: wiki links, relative links, and their anchors."""

from __future__ import annotations

import os
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from commonplace.plugin import ENDINGS, NamedTuple, counted, prose_lines
from commonplace_audit.findings import AuditFinding, replaced, stem
from commonplace_audit.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace_audit.findings import AuditedNote, Severity

_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|<!--.*?-->")
# In a table, the bar before the text shown is escaped: [[Note\|text]].
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]*?)(?:\\?\|[^\[\]\n]*)?\]\]")
_LINK = re.compile(
    r"\]\(\s*(?:<([^<>\n]+)>|((?:[^\s()<>]|\([^\s()]*\))+))(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
# A target with nothing but a title behind it: "[todo]: the rest of it" is prose.
_REFERENCE = re.compile(
    r"^\s{0,3}\[[^\]^]+\]:\s+(?:<([^<>]+)>|(\S+))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*$"
)
_ESCAPED = re.compile(r"\\[\[\]]")
_SHELL_TEST = re.compile(r"\s+(?:!\s+)?(?:-\w\s|[\"'$]|\S+\s+(?:[=!]=|=~|=|-\w\w)\s)")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)\s*$")
_SCHEME = re.compile(r"[a-zA-Z][\w+.-]*:|//|[{$%]\{?")
_LINES = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?\Z")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_NAMED_ANCHOR = re.compile(r"(?:id|name)=[\"']([^\"']+)[\"']|\{#([\w-]+)\}|\s\^([\w-]+)\s*$")
_ENTRIES = 50_000  # of a workspace that are listed, to find a file that was moved


class Broken(NamedTuple):
    """What is wrong with a link, and the target that it was perhaps meant to have."""

    text: str
    meant: str = ""
    severity: Severity = "warning"


class Links:
    """The links of ``notes``, which are all notes of the folder ``workspace``."""

    def __init__(self, notes: Sequence[AuditedNote], workspace: str) -> None:
        self._workspace = workspace
        self._notes = notes
        self._by_path = {note.path: note for note in notes}
        self._by_name: dict[str, list[AuditedNote]] = {}
        by_stem: dict[str, list[AuditedNote]] = {}
        self._by_last: dict[str, list[AuditedNote]] = {}
        for note in notes:
            by_stem.setdefault(stem(note.path).casefold(), []).append(note)
            self._by_last.setdefault(_last(_bare(note.path)), []).append(note)
            names = (stem(note.path), note.title, *note.names)
            for name in {name.casefold() for name in names}:
                self._by_name.setdefault(name, []).append(note)
        self._names, self._stems = Names(self._by_name), Names(by_stem)
        self._anchors: dict[str, Names[str]] = {}

    def broken(self, note: AuditedNote) -> Iterator[AuditFinding]:
        """The links of ``note`` that lead nowhere."""
        for number, line in _outside_indented_code(note.text):
            if "](" not in line and "[[" not in line and "]:" not in line:
                continue
            plain = _ESCAPED.sub("  ", _CODE.sub(lambda found: " " * len(found[0]), line))
            for target, is_wiki in _targets(plain):
                problem = self._wiki(note, target) if is_wiki else self._path(note, target)
                if problem is not None:
                    meant = problem.meant
                    alone = meant and line.count(target) == 1
                    yield AuditFinding(
                        "broken-link",
                        problem.severity,
                        f"{note.path}#L{number}",
                        problem.text,
                        f"perhaps {meant} was meant" if meant else "correct or delete the link",
                        (),
                        replaced(note, number, line.replace(target, meant)) if alone else None,
                    )

    def _wiki(self, note: AuditedNote, target: str) -> Broken | None:
        name, _, anchor = target.partition("#")
        name = name.strip()
        if not name:
            return self._anchor(note, anchor, target)
        found = self._named(note, name)
        if found:
            return self._anchor(found[0], anchor, target) if len(found) == 1 else None
        if name.casefold() in self._files or self._exists(note, name):
            return None
        meant = self._near(note, name)
        if not meant:  # often a note that is still to be written
            return Broken(f"no note is named {name!r}: [[{target}]]", severity="info")
        return Broken(f"no note is named {name!r}: [[{target}]]", target.replace(name, meant, 1))

    def _near(self, note: AuditedNote, name: str) -> str:
        """What a wiki link to ``name`` perhaps meant, with its folder if ``name`` has one."""
        if "/" not in name:
            found = self._names.nearest(name.casefold())
            return stem(found[0].path) if len(found) == 1 and found[0] is not note else ""
        # The name of a file tells notes apart, not the folders that many of them share.
        folder, _, last = _bare(f"/{name.lstrip('/')}").rpartition("/")
        found = self._stems.nearest(last)
        beside = [one for one in found if _bare(f"/{one.path}").rpartition("/")[0].endswith(folder)]
        found = beside or found
        if len(found) != 1 or found[0] is note:
            return ""
        return _without_ending(found[0].path) + _ending(name)

    def _named(self, note: AuditedNote, name: str) -> Sequence[AuditedNote]:
        if "/" not in name:
            bare = _without_ending(name)
            return self._by_name.get(bare.casefold(), self._by_name.get(name.casefold(), []))
        folder = posixpath.dirname(note.path)
        for start in (folder, ""):
            whole = posixpath.normpath(posixpath.join(start, name.lstrip("/")))
            for ending in ("", *ENDINGS):
                if found := self._by_path.get(whole + ending):
                    return [found]
        tail = _bare(f"/{name.lstrip('/')}")
        beside = self._by_last.get(_last(tail), [])
        return [one for one in beside if _bare(f"/{one.path}").endswith(tail)]

    def _path(self, note: AuditedNote, target: str) -> Broken | None:
        path, _, anchor = target.partition("#")
        path = unquote(path.partition("?")[0])
        if not path:
            return self._anchor(note, anchor, target)
        if path.startswith("/"):
            return self._of_site(path)
        at = posixpath.normpath(posixpath.join(posixpath.dirname(note.path), path))
        if at.startswith(".."):
            if self._exists(note, path):
                return None  # outside the workspace: not ours to judge
            return Broken(f"there is no file {at!r}, outside the workspace", severity="info")
        found = next((one for end in ("", *ENDINGS) if (one := self._by_path.get(at + end))), None)
        if found is not None or self._exists(note, path):
            return self._anchor(found, anchor, target) if found else None
        meant = self._moved(note, path)
        return Broken(
            f"there is no file {at!r}", f"{meant}#{anchor}" if meant and anchor else meant
        )

    def _of_site(self, path: str) -> Broken | None:
        """An address like ``/guide/start`` is from the root of a site, whichever folder that is."""
        tail = _bare(path.rstrip("/"))
        if tail in self._tails or os.path.exists(os.path.join(self._workspace, path.lstrip("/"))):
            return None
        return Broken(f"no file is at {path!r}, in whichever folder", severity="info")

    @cached_property
    def _tails(self) -> frozenset[str]:
        """The ends of the paths of all notes, from each folder on: ``/guide/start``, ``/start``."""
        found = {""}
        for note in self._notes:
            parts = _bare(note.path).removesuffix("/index").split("/")
            found.update("/" + "/".join(parts[at:]) for at in range(len(parts)))
        return frozenset(found)

    def _exists(self, note: AuditedNote, path: str) -> bool:
        """Whether there is a file, from the note's folder or the workspace's."""
        folders = (os.path.dirname(note.location) if note.location else "", self._workspace)
        return any(
            os.path.exists(os.path.join(folder, path.lstrip("/") + end))
            for folder in folders
            if folder
            for end in ("", *ENDINGS)
        )

    def _moved(self, note: AuditedNote, path: str) -> str:
        """A link to the one note with that file's name, or nearly that name; ``""`` for none."""
        found = self._stems.nearest(stem(path).casefold())
        if len(found) != 1 or found[0] is note:
            return ""
        folder = posixpath.dirname(note.path) or "."
        return quote(posixpath.relpath(found[0].path, folder))

    def _anchor(self, note: AuditedNote, anchor: str, target: str) -> Broken | None:
        anchor = unquote(anchor).strip()
        if not anchor:
            return None
        if lines := _LINES.match(anchor):
            count = note.text.count("\n") + bool(note.text and not note.text.endswith("\n"))
            last = int(lines[2] or lines[1])
            if last <= count:
                return None
            return Broken(f"{note.path} has {counted(count, 'line')}, not {last}: {target}")
        known = self._anchors.get(note.path)
        if known is None:
            found = anchors_of(note.text)
            known = self._anchors[note.path] = Names({name: (name,) for name in found})
        last_part = anchor.rpartition("#")[2].strip()
        if {slug(anchor), slug(last_part), last_part.lstrip("^").casefold()} & known.all:
            return None
        near = known.nearest(slug(last_part))
        head = target.partition("#")[0]
        text = f"{note.path} has no heading {last_part!r}: {target}"
        return Broken(text, f"{head}#{near[0]}" if len(near) == 1 else "")

    @cached_property
    def _files(self) -> frozenset[str]:
        """The names of the workspace's files, in lower case: what notes embed."""
        names: set[str] = set()
        for folder, folders, files in os.walk(self._workspace):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            shown = os.path.relpath(folder, self._workspace).replace(os.sep, "/")
            for name in files:
                names.add(name.casefold())
                names.add(f"{shown}/{name}".removeprefix("./").casefold())
            if len(names) > _ENTRIES:
                break
        return frozenset(names)


def anchors_of(text: str) -> frozenset[str]:
    """What a link's anchor may name in a note: headings, blocks (``^id``) and named elements."""
    found: dict[str, int] = {}
    above = ""
    for _, line in prose_lines(text):
        heading = _HEADING.match(line)
        title = heading[1] if heading else above.strip() if _UNDERLINE.match(line) else ""
        above = line
        if title:
            base = slug(title)
            times = found[base] = found.get(base, -1) + 1
            if times:
                found[f"{base}-{times}"] = 0
        for named in _NAMED_ANCHOR.findall(line):
            found.update(dict.fromkeys((name.casefold() for name in named if name), 0))
    return frozenset(found)


def _outside_indented_code(text: str) -> Iterator[tuple[int, str]]:
    """The lines of prose without those of code blocks made by four spaces, which no list holds."""
    in_list = in_code = False
    after_blank = True
    for number, line in prose_lines(text):
        if not line.strip():
            after_blank = True
            continue
        indented = line.startswith(("    ", "\t"))
        in_code = indented and not in_list and (after_blank or in_code)
        continues = in_list and (line[0].isspace() or not after_blank)
        in_list = continues or (not in_code and _LIST_ITEM.match(line) is not None)
        after_blank = False
        if not in_code:
            yield number, line


def slug(heading: str) -> str:
    """The anchor of a heading: lower case, spaces as ``-``, no other signs."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().casefold()).replace(" ", "-")


def _targets(line: str) -> Iterator[tuple[str, bool]]:
    """The targets of the links of a line, and whether each is a wiki link's."""
    for found in _WIKI.finditer(line):
        if found[1].strip() and not _SHELL_TEST.match(found[1]):
            yield found[1], True
    for pattern in (_LINK, _REFERENCE):
        for found in pattern.finditer(line):
            target = found[1] or found[2]
            if not _SCHEME.match(target):
                yield target, False


def _ending(name: str) -> str:
    return next((ending for ending in ENDINGS if name.endswith(ending)), "")


def _without_ending(path: str) -> str:
    return path[: -len(ending)] if (ending := _ending(path)) else path


def _bare(path: str) -> str:
    return _without_ending(path.casefold())


def _last(path: str) -> str:
    return path.rpartition("/")[2]
