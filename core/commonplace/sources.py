"""The configured sources of documents, made by the plugins that offer them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.config.defaults import SOURCES, TRANSCRIPTS
from commonplace.errors import (
    ConfigError,
    PluginConflictError,
    PluginUnavailableError,
    reason_of,
)
from commonplace.host.answers import foreign_label
from commonplace.protocols.contexts import SourceContext

if TYPE_CHECKING:
    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.protocols.parts import Source


def make_sources(
    host: PluginHost, settings: Settings
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The configured sources, and a notice for each that no plugin offers, or that several do.

    A missing source hides its documents instead of ending the search: they stay in the index.
    Raises :class:`~commonplace.errors.ConfigError` where no plugin has ever heard of any of them.
    """
    sources: list[Source] = []
    notices: list[str] = []
    unknown: list[PluginUnavailableError] = []
    for id_ in settings.search.sources:
        try:
            sources.append(make_source(host, settings, id_))
        except PluginUnavailableError as error:
            notices.append(f"source {id_!r} is not searched: {reason_of(error)}")
            if _is_unknown(host, id_):
                unknown.append(error)
        except PluginConflictError as error:
            notices.append(f"source {id_!r} is not searched: {reason_of(error)}")
        except ConfigError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            from commonplace.resilience.bounded_call import failure_of

            why = f"{host.label('source', id_)} failed: {failure_of(error)}"
            notices.append(f"source {id_!r} is not searched: {why}")
    if unknown and len(unknown) == len(settings.search.sources):
        # All that is indexed would be gone: no source that is configured has any of it.
        hints = dict.fromkeys(error.hint for error in unknown)
        words = f"memorySearch.sources: {'; '.join(map(str, unknown))}"
        raise ConfigError(words, hint="; ".join(hints))
    return tuple(sources), tuple(notices)


def _is_unknown(host: PluginHost, source: str) -> bool:
    """Whether no plugin, not even one that is off or fails, has a source of this name."""
    if source in (*SOURCES, TRANSCRIPTS) or host.switched_off("source", source):
        return False
    return bool(host.absence("source", source))


def make_source(host: PluginHost, settings: Settings, id_: str) -> Source:
    """The source ``id_``; what one that is not ours raises, or returns, names its plugin."""
    source = host.source(id_).factory(
        SourceContext(
            workspace=settings.workspace,
            agent=settings.agent,
            extra_paths=settings.search.extra_paths,
            state_dirs=() if settings.alone else settings.openclaw_dirs,
            config=settings.plugin_config(id_),
            notes=settings.search.notes.rules,
            secret_patterns=settings.search.redact.patterns,
        )
    )
    label = foreign_label(host, "source", id_)
    if not label:
        return source
    from commonplace.host.sources import GuardedSource

    return GuardedSource(source, label)
