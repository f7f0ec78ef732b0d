"""Reading a configuration file into settings: every value, and every problem with its line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

from commonplace.config.defaults import ORIGINAL_NAMES
from commonplace.config.secret import Secret
from commonplace.config.shape import Graft, Leaf
from commonplace.config.values import (
    Reading,
    a_list,
    convert,
    each,
    extra_paths,
    kind_of,
    web_address,
)
from commonplace.errors import ConfigError, suggest
from commonplace.model.plugins import ConfigProblem, WrongValueError, is_id
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace.config.json5 import Position
    from commonplace.config.shape import Branch, Shape


_MOST_PROBLEMS = 20
_SIZE = r"(?ai)\s*(\d+(?:\.\d+)?)\s*(b|[kmgt]i?b?)?\s*"
_POWER = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def byte_size(raw: object, reading: Reading) -> int:
    """A number of bytes, or a text such as ``2mb`` or ``1.5 GiB``, in powers of 1024."""
    wanted = 'must be a number of bytes of at least 0, or a text such as "2mb"'
    if isinstance(raw, str):
        match = re.fullmatch(_SIZE, reading.text(raw))
        if match is None:
            raise WrongValueError(wanted)
        size = float(match[1]) * 1024 ** _POWER[(match[2] or "b")[0].lower()] // 1
    else:
        size = reading.number(raw, wanted)
    if not isfinite(size) or size < 0 or size != int(size):
        raise WrongValueError(wanted)
    return int(size)


def plugin_id(raw: object, reading: Reading) -> str:
    """An id that a plugin can have."""
    text = reading.text(raw).strip()
    if not is_id(text):
        raise WrongValueError("must be an id: lower-case letters and digits joined by - or _")
    return text


def link_template(raw: object, reading: Reading) -> str:
    """``auto``, ``off``, or a URL with ``{path}``; all of it printable ASCII."""
    text = reading.text(raw).strip()
    scheme, colon, rest = text.partition(":")
    is_url = bool(colon) and scheme.replace("-", "").replace("+", "").isalnum() and "{path}" in rest
    if text not in {"auto", "off"} and not (is_url and text.isascii() and text.isprintable()):
        raise WrongValueError('must be "auto", "off", or a URL with {path} in it')
    return text


def backend_chain(raw: object, reading: Reading) -> tuple[str, ...]:
    """One id, or a list that is the whole chain.

    A single id is followed by ``""``, for the backend that its plugin declares as its standby.
    """
    if isinstance(raw, str):
        return plugin_id(raw, reading), ""
    if not isinstance(raw, list | tuple):
        raise WrongValueError(f"must be an id or a list of ids, not {kind_of(raw)}")
    if not raw:
        raise WrongValueError("must name at least one backend")
    chain: list[str] = []

    def add(_: int, item: object) -> None:
        id_ = plugin_id(item, reading)
        if id_ in chain:
            raise WrongValueError("is in the chain already")
        chain.append(id_)

    each(raw, add)
    return tuple(chain)


def source_ids(raw: object, reading: Reading) -> tuple[str, ...]:
    """Ids of sources, each once; which there are is known where their plugins are."""

    def read(_: int | str, item: object) -> str:
        if text := reading.text(item).strip():
            return text
        raise WrongValueError("must not be empty")

    return tuple(dict.fromkeys(each(a_list(raw), read).values()))


def time_zone(raw: object, reading: Reading) -> str:
    """The name of a time zone that this machine knows; any name where it knows none."""
    text = reading.text(raw).strip()
    if text:
        from commonplace.text.dates import are_there_zones, zone_of

        try:
            zone_of(text)
        except ConfigError as error:
            if are_there_zones():
                raise WrongValueError(f"{error}; {error.hint}") from None
            reading.doubts.append(error.hint)
    return text


def patterns(raw: object, reading: Reading) -> tuple[str, ...]:
    """Regular expressions."""
    return tuple(each(a_list(raw), lambda _, item: _pattern(item, reading)).values())


def _pattern(raw: object, reading: Reading) -> str:
    text = reading.text(raw)
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise WrongValueError(f"is no regular expression: {error}") from None
    return text


READERS: Mapping[str, Callable[[object, Reading], object]] = {
    "backend_chain": backend_chain,
    "link_template": link_template,
    "web_address": web_address,
    "byte_size": byte_size,
    "extra_paths": extra_paths,
    "patterns": patterns,
    "source_ids": source_ids,
    "time_zone": time_zone,
}
"""The readers of core's own settings, by the name they are referred to."""


