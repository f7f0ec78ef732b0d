"""Turning one value of a configuration into the type of its setting, or saying what is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from math import floor, inf, isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin

from commonplace.config.search import ExtraPath
from commonplace.config.secret import OUT_OF_REACH, Secret, substituted, variables
from commonplace.config.shape import Branch, Leaf, Shape, is_group
from commonplace.dirs import expand_user
from commonplace.errors import suggest
from commonplace.model.plugins import Group, WrongValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace.model.plugins import Setting


_LARGE = 2**63
_MOST_PATHS = 100

G = TypeVar("G", bound=Group)
R = TypeVar("R")


class Reading:
    """What a reader of values may know of the file they stand in.

    ``programmatic`` values are brought within bounds where those of a file are wrong.
    ``base`` is the folder that relative paths start from. ``confined`` is the workspace that
    paths must stay in, or ``""``: there, references to the environment are not looked up.
    ``named`` are the readers that settings refer to by name. ``doubts`` collects messages about
    values that are taken, but look like a slip.
    """

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        base: str,
        programmatic: bool = False,
        confined: str = "",
        named: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.env = env
        self.base = base
        self.programmatic = programmatic
        self.confined = confined
        self.named = named or {}
        self.doubts: list[str] = []

    def text(self, raw: object) -> str:
        """A string, or a path of Python's, with its ``${NAME}`` references replaced."""
        if isinstance(raw, os.PathLike):
            raw = os.fspath(raw)
        if not isinstance(raw, str):
            raise WrongValueError(f"must be a string, not {kind_of(raw)}")
        if "\0" in raw or any("\ud800" <= character <= "\udfff" for character in raw):
            raise WrongValueError("must not contain a NUL or half of a character")
        return raw if self.confined or "${" not in raw else substituted(raw, self._variable)

    def path(self, raw: object) -> str:
        """A path with ``~`` expanded, made absolute; an address with a scheme stays as it is."""
        text = self.text(raw).strip()
        if not text:
            raise WrongValueError("must not be empty")
        scheme, colon, _ = text.partition(":")
        if colon and len(scheme) > 1 and scheme.isascii() and scheme.isalnum():
            return text
        return os.path.normpath(os.path.join(self.base, expand_user(text, self.env)))

    def number(self, raw: object, wanted: str) -> float:
        """A number, finite or not; ``wanted`` says what must be there instead of anything else."""
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            raise WrongValueError(f"{wanted}, not {kind_of(raw)}")
        # JSON may hold a whole number that is too large to calculate with.
        return raw if isinstance(raw, float) or abs(raw) < _LARGE else inf if raw > 0 else -inf

    def group(self, cls: type[G], raw: object) -> G:
        """An object as a ``cls``, with every key and value checked."""
        shape = Shape(cls)
        found: dict[tuple[str, ...], Any] = {}
        _fill(shape.root, raw, self, found)
        if missing := shape.missing(found):
            wrong = {leaf.key: WrongValueError("is missing") for leaf in missing}
            raise WrongValueError.together(wrong)
        built: G = shape.build(found)
        return built

    def _variable(self, name: str) -> str:
        if value := self.env.get(name, ""):
            return value
        raise WrongValueError(f"refers to the environment variable {name}, which is not set")


_KINDS: tuple[tuple[Any, str], ...] = (
    (NoneType, "null"),
    (bool, "true or false"),  # before the numbers, as each is one
    (int | float, "a number"),
    (str, "a string"),
    (Mapping, "an object"),
    (list | tuple, "a list"),
)


_SCHEMES = ("http://", "https://")


def kind_of(raw: object) -> str:
    """The kind of a JSON value in words."""
    kinds = (words for types, words in _KINDS if isinstance(raw, types))
    return next(kinds, f"a {type(raw).__name__}")


def object_of(raw: object) -> Mapping[Any, Any]:
    """``raw`` if it is an object, else an empty one."""
    return raw if isinstance(raw, Mapping) else {}


def each(raw: object, read: Callable[[Any, Any], R]) -> dict[str | int, R]:
    """What ``read`` makes of each key (or index) and value of a list or an object, by key.

    Raises :class:`WrongValueError` with all that is wrong with any of them.
    """
    pairs = raw.items() if isinstance(raw, Mapping) else enumerate(raw)  # type: ignore[arg-type]  # callers ask for one of the two
    found: dict[str | int, R] = {}
    wrong: dict[str | int, WrongValueError] = {}
    for key, item in pairs:
        name = key if isinstance(key, int) else str(key)
        try:
            found[name] = read(name, item)
        except WrongValueError as problem:
            wrong[name] = problem
    if wrong:
        raise WrongValueError.together(wrong)
    return found


