"""Loading settings: from defaults alone, from files, for plugins, and set apart to measure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.config import paths
from commonplace.config.defaults import BACKENDS, SOURCES, TRANSCRIPTS
from commonplace.config.settings import Settings
from commonplace.errors import CallerError, MemoryDisabledError, PluginUnavailableError
from commonplace.files.roots import check_workspace
from commonplace.model.plugins import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.config.search import ExtraPath
    from commonplace.host.discovery import Kind
    from commonplace.host.host import PluginHost
    from commonplace.model.plugins import SwitchRule

G = TypeVar("G", bound=Group)


def load_settings(
    *,
    workspace: str | None = None,
    agent: str | None = None,
    config: str | os.PathLike[str] | Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    sections: Callable[[str], type | None] | None = None,
) -> Settings:
    """The settings of ``agent`` in ``workspace``, from every place they can come from.

    ``config`` is a file, read instead of the user's and the original's, or a mapping of the same
    form, laid over all files. ``env`` replaces ``os.environ``. ``sections`` maps the name of a
    plugin's section (``memory.qmd``, ``plugins.entries.<id>.config``) to its config class, or to
    ``None`` to leave it unread; it is called for the chosen backends and for every section
    that is there.

    Raises :class:`~commonplace.errors.ConfigError` with every problem of every file.
    """
    env = os.environ if env is None else env
    plain = config is None and not paths.given(env, "COMMONPLACE_CONFIG")
    if plain and not os.path.isfile(paths.user_file(env)):
        folders = paths.openclaw_dirs(env)
        if not paths.original_file(env, folders) and not paths.missing_originals(env):
            settings = _defaults(workspace, agent, env, folders)
            if not os.path.lexists(os.path.join(settings.workspace, paths.WORKSPACE_FILE)):
                return settings
    from commonplace.config.resolve import resolve

    return resolve(
        workspace=workspace, agent=agent, config=config, env=env, sections=sections
    ).settings_or_raise()


def load_switches(
    config: str | os.PathLike[str] | Mapping[str, object] | None, env: Mapping[str, str]
) -> tuple[SwitchRule, ...]:
    """What the configuration switches off, read before any plugin is; see ``load_settings``.

    Raises nothing: what cannot be read is reported by :func:`load_settings`.
    """
    plain = config is None and not paths.given(env, "COMMONPLACE_CONFIG")
    if plain and not (
        os.path.isfile(paths.user_file(env)) or paths.original_file(env, paths.openclaw_dirs(env))
    ):
        return ()
    from commonplace.config.resolve import Resolution, documents
    from commonplace.config.switches import switch_rules

    return switch_rules(documents(config, env, Resolution()))


def _check_types(workspace: object, agent: object, config: object) -> None:
    """Raise :class:`~commonplace.errors.CallerError` for an argument of a wrong type."""
    path = str | os.PathLike  # type: ignore[type-arg]  # isinstance takes no arguments
    for name, value, types, words in (
        ("workspace", workspace, path, "a path"),
        ("agent", agent, str, "a text"),
        ("config", config, path | Mapping, "a path or a mapping"),
    ):
        if value is not None and not isinstance(value, types):
            raise CallerError(f"{name} must be {words}, not {type(value).__name__}")


def section_class(host: PluginHost, section: str) -> type | None:
    """The class that a plugin's section of the configuration is read into.

    ``memory.<id>`` belongs to the backend of that id, ``plugins.entries.<id>.config`` to the
    source, chunker, provider, ranker, command or tool set of that id. ``None`` if no plugin
    declares one.
    """
    kinds: tuple[Kind, ...] = ("source", "chunker", "provider", "ranker", "command", "tool")
    start, _, id_ = section.partition(".")
    if start == "memory":
        kinds = ("backend",)
    else:
        id_ = section.removeprefix("plugins.entries.").removesuffix(".config")
    for kind in kinds:
        if id_ in host.ids(kind):
            with suppress(PluginUnavailableError):  # reported where the part is requested
                if (config := host.get(kind, id_).config) is not None:
                    return config
    return None


def configured(
    host: PluginHost | None,
    *,
    workspace: str | os.PathLike[str] | None,
    agent: str | None,
    config: str | os.PathLike[str] | Mapping[str, object] | None,
    env: Mapping[str, str],
) -> tuple[Settings, PluginHost]:
    """The settings of ``agent``, and ``host``; ``None`` is a new one for all that is installed.

    The host loses what the configuration switches off. Behind a single backend that is switched off
    stands the default one. Raises what :meth:`commonplace.Memory.open` does.
    """
    _check_types(workspace, agent, config)
    if host is None:
        from commonplace.host.host import PluginHost

        host = PluginHost(cache_dir=paths.cache_dir(env), env=env)
    asked = load_switches(config, env or os.environ)
    applied = host.restrict(asked)
    settings = load_settings(
        workspace=None if workspace is None else os.fspath(workspace),
        agent=agent,
        config=config,
        env=env,
        sections=partial(section_class, host),
    )
    if set(asked) != set(applied):
        from commonplace.config.switches import of_another

        settings = settings.evolve(warnings=(*settings.warnings, *of_another(asked, applied)))
    if not settings.search.enabled or settings.slot == "none":
        off = [] if settings.search.enabled else ["memorySearch.enabled to true"]
        off += ["plugins.slots.memory to memory-core"] if settings.slot == "none" else []
        raise MemoryDisabledError(
            "memory search is switched off by the configuration", hint=f"set {' and '.join(off)}"
        )
    check_workspace(settings.workspace)
    (first, *others) = settings.backends
    if others or first in BACKENDS or not host.switched_off("backend", first):
        return settings, host
    return settings.evolve(backends=(first, *BACKENDS)), host


def _defaults(
    workspace: str | None, agent: str | None, env: Mapping[str, str], folders: tuple[str, ...]
) -> Settings:
    """What :func:`~commonplace.config.resolve.resolve` gives where there is no file at all."""
    id_ = paths.checked_agent(agent or paths.given(env, "COMMONPLACE_AGENT") or "main")
    named = workspace or paths.given(env, "COMMONPLACE_WORKSPACE")
    state = paths.state_dir(env)
    place = paths.absolute(named, env) if named else paths.default_workspace(env, folders)
    return Settings(
        workspace=place,
        agent=id_,
        state_dir=state,
        cache_dir=paths.cache_dir(env),
        index_path=paths.default_index(state, id_, place),
        openclaw_dirs=folders,
    )


def set_apart(settings: Settings, *, alone: bool = False) -> Settings:
    """``settings`` with an index in their state folder, wherever they place it.

    Every setting that is declared with ``locates`` has its default. With ``alone`` so has every one
    with ``widens``, and the documents are the notes and transcripts that lie in the workspace.
    """
    marks = ("locates", "widens") if alone else ("locates",)
    search = _without(settings.search, marks)
    if alone:
        inside = tuple(_inside(settings.workspace, settings.search.extra_paths))
        own = tuple(one for one in search.sources if one in (*SOURCES, TRANSCRIPTS))
        search = search.evolve(extra_paths=inside, sources=own)
    if search.cache.max_entries is not None:  # what is measured would push out what was paid for
        search = search.evolve(cache=search.cache.evolve(enabled=False))
    return settings.evolve(
        index_path=paths.default_index(settings.state_dir, settings.agent, settings.workspace),
        search=search,
        alone=alone,
        section_values={
            name: _without(value, marks) if isinstance(value, Group) else value
            for name, value in settings.section_values.items()
        },
    )


def _without(group: G, marks: tuple[str, ...]) -> G:
    """``group`` with the defaults of the settings that have one of ``marks``, at any depth."""
    changes: dict[str, Any] = {}
    for name, setting in group.fields().items():
        value = getattr(group, name)
        if any(getattr(setting, mark) for mark in marks):
            changes[name] = setting.default
        elif isinstance(value, Group):
            changes[name] = _without(value, marks)
    return group.evolve(**changes)


def _inside(workspace: str, further: tuple[ExtraPath, ...]) -> Iterator[ExtraPath]:
    """Those of ``further`` that lie in ``workspace``."""
    folder = os.path.realpath(workspace)
    for extra in further:
        place = os.path.realpath(os.path.join(folder, extra.path))
        if place == folder or place.startswith(os.path.join(folder, "")):
            yield extra
