"""An agent's notes as files under ``/memories``: the commands of the memory tool.

They read and change the Markdown files that a search finds: there is no second memory beside them.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol

from commonplace.errors import CommonplaceError
from commonplace.files.left_out import holds_notes
from commonplace.files.roots import find_roots, is_ignored
from commonplace.files.tree import Tree, TreeEntry
from commonplace.model.prompt import unfenced
from commonplace.model.tools import ToolAnswer, is_direct
from commonplace.text.query import check_memory
from commonplace.tools.memory_text import (
    Edit,
    RefusalError,
    checked_command,
    file_view,
    inserted,
    listing,
    replaced,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.config.settings import Settings

    Path = tuple[str, ...]

ROOT = "/memories"
_ROOT = ("memory",)
_IN_PLAIN = ("commonplace", "memories")
_LEVELS = 2  # of folders that a listing shows


class ChangeReceipt(Protocol):
    """What a change of a file returns."""

    @property
    def id(self) -> str:
        """By which it can be undone; ``""`` if nothing had to be changed."""
        ...


class FileWriter(Protocol):
    """What the commands need to change files."""

    def change(
        self, path: str, edit: Callable[[bytes | None], bytes | None], *, why: str
    ) -> ChangeReceipt:
        """Change one file of the workspace; ``None`` stands for no file."""
        ...

    def undo(self, receipt: str) -> ChangeReceipt:
        """Undo a change."""
        ...


class WritableMemory(Protocol):
    """What :class:`MemoryFiles` needs of a :class:`~commonplace.Memory`."""

    @property
    def settings(self) -> Settings:
        """The configuration."""
        ...

    def writer(self, *, origin: Literal["agent", "session"], who: str) -> FileWriter:
        """Something that changes files on the word of an agent, or of a conversation."""
        ...


class MemoryFiles:
    """The notes of ``memory`` under ``/memories``, for the chat ``session_key``.

    ``/memories`` is the folder ``memory/``. In a plain folder of notes, which has neither
    ``MEMORY.md`` nor ``memory/``, it is ``commonplace/memories/``: a new ``memory/`` would end the
    search of all other notes. In a chat that is not direct (its key names a group or a channel) it
    is a folder of that chat below it, ``chats/<name>``: no other note can be read or changed there.
    ``MEMORY.md`` is never among them.

    Answers are those of Anthropic's own tool for files, word for word, unless that raises an
    exception or follows a link: such a command is refused, and changes nothing. Only notes can be
    written: files whose names end in ``.md``, outside of hidden folders. Changes go through a
    writer of ``memory``, in a direct chat as the agent's own, else as a conversation's word;
    ``who`` stands in the journal. Threads may share one.
    """

    def __init__(self, memory: WritableMemory, *, session_key: str = "", who: str = "") -> None:
        check_memory(memory)
        workspace = memory.settings.workspace
        self._memory = memory
        self._direct = is_direct(session_key)
        self._who = who or f"the memory tool of {session_key or memory.settings.agent}"
        self._tree = Tree(workspace)
        self._root = _root_of(workspace, session_key)

    @property
    def definition(self) -> dict[str, Any]:
        """The tool for Anthropic's messages API."""
        return {"type": "memory_20250818", "name": "memory"}

    @property
    def folder(self) -> str:
        """The folder that ``/memories`` is, relative to the workspace."""
        return "/".join(self._root)

    def call(self, command: object) -> ToolAnswer:
        """Run ``command``, a JSON object as a model wrote it. Never raises.

        What is refused is an answer with ``failed`` set. ``data`` has the command's name, and of a
        change the ids of its ``receipts``.
        """
        done: dict[str, Any] = {"command": None, "receipts": []}
        try:
            name, values = checked_command(command)
            done["command"] = name
            text = getattr(self, f"_{name}")(done["receipts"], **values)
        except RefusalError as error:
            reason = str(error)
        except CommonplaceError as error:
            reason = f"{error} ({error.hint})" if error.hint else str(error)
        except OSError as error:
            reason = f"The command failed: {error.strerror or type(error).__name__}"
        except Exception as error:  # noqa: BLE001 - an agent's turn must not end by our mistake
            reason = f"The command failed: {type(error).__name__}"
        else:
            return ToolAnswer(text=text, data=done)
        if done["receipts"]:
            reason += f" (what was done before stands: {', '.join(done['receipts'])})"
        return ToolAnswer(text=reason, data=done, failed=True)

    # --- the commands; each gets the list that it adds its receipts to

    def _view(self, _: list[str], *, path: str, view_range: tuple[int, ...] = ()) -> str:
        at, entry = self._locate(path)
        if entry.kind == "folder" or at == self._root:
            return listing(path, entry.size, self._listed(at))
        if entry.kind == "special":
            raise RefusalError(f"Unsupported file type for {path}")
        if entry.kind == "missing":
            raise _no_such(path)
        return file_view(path, _decoded(path, self._tree.read(at)), view_range)

    def _create(self, receipts: list[str], *, path: str, file_text: str) -> str:
        at, entry = self._locate(path)
        if entry.kind != "missing" or at == self._root:
            raise RefusalError(f"File {path} already exists")
        self._must_have_room(at, path)
        self._change(receipts, at, partial(_created, path, file_text), why=f"create {path}")
        return f"File created successfully at: {path}"

    def _str_replace(self, receipts: list[str], *, path: str, old_str: str, new_str: str) -> str:
        edit = partial(replaced, path, old=old_str, new=new_str)
        return self._edit(receipts, path, lambda text: edit(text=text))

    def _insert(self, receipts: list[str], *, path: str, insert_line: int, insert_text: str) -> str:
        return self._edit(
            receipts, path, lambda text: inserted(path, text, insert_line, insert_text)
        )

    def _delete(self, receipts: list[str], *, path: str) -> str:
        at, entry = self._locate(path)
        if at == self._root:
            raise RefusalError(f"Cannot delete the {ROOT} directory itself")
        if entry.kind not in ("file", "folder"):
            raise RefusalError(f"The path {path} does not exist")
        files, folders = self._below(at, entry, path)
        with self._together(receipts):
            for file in files:
                self._change(receipts, file, lambda _: None, why=f"delete {path}")
        self._remove(folders)
        return f"Successfully deleted {path}"

    def _rename(self, receipts: list[str], *, old_path: str, new_path: str) -> str:
        (old, entry), (new, target) = self._locate(old_path), self._locate(new_path)
        if old == self._root:
            raise RefusalError(f"Cannot rename the {ROOT} directory itself")
        if target.kind != "missing" or new == self._root:
            raise RefusalError(f"The destination {new_path} already exists")
        if entry.kind not in ("file", "folder"):
            raise RefusalError(f"The path {old_path} does not exist")
        if new[: len(old)] == old:
            raise RefusalError(f"The path {new_path} is inside of {old_path}")
        files, folders = self._below(old, entry, old_path)
        moved = [(file, (*new, *file[len(old) :])) for file in files]
        for _, target_file in moved:
            self._must_be_note(target_file)
        self._must_have_room(new, new_path)
        with self._together(receipts) as made:
            for folder in folders:
                made.extend(self._tree.make_folder((*new, *folder[len(old) :])))
            for file, target_file in moved:
                data = self._tree.read(file)
                why = f"rename {old_path} to {new_path}"
                self._change(receipts, target_file, partial(_copied, new_path, data), why=why)
                self._change(receipts, file, partial(_removed, old_path, data), why=why)
        self._remove(folders)
        return f"Successfully renamed {old_path} to {new_path}"

    # --- paths

    def _locate(self, path: str) -> tuple[Path, TreeEntry]:
        """The names of ``path`` from the workspace on, and what is there.

        Raises :class:`RefusalError` for what is not below ``/memories``, and for links.
        """
        if not path.startswith(ROOT):
            raise RefusalError(f"Path must start with {ROOT}, got: {path}")
        outside = RefusalError(f"Path {path} would escape {ROOT} directory")
        at = list(self._root)
        for name in path[len(ROOT) :].split("/"):
            if name == "..":
                if len(at) <= len(self._root):
                    raise outside
                at.pop()
            elif name not in ("", "."):
                at.append(name)
        entry = self._tree.entry(at)
        if entry.kind == "link":
            if self._tree.leads_out(at, self._root):
                raise outside
            raise RefusalError(f"Path {path} is a link, or behind one: {ROOT} follows no links")
        return tuple(at), entry

    def _must_be_note(self, at: Path) -> None:
        """Raise :class:`RefusalError` unless a file of this path would be a note."""
        if not at[-1].endswith(".md") or any(map(is_ignored, at[:-1])):
            raise RefusalError(
                f"{self._shown(at)} cannot be a note: its name must end in .md, and no folder "
                "above it may be hidden"
            )

    def _must_have_room(self, at: Path, path: str) -> None:
        """Raise :class:`RefusalError` if a file stands where a folder above ``at`` must be."""
        for depth in range(1, len(at)):
            if self._tree.entry(at[:depth]).kind not in ("folder", "missing"):
                raise RefusalError(f"{path} cannot be created: {at[depth - 1]} is no folder")

    def _shown(self, at: Path) -> str:
        return unfenced("/".join((ROOT, *at[len(self._root) :])))

    def _listed(
        self, at: Path, prefix: str = "", level: int = 1
    ) -> Iterator[tuple[str, TreeEntry]]:
        for entry in self._tree.entries(at):
            if entry.name.startswith(".") or entry.kind not in ("file", "folder"):
                continue
            yield prefix + entry.name, entry
            if entry.kind == "folder" and level < _LEVELS:
                yield from self._listed((*at, entry.name), f"{prefix}{entry.name}/", level + 1)

    def _below(self, at: Path, entry: TreeEntry, path: str) -> tuple[list[Path], list[Path]]:
        """The notes and folders at and below ``at``, a folder before what is in it.

        Raises :class:`RefusalError` if there is anything else.
        """
        files: list[Path] = []
        folders: list[Path] = []
        below = self._tree.walk(at) if entry.kind == "folder" else ()
        for found, inner in ((at, entry), *below):
            if inner.kind == "folder":
                folders.append(found)
            elif inner.kind == "file":
                self._must_be_note(found)
                files.append(found)
            else:
                raise RefusalError(f"{path} holds {self._shown(found)}, which is no note")
        return files, folders

    # --- changes

    @cached_property
    def _writer(self) -> FileWriter:
        return self._memory.writer(origin="agent" if self._direct else "session", who=self._who)

    def _edit(self, receipts: list[str], path: str, edit: Callable[[str], Edit]) -> str:
        at, entry = self._locate(path)
        if entry.kind == "missing" and at != self._root:
            raise _no_such(path)
        if entry.kind != "file":
            raise RefusalError(f"The path {path} is not a file.")
        answer = ""

        def changed(before: bytes | None) -> bytes:
            nonlocal answer
            if before is None:
                raise RefusalError(
                    f"The file {path} no longer exists (may have been deleted or renamed "
                    "concurrently)."
                )
            edited = edit(_decoded(path, before))
            answer = edited.answer
            return edited.text.encode()

        self._change(receipts, at, changed, why=f"edit {path}")
        return answer

    def _change(
        self,
        receipts: list[str],
        at: Path,
        edit: Callable[[bytes | None], bytes | None],
        *,
        why: str,
    ) -> None:
        self._must_be_note(at)
        receipt = self._writer.change("/".join(at), edit, why=f"memory tool: {why}")
        if receipt.id:  # else the file has that text already
            receipts.append(receipt.id)

    def _remove(self, folders: Sequence[Sequence[str]]) -> None:
        """Remove empty folders, the inner ones first."""
        for folder in reversed(folders):
            with suppress(OSError):  # another program has put something there meanwhile
                self._tree.remove_folder(folder)

    @contextmanager
    def _together(self, receipts: list[str]) -> Iterator[list[Sequence[str]]]:
        """Undo the changes made within, and remove the folders put in the list, if one fails."""
        folders: list[Sequence[str]] = []
        try:
            yield folders
        except BaseException:
            for receipt in receipts[::-1]:
                with suppress(CommonplaceError):  # someone may have changed the file meanwhile
                    self._writer.undo(receipt)
                    receipts.remove(receipt)
            self._remove(folders)
            raise


def _no_such(path: str) -> RefusalError:
    return RefusalError(f"The path {path} does not exist. Please provide a valid path.")


def _created(path: str, text: str, before: bytes | None) -> bytes:
    if before is not None:
        raise RefusalError(f"File {path} already exists")
    return text.encode()


def _copied(path: str, data: bytes, before: bytes | None) -> bytes:
    if before is not None:
        raise RefusalError(f"The destination {path} already exists")
    return data


def _removed(path: str, data: bytes, before: bytes | None) -> None:
    if before != data:
        raise RefusalError(f"{path} was changed meanwhile: it keeps its name")


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise RefusalError(f"The file {path} is no text in UTF-8") from None


def _root_of(workspace: str, session_key: str) -> Path:
    plain = find_roots(workspace).whole and holds_notes(workspace)
    root = _IN_PLAIN if plain else _ROOT
    if is_direct(session_key):
        return root
    name = re.sub("[^a-z0-9]+", "-", session_key.lower())[-40:].strip("-")
    return (*root, "chats", f"{name}-{sha256(session_key.encode()).hexdigest()[:8]}")
