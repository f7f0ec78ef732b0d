"""Secrets as values that can be passed on without being seen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


REFERENCE = r"(\$?)\$\{([A-Z_][A-Z0-9_]*)\}"
"""A ``${NAME}``, or, with another dollar before it, the same as plain text."""

OUT_OF_REACH = (
    "cannot be used: it is kept in a store of the original that commonplace cannot ask; "
    'write "${NAME}", and set that variable'
)
"""What a reference to any other store than the environment comes to."""

Reference = str | Mapping[str, object]


def variables(text: str) -> list[str]:
    """The names in the ``${NAME}`` references of ``text``; ``$${NAME}`` is none."""
    import re

    found = re.finditer(REFERENCE, text)
    return [match[2] for match in found if not match[1]]


class Secret:
    """A key or a header, or where to get it: neither ``repr`` nor ``str`` ever shows it.

    Made from a literal, a text with ``${NAME}`` references, or a secret reference of the original
    (``{source: "env", id: "NAME"}``). Nothing is looked up before :meth:`reveal`. ``where`` tells
    where it stands, in words that may be shown.
    """

    __slots__ = ("_raw", "_where")

    def __init__(self, raw: Reference, where: Callable[[], str] | None = None) -> None:
        self._raw = raw
        self._where = where

    def at(self, where: Callable[[], str]) -> Secret:
        """The same secret, which stands at ``where``."""
        return Secret(self._raw, where)

    @property
    def place(self) -> str:
        """Where it stands, and which variable it refers to; ``""`` if that is not known."""
        where = self._where() if self._where is not None else ""
        return f"{where} ({self.origin})" if where and self.origin.startswith("from ") else where

    @property
    def origin(self) -> str:
        """Where the value comes from, in words that may be shown."""
        if isinstance(self._raw, str):
            names = variables(self._raw)
            return f"from {', '.join(f'${{{name}}}' for name in names)}" if names else "hidden"
        if self._raw.get("source") == "env":
            return f"from ${{{self._raw.get('id')}}}"
        return "a reference"

    @property
    def is_out_of_reach(self) -> bool:
        """Whether it is a reference to a store of secrets that commonplace cannot ask."""
        return not isinstance(self._raw, str) and self._raw.get("source") != "env"

    def reveal(self, env: Mapping[str, str] | None = None) -> str:
        """The secret itself, with references looked up in ``env`` (default: ``os.environ``).

        Raises :class:`~commonplace.errors.UnavailableError` if a variable is not set, or if the
        reference is to a store of secrets that commonplace cannot ask.
        """
        env = os.environ if env is None else env
        if isinstance(self._raw, str):
            return substituted(self._raw, lambda name: _variable(name, env))
        if self._raw.get("source") == "env":
            return _variable(str(self._raw.get("id")), env)
        raise UnavailableError(
            "a secret is kept in a store of the original that commonplace cannot ask",
            hint="give it as an environment variable: ${NAME}",
        )

    def __eq__(self, other: object) -> bool:
        return self._raw == other._raw if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        # Two that are equal hash alike; the value itself stays out of it.
        return hash(Secret)

    def __repr__(self) -> str:
        return f"Secret({self.origin})"


class Opaque(Mapping[str, object]):
    """A read-only section whose ``repr`` shows nothing of what is in it, nor do its parts'."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> object:
        return _veiled(self._data[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"<{len(self)} keys, not shown>"


class _OpaqueList(tuple[object, ...]):
    """The same for lists."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} items, not shown>"


def _veiled(value: object) -> object:
    if isinstance(value, Opaque):
        return value
    if isinstance(value, Mapping):
        return Opaque(value)
    if isinstance(value, list):
        return _OpaqueList(_veiled(item) for item in value)
    return value


def substituted(text: str, value_of: Callable[[str], str]) -> str:
    """``text`` with each ``${NAME}`` replaced by what ``value_of`` gives for the name."""
    import re

    return re.sub(REFERENCE, lambda found: found[0][1:] if found[1] else value_of(found[2]), text)


def _variable(name: str, env: Mapping[str, str]) -> str:
    value = env.get(name, "")
    if not value:
        raise UnavailableError(
            f"the environment variable {name} is not set", hint=f"set it: export {name}=..."
        )
    return value