def convert(type_: Any, raw: object, setting: Setting, reading: Reading) -> Any:
    """``raw`` as ``type_``, within the bounds of ``setting``.

    Raises :class:`WrongValueError`.
    """
    if setting.read is not None:
        read = setting.read
        return (read if callable(read) else reading.named[read])(raw, reading)
    origin = get_origin(type_)
    if origin in (Union, UnionType):
        (type_,) = (part for part in get_args(type_) if part is not NoneType)
        if type_ is Secret and isinstance(raw, str) and not raw.strip():
            return None  # the original's way to leave a key to other places
        origin = get_origin(type_)
    if origin is Literal:
        return _choice(raw, get_args(type_), reading)
    if origin is tuple:
        inner = get_args(type_)[0]
        found = each(a_list(raw), lambda _, item: convert(inner, item, setting, reading))
        return tuple(found.values())
    if origin is not None and issubclass(origin, Mapping):
        inner = get_args(type_)[1]
        return each(_an_object(raw), lambda _, item: convert(inner, item, setting, reading))
    return _single(type_, raw, setting, reading)


def _single(type_: Any, raw: object, setting: Setting, reading: Reading) -> Any:
    if type_ is bool:
        if not isinstance(raw, bool):
            raise WrongValueError(f"must be true or false, not {kind_of(raw)}")
        return raw
    if type_ in (int, float):
        return _number(type_, raw, setting, reading)
    if type_ is str:
        return reading.path(raw) if setting.path else _word(raw, setting, reading)
    if type_ is Secret:
        return _secret(raw, reading)
    if is_group(type_):
        return reading.group(type_, raw)
    return raw


def _word(raw: object, setting: Setting, reading: Reading) -> str:
    text = reading.text(raw)
    if setting.known:
        text = text.strip()
        if not text:
            raise WrongValueError("must not be empty")
        if text not in setting.known and reading.confined:
            raise WrongValueError(f"must be {_one_of(setting.known)} in a workspace's own file")
        # Names of an open set may be a plugin's: one that looks like a slip is only warned of.
        if text not in setting.known and (close := suggest(text.lower(), setting.known, 0.75)):
            known = ", ".join(setting.known)
            reading.doubts.append(f"is none of {known}; did you mean {close!r}?")
    return text


def _choice(raw: object, choices: tuple[str, ...], reading: Reading) -> str:
    text = reading.text(raw)
    if text not in choices:
        close = suggest(text.lower(), choices)
        hint = f"; did you mean {close!r}?" if close else ""
        raise WrongValueError(f"must be {_one_of(choices)}{hint}")
    return text


def _one_of(choices: tuple[str, ...]) -> str:
    quoted = [f'"{choice}"' for choice in choices]
    if len(quoted) == 1:
        return quoted[0]
    return f"one of {', '.join(quoted[:-1])} or {quoted[-1]}"


def _number(type_: Any, raw: object, setting: Setting, reading: Reading) -> float:
    whole = type_ is int
    low, high = setting.minimum, setting.maximum
    if reading.confined and setting.tunable_within is not None:
        low, high = setting.tunable_within
    wanted = f"must be a {'whole ' if whole else ''}number{_bounds(low, high)}"
    raw = reading.number(raw, wanted)
    forgiving = reading.programmatic and setting.clamp is not None
    if forgiving and not isfinite(raw):
        return _clamped(setting.default, setting)
    fits = isfinite(raw) and (not whole or raw == floor(raw))
    fits = fits and (low is None or raw >= low) and (high is None or raw <= high)
    if not (fits or forgiving):
        raise WrongValueError(wanted)
    return _clamped(floor(raw) if whole else float(raw), setting)


def _clamped(value: float, setting: Setting) -> float:
    low, high = setting.clamp or (None, None)
    if low is not None and value < low:
        return type(value)(low)
    if high is not None and value > high:
        return type(value)(high)
    return value


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" of at least {low}" if low is not None else ""


def web_address(raw: object, reading: Reading) -> str:
    """The address of a service, or blank; what is wrong is not shown, as it may hold a key."""
    text = reading.text(raw)
    # What a workspace's own file refers to is not looked up, and has no effect.
    if text.strip() and not (reading.confined or text.strip().lower().startswith(_SCHEMES)):
        raise WrongValueError("must begin with http:// or https://")
    return text


