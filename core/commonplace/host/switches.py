"""Which plugins are set aside: by the environment, by the configuration, by the API they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace._version import __version__
from commonplace.errors import suggest
from commonplace.hookspecs import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from commonplace.model.plugins import SwitchRule


ONLY = "COMMONPLACE_PLUGINS"
DISABLE = "COMMONPLACE_DISABLE_PLUGINS"
SAFE = "COMMONPLACE_SAFE"
TRACE = "COMMONPLACE_TRACE_PLUGINS"
OWN_DISTRIBUTION = "commonplace"
"""What our own plugins are installed with; compared with :func:`canonical` names."""


class Switches:
    """The variables of ``env`` and the ``rules`` of a configuration.

    What the environment switches off, rules cannot switch on.
    """

    def __init__(self, env: Mapping[str, str], rules: Sequence[SwitchRule] = ()) -> None:
        self.safe = env.get(SAFE, "").strip().lower() not in {"", "0", "false", "no", "off"}
        self._only = _names(env.get(ONLY, ""))
        self._disabled = _names(env.get(DISABLE, ""))
        self._rules = [(rule, frozenset(map(canonical, rule.names))) for rule in rules]

    def off(self, name: str, distribution: str) -> str:
        """What switches off the entry point ``name``: a variable, a setting, or ``""``."""
        if not (self.safe or self._only or self._disabled or self._rules):
            return ""
        owner = canonical(distribution)
        if self.safe and owner != OWN_DISTRIBUTION:
            return SAFE
        own = {canonical(name), owner}
        if self._only and self._only.isdisjoint(own):
            return ONLY
        if not self._disabled.isdisjoint(own):
            return DISABLE
        own = _names_of(name, owner)
        for rule, names in self._rules:
            named = not names.isdisjoint(own)
            if (owner != OWN_DISTRIBUTION and not named) if rule.only else named:
                return str(rule)
        return ""

    def hint(self, name: str, distribution: str) -> str:
        """How to get back the entry point ``name``, which a variable or a setting switches off."""
        by = self.off(name, distribution)
        if by == SAFE:
            return f"run without --safe, and unset {SAFE}"
        rule = next((rule for rule, _ in self._rules if str(rule) == by), None)
        if rule is None:
            return f"add {name} to {by}, or unset it" if by == ONLY else f"unset {by}"
        if rule.setting == "plugins.allow":
            return f"add {name} to that list"
        if rule.setting == "plugins.deny":
            own = _names_of(name, canonical(distribution))
            listed = [text for text in rule.names if canonical(text) in own]
            return f"remove {' and '.join(listed)} from that list"
        return "set it to true"

    def unknown_names(self, entries: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """A line for each name in our own configuration that none of ``entries`` has.

        An entry is its name and its distribution.
        """
        names: set[str] = set()
        for name, distribution in entries:
            names |= {name, name.partition(".")[2]}
            names |= {distribution} if canonical(distribution) != OWN_DISTRIBUTION else set()
        known = {canonical(name) for name in names}
        lines = []
        for rule, _ in self._rules:
            for name in rule.names if rule.ours else ():
                if canonical(name) not in known:
                    near = suggest(name.lower(), names)
                    meant = f"did you mean {near!r}?" if near else "`commonplace plugins` lists all"
                    lines.append(f"{rule}: no plugin is named {name!r}; {meant}")
        return tuple(lines)


def tracer(env: Mapping[str, str]) -> Callable[[str], object] | None:
    """What takes lines on imports and hooks, where ``env`` asks for them: standard error."""
    import sys

    if env.get(TRACE, "0") in {"", "0"}:
        return None
    return lambda line: sys.stderr.write(line + "\n")


def canonical(distribution: str) -> str:
    """The name of a distribution as package indexes compare it."""
    words = distribution.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(word for word in words if word)


def _names_of(name: str, owner: str) -> set[str]:
    """What the entry point ``name`` of the distribution ``owner`` may be called in a rule."""
    return {canonical(name), canonical(name.partition(".")[2]), owner} - {OWN_DISTRIBUTION}


def _names(value: str) -> frozenset[str]:
    return frozenset(canonical(name.strip()) for name in value.split(",") if name.strip())


API_PREFIX = "api."
"""An entry point of this name registers nothing: what follows is an API version that suits."""


def problem_of(name: str, distribution: str, api: str, builtin: Container[str]) -> str:
    """Why the entry point ``name`` must not be imported, or ``""``.

    ``builtin`` are the names of our own. What a newer API has could not be imported here.
    """
    if name in builtin and canonical(distribution) != OWN_DISTRIBUTION:
        return f"{name} is built in, and its id cannot be taken: choose another one"
    return api_problem(api)[0] if api else ""


def api_problem(api: str, offered: str = API_VERSION) -> tuple[str, bool]:
    """Why none of the versions ``api`` is one that ``offered`` serves, and whether all are newer.

    ``("", False)`` if one is, or if none is named. A version is served by a later one with the same
    first number.
    """
    major, minor = _version(offered)
    wanted = []
    for text in filter(None, api.split(",")):
        try:
            wanted.append(_version(text))
        except ValueError:
            return f"its API version {text!r} is not two numbers such as {offered}", False
    if not wanted or any(first == major and second <= minor for first, second in wanted):
        return "", False
    problem = (
        f"it needs version {' or '.join(api.split(','))} of the plugin API,"
        f" and commonplace {__version__} offers {offered}"
    )
    return problem, min(wanted) > (major, minor)


def _version(text: str) -> tuple[int, int]:
    first, _, second = text.partition(".")
    if not (first.isdecimal() and second.isdecimal() and text.isascii()):
        raise ValueError(text)
    return int(first), int(second)


def api_hint(api: str, distribution: str) -> str:
    """What to do where ``distribution`` needs another API; ``""`` if it does not."""
    problem, newer = api_problem(api)
    if not problem:
        return ""
    if newer:
        return f"update commonplace, or install an older {distribution}"
    return f"update {distribution}"
