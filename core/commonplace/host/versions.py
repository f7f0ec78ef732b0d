"""Which version of the plugin API a distribution needs, and whether this commonplace offers it."""

from __future__ import annotations

from commonplace._version import __version__
from commonplace.hookspecs import API_VERSION

API_PREFIX = "api."
"""An entry point of this name registers nothing: what follows is an API version that suits."""


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
