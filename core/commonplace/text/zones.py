"""The time zones that this machine knows, by their IANA names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import ConfigError, suggest

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


NO_ZONES = "this machine has no time zones: install the package tzdata"


def zone_of(name: str) -> ZoneInfo:
    """The time zone ``name``.

    Raises :class:`~commonplace.errors.ConfigError`, with what was probably meant.
    """
    from zoneinfo import ZoneInfo  # takes two milliseconds to import

    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError) as error:
        wrong = f"there is no time zone {name[:60]!r}"
        raise ConfigError(wrong, hint=_hint(name)) from error


def are_there_zones() -> bool:
    """Whether this machine knows any: where it does not, no name is wrong."""
    from zoneinfo import available_timezones

    return bool(available_timezones())


def _hint(name: str) -> str:
    from zoneinfo import available_timezones

    known = {zone.lower(): zone for zone in available_timezones()}
    if not known:
        return NO_ZONES
    close = known.get(suggest(name.lower(), known, 0.75))
    return f"did you mean {close!r}?" if close else "use one such as Europe/Berlin"
