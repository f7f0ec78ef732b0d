"""Setting and unsetting one key of a configuration file: which key is meant, and what it may be.

Nothing is written that the reader of the configuration would refuse.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.config import paths
from commonplace.config.document import Shapes, agent_id, read_document, read_sections
from commonplace.config.json5 import UnreadableError, is_blank, parse_json5, read_text
from commonplace.config.reading import Layer, Reader, TooManyProblemsError, key_path
from commonplace.config.reports import CHOICES, FLUSH, SEARCH, TELLTALE
from commonplace.config.search import PROVIDERS
from commonplace.config.secret import variables
from commonplace.config.splice import NotAnObjectError, with_value, without
from commonplace.errors import CallerError, ConfigError, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.config.reading import Keys
    from commonplace.model.plugins import ConfigProblem


_MISSING = object()

_HEADER = """\
// The configuration of commonplace. All settings: `commonplace config show`.
// Written by `commonplace config set`; comments and layout are yours to change.
"""

_ROOTS = ("agents", "memory", "models", "plugins", "session", "env")

_RESOLVED = {
    "agent": "COMMONPLACE_AGENT",
    "stateDir": "COMMONPLACE_STATE_DIR",
    "cacheDir": "COMMONPLACE_CACHE_DIR",
    "indexPath": "store.path",
    "configFiles": "COMMONPLACE_CONFIG",
}
"""What ``config show`` lists and no key of a file sets, and what sets it."""


class ConfigChange(NamedTuple):
    """A change that was, or would be, made to a file.

    ``before`` and ``after`` are values in JSON's types, ``None`` for none; ``changed`` is False if
    the file has the value already, or has none to unset. ``secret``: neither may be shown.
    ``notes`` are lines for the user. ``agent`` is the one that it is a setting of, ``""`` for all.
    """

    file: str
    key: str
    before: Any
    after: Any
    changed: bool
    secret: bool
    notes: tuple[str, ...]
    agent: str = ""


class ConfigFile:
    """One file that may be changed; ``role`` is ``workspace`` for a workspace's own.

    ``absence`` returns why no plugin registers an id of a kind, or ``""``. ``named_by`` is the
    option or the variable by which this file is read, if any. Raises
    :class:`~commonplace.errors.CallerError` for the original's own files, and
    :class:`~commonplace.errors.ConfigError` for one that cannot be read.
    """

    def __init__(
        self,
        path: str,
        *,
        env: Mapping[str, str],
        classes: Callable[[str], type | None],
        absence: Callable[[str, str], str],
        named_by: str = "",
    ) -> None:
        self.path = paths.absolute(path, env)
        self._env = env
        self._classes = classes
        self._absence = absence
        self._real = os.path.realpath(self.path)
        if paths.is_never_written(self.path, env):
            own = f"leave out --file: what {paths.user_file(env)} says counts more"
            raise CallerError(
                f"{self.path} belongs to another program, and is never written",
                hint=paths.beside_the_originals(path, named_by, env) if named_by else own,
            )
        name = os.path.basename(self._real)
        self._workspace = os.path.dirname(self.path) if name == paths.WORKSPACE_FILE else ""
        self._read()

    def set(self, key: str, value: str, *, agent: str = "") -> ConfigChange:
        """Set ``key`` to ``value``: JSON, or plain text; for ``agent`` alone if one is named.

        Raises :class:`~commonplace.errors.ConfigError` if there is no such key, the value does not
        fit it or the file was changed meanwhile, and ``OSError`` if it cannot be written.
        """
        keys = self._keys(key, agent)
        before = _at(self._data, keys)
        problems: list[str] = []
        for candidate in _candidates(_whole_path(keys, value, self._env)):
            text = self._spliced(keys, json.dumps(candidate, ensure_ascii=False))
            if found := self._new_problems(text, keys, candidate):
                problems = problems or found
                continue
            secret = isinstance(candidate, str) and _is_secret(keys)
            notes = [*self._warnings(text, keys, candidate)]
            changed = before is _MISSING or json.dumps(before) != json.dumps(candidate)
            agent = self._agent_of(keys)
            if changed:
                self._write(text)
            if secret and not variables(candidate):
                command = f"commonplace config set {key} '${{NAME}}'"
                secrecy = "now has this secret as plain text; a reference keeps it out"
                notes.append(f"{self.path} {secrecy}: {command}")
            was, key = (None if before is _MISSING else before), key_path(keys)
            return ConfigChange(
                self.path, key, was, candidate, changed, secret, tuple(notes), agent
            )
        hint = "commonplace config show lists every setting with its value"
        if any("must be a list" in words for words in problems):
            # What begins as a list and is none lacks its end, say.
            items = re.findall(r"[^\s,\"'\[\]]+", value) if value.startswith("[") else [value]
            hint = f"a list is written '{json.dumps(items, ensure_ascii=False)}'"
        raise ConfigError(f"{key_path(keys)}: {'; '.join(problems)}", hint=hint)

    def unset(self, key: str, *, agent: str = "") -> ConfigChange:
        """Take ``key`` out of the file.

        Raises :class:`~commonplace.errors.ConfigError` if there is no such key or the file was
        changed meanwhile, and ``OSError`` if it cannot be written.
        """
        keys = self._keys(key, agent)
        before = _at(self._data, keys)
        if before is _MISSING:
            # A key that was mistyped must not look as if it had been unset.
            self._check_known(keys)
            return ConfigChange(self.path, key_path(keys), None, None, False, False, ())
        text = without(self._text, keys)
        if _at(self._parsed(text), keys) is not _MISSING:
            raise self._by_hand(keys)
        secret, agent = _is_secret(keys), self._agent_of(keys)
        self._write(text)
        return ConfigChange(self.path, key_path(keys), before, None, True, secret, (), agent)

    def _read(self) -> None:
        self._bom, self._text = False, ""
        self.exists = os.path.lexists(self.path)
        with self._readable():
            if self.exists:
                self._text = read_text(self._real, strange=bool(self._workspace))
                with open(self._real, "rb") as file:
                    self._bom = file.read(3) == b"\xef\xbb\xbf"
            self._data = parse_json5(self._text)

    def _parsed(self, text: str) -> Any:
        with self._readable():
            return parse_json5(text)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            place = f"{self.path}:{error.line}" if error.line else self.path
            hint = "correct the file with an editor; it is unchanged"
            raise ConfigError(f"{place}: {error}", hint=hint) from None

    def _spliced(self, keys: Keys, value: str) -> str:
        strict = self.path.endswith(".json")
        text = self._text if self.exists or strict else _HEADER
        try:
            new = with_value(text, keys, value, strict=strict)
        except NotAnObjectError as error:
            where = key_path(error.keys) or "the file"
            raise ConfigError(
                f"{self.path}: {where} is no object that {key_path(keys)} could stand in",
                hint="correct it with an editor, or unset it first",
            ) from None
        if _at(self._parsed(new), keys) != json.loads(value):
            raise self._by_hand(keys)
        return new

    def _by_hand(self, keys: Keys) -> ConfigError:
        return ConfigError(
            f"{self.path}: {key_path(keys)} cannot be changed without touching what is around it",
            hint="change it with an editor; the file is unchanged",
        )

    def _write(self, text: str) -> None:
        from commonplace.dirs import write_whole

        known = self._text
        self._read()
        if self._text != known:
            words = f"{self.path} was changed meanwhile by another program, and is left as it is"
            raise ConfigError(words, hint="run the command again")
        mode = os.stat(self._real).st_mode & 0o7777 if self.exists else 0o600
        write_whole(self._real, ("\ufeff" if self._bom else "") + text, mode=mode)
        self._read()

    def _findings(self, text: str) -> tuple[list[ConfigProblem], list[str]]:
        """What the reader of the configuration would object to, and what it would warn of."""
        role = "workspace" if self._workspace else "user"
        base = os.path.dirname(self._real)
        layer = Layer(role, self.path, parse_json5(text), text=text, base=base)
        reader = Reader(layer, self._env, confined=self._workspace)
        try:
            document = read_document(reader, Shapes(self._classes))
        except TooManyProblemsError:
            return reader.problems(), reader.warnings
        _, _, missing = read_sections([document], {}, document.sections, self._classes)
        return [*reader.problems(), *missing], reader.warnings

    def _new_problems(self, text: str, keys: Keys, value: Any) -> list[str]:
        before = {(problem.key, problem.message) for problem in self._findings(self._text)[0]}
        name = key_path(keys)
        found = [
            problem.message if problem.key == name else f"{problem.key}: {problem.message}"
            for problem in self._findings(text)[0]
            if (problem.key, problem.message) not in before
        ]
        return found or self._unknown_ids(keys, value)

    def _unknown_ids(self, keys: Keys, value: Any, *, providers: bool = False) -> list[str]:
        """The ids in ``value`` that must be a plugin's and are not; those of ``providers`` may."""
        for section, key, kind in CHOICES:
            starts = ("memory",) if section == "memory" else (SEARCH, "memory.search")
            named = key_path(keys) in {f"{start}.{key}" for start in starts}
            if named and (kind == "provider") == providers:
                ids = [value] if isinstance(value, str) else value
                builtin = PROVIDERS if providers else ()
                found = (self._absence(kind, id_) for id_ in ids if id_ and id_ not in builtin)
                return [*filter(None, found)]
        return []

    def _warnings(self, text: str, keys: Keys, value: Any) -> list[str]:
        """What the reader would warn of; memory works without a provider that is not there."""
        before, start = self._findings(self._text)[1], f"{self.path}: "
        found = [warning for warning in self._findings(text)[1] if warning not in before]
        doubts = self._unknown_ids(keys, value, providers=True)
        return doubts or [warning.removeprefix(start) for warning in found]

    def _keys(self, key: str, agent: str) -> Keys:
        """The keys of ``key``, which may be short for one of ``memorySearch``."""
        given = _split(key)
        if agent:
            return self._keys_of_agent(given, key, agent)
        if given[0] in _ROOTS:
            return given
        if given[0] == "memorySearch":
            given = given[1:] or given
        shapes = Shapes(self._classes)
        shapes.search.complete()
        name = key_path(given)
        if _is_key(name, shapes.search.leaves):
            return self._spelt(given, ("memory", "search"), tuple(SEARCH.split(".")))
        if _is_key(name, shapes.memory.leaves):
            return ("memory", *given)
        if _is_key(name, shapes.flush.leaves):
            return (*FLUSH.split("."), *given)
        if name == "workspace":
            return ("agents", "defaults", "workspace")
        raise self._unknown(key, shapes)

    def _spelt(self, given: Keys, newer: Keys, older: Keys) -> Keys:
        """``given`` below one of both: where the file has it, or most of what is around it."""

        def known(start: Keys) -> int:
            sizes = range(1, len(given) + 1)
            return sum(_at(self._data, start + given[:size]) is not _MISSING for size in sizes)

        has_newer = isinstance(_at(self._data, newer), Mapping)
        return (newer if has_newer and known(newer) >= known(older) else older) + given

    def _agent_of(self, keys: Keys) -> str:
        """The id of the agent that ``keys`` lead to a setting of; ``""`` for other keys."""
        if len(keys) < 3 or keys[0] != "agents" or keys[1] not in ("list", "entries"):
            return ""
        entry = _at(self._data, keys[:3])
        id_ = entry.get("id") if keys[1] == "list" and isinstance(entry, Mapping) else keys[2]
        return agent_id(str(id_))

    def _keys_of_agent(self, given: Keys, key: str, agent: str) -> Keys:
        """Where the agent's own settings are, in the list of agents or among the entries."""
        id_ = paths.checked_agent(agent)
        if self._agent_of(given) == id_:
            return given
        start: Keys = ()
        listed = _at(self._data, ("agents", "list"))
        for place, entry in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(entry, Mapping) and entry.get("id") == id_:
                start = ("agents", "list", place)
        if _at(self._data, ("agents", "entries", id_)) is not _MISSING:
            start = ("agents", "entries", id_)
        if given[0] in _ROOTS:
            hint = "give a short key: query.maxResults"
            raise ConfigError(f"{key} is not a setting of one agent", hint=hint)
        of_searching = given[0] != "workspace"
        given = given[1:] if given[0] == "memorySearch" else given
        if not start:
            whole = key_path(("agents", "entries", id_, *["memorySearch"][:of_searching], *given))
            raise ConfigError(
                f"{self.path} has no agent {id_!r}",
                hint="leave out --agent to set it for all agents, or add the agent with its "
                f"setting: commonplace config set {whole} VALUE",
            )
        if of_searching:
            return self._spelt(given, (*start, "memory", "search"), (*start, "memorySearch"))
        return (*start, *given)

    def _check_known(self, keys: Keys) -> None:
        text = with_value("{}", [key for key in keys if isinstance(key, str)], "{}")
        for problem in self._findings(text)[0]:
            if "is not a key here" in problem.message or "has no effect here" in problem.message:
                raise ConfigError(
                    f"{problem.key}: {problem.message}", hint="commonplace config show lists them"
                )

    def _unknown(self, key: str, shapes: Shapes) -> ConfigError:
        if key in _RESOLVED:
            return ConfigError(f"{key} is no key of a file", hint=f"it is set by {_RESOLVED[key]}")
        known = [*shapes.search.leaves, *shapes.memory.leaves, *shapes.flush.leaves, "workspace"]
        last = {name.rpartition(".")[2]: name for name in reversed(known)}
        lower = {name.lower(): name for name in known}
        near = suggest(key.lower(), lower) or suggest(key.rpartition(".")[2], last)
        meant = lower.get(near, last.get(near, "")) if near else ""
        return ConfigError(
            f"no setting is called {key!r}",
            hint=f"did you mean {meant}?" if meant else "commonplace config show lists them",
        )


