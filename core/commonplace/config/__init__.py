"""The configuration: read, checked, merged and explained."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commonplace.config.checking import CheckReport, check
    from commonplace.config.description import described
    from commonplace.config.explaining import Explained, explain
    from commonplace.config.load import load_settings
    from commonplace.config.paths import ConfigPath, cache_dir, config_paths, state_dir
    from commonplace.config.schema import json_schema
    from commonplace.config.search import ExtraPath, SearchSettings
    from commonplace.config.secret import Secret
    from commonplace.config.settings import FlushSettings, Settings
    from commonplace.config.values import Reading, WrongValueError

__all__ = [
    "CheckReport",
    "ConfigPath",
    "Explained",
    "ExtraPath",
    "FlushSettings",
    "Reading",
    "SearchSettings",
    "Secret",
    "Settings",
    "WrongValueError",
    "cache_dir",
    "check",
    "config_paths",
    "described",
    "explain",
    "json_schema",
    "load_settings",
    "state_dir",
]

_HOME = {
    "CheckReport": "checking",
    "ConfigPath": "paths",
    "Explained": "explaining",
    "ExtraPath": "search",
    "FlushSettings": "settings",
    "Reading": "values",
    "SearchSettings": "search",
    "Secret": "secret",
    "Settings": "settings",
    "WrongValueError": "values",
    "cache_dir": "paths",
    "check": "checking",
    "config_paths": "paths",
    "described": "description",
    "explain": "explaining",
    "json_schema": "schema",
    "load_settings": "load",
    "state_dir": "paths",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'commonplace.config' has no attribute {name!r}")
    value = getattr(import_module(f"commonplace.config.{_HOME[name]}"), name)
    globals()[name] = value
    return value
