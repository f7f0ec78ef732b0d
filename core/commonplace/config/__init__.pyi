from commonplace.config.load import load_settings as load_settings
from commonplace.config.paths import ConfigPath as ConfigPath
from commonplace.config.paths import cache_dir as cache_dir
from commonplace.config.paths import config_paths as config_paths
from commonplace.config.paths import state_dir as state_dir
from commonplace.config.reports import CheckReport as CheckReport
from commonplace.config.reports import Explained as Explained
from commonplace.config.reports import check as check
from commonplace.config.reports import explain as explain
from commonplace.config.schema import json_schema as json_schema
from commonplace.config.search import ExtraPath as ExtraPath
from commonplace.config.search import SearchSettings as SearchSettings
from commonplace.config.search import SyncSettings as SyncSettings
from commonplace.config.secret import Secret as Secret
from commonplace.config.settings import FlushSettings as FlushSettings
from commonplace.config.settings import Settings as Settings
from commonplace.config.values import Reading as Reading
from commonplace.config.values import WrongValueError as WrongValueError

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
    "SyncSettings",
    "WrongValueError",
    "cache_dir",
    "check",
    "config_paths",
    "explain",
    "json_schema",
    "load_settings",
    "state_dir",
]
