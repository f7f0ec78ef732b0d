"""What files and environments say of addresses, headers and keys, each with where it stands.

An OpenClaw installation keeps variables in two places: `.env` in its folder, and the block `env` of
its file. Both are read where the process's own environment lacks a variable, and never written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from commonplace.config.reading import key_path
from commonplace.config.secret import OUT_OF_REACH, Opaque, Secret, variables
from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.config.reading import Layer


_LONGEST_FILE = 1_000_000  # characters
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ASSIGNMENT = re.compile(
    rf"""(?mx) ^ [ \t]* (?:export[ \t]+)? ({_NAME}) [ \t]* = [ \t]*
    ( '[^']*' | "(?:\\.|[^"\\])*" | `[^`]*` | [^#\r\n]* )"""
)


class Place:
    """Variables that stand together: an environment, a file, or a section of one.

    ``origin`` says in words that may be shown where a variable of it stands; the values are never
    shown.
    """

    __slots__ = ("_values", "_where")

    def __init__(
        self, values: Mapping[str, str], where: Callable[[str], str] | None = None
    ) -> None:
        self._values = values
        self._where = where

    @property
    def values(self) -> Mapping[str, str]:
        """The variables."""
        return self._values

    def origin(self, name: str) -> str:
        """``NAME``, or ``NAME in file:line``."""
        return f"{name} in {self._where(name)}" if self._where is not None else name

    def __repr__(self) -> str:
        return f"<{len(self._values)} variables, not shown>"


