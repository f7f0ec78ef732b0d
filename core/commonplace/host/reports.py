"""What the host reports of plugins: each entry point, its state, and what it offers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from commonplace.errors import PluginConflictError, PluginUnavailableError, suggest
from commonplace.hookspecs import Hooks
from commonplace.host.discovery import conflict
from commonplace.host.failures import Failure, attempt, library_hint
from commonplace.host.switches import DISABLE, api_hint
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.host.discovery import Catalogue, EntryPoint
    from commonplace.host.registry import Registry
    from commonplace.model.plugins import Probe


@frozen
class PluginInfo:
    """An entry point, and what became of it.

    ``name`` is ``kind.id``. ``state`` is ``available`` (not loaded yet), ``loaded``,
    ``disabled`` or ``failed``; ``error`` and ``traceback`` say why it failed, ``hint`` how to put
    it right. ``summary``, ``capabilities`` and ``hooks`` (all that its module answers) are known of
    loaded plugins only. ``notices`` are one line each, on what does no harm but should be known,
    such as a library that is missing for it to work. ``ready`` says whether the part can work here,
    ``None`` where it was not asked.
    """

    name: str
    module: str
    distribution: str
    version: str
    state: str
    summary: str = ""
    error: str = ""
    traceback: str = field(default="", repr=False)
    hint: str = ""
    capabilities: frozenset[str] = frozenset()
    hooks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    ready: bool | None = None

    @property
    def kind(self) -> str:
        """The kind of its part, such as ``backend``."""
        return self.name.partition(".")[0]

    @property
    def id(self) -> str:
        """The id of its part."""
        return self.name.partition(".")[2]

    @property
    def failure(self) -> str:
        """What failed and why, in one line."""
        origin = f"{self.distribution} {self.version}".strip()
        return f"plugin {self.name} of {origin} failed: {self.error}"


def describe(
    catalogue: Catalogue, registry: Registry, *, probe: bool = False
) -> tuple[PluginInfo, ...]:
    """One report for each entry point and each part registered in process, by name. Loads nothing.

    With ``probe``, each loaded part is asked whether it can work here, for some seconds in all.
    """
    infos = [_of_entry(entry, catalogue, registry) for entry in catalogue.entries]
    for plugin, names in registry.in_process.items():
        for name in names or (f"events.{plugin}",):
            blank = PluginInfo(name, plugin, distribution="", version="", state="loaded")
            infos.append(_with_details(blank, registry))
    if probe:
        until = Deadline.after(_PROBE_SECONDS)
        infos = [_probed(info, registry, until) for info in infos]
    return tuple(sorted(infos, key=lambda info: (info.name, info.distribution)))


def error_of(entry: EntryPoint, failure: Failure) -> PluginUnavailableError | PluginConflictError:
    """The error to raise when a part of a failed plugin is requested."""
    if isinstance(failure.cause, PluginConflictError):
        return PluginConflictError(str(failure.cause), hint=failure.cause.hint)
    return PluginUnavailableError(
        f"{entry.kind} {entry.id!r} of {entry.origin} failed to load: {failure.error}",
        hint=_hint(entry, failure),
    )


def fault_of(
    plugins: Iterable[PluginInfo], name: str, error: BaseException
) -> PluginUnavailableError:
    """The error to raise where the code of the part ``name`` of ``plugins`` raised ``error``.

    Raises ``error`` again where it is the user's Ctrl-C.
    """
    from commonplace.resilience.bounded_call import failure_of

    words, plugins = failure_of(error), tuple(plugins)
    info = next(info for info in plugins if info.name == name)
    origin = f"{info.distribution} {info.version}".rstrip()
    hint = missing_library(plugins, name, error)
    return PluginUnavailableError(
        f"{info.kind} {info.id!r} of {info.module} ({origin}) failed: {words}",
        hint=hint
        or f"this is a bug in {info.distribution}: run it again with COMMONPLACE_DEBUG=1 for the "
        "traceback to report",
    )


def missing_library(plugins: Iterable[PluginInfo], name: str, error: BaseException) -> str:
    """How to install the library without which the part ``name`` of ``plugins`` failed, or ``""``.

    ``""`` also where it failed by something else, or where no distribution is known.
    """
    info = next((info for info in plugins if info.name == name and info.distribution), None)
    return "" if info is None else library_hint(error, info.module, info.distribution)


def unread(plugins: Iterable[PluginInfo], id_: str) -> str:
    """Why ``plugins.entries.<id>`` has no effect, where no plugin of that id declares settings.

    ``""`` where nothing is known of such a plugin: it may be another program's.
    """
    plugins = tuple(plugins)
    named = [info for info in plugins if info.id == id_]
    if not named:
        near = suggest(id_, {info.id for info in plugins}, 0.8)
        return f"no plugin is named {id_!r}; did you mean {near!r}?" if near else ""
    if any(info.state in {"disabled", "failed"} for info in named):
        return ""  # what it would read is not known
    if {info.kind for info in named} == {"backend"}:
        return f"settings of a backend stand in memory.{id_}"
    return f"{' and '.join(info.name for info in named)} of {named[0].distribution} has no settings"


def _of_entry(entry: EntryPoint, catalogue: Catalogue, registry: Registry) -> PluginInfo:
    info = partial(PluginInfo, entry.name, entry.module, entry.distribution, entry.version)
    if entry.problem:
        hint = api_hint(entry.api, entry.distribution)
        if not hint and catalogue.rivals(entry.name):  # its name switches off more than this one
            hint = f"uninstall it, or switch it off: {DISABLE}={entry.distribution}"
        return info("failed", error=entry.problem, hint=hint)
    if variable := catalogue.switched_off(entry):
        notices: tuple[str, ...] = (f"switched off by {variable}",)
        hint = catalogue.switches.hint(entry.name, entry.distribution)
        return info("disabled", notices=notices, hint=hint)
    rivals = catalogue.rivals(entry.name)
    if len(rivals) > 1:
        error = conflict(entry.name, rivals)
        return info("failed", error=str(error), hint=error.hint)
    if not registry.tried(entry):
        return info("available")
    outcome = registry.load(entry)
    if isinstance(outcome, Failure):
        hint = _hint(entry, outcome)
        return info("failed", error=outcome.error, traceback=outcome.traceback, hint=hint)
    notices = tuple(
        f"{entry.module} registers {entry.kind} {id_!r}, too, but no entry point is named"
        f" {entry.kind}.{id_}: it cannot be used"
        for id_ in registry.undeclared(entry)
    )
    newer = set(registry.hooks(entry.module)).difference(vars(Hooks))
    notices += tuple(
        f"{entry.module} has {hook}, which is not called here" for hook in sorted(newer)
    )
    return _with_details(info("loaded", notices=notices), registry)


def _with_details(info: PluginInfo, registry: Registry) -> PluginInfo:
    """``info`` with what is known once a plugin is loaded."""
    entry = registry.get(info.name)
    if entry is None:
        words = str(getattr(registry.plugin(info.module), "__doc__", None) or "").strip()
        summary, capabilities = words.partition("\n")[0], frozenset[str]()
    else:
        summary, capabilities = entry.registration.summary, entry.registration.capabilities
    hooks = registry.hooks(info.module)
    return evolve(info, summary=summary, capabilities=capabilities, hooks=hooks)


def _probed(info: PluginInfo, registry: Registry, until: Deadline) -> PluginInfo:
    if info.state != "loaded":
        return info
    entry = registry.get(info.name)
    if entry is None:
        return evolve(info, ready=True)
    return with_readiness(info, entry.registration.probe, until)


def with_readiness(info: PluginInfo, probe: Callable[[], Probe], until: Deadline) -> PluginInfo:
    """``info``, with whether the part can work here and what it lacks, as ``probe`` answers.

    One that does not answer within two seconds, or by ``until``, is not ready.
    """
    worker = Worker(f"the probe of {info.name}")
    deadline = Deadline.after(min(_EACH_SECONDS, until.remaining()))
    answer = attempt(lambda: _checked(worker.run(probe, deadline)))
    if isinstance(answer, Failure):
        notices = (*info.notices, f"its probe failed: {answer.error}")
        return evolve(info, notices=notices, ready=False)
    if answer.available:
        return evolve(info, ready=True)
    notices = (*info.notices, f"cannot work here: {answer.reason}")
    return evolve(info, notices=notices, hint=info.hint or answer.hint, ready=False)


_EACH_SECONDS = 2.0
_PROBE_SECONDS = 5.0


def _checked(answer: Probe) -> Probe:
    answer.available, answer.reason, answer.hint  # noqa: B018 - a plugin may answer anything
    return answer


def _hint(entry: EntryPoint, failure: Failure) -> str:
    """What to do about a plugin that failed."""
    cause = failure.cause
    if hint := api_hint(entry.api, entry.distribution):
        return hint
    if isinstance(cause, PluginConflictError):
        return cause.hint
    if isinstance(cause, TimeoutError):
        return (
            f"set plugins.entries.{entry.id}.enabled to false, or leave out all plugins of third "
            "parties: --safe"
        )
    hint = failure.hint or library_hint(cause, entry.module, entry.distribution, entry.extras)
    if hint or not failure.traceback:
        return hint or f"update or uninstall {entry.distribution}"
    return "see the traceback: commonplace plugins --json"