Keys = tuple[str | int, ...]

_NOT_TUNABLE = "a workspace's own file may only tune retrieval; set it in your own"


class Layer:
    """One document of the configuration.

    ``role`` is ``argument``, ``named``, ``workspace``, ``user`` or ``original``. ``file`` names it
    in messages; ``text`` is what it was parsed from, ``""`` for a mapping. ``base`` is the folder
    that its relative paths start from.
    """

    def __init__(self, role: str, file: str, data: Any, *, text: str = "", base: str = "") -> None:
        self.role = role
        self.file = file
        self.data = data
        self.text = text
        self.base = base

    @property
    def is_ours(self) -> bool:
        """Whether it is written for commonplace alone: other programs have no keys in it."""
        return self.role != "original" and os.path.basename(self.file) not in ORIGINAL_NAMES

    @cached_property
    def positions(self) -> Position | None:
        """Where everything in the text is; ``None`` for a mapping. The text is scanned once."""
        from commonplace.config.json5 import MalformedError, locate

        # What only the parser of values took has no lines: a message without one is better than
        # none.
        with suppress(MalformedError):
            return locate(self.text) if self.text else None
        return None

    def line_of(self, keys: Keys) -> int:
        """The 1-based line of what ``keys`` lead to; 0 where it is not known."""
        return 0 if self.positions is None else self.positions.line_of(keys)

    def place_of(self, keys: Keys) -> str:
        """The file, with the line of what ``keys`` lead to where that is known."""
        line = self.line_of(keys)
        return f"{self.file}:{line}" if line else self.file


class Found(NamedTuple):
    """A value, and where it was found."""

    value: Any
    layer: Layer
    keys: Keys


def key_path(keys: Sequence[str | int]) -> str:
    """Keys as a person writes them: ``agents.list[0].id``."""
    path = ""
    for key in keys:
        if isinstance(key, int):
            path += f"[{key}]"
        elif key.replace("-", "_").replace("$", "_").isidentifier():
            path += f".{key}" if path else key
        else:
            path += f"[{key!r}]"
    return path


def joined(shape: Shape, base: dict[str, Found], over: dict[str, Found]) -> dict[str, Found]:
    """``base`` overridden by ``over``; lists that add up are joined, ``base`` first."""
    merged = {**base, **over}
    for key in base.keys() & over.keys():
        if key in shape.leaves and shape.leaves[key].setting.adds:
            first, then = base[key].value, over[key]
            both = (*first, *(value for value in then.value if value not in first))
            merged[key] = Found(both, then.layer, then.keys)
    return merged


class TooManyProblemsError(Exception):
    """A workspace's own file has so many that the rest of it is not read."""