def extra_paths(raw: object, reading: Reading) -> tuple[ExtraPath, ...]:
    """Paths, or objects of path and pattern; blank ones are dropped, doubles too."""
    if reading.confined and len(a_list(raw)) > _MOST_PATHS:
        raise WrongValueError(f"must be {_MOST_PATHS} paths at most in a workspace's own file")
    found = each(a_list(raw), lambda _, item: _extra_path(item, reading)).values()
    return tuple(dict.fromkeys(extra for extra in found if extra is not None))


def _extra_path(raw: object, reading: Reading) -> ExtraPath | None:
    if isinstance(raw, Mapping):
        extra = reading.group(ExtraPath, raw)
    elif isinstance(raw, str | os.PathLike):
        extra = ExtraPath(path=reading.text(raw))
    else:
        raise WrongValueError(
            f"must be a path or an object of path and pattern, not {kind_of(raw)}"
        )
    path = expand_user(extra.path.strip(), reading.env)
    if not path:
        return None
    if match := re.match(r"\$([A-Z_][A-Z0-9_]*)(?=/|$)", path):
        reading.doubts.append(f"{path}: {match[0]} is not replaced; write ${{{match[1]}}}")
    elif match := re.match(r"([^*?]*/)?([^/]*[*?].*)", path):
        folder = (match[1] or "").rstrip("/") or match[1] or "."
        reading.doubts.append(
            f'{path} is taken as a path; write {{path: "{folder}", pattern: "{match[2]}"}}'
        )
    if reading.confined and not _inside(path, reading.confined):
        raise WrongValueError(
            "lies outside the workspace, which a workspace's own file may not name"
        )
    pattern = extra.pattern.strip() if extra.pattern is not None else None
    return ExtraPath(path=path, pattern=pattern or None)


def unmatched(paths: Iterable[ExtraPath], *, text: bool) -> Iterator[str]:
    """Words on patterns that no note can match; ``text`` says that `.txt` files are notes."""
    from commonplace.files.roots import SUFFIXES, TEXT_SUFFIX

    for extra in paths:
        ending = re.search(r"[*?][^/*?]*(\.\w+)$", extra.pattern or "")
        if ending is None or ending[1] in SUFFIXES:
            continue
        words = f"the pattern {extra.pattern!r} matches no note: "
        if ending[1] != TEXT_SUFFIX:
            yield f"{words}notes end in {', '.join(SUFFIXES)} or {TEXT_SUFFIX}"
        elif not text:
            yield f"{words}set notes.text to true as well"


def _inside(path: str, workspace: str) -> bool:
    """Whether ``path``, with every link followed, is in ``workspace``."""
    root = os.path.realpath(workspace)
    target = os.path.realpath(os.path.join(root, path))
    return target == root or target.startswith(root.rstrip(os.sep) + os.sep)


def _secret(raw: object, reading: Reading) -> Secret:
    if isinstance(raw, Secret):
        return raw
    if isinstance(raw, str):
        if not raw.strip():
            raise WrongValueError("must not be empty")
        return Secret(raw.strip())
    if not isinstance(raw, Mapping) or not isinstance(raw.get("source"), str):
        raise WrongValueError(
            f"must be a string, ${{NAME}} or an object of source and id, not {kind_of(raw)}"
        )
    if raw["source"] == "env" and not variables(f"${{{raw.get('id')}}}"):
        raise WrongValueError(
            'must name an environment variable in capitals, such as "OPENAI_API_KEY"', "id"
        )
    secret = Secret(dict(raw))
    if secret.is_out_of_reach:
        reading.doubts.append(OUT_OF_REACH)
    return secret


def a_list(raw: object) -> list[Any] | tuple[Any, ...]:
    """``raw``, which must be a list."""
    if not isinstance(raw, list | tuple):
        raise WrongValueError(f"must be a list, not {kind_of(raw)}")
    return raw


def _an_object(raw: object) -> Mapping[Any, Any]:
    if not isinstance(raw, Mapping):
        raise WrongValueError(f"must be an object, not {kind_of(raw)}")
    return raw


def _fill(branch: Branch, raw: object, reading: Reading, found: dict[tuple[str, ...], Any]) -> None:
    """Put the settings below ``branch`` into ``found``, by their Python names."""

    def read(key: str, item: object) -> None:
        node = branch.below.get(key)
        if isinstance(node, Leaf):
            found[node.names] = convert(node.type, item, node.setting, reading)
        elif isinstance(node, Branch):
            _fill(node, item, reading, found)
        else:
            keys = ", ".join(branch.below)
            raise WrongValueError(f"is not a key here; the keys are {keys}")

    each(_an_object(raw), read)
