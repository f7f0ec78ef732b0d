"""The configuration: read, checked, merged and explained."""

from __future__ import annotations

from commonplace.lazy import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "config.load": "load_settings",
        "config.paths": "ConfigPath cache_dir config_paths state_dir",
        "config.reports": "CheckReport Explained check explain",
        "config.schema": "json_schema",
        "config.search": "ExtraPath SearchSettings SyncSettings",
        "config.secret": "Secret",
        "config.settings": "FlushSettings Settings",
        "config.values": "Reading WrongValueError",
    },
)
