"""What is added to the text of a harness's file, and how it is removed again.

An edit works on text alone. What :meth:`Edit.add` adds to a text that has nothing of ours,
:meth:`Edit.remove` takes away again, to the same text; of an empty object the layout may differ.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from commonplace.plugin import (
    CallerError,
    NotAnObjectError,
    UnreadableError,
    parse_json5,
    with_item,
    with_value,
    without,
    without_item,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class EditError(CallerError):
    """A file cannot be edited as it is; the hint says what to do by hand."""


Ours = tuple[str, "Sequence[object]"]
"""A server by its name, or a hook by its event, and its options: which memory it is."""


class Edit(Protocol):
    """One change of one file."""

    def add(self, text: str) -> str:
        """``text`` with what is ours in its newest form. Raises :class:`EditError`."""
        ...

    def remove(self, text: str) -> str:
        """``text`` without what is ours. Raises :class:`EditError`."""
        ...

    def ours(self, text: str) -> list[Ours]:
        """All servers or hooks of ours in ``text``, of any name. Raises :class:`EditError`."""
        ...


def _arguments(words: Sequence[object]) -> Sequence[object]:
    """What a command line hands to ``commonplace``; nothing if it runs another program."""
    names = [os.path.basename(word) if isinstance(word, str) else "" for word in words[:3]]
    if names and os.path.splitext(names[0])[0] == "commonplace":
        return words[1:]
    python = names and names[0].startswith("py") and words[1:3] == ["-m", "commonplace"]
    return words[3:] if python else ()


def _options(entry: object) -> Sequence[object] | None:
    """What an entry for a server, with its arguments apart or not, hands to ours; else None."""
    if not isinstance(entry, Mapping):
        return None
    command, args = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command]
    arguments = _arguments([*words, *(args if isinstance(args, list) else ())])
    return arguments[arguments.index("mcp") + 1 :] if "mcp" in arguments else None


def _servers(entries: object) -> list[Ours]:
    """Those of ``entries`` that start our server."""
    named = entries.items() if isinstance(entries, Mapping) else ()
    found = [(name, _options(entry)) for name, entry in named]
    return [(name, options) for name, options in found if options is not None]


def _foreign(where: str) -> EditError:
    return EditError(
        f"{where} is another server, and is left alone",
        hint="choose another name with --name, or remove that server",
    )


class JsonServer(NamedTuple):
    """An MCP server as the value at ``keys``; ``command`` and ``args`` may be one list.

    ``strict``: the file is read by a parser of plain JSON.
    """

    keys: tuple[str, ...]
    value: Mapping[str, Any]
    strict: bool = True

    def add(self, text: str) -> str:
        """Add the server, or change those of its fields that are ours and differ."""
        there = _at(_parsed(text), self.keys)
        if there is None:
            return self._with(text, self.keys, self.value)
        self._check_ours(there)
        for field, value in self.value.items():
            if there.get(field) != value:
                text = self._with(text, (*self.keys, field), value)
        return text

    def remove(self, text: str) -> str:
        """Remove the server, with whatever fields it was given by hand."""
        there = _at(_parsed(text), self.keys)
        if there is None:
            return text
        self._check_ours(there)
        text = without(text, self.keys)
        if _at(_parsed(text), self.keys) is not None:
            raise EditError(
                "the server cannot be removed", hint=f"remove it: {'.'.join(self.keys)}"
            )
        return text

    def ours(self, text: str) -> list[Ours]:
        """The servers of ours beside this one, and this one."""
        return _servers(_at(_parsed(text), self.keys[:-1]))

    def _with(self, text: str, keys: tuple[str, ...], value: object) -> str:
        written = json.dumps(value, ensure_ascii=False)
        try:
            new = with_value(text, keys, written, strict=self.strict)
        except NotAnObjectError as error:
            raise EditError(
                f"{'.'.join(map(str, error.keys)) or 'the file'} is not an object",
                hint=f"correct it with an editor, or add {'.'.join(keys)}: {written}",
            ) from None
        if _at(_parsed(new), keys) != value:
            raise EditError(
                "the server cannot be added without touching what is around it",
                hint=f"add {'.'.join(keys)}: {written}",
            )
        return new

    def _check_ours(self, there: object) -> None:
        if _options(there) is None:
            raise _foreign(".".join(self.keys))


class JsonHooks(NamedTuple):
    """Hooks, an item in the list of each event below the key ``hooks``.

    ``items`` are these items by event. One may hold several hooks, in its own list ``hooks``, or be
    a hook itself. ``known`` are the keys that the root may have: the harness refuses a file with
    others; empty if it does not.
    """

    items: Mapping[str, Mapping[str, Any]]
    known: tuple[str, ...] = ()

    def add(self, text: str) -> str:
        """Add the hooks that are not there, and change those of ours that differ."""
        data = _parsed(text)
        unknown = [key for key in data if self.known and key not in self.known]
        if unknown:
            raise EditError(
                f"the key {unknown[0]!r} is not known to the program that reads this file: it "
                "ignores the whole file, with all hooks",
                hint=f"remove that key; known are: {', '.join(self.known)}",
            )
        for event, item in self.items.items():
            found = self._found(_parsed(text), event)
            # One of ours stays, in its place; further ones, and those of retired events, go.
            for place in reversed(found[1:]):
                text = _without_hook(text, place)
            written = json.dumps(item, ensure_ascii=False)
            if not found:
                text = _with_item(text, ("hooks", event), written)
            elif _at(_parsed(text), found[0]) != _hooks_of(item)[0]:
                text = with_value(
                    text, found[0], json.dumps(_hooks_of(item)[0], ensure_ascii=False), strict=True
                )
        return self._without(text, keep=tuple(self.items))

    def remove(self, text: str) -> str:
        """Remove the hooks of all events; others in the same lists stay."""
        return self._without(text, keep=())

    def ours(self, text: str) -> list[Ours]:
        """The hooks of ours; the three words before their options say what they do."""
        data = _parsed(text)
        return [
            (event, _arguments(shlex.split(_at(data, place)["command"]))[3:])
            for event in data.get("hooks") or ()
            for place in self._found(data, event)
        ]

    def _without(self, text: str, *, keep: tuple[str, ...]) -> str:
        hooks = _parsed(text).get("hooks")
        for event in reversed(list(hooks)) if isinstance(hooks, Mapping) else ():
            if event not in keep:
                for place in reversed(self._found(_parsed(text), event)):
                    text = _without_hook(text, place)
        return text

    def _found(self, data: Any, event: str) -> list[tuple[str | int, ...]]:
        """The keys of each hook of ours."""
        items = _at(data, ("hooks", event))
        places: list[tuple[str | int, ...]] = []
        for index, item in enumerate(items if isinstance(items, list) else ()):
            grouped = isinstance(item, Mapping) and isinstance(item.get("hooks"), list)
            for inner, hook in enumerate(_hooks_of(item)):
                if isinstance(hook, Mapping) and _runs_hook(hook.get("command")):
                    start = ("hooks", event, index)
                    places.append((*start, "hooks", inner) if grouped else start)
        return places


def _hooks_of(item: Any) -> list[Any]:
    """The hooks of an item: those in its list, or itself."""
    inner = item.get("hooks") if isinstance(item, Mapping) else None
    return inner if isinstance(inner, list) else [item]


def _runs_hook(command: object) -> bool:
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    arguments = _arguments(words)
    return arguments[:1] == ["hook"] or arguments[:3] == ["sessions", "archive", "--hook"]


def _with_item(text: str, keys: tuple[str, ...], written: str) -> str:
    try:
        return with_item(text, keys, written, strict=True)
    except NotAnObjectError as error:
        raise EditError(
            f"{'.'.join(map(str, error.keys)) or 'the file'} has another form than is known",
            hint=f"correct it with an editor, or add to {'.'.join(keys)}: {written}",
        ) from None


def _without_hook(text: str, place: tuple[str | int, ...]) -> str:
    """``text`` without the hook, or without the item that holds it alone."""
    *keys, index = place
    if keys[-1] == "hooks" and len(_at(_parsed(text), keys)) == 1:
        *keys, index, _ = place[:-1]
    assert isinstance(index, int)
    return without_item(text, keys, index)


def _parsed(text: str) -> Any:
    try:
        data = parse_json5(text)
    except UnreadableError as error:
        line = f"line {error.line}: " if error.line else ""
        raise EditError(f"{line}{error}", hint="correct it with an editor") from None
    if not isinstance(data, Mapping):
        raise EditError("the file is not an object", hint="correct it with an editor")
    return data


def _at(data: Any, keys: Sequence[str | int]) -> Any:
    """What ``keys`` lead to; None if that is nothing."""
    for key in keys:
        if isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        elif isinstance(data, Mapping):
            data = data.get(key)
        else:
            return None
    return data


class TomlServer(NamedTuple):
    """An MCP server as a table below ``table``, at the end of a TOML file.

    No library is used for writing: those there are do not give back the same bytes.
    """

    table: str
    name: str
    value: Mapping[str, Any]

    def add(self, text: str) -> str:
        """Append the table, or change those of its lines that are ours and differ."""
        there = _at(_toml(text), (self.table, self.name))
        if there is None:
            return self._appended(text)
        self._check_ours(there)
        if self._says(text):
            return text
        for start, end in self._blocks(text):
            block = text[start:end]
            for field, value in self.value.items():
                old = re.search(rf"^[ \t]*{field}[ \t]*=[^\r\n]*", block, re.MULTILINE)
                if there.get(field) != value and old is not None:
                    line = f"{field} = {_toml_value(value)}"
                    block = block[: old.start()] + line + block[old.end() :]
            new = text[:start] + block + text[end:]
            if self._says(new):
                return new
        raise self._by_hand("the server is written in another way than is known", text)

    def remove(self, text: str) -> str:
        """Remove the table and those below it."""
        data = _toml(text)
        there = _at(data, (self.table, self.name))
        if there is None:
            return text
        self._check_ours(there)
        servers = {key: value for key, value in data[self.table].items() if key != self.name}
        rest = {key: value for key, value in data.items() if key != self.table}
        for start, end in self._blocks(text):
            # The line end that was added before the table; the last line may have had none.
            before = re.sub(r"\r?\n\Z", "", text[:start])
            if text[end:] and not before.endswith("\n"):
                before = text[:start]
            new = before + text[end:]
            with contextlib.suppress(EditError):
                if _toml(new) in (rest | {self.table: servers}, *([rest] if not servers else ())):
                    return new
        raise EditError(
            "the server is written in another way than is known",
            hint=f"remove {self.table}.{self.name} with an editor",
        )

    def ours(self, text: str) -> list[Ours]:
        """The servers of ours beside this one, and this one."""
        return _servers(_toml(text).get(self.table))

    def _appended(self, text: str) -> str:
        newline, head = _newline(text), f"[{self.table}.{_toml_key(self.name)}]"
        lines = [f"{field} = {_toml_value(value)}" for field, value in self.value.items()]
        new = text + (newline if text else "") + newline.join([head, *lines]) + newline
        if not self._says(new):  # an inline table, for one, cannot be added to
            raise self._by_hand("the table cannot be added to what is there", text)
        return new

    def _says(self, text: str) -> bool:
        try:
            there = _at(_toml(text), (self.table, self.name))
        except EditError:
            return False
        return there is not None and all(there.get(key) == one for key, one in self.value.items())

    def _by_hand(self, message: str, text: str) -> EditError:
        fields = ", ".join(f"{field} = {_toml_value(part)}" for field, part in self.value.items())
        entry, where = f"{_toml_key(self.name)} = {{ {fields} }}", f"below [{self.table}]"
        form = re.search(rf"^[ \t]*(\[?)[ \t]*{self.table}[ \t]*[]=]", text, re.MULTILINE)
        if form is None:
            entry = f"{self.table}.{entry}"
            where = "at the top of the file, in place of the old one"
        elif not form[1]:
            where = f"inside the braces of {self.table}"
        return EditError(message, hint=f"write with an editor {where}: {entry}")

    def _blocks(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the table may begin and end, with those below it; the last first.

        A header may also stand in a text of several lines: the caller looks at what comes out.
        """
        name = rf"(?:{re.escape(self.name)}|\"{re.escape(self.name)}\"|'{re.escape(self.name)}')"
        path = rf"[ \t]*{self.table}[ \t]*\.[ \t]*{name}[ \t]*"
        for match in reversed([*re.finditer(rf"^[ \t]*\[{path}\]", text, re.MULTILINE)]):
            headers = re.compile(r"^[ \t]*\[", re.MULTILINE).finditer(text, match.end())
            ours = re.compile(rf"[ \t]*\[\[?{path}[\].]")
            others = (one.start() for one in headers if ours.match(text, one.start()) is None)
            end = next(others, len(text))
            last = match.end()
            lines = re.compile(r"^[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
            for line in lines.finditer(text, match.start(), end):
                # Blank lines and comments before the next table belong to that.
                if line[0].strip() and not line[0].lstrip().startswith("#"):
                    last = line.end()
            yield match.start(), last

    def _check_ours(self, there: object) -> None:
        if _options(there) is None:
            raise _foreign(f"{self.table}.{self.name}")


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise EditError(f"is not valid TOML: {error}", hint="correct it with an editor") from None


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_value(name)


def _toml_value(value: object) -> str:
    """A text or a list of texts: JSON's form is TOML's, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