class Reader:
    """Reads sections of one layer; ``problems`` and ``warnings`` grow while it does.

    A workspace's own file is read no further than its 20th problem, which raises
    :class:`TooManyProblemsError`.
    """

    def __init__(self, layer: Layer, env: Mapping[str, str], confined: str = "") -> None:
        self.layer = layer
        self.tunable_only = bool(confined)
        self.values = Reading(
            env=env,
            base=layer.base,
            programmatic=layer.role == "argument",
            confined=confined,
            named=READERS,
        )
        self.warnings: list[str] = []
        self.slips: list[str] = []
        self._problems: list[tuple[Keys, str]] = []

    def problem(self, keys: Keys, message: str) -> None:
        """Note that something is wrong at ``keys``."""
        self._problems.append((keys, message))
        if self.tunable_only and len(self._problems) >= _MOST_PROBLEMS:
            raise TooManyProblemsError

    def warn(self, keys: Keys, message: str) -> None:
        """Note that something has no effect, or is probably a slip."""
        self.warnings.append(f"{self.layer.file}: {key_path(keys)}: {message}")

    def slip(self, keys: Keys, message: str) -> None:
        """Warn of the name of a section that is probably misspelt: all of it has no effect."""
        self.warn(keys, message)
        self.slips.append(self.warnings[-1])

    @property
    def has_problems(self) -> bool:
        """Whether anything is wrong so far."""
        return bool(self._problems)

    def problems(self) -> list[ConfigProblem]:
        """All that was wrong, in the order of the file."""
        layer = self.layer
        found = [
            ConfigProblem(layer.file, layer.line_of(keys), key_path(keys), message)
            for keys, message in self._problems
        ]
        return sorted(found, key=lambda problem: problem.line)

    def mapping(self, parent: Any, key: str | int, keys: Keys) -> Mapping[str, Any]:
        """The object that ``parent`` has at ``key``; empty, and a problem, if it is something else.

        ``keys`` lead to ``parent``.
        """
        raw = parent.get(key, {}) if isinstance(parent, Mapping) else parent[key]
        if isinstance(raw, Mapping):
            self.check_include(raw, (*keys, key))
            return raw
        self.problem((*keys, key), f"must be an object, not {kind_of(raw)}")
        return {}

    def check_include(self, data: Mapping[str, Any], keys: Keys) -> None:
        """Say so where the original would take in another file: we do not."""
        if "$include" in data:
            self.warn((*keys, "$include"), "is not followed: what it includes has no effect")

    def value(self, leaf: Leaf, raw: object, keys: Keys) -> Found | None:
        """One setting; ``None``, and problems, if it is wrong."""
        if self.tunable_only and not leaf.setting.tunable:
            self.problem(keys, _NOT_TUNABLE)
            return None
        try:
            value = convert(leaf.type, raw, leaf.setting, self.values)
        except WrongValueError as wrong:
            for message, below in wrong.problems:
                self.problem((*keys, *below), message)
            return None
        finally:
            for doubt in self.values.doubts:
                self.warn(keys, doubt)
            self.values.doubts.clear()
        if isinstance(value, Secret):
            value = value.at(lambda: f"{key_path(keys)} in {self.layer.place_of(keys)}")
        return Found(value, self.layer, keys)

    def section(
        self, shape: Shape, data: Mapping[str, Any], keys: Keys, *, shared: bool = False
    ) -> dict[str, Found]:
        """The settings of ``shape`` in ``data``, by dotted key.

        In a ``shared`` object, keys that are not ours belong to other programs.
        """
        if shared:
            ours = shape.root.below.keys() | shape.unsupported.keys()
            data = {key: raw for key, raw in data.items() if key in ours}
        return self._walk(shape, shape.root, data, keys)

    def _walk(
        self, shape: Shape, branch: Branch, data: Mapping[str, Any], keys: Keys
    ) -> dict[str, Found]:
        found: dict[str, Found] = {}
        for name, raw in data.items():
            key = str(name)
            at = (*keys, key)
            node = branch.below.get(key)
            if isinstance(node, Graft):
                if (declared := shape.grafted(node)) is None:
                    found.update(self._unread(node, raw, at))
                    continue
                node = declared
            if isinstance(node, Leaf):
                if (value := self.value(node, raw, at)) is not None:
                    found[node.key] = value
            elif node is not None:
                inner = self.mapping(data, key, keys)
                found.update(self._walk(shape, node, inner, at))
            elif reason := shape.unsupported.get(branch.prefix + key):
                self.warn(at, f"has no effect: {reason}")
            elif key != "$include":
                self.problem(at, "is not a key here" + _hint(key, branch, shape))
        return found

    def _unread(self, graft: Graft, raw: Any, keys: Keys) -> dict[str, Found]:
        """What a plugin would read that is not there: kept, and not checked."""
        if self.tunable_only:
            self.problem(keys, _NOT_TUNABLE)
            return {}
        return {graft.position: Found(raw, self.layer, keys)}


def _hint(key: str, branch: Branch, shape: Shape) -> str:
    """Where the key belongs, or the one that was probably meant."""
    shape.complete()
    elsewhere = [known for known in shape.leaves if known.rpartition(".")[2] == key]
    if elsewhere:
        return f"; did you mean {elsewhere[0]!r}?"
    return hint(key, branch.below, branch.prefix)


def hint(key: str, known: Iterable[str], prefix: str = "") -> str:
    """The one of ``known`` that ``key`` was probably meant to be, or all of them."""
    by_lower = {name.lower(): name for name in known}
    if close := suggest(key.lower(), by_lower, 0.7):
        return f"; did you mean {prefix + by_lower[close]!r}?"
    return f"; the keys here are {', '.join(by_lower.values())}"