def dotenv(path: str) -> Place:
    """The variables of a `.env` file; none where there is no file.

    Raises :class:`~commonplace.errors.UnavailableError` for a file that cannot be read.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_LONGEST_FILE)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return Place({})
    except OSError as error:
        raise UnavailableError(
            f"{path} cannot be read: {error.strerror or type(error).__name__}",
            hint=f"make it readable for you, or put the keys it holds elsewhere: chmod u+r {path}",
        ) from error
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for match in _ASSIGNMENT.finditer(text):
        name, raw = match[1], match[2].strip()
        values[name] = _unquoted(raw)
        lines[name] = text.count("\n", 0, match.start(1)) + 1
    return Place(values, lambda name: f"{path}:{lines[name]}" if name in lines else path)


def _unquoted(raw: str) -> str:
    if len(raw) < 2 or raw[0] not in "'\"`" or raw[-1] != raw[0]:
        return raw
    inner = raw[1:-1]
    if raw[0] == '"':
        inner = inner.replace("\\n", "\n").replace("\\r", "\r").replace('\\"', '"')
    return inner


def env_block(layer: Layer) -> Place | None:
    """The variables of the section `env` of a document, if it has one.

    They stand in it or in its `vars`. One that refers to another variable is left out, as the
    original does.
    """
    block = layer.data.get("env") if isinstance(layer.data, Mapping) else None
    if not isinstance(block, Mapping):
        return None
    inner = block.get("vars")
    found: dict[str, str] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for at, held in ((("env", "vars"), inner), (("env",), block)):
        for name, value in held.items() if isinstance(held, Mapping) else ():
            if not isinstance(value, str) or not value.strip() or variables(value):
                continue
            if name not in {"vars", "shellEnv"} and re.fullmatch(_NAME, str(name)):
                found[name] = value.strip()
                keys[name] = (*at, name)
    return Place(found, lambda name: layer.place_of(keys.get(name, ("env",))))


def original_places(folders: Sequence[str], blocks: Sequence[Place]) -> Iterator[Place]:
    """The variables of an original installation, the file `.env` before the blocks.

    Raises :class:`~commonplace.errors.UnavailableError` for a file that cannot be read.
    """
    for folder in folders:
        yield dotenv(os.path.join(folder, ".env"))
    yield from blocks


class Environment(Mapping[str, str]):
    """``env``, and behind it an original installation's variables, read when one is missing.

    An unreadable file counts as empty here: a reference to a variable in it is reported as not set.
    """

    def __init__(
        self, env: Mapping[str, str], folders: Sequence[str], blocks: Sequence[Place]
    ) -> None:
        self._env = env
        self._folders = folders
        self._blocks = blocks
        self._others: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        if self._env.get(name):
            return self._env[name]
        others = self._behind()
        return others[name] if name in others else self._env[name]

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._env, *self._behind()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "<environment, not shown>"

    def _behind(self) -> dict[str, str]:
        if self._others is None:
            self._others = {}
            for folder in self._folders:
                with suppress(UnavailableError):
                    self._add(dotenv(os.path.join(folder, ".env")))
            for block in self._blocks:
                self._add(block)
        return self._others

    def _add(self, place: Place) -> None:
        assert self._others is not None
        for name, value in place.values.items():
            if value:
                self._others.setdefault(name, value)


_FORMS: Mapping[str, tuple[Any, str]] = {
    "baseUrl": (str, "must be an address, a string"),
    "apiKey": (str | Mapping, "must be a string, or an object of source and id"),
    "headers": (Mapping, "must be an object of names and values"),
}
"""Of what type the keys of a provider are, and what is said of other types."""


class ProviderSection(Opaque):
    """``models.providers.<id>`` of one document: of all it holds, address, headers and key.

    It is a shared section, so it is checked when it is used. The methods raise
    :class:`~commonplace.errors.UnavailableError` for what cannot be used, and for a reference to a
    variable that is not set.
    """

    __slots__ = ("_keys", "_layer", "id")

    def __init__(self, id_: str, data: Mapping[str, object], layer: Layer) -> None:
        super().__init__(data)
        self.id = id_
        self._layer = layer
        self._keys = ("models", "providers", id_)

    @property
    def connects(self) -> bool:
        """Whether it says anything of how the provider is reached."""
        return any(self._data.get(key) for key in ("apiKey", "baseUrl", "headers"))

    def doubts(self) -> Iterator[tuple[str, str]]:
        """What could not be used, by key, in words that show no value."""
        for key in ("baseUrl", "apiKey", "headers"):
            raw = self._data.get(key)
            if raw and not isinstance(raw, _FORMS[key][0]):
                yield key, _FORMS[key][1]
            elif key == "apiKey" and isinstance(raw, Mapping) and Secret(raw).is_out_of_reach:
                yield key, OUT_OF_REACH

    def base_url(self, env: Mapping[str, str]) -> str:
        """The address, or ``""``."""
        raw = self._data.get("baseUrl") or ""
        if not isinstance(raw, str):
            raise self._wrong("baseUrl", _FORMS["baseUrl"][1])
        return Secret(raw).reveal(env).strip()

    def api_key(self) -> Secret | None:
        """The key."""
        raw = self._data.get("apiKey")
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            return None
        if not isinstance(raw, str | Mapping):
            raise self._wrong("apiKey", _FORMS["apiKey"][1])
        return Secret(raw.strip() if isinstance(raw, str) else raw, partial(self.place, "apiKey"))

    def headers(self, env: Mapping[str, str]) -> dict[str, str]:
        """The headers."""
        raw = self._data.get("headers") or {}
        if not isinstance(raw, Mapping):
            raise self._wrong("headers", _FORMS["headers"][1])
        found: dict[str, str] = {}
        for name, value in raw.items():
            if not isinstance(value, str | Mapping):
                raise self._wrong(f"headers.{name}", "must be a string")
            found[str(name)] = Secret(value).reveal(env)
        return found

    def place(self, key: str) -> str:
        """``models.providers.<id>.<key> in file:line``."""
        keys = (*self._keys, *key.split("."))
        return f"{key_path(keys)} in {self._layer.place_of(keys)}"

    def _wrong(self, key: str, words: str) -> UnavailableError:
        return UnavailableError(f"{self.place(key)}: {words}", hint="correct it, or remove it")