def _is_key(name: str, known: Mapping[str, object]) -> bool:
    """Whether ``name`` is one of ``known``, an object that holds some, or below one of them."""
    return any(
        key == name or key.startswith(f"{name}.") or name.startswith((f"{key}.", f"{key}["))
        for key in known
    )


_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


def _split(key: str) -> Keys:
    """``agents.list[0].workspace`` as keys. Raises :class:`~commonplace.errors.ConfigError`."""
    keys: list[str | int] = []
    at = 0
    while at < len(key) and (match := _PART.match(key, at)) is not None:
        name = match[1] or match[3] or match[4]
        keys.append(int(match[2]) if match[2] is not None else name or "")
        at = match.end()
    if at < len(key) or not keys or key.startswith("."):
        raise ConfigError(f"{key!r} is no key", hint="write it with dots, such as query.maxResults")
    return tuple(keys)


def _at(data: Any, keys: Keys) -> Any:
    """What ``keys`` lead to in ``data``, or ``_MISSING``."""
    for key in keys:
        inside = isinstance(data, list) and isinstance(key, int) and key < len(data)
        if not inside and not (isinstance(data, Mapping) and key in data):
            return _MISSING
        data = data[key]
    return data


def _candidates(value: str) -> list[Any]:
    """What ``value`` may mean: JSON5, and text unless it is an object, a list or null."""
    try:
        parsed = value if is_blank(value) else parse_json5(value)
        # NaN and Infinity are no settings.
        json.dumps(parsed, allow_nan=False)
    except (UnreadableError, ValueError):
        return [value]
    if isinstance(parsed, str) or parsed is None or isinstance(parsed, list | dict):
        return [parsed]
    return [parsed, value]


def _whole_path(keys: Keys, value: str, env: Mapping[str, str]) -> str:
    """``value`` as it is stored: a workspace is typed from here, not from the file's folder."""
    if keys[-1] != "workspace" or not value.strip() or value[:1] in "~$" or "://" in value:
        return value
    return paths.absolute(value, env)


def _is_secret(keys: Keys) -> bool:
    return "headers" in keys or TELLTALE.search(str(keys[-1])) is not None
